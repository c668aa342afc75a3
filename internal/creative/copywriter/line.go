package copywriter

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"fanfare/internal/creative/atoms"
	"fanfare/internal/creative/brief"
	"fanfare/internal/creative/copybank"
)

// line is a piece of copy: a filled pattern, or words of the brief as they are.
type line struct {
	// id is the pattern's, empty for a line in the words of the brief.
	id    string
	text  string
	facts mask
	angle string
	tone  string
	// special says that the pattern is for few kinds.
	special bool
	own     bool
	// sentence says that the line is a whole sentence of the brief.
	sentence bool
	// color says that the line has a voice of its own, stock that every advertiser
	// could say it.
	color, stock bool
	// fixed is the number of letters that are not the brief's, cut says that a
	// shorter form of a fact is used.
	fixed int
	cut   bool
	// words are the words of meaning in the text, once they were asked for.
	words []string
}

// linesOf fills the patterns of a role in every way that the facts allow.
func (w *writer) linesOf(role copybank.Role) []line {
	if list, done := w.lines[role]; done {
		return list
	}
	var list []line
	if w.bank != nil {
		for _, p := range w.bank.Patterns(role) {
			if p.Grade == copybank.Color && !w.colorful("") || p.Needs&^w.m.have != 0 || !p.Suits(w.kind) || !w.suitsTone(p) || !w.isDoer(p) || !w.isWitnessed(p) {
				continue
			}
			for turn := range w.m.turns(p.Needs) {
				l, ok := w.m.filled(p, turn, false)
				if !ok {
					continue
				}
				if w.passes(&l, role) {
					list = append(list, l)
				}
				if role != copybank.Headline || len(l.text) <= shortHeadline {
					continue
				}
				if short, _ := w.m.filled(p, turn, true); short.cut && w.passes(&short, role) {
					list = append(list, short)
				}
			}
		}
	}
	for _, l := range w.m.own {
		if l = w.asOwn(l, role); l.text != "" && w.passes(&l, role) {
			list = append(list, l)
		}
	}
	w.lines[role] = list
	return list
}

// doers are the kinds whose advertiser does what its service does: a clinic
// treats, a shop does not fold in ten seconds.
var doers = []brief.Kind{"service", "health", "fitness", "course", "software", "b2b", "finance", "travel", "hiring", "appeal"}

// isDoer reports whether the advertiser can be the subject of what a pattern says
// that the product does.
func (w *writer) isDoer(p *copybank.Pattern) bool {
	if !p.Needs.Has(copybank.Brand) || !p.Needs.Has(copybank.BenefitDoes) || p.Needs.Has(copybank.ProductName) {
		return true
	}
	return slices.Contains(doers, w.kind)
}

// mostTurns bounds in how many ways one pattern is filled.
const mostTurns = 6

// turns returns in how many ways slots can be filled.
func (m *material) turns(needs copybank.SlotSet) int {
	n := 1
	for _, group := range slotGroups {
		if needs.Has(group[0]) {
			n = max(n, len(m.fill[group[0]]))
		}
	}
	return min(n, mostTurns)
}

// shortHeadline is the length of headlines from which shorter forms of facts are
// tried.
const shortHeadline = 30

// mostFixed is the number of letters from which a line with nothing but names says
// something that every advertiser could say.
const mostFixed = 6

// stockSlots are the slots of which every brief has a fact.
var stockSlots = copybank.SlotSet(0).Add(copybank.Product).Add(copybank.ProductPlural).Add(copybank.ProductA).Add(copybank.ProductOne).Add(copybank.ProductName).Add(copybank.Brand).Add(copybank.CTA)

// filled fills a pattern. Slots of one shape take one fact after the other,
// beginning with that of the turn.
func (m *material) filled(p *copybank.Pattern, turn int, short bool) (line, bool) {
	l := line{id: p.ID, angle: p.Angle, tone: p.Tone, special: len(p.Kinds) > 0 && len(p.Kinds) <= 6, color: p.Grade == copybank.Color}
	var b strings.Builder
	for _, part := range p.Parts {
		if !part.IsSlot {
			b.WriteString(part.Text)
			l.fixed += len(part.Text)
			continue
		}
		f := m.fillingOf(part.Slot, turn)
		// A fact twice in a line is a repetition, two slots of one fact such as
		// the offer and its invitation too.
		if l.facts&f.fact != 0 {
			return line{}, false
		}
		l.facts |= f.fact
		text := f.text
		if short && f.short != "" {
			text, l.cut = f.short, true
		} else if f.within != "" && needsArticle(b.String()) {
			text = f.within
		}
		if startsSentence(b.String()) {
			text = m.atStart(text)
		}
		b.WriteString(text)
	}
	// A date such as "30.09." ends its sentence.
	l.text = strings.ReplaceAll(b.String(), "..", ".")
	if m.english && p.Role == copybank.Sentence && p.Needs.Has(copybank.ProofClause) && strings.Contains(l.text, " since ") {
		l.text = strings.Replace(l.text, " is ", " has been ", 1)
	}
	l.stock = p.Role != copybank.Sentence && p.Needs&^stockSlots == 0 && (l.color || (l.fixed > mostFixed || !p.Parts[0].IsSlot) && p.Role != copybank.Closing && !slices.Contains(p.Kinds, "hiring"))
	return l, true
}

// needsArticle reports whether a noun after a text stands within a sentence, and
// no word before it takes the place of its article.
func needsArticle(before string) bool {
	before = strings.TrimRight(before, " ")
	if before == "" || strings.ContainsRune(".:?!;(“\"", rune(before[len(before)-1])) {
		return false
	}
	last := before[strings.LastIndexByte(before, ' ')+1:]
	switch strings.ToLower(last) {
	case "your", "our", "my", "their", "this", "that", "more", "no", "every", "each", "any", "new", "the", "a", "an", "of", "&", "+", "|", "-", "–":
		return false
	}
	return true
}

func (m *material) fillingOf(slot copybank.Slot, turn int) filling {
	for _, group := range slotGroups {
		for i, s := range group {
			if s == slot {
				list := m.fill[slot]
				return list[(turn+i)%len(list)]
			}
		}
	}
	return m.fill[slot][0]
}

// atStart returns a text as it begins a sentence. The texts of a brief are few, and
// come at many starts.
func (m *material) atStart(text string) string {
	cased, known := m.cased[text]
	if !known {
		cased = sentenceCase(text)
		m.cased[text] = cased
	}
	return cased
}

// sentenceCase begins a text with a capital. Words such as "iPhone" and "e.g."
// stay as they are.
func sentenceCase(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	if !unicode.IsLower(first) {
		return text
	}
	word, rest, _ := strings.Cut(text, " ")
	next, _, _ := strings.Cut(rest, " ")
	if head := word + " " + next; strings.ContainsFunc(head, unicode.IsDigit) {
		if found := atoms.Find(head); len(found) > 0 && found[0].Start == 0 {
			return text
		}
	}
	if strings.ContainsFunc(word[size:], unicode.IsUpper) || strings.ContainsRune(strings.TrimRight(word, ".,"), '.') {
		return text
	}
	return string(unicode.ToUpper(first)) + text[size:]
}

// startsSentence reports whether what follows a text begins a sentence.
func startsSentence(before string) bool {
	before = strings.TrimRight(before, " \u00a0")
	return before == "" || strings.ContainsRune(".?!", rune(before[len(before)-1]))
}
