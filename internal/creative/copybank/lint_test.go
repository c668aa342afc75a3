package copybank

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"fanfare/internal/creative/brief"
)

// samples returns three fillings of each slot of a language.
func samples(t *testing.T, language string) map[string][]string {
	t.Helper()
	return readValues(t, language+".txt")
}

func readValues(t *testing.T, name string) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	values := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), " = "); ok {
			values[name] = strings.Split(value, " | ")
		}
	}
	return values
}

// fill fills a pattern with the nth samples.
func (p *Pattern) fill(t *testing.T, values map[string][]string, n int) string {
	t.Helper()
	var b strings.Builder
	for _, part := range p.Parts {
		if !part.IsSlot {
			b.WriteString(part.Text)
			continue
		}
		list := values[part.Slot.String()]
		if len(list) == 0 {
			t.Errorf("%s: {%s} is no slot of this language: %s", p.Source, part.Slot, p.Text())
			return ""
		}
		b.WriteString(list[n%len(list)])
	}
	return b.String()
}

// lengths are the bounds of each role. The shortest of three fillings must be
// within them.
var lengths = map[Role]struct{ least, most int }{
	Headline: {2, 42}, Description: {15, 92}, Subject: {4, 58}, Preheader: {20, 95}, Opening: {20, 175}, Body: {8, 150}, Closing: {4, 95}, Sentence: {10, 150},
}

// leastPatterns is how many patterns a language must have to be a language of
// the writer.
func leastPatterns(language string) int {
	if language == "en" {
		return 3000
	}
	return 800
}

func TestPatterns(t *testing.T) {
	t.Parallel()
	forbidden := readValues(t, "forbidden.txt")
	for _, language := range Languages() {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			b, err := read(files, language)
			if err != nil {
				t.Fatal(err)
			}
			values := samples(t, language)
			texts, kinds, count := map[string]string{}, map[brief.Kind]int{}, 0
			for _, role := range Roles {
				for _, p := range b.Patterns(role) {
					count++
					for _, kind := range p.Kinds {
						kinds[kind]++
					}
					lint(t, p, values, forbidden[language])
					key := string(role) + strings.ToLower(strings.TrimRight(p.Text(), ".?"))
					if other := texts[key]; other != "" {
						t.Errorf("%s: the same line is at %s: %s", p.Source, other, p.Text())
					}
					texts[key] = p.Source
				}
			}
			if count < leastPatterns(language) {
				t.Errorf("got %d patterns want at least %d", count, leastPatterns(language))
			}
			for _, kind := range brief.Kinds {
				if kinds[brief.Kind(kind)] < 20 {
					t.Errorf("got %d patterns of kind %s want at least 20", kinds[brief.Kind(kind)], kind)
				}
			}
		})
	}
}

// lint checks one pattern.
func lint(t *testing.T, p *Pattern, values map[string][]string, forbidden []string) {
	t.Helper()
	bad := func(format string, args ...any) {
		t.Helper()
		t.Errorf("%s: %s: %s", p.Source, fmt.Sprintf(format, args...), p.Text())
	}
	shortest := 1 << 20
	for n := range 3 {
		shortest = min(shortest, utf8.RuneCountInString(p.fill(t, values, n)))
	}
	if bounds := lengths[p.Role]; shortest < bounds.least || shortest > bounds.most {
		bad("has %d characters when filled, want %d to %d", shortest, bounds.least, bounds.most)
	}
	text := p.Text()
	ends := strings.HasSuffix(text, ".") || strings.HasSuffix(text, "?")
	switch p.Role {
	case Headline, Subject:
		if strings.HasSuffix(text, ".") {
			bad("must not end with a period")
		}
	case Description, Preheader, Opening, Body, Closing, Sentence:
		if !ends {
			bad("must end with a period or a question mark")
		}
	}
	if strings.ContainsAny(text, "!\t—") || strings.Contains(text, "  ") || strings.Contains(text, "..") {
		bad("has a mark that lines do not have")
	}
	if p.Needs.Has(Contact) && p.Role != Body && p.Role != Closing {
		bad("has contact data outside of body and closing")
	}
	var fixed strings.Builder
	for _, part := range p.Parts {
		if part.IsSlot {
			fixed.WriteString("#")
		} else {
			fixed.WriteString(part.Text)
		}
	}
	said := " " + strings.Join(strings.FieldsFunc(strings.ToLower(fixed.String()), func(r rune) bool { return !unicode.IsLetter(r) && r != '-' }), " ") + " "
	for _, words := range forbidden {
		if strings.Contains(said, " "+words+" ") {
			bad("says %q, which no slot says", words)
		}
	}
	if strings.ContainsFunc(fixed.String(), unicode.IsDigit) {
		bad("says a number")
	}
	for _, slot := range []Slot{ProductPlural, ProductA, ProductOne, BenefitNP, BenefitDo, BenefitDoes, BenefitIs, BenefitClause} {
		if p.Needs.Has(slot) && len(values[slot.String()]) == 0 {
			bad("needs {%s}, which only English has", slot)
		}
	}
	if slices.ContainsFunc(strings.Fields(fixed.String()), func(w string) bool {
		return utf8.RuneCountInString(w) > 3 && w == strings.ToUpper(w) && strings.ContainsFunc(w, unicode.IsLetter)
	}) {
		bad("has a word in capitals")
	}
}

// TestPrintFilled writes every pattern with three fillings for a reader to
// FANFARE_PATTERNS, a file of patterns. It is how a second person approves them.
func TestPrintFilled(t *testing.T) {
	t.Parallel()
	name := os.Getenv("FANFARE_PATTERNS")
	if name == "" {
		t.Skip("FANFARE_PATTERNS names the file to print")
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	values := samples(t, os.Getenv("FANFARE_PATTERNS_LANGUAGE"))
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		p, err := Parse(line)
		if err != nil {
			fmt.Printf("%d ERROR %v\n", n, err)
			continue
		}
		fmt.Printf("%d %s\n   1 %s\n   2 %s\n   3 %s\n", n, line, p.fill(t, values, 0), p.fill(t, values, 1), p.fill(t, values, 2))
	}
}
