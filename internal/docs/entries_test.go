package docs_test

import (
	"strings"
	"testing"
)

// TestEntries checks that what a search finds exists, with its anchor.
func TestEntries(t *testing.T) {
	t.Parallel()
	s := newTestSite(t)
	list, err := s.Entries()
	if err != nil {
		t.Fatal(err)
	}
	bodies, found := map[string]string{}, map[string]bool{}
	for _, e := range list {
		path, anchor, _ := strings.Cut(e.Path, "#")
		if bodies[path] == "" {
			bodies[path] = get(t, s, path).Body.String()
		}
		if anchor != "" && !strings.Contains(bodies[path], `id="`+anchor+`"`) {
			t.Errorf("%s has no such anchor", e.Path)
		}
		if e.Title == "" || found[e.Path] {
			t.Errorf("%s: got title %q, twice: %v", e.Path, e.Title, found[e.Path])
		}
		found[e.Path] = true
	}
	for _, path := range []string{"/docs/guides/getting-started", "/docs/operating", "/docs/reference#launchCampaign", "/docs/errors#invalid_cursor"} {
		if !found[path] {
			t.Errorf("%s is missing among %d entries", path, len(list))
		}
	}
}
