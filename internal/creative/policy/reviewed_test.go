package policy_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// reviewedText is an ad text with the verdict of a reviewer.
type reviewedText struct {
	bad            bool
	language, text string
}

// readReviewed reads a file of texts with their verdicts.
func readReviewed(t *testing.T, file string) []reviewedText {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	var list []reviewedText
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "# ") {
			continue
		}
		parts := strings.SplitN(line, " | ", 3)
		if len(parts) != 3 || parts[0] != "bad" && parts[0] != "good" {
			t.Fatalf("%s: %q: write bad or good, the language and the text, with | between", file, line)
		}
		list = append(list, reviewedText{parts[0] == "bad", parts[1], parts[2]})
	}
	return list
}

// TestReviewed compares the check with the verdicts of a reviewer on uploaded
// texts, which have no source.
func TestReviewed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		file                                       string
		texts, minCaughtPercent, maxFlaggedPercent int
	}{
		{"reviewed.txt", 120, 90, 5},
		{"fresh.txt", 40, 90, 5},
		{"unseen.txt", 40, 90, 5},
		{"blind.txt", 200, 70, 10},
	} {
		t.Run(tt.file, func(t *testing.T) {
			t.Parallel()
			bad, good, caught, flagged := 0, 0, 0, 0
			list := readReviewed(t, tt.file)
			for _, r := range list {
				// These are texts of several fields, so that length says nothing.
				found := slices.DeleteFunc(reviewOne(nil, "social", "primary_text", r.text), func(f string) bool { return strings.HasPrefix(f, "over_limit ") })
				switch {
				case r.bad && len(found) > 0:
					bad++
					caught++
				case r.bad:
					bad++
					t.Logf("missed: %s: %s", r.language, r.text)
				case len(found) > 0:
					good++
					flagged++
					t.Logf("flagged: %s: %s: %s", r.language, r.text, strings.Join(found, ", "))
				default:
					good++
				}
			}
			t.Logf("%d of %d bad texts caught, %d of %d good texts flagged", caught, bad, flagged, good)
			if len(list) != tt.texts || caught*100 < bad*tt.minCaughtPercent || flagged*100 > good*tt.maxFlaggedPercent {
				t.Errorf("got %d texts with %d of %d bad ones caught and %d of %d good ones flagged, want %d texts with %d%% at least and %d%% at most",
					len(list), caught, bad, flagged, good, tt.texts, tt.minCaughtPercent, tt.maxFlaggedPercent)
			}
		})
	}
}
