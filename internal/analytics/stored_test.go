package analytics

import (
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"fanfare/internal/clock"
)

// TestStoredRow checks that a row is stored on one line and read back equal.
func TestStoredRow(t *testing.T) {
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
		stored := appendStoredRow(nil, &want)
		var got row
		if !readStoredRow(stored, &got) || !reflect.DeepEqual(got, want) || strings.Contains(string(stored), "\n") {
			t.Errorf("got %+v want %+v from %q", got, want, stored)
		}
	})
}

// TestStoredRowOfOtherVersion checks that a row in the form of another version
// is rejected.
func TestStoredRowOfOtherVersion(t *testing.T) {
	t.Parallel()
	for _, stored := range []string{`{"dimensions":{"channel":"social"},"metrics":{"clicks":1}}`, `{"d":1,"v":[],"n":[1.5]}`, `{"d":1,"v":[],"n":[1],"b":[1]}`, `[]`, ``} {
		if r := (row{}); readStoredRow([]byte(stored), &r) {
			t.Errorf("%q: got %+v want none", stored, r)
		}
	}
}
