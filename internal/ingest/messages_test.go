package ingest_test

import (
	"strings"
	"testing"

	"fanfare/internal/fault"
	"fanfare/internal/ingest"
)

// TestFeedMessages checks that each fault of a feed names the actual problem.
func TestFeedMessages(t *testing.T) {
	t.Parallel()
	many := strings.Repeat("[", 2000)
	for _, tt := range []struct{ name, body, field, want string }{
		{"cut off in an array", `[[[`, "", "The JSON is cut off. Send it to its end. Near byte 3."},
		{"cut off in an object", `[{"date":`, "", "The JSON is cut off. Send it to its end. Near byte 8."},
		{"not JSON", `[{"date";1}]`, "", "The body is not valid JSON. Near byte 8."},
		{"arrays as a row", "[" + many, "rows[0]", "Row 0 must be a JSON object. The rows were read up to there."},
		{"arrays as a field", `[{"clicks":` + many, "rows[0].clicks", "clicks of row 0 has more than 1000 values inside. A field of a row takes one string or number. The rows were read up to there."},
		{"arrays as an unknown field", `[{},{"click":` + many, "rows[1].click", "click of row 1 has more than 1000 values inside. A field of a row takes one string or number. The rows were read up to there."},
		{"a row that is an array", `[[1]]`, "rows[0]", "A row must be a JSON object."},
		{"a row that is a number", `[7]`, "rows[0]", "A row must be a JSON object."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := newFakeDeps(t).Ingest(t.Context(), cause, ingest.Feed{Body: []byte(tt.body), Defaults: home, Atomic: true})
			if d := details(err); len(d) != 1 || d[0].Field != tt.field || d[0].Message != tt.want {
				t.Errorf("got %+v want %q at %q", d, tt.want, tt.field)
			}
		})
	}
}

// TestWideFiles wants a file with too many columns to be refused for that,
// whatever separates them.
func TestWideFiles(t *testing.T) {
	t.Parallel()
	for _, delimiter := range []string{",", ";", "\t", "|"} {
		line := strings.Repeat("a"+delimiter, 2_000_000)
		u := ingest.Upload{Bytes: []byte(line + "\n" + line + "\n"), Defaults: home}
		_, err := newFakeDeps(t).Upload(t.Context(), cause, u)
		const want = "Line 1 has more than 200 columns. Leave out columns that hold no metrics."
		if d := details(err); !fault.Is(err, fault.ValidationFailed) || len(d) != 1 || d[0].Message != want {
			t.Errorf("%q: got %v want %q", delimiter, err, want)
		}
	}
}
