package copywriter

import (
	"math/bits"
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
}

// newMaterial builds the slots and the lines of a brief.
func newMaterial(set *brief.Understood, brand, action string) *material {
	m := &material{set: set, lang: languageOf(set.Language), facts: set.Facts[:min(len(set.Facts), maxFacts-2)]}
	m.listed, m.cased = map[mask]item{}, map[string]string{}
	m.english = strings.HasPrefix(strings.ToLower(set.Language), "en")
	m.splitProduct()
	if brand != "" && !slices.ContainsFunc(m.facts, func(f brief.Fact) bool { return f.Type == brief.Brand }) {
		m.facts = append(slices.Clip(m.facts), brief.Fact{Type: brief.Brand, Text: brand, Confidence: brief.Given})
	}
	if action != "" {
		m.facts = append(slices.Clip(m.facts), brief.Fact{Type: brief.CallToAction, Text: action, Confidence: brief.Given})
	}
	m.masks = map[brief.Type]mask{}
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
			m.add(copybank.PriceWas, rest, fact)
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
			m.add(copybank.CTA, m.inner(bare(f.Text)), fact)
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

// isShort reports whether a text is one phrase of a few words.
func isShort(text string, most int) bool {
	return len(strings.Fields(text)) <= most && !strings.ContainsAny(text, ";\n") && !strings.Contains(text, ". ")
}

func hasMoney(text string) bool {
	return slices.ContainsFunc(atoms.Find(text), func(a atoms.Atom) bool { return a.Kind == atoms.Money })
}

func (m *material) addProduct(text string, fact mask) {
	if !isShort(text, 9) {
		return
	}
	short := m.withoutBrand(text)
	if short == "" {
		short = m.shortOf(text)
	}
	if !m.english {
		m.fill[copybank.Product] = append(m.fill[copybank.Product], filling{text: text, short: short, fact: fact})
		return
	}
	if isSaid(text) {
		return
	}
	bare, article := cutArticle(text)
	number := words.NumberOf(bare)
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
		} else if first != "half" {
			m.add(copybank.OfferDo, "get "+text, fact)
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
		return
	}
	unit := strings.TrimSpace(rest[found[0].End:])
	if unit != "" && !m.lang.starts("unit_words", unit) {
		// What it is for is not known as a unit, so that no preposition fits.
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
		m.addShortLine(l)
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
	case brief.Brand, brief.PreviousPrice, brief.Deadline, brief.Place, brief.Audience, brief.Code, brief.Occasion, brief.Terms:
		return
	}
	m.own = append(m.own, l)
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
