package copywriter

import (
	"math/bits"
	"slices"
	"strings"

	"fanfare/internal/creative/atoms"
	"fanfare/internal/creative/brief"
	"fanfare/internal/creative/copybank"
)

// within returns the facts that a sentence has, so that none of them is said twice.
func (m *material) within(sentence string) (said mask) {
	sentence = strings.ToLower(sentence)
	for i, f := range m.facts {
		if f.Type != brief.Sentence && f.Type != brief.CallToAction && f.Text != "" && strings.Contains(sentence, strings.ToLower(bare(f.Text))) {
			said |= mask(1) << i
		}
	}
	return said
}

// addOwnLines adds the lines that a fact is by itself.
func (m *material) addOwnLines(f brief.Fact, fact mask) {
	l := line{text: f.Text, facts: fact, own: true}
	switch f.Type {
	case brief.Offer:
		l.angle = "deal"
	case brief.Price:
		// An amount alone does not say what it is for.
		if f.Confidence < brief.Sure || len(strings.Fields(f.Text)) < 2 {
			return
		}
		l.angle = "deal"
	case brief.When:
		if f.Confidence < brief.Sure {
			return
		}
		l.angle = "place"
	case brief.Benefit:
		l.angle = "benefit"
		if m.english && !startsWithWords(f.Text, "if") && !startsWithWords(f.Text, "when") {
			m.addShortLine(l)
		}
	case brief.Proof:
		l.angle = "proof"
	case brief.Product:
		l.angle = "intro"
		if m.english && isSaid(f.Text) {
			l.angle = "detail"
		}
		m.addShortLine(l)
	case brief.Contact:
		if isContact(f.Text) || f.Confidence < brief.Labeled {
			return
		}
		l.angle = "detail"
	case brief.CallToAction:
		l.angle = "action"
	case brief.Sentence:
		l.angle = "detail"
		if hasMoney(f.Text) {
			l.angle = "deal"
		}
		l.facts |= m.within(f.Text)
		l.sentence = true
		m.told |= l.facts &^ fact
	case brief.Deadline:
		// "Early entry closes 28 February" says what ends.
		if f.Confidence < brief.Labeled || m.lang == nil || m.fill[copybank.OfferUntil] != nil || m.fill[copybank.ActBy] != nil || !m.saysWhatEnds(f.Text) {
			return
		}
		l.angle = "deal"
	case brief.Brand, brief.PreviousPrice, brief.Place, brief.Audience, brief.Code, brief.Occasion, brief.Terms:
		return
	}
	m.own = append(m.own, l)
}

// saysWhatEnds reports whether a deadline has words beyond its date.
func (m *material) saysWhatEnds(text string) bool {
	rest, _ := m.lang.cut("until_words", text)
	found := atoms.Find(rest)
	first, _, _ := strings.Cut(rest, " ")
	return rest == text && len(found) > 0 && found[0].Start > 0 && !m.lang.has("weekdays", first) && !m.lang.has("dates", first)
}

// addPlain adds the sentence that names what a fact is. A previous price that is not
// higher is no saving, and an action or a name needs none.
func (m *material) addPlain(f brief.Fact, fact mask) {
	if f.Confidence < brief.Sure {
		return
	}
	if m.lang == nil {
		// What is arranged has no words for what a fact is.
		if f.Confidence == brief.Given && slices.Contains([]brief.Type{brief.Price, brief.Deadline, brief.When, brief.Place}, f.Type) {
			m.plain[fact] = sentenceCase(f.Text) + "."
			if product, ok := first(m.facts, brief.Product); ok && f.Type == brief.Price {
				m.plain[fact] = sentenceCase(product.Text) + ": " + f.Text + "."
			}
		}
		return
	}
	name := "say_" + string(f.Type)
	if f.Type == brief.Price && m.set.Kind == "hiring" {
		name = "say_pay"
	}
	if f.Type == brief.Deadline && m.saysWhatEnds(f.Text) {
		m.plain[fact] = m.atStart(f.Text) + "."
		return
	}
	text := f.Text
	switch f.Type {
	case brief.Price:
		if m.set.Kind == "finance" && strings.Contains(text, "%") && m.lang.with("rate_of", text) != "" {
			name = "rate_of"
			break
		}
		// "The price is offers over £325,000" is no sentence.
		if (len(m.fill[copybank.Price]) == 0 || m.oddPrice) && m.set.Kind != "hiring" {
			name = "say_any_price"
		}
	case brief.PreviousPrice:
		text, _ = m.lang.cut("was_words", text)
	case brief.Deadline:
		if !m.lang.starts("before_words", text) {
			text, _ = m.lang.cut("until_words", text)
		}
	case brief.When:
		text, _ = m.lang.cut("when_start", text)
	default:
	}
	if sentence := m.lang.with(name, strings.TrimSuffix(text, ".")); sentence != "" {
		m.plain[fact] = m.atStart(sentence)
	}
}

// addShortLine adds a shorter form of a long line.
func (m *material) addShortLine(l line) {
	if short := m.shortOf(l.text); short != "" {
		l.text, l.cut = short, true
		m.own = append(m.own, l)
	}
}

// addOwnDates adds lines that are an offer or an action in the brief's own words
// with the date that belongs to it.
func (m *material) addOwnDates() {
	for _, l := range slices.Clone(m.own) {
		var dates []filling
		switch {
		case l.angle == "deal" && len(m.fill[copybank.Offer])+len(m.fill[copybank.OfferDo]) == 0 && m.facts[bits.TrailingZeros64(uint64(l.facts))].Type == brief.Offer:
			dates = m.fill[copybank.OfferUntil]
		case l.angle == "action" && l.facts&m.phones != 0:
			dates = m.fill[copybank.ActBy]
		}
		if len(dates) > 0 && !m.hasDate(l.text) {
			l.text, l.facts = l.text+" "+dates[0].text, l.facts|dates[0].fact
			m.own = append(m.own, l)
		}
	}
}

// addCall adds the line that asks for a call, or for what the contact says: "text 480
// 555 0119", if the brief asks for no other action.
func (m *material) addCall() {
	action, acts := first(m.facts, brief.CallToAction)
	contact, known := first(m.facts, brief.Contact)
	if !acts || !known || m.lang == nil || !isContact(contact.Text) {
		return
	}
	text := ""
	switch phone := atoms.HasPhone(contact.Text); {
	case m.lang.starts("contact_verbs", contact.Text) && (strings.EqualFold(action.Text, m.lang.with("action_call_now", "")) || m.generic != 0):
		text, m.calls = contact.Text, true
	case phone && strings.EqualFold(action.Text, m.lang.with("action_call_now", "")):
		text, m.calls = m.lang.with("call", contact.Text), true
	}
	if text != "" {
		m.own = append(m.own, line{text: text, facts: m.masks[brief.CallToAction] | m.masks[brief.Contact], angle: "action", own: true})
	}
}

func (m *material) hasDate(text string) bool {
	return slices.ContainsFunc(atoms.Find(text), func(a atoms.Atom) bool { return a.Kind == atoms.Date })
}

// shortOf returns a name or a phrase without what is in brackets or after a comma
// at its end, empty if nothing can be left out. Lists stay whole.
func (m *material) shortOf(text string) string {
	if m.lang == nil {
		return ""
	}
	short := text
	if at := strings.Index(short, " ("); at > 0 && strings.HasSuffix(short, ")") {
		short = short[:at]
	}
	if before, _, ok := strings.Cut(short, ", "); ok && strings.Count(short, ",") == 1 && !m.lang.has("and_words", short) {
		short = before
	}
	inAtom := slices.ContainsFunc(atoms.Find(text), func(a atoms.Atom) bool { return a.Start < len(short) && len(short) < a.End })
	if short == text || !isSayable(short) || inAtom {
		return ""
	}
	return bare(short)
}

// withoutBrand returns a product without the advertiser after it: "Sunday roast at
// The Drovers Rest".
func (m *material) withoutBrand(text string) string {
	for _, f := range m.facts {
		if f.Type != brief.Brand || f.Text == "" {
			continue
		}
		list := strings.Fields(text)
		for i, word := range list {
			// "2 bed apartments at Copper Quay" by Copper Quay Living.
			if rest := strings.Join(list[min(i+1, len(list)):], " "); i > 0 && rest != "" && m.lang.has("brand_words", word) && strings.HasPrefix(f.Text+" ", rest+" ") {
				return strings.Join(list[:i], " ")
			}
		}
	}
	return ""
}
