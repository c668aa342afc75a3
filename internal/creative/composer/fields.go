package composer

import (
	"math/rand/v2"
	"slices"
	"strings"

	"fanfare/internal/creative/policy"
)

// counts are how many items a list gets where there is enough to say. More
// than a person can tell apart helps nobody, except where the platform tries
// combinations.
var counts = map[string]int{
	"search headlines": 15, "search descriptions": 4, "search paths": 2,
	"social headlines": 3, "social descriptions": 2,
	"display headlines": 5, "display descriptions": 3,
	"video headlines": 3, "video descriptions": 2,
	"affiliate headlines": 3, "direct_mail headlines": 2, "other headlines": 2,
}

// write makes the copy of one channel.
func (w *writer) write(channel string, variant int, r *rand.Rand) policy.Copy {
	w.channel, w.random, w.now, w.picked[channel] = channel, r, w.tallyOf(channel), nil
	// Where there is little to say, variants differ by what they leave out, the
	// more the longer they resemble each other.
	if this := (spot{channel, variant}); w.at != this {
		w.at, w.lean = this, 0
	} else {
		w.lean = min(w.lean+1, 6)
	}
	var c policy.Copy
	angle := w.angle(variant)
	for _, l := range policy.LimitsOf(channel) {
		c.SetTexts(l.Field, w.field(l, angle, &c))
	}
	return c
}

// room is how long a text should be: where platforms begin to cut it, or else
// where they refuse.
func room(l policy.Limit) int {
	if l.Soft > 0 {
		return l.Soft
	}
	return l.Hard
}

func (w *writer) field(l policy.Limit, angle string, c *policy.Copy) []string {
	n := max(1, counts[l.Channel+" "+l.Field])
	t := lineRules{angle: angle, room: room(l), limit: l}
	switch l.Field {
	case "headlines":
		return w.headlines(n, t)
	case "descriptions":
		if l.Soft > 0 && l.Soft <= 30 {
			return w.captions(n, t, c.Headlines)
		}
		return w.descriptions(n, t)
	case "paths":
		return w.paths(l)
	case "business_name":
		if name := w.f.brand; name != "" && l.Length(name) <= l.Hard {
			return []string{name}
		}
		return nil
	case "subject":
		return w.headlines(1, t)
	case "long_headline":
		return one(w.longHeadline(t, c.Headlines))
	case "preheader":
		t.taken = c.Texts("subject")
		return one(w.preheader(t))
	case "body":
		return one(w.allowed(w.body(t)))
	case "script":
		if l.Channel == "video" {
			return one(w.allowed(w.scenes(t)))
		}
		return one(w.spoken(t))
	}
	return one(w.running(t, c.Headlines))
}

// allowed leaves the lines out whose greeting or label must not be said.
func (w *writer) allowed(text string) string {
	if !w.bar.blocks(text) {
		return text
	}
	lines := slices.DeleteFunc(strings.Split(text, "\n"), w.bar.blocks)
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// one is a field of a single text.
func one(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}

// headlines are led by the angle; the others bring in what else there is to
// say, and one or two ask for the action. Lines of other variants come only
// where there would be too few.
func (w *writer) headlines(n int, t lineRules) []string {
	var list []string
	asked := n
	n = w.share(n, t)
	own, plain := max(1, n/4), 0
	for len(list) < n {
		u := t
		u.taken, u.lead, u.fact, u.unused = list, len(list) == 0, plain >= mostPlain, true
		if len(list) >= own {
			u.angle = ""
		}
		text, l := w.headline(u, n > 3 && (len(list) == 4 || len(list) == 9), len(list) < min(n, 3))
		if text == "" {
			break
		}
		if l.uses&^usesName == 0 {
			plain++
		}
		list, t.shun, t.alike = append(list, text), t.shun|l.uses, append(t.alike, l.uses&^named)
	}
	for asked > n && len(list) < min(asked, fewHeadlines) {
		text, _ := w.pick(button, lineRules{room: t.room, limit: t.limit, taken: list, unused: true})
		if text == "" {
			break
		}
		list = append(list, text)
	}
	return list
}

// fewHeadlines is up to where calls to action fill a list that has little else.
const fewHeadlines = 6

// headline picks one; needed says that a poor one is better than none.
func (w *writer) headline(t lineRules, ask, needed bool) (string, line) {
	other, used, last := t, t, t
	other.angle = ""
	used.unused, last.angle, last.unused, last.fact, last.lead, last.alike = false, "", false, false, false, nil
	if ask {
		if text, l := w.pick(button, other); text != "" {
			return text, l
		}
	}
	for _, u := range []lineRules{t, other} {
		if text, l := w.pick(head, u); text != "" {
			return text, l
		}
	}
	if !needed {
		return "", line{}
	}
	for _, u := range []lineRules{used, last} {
		if text, l := w.pick(head, u); text != "" {
			return text, l
		}
	}
	return w.pick(button, last)
}

// share is how many of the headlines that fit one variant may take, so that
// something is left for the others.
func (w *writer) share(n int, t lineRules) int {
	if n <= 3 {
		return n
	}
	fit, plain := 0, 0
	for _, l := range w.pools[head] {
		switch {
		case l.fit(t.room, t.limit) == "":
		case l.uses&^usesName == 0:
			plain++
		default:
			fit++
		}
	}
	return min(n, max(3, 2+fit/w.variants+min(mostPlain, plain/w.variants)))
}

// mostPlain is how many headlines of a list may say only who it is.
const mostPlain = 3

// captions are the few words under a headline: a fact or the action.
func (w *writer) captions(n int, t lineRules, headlines []string) []string {
	var list []string
	var shun mask
	for len(list) < n {
		u := t
		u.angle, u.taken, u.shun, u.statement = "", append(slices.Clone(headlines), list...), shun, true
		place := head
		if len(list) == n-1 {
			place = button
		}
		text, l := w.pick(place, u)
		if text == "" {
			text, l = w.pick(button, u)
		}
		if text == "" && len(list) == 0 {
			text, l = w.pick(button, lineRules{room: t.room, limit: t.limit})
		}
		if text == "" {
			break
		}
		list, shun = append(list, text), shun|l.uses
	}
	return list
}

// plans are the shapes of short running text, the fuller first.
var plans = [][]role{
	{hook, support, closing},
	{hook, offering, closing},
	{support, offering, closing},
	{hook, support, support, closing},
}

func (w *writer) descriptions(n int, t lineRules) []string {
	var list []string
	var shun mask
	for len(list) < n {
		u := t
		u.taken, u.shun = list, shun
		if len(list) > 0 {
			u.angle = ""
		}
		text, said := w.compose(plans[len(list)%len(plans)], u)
		if said == 0 {
			text, said = w.compose([]role{hook, closing}, u)
		}
		if text == "" || slices.Contains(list, text) {
			text, said = w.compose([]role{closing}, u)
		}
		if text == "" || slices.Contains(list, text) {
			break
		}
		list, shun = append(list, text), shun|said
	}
	return list
}

func (w *writer) longHeadline(t lineRules, headlines []string) string {
	t.taken = headlines
	text, l := w.pick(hook, t)
	if text == "" {
		t.angle = ""
		text, l = w.pick(hook, t)
	}
	if text == "" {
		return strings.Join(headlines[:min(1, len(headlines))], "")
	}
	if more, _ := w.pick(support, lineRules{room: t.room - t.limit.Length(text) - 1, limit: t.limit, said: l.uses}); more != "" {
		return text + " " + strings.TrimSuffix(more, ".")
	}
	return strings.TrimSuffix(text, ".")
}

func (w *writer) preheader(t lineRules) string {
	t.angle, t.statement = "", true
	if picked := w.picked[w.channel]; len(picked) > 0 {
		t.said = picked[len(picked)-1].uses
	}
	text, _ := w.compose([]role{support, offering}, t)
	t.said = 0
	if text == "" {
		text, _ = w.compose([]role{hook, closing}, t)
	}
	if text == "" {
		text, _ = w.compose([]role{closing}, t)
	}
	return text
}

// running is the text of a post, a message or a notification.
func (w *writer) running(t lineRules, headlines []string) string {
	plan := []role{hook, support, offering, closing}
	switch {
	case t.room >= 250:
		plan = []role{hook, support, support, offering, support, closing}
	case t.room < 110:
		plan = []role{hook, offering, closing}
	}
	t.taken = headlines
	link := w.domain != "" && (t.limit.Channel == "sms" || t.room >= 250)
	name := ""
	if t.limit.Channel == "sms" && w.f.brand != "" {
		name = w.f.brand + ": "
	}
	if link {
		t.room -= len(w.domain) + 2
	}
	t.room -= t.limit.Length(name)
	t.unnamed, t.fluent = name != "", t.room >= 250
	text, _ := w.compose(plan, t)
	if text == "" {
		t.room = t.limit.Hard
		text, _ = w.compose([]role{closing}, t)
	}
	if text == "" {
		return w.f.name
	}
	if name != "" && strings.HasPrefix(text, w.f.brand) {
		name = ""
	}
	text = name + w.finish(text, link)
	// One letter outside the alphabet of messages makes all the others longer.
	if short, ok := Shorten(text, t.limit); ok {
		return short
	}
	return text
}

// finish gives the last sentence its mark and the address.
func (w *writer) finish(text string, link bool) string {
	body := strings.TrimSuffix(text, ".")
	switch {
	case body == text:
		return text
	case link && hasPhone(body):
		return text + " " + w.domain
	case link:
		return body + ": " + w.domain
	case w.f.lively():
		return body + "!"
	}
	return text
}

// body is a letter: what it is, what speaks for it, the offer, what to do.
func (w *writer) body(t lineRules) string {
	f := w.f
	var paragraphs []string
	add := func(text string) {
		if text != "" {
			paragraphs = append(paragraphs, text)
		}
	}
	add(choose(f.formal(), "Hello,", "Hi there,"))
	t.room, t.fluent = min(t.room, 1400), true
	opening, said := w.compose([]role{hook, support}, t)
	add(opening)
	taken := []string{opening}
	if points := w.points(said); len(points) > 2 && w.random.IntN(2) == 0 {
		add(strings.Join(points, "\n"))
	} else if !w.skips() {
		text, more := w.compose([]role{support, support, support}, lineRules{room: 400, limit: t.limit, said: said, taken: taken, fluent: true})
		add(text)
		said |= more
	}
	text, offered := w.compose([]role{offering, offering}, lineRules{room: 300, limit: t.limit, said: said, taken: taken, fluent: true})
	add(text)
	end, _ := w.compose([]role{closing}, lineRules{room: 200, limit: t.limit, said: offered & usesAsk})
	add(w.finish(end, w.domain != ""))
	add(f.brand)
	return strings.Join(paragraphs, "\n\n")
}

// points are a few benefits as a list, from a place that changes.
func (w *writer) points(said mask) []string {
	var list []string
	fragments := w.f.of(thing, trait, deed, invite)
	if len(fragments) == 0 {
		return nil
	}
	from := w.random.IntN(len(fragments))
	for n := range fragments {
		i := fragments[(from+n)%len(fragments)]
		if said&(1<<(benefitBit+i)) == 0 && len(list) < 4 {
			list = append(list, "- "+upperFirst(w.f.benefits[i].fragment()))
		}
	}
	return list
}

// scenes is a script for moving pictures: what is seen and what is said.
func (w *writer) scenes(t lineRules) string {
	titles := w.headlines(2, lineRules{angle: t.angle, room: 40, limit: t.limit})
	voice, said := w.compose([]role{hook, support}, lineRules{angle: t.angle, room: 130, limit: t.limit, taken: titles})
	more, _ := w.compose([]role{support, offering}, lineRules{room: 110, limit: t.limit, said: said, taken: titles})
	end, _ := w.compose([]role{closing}, lineRules{room: 40, limit: t.limit, said: named})
	var lines []string
	add := func(label, text string) {
		if text != "" {
			lines = append(lines, label+": "+text)
		}
	}
	if len(titles) > 0 {
		add("On screen", titles[0])
	}
	add("Voice", voice)
	if len(titles) > 1 {
		add("On screen", titles[1])
	}
	add("Voice", more)
	name := w.f.name
	if name != "" {
		name += ". "
	}
	add("End card", strings.TrimSpace(name+w.finish(end, false)))
	return strings.Join(lines, "\n")
}

// spoken is a script for the ear.
func (w *writer) spoken(t lineRules) string {
	name := ""
	if w.f.name != "" {
		name = " " + w.f.name + "."
	}
	t.room -= runes(name)
	text, _ := w.compose([]role{hook, support, support, offering, support, closing}, t)
	return strings.TrimSpace(text + name)
}

func lastTwo(words []string) string {
	if len(words) < 2 || words[len(words)-2] == "and" {
		return ""
	}
	return strings.Join(words[len(words)-2:], " ")
}

// paths are what the address of a search ad shows: the thing, then where or
// for whom.
func (w *writer) paths(l policy.Limit) []string {
	var list []string
	place := strings.TrimSpace(strings.TrimPrefix(w.f.place, firstWord(w.f.place)))
	audience, product := w.f.audience, w.f.product.text
	if audience != "" {
		audience = outsideFacts(headOf(audience), audience)
	}
	candidates := slices.Concat(w.f.forms, []string{outsideFacts(lastTwo(strings.Fields(product)), product), outsideFacts(headOf(product), product)})
	for _, group := range [][]string{candidates, {w.f.occasion, place, audience}} {
		for _, text := range group {
			path := strings.Join(strings.FieldsFunc(strings.ToLower(text), notWord), "-")
			// A path has no signs, so that a fact in it would be another.
			if path != "" && l.Length(path) <= l.Hard && !slices.Contains(list, path) && len(atoms(text)) == 0 {
				list = append(list, path)
				break
			}
		}
	}
	return list
}

// outsideFacts returns words of a text, or nothing if one of them is part of a
// fact in it, such as the month of a date.
func outsideFacts(words, text string) string {
	for _, a := range atoms(text) {
		fact := strings.Fields(strings.ToLower(text[a.start:a.end]))
		for word := range strings.FieldsSeq(strings.ToLower(words)) {
			if slices.Contains(fact, word) {
				return ""
			}
		}
	}
	return words
}
