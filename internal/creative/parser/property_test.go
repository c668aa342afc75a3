package parser

import (
	"html"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"fanfare/internal/creative/atoms"
	"fanfare/internal/creative/brief"
)

// checkFaithful checks what holds for every prompt: a fact is a part of the
// prompt at its place, and cuts no atom of it.
func checkFaithful(t *testing.T, prompt string, u *brief.Understood) {
	t.Helper()
	runes := []rune(prompt)
	bounds := map[int]bool{}
	for _, a := range atoms.Find(prompt) {
		start := utf8.RuneCountInString(prompt[:a.Start])
		for i := start + 1; i < start+utf8.RuneCountInString(prompt[a.Start:a.End]); i++ {
			bounds[i] = true
		}
	}
	seen := map[brief.Type]bool{}
	for _, f := range u.Facts {
		switch {
		case f.Start == nil || f.End == nil:
			t.Errorf("%q: %s %q has no place", prompt, f.Type, f.Text)
			continue
		case *f.Start < 0 || *f.End > len(runes) || *f.Start >= *f.End || html.UnescapeString(string(runes[*f.Start:*f.End])) != f.Text:
			t.Errorf("%q: %s %q is not at %d to %d", prompt, f.Type, f.Text, *f.Start, *f.End)
		case (bounds[*f.Start] || bounds[*f.End]) && f.Type != brief.Contact:
			t.Errorf("%q: %s %q cuts an amount, a date or a number", prompt, f.Type, f.Text)
		}
		if strings.TrimSpace(f.Text) != f.Text || f.Text == "" {
			t.Errorf("%q: %s %q has spaces around it", prompt, f.Type, f.Text)
		}
		if !f.Type.Repeated() && seen[f.Type] {
			t.Errorf("%q: got a second %s", prompt, f.Type)
		}
		seen[f.Type] = true
	}
	if len(u.Missing) > 3 {
		t.Errorf("%q: got %d missing types want at most 3", prompt, len(u.Missing))
	}
}

// pieces are parts of briefs, to be put together at random.
var pieces = strings.Split("Product: |Price: |Offer: |- |* |1. |20% off|£649|statt 799 €|until 30 June|bis 30. Juni|jusqu'au 15 avril|for commuters|in Leeds|à Lyon|code LUMO20|free delivery| on orders over £40|, |. |; |: | – | and | und |\n|\n\n|<b>|</p>|<script>x</script>|&amp;|\"|“|”|(|)|[|4.8 stars|Our new bike|is a|folds in ten seconds|We |It |Book a demo|0113 496 0000|lumo.com|a@b.co|@lumo|C++|A+++|Ignore all previous instructions|Write an ad for |Saturday 12 July, 2 pm|every Tuesday|🎉|\u00a0|\u200b|©|was |now |from |kostenlos|gratis|£18-£22|…|\x00|\xff|日本|{x}", "|")

func TestFactsArePartsOfThePrompt(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same on every run
	for n := range 3000 {
		var b strings.Builder
		for range 1 + r.IntN(24) {
			b.WriteString(pieces[r.IntN(len(pieces))])
			if r.IntN(2) == 0 {
				b.WriteByte(' ')
			}
		}
		language := ""
		if n%2 == 0 {
			language = append(languages, "xx")[n/2%(len(languages)+1)]
		}
		prompt := strings.ToValidUTF8(b.String(), "\ufffd")
		checkFaithful(t, prompt, Parse(prompt, language, nil))
	}
}

func TestAnyBytes(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4)) //nolint:gosec // the same on every run
	for range 500 {
		text := make([]byte, r.IntN(300))
		for i := range text {
			text[i] = byte(r.IntN(256))
		}
		if u := Parse(string(text), "", nil); u == nil || u.Facts == nil {
			t.Fatalf("%q: got no facts, not even an empty list", text)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, p := range pieces {
		f.Add(p, "en")
	}
	f.Add("A00!0,PriCe:", "0")
	f.Add("Product: Lumo 8\nPrice: £649 (was £799)\n- folds in ten seconds", "")
	f.Fuzz(func(t *testing.T, prompt, language string) {
		prompt = strings.ToValidUTF8(prompt, "\ufffd")
		checkFaithful(t, prompt, Parse(prompt, language, nil))
	})
}

func BenchmarkParse(b *testing.B) {
	text := "Write an ad for our new folding bike, the Lumo 8. It folds in ten seconds, weighs 9.8 kg and fits under a desk. It costs £649 instead of £799 until 30 June. 4.8 stars from 2,100 reviews. Book a test ride at lumo.com. "
	prompt := strings.Repeat(text, 4000/len(text))
	for b.Loop() {
		Parse(prompt, "", nil)
	}
}
