package copywriter

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"fanfare/internal/creative/atoms"
	"fanfare/internal/creative/brief"
	"fanfare/internal/creative/copybank"
	"fanfare/internal/creative/words"
)

// splitProduct makes benefits of what a form says behind the name of a product:
// "Nitrile gloves, powder free, AQL 1.5".
func (m *material) splitProduct() {
	for i, f := range m.facts {
		if f.Type != brief.Product || f.Confidence < brief.Labeled || len(m.facts) > maxFacts/2 {
			continue
		}
		parts := strings.Split(f.Text, ", ")
		if len(parts) < 2 || strings.ContainsAny(f.Text, "()") || m.lang == nil || m.lang.has("and_words", f.Text) {
			return
		}
		for _, part := range parts[1:] {
			first, _ := utf8.DecodeRuneInString(part)
			if unicode.IsUpper(first) && !strings.ContainsFunc(part, unicode.IsDigit) || !isShort(part, 5) || !isSayable(part) {
				return // "7 nights, Lake Bled" is a name and a place.
			}
		}
		m.facts = slices.Clone(m.facts)
		m.facts[i].Text = parts[0]
		for _, part := range parts[1:] {
			m.facts = append(m.facts, brief.Fact{Type: brief.Benefit, Text: part, Confidence: f.Confidence})
		}
		return
	}
}

func (m *material) addProduct(text string, fact mask) {
	if !isShort(text, 9) {
		return
	}
	if m.wanted || m.set.Kind == "hiring" && m.set.KindConfidence >= brief.SureKind {
		m.addPeople(text, fact)
	}
	short := m.withoutBrand(text)
	if short == "" {
		short = m.shortOf(text)
	}
	if !m.english {
		m.fill[copybank.Product] = append(m.fill[copybank.Product], filling{text: text, within: m.withinSentence(text), short: short, fact: fact})
		return
	}
	if isSaid(text) {
		return
	}
	bare, article := cutArticle(text)
	// What is in brackets says nothing about the number.
	noun, _, _ := strings.Cut(bare, " (")
	number := words.NumberOf(noun)
	if number == words.NoNumber && m.isCountable(noun) {
		number = words.One
	}
	if article == "a" && number != words.Plural {
		number = words.One
	}
	if first, _ := utf8.DecodeRuneInString(bare); article == "the" && unicode.IsUpper(first) {
		// "The Harrow waxed jacket" is the one with that name.
		text = bare
		if number == words.One {
			number = words.NoNumber
		}
	} else {
		text = m.inner(bare)
	}
	m.fill[copybank.Product] = append(m.fill[copybank.Product], filling{text, withArticle(text, number, article), m.inner(short), fact})
	switch number {
	case words.Plural:
		m.add(copybank.ProductPlural, text, fact)
	case words.One:
		m.add(copybank.ProductOne, text, fact)
		m.add(copybank.ProductA, words.Article(text)+" "+text, fact)
	case words.Name:
		if article == "the" {
			text = "the " + text
		}
		m.add(copybank.ProductName, text, fact)
	case words.NoNumber:
	}
}

// withinSentence returns a product as it is written within a sentence of a language
// that begins nouns small, empty if it is the same or has a name.
func (m *material) withinSentence(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	rest := text[size:]
	if m.lang == nil || !unicode.IsUpper(first) || !strings.Contains(rest, " ") || strings.HasPrefix(strings.ToLower(m.set.Language), "de") {
		return ""
	}
	if strings.ContainsFunc(rest, func(r rune) bool { return unicode.IsUpper(r) || unicode.IsDigit(r) }) {
		return ""
	}
	for _, f := range m.facts {
		if f.Type == brief.Brand && strings.HasPrefix(f.Text, strings.Fields(text)[0]) {
			return ""
		}
	}
	return string(unicode.ToLower(first)) + rest
}

// isWanted reports an appeal for people and not for money: its product are people, or
// the word for those who help.
func isWanted(set *brief.Understood, l *language) bool {
	if set.Kind != "appeal" || set.KindConfidence < brief.SureKind || l == nil {
		return false
	}
	product, ok := set.First(brief.Product, brief.Sure)
	if !ok || asksForMoney(set) {
		return false
	}
	bare, _ := cutArticle(product.Text)
	return strings.HasPrefix(strings.ToLower(set.Language), "en") && words.ArePeople(bare) || l.has("helpers", bare)
}

// asksForMoney reports a brief with an amount that people can give.
func asksForMoney(set *brief.Understood) bool {
	for _, t := range []brief.Type{brief.Price, brief.Offer, brief.Product, brief.Sentence} {
		for _, f := range set.All(t, 0) {
			if hasMoney(f.Text) {
				return true
			}
		}
	}
	return false
}

// addPeople adds those whom a job ad or an appeal looks for.
func (m *material) addPeople(text string, fact mask) {
	one := filling{text: text, fact: fact}
	if m.english {
		bare, article := cutArticle(text)
		one.text = m.inner(bare)
		if words.NumberOf(bare) == words.One || article == "a" || m.isPerson(bare) {
			one.within = words.Article(bare) + " " + one.text
		}
	}
	m.fill[copybank.People] = append(m.fill[copybank.People], one)
}

// isPerson reports words for one person at work: "dental hygienist".
func (m *material) isPerson(text string) bool {
	list := strings.Fields(strings.ToLower(text))
	if len(list) == 0 || len(list) > 4 || m.lang.has("phrase_words", text) || strings.ContainsAny(text, ",&+:0123456789") {
		return false
	}
	last := list[len(list)-1]
	return slices.ContainsFunc(m.lang.values["person_endings"], func(ending string) bool { return strings.HasSuffix(last, ending) })
}

// isCountable reports a phrase whose last word is in no list and has the form of one
// thing: "waxed canvas tote". A wrong article is rarer than a missing one.
func (m *material) isCountable(noun string) bool {
	list := strings.Fields(strings.ToLower(noun))
	if len(list) < 2 || words.Countless(noun) || words.IsName(noun) || words.IsNamedThing(noun) || strings.ContainsAny(noun, ",&+:0123456789") {
		return false
	}
	last := list[len(list)-1]
	if m.lang.has("phrase_words", noun) {
		return false
	}
	return slices.ContainsFunc(m.lang.values["countable_endings"], func(ending string) bool { return strings.HasSuffix(last, ending) })
}

// isSaid reports a product that is a sentence: "we come to your house and wash your
// dog". It is said as it is.
func isSaid(text string) bool {
	switch words.ShapeOf(text) {
	case words.Clause, words.Imperative, words.Predicate:
		return len(strings.Fields(text)) > 3 && !words.IsName(text)
	case words.NounPhrase, words.Attribute, words.Unknown:
	}
	return false
}

// withArticle returns a product as it is written within a sentence: "a folding
// bike", "the Lumo 8 folding bike". It is empty if there is no article.
func withArticle(text string, number words.Number, article string) string {
	switch {
	case number == words.One:
		return words.Article(text) + " " + text
	case number == words.NoNumber && words.IsNamedThing(text), article == "the":
		return "the " + text
	}
	return ""
}

// cutArticle removes an article or a possessive from an English phrase.
func cutArticle(text string) (bare, article string) {
	first, rest, _ := strings.Cut(text, " ")
	switch strings.ToLower(first) {
	case "a", "an":
		return rest, "a"
	case "the":
		return rest, "the"
	case "our", "my":
		return rest, "our"
	}
	return text, ""
}

func (m *material) addOffer(text string, fact mask) {
	if !isShort(text, 12) {
		return
	}
	if !m.english {
		m.add(copybank.Offer, text, fact)
		return
	}
	text = m.inner(text)
	first, _, _ := strings.Cut(strings.ToLower(text), " ")
	if first == "no" || first == "zero" || isNamedPrice(m.lang, text) {
		if first == "no" && m.lang.has("costs", text) {
			m.add(copybank.OfferDo, "pay "+text, fact)
		}
		return
	}
	switch rest, got := m.lang.cut("get_words", text); {
	case got:
		m.add(copybank.OfferDo, text, fact)
		if words.ShapeOf(rest) == words.NounPhrase || startsWithGift(m.lang, rest) {
			m.add(copybank.Offer, rest, fact)
		}
	case first == "buy":
		m.add(copybank.OfferDo, text, fact)
	case startsWithGift(m.lang, text) && words.ShapeOf(text) != words.Clause:
		m.add(copybank.Offer, text, fact)
		if saved, ok := saving(text); ok {
			m.add(copybank.OfferDo, saved, fact)
		} else if first != "half" && !m.lang.has("condition_words", text) {
			// "Get £99 if you sign up" would be a gift.
			m.add(copybank.OfferDo, "get "+withGiftArticle(text), fact)
		}
	default:
		switch words.ShapeOf(text) {
		case words.Imperative:
			m.add(copybank.OfferDo, text, fact)
		case words.NounPhrase:
			m.add(copybank.Offer, text, fact)
		case words.Unknown, words.Predicate, words.Attribute, words.Clause:
		}
	}
}

// withGiftArticle writes a single gift with its article: "a free child seat", "a 15%
// launch discount".
func withGiftArticle(text string) string {
	first, rest, _ := strings.Cut(text, " ")
	noun, _, _ := strings.Cut(rest, " worth ")
	noun, _, _ = strings.Cut(noun, " of ")
	if first != "free" && !strings.HasSuffix(first, "%") && !strings.HasSuffix(first, "-day") || startsWithWords(rest, "off") || words.NumberOf(noun) != words.One {
		return text
	}
	return words.Article(text) + " " + text
}

// isNamedPrice reports an offer that is a thing and its price: "first session £30".
func isNamedPrice(l *language, text string) bool {
	found := atoms.Find(text)
	if len(found) == 0 || startsWithGift(l, text) || l.starts("get_words", text) {
		return false
	}
	last := found[len(found)-1]
	before := strings.Fields(text[:last.Start])
	if last.Kind != atoms.Money || last.End != len(text) || len(before) == 0 {
		return false
	}
	return words.ShapeOf(text) != words.Imperative && !l.has("from_words", before[len(before)-1]) && !l.has("over_words", before[len(before)-1])
}

// startsWithGift reports whether an offer begins with an amount or a word such as
// "free", so that it is a noun phrase.
func startsWithGift(l *language, text string) bool {
	found := atoms.Find(text)
	return len(found) > 0 && found[0].Start == 0 || l.starts("gift_words", text)
}

// saving turns "20% off all mugs" into "save 20% on all mugs".
func saving(text string) (string, bool) {
	found := atoms.Find(text)
	if len(found) == 0 || found[0].Start != 0 || found[0].Kind != atoms.Percent && found[0].Kind != atoms.Money {
		return "", false
	}
	amount := text[:found[0].End]
	rest, ok := strings.CutPrefix(text[found[0].End:], " off")
	if !ok || strings.HasPrefix(amount, "-") {
		return "", false
	}
	rest = strings.TrimSpace(rest)
	switch {
	case rest == "":
		return "save " + amount, true
	case strings.HasPrefix(rest, "with ") || strings.HasPrefix(rest, "when ") || strings.HasPrefix(rest, "if ") || strings.HasPrefix(rest, "for "):
		return "save " + amount + " " + rest, true
	}
	return "save " + amount + " on " + rest, true
}
