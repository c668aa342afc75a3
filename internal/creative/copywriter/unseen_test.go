package copywriter_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"

	"fanfare/internal/creative"
	"fanfare/internal/creative/policy"
)

// figureWord reports a word that states a figure or has a symbol.
func figureWord(word string) bool {
	return strings.ContainsFunc(word, func(r rune) bool {
		return unicode.IsDigit(r) || unicode.Is(unicode.Sc, r) || strings.ContainsRune("%+#", r)
	})
}

// plainWords are the words of a text without the marks around them, a mark that
// ends a clause being a word of its own.
func plainWords(text string) []string {
	var list []string
	for word := range strings.FieldsSeq(text) {
		bare := strings.TrimRight(strings.TrimLeft(word, `("'«„“`), `.,;:!?)"'»“”`)
		if bare != "" {
			list = append(list, bare)
		}
		if strings.ContainsAny(word[len(word)-1:], ",;:!?") {
			list = append(list, ",")
		}
	}
	return list
}

// bound reports whether a figure is not the same without the next word: its
// currency, its unit of percent, its month or the end of a range.
func bound(words []string, i int) bool {
	if i+1 >= len(words) {
		return false
	}
	next := strings.ToLower(words[i+1])
	joins := slices.Contains([]string{"bis", "und", "au", "et", "al", "a", "to", "y", "e", "–", "-", "de", "×"}, next)
	if joins && i+2 < len(words) && (figureWord(words[i+2]) || slices.Contains(monthNames, strings.ToLower(words[i+2]))) {
		return !strings.ContainsFunc(words[i], func(r rune) bool { return unicode.Is(unicode.Sc, r) })
	}
	return slices.Contains(monthNames, next) || slices.Contains([]string{"€", "%", "£", "$", "euro", "euros", "eur", "chf", "percent", "prozent"}, next)
}

// led reports whether a figure belongs to the word before it.
func led(words []string, i int) bool {
	if i == 0 || strings.HasPrefix(words[i], "-") {
		return false
	}
	before := strings.ToLower(words[i-1])
	return slices.Contains([]string{"r$", "chf", "€", "us$", "a$"}, before) || slices.Contains(monthNames, before)
}

// figuresOff lists the figures of a text that the brief does not have in the
// same words.
func figuresOff(brief, text string) []string {
	said, own := plainWords(text), plainWords(brief)
	var wrong []string
	for i, word := range said {
		if !figureWord(word) {
			continue
		}
		found := false
		for j, other := range own {
			if other != word {
				continue
			}
			if bound(own, j) && (i+1 >= len(said) || said[i+1] != own[j+1]) || led(own, j) && (i == 0 || !strings.EqualFold(said[i-1], own[j-1])) {
				continue
			}
			found = true
		}
		if !found {
			wrong = append(wrong, word)
		}
	}
	return wrong
}

// TestUnseenBriefs reads briefs that were written before the rules for facts
// and half of which were opened only after them.
func TestUnseenBriefs(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/unseen.txt")
	if err != nil {
		t.Fatal(err)
	}
	channels := []string{"search", "social", "email", "sms", "display"}
	for line := range strings.SplitSeq(strings.TrimSpace(string(raw)), "\n") {
		tag, prompt, _ := strings.Cut(line, "|")
		b := &creative.Brief{Prompt: prompt, Channels: channels, Variants: 3, Seed: 1}
		result, err := write(b)
		if err != nil {
			t.Errorf("%s: got %v", prompt, err)
			continue
		}
		if result.Language != tag {
			t.Errorf("%s: got language %s want %s", prompt, result.Language, tag)
		}
		b.Language = result.Language
		for _, d := range result.Drafts {
			if p := policy.Review(b.Source(), channels, d.ByChannel); p.Status == policy.Block {
				t.Errorf("%s: got %+v", prompt, p.Findings)
			}
			for _, channel := range channels {
				for _, text := range texts(channel, d.ByChannel[channel]) {
					if wrong := figuresOff(prompt, text); len(wrong) > 0 {
						t.Errorf("%s: got %q in %q", prompt, wrong, text)
					}
				}
			}
		}
	}
}
