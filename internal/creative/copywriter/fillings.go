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

func (m *material) addDeadline(f brief.Fact, fact mask) {
	date, cut := m.lang.cut("until_words", f.Text)
	if m.lang.starts("before_words", f.Text) && isShort(f.Text, 7) && m.lang.isDate(f.Text) {
		// The day before which an offer ends is not its last day.
		_, offer := m.set.First(brief.Offer, brief.Sure)
		_, was := m.set.First(brief.PreviousPrice, brief.Sure)
		slot := copybank.ActBy
		if f.Scope != brief.CallToAction && (offer || was) {
			slot = copybank.OfferUntil
		}
		m.add(slot, m.innerAction(f.Text), fact)
		return
	}
	if !cut {
		// "enrol by 7 January" begins with what people must do until then.
		if at := m.lang.indexOf("until_short", date); at > 0 {
			date, _ = m.lang.cut("until_words", date[at:])
		} else if found := atoms.Find(date); len(found) > 0 && found[0].Kind == atoms.Date && found[0].Start > 0 && !m.lang.has("weekdays", date[:found[0].Start]) && !m.lang.has("dates", date[:found[0].Start]) {
			return
		}
	}
	if !isShort(date, 7) || !m.lang.isDate(date) {
		return
	}
	if m.english && startsWithWords(date, "end") {
		date = "the " + date
	}
	_, offer := m.set.First(brief.Offer, brief.Sure)
	_, was := m.set.First(brief.PreviousPrice, brief.Sure)
	if f.Scope == brief.CallToAction || !offer && !was {
		m.add(copybank.ActBy, m.lang.onDate("by_day", "by_date", date), fact)
		return
	}
	m.add(copybank.OfferUntil, m.lang.onDate("until_day", "until_date", date), fact)
	if m.english && !strings.HasPrefix(date, "the ") {
		m.add(copybank.OfferEnds, date, fact)
	}
}

func (m *material) addWhen(text string, fact mask) {
	if !isShort(text, 10) || m.lang.starts("when_alone", text) {
		return
	}
	if rest, ok := m.lang.cut("when_start", text); ok {
		// "Starts in January" has its preposition.
		switch {
		case m.lang.starts("when_as_is", rest):
		case m.set.Kind == "hiring":
			rest = m.lang.onDate("when_day", "when_date", rest)
		default:
			rest = m.lang.with("when_start_on", rest)
		}
		m.add(copybank.WhenOn, m.inner(rest), fact)
		m.begins = true
		return
	}
	if m.lang.starts("when_as_is", text) {
		m.add(copybank.WhenOn, m.inner(text), fact)
		if m.english && !startsWithWords(text, "every") && !startsWithWords(text, "each") {
			return
		}
		m.add(copybank.When, m.inner(text), fact)
		return
	}
	found := atoms.Find(text)
	switch first, _, _ := strings.Cut(text, " "); {
	case m.lang.has("weekdays", first), len(found) > 0 && found[0].Start == 0 && found[0].Kind == atoms.Date:
		m.add(copybank.When, text, fact)
		m.add(copybank.WhenOn, m.lang.onDate("when_day", "when_date", text), fact)
	case len(found) > 0 && found[0].Start == 0 && found[0].Kind == atoms.Number && !m.lang.has("weekdays", strings.ReplaceAll(text, "days", "day")):
		m.add(copybank.When, text, fact)
		m.add(copybank.WhenOn, m.lang.with("when_time", text), fact)
	}
}

func (m *material) addPlace(text string, fact mask) {
	if !isShort(text, 8) {
		return
	}
	if rest, ok := m.lang.cut("place_as_is", text); ok {
		m.add(copybank.PlaceIn, m.inner(text), fact)
		if first, _ := utf8.DecodeRuneInString(rest); unicode.IsUpper(first) && (startsWithWords(text, "in") || startsWithWords(text, "at")) {
			m.add(copybank.Place, rest, fact)
		}
		return
	}
	// "Kettlewell, Yorkshire Dales" is in Kettlewell.
	town, region, _ := strings.Cut(text, ", ")
	short := ""
	if region != "" && !strings.Contains(region, ",") {
		short = town
	}
	m.fill[copybank.Place] = append(m.fill[copybank.Place], filling{text: text, short: short, fact: fact})
	first, _ := utf8.DecodeRuneInString(text)
	isAddress := strings.ContainsFunc(text, unicode.IsDigit)
	switch {
	case m.english && (isAddress || m.lang.has("venues", text)):
		m.add(copybank.PlaceIn, m.lang.with("place_at", text), fact)
	case m.lang.starts("place_not", text):
	case !isAddress && unicode.IsUpper(first) && !strings.Contains(text, "(") && (isShort(town, 3) || isNames(town, m.lang)):
		if short != "" {
			short = m.lang.with("place_in", short)
		}
		m.fill[copybank.PlaceIn] = append(m.fill[copybank.PlaceIn], filling{text: m.lang.with("place_in", text), short: short, fact: fact})
	}
}

// isNames reports several names: "Marlow and Bourne End".
func isNames(text string, l *language) bool {
	list := strings.Fields(text)
	for _, word := range list {
		if first, _ := utf8.DecodeRuneInString(word); !unicode.IsUpper(first) && !l.has("and_words", word) && word != "&" {
			return false
		}
	}
	return len(list) <= 6
}

func (m *material) addAudience(text string, fact mask) {
	text, _ = m.lang.cut("for_words", text)
	if !isShort(text, 7) || strings.ContainsFunc(text, unicode.IsDigit) || strings.Contains(text, ",") {
		return
	}
	if m.english && words.NumberOf(text) != words.Plural && !words.ArePeople(text) {
		return
	}
	m.add(copybank.Audience, m.inner(text), fact)
}

func (m *material) addBenefit(text string, fact mask) {
	if atoms.HasPhone(text) {
		return
	}
	if !m.english {
		if isShort(text, 10) {
			m.add(copybank.Benefit, text, fact)
		}
		return
	}
	if !isShort(text, 9) {
		return
	}
	slot, ok := benefitSlots[words.ShapeOf(text)]
	if !ok {
		return
	}
	switch first, _, _ := strings.Cut(strings.ToLower(text), " "); {
	case slot == copybank.BenefitNP && m.lang.has("states", first):
		if !slices.Contains([]brief.Kind{"service", "fitness"}, m.set.Kind) {
			return // It is not the product that is open.
		}
		slot = copybank.BenefitIs
	case slot == copybank.BenefitNP && m.lang.has("distances", text):
		return // "Eight minutes' walk" is nothing that one gets.
	}
	if slot == copybank.BenefitNP {
		m.addThing(text, fact)
		return
	}
	if slot == copybank.BenefitClause && (m.isRelative(text) || !m.isClause(text)) || slot == copybank.BenefitIs && m.isPassive(text) {
		return
	}
	m.add(slot, m.inner(text), fact)
}

// isClause reports whether a subject and its verb are sure: in "same-day visits Monday
// to Saturday", "visits" is no verb.
func (m *material) isClause(text string) bool {
	return m.lang.has("verbs_be", text) || m.lang.starts("subjects", text)
}

// isRelative reports a thing with a relative clause: "a van you can drive".
func (m *material) isRelative(text string) bool {
	if _, article := cutArticle(text); article == "" || article == "our" {
		return false
	}
	list := strings.Fields(text)
	return m.lang.has("relatives", strings.Join(list[min(2, len(list)):], " "))
}

// isPassive reports a thing and what is done with it: in "fuel costs paid" it is not
// the product that is paid.
func (m *material) isPassive(text string) bool {
	list := strings.Fields(text)
	for i, word := range list {
		if i == 0 || !strings.HasSuffix(word, "ed") && !m.lang.has("passives", word) {
			continue
		}
		before := list[i-1]
		first, _ := utf8.DecodeRuneInString(before)
		if unicode.IsLower(first) && !strings.HasSuffix(before, "ly") && words.ShapeOf(before) == words.NounPhrase {
			return true
		}
	}
	return false
}

// addThing adds a benefit that is a noun phrase. One that needs an article gets
// it within sentences; one of which that is not known can only stand alone.
func (m *material) addThing(text string, fact mask) {
	if bare, article := cutArticle(text); article == "our" || article == "the" {
		text = bare
	}
	text = m.inner(text)
	// What is not there stands alone: "count on no tools needed" is nonsense.
	for _, word := range []string{"no", "zero", "without", "not"} {
		if startsWithWords(text, word) {
			return
		}
	}
	if m.lang.has("not_got", text) {
		return // "Gloves provided" is a sentence without its verb.
	}
	within := ""
	if !words.IsThing(text) {
		return
	}
	if !words.Countless(text) {
		if words.NumberOf(text) != words.One {
			return
		}
		within = words.Article(text) + " " + text
	} else if number, noun, _ := strings.Cut(text, " "); strings.ContainsFunc(number, unicode.IsDigit) && strings.Contains(number, "-") && words.NumberOf(noun) == words.One {
		within = words.Article(text) + " " + text // "a 20-year guarantee"
	}
	m.fill[copybank.BenefitNP] = append(m.fill[copybank.BenefitNP], filling{text: text, within: within, fact: fact})
}

var benefitSlots = map[words.Shape]copybank.Slot{
	words.NounPhrase: copybank.BenefitNP, words.Imperative: copybank.BenefitDo, words.Predicate: copybank.BenefitDoes,
	words.Attribute: copybank.BenefitIs, words.Clause: copybank.BenefitClause,
}

func (m *material) addProof(text string, fact mask) {
	if !isShort(text, 12) {
		return
	}
	slot := copybank.Proof
	if m.english {
		switch words.ShapeOf(text) {
		case words.Attribute:
			slot = copybank.ProofClause
		case words.Clause, words.Imperative, words.Predicate:
			return
		case words.NounPhrase, words.Unknown:
		}
		text = words.LowerFirst(text)
	}
	m.add(slot, text, fact)
}
