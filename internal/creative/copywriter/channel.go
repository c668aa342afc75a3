package copywriter

import (
	"slices"
	"strings"

	"fanfare/internal/creative/atoms"
	"fanfare/internal/creative/brief"
	"fanfare/internal/creative/copybank"
	"fanfare/internal/creative/policy"
)

// most is how many items a list has if the brief has ideas for them. Fewer good
// lines are better than many poor ones.
var most = map[string]int{
	"search headlines": 10, "search descriptions": 4, "social headlines": 3, "social descriptions": 2, "display headlines": 4, "display descriptions": 3,
	"video headlines": 3, "video descriptions": 2, "affiliate headlines": 3, "direct_mail headlines": 2, "other headlines": 2, "push headlines": 1,
}

// channel writes all fields of a channel.
func (w *writer) channel(channel string) policy.Copy {
	var c policy.Copy
	for _, l := range policy.LimitsOf(channel) {
		c.SetTexts(l.Field, slices.DeleteFunc(w.field(l, &c), func(text string) bool { return text == "" }))
	}
	w.addTerms(channel, &c)
	w.insist(channel, &c)
	return c
}

// addTerms adds the conditions to short texts: they must not be missing where the
// offer is.
func (w *writer) addTerms(channel string, c *policy.Copy) {
	if channel != "search" && channel != "display" {
		return
	}
	for _, l := range policy.LimitsOf(channel) {
		if l.Field != "descriptions" {
			continue
		}
		texts := slices.Clone(c.Descriptions)
		terms := w.termsThatFit(l)
		if over := len(texts) + len(terms) - l.MaxItems; over > 0 {
			texts = texts[:max(1, len(texts)-over)]
		}
		texts = append(texts, terms...)
		c.SetTexts(l.Field, texts)
	}
}

// mostTerms is how many short texts are for conditions.
const mostTerms = 2

// termsThatFit returns the conditions as short texts, a sentence in each or several.
func (w *writer) termsThatFit(l policy.Limit) (list []string) {
	for _, f := range w.m.set.All(brief.Terms, 0) {
		for sentence := range strings.SplitSeq(bare(f.Text), ". ") {
			text := sentenceCase(bare(sentence)) + "."
			if l.Length(text) > l.Hard || !isSayable(text) || w.gate.bans(text) || atoms.HasPhone(text) {
				continue
			}
			if n := len(list); n > 0 && l.Length(list[n-1]+" "+text) <= l.Hard {
				list[n-1] += " " + text
			} else if n < mostTerms {
				list = append(list, text)
			}
		}
	}
	return list
}

func (w *writer) field(l policy.Limit, c *policy.Copy) []string {
	switch l.Field {
	case "headlines":
		return w.headlines(l)
	case "descriptions":
		if l.Soft > 0 && l.Soft <= 30 {
			return w.captions(l, c.Headlines)
		}
		return w.descriptions(l)
	case "paths":
		return w.paths(l)
	case "business_name":
		if name, ok := w.m.set.First(brief.Brand, 0); ok && l.Length(name.Text) <= l.Hard {
			return []string{name.Text}
		}
		if l.Length(w.brand) <= l.Hard && w.brand != "" {
			return []string{w.brand}
		}
		return nil
	case "subject":
		return w.subject(l)
	case "preheader":
		return w.preheader(l, c.Texts("subject"))
	case "long_headline":
		t := w.newText(l, l.Hard, " ")
		t.open()
		return t.list
	case "body":
		if l.Channel == "email" {
			return []string{w.email(l)}
		}
		return []string{w.letter(l)}
	case "script":
		return []string{w.script(l)}
	}
	return []string{w.running(l)}
}

// factsOf returns the facts that lines say, as far as they were picked here.
func (w *writer) factsOf(texts []string) (said mask, known bool) {
	for _, role := range copybank.Roles {
		for _, l := range w.lines[role] {
			if slices.Contains(texts, l.text) {
				said |= l.facts
				known = true
			}
		}
	}
	for _, l := range w.m.own {
		if slices.ContainsFunc(texts, func(t string) bool { return strings.HasPrefix(t, w.m.atStart(l.text)) }) {
			said |= l.facts
			known = true
		}
	}
	return said, known
}

// headlines begins with the product, then has the facts of the variant's idea and
// the others in their order, each once, and the action at the end.
func (w *writer) headlines(l policy.Limit) []string {
	n := max(1, most[l.Channel+" "+l.Field])
	room := l.Hard
	if l.Soft > 0 {
		room = l.Soft
	}
	var list []string
	var said mask
	action := w.maskOf(brief.CallToAction)
	add := func(needs, never mask, leads bool) bool {
		found, ok := w.pick(query{roles: []copybank.Role{copybank.Headline}, limit: l, room: room, needs: needs, never: never, said: said, taken: list, leads: leads, first: len(list) == 0})
		if ok {
			list, said = append(list, found.text), said|found.facts
		}
		return ok
	}
	product := w.maskOf(brief.Product)
	if !add(product, action, true) && !add(product, action, false) {
		add(w.maskOf(brief.Brand), action, false)
	}
	facts := n
	if n >= 4 {
		facts-- // The last one is the action.
	}
	for _, fact := range w.order(l.Channel) {
		if len(list) >= facts && len(list) >= l.MinItems {
			break
		}
		if fact&said == 0 {
			add(fact, action, false)
		}
	}
	if n >= 4 {
		if brand := w.maskOf(brief.Brand); brand&said == 0 && len(list) < facts {
			add(brand, action, false)
		}
		if action&w.m.generic == 0 {
			add(action, 0, false)
		}
	}
	return w.atLeast(list, l)
}

// atLeast fills a list up to what the channel needs with the plainest lines:
// the product, the advertiser, the action.
func (w *writer) atLeast(list []string, l policy.Limit) []string {
	for _, t := range []brief.Type{brief.Product, brief.Brand, brief.CallToAction, brief.Offer, brief.Benefit, brief.Place, brief.Price} {
		for i := range w.m.facts {
			if len(list) >= max(l.MinItems, 1) {
				return list
			}
			f := &w.m.facts[i]
			if f.Type != t {
				continue
			}
			text := w.m.atStart(bare(f.Text))
			if t == brief.Price && w.m.lang != nil {
				text = bare(w.m.lang.with("say_any_price", f.Text))
			}
			if l.Length(text) <= l.Hard && !slices.Contains(list, text) && !atoms.HasPhone(text) && !w.gate.bans(text) {
				list = append(list, text)
			}
		}
	}
	return list
}

// captions are the few words under a headline.
func (w *writer) captions(l policy.Limit, headlines []string) []string {
	said, _ := w.factsOf(headlines)
	q := query{roles: []copybank.Role{copybank.Headline}, limit: l, room: l.Soft, said: said, taken: headlines, never: w.maskOf(brief.CallToAction)}
	for _, again := range []bool{false, true} {
		q.again = again
		if again {
			q.said, q.stock = 0, true
		}
		if found, ok := w.pick(q); ok {
			return []string{found.text}
		}
	}
	return w.atLeast(nil, l)
}

// longSubject is the length of a subject that names the product and a fact. Some
// clients cut the last word of it.
const longSubject = 60

// subject says the fact that the variant leads with, with the product if both fit.
func (w *writer) subject(l policy.Limit) []string {
	if found, ok := w.arranged(l, longSubject, nil); ok {
		return []string{found.text}
	}
	q := query{roles: []copybank.Role{copybank.Subject, copybank.Headline}, limit: l, room: l.Soft, leads: true, needs: w.maskOf(brief.Product), never: w.maskOf(brief.CallToAction), color: w.colorful(l.Channel)}
	for _, try := range []func(){func() {}, func() { q.room = longSubject }, func() { q.room, q.needs = l.Soft, 0 }, func() { q.leads = false }, func() { q.again, q.stock, q.never = true, true, 0 }, func() { q.room = l.Hard }, func() { q.roles = append(q.roles, copybank.Description) }} {
		try()
		if found, ok := w.pick(q); ok {
			return []string{found.text}
		}
	}
	return w.atLeast(nil, l)
}

// preheader says the most important facts that the subject does not say.
func (w *writer) preheader(l policy.Limit, subject []string) []string {
	t := w.newText(l, l.Soft, " ")
	t.said, _ = w.factsOf(subject)
	t.taken = subject
	t.say(w.order(l.Channel), l.Soft*2/3, 0)
	if len(t.list) == 0 {
		t.said, t.room = 0, l.Hard
		t.open()
	}
	if len(t.list) == 0 {
		t.close()
	}
	if len(t.list) == 0 {
		return w.atLeast(nil, l)
	}
	return []string{t.String()}
}

// descriptions are whole sentences: first what it is and why, then the other
// facts, of which the second description ends with the action.
func (w *writer) descriptions(l policy.Limit) []string {
	n := max(1, most[l.Channel+" "+l.Field])
	order := w.order(l.Channel)
	var list []string
	var said mask
	for i := range n {
		t := w.newText(l, l.Hard, " ")
		t.said, t.taken, t.strict = said, list, i < n-1
		end := 0
		if i == 1 || n == 1 {
			end = t.endRoom()
		}
		if i == 0 {
			t.room -= end
			t.open()
			t.room += end
		}
		t.say(order, l.Hard*3/4, end)
		if i == 1 && len(t.list) == 0 {
			t.said = 0
			t.room -= end
			t.open()
			t.room += end
		}
		if end > 0 {
			t.close()
		}
		if text := t.String(); text != "" && (len(list) < l.MinItems || l.Length(text) >= 20) {
			list, said = append(list, text), said|t.said&^w.names()&^w.maskOf(brief.CallToAction)
		}
	}
	return w.atLeast(list, l)
}

// required are the facts that a text for reading must not leave out.
func (w *writer) required() (m mask) {
	for i, f := range w.m.facts {
		switch f.Type {
		case brief.Offer, brief.Price, brief.PreviousPrice, brief.Deadline, brief.When, brief.Place, brief.Code:
			m |= mask(1) << i
		case brief.Product, brief.Brand, brief.Audience, brief.Benefit, brief.Proof, brief.CallToAction, brief.Contact, brief.Occasion, brief.Terms, brief.Sentence:
		}
	}
	return m
}

// running is the text of a post, a message or a notification: what it is and the
// strongest fact, what must be said, what else speaks for the thing, the action.
func (w *writer) running(l policy.Limit) string {
	room, ideal := l.Hard, l.Hard
	if l.Soft > 0 {
		room, ideal = min(l.Hard, max(l.Soft, 420)), min(l.Hard, max(l.Soft, 250))
	}
	if l.Channel == "push" {
		room, ideal = l.Soft, l.Soft
	}
	if l.Channel == "social" && l.Field == "primary_text" {
		return w.post(l, room, ideal)
	}
	return w.compose(l, room, ideal, " ")
}

// compose joins sentences. Beyond the ideal length only what must be said is
// added.
func (w *writer) compose(l policy.Limit, room, ideal int, space string) string {
	t := w.newText(l, room, space)
	end := t.endRoom()
	t.room -= end
	t.open()
	t.room += end
	t.say(w.order(l.Channel), ideal, end)
	t.close()
	return strings.Join(w.withTerms(t.list, l, room, space), space)
}

// withTerms adds the conditions of an offer where they fit.
func (w *writer) withTerms(list []string, l policy.Limit, room int, space string) []string {
	for _, f := range w.m.set.All(brief.Terms, 0) {
		sentences := strings.Split(bare(f.Text), ". ")
		for i, one := range sentences {
			sentences[i] = sentenceCase(one)
		}
		text := strings.Join(sentences, ". ") + "."
		if more := append(slices.Clone(list), text); l.Length(strings.Join(more, space)) <= termsRoom(l, room) && !w.gate.bans(text) {
			list = more
		}
	}
	return list
}

// termsRoom is the room for a text with its conditions. They are more important
// than the length at which platforms truncate.
func termsRoom(l policy.Limit, room int) int {
	if l.Soft > 0 && l.Channel != "push" {
		return l.Hard
	}
	return room
}

// letter is a text of a few paragraphs.
func (w *writer) letter(l policy.Limit) string {
	return w.compose(l, min(l.Hard, max(l.Soft, 500)), 400, "\n\n")
}

// script is what a speaker says. For video, each sentence is a scene.
func (w *writer) script(l policy.Limit) string {
	space := " "
	if l.Channel == "video" {
		space = "\n"
	}
	return w.compose(l, l.Soft, l.Soft*2/3, space)
}

// insist adds the words that every variant must have where they are missing.
func (w *writer) insist(channel string, c *policy.Copy) {
	for _, words := range w.brief.MustInclude {
		present := slices.ContainsFunc(c.AllTexts(channel), func(t string) bool { return strings.Contains(strings.ToLower(t), strings.ToLower(words)) })
		if present || w.gate.bans(words) {
			continue
		}
		sentence := sentenceCase(words)
		if !endsSentence(sentence) {
			sentence += "."
		}
		for _, l := range policy.LimitsOf(channel) {
			texts := c.Texts(l.Field)
			switch {
			case l.Field == "primary_text" || l.Field == "body" || l.Field == "script":
				if len(texts) == 1 && l.Length(texts[0]+" "+sentence) <= l.Hard {
					c.SetTexts(l.Field, []string{texts[0] + " " + sentence})
				}
			case l.Field == "descriptions" && len(texts) > 0 && l.Length(sentence) <= l.Hard:
				texts[len(texts)-1] = sentence
				c.SetTexts(l.Field, texts)
			}
			if slices.ContainsFunc(c.AllTexts(channel), func(t string) bool { return strings.Contains(t, words) || strings.Contains(t, sentence) }) {
				break
			}
		}
	}
}

// paths are what the address of a search ad shows.
func (w *writer) paths(l policy.Limit) []string {
	var list []string
	for _, t := range []brief.Type{brief.Product, brief.Occasion, brief.Place} {
		f, ok := w.m.set.First(t, brief.Sure)
		if !ok || len(atoms.Find(f.Text)) > 0 {
			continue
		}
		path := strings.ReplaceAll(strings.TrimSpace(asWords(f.Text)), " ", "-")
		if path != "" && l.Length(path) <= l.Hard && len(list) < l.MaxItems && !slices.Contains(list, path) {
			list = append(list, path)
		}
	}
	return list
}
