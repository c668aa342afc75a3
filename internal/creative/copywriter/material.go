package copywriter

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"fanfare/internal/creative/atoms"
	"fanfare/internal/creative/brief"
	"fanfare/internal/creative/copybank"
	"fanfare/internal/creative/policy"
	"fanfare/internal/creative/words"
)

// mask is a set of facts of a brief by their places in the list. Facts beyond the
// last place are not used.
type mask uint64

const maxFacts = 64

// filling is a fact in the shape of a slot.
type filling struct {
	text string
	// within is the text within a sentence, where a singular noun needs an
	// article. It is empty if it is the same.
	within string
	// short is a shorter form for headlines, empty if there is none.
	short string
	fact  mask
}

// material is what the lines of a brief can be made of.
type material struct {
	set     *brief.Understood
	lang    *language
	english bool
	facts   []brief.Fact
	// masks are the facts of each type.
	masks map[brief.Type]mask
	// fill has the fillings of each slot. A slot without one does not exist.
	fill [copybank.SlotCount][]filling
	have copybank.SlotSet
	// told are the facts that a whole sentence of the brief says, as far as the
	// parser found them in it: the sentence also says what belongs to them.
	told mask
	// actBy are the dates until when people must act.
	actBy mask
	// generic is the action if every advertiser could ask for it.
	generic mask
	// phones are the facts that have a phone number or another contact.
	phones mask
	// cased are texts as they begin a sentence.
	cased map[string]string
	// listed are the benefits that can be an item of a list.
	listed map[mask]item
	// own are whole lines in the words of the brief.
	own []line
	// plain are sentences that name what a fact is: "Location: Leeds and York." They
	// say what fits no pattern.
	plain map[mask]string
	// wanted says that the product are people whom an appeal looks for.
	wanted bool
	// oddPrice says that words after the price are no unit: "£189 full service".
	oddPrice bool
	// begins says that the date is that of a start, which its words leave out.
	begins bool
	// calls says that the action is to call the number of the brief.
	calls bool
}

// newMaterial builds the slots and the lines of a brief.
func newMaterial(set *brief.Understood, brand, action string) *material {
	m := &material{set: set, lang: languageOf(set.Language), facts: set.Facts[:min(len(set.Facts), maxFacts-2)]}
	m.listed, m.cased, m.plain = map[mask]item{}, map[string]string{}, map[mask]string{}
	m.english = strings.HasPrefix(strings.ToLower(set.Language), "en")
	m.splitProduct()
	m.wanted = isWanted(set, m.lang)
	if brand != "" && !slices.ContainsFunc(m.facts, func(f brief.Fact) bool { return f.Type == brief.Brand }) {
		m.facts = append(slices.Clip(m.facts), brief.Fact{Type: brief.Brand, Text: brand, Confidence: brief.Given})
	}
	if action != "" {
		m.facts = append(slices.Clip(m.facts), brief.Fact{Type: brief.CallToAction, Text: action, Confidence: brief.Given})
	}
	m.masks = map[brief.Type]mask{}
	m.freeContacts()
	for i, f := range m.facts {
		m.masks[f.Type] |= mask(1) << i
		f.Text = bare(strings.TrimRight(policy.Clean(f.Text, false), " …"))
		if !isSayable(f.Text) || f.Type == brief.Contact && strings.Contains(f.Text, "://") {
			m.facts[i].Text = ""
			continue
		}
		m.facts[i].Text = f.Text
		if f.Type == brief.CallToAction && m.lang != nil && f.Text == m.lang.with("action_learn_more", "") {
			m.generic |= mask(1) << i
		}
		if f.Type == brief.Contact || atoms.HasPhone(f.Text) {
			m.phones |= mask(1) << i
		}
		if f.Confidence >= brief.Sure && m.lang != nil {
			m.addSlots(f, mask(1)<<i)
		}
		m.addOwnLines(f, mask(1)<<i)
		m.addPlain(f, mask(1)<<i)
		if one := m.listable(f); one.text != "" {
			m.listed[mask(1)<<i] = one
			if m.english {
				m.add(copybank.Benefit, one.text, mask(1)<<i)
			}
		}
	}
	for i, f := range m.facts {
		if f.Confidence >= brief.Labeled || !saidOnce(f.Type) || f.Type == brief.Benefit || f.Type == brief.Proof {
			m.told &^= mask(1) << i
		}
	}
	for _, date := range m.fill[copybank.ActBy] {
		m.actBy |= date.fact
	}
	m.addOwnDates()
	m.addCall()
	for slot, list := range m.fill {
		if len(list) > 0 {
			m.have = m.have.Add(copybank.Slot(slot)) //nolint:gosec // fewer than 64
		}
	}
	if !m.have.Has(copybank.Price) || !isReduced(m.fill[copybank.PriceWas], m.fill[copybank.Price]) {
		m.have &^= copybank.SlotSet(0).Add(copybank.PriceWas)
	}
	m.shareFillings()
	return m
}

// freeContacts makes a reason of a contact that is none: "no booking, just come".
func (m *material) freeContacts() {
	m.facts = slices.Clone(m.facts)
	for i, f := range m.facts {
		if f.Type == brief.Contact && f.Confidence >= brief.Labeled && !isContact(f.Text) {
			m.facts[i].Type = brief.Benefit
		}
	}
}

// isReduced reports whether a price is lower than the previous one, as far as both
// can be read.
func isReduced(was, now []filling) bool {
	if len(was) == 0 || len(now) == 0 {
		return false
	}
	amount := func(text string) (n int) {
		text, _, _ = strings.Cut(strings.TrimLeft(text, " €$£"), " ")
		whole := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsDigit(r) && r != '.' && r != ',' && r != '\'' })
		if len(whole) == 0 {
			return 0
		}
		digits := whole[0]
		// Two digits after the last mark are cents.
		if at := strings.LastIndexAny(digits, ".,"); at >= 0 && len(digits)-at == 3 {
			digits = digits[:at] + digits[at+1:]
		} else {
			digits += "00"
		}
		for _, r := range digits {
			if unicode.IsDigit(r) && n < 1<<40 {
				n = n*10 + int(r-'0')
			}
		}
		return n
	}
	before, after := amount(was[0].text), amount(now[0].text)
	return before == 0 || after == 0 || after < before
}

// shortDate is a date that ends with a point, at the end of a text.
var shortDate = regexp.MustCompile(`\b\d{1,2}\.\d{1,2}\.$`)

// bare returns a text without the marks at its end, unless they belong to a fact
// such as "31.12.".
func bare(text string) string {
	text = strings.TrimSpace(text)
	if text == "" || !strings.ContainsRune(".,;!", rune(text[len(text)-1])) {
		return text
	}
	found := atoms.Find(text)
	if n := len(found); n > 0 && found[n-1].End == len(text) || shortDate.MatchString(text) {
		return text
	}
	return strings.TrimSpace(strings.TrimRight(text, ".,;!"))
}

// isSayable reports whether a text has two letters or digits.
func isSayable(text string) bool {
	n := 0
	for _, r := range text {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			n++
		}
	}
	return n > 1
}

// add adds a filling for a slot.
func (m *material) add(slot copybank.Slot, text string, fact mask) {
	if text = strings.TrimSpace(text); text != "" {
		m.fill[slot] = append(m.fill[slot], filling{text: text, fact: fact})
	}
}

// shareFillings has second and third slots of a shape where there are several
// facts of it. Which fact goes into which slot is decided for each line.
func (m *material) shareFillings() {
	for _, group := range slotGroups {
		list := m.fill[group[0]]
		for i, slot := range group[1:] {
			if len(list) > i+1 {
				m.fill[slot] = list
				m.have = m.have.Add(slot)
			}
		}
	}
}

// slotGroups are slots of one shape, which take different facts in a line.
var slotGroups = [][]copybank.Slot{
	{copybank.Benefit, copybank.Benefit2, copybank.Benefit3},
	{copybank.BenefitNP, copybank.BenefitNP2, copybank.BenefitNP3},
	{copybank.BenefitDo, copybank.BenefitDo2},
	{copybank.BenefitDoes, copybank.BenefitDoes2},
	{copybank.BenefitIs, copybank.BenefitIs2},
	{copybank.BenefitClause, copybank.BenefitClause2},
	{copybank.Proof}, {copybank.ProofClause},
}

// addSlots adds the slots that a fact can fill.
func (m *material) addSlots(f brief.Fact, fact mask) {
	switch f.Type {
	case brief.Product:
		m.addProduct(f.Text, fact)
	case brief.Brand:
		m.add(copybank.Brand, f.Text, fact)
	case brief.Offer:
		m.addOffer(f.Text, fact)
	case brief.Price:
		m.addPrice(f, fact)
	case brief.PreviousPrice:
		if rest, _ := m.lang.cut("was_words", f.Text); hasMoney(rest) && isShort(rest, 4) {
			m.add(copybank.PriceWas, m.withoutUnit(rest), fact)
		}
	case brief.Deadline:
		m.addDeadline(f, fact)
	case brief.When:
		m.addWhen(f.Text, fact)
	case brief.Place:
		m.addPlace(f.Text, fact)
	case brief.Audience:
		m.addAudience(f.Text, fact)
	case brief.Benefit:
		m.addBenefit(f.Text, fact)
	case brief.Proof:
		m.addProof(f.Text, fact)
	case brief.CallToAction:
		if isShort(f.Text, 7) && !atoms.HasPhone(f.Text) {
			m.add(copybank.CTA, m.innerAction(bare(f.Text)), fact)
		}
	case brief.Contact:
		if isContact(f.Text) {
			m.add(copybank.Contact, f.Text, fact)
		}
	case brief.Code:
		if !strings.Contains(f.Text, " ") && len(f.Text) <= 30 {
			m.add(copybank.Code, f.Text, fact)
		}
	case brief.Occasion:
		m.add(copybank.Occasion, f.Text, fact)
	case brief.Terms, brief.Sentence:
	}
}

// isContact reports a phone number, an email address or a web address.
func isContact(text string) bool {
	point := strings.IndexByte(text, '.')
	return atoms.HasPhone(text) || strings.Contains(text, "@") || point > 0 && point < len(text)-2 && !strings.Contains(text, " ")
}

// inner returns a phrase as it is written within a sentence.
func (m *material) inner(text string) string {
	if m.english {
		return words.LowerFirst(text)
	}
	return text
}

// innerAction returns an action as it is written within a sentence. Only German
// actions can begin with a noun.
func (m *material) innerAction(text string) string {
	if m.english {
		return words.LowerFirst(text)
	}
	first, size := utf8.DecodeRuneInString(text)
	word, _, _ := strings.Cut(text[size:], " ")
	if strings.HasPrefix(strings.ToLower(m.set.Language), "de") || strings.ContainsFunc(word, unicode.IsUpper) {
		return text
	}
	return string(unicode.ToLower(first)) + text[size:]
}

// isShort reports whether a text is one phrase of a few words. The point of "30. Juni"
// ends no sentence.
func isShort(text string, most int) bool {
	if len(strings.Fields(text)) > most || strings.ContainsAny(text, ";\n") {
		return false
	}
	for rest := text; ; {
		before, after, found := strings.Cut(rest, ". ")
		if !found {
			return true
		}
		if before == "" || before[len(before)-1] < '0' || before[len(before)-1] > '9' {
			return false
		}
		rest = after
	}
}

func hasMoney(text string) bool {
	return slices.ContainsFunc(atoms.Find(text), func(a atoms.Atom) bool { return a.Kind == atoms.Money })
}

// withoutUnit returns a previous price without its unit, if the price has the same:
// "$29 a month instead of $39".
func (m *material) withoutUnit(text string) string {
	price, ok := m.set.First(brief.Price, brief.Sure)
	found := atoms.Find(text)
	if !ok || len(found) == 0 || found[0].Start != 0 || found[0].Kind != atoms.Money {
		return text
	}
	if unit := strings.TrimSpace(text[found[0].End:]); unit != "" && strings.HasSuffix(strings.TrimSpace(price.Text), unit) {
		return text[:found[0].End]
	}
	return text
}

func (m *material) addPrice(f brief.Fact, fact mask) {
	text := f.Text
	if !hasMoney(text) || !isShort(text, 8) || strings.Count(text, ",") > 1 {
		return
	}
	rest, led := m.lang.cut("from_words", text)
	found := atoms.Find(rest)
	if len(found) == 0 || found[0].Start != 0 {
		return
	}
	if led {
		m.add(copybank.PriceFor, m.inner(text), fact)
		if m.lang.starts("lowest_words", text) {
			m.add(copybank.PriceFrom, m.inner(text), fact)
		}
		return
	}
	unit := strings.TrimSpace(rest[found[0].End:])
	if unit != "" && !m.lang.starts("unit_words", unit) {
		// What it is for is not known as a unit, so that no preposition fits.
		m.oddPrice = !m.lang.starts("more_words", unit)
		if f.Confidence >= brief.Labeled {
			m.add(copybank.Price, text, fact)
		}
		return
	}
	m.add(copybank.Price, text, fact)
	form := "price_for"
	if m.lang.has("rate_words", rest[found[0].End:]) {
		form = "price_rate"
	}
	m.add(copybank.PriceFor, m.lang.with(form, text), fact)
}
