package copywriter

import (
	"strings"

	"fanfare/internal/creative/brief"
	"fanfare/internal/creative/copybank"
)

// isWitnessed reports whether a pattern suits the trade of the brief. A kind has many
// trades: an oil mill is food, and nobody eats there. A word such as "table" needs a
// word of the brief that begins like it. Volunteers do not come from an advertiser.
func (w *writer) isWitnessed(p *copybank.Pattern) bool {
	if w.m.lang == nil {
		return true
	}
	if w.m.begins && w.kind == "hiring" && p.Role != copybank.Sentence && p.Needs.Has(copybank.WhenOn) {
		return false // "Work in January" is another job than one that starts in January.
	}
	if w.m.wanted && p.Needs.Has(copybank.Brand) && (p.Needs.Has(copybank.Product) || p.Needs.Has(copybank.ProductPlural)) && p.Role != copybank.Headline {
		return false
	}
	if w.m.oddPrice && p.Role == copybank.Sentence && p.Needs.Has(copybank.Price) {
		return false
	}
	if len(p.Kinds) == 0 || p.Role == copybank.Sentence {
		return true
	}
	if w.trade == nil {
		w.trade = w.tradeWords()
	}
	for _, stem := range w.m.lang.tradesOf(p) {
		if w.m.lang.stemOf("trade_of_"+string(w.kind), stem) == "" && !w.isSaid(stem) {
			return false
		}
	}
	return true
}

// tradesOf returns the stems of a pattern's own words that are of one trade.
func (l *language) tradesOf(p *copybank.Pattern) []string {
	if known, ok := l.trades.Load(p); ok {
		return known.([]string) //nolint:forcetypeassert // only these are stored
	}
	list := []string{}
	for _, part := range p.Parts {
		if part.IsSlot {
			continue
		}
		for word := range strings.FieldsSeq(asWords(part.Text)) {
			if stem := l.stemOf("trade_words", word); stem != "" {
				list = append(list, stem)
			}
		}
	}
	l.trades.Store(p, list)
	return list
}

// tradeWords returns the words of the brief, in lower case.
func (w *writer) tradeWords() []string {
	list := []string{}
	for _, f := range w.m.set.Facts {
		if f.Type != brief.Brand {
			list = append(list, strings.Fields(asWords(f.Text))...)
		}
	}
	return list
}

// isSaid reports whether a word of the brief has a stem.
func (w *writer) isSaid(stem string) bool {
	for _, word := range w.trade {
		if strings.HasPrefix(word, stem) || len(stem) >= longStem && strings.Contains(word, stem) {
			return true
		}
	}
	return false
}

// longStem is the length of stems that are found within German compounds too.
const longStem = 5

// stemOf returns the stem of a list that a word begins with, empty without one. A
// stem with a point is a whole word.
func (l *language) stemOf(name, word string) string {
	for _, stem := range l.values[name] {
		if whole, exact := strings.CutSuffix(stem, "."); exact && word == whole || !exact && strings.HasPrefix(word, stem) {
			return strings.TrimSuffix(stem, ".")
		}
	}
	return ""
}
