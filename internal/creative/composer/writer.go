package composer

import (
	"math/rand/v2"
	"slices"
	"strings"
	"unicode/utf8"

	"fanfare/internal/creative"
	"fanfare/internal/creative/policy"
)

// role is the place that a line has in a text.
type role int

const (
	head role = iota
	hook
	support
	offering
	closing
	button
	roles
)

// perRole is more than any table has templates.
const perRole = 256

// writer writes English copy from lines.
type writer struct {
	f      *facts
	pools  [roles][]line
	angles []string
	// variants is how many share the lines.
	variants int
	domain   string
	bar      *bar
	// lines is how many there are, used how often the variants so far have
	// taken them, per channel.
	lines int
	used  map[string]*tally
	// now is the tally of the copy being written.
	now *tally
	// picked are the lines of the copy that was written last, per channel.
	picked map[string][]line
	// channel and random are those of the copy being written.
	channel string
	random  *rand.Rand
	// at is what is being written, lean how often it was tried before.
	at   spot
	lean int
}

// spot is a channel of a variant.
type spot struct {
	channel string
	variant int
}

// skips decides whether to leave something out. The first variant says all.
func (w *writer) skips() bool { return w.at.variant > 0 && w.random.IntN(12) < 2+w.lean }

func newWriter(b *creative.Brief, f *facts, k *bar) *writer {
	f.purge(k)
	w := &writer{f: f, variants: b.Variants, bar: k, domain: domain(b.LandingURL), used: map[string]*tally{}, picked: map[string][]line{}}
	if k.blocks(w.domain) {
		w.domain = ""
	}
	for place, table := range tables {
		w.pools[place] = f.pool(table, place*perRole, k)
	}
	for _, place := range []role{closing, button} {
		w.pools[place] = f.pool(append(cutAll([]template{asks[place]}), asking(place, f.cta)...), int(place)*perRole, k)
	}
	for _, pool := range w.pools {
		for i := range pool {
			pool[i].id = w.lines
			w.lines++
		}
	}
	w.angles = w.orderAngles(rand.New(rand.NewPCG(uint64(b.Seed), 0))) //nolint:gosec // the seed's bits matter, not its sign
	return w
}

// asking are the lines of a call to action. One that a caller made up is asked
// for in general words.
func asking(place role, code string) []cutTemplate {
	if table, ok := askings[place][code]; ok {
		return table
	}
	return askings[place]["learn_more"]
}

// pool fills a table.
func (f *facts) pool(table []cutTemplate, id int, k *bar) []line {
	var list []line
	seen := map[string]bool{}
	for i := range table {
		for _, l := range f.expand(&table[i], id+i) {
			asks := id >= int(closing)*perRole && id < int(button)*perRole
			var texts []string
			l.ascii = true
			for _, text := range l.texts {
				text = k.allowed(text)
				phone := hasPhone(text)
				if seen[text] || strings.TrimSpace(text) == "" || phone && !asks {
					continue
				}
				seen[text] = true
				texts = append(texts, text)
				l.ascii, l.phone = l.ascii && runes(text) == len(text), l.phone || phone
			}
			if l.texts = texts; len(texts) == 0 {
				continue
			}
			if asks {
				l.uses |= usesAsk
			}
			list = append(list, l)
		}
	}
	return list
}

// able wants the thing itself or something that speaks for it.
func (w *writer) able() bool {
	f := w.f
	return f.product.text != "" || f.name != "" || len(f.benefits)+len(f.offers)+len(f.says)+len(f.proofs) > 0
}

func (w *writer) action() string { return w.f.cta }

// strong are the angles that sell first, where the brief has what they need.
var strong = []string{byOffer, byBenefit, byAudience, byUrgency, byProof, byPain}

// orderAngles lists the angles for which there are lines.
func (w *writer) orderAngles(r *rand.Rand) []string {
	count := map[string]int{}
	var known []string
	for _, l := range slices.Concat(w.pools[head], w.pools[hook]) {
		if count[l.angle]++; count[l.angle] == 1 {
			known = append(known, l.angle)
		}
	}
	var first, rest []string
	for _, angle := range known {
		has := func(place role) bool {
			return slices.ContainsFunc(w.pools[place], func(l line) bool { return l.angle == angle })
		}
		switch {
		case !has(head) || !has(hook):
		case slices.Contains(strong, angle):
			first = append(first, angle)
		default:
			rest = append(rest, angle)
		}
	}
	r.Shuffle(len(first), func(i, j int) { first[i], first[j] = first[j], first[i] })
	r.Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
	if all := slices.Concat(first, rest); len(all) > 0 {
		return all
	}
	return []string{byFeature}
}

func (w *writer) angle(variant int) string { return w.angles[variant%len(w.angles)] }

// tally counts uses of lines and templates.
type tally struct {
	lines     []int
	templates [int(roles) * perRole]int
}

// tallyOf finds the tally of a channel.
func (w *writer) tallyOf(channel string) *tally {
	if w.used[channel] == nil {
		w.used[channel] = &tally{lines: make([]int, w.lines)}
	}
	return w.used[channel]
}

// keep remembers the lines of a copy, so that other variants take others.
func (w *writer) keep(channel string, _ policy.Copy) {
	for _, l := range w.picked[channel] {
		w.used[channel].lines[l.id]++
		w.used[channel].templates[l.from]++
	}
}

// lineRules are the rules for one line.
type lineRules struct {
	angle string
	// room is how long it may be, counted as limit does.
	room  int
	limit policy.Limit
	// said are the facts that the text already has; shun those that its
	// neighbours have.
	said, shun mask
	// taken are texts that must not come again.
	taken []string
	// statement refuses questions, asked says that one was just asked.
	statement, asked bool
	// fluent prefers whole sentences, unnamed refuses the name.
	fluent, unnamed bool
	// lead refuses what is too little to stand first, fact what only says who.
	lead, fact bool
	// opening is the first line of a text, must what it has to name.
	opening bool
	must    mask
	// unused refuses lines of other variants, alike are the facts of the
	// neighbours one by one.
	unused bool
	alike  []mask
	// here are the lines of the copy so far.
	here []line
	// sofar is the text in lower case, of which nothing is said again.
	sofar string
}

// pick chooses a line and the text of it that fits; "" where none does.
func (w *writer) pick(place role, t lineRules) (string, line) {
	var best line
	bestText, least := "", 1e9
	t.here = w.picked[w.channel]
	for i := range w.pools[place] {
		l := &w.pools[place][i]
		if l.uses&t.must != t.must || t.unused && w.now.lines[l.id] > 0 {
			continue
		}
		if l.phone && noPhone(t.limit) {
			continue
		}
		if facts := l.uses &^ named; facts != 0 && slices.Contains(t.alike, facts) {
			continue
		}
		if t.angle != "" && l.angle != "" && l.angle != t.angle || l.needs && !w.f.knows(t.said) || l.uses&t.said&^named != 0 || t.statement && l.question || (t.unnamed || place == closing && t.said&usesName != 0) && l.uses&usesName != 0 || t.lead && l.tag || t.fluent && l.terse || t.fact && l.uses&^usesName == 0 ||
			l.after == "offer" && t.said&(1<<offerBit) == 0 || l.after == "question" && !t.asked {
			continue
		}
		score := w.score(l, t)
		if score >= least {
			continue
		}
		text := l.fit(t.room, t.limit)
		if text == "" || slices.Contains(t.taken, text) || t.sofar != "" && strings.Contains(t.sofar, strings.ToLower(strings.TrimRight(text, ".?"))) {
			continue
		}
		if sameStart(text, t.taken) {
			score += 2.5
		}
		if first, rest := cutWord(strings.ToLower(text)); place == closing && rest != "" && (strings.Contains(t.sofar, first+" "+strings.TrimRight(firstWord(rest), ".")) || strings.HasSuffix(text, " look.") && strings.Contains(t.sofar, " look")) {
			score += 6
		}
		if score < least {
			best, bestText, least = *l, text, score
		}
	}
	if bestText != "" {
		w.picked[w.channel] = append(w.picked[w.channel], best)
	}
	return bestText, best
}

// sameStart reports whether a text begins with the two words that another does.
func sameStart(text string, others []string) bool {
	first, rest := cutWord(text)
	if first == "Plus" {
		return slices.ContainsFunc(others, func(other string) bool { return strings.Contains(other, "Plus ") })
	}
	start := first + " " + firstWord(rest)
	return rest != "" && slices.ContainsFunc(others, func(other string) bool { return strings.HasPrefix(other, start) })
}

// knows reports whether "it" can only mean the thing.
func (f *facts) knows(said mask) bool {
	return said&usesProduct != 0 || f.ownName && said&usesName != 0
}

// score is lower for lines that say something new.
func (w *writer) score(l *line, t lineRules) float64 {
	score := w.random.Float64() * 3
	score += 5*float64(w.now.lines[l.id]) + 2*float64(w.now.templates[l.from])
	score += 2 * float64(bits(l.uses&t.shun&^named))
	if l.uses&t.said&named != 0 {
		score += 3
	}
	// More facts in one line are better than fewer, up to a point.
	score -= 0.8 * float64(min(3, bits(l.uses&^named)))
	// The brief's own call to action comes first.
	if l.from == int(closing)*perRole || l.from == int(button)*perRole {
		score -= choose(w.f.ask != "", 4.0, 0)
	}
	if t.fluent && !l.full {
		score += 2.5
	}
	if l.after == "offer" || l.after == "question" {
		score += 1.5
	}
	for i := range t.here {
		if t.here[i].id == l.id {
			score += 6
			break
		}
	}
	// An opening says what it is about.
	if t.opening && l.uses&usesProduct == 0 && !w.f.ownName && !w.f.self {
		score += choose(t.fluent, 3.0, 1.0)
	}
	// A headline that only says who it is says little.
	if t.angle == "" && l.uses&^named == 0 {
		score += choose(l.uses&usesProduct != 0, 1.0, 2.5)
	}
	return score
}

func bits(m mask) int {
	n := 0
	for ; m != 0; m &= m - 1 {
		n++
	}
	return n
}

// fit is the longest text of a line that has room.
func (l *line) fit(room int, limit policy.Limit) string {
	for _, text := range l.texts {
		if l.within(room, text, limit) {
			return text
		}
	}
	last := l.texts[len(l.texts)-1]
	if !l.within(room+12, last, limit) {
		return ""
	}
	if text := squeezed.Replace(last); limit.Length(text) <= room {
		return text
	}
	return ""
}

// within reports whether a text has room. Every letter counts at least once, so a
// text of many times the bytes is not counted.
func (l *line) within(room int, text string, limit policy.Limit) bool {
	return len(text) <= utf8.UTFMax*room && l.length(text, limit) <= room
}

// length counts like the limit does; where every letter counts once, there is
// nothing to count.
func (l *line) length(text string, limit policy.Limit) int {
	if l.ascii && limit.Count != policy.SMS {
		return len(text)
	}
	return limit.Length(text)
}

// squeezed says the same in a little less. Shorten knows more ways, but lines
// have none of the filler that it looks for.
var squeezed = strings.NewReplacer(" and ", " & ", " per month", "/month", " per user", "/user", " per year", "/year", " per night", "/night")

// open picks a line; an opening of the angle if there is one, and in running
// text one that names the thing.
func (w *writer) open(place role, t lineRules) (string, line) {
	if place != hook {
		return w.pick(place, t)
	}
	musts := []mask{0}
	switch {
	case !t.opening || !t.fluent || w.f.self:
	case w.f.ownName:
		musts = []mask{usesName, usesProduct, 0}
	case w.f.product.text != "":
		musts = []mask{usesProduct, 0}
	}
	for _, must := range musts {
		for _, angle := range []string{t.angle, ""} {
			u := t
			u.must, u.angle = must, angle
			if text, l := w.pick(hook, u); text != "" {
				return text, l
			}
		}
	}
	return "", line{}
}

// wanting is a question that can be answered with a place to go.
var wanting = newPattern(`^(?:Looking|Need|Shopping|Thinking|In the mood|How about)\b.*\?$`)

// compose puts a text together: a line for each role, as far as there is room.
// The first and the closing line come before the ones between.
func (w *writer) compose(plan []role, t lineRules) (string, mask) {
	texts := make([]string, len(plan))
	room := t.room
	said := t.said
	order := []int{0}
	if last := len(plan) - 1; last > 0 {
		order = append(order, last)
		for i := 1; i < last; i++ {
			order = append(order, i)
		}
	}
	for n, i := range order {
		u := t
		u.opening = i == 0 && t.said == 0
		u.asked = i == 1 && wanting.MatchString(texts[0])
		u.sofar = strings.ToLower(strings.Join(texts, " "))
		u.room, u.said, u.taken = room, said, append(slices.Clone(t.taken), texts...)
		if plan[i] != hook && plan[i] != head {
			u.angle = ""
		}
		if plan[i] == support && i > 0 && w.skips() {
			continue
		}
		text, l := w.open(plan[i], u)
		if text == "" {
			continue
		}
		texts[i] = text
		room -= t.limit.Length(text) + 1
		// What follows the opening can refer to it, but not to what the closing
		// will name.
		if n == 0 || plan[i] != closing {
			said |= l.uses
		} else {
			said |= l.uses &^ named
		}
	}
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), " "), said
}
