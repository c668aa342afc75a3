package docs_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// omitted marks what a guide omits: alone it is any value, at the end of a text
// any end, as a member any other members.
const omitted = "…"

// differences returns where an answer differs from the guide.
func differences(at string, got, want any) []string {
	switch want := want.(type) {
	case string:
		if s, ok := got.(string); want == omitted || ok && strings.HasSuffix(want, omitted) && strings.HasPrefix(s, strings.TrimSuffix(want, omitted)) {
			return nil
		}
	case map[string]any:
		object, ok := got.(map[string]any)
		if !ok {
			break
		}
		return memberDifferences(at, object, want)
	case []any:
		list, ok := got.([]any)
		if !ok || len(list) != len(want) {
			break
		}
		var found []string
		for i := range want {
			found = append(found, differences(fmt.Sprintf("%s[%d]", at, i), list[i], want[i])...)
		}
		return found
	}
	if !reflect.DeepEqual(got, want) {
		return []string{fmt.Sprintf("at %q got %v want %v", at, got, want)}
	}
	return nil
}

func memberDifferences(at string, got, want map[string]any) []string {
	var found []string
	for _, name := range slices.Sorted(maps.Keys(want)) {
		v, there := got[name]
		switch {
		case name == omitted:
		case !there:
			found = append(found, fmt.Sprintf("at %q got no %s", at, name))
		default:
			found = append(found, differences(at+"."+name, v, want[name])...)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		_, shown := want[name]
		if _, more := want[omitted]; !shown && !more {
			found = append(found, fmt.Sprintf("at %q got %s as well", at, name))
		}
	}
	return found
}

func TestDifferences(t *testing.T) {
	t.Parallel()
	object := map[string]any{"id": "cmp_1", "n": 2.0}
	for _, test := range []struct {
		name      string
		got, want any
		same      bool
	}{
		{"equal", object, map[string]any{"id": "cmp_1", "n": 2.0}, true},
		{"any end", object, map[string]any{"id": "cmp_…", "n": 2.0}, true},
		{"another start", object, map[string]any{"id": "aud_…", "n": 2.0}, false},
		{"any value", object, map[string]any{"id": "cmp_1", "n": "…"}, true},
		{"another number", object, map[string]any{"id": "cmp_1", "n": 3.0}, false},
		{"a text for a number", object, map[string]any{"id": "cmp_1", "n": "2"}, false},
		{"a member left out", object, map[string]any{"id": "cmp_1"}, false},
		{"members left out", object, map[string]any{"id": "cmp_1", "…": "…"}, true},
		{"a member too many", object, map[string]any{"id": "cmp_1", "x": 1.0, "…": "…"}, false},
		{"null", nil, nil, true},
		{"null for a number", nil, 0.0, false},
		{"lists", []any{1.0, 2.0}, []any{1.0, 2.0}, true},
		{"a shorter list", []any{1.0}, []any{1.0, 2.0}, false},
		{"an object for a list", object, []any{}, false},
	} {
		if got := len(differences("", test.got, test.want)) == 0; got != test.same {
			t.Errorf("%s: got same %v want %v", test.name, got, test.same)
		}
	}
}
