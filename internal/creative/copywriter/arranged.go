package copywriter

import (
	"math/bits"
	"slices"

	"fanfare/internal/creative/atoms"
	"fanfare/internal/creative/brief"
	"fanfare/internal/creative/policy"
)

// arrangedTypes are the facts that can stand behind the name of a product without
// words between them.
var arrangedTypes = []brief.Type{brief.Offer, brief.Price, brief.Benefit, brief.Proof, brief.When, brief.Place}

// arranged returns the product with a fact behind it, in a language without patterns:
// "Winterbeurt voor je fiets: € 49,95". The fact is one that the variant leads with, or
// else the offer or the price. It returns the product alone if nothing else fits.
func (w *writer) arranged(l policy.Limit, room int, taken []string) (line, bool) {
	product, ok := first(w.m.facts, brief.Product)
	if w.bank != nil || !ok || product.Confidence < brief.Given || product.Text == "" {
		return line{}, false
	}
	name := line{text: sentenceCase(product.Text), facts: w.maskOf(brief.Product)}
	fits := func(one *line) bool {
		return l.Length(one.text) <= room && !w.gate.bans(one.text) && !atoms.HasPhone(one.text) && !slices.Contains(taken, one.text)
	}
	deal := w.maskOf(brief.Offer) | w.maskOf(brief.Price)
	for _, from := range []mask{w.idea.lead, deal} {
		for _, fact := range w.order(l.Channel) {
			f := w.m.facts[bits.TrailingZeros64(uint64(fact))]
			if fact&from == 0 || f.Confidence < brief.Given || !slices.Contains(arrangedTypes, f.Type) {
				continue
			}
			if one := (line{text: name.text + ": " + f.Text, facts: name.facts | fact}); fits(&one) {
				return one, true
			}
		}
	}
	return name, fits(&name)
}

// openArranged begins a text with the product and a fact.
func (t *text) openArranged() bool {
	l, ok := t.w.arranged(t.limit, t.query().room-1, t.taken)
	if !ok {
		return false
	}
	if !endsSentence(l.text) {
		l.text += "."
	}
	t.add(&l)
	return true
}
