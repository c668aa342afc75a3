package shorten_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"fanfare/internal/creative/policy"
	"fanfare/internal/creative/shorten"
)

func TestShorten(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, text string
		most       int
		want       string
		ok         bool
	}{
		{"fits", "Leather wallets", 30, "Leather wallets", true},
		{"filler", "A really simply good wallet", 20, "A good wallet", true},
		{"contraction", "You will love what it is", 22, "You'll love what it is", true},
		{"ampersand", "Free returns and a warranty", 25, "Free returns & a warranty", true},
		{"deadline", "20% off until November 30", 24, "20% off", true},
		{"sentence", "Save time. Save money. Save paper.", 24, "Save time. Save money.", true},
		{"clause", "Leather wallets for men, made by hand", 25, "Leather wallets for men", true},
		{"question keeps its mark", "Looking for leather wallets for men?", 30, "Looking for leather wallets?", true},
		{"a point in a number ends nothing", "Rated 4.8 by 2,000 customers", 10, "Rated 4.8", true},
		{"one long word", "Donaudampfschifffahrtsgesellschaft", 20, "Donaudampfschifffahrtsgesellschaft", false},
		{"nothing may dangle", "How to get it", 5, "How to get it", false},
		{"other script", "京都の抹茶カフェ。静かな席。", 10, "京都の抹茶カフェ。", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, ok := shorten.Text(tt.text, policy.Limit{Hard: tt.most, Count: policy.Characters})
			if got != tt.want || ok != tt.ok {
				t.Errorf("got %q %v want %q %v", got, ok, tt.want, tt.ok)
			}
		})
	}
}

// TestShortenNeverCutsWords wants every word of a shortened text to be whole.
func TestShortenNeverCutsWords(t *testing.T) {
	t.Parallel()
	words := rapid.SampledFrom([]string{"coffee", "very", "fresh,", "roasted", "every", "day.", "and", "until", "Sunday", "with", "free", "returns;", "you", "will", "24/7", "4.8"})
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOfN(words, 1, 20).Draw(rt, "words"), " ")
		limit := policy.Limit{Hard: rapid.IntRange(1, 80).Draw(rt, "limit"), Count: policy.Characters}
		short, ok := shorten.Text(text, limit)
		if !ok {
			if short != text {
				rt.Fatalf("got %q want the text as it was", short)
			}
			return
		}
		if limit.Length(short) > limit.Hard || strings.TrimSpace(short) != short || short == "" {
			rt.Fatalf("got %q for %d", short, limit.Hard)
		}
		known := strings.ToLower(text) + " & you'll"
		for word := range strings.FieldsSeq(strings.ToLower(short)) {
			if !strings.Contains(known, strings.Trim(word, ".,;")) {
				rt.Fatalf("got %q, whose %q is not in %q", short, word, text)
			}
		}
	})
}
