package copywriter

import (
	"math/bits"
	"slices"
	"strings"

	"fanfare/internal/creative/brief"
	"fanfare/internal/creative/copybank"
	"fanfare/internal/creative/policy"
)

// idea is what a variant argues with.
type idea struct {
	// name is the angle of lines that lead.
	name string
	// lead are the facts of which a leading line has at least one.
	lead mask
}

// ideas returns the different ideas of the brief, the best first. Each has facts of
// its own to lead with.
func (w *writer) ideas() []idea {
	of := func(types ...brief.Type) (list []mask) {
		for i, f := range w.m.facts {
			if slices.Contains(types, f.Type) && f.Text != "" {
				list = append(list, mask(1)<<i)
			}
		}
		return list
	}
	var list []idea
	one := func(name string, masks []mask) {
		var all mask
		for _, m := range masks {
			all |= m
		}
		if all != 0 {
			list = append(list, idea{name, all})
		}
	}
	benefits := of(brief.Benefit)
	half := min(2, len(benefits))
	one("deal", of(brief.Offer, brief.Price, brief.PreviousPrice))
	one("benefit", benefits[:half])
	one("proof", of(brief.Proof))
	one("audience", of(brief.Audience))
	if _, when := w.m.set.First(brief.When, brief.Sure); when || len(benefits) < 3 {
		one("place", of(brief.When, brief.Place))
	}
	one("detail", benefits[half:])
	for _, sentence := range of(brief.Sentence) {
		one("detail", []mask{sentence})
	}
	one("intro", of(brief.Product, brief.Brand))
	if w.brief.Angle != "" {
		return w.alike(list)
	}
	return list
}

// alike returns one idea for all variants: the one of the angle whose facts the
// lines that exist say most often. Without one it returns different ideas.
func (w *writer) alike(list []idea) []idea {
	best, top := -1, -1
	for i, idea := range list {
		if idea.name != w.brief.Angle {
			continue
		}
		said := 0
		for rest := idea.lead; rest != 0; rest &= rest - 1 {
			fact := strings.ToLower(w.m.facts[bits.TrailingZeros64(uint64(rest))].Text)
			for _, text := range w.brief.Taken {
				if strings.Contains(strings.ToLower(text), fact) {
					said++
				}
			}
		}
		if said > top {
			best, top = i, said
		}
	}
	if best < 0 {
		return list
	}
	return slices.Repeat(list[best:best+1], w.brief.Variants+mostRetries)
}

// weights are how much a line gains from a fact of a type that was not said yet.
var weights = map[brief.Type]int{
	brief.Offer: 12, brief.Price: 9, brief.PreviousPrice: 8, brief.Deadline: 6, brief.Code: 5, brief.Occasion: 4, brief.Proof: 6, brief.Benefit: 6,
	brief.When: 5, brief.Place: 4, brief.Audience: 4, brief.Product: 4, brief.Brand: 2, brief.CallToAction: 2, brief.Contact: 5, brief.Sentence: 5, brief.Terms: 0,
}

// query is what a place in a copy wants of a line.
type query struct {
	roles []copybank.Role
	limit policy.Limit
	// room is the greatest length, 0 for that of the limit.
	room int
	// leads asks for a line with a leading fact of the variant's idea.
	leads bool
	// first says that the line is the first one of a text.
	first bool
	// needs are facts of which the line must have at least one.
	needs mask
	// all are facts that the line must have together.
	all mask
	// paired wants a price with the previous one.
	paired bool
	// never are facts that the line must not have.
	never mask
	// said are facts that must not be said again.
	said mask
	// again allows a line that says nothing new.
	again bool
	// taken are the lines before this one.
	taken []string
	// ids are the patterns that the text has.
	ids []string
	// whole asks for a line that ends as a sentence.
	whole bool
	// color allows a line with a voice of its own.
	color bool
	// told asks for whole sentences of the brief for the facts that they say.
	told bool
	// stock allows a line that every advertiser could say.
	stock bool
}

// pick returns the best line for a place, and marks it as used.
func (w *writer) pick(q query) (line, bool) {
	best, found := w.peek(q)
	if found {
		w.used[best.text]++
		if best.id != "" {
			w.used[best.id]++
		}
	}
	return best, found
}

// peek returns the best line for a place.
func (w *writer) peek(q query) (line, bool) {
	room := q.room
	if room == 0 {
		room = q.limit.Hard
	}
	var best line
	top, found := 0, false
	taken := make([][]string, len(q.taken))
	for i, text := range q.taken {
		taken[i] = w.meaningOf(text)
	}
	consider := func(l *line, role copybank.Role) {
		score, ok := w.score(l, &q, role)
		if !ok || found && score <= top {
			return
		}
		if q.whole && !endsSentence(l.text) || hasRefused(q.limit, l.text) {
			return
		}
		if q.limit.Length(l.text) > room || slices.Contains(q.taken, l.text) {
			return
		}
		if l.words == nil {
			l.words = meaningful(l.text)
		}
		if slices.ContainsFunc(taken, func(t []string) bool { return tooAlike(t, l.words) }) {
			return
		}
		best, top, found = *l, score, true
	}
	for _, role := range q.roles {
		lines := w.linesOf(role)
		for i := range lines {
			consider(&lines[i], role)
		}
	}
	return best, found
}

// hasRefused reports characters that a short text must not have.
func hasRefused(l policy.Limit, text string) bool {
	return l.Field == "short_text" && strings.ContainsAny(text, "#@{}")
}

// saidOnce are the types of facts that a text says once. A name or a place may
// come again.
func saidOnce(t brief.Type) bool {
	switch t {
	case brief.Offer, brief.Price, brief.PreviousPrice, brief.Deadline, brief.When, brief.Proof, brief.Benefit, brief.Code, brief.Sentence:
		return true
	case brief.Product, brief.Brand, brief.Place, brief.Audience, brief.CallToAction, brief.Contact, brief.Occasion, brief.Terms:
	}
	return false
}

// score rates a line for a place. It is not ok if the line cannot be used there.
func (w *writer) score(l *line, q *query, role copybank.Role) (int, bool) {
	if l.facts&q.never != 0 || l.facts&q.all != q.all || q.needs != 0 && l.facts&q.needs == 0 || q.leads && l.facts&w.idea.lead == 0 || l.color && !q.color || l.stock && !q.stock {
		return 0, false
	}
	if q.told && !l.sentence && l.facts&w.m.told != 0 {
		return 0, false
	}
	if l.facts&w.m.phones != 0 && (q.limit.Channel == "search" || q.limit.Channel == "display") {
		return 0, false
	}
	if q.paired && w.m.have.Has(copybank.PriceWas) && l.facts&w.maskOf(brief.Price) != 0 && l.facts&w.maskOf(brief.PreviousPrice) == 0 {
		return 0, false
	}
	if role == copybank.Sentence && (!l.sentence && l.facts&q.said&w.maskOf(brief.Product) != 0 || l.id != "" && slices.Contains(q.ids, l.id)) {
		return 0, false // A text names the thing in one sentence beside those of the brief, and says nothing in the same words twice.
	}
	if role == copybank.Sentence && l.angle == "intro" && q.limit.Hard < leastForPlace && len(w.m.fill[copybank.People]) == 0 {
		return 0, false // "We offer mugs." wastes a short text.
	}
	score := 0
	// "Ends Sunday" and "Use code TEN" say nothing before the offer is said.
	if deal := w.maskOf(brief.Offer) | w.maskOf(brief.PreviousPrice); deal != 0 && l.facts&(w.maskOf(brief.Deadline)|w.maskOf(brief.Code))&^w.m.actBy != 0 && (l.facts|q.said)&deal == 0 {
		return 0, false
	}
	fresh := l.facts &^ q.said
	if !q.again && fresh == 0 && l.facts != 0 {
		return 0, false
	}
	// The first line does not argue with what other variants lead with.
	gains := fresh
	if q.leads || q.first {
		gains &^= w.others | (w.maskOf(brief.Benefit)|w.maskOf(brief.Proof))&^w.idea.lead
		score -= 10 * bits.OnesCount64(uint64(fresh&w.others))
	}
	if role == copybank.Closing {
		// An action is asked for with its date and the contact, and nothing else.
		gains &= w.maskOf(brief.CallToAction) | w.maskOf(brief.Contact) | w.m.actBy
		score -= 16 * bits.OnesCount64(uint64(fresh&^gains))
	}
	for rest := gains; rest != 0; rest &= rest - 1 {
		score += 4 * weights[w.m.facts[bits.TrailingZeros64(uint64(rest))].Type]
	}
	for rest := l.facts & q.said; rest != 0; rest &= rest - 1 {
		switch {
		case saidOnce(w.m.facts[bits.TrailingZeros64(uint64(rest))].Type):
			return 0, false
		default:
			score -= 40
		}
	}
	if l.facts&w.idea.lead != 0 {
		score += 14
	}
	if l.special && role == copybank.Sentence {
		score += 8
	}
	if l.color && l.tone == w.tone {
		score += 6
	}
	// Words that are not the brief's own make a line longer and no truer.
	if role != copybank.Sentence {
		score -= l.fixed / 2
	}
	if l.cut {
		score -= 6
	}
	if w.bank == nil {
		// What is arranged keeps the order of the brief.
		score -= 4 * bits.TrailingZeros64(uint64(l.facts))
	}
	switch role {
	case copybank.Closing:
	case copybank.Sentence:
		score -= 12*w.used[l.text] + 8*w.used[l.id]
	default:
		score -= 10 * w.used[l.text]
	}
	return score + w.jitter(l, role), true
}

// jitter varies the choice between lines that are equally good by the seed.
func (w *writer) jitter(l *line, role copybank.Role) int {
	h := uint64(w.brief.Seed)*0x9e3779b97f4a7c15 ^ uint64(w.variant+1)*0xbf58476d1ce4e5b9 //nolint:gosec // the seed's bits matter, not its sign
	for _, s := range [3]string{string(role), l.id, l.text} {
		for i := range len(s) {
			h = (h ^ uint64(s[i])) * 0x100000001b3
		}
	}
	return int((h >> 33) % 16) //nolint:gosec // below 16
}

// asOwn writes words of the brief as a line of a role, empty if they do not suit
// it.
func (w *writer) asOwn(l line, role copybank.Role) line {
	words := len(strings.Fields(l.text))
	if isUnspaced(l.text) {
		words = len([]rune(l.text)) / 2
	}
	text := w.m.atStart(l.text)
	if l.cut && role != copybank.Headline && role != copybank.Subject {
		l.text = ""
		return l
	}
	switch role {
	case copybank.Headline, copybank.Subject:
		if words < 2 && l.angle != "intro" {
			text = ""
		}
	case copybank.Opening:
		// The lines of descriptions are looked at too. A title can open a text.
		if _, sure := w.m.set.First(brief.Product, brief.Sure); sure || l.angle != "intro" || words < 2 {
			text = ""
		} else if !endsSentence(text) {
			text += "."
		}
	case copybank.Preheader:
		text = ""
	case copybank.Description:
		if l.angle == "intro" || l.angle == "action" {
			text = ""
		} else if !endsSentence(text) {
			text += "."
		}
	case copybank.Body:
		text = ""
	case copybank.Sentence:
		// A benefit or an offer that is a sentence is one here too.
		if !w.isOwnSentence(&l) {
			text = ""
		} else if !endsSentence(text) {
			text += "."
		}
	case copybank.Closing:
		if l.angle != "action" {
			text = ""
		} else if !endsSentence(text) {
			text += "."
		}
	}
	l.text = text
	return l
}

// isOwnSentence reports whether words of the brief are a whole sentence.
func (w *writer) isOwnSentence(l *line) bool {
	if l.sentence {
		return true
	}
	if !w.m.english || bits.OnesCount64(uint64(l.facts)) != 1 || l.cut {
		return false
	}
	for _, slot := range []copybank.Slot{copybank.BenefitClause, copybank.BenefitDo, copybank.OfferDo} {
		for _, f := range w.m.fill[slot] {
			if f.fact == l.facts && strings.EqualFold(f.text, l.text) {
				return true
			}
		}
	}
	return false
}

func endsSentence(text string) bool {
	return strings.HasSuffix(text, ".") || strings.HasSuffix(text, "!") || strings.HasSuffix(text, "?") || strings.HasSuffix(text, "。")
}

// tooAlike reports whether two lines share most of the words of the shorter.
func tooAlike(x, y []string) bool {
	if len(x) > len(y) {
		x, y = y, x
	}
	if len(x) == 0 {
		return false
	}
	shared := 0
	for _, word := range x {
		if slices.Contains(y, word) {
			shared++
		}
	}
	return shared*100 > len(x)*74
}

// meaningOf returns the meaningful words of a text that was written. The same ones are
// compared with many lines.
func (w *writer) meaningOf(text string) []string {
	list, known := w.meaning[text]
	if !known {
		list = meaningful(text)
		w.meaning[text] = list
	}
	return list
}

// meaningful returns the words of a text without common ones.
func meaningful(text string) []string {
	var list []string
	for word := range strings.FieldsSeq(asWords(text)) {
		if len(word) > 2 && !commonWords[word] || strings.ContainsAny(word, "0123456789") {
			list = append(list, stem(word))
		}
	}
	return list
}
