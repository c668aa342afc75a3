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

// ideas returns as many different ideas as the brief has, at most n. A benefit or
// a proof of its own is an idea of its own.
func (w *writer) ideas(n int) []idea {
	of := func(types ...brief.Type) (list []mask) {
		for i, f := range w.m.facts {
			if slices.Contains(types, f.Type) {
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
	one("deal", of(brief.Offer, brief.PreviousPrice))
	if len(benefits) > 0 {
		one("benefit", benefits[:1])
	}
	one("proof", of(brief.Proof))
	one("audience", of(brief.Audience))
	if _, when := w.m.set.First(brief.When, brief.Sure); when || len(benefits) < 2 {
		one("place", of(brief.When, brief.Place))
	}
	if _, offer := w.m.set.First(brief.Offer, 0); !offer {
		one("deal", of(brief.Price))
	}
	for _, benefit := range benefits[min(1, len(benefits)):] {
		one("benefit", []mask{benefit})
	}
	sentences := of(brief.Sentence)
	for _, sentence := range sentences {
		one("detail", []mask{sentence})
	}
	one("intro", of(brief.Product, brief.Brand))
	one("action", of(brief.CallToAction))
	if w.brief.Angle != "" {
		return w.alike(list, n)
	}
	return list[:min(n, len(list))]
}

// alike returns an idea n times: the one of the angle whose facts the lines that
// exist say most often. Without one it returns different ideas.
func (w *writer) alike(list []idea, n int) []idea {
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
		return list[:min(n, len(list))]
	}
	return slices.Repeat(list[best:best+1], n)
}

// weights are how much a line gains from a fact of a type that was not said yet.
var weights = map[brief.Type]int{
	brief.Offer: 12, brief.Price: 9, brief.PreviousPrice: 3, brief.Deadline: 5, brief.Code: 4, brief.Occasion: 4, brief.Proof: 6, brief.Benefit: 6,
	brief.When: 6, brief.Place: 4, brief.Audience: 5, brief.Product: 4, brief.Brand: 2, brief.CallToAction: 2, brief.Contact: 1, brief.Sentence: 5, brief.Terms: 0,
}

// query is what a place in a copy wants of a line.
type query struct {
	roles []copybank.Role
	limit policy.Limit
	// room is the greatest length, 0 for that of the limit.
	room int
	// leads asks for a line with a leading fact of the variant's idea.
	leads bool
	// needs are facts of which the line must have at least one.
	needs mask
	// never are facts that the line must not have.
	never mask
	// said are facts that need not be said again; the line must have another one.
	said mask
	// again allows a line that says nothing new.
	again bool
	// taken are the lines before this one.
	taken []string
	// whole asks for a line that ends as a sentence.
	whole bool
}

// pick returns the best line for a place, and marks it as used.
func (w *writer) pick(q query) (line, bool) {
	room := q.room
	if room == 0 {
		room = q.limit.Hard
	}
	var best line
	top, found := 0, false
	taken := make([][]string, len(q.taken))
	for i, text := range q.taken {
		taken[i] = meaningful(text)
	}
	consider := func(l *line, role copybank.Role) {
		score, ok := w.score(l, &q, role)
		if !ok || found && score <= top {
			return
		}
		if q.whole && !l.own && !endsSentence(l.text) || q.limit.Field == "short_text" && strings.ContainsAny(l.text, "#@{}") {
			return
		}
		if l.words == nil {
			l.words = meaningful(l.text)
		}
		if q.limit.Length(l.text) > room || slices.Contains(q.taken, l.text) || slices.ContainsFunc(taken, func(t []string) bool { return tooAlike(t, l.words) }) {
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
	if found {
		w.used[best.text]++
		if best.id != "" {
			w.used[best.id]++
		}
	}
	return best, found
}

// score rates a line for a place. It is not ok if the line cannot be used there.
func (w *writer) score(l *line, q *query, role copybank.Role) (int, bool) {
	if l.facts&q.never != 0 || q.needs != 0 && l.facts&q.needs == 0 || q.leads && l.facts&w.idea.lead == 0 {
		return 0, false
	}
	if l.facts&w.m.phones != 0 && (q.limit.Channel == "search" || q.limit.Channel == "display") {
		return 0, false
	}
	fresh := l.facts &^ q.said
	if !q.again && fresh == 0 && l.facts != 0 {
		return 0, false
	}
	score := 0
	for rest := fresh; rest != 0; rest &= rest - 1 {
		score += 4 * weights[w.m.facts[bits.TrailingZeros64(uint64(rest))].Type]
	}
	for rest := l.facts & q.said; rest != 0; rest &= rest - 1 {
		if t := w.m.facts[bits.TrailingZeros64(uint64(rest))].Type; t != brief.Product && t != brief.Brand && t != brief.CallToAction {
			score -= 20
		}
	}
	if l.angle == w.idea.name {
		score += 8
		if q.leads {
			score += 16
		}
	}
	if q.leads && bits.OnesCount64(uint64(l.facts&w.led&w.idea.lead)) > 0 {
		score -= 15
	}
	if l.special {
		score += 14
	}
	if l.facts&^w.plain == 0 && q.leads {
		return 0, false
	}
	if l.facts&^w.plain == 0 && role != copybank.Closing {
		score -= 30
	}
	switch {
	case w.bank == nil:
		// What is arranged keeps the order of the brief.
		score -= 4 * bits.TrailingZeros64(uint64(l.facts))
	case l.own:
		score -= 6
	}
	if l.tone != "" && l.tone == w.tone {
		score += 10
	}
	score -= 30 * w.used[l.text]
	if l.id != "" {
		score -= 12 * w.used[l.id]
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
	return int((h >> 33) % 18) //nolint:gosec // below 18
}

// asOwn writes words of the brief as a line of a role, empty if they do not suit
// it.
func (w *writer) asOwn(l line, role copybank.Role) line {
	words := len(strings.Fields(l.text))
	if isUnspaced(l.text) {
		words = len([]rune(l.text)) / 2
	}
	text := sentenceCase(bare(l.text))
	switch role {
	case copybank.Headline, copybank.Subject:
		if words < 2 && l.angle != "intro" {
			text = ""
		}
	case copybank.Description, copybank.Preheader, copybank.Body:
		if words < 3 || l.angle == "intro" || l.angle == "action" {
			text = ""
		} else if !endsSentence(text) {
			text += "."
		}
	case copybank.Opening:
		if words < 3 || l.angle == "intro" || l.angle == "action" {
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
