package copywriter_test

import (
	"cmp"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"

	"fanfare/internal/creative"
	"fanfare/internal/creative/policy"
)

// monthNames are those of six languages that no other word of a brief equals.
var monthNames = strings.Fields(`january february april june july august september october november december sept oct dec
	januar februar märz april mai juni juli oktober dezember dez janvier février mars avril juin juillet août septembre octobre novembre décembre
	enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
	gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre
	janeiro fevereiro março maio junho julho setembro outubro novembro dezembro`)

// gradeNouns are the words before an energy grade in the briefs.
var gradeNouns = []string{"label", "energieklasse", "énergie", "energética", "energetica"}

func spaced(s string) string { return strings.Join(strings.Fields(s), " ") }

// altered lists what a text says in figures, signs and months that is not a
// planted fact in the brief's own spelling.
func altered(p *planted, text string) []string {
	rest := " " + spaced(text) + " "
	facts := slices.Clone(p.facts)
	slices.SortFunc(facts, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	for _, fact := range facts {
		rest = cutWhole(rest, spaced(fact))
	}
	var wrong []string
	for _, r := range rest {
		if unicode.IsDigit(r) || unicode.Is(unicode.Sc, r) || strings.ContainsRune("%+#", r) {
			wrong = append(wrong, string(r))
		}
	}
	before := ""
	for _, word := range strings.FieldsFunc(rest, func(r rune) bool { return !unicode.IsLetter(r) && !strings.ContainsRune(".~'’", r) }) {
		bare := strings.Trim(word, ".")
		low := strings.ToLower(bare)
		switch {
		case slices.Contains(monthNames, low), p.code != "" && strings.EqualFold(bare, p.code), slices.Contains([]string{"c", "f", "net", "chf", "eur", "usd"}, low):
			wrong = append(wrong, word)
		case bare == "A" && slices.Contains(gradeNouns, before):
			wrong = append(wrong, before+" A")
		}
		before = low
	}
	return wrong
}

// cutWhole takes a fact out of a text wherever it is not part of a longer word
// or number.
func cutWhole(text, fact string) string {
	inner := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '%' || unicode.Is(unicode.Sc, r)
	}
	for from := 0; ; {
		i := strings.Index(text[from:], fact)
		if i < 0 {
			return text
		}
		i += from
		end := i + len(fact)
		before, after := []rune(text[:i]), []rune(text[end:])
		if inner(before[len(before)-1]) || inner(after[0]) && inner([]rune(fact)[len([]rune(fact))-1]) || (after[0] == '+' || after[0] == '#') {
			from = end
			continue
		}
		text = text[:i] + " ~ " + text[end:]
		from = i
	}
}

// noPhone are the fields that never have a phone number.
func noPhone(channel, field string) bool {
	return channel == "search" || channel == "display" || slices.Contains([]string{"headlines", "long_headline", "subject", "paths", "business_name"}, field)
}

// TestFactsVerbatimDrill wants every amount, date, percentage, code, phone
// number and symbol of the copy to be in the brief, in the same spelling and
// whole, and the copy to use most of them. FANFARE_DRILL=full makes it 10,000
// briefs.
func TestFactsVerbatimDrill(t *testing.T) {
	t.Parallel()
	n := 300
	if os.Getenv("FANFARE_DRILL") == "full" {
		n = 10000
	}
	bad, refused, facts, used := 0, 0, 0, 0
	for i := range n {
		l := &tongues[i%len(tongues)]
		p := plant(i, l)
		b := &creative.Brief{Prompt: p.prompt, Channels: []string{"search", "social", "email", "sms", "display"}, Variants: 2, Seed: int64(i), Language: l.tag}
		// Every language meets every channel.
		if i/len(tongues)%3 == 0 {
			b.Channels = []string{"social", "video", "direct_mail"}
		}
		result, err := write(b)
		if failure, ok := errors.AsType[*creative.FailureError](err); ok && isRefusal(failure) {
			refused++
			t.Logf("brief %d (%s) is refused: %s: %q", i, l.tag, failure.Message, p.prompt)
			continue
		}
		if err != nil {
			t.Fatalf("brief %d: got %v", i, err)
		}
		var all strings.Builder
		for _, d := range result.Drafts {
			for _, channel := range b.Channels {
				text := d.ByChannel[channel]
				for _, limit := range policy.LimitsOf(channel) {
					for _, s := range text.Texts(limit.Field) {
						all.WriteString(s + "\n")
						wrong := altered(&p, s)
						if noPhone(channel, limit.Field) && p.phone != "" && strings.Contains(s, p.phone) {
							wrong = append(wrong, p.phone)
						}
						if len(wrong) > 0 {
							if bad++; bad <= 25 {
								t.Errorf("brief %d (%s) %s %s: got %q in %q of %q", i, l.tag, channel, limit.Field, wrong, s, p.prompt)
							}
						}
					}
				}
			}
		}
		said := spaced(all.String())
		for _, fact := range p.facts {
			facts++
			if strings.Contains(said, spaced(fact)) {
				used++
			}
		}
	}
	t.Logf("%d briefs, %d refused, %d texts altered, %d of %d facts used", n, refused, bad, used, facts)
	if bad > 25 {
		t.Errorf("got %d altered texts", bad)
	}
	if refused*20 > n || used*10 < facts*7 {
		t.Errorf("got %d of %d briefs refused and %d of %d facts used, want almost none and most", refused, n, used, facts)
	}
}
