package composer

import (
	"slices"
	"strings"
	"unicode"

	"fanfare/internal/creative"
	"fanfare/internal/creative/policy"
)

// gate knows the facts of a brief as the brief writes them. It is the last
// check of every line: what states a figure, a date, a code or a symbol in any
// other way is not said.
type gate struct {
	// spelled are the atoms of the brief by their plain form.
	spelled map[string]string
	// names are words that the brief has in one spelling only: a code without
	// digits, and a name without its symbol, which would be another name.
	names map[string]string
	// loud says that the brief is in capitals.
	loud bool
}

// plainAtom is an atom without what cleaning and capitals change.
func plainAtom(s string) string {
	return strings.TrimRight(plainDashes.Replace(strings.ToLower(s)), ".")
}

var plainDashes = strings.NewReplacer(" – ", "-", " — ", "-", " - ", "-", "–", "-", "—", "-", "−", "-", "‑", "-", "‐", "-", "’", "'")

// codeWord is a code that consists of letters only.
var codeWord = newPattern(`(?:(?i:code|coupon|voucher|gutschein|aktionscode|rabattcode|promo|codice|código|codigo|cupom|cupón|cupon|quote)[\p{L}]*)(?: (?i:promo|sconto|is|lautet))?(?: ?[:=])? "?([\p{Lu}]{4,})\b`)

func newGate(b *creative.Brief) *gate {
	g := &gate{spelled: map[string]string{}, names: map[string]string{}}
	text := plainText(strings.Join([]string{b.Prompt, b.Brand.Name, domain(b.LandingURL)}, "\n"))
	g.loud = shouted(b.Prompt)
	alone := wordsIn(newMasking(text).text)
	for _, a := range atoms(text) {
		found := text[a.start:a.end]
		if key := plainAtom(found); g.spelled[key] == "" {
			g.spelled[key] = found
		}
		if base := strings.Trim(found, "+#."); base != found && !strings.ContainsFunc(base, func(r rune) bool { return !unicode.IsLetter(r) }) && !shortWords[strings.ToLower(base)] && !alone[base] {
			g.names[strings.ToLower(base)] = found
		}
	}
	for _, m := range codeWord.compiled().FindAllStringSubmatch(text, -1) {
		if !alone[strings.ToLower(m[1])] && !alone[upperFirst(strings.ToLower(m[1]))] {
			g.names[strings.ToLower(m[1])] = m[1]
		}
	}
	return g
}

// shortWords are words of one letter.
var shortWords = set("a e i o u y à é ó")

// wordsIn is the set of the words of a text, as they are written.
func wordsIn(text string) map[string]bool {
	m := map[string]bool{}
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		m[word] = true
	}
	return m
}

// say writes the facts of a text as the brief does. It reports false for a text
// that has others.
func (g *gate) say(text string) (string, bool) {
	end := len(text)
	for _, a := range slices.Backward(atoms(text)) {
		found := text[a.start:a.end]
		own, known := g.spelled[plainAtom(found)]
		if !known || !g.plain(text[a.end:end]) {
			return "", false
		}
		// Choice: facts stay as they were typed, "dec 5" too. Only the capitals
		// of a brief that shouts say nothing, and known names are no facts:
		// "b2b" may be written B2B.
		calm := g.loud && a.date && strings.EqualFold(found, own) || proper[strings.ToLower(found)] == found
		if found != own && !calm {
			text = text[:a.start] + strings.TrimSuffix(own, text[a.end:min(a.end+1, len(text))]) + text[a.end:]
		}
		end = a.start
	}
	if !g.plain(text[:end]) {
		return "", false
	}
	return text, true
}

// plain reports whether the text between atoms has neither a sign of a number
// nor a name in another spelling.
func (g *gate) plain(text string) bool {
	if strings.ContainsFunc(text, numberSign) {
		return false
	}
	if len(g.names) == 0 {
		return true
	}
	for word := range wordsIn(text) {
		if own := g.names[strings.ToLower(word)]; own != "" && own != word {
			return false
		}
	}
	return true
}

// numberSign is a sign that belongs to a number.
func numberSign(r rune) bool { return r == '%' || unicode.Is(unicode.Sc, r) }

// sameAtoms reports whether every atom of a shorter text is one of the longer.
func sameAtoms(short, long string) bool {
	known := map[string]bool{}
	for _, a := range atoms(long) {
		known[long[a.start:a.end]] = true
	}
	return !slices.ContainsFunc(atoms(short), func(a atom) bool { return !known[short[a.start:a.end]] })
}

// onlyAtoms reports a text that is one atom.
func onlyAtoms(text string) bool {
	found := atoms(text)
	return len(found) == 1 && found[0].end-found[0].start == len(text)
}

// filter passes a copy through the gate. Items of a list go one by one, longer
// texts line by line and sentence by sentence.
func (g *gate) filter(channel string, c *policy.Copy) {
	for _, l := range policy.LimitsOf(channel) {
		var kept []string
		for _, text := range c.Texts(l.Field) {
			if text = g.passing(text, l); text != "" && (!noPhone(l) || !hasPhone(text)) && !slices.Contains(kept, text) {
				kept = append(kept, text)
			}
		}
		c.SetTexts(l.Field, kept)
	}
}

// noPhone are the fields in which no platform wants a phone number.
func noPhone(l policy.Limit) bool {
	return l.Channel == "search" || l.Channel == "display" || slices.Contains([]string{"headlines", "long_headline", "subject", "business_name", "paths"}, l.Field)
}

// passing is what of a text may be said.
func (g *gate) passing(text string, l policy.Limit) string {
	say := func(s string) (string, bool) {
		// The platform behind the short text refuses these signs.
		if l.Field == "short_text" && strings.ContainsAny(s, "#@{}") {
			return "", false
		}
		return g.say(s)
	}
	if said, ok := say(text); ok {
		return said
	}
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		if said, ok := say(line); ok {
			lines = append(lines, said)
			continue
		}
		var kept []string
		m := newMasking(line)
		for _, s := range strings.SplitAfter(m.text, ". ") {
			if said, ok := say(m.restore(s)); ok {
				kept = append(kept, strings.TrimSpace(said))
			}
		}
		if len(kept) > 0 {
			lines = append(lines, strings.Join(kept, " "))
		}
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}
