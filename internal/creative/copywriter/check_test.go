package copywriter_test

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"fanfare/internal/creative"
	"fanfare/internal/creative/copywriter"
	"fanfare/internal/creative/parser"
	"fanfare/internal/creative/policy"
)

// write writes the copy of a brief whose facts are those of its prompt.
func write(b *creative.Brief) (*creative.Result, error) {
	if b.Facts == nil {
		b.Facts = parser.Parse(b.Prompt, b.Language, nil)
	}
	return copywriter.New().Write(context.Background(), b)
}

// isRefusal reports whether a brief has too little for an ad.
func isRefusal(f *creative.FailureError) bool {
	return f.Code == creative.FailRefused || f.Code == creative.FailNotUnderstood
}

// claims are words that nobody may add to a brief.
var claims = []string{
	"best", "leading", "guarantee", "guaranteed", "award winning", "trusted", "number one", "limited time", "exclusive", "thousands", "millions", "expert", "experts", "proven", "unbeatable", "ultimate", "elevate", "unlock", "discover the",
}

// reporter is a test of the standard library or a property.
type reporter interface {
	Helper()
	Errorf(format string, args ...any)
}

func between(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// texts are all texts of a copy.
func texts(channel string, c policy.Copy) []string {
	var list []string
	for _, l := range policy.LimitsOf(channel) {
		list = append(list, c.Texts(l.Field)...)
	}
	return list
}

// firstOf is the first word, since a brief may join words with a hyphen.
func firstOf(s string) string {
	first, _, _ := strings.Cut(s, " ")
	return first
}

// firstTexts are what a reader of an ad sees first: the first two lines of each
// list and the first twelve words of each text.
func firstTexts(channel string, c policy.Copy) []string {
	c.Paths, c.BusinessName = nil, nil
	var list []string
	for _, l := range policy.LimitsOf(channel) {
		of := c.Texts(l.Field)
		for _, text := range of[:min(len(of), 2)] {
			words := strings.Fields(text)
			list = append(list, strings.Join(words[:min(len(words), 12)], " "))
		}
	}
	return list
}

// check holds a result against what every result promises.
func check(t reporter, b *creative.Brief, r *creative.Result) {
	t.Helper()
	if r == nil {
		return
	}
	if got := len(r.Drafts) + len(r.Dropped); got != b.Variants {
		t.Errorf("got %d drafts and %d dropped want %d", len(r.Drafts), len(r.Dropped), b.Variants)
	}
	source := strings.ToLower(b.Prompt + " " + b.Brand.Name + " " + b.LandingURL)
	for i, d := range r.Drafts {
		for _, channel := range b.Channels {
			if slices.Contains(d.Skipped, channel) {
				continue
			}
			c := d.ByChannel[channel]
			if violations := c.LimitViolations(channel); len(violations) > 0 {
				t.Errorf("draft %d %s: got %+v over the limit: %q", i, channel, violations, texts(channel, c))
			}
			for _, text := range texts(channel, c) {
				checkText(t, b, channel, text, source)
			}
		}
		for j := range i {
			checkDiffer(t, b, j, i, r)
		}
	}
}

// checkDiffer wants two variants to differ on more than a third of the channels.
func checkDiffer(t reporter, b *creative.Brief, j, i int, r *creative.Result) {
	t.Helper()
	same, channels := 0, 0
	for _, channel := range b.Channels {
		if slices.Contains(r.Drafts[i].Skipped, channel) || slices.Contains(r.Drafts[j].Skipped, channel) {
			continue
		}
		channels++
		share := alike(firstTexts(channel, r.Drafts[i].ByChannel[channel]), firstTexts(channel, r.Drafts[j].ByChannel[channel]))
		if share >= 0.5 {
			same++
		}
	}
	if channels > 0 && same*3 >= channels*2 {
		t.Errorf("drafts %d and %d: got half in common on %d of %d channels", j, i, same, channels)
	}
}

// alike is the share of word trigrams that two copies have in common.
func alike(a, b []string) float64 {
	x, y := trigrams(a), trigrams(b)
	common := 0
	for gram := range x {
		if y[gram] {
			common++
		}
	}
	return float64(common) / float64(max(1, len(x)+len(y)-common))
}

func trigrams(texts []string) map[string]bool {
	m := map[string]bool{}
	for _, text := range texts {
		words := strings.FieldsFunc(strings.ToLower(text), between)
		for i := range max(0, len(words)-2) {
			m[strings.Join(words[i:i+3], " ")] = true
		}
		if len(words) < 3 {
			m[strings.Join(words, " ")] = true
		}
	}
	return m
}

// sound holds English text against what no reader forgives: a sentence that
// begins small, says a word twice or stands there twice.
func sound(t reporter, text string) {
	t.Helper()
	seen := map[string]bool{}
	for line := range strings.Lines(text) {
		line = strings.TrimLeft(strings.TrimSpace(line), "- ")
		for _, label := range []string{"On screen: ", "Voice: ", "End card: "} {
			line = strings.TrimPrefix(line, label)
		}
		for _, s := range strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(".!?", r) }) {
			s = strings.TrimSpace(s)
			words := strings.Fields(s)
			if len(words) < 2 {
				continue
			}
			if unicode.IsLower([]rune(s)[0]) && strings.ToLower(words[0]) == words[0] && !strings.Contains(text, "."+s) {
				t.Errorf("got %q, which begins small, in %q", s, text)
			}
			for i := 1; i < len(words); i++ {
				if strings.EqualFold(words[i], words[i-1]) {
					t.Errorf("got %q twice in %q", words[i], text)
				}
			}
			if seen[s] {
				t.Errorf("got %q twice in %q", s, text)
			}
			seen[s] = true
		}
	}
}

func checkText(t reporter, b *creative.Brief, channel, text, source string) {
	t.Helper()
	// The landing page is the address of the button, as it was given.
	if b.LandingURL != "" {
		text = strings.ReplaceAll(text, b.LandingURL, "{{landing_url}}")
	}
	for _, number := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsDigit(r) && r != '.' && r != ',' }) {
		if number = strings.Trim(number, ".,"); !strings.Contains(source, number) {
			t.Errorf("%s: got figure %q in %q, which the brief does not have", channel, number, text)
		}
	}
	words := " " + strings.Join(strings.FieldsFunc(strings.ToLower(text), between), " ") + " "
	for _, claim := range claims {
		if strings.Contains(words, " "+claim+" ") && !strings.Contains(source, firstOf(claim)) {
			t.Errorf("%s: got claim %q in %q, which the brief does not have", channel, claim, text)
		}
	}
	for _, word := range b.Brand.BannedWords {
		if strings.Contains(words, " "+word+" ") {
			t.Errorf("%s: got banned %q in %q", channel, word, text)
		}
	}
	if strings.Contains(text, "!") && (channel == "search" || channel == "display") {
		t.Errorf("%s: got the exclamation mark of %q", channel, text)
	}
	if strings.Count(text, "!") > 1 || strings.ContainsAny(text, "<>") || strings.Contains(text, "…") || strings.Contains(text, "://") {
		t.Errorf("%s: got %q, which no platform takes", channel, text)
	}
	for _, r := range text {
		if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co) && r != '\n' {
			t.Errorf("%s: got the invisible %U in %q", channel, r, text)
		}
	}
	if strings.TrimSpace(text) != text || text == "" {
		t.Errorf("%s: got %q with loose ends", channel, text)
	}
}
