package copywriter

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"

	"fanfare/internal/creative/atoms"
	"fanfare/internal/creative/brief"
	"fanfare/internal/creative/copybank"
	"fanfare/internal/creative/policy"
	"fanfare/internal/creative/words"
)

// ranked are the types of facts in the order in which an ad says them.
var ranked = []brief.Type{
	brief.Offer, brief.Price, brief.PreviousPrice, brief.Deadline, brief.Code, brief.Occasion, brief.Proof, brief.Benefit, brief.When, brief.Place, brief.Audience, brief.Sentence,
}

// order returns the facts in the order in which the variant says them: those of
// its idea first, then by their importance. Benefits begin with another one in
// each variant. An email has all facts, other channels have those of the variant.
func (w *writer) order(channel string) []mask {
	var list []mask
	add := func(within mask) {
		for _, t := range ranked {
			var of []mask
			for i, f := range w.m.facts {
				if bit := mask(1) << i; f.Type == t && within&bit != 0 && f.Text != "" && !slices.Contains(list, bit) {
					of = append(of, bit)
				}
			}
			if t == brief.Benefit && len(of) > 2 && w.bank != nil && w.variant > 0 {
				at := int((uint64(w.variant)*2 + uint64(w.brief.Seed)) % uint64(len(of))) //nolint:gosec // the rest is small
				of = append(slices.Clone(of[at:]), of[:at]...)
			}
			list = append(list, of...)
		}
	}
	add(w.idea.lead)
	if channel == "email" {
		add(^mask(0))
	} else {
		add(w.chosen)
	}
	return list
}

// action are the facts that ask people to act: an action, and the date until when
// they must.
func (w *writer) action() mask { return w.maskOf(brief.CallToAction) | w.m.actBy }

// names are the facts that say what an ad is about.
func (w *writer) names() mask { return w.maskOf(brief.Product) | w.maskOf(brief.Brand) }

// text is a text of several sentences that is being written.
type text struct {
	w     *writer
	limit policy.Limit
	// room is the greatest length, space stands between sentences.
	room  int
	space string
	list  []string
	said  mask
	ids   []string
	// taken are lines of other texts that must not come again.
	taken []string
	// strict says that a fact waits for a text in which its whole sentence fits.
	strict bool
	// colored says that the text has its one line of color.
	colored bool
}

func (w *writer) newText(l policy.Limit, room int, space string) *text {
	return &text{w: w, limit: l, room: room, space: space}
}

func (t *text) length(more string) int {
	return t.limit.Length(strings.Join(append(slices.Clone(t.list), more), t.space))
}

func (t *text) String() string { return strings.Join(t.list, t.space) }

func (t *text) add(l *line) {
	if n := len(t.list); n > 0 && joinsAtoms(t.list[n-1], l.text) {
		return
	}
	t.ids = append(t.ids, l.id)
	t.list, t.said, t.colored = append(t.list, l.text), t.said|l.facts, t.colored || l.color
}

// joinsAtoms reports whether the end of a sentence and the beginning of the next one
// would read as one date: "in October. 2–5 players".
func joinsAtoms(before, after string) bool {
	tail := before[max(0, strings.LastIndexByte(before, ' ')+1):]
	head, _, _ := strings.Cut(after, " ")
	if head == "" || head[0] < '0' || head[0] > '9' {
		return false
	}
	return slices.ContainsFunc(atoms.Find(tail+" "+head), func(a atoms.Atom) bool { return a.Start < len(tail) && a.End > len(tail)+1 })
}

// query is a query for the next sentence.
func (t *text) query(roles ...copybank.Role) query {
	left := t.room
	if len(t.list) > 0 {
		left = t.room - t.length("")
	}
	q := query{roles: roles, limit: t.limit, room: left, said: t.said, taken: slices.Concat(t.taken, t.list), never: t.w.action(), whole: true, ids: t.ids}
	if t.limit.Field == "long_headline" {
		q.never |= t.w.m.phones
	}
	return q
}

// open begins a text with a sentence that names the thing, if possible with a
// fact of the variant's idea.
func (t *text) open() {
	w := t.w
	product := w.maskOf(brief.Product)
	if _, sure := w.m.set.First(brief.Product, brief.Sure); !sure && w.bank != nil && t.start() {
		return
	}
	if t.limit.Hard >= leastForOwn && w.form() == formProse && t.startNamed() {
		return
	}
	if w.bank == nil && t.openArranged() || t.openWithSentence(product) {
		return
	}
	base := t.query(copybank.Opening, copybank.Description, copybank.Body)
	base.first, base.paired = true, true
	for _, try := range []struct {
		needs mask
		leads bool
		told  bool
	}{{product, true, true}, {product, false, true}, {w.names(), true, true}, {w.names(), false, true}, {product, true, false}, {w.names(), false, false}, {0, true, false}, {0, false, false}} {
		q := base
		q.needs, q.leads, q.told = try.needs, try.leads, try.told
		if l, ok := w.pick(q); ok && (try.needs == 0 || l.facts&try.needs != 0) {
			t.add(&l)
			return
		}
	}
	if l, ok := w.pick(query{roles: []copybank.Role{copybank.Headline}, limit: t.limit, room: t.room, taken: t.taken, never: base.never, again: true, stock: true}); ok {
		if !endsSentence(l.text) {
			l.text += "."
		}
		t.add(&l)
	}
}

// openWithSentence begins a text with a whole sentence about the product and a fact
// of the variant's idea. Without one, the fact has the first sentence and the product
// the second, or the product comes alone.
func (t *text) openWithSentence(product mask) bool {
	w := t.w
	one := func(all, never mask, first bool) bool {
		q := t.query(copybank.Sentence)
		q.all, q.first, q.told, q.paired = all, first, true, true
		q.never |= never
		l, ok := w.pick(q)
		if ok {
			t.add(&l)
		}
		return ok
	}
	if product == 0 {
		return false
	}
	order := w.order(t.limit.Channel)
	for _, fact := range order {
		if fact&w.idea.lead == 0 {
			break
		}
		for _, all := range w.groups(fact, t.said) {
			if one(product|all, 0, true) {
				return true
			}
		}
		if fact&w.maskOf(brief.Offer) != 0 {
			// Another price does not come before the offer.
			if one(product, w.others|w.maskOf(brief.Price)|w.maskOf(brief.PreviousPrice), true) {
				return true
			}
			break
		}
	}
	benefits := w.maskOf(brief.Benefit)
	if w.form() != formProse && w.idea.lead&benefits != 0 && w.isStatement(order[0]) {
		before := *t
		if one(order[0], product|w.maskOf(brief.Brand), true) {
			if one(product, w.others, false) {
				return true
			}
			*t = before
		}
	}
	if t.limit.Field == "long_headline" {
		return false // A headline is no place for "We offer mugs."
	}
	return one(product, w.others, true) || one(product, 0, true)
}

// isStatement reports a fact that is a whole sentence by itself.
func (w *writer) isStatement(fact mask) bool {
	for _, slot := range []copybank.Slot{copybank.BenefitClause, copybank.BenefitDo} {
		if slices.ContainsFunc(w.m.fill[slot], func(f filling) bool { return f.fact == fact }) {
			return true
		}
	}
	return false
}

// groups returns the facts that should stand in one sentence with a fact, the most
// first: a price and the previous one, an offer and its deadline.
func (w *writer) groups(fact, said mask) []mask {
	price := w.maskOf(brief.Price) | w.maskOf(brief.PreviousPrice)
	deal := w.maskOf(brief.Offer) | w.maskOf(brief.Deadline)&^w.m.actBy | w.maskOf(brief.Code)
	where := w.maskOf(brief.When) | w.maskOf(brief.Place)
	var list []mask
	add := func(m mask) {
		if m &^= said; m&fact != 0 && !slices.Contains(list, m) {
			list = append(list, m)
		}
	}
	switch {
	case fact&price != 0:
		if w.maskOf(brief.Offer) == 0 {
			add(price | deal&^w.maskOf(brief.Code))
		}
		if w.m.have.Has(copybank.PriceWas) {
			add(price)
		}
	case fact&deal != 0:
		add(deal)
		add(deal &^ w.maskOf(brief.Code))
		add(deal &^ w.maskOf(brief.Deadline))
	case fact&where != 0:
		add(where)
	}
	add(fact)
	return list
}

// leastForOwn is the length of texts that can begin as the brief does.
const leastForOwn = 400

// startNamed opens a text with the first sentence of a brief if that one says what
// the thing is: no pattern says it better.
func (t *text) startNamed() bool {
	first := t.w.firstSentence()
	if first == 0 {
		return false
	}
	named := t.w.m.within(t.w.m.facts[bits.TrailingZeros64(uint64(first))].Text)
	return named&t.w.names() != 0 && t.startWith(first)
}

// start opens a text with the first sentence of a brief whose product is not known:
// it says what the others are about.
func (t *text) start() bool {
	first := t.w.firstSentence()
	return first != 0 && t.startWith(first)
}

// firstSentence returns the sentence with which the brief begins.
func (w *writer) firstSentence() (first mask) {
	at := 0
	for i, f := range w.m.facts {
		if f.Type == brief.Sentence && f.Start != nil && (first == 0 || *f.Start < at) {
			first, at = mask(1)<<i, *f.Start
		}
	}
	return first
}

func (t *text) startWith(first mask) bool {
	q := t.query(copybank.Description)
	q.needs, q.told = first, true
	l, ok := t.w.pick(q)
	if ok && l.sentence {
		t.add(&l)
	}
	return ok && l.sentence
}

// say adds facts in their order, up to the ideal length. Required ones are added
// as long as there is room.
func (t *text) say(order []mask, ideal, end int) {
	required := t.w.required()
	// Whom it is for stands behind what it is.
	people := t.w.maskOf(brief.Audience)
	order = slices.Clone(order)
	slices.SortStableFunc(order, func(a, b mask) int { return cmp.Compare(b&people, a&people) })
	for _, fact := range order {
		if fact&t.said != 0 || t.length("")+end >= ideal && fact&required == 0 {
			continue
		}
		t.room -= end
		t.sayOne(fact)
		t.room += end
	}
}

// sayOne adds a sentence with a fact, if there is one.
func (t *text) sayOne(fact mask) {
	w := t.w
	q := t.query(copybank.Sentence)
	if q.room < 8 {
		return
	}
	q.told, q.paired = true, true
	for _, all := range w.groups(fact, t.said) {
		q.all = all
		if l, ok := w.pick(q); ok {
			t.add(&l)
			return
		}
	}
	if fact&w.maskOf(brief.Benefit) != 0 && t.sayBenefits(fact) || t.sayPlain(fact) {
		return
	}
	if t.strict && w.m.plain[fact] != "" {
		return // The next text has room for it.
	}
	q = t.query(copybank.Description, copybank.Body)
	q.needs, q.told, q.paired = fact, true, true
	l, ok := w.pick(q)
	if !ok && !t.strict {
		q.told = false
		l, ok = w.pick(q)
	}
	if ok {
		t.add(&l)
	}
}

// leastForPlace is the room from which a text says "Where: Leeds and York."
const leastForPlace = 100

// sayPlain adds the sentence that names what a fact is.
func (t *text) sayPlain(fact mask) bool {
	w := t.w
	if fact&w.m.actBy != 0 && w.m.generic == 0 {
		return true // The action says until when.
	}
	if fact&w.maskOf(brief.PreviousPrice) != 0 && (!w.m.have.Has(copybank.PriceWas) || t.said&w.maskOf(brief.Price) == 0) {
		return true // What is not reduced is no saving, and a price before comes after the price.
	}
	// A date says nothing before the offer is said.
	if deal := w.maskOf(brief.Offer) | w.maskOf(brief.PreviousPrice); fact&(w.maskOf(brief.Deadline)|w.maskOf(brief.Code))&^w.m.actBy != 0 && deal != 0 && t.said&deal == 0 {
		return true
	}
	if fact&w.maskOf(brief.Place) != 0 && t.limit.Hard < leastForPlace {
		return false
	}
	l := line{text: w.m.plain[fact], facts: fact}
	if was := w.m.fill[copybank.PriceWas]; fact&w.maskOf(brief.Price) != 0 && w.m.have.Has(copybank.PriceWas) && t.said&was[0].fact == 0 {
		price, _ := first(w.m.facts, brief.Price)
		l = line{text: w.m.atStart(w.m.lang.with("say_any_price", price.Text+" "+w.m.lang.with("instead", was[0].text))), facts: fact | was[0].fact}
	}
	if l.text == "" || hasRefused(t.limit, l.text) || t.limit.Length(l.text) > t.query().room || !w.passes(&l, copybank.Description) || slices.Contains(t.taken, l.text) {
		return false
	}
	t.add(&l)
	return true
}

// mostListed is how many benefits one sentence lists.
const mostListed = 3

// sayBenefits adds one sentence with several short benefits: "Free returns, small
// groups and live music."
func (t *text) sayBenefits(first mask) bool {
	w := t.w
	var items []item
	var facts mask
	most := mostListed
	if t.strict {
		most-- // The next text has something to say too.
	}
	room := t.query().room
	for _, fact := range w.order(t.limit.Channel) {
		if len(items) == 0 && fact != first || fact&t.said != 0 || len(items) == most {
			continue
		}
		one := w.m.listed[fact]
		if one.text == "" || hasRefused(t.limit, one.text) || w.gate.bans(one.text) {
			if fact == first {
				return false
			}
			continue
		}
		if more := w.m.join(append(slices.Clone(items), one)); t.limit.Length(more)+1 <= room && !repeatsWord(more) {
			items, facts = append(items, one), facts|fact
		}
	}
	if len(items) < 2 {
		return false
	}
	t.add(&line{text: sentenceCase(w.m.join(items)) + ".", facts: facts})
	return true
}

// item is a benefit in a list. thing says that it is a noun phrase.
type item struct {
	text  string
	thing bool
}

// join writes a list. Only things have "and" before the last one.
func (m *material) join(items []item) string {
	var b strings.Builder
	things := m.english && !slices.ContainsFunc(items, func(i item) bool { return !i.thing })
	for i, one := range items {
		switch {
		case i == 0:
		case i == len(items)-1 && things:
			b.WriteString(" " + m.lang.with("and", "") + " ")
		default:
			b.WriteString(", ")
		}
		b.WriteString(one.text)
	}
	return b.String()
}

// listable returns a benefit as an item of a list, empty if it cannot be one: it
// has a comma or a verb, or is long.
func (m *material) listable(f brief.Fact) (one item) {
	if f.Type != brief.Benefit || f.Confidence < brief.Sure || !isShort(f.Text, 6) || strings.ContainsAny(f.Text, ",:;!?()") || m.lang == nil || isUnspaced(f.Text) || atoms.HasPhone(f.Text) {
		return one
	}
	if !m.english {
		if !m.lang.has("and_words", f.Text) && !m.lang.has("not_listed", f.Text) {
			one.text = f.Text
		}
		return one
	}
	switch words.ShapeOf(f.Text) {
	case words.NounPhrase:
		one.thing = !m.lang.has("and_words", f.Text)
	case words.Attribute, words.Unknown:
	case words.Imperative, words.Predicate, words.Clause:
		return one
	}
	one.text = words.LowerFirst(f.Text)
	return one
}

// close ends a text with the action, unless a sentence before asks for it: "Join us in
// Leeds."
func (t *text) close() {
	if f, ok := first(t.w.m.facts, brief.CallToAction); ok && f.Start == nil && slices.ContainsFunc(t.list, func(s string) bool { return startsWithWords(s, f.Text) }) {
		return
	}
	q := t.w.closing(t)
	if t.w.m.calls {
		// A call needs its number, where numbers may be.
		q.all = t.w.maskOf(brief.Contact)
		if l, ok := t.w.pick(q); ok {
			t.add(&l)
			return
		}
		q.all = 0
	}
	if l, ok := t.w.pick(q); ok {
		t.add(&l)
	}
}

func (w *writer) closing(t *text) query {
	q := t.query(copybank.Closing)
	q.needs, q.never, q.again, q.stock = w.maskOf(brief.CallToAction), 0, true, true
	q.taken = nil // "Order now" is no repetition of "orders are open".
	if w.m.generic != 0 {
		q.never = w.m.actBy // "Learn more by Friday" is not what the brief says.
	}
	q.color = w.colorful(t.limit.Channel) && w.variant > 0 && !t.colored
	return q
}

// endRoom is the room that a text keeps for its action.
func (t *text) endRoom() int {
	q := t.w.closing(t)
	q.room, q.taken = max(20, t.room/2), nil
	if l, ok := t.w.peek(q); ok {
		return t.limit.Length(l.text) + len(t.space)
	}
	return 0
}

// colorful reports whether a text of a channel may have a line of color.
func (w *writer) colorful(channel string) bool {
	return channel != "search" && channel != "display" && (w.tone == "friendly" || w.tone == "energetic")
}
