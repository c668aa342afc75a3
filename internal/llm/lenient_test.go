package llm_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"fanfare/internal/llm"
)

func TestFindJSON(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text  string
		want  string
		whole bool
	}{
		{`{"a":"b"}`, `{"a":"b"}`, true},
		{"```json\n{\"a\":true}\n```", `{"a":true}`, true},
		{"Here {it} is [as asked]: {\"a\":[\"b\"]} and {\"c\":\"d\"}", `{"a":["b"]}`, true},
		{"\ufeff [{\"a\":null}]", `[{}]`, true},
		{`{"a":["b","c",],}`, `{"a":["b","c"]}`, true},
		{"{\"a\":\"two\nlines\"}", `{"a":"two\nlines"}`, true},
		{`{"a":"it\'s \u00e9 \"so\""}`, `{"a":"it's é \"so\""}`, true},
		{`{"a":"\x \u00e9"}`, `{"a":"x u00e9"}`, true},
		{`{'a':'it's "so" here','b':["c"]}`, `{"a":"it's \"so\" here","b":["c"]}`, true},
		{"{a: \"b\", // why\n c_d: /* and */ [\"e\"]}", `{"a":"b","c_d":["e"]}`, true},
		{`{"a":True,"b":None,"c":"d"}`, `{"a":true,"c":"d"}`, true},
		{`{"a":"\u00e9\n"}`, `{"a":"\u00e9\n"}`, true},
		{`{"a":{"b":["c",{"d":["e"],"f":"g`, `{"a":{"b":["c"]}}`, false},
		{`{"a":["b","c`, `{"a":["b"]}`, false},
		{`{"a":"b","c":tru`, `{"a":"b"}`, false},
		{`{"a":"b","c`, `{"a":"b"}`, false},
		{`{"a":["b",{"c":"says "hi" to"},"d"]}`, `{"a":["b",{"c":"says \"hi\" to"},"d"]}`, true},
		{`{"a":["b",{"c":"says "hi", too"},"d"]}`, `{"a":["b"]}`, false},
		{`{1:"b"}`, ``, false},
		{`{"a":"b" "c"`, `{"a":"b"}`, false},
		{"", ``, false},
		{"Sure!", ``, false},
		{strings.Repeat("{", 10000), ``, false},
		{strings.Repeat("[", 10000), ``, false},
		{strings.Repeat(`{"a":`, 10000), ``, false},
	} {
		got, whole, found := llm.FindJSON(test.text, func(v any) bool { return v != nil })
		var want any
		if test.want != "" {
			if err := json.Unmarshal([]byte(test.want), &want); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" || whole != test.whole || found != (test.want != "") {
			t.Errorf("%.60q: whole %v, found %v want %v; value differs (-want +got):\n%s", test.text, whole, found, test.whole, diff)
		}
	}
}

// TestFindJSONKeepsValues checks that valid JSON is read as it is, and that a
// prefix of it gives only parts of it.
func TestFindJSONKeepsValues(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		items := rapid.SliceOfN(rapid.MapOf(rapid.String(), rapid.String()), 0, 4).Draw(t, "items")
		text, err := json.Marshal(map[string]any{"items": items})
		if err != nil {
			t.Fatal(err)
		}
		var want map[string]any
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatal(err)
		}
		all := func(any) bool { return true }
		got, whole, _ := llm.FindJSON(string(text), all)
		if diff := cmp.Diff(any(want), got); diff != "" || !whole {
			t.Fatalf("whole %v; value differs (-want +got):\n%s", whole, diff)
		}
		cut, whole, _ := llm.FindJSON(string(text[:rapid.IntRange(1, len(text)-1).Draw(t, "length")]), all)
		list, _ := cut.(map[string]any)["items"].([]any)
		if first := want["items"].([]any)[:len(list)]; whole || !slices.EqualFunc(list, first, func(a, b any) bool { return cmp.Equal(a, b) }) {
			t.Fatalf("whole %v; got %v want the first of %v", whole, list, want["items"])
		}
	})
}
