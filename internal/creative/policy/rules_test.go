package policy_test

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"fanfare/internal/creative/policy"
)

// TestSources checks that docs/AD-POLICY.md has one row for every rule, with a
// source, and no other row.
func TestSources(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/AD-POLICY.md")
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| ([^|]+) \\| (?:Own rule|[^|]*https://[^|]+) \\|$")
	var listed []string
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		listed = append(listed, m[1])
	}
	slices.Sort(listed)
	want := policy.RuleIDs()
	slices.Sort(want)
	if want = slices.Compact(want); !slices.Equal(listed, want) {
		t.Errorf("docs/AD-POLICY.md: got rows with a source for %q want one for each of %q", listed, want)
	}
}

// TestLanguages checks that every class that a frame needs has words in all six
// languages: a frame without them is never found there.
func TestLanguages(t *testing.T) {
	t.Parallel()
	for language, classes := range policy.MissingWords() {
		slices.Sort(classes)
		t.Errorf("%s: got no words for the classes %q", language, classes)
	}
}
