package nearest_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"fanfare/internal/nearest"
)

func TestWord(t *testing.T) {
	t.Parallel()
	fields := []string{"name", "channels", "budget", "schedule", "description", "creative_ids", "connection_ids"}
	for word, want := range map[string]string{
		"nam": "name", "anme": "name", "Name": "name", "chanels": "channels", "bugdet": "budget", "budgets": "budget", "schedul": "schedule", "desciption": "description",
		"creative_id": "creative_ids", "NAME": "name", "channel": "channels", "descriptions": "description", "colour": "", "x": "", "": "", "na": "", "nothing_like_it": "", strings.Repeat("name", 50): "", "名前": "",
	} {
		if got := nearest.Word(word, fields); got != want {
			t.Errorf("%q: got %q want %q", word, got, want)
		}
	}
	if got := nearest.Word("name", nil); got != "" {
		t.Errorf("got %q of nothing, want nothing", got)
	}
}

// TestWordFindsOneSlip wants every single slip in a word of some length to be
// seen through.
func TestWordFindsOneSlip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		word := rapid.StringMatching(`[a-z]{4,20}`).Draw(rt, "word")
		i := rapid.IntRange(0, len(word)-2).Draw(rt, "place")
		letter := rapid.StringMatching(`[a-z]`).Draw(rt, "letter")
		for name, slip := range map[string]string{
			"left out": word[:i] + word[i+1:], "put in": word[:i] + letter + word[i:], "replaced": word[:i] + letter + word[i+1:],
			"swapped": word[:i] + word[i+1:i+2] + word[i:i+1] + word[i+2:],
		} {
			if got := nearest.Word(slip, []string{"0123456789", word}); got != word {
				rt.Fatalf("%s: got %q for %q want %q", name, got, slip, word)
			}
		}
	})
}

func TestPlural(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{"country": "countries", "Countries": "countries", "languages": "languages", "language": "languages", "DESC": "desc"} {
		if got := nearest.Word(word, []string{"desc", "languages", "countries"}); got != want {
			t.Errorf("%q: got %q want %q", word, got, want)
		}
	}
}
