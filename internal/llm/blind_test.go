package llm_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"fanfare/internal/creative"
)

// TestBlindAnswers checks 40 imperfect answers that somebody wrote without sight
// of the code: usable ones give variants, others end with a reason. The answers
// have a form that a model without an enforced schema might choose.
func TestBlindAnswers(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/blind.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct{ ID, Kind, Raw, Expect, Why string }
	if err := json.Unmarshal(text, &cases); err != nil || len(cases) != 40 {
		t.Fatalf("got %d cases, %v", len(cases), err)
	}
	// never are parts of texts that no result has.
	never := map[string][]string{
		"too_long_lines_some": {"for Commuters Is Now £649 Instead"}, "thinking_tags": {"Cheap bike lol"}, "html_entities": {"&pound;", "&amp;", "&#"},
		"invented_prices": {"£21", "35%", "£499", "24 months", "£599"}, "invented_claims": {"2024"}, "emoji_everywhere": {"✨", "💥"},
		"headlines_newline_string": {"1. ", "- 4.8"}, "comments": {"//", "/*"},
	}
	for _, c := range cases {
		t.Run(c.Kind, func(t *testing.T) {
			t.Parallel()
			b := &creative.Brief{
				Prompt:   "Lumo 8 folding bike for commuters, £649 instead of £799 until 30 June. Folds in ten seconds, weighs 9.8 kg. 4.8 stars from 2,100 reviews. Book a test ride.",
				Channels: []string{"search", "social", "email"}, Variants: 3, Brand: creative.Brand{Name: "Lumo"},
			}
			r, err := newWriter(&scriptedChat{answers: []scriptedAnswer{answerText(c.Raw)}}).Write(t.Context(), b)
			if (err == nil) != (c.Expect == "usable") || err != nil && failureCode(err) == "" {
				t.Fatalf("got %d drafts, %v want %s: %s", len(r.Drafts), err, c.Expect, c.Why)
			}
			for i, d := range r.Drafts {
				for _, channel := range b.Channels {
					copied := d.ByChannel[channel]
					if violations := copied.LimitViolations(channel); len(violations) > 0 && !slices.Contains(d.Skipped, channel) {
						t.Errorf("draft %d breaks %+v", i, violations)
					}
					for _, text := range copied.AllTexts(channel) {
						for _, part := range never[c.Kind] {
							if strings.Contains(text, part) && (channel != "social" && channel != "email" || c.Kind != "emoji_everywhere") {
								t.Errorf("draft %d %s: got %q in %q", i, channel, part, text)
							}
						}
					}
				}
			}
		})
	}
}
