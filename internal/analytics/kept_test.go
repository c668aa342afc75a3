package analytics

import (
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"fanfare/internal/clock"
)

// TestKept sees that a row comes back as it was kept, on one line.
func TestKept(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.OneOf(numbers(), rapid.Just(Number{}))
		value := rapid.Custom(func(t *rapid.T) Value {
			v := Value{ID: rapid.String().Draw(t, "id"), Label: rapid.String().Draw(t, "label"), External: rapid.String().Draw(t, "external")}
			v.Null = v.ID == ""
			return v
		})
		want := row{
			current: rapid.Bool().Draw(t, "current"), partial: rapid.Bool().Draw(t, "partial"),
			values: rapid.SliceOfN(value, 1, 3).Draw(t, "values"), now: rapid.SliceOfN(number, 1, 4).Draw(t, "now"),
		}
		if want.current {
			want.date = clock.Date(rapid.Int32().Draw(t, "date"))
		}
		if rapid.Bool().Draw(t, "compared") {
			want.paired, want.dateBefore = true, clock.Date(rapid.Int32().Draw(t, "date before"))
			want.before = rapid.SliceOfN(number, 1, 4).Draw(t, "before")
		}
		kept := appendKept(nil, &want)
		var got row
		if !readKept(kept, &got) || !reflect.DeepEqual(got, want) || strings.Contains(string(kept), "\n") {
			t.Errorf("got %+v want %+v from %q", got, want, kept)
		}
	})
}

// TestKeptOtherwise sees that what another version has kept is not taken for a
// row.
func TestKeptOtherwise(t *testing.T) {
	t.Parallel()
	for _, kept := range []string{`{"dimensions":{"channel":"social"},"metrics":{"clicks":1}}`, `{"d":1,"v":[],"n":[1.5]}`, `{"d":1,"v":[],"n":[1],"b":[1]}`, `[]`, ``} {
		if r := (row{}); readKept([]byte(kept), &r) {
			t.Errorf("%q: got %+v want none", kept, r)
		}
	}
}
