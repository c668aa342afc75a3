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
		for _, f := range w.m.set.All(brief.Terms, 0) {
			text := sentenceCase(bare(f.Text)) + "."
			if l.Length(text) > l.Hard || w.gate.bans(text) || atoms.HasPhone(text) {
				continue
			}
			if len(texts) == l.MaxItems {
				texts = texts[:len(texts)-1]
			}
			texts = append(texts, text)
			break
		}
		c.SetTexts(l.Field, texts)
	}
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
		return w.one(query{roles: []copybank.Role{copybank.Subject}, limit: l, room: l.Soft, leads: true, again: true}, copybank.Headline)
	case "preheader":
		said, _ := w.factsOf(c.Texts("subject"))
		return w.one(query{roles: []copybank.Role{copybank.Preheader, copybank.Description}, limit: l, room: l.Soft, said: said, taken: c.Texts("subject")}, copybank.Closing)
	case "long_headline":
		return w.one(query{roles: []copybank.Role{copybank.Description}, limit: l, leads: true, again: true, taken: c.Headlines}, copybank.Headline)
	case "body":
		if l.Channel == "email" {
			e := w.email(l, c)
			return []string{e.text()}
		}
		return []string{w.letter(l)}
	case "script":
		return []string{w.script(l)}
	}
	return []string{w.running(l)}
}

// one picks a single line, and one of another role if there is none. The leading
// fact is given up before the field is.
func (w *writer) one(q query, other copybank.Role) []string {
	tries := []query{q, q, q, q}
	tries[1].leads = false
	tries[2].leads, tries[2].again, tries[2].roles, tries[2].whole = false, true, append(slices.Clone(q.roles), other), false
	tries[3] = tries[2]
	tries[3].room, tries[3].taken = q.limit.Hard, nil
	for _, q := range tries {
		if l, ok := w.pick(q); ok {
			return []string{l.text}
		}
	}
	return nil
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
		if slices.ContainsFunc(texts, func(t string) bool { return strings.HasPrefix(t, sentenceCase(l.text)) }) {
			said |= l.facts
			known = true
		}
	}
	return said, known
}

// headlines begins with the variant's idea. Each of the others says something
// else, or the same facts with another one.
func (w *writer) headlines(l policy.Limit) []string {
	n := max(1, most[l.Channel+" "+l.Field])
	room := l.Hard
	if l.Soft > 0 {
		room = l.Soft
	}
	var list []string
	var said mask
	seen := map[mask]bool{}
	q := query{roles: []copybank.Role{copybank.Headline}, limit: l, room: room, leads: true, again: true}
	for len(list) < n {
		q.taken, q.said = list, said
		found, ok := w.pick(q)
		switch {
		case !ok && q.leads:
			q.leads = false
			continue
		case !ok && !q.again && len(list) < max(l.MinItems, 3):
			q.again = true
			continue
		case !ok:
			return w.atLeast(list, l)
		}
		q.leads, q.again = false, false
		if (seen[found.facts] || found.facts == 0) && len(list) >= max(l.MinItems, 3) {
			return list
		}
		seen[found.facts] = true
		said |= found.facts
		list = append(list, found.text)
	}
	return list
}

// atLeast fills a list up to what the channel needs with the plainest lines:
// the product, the advertiser, the action.
func (w *writer) atLeast(list []string, l policy.Limit) []string {
	for _, t := range []brief.Type{brief.Product, brief.Brand, brief.CallToAction, brief.Offer, brief.Benefit, brief.Place} {
		for i := range w.m.facts {
			f := &w.m.facts[i]
			text := sentenceCase(bare(f.Text))
			if len(list) >= max(l.MinItems, 1) {
				return list
			}
			if f.Type == t && l.Length(text) <= l.Hard && !slices.Contains(list, text) && !atoms.HasPhone(text) && !w.gate.bans(text) {
				list = append(list, text)
			}
		}
	}
	return list
}

// captions are the few words under a headline.
func (w *writer) captions(l policy.Limit, headlines []string) []string {
	said, _ := w.factsOf(headlines)
	return w.one(query{roles: []copybank.Role{copybank.Headline}, limit: l, room: l.Soft, said: said, taken: headlines}, copybank.Closing)
}

func (w *writer) descriptions(l policy.Limit) []string {
	n := max(1, most[l.Channel+" "+l.Field])
	var list []string
	var said mask
	q := query{roles: []copybank.Role{copybank.Description, copybank.Body}, limit: l, leads: true, again: true, whole: true}
	for len(list) < n {
		q.taken, q.said = list, said
		found, ok := w.pick(q)
		switch {
		case !ok && q.leads:
			q.leads = false
			continue
		case !ok && !q.again && len(list) < l.MinItems:
			q.again = true
			continue
		case !ok && len(list) < l.MinItems && len(q.roles) == 2:
			q.roles = append(q.roles, copybank.Closing, copybank.Preheader, copybank.Opening)
			continue
		case !ok:
			return w.atLeast(list, l)
		}
		q.leads, q.again = false, false
		if found.facts&^w.plain == 0 && len(list) >= l.MinItems {
			return list
		}
		said |= found.facts
		if found.own {
			found, said = w.lengthen(found, said, l)
		}
		list = append(list, found.text)
	}
	return list
}

// lengthen adds another benefit in the brief's words to a short one, or the
// action.
func (w *writer) lengthen(one line, said mask, l policy.Limit) (line, mask) {
	for _, role := range []copybank.Role{copybank.Body, copybank.Closing} {
		for _, more := range w.linesOf(role) {
			text := one.text + " " + more.text
			if !more.own || more.facts&w.m.phones != 0 || more.facts&said != 0 && role == copybank.Body || w.used[text] > 0 || l.Length(one.text) > 45 || l.Length(text) > l.Hard {
				continue
			}
			w.used[text]++
			one.text, one.facts = text, one.facts|more.facts
			return one, said | more.facts
		}
	}
	return one, said
}

// required are the facts that a text for reading must not leave out.
func (w *writer) required() (m mask) {
	for i, f := range w.m.facts {
		switch f.Type {
		case brief.Offer, brief.Price, brief.Deadline, brief.When, brief.Place, brief.Code:
			m |= mask(1) << i
		case brief.Product, brief.Brand, brief.PreviousPrice, brief.Audience, brief.Benefit, brief.Proof, brief.CallToAction, brief.Contact, brief.Occasion, brief.Terms, brief.Sentence:
		}
	}
	return m
}

// running is the text of a post, a message or a notification: an opening, what
// must be said, what else speaks for the thing, and the action.
func (w *writer) running(l policy.Limit) string {
	room, ideal := l.Hard, l.Hard
	if l.Soft > 0 {
		room, ideal = min(l.Hard, max(l.Soft, 260)), l.Soft
	}
	if l.Channel == "push" {
		room = l.Soft
	}
	return w.compose(l, room, ideal, " ")
}

// compose joins sentences. Beyond the ideal length only what must be said is
// added.
func (w *writer) compose(l policy.Limit, room, ideal int, space string) string {
	var list []string
	length := func(more string) int { return l.Length(strings.Join(append(slices.Clone(list), more), space)) }
	opening := query{roles: []copybank.Role{copybank.Opening}, limit: l, room: room, leads: true, again: true, whole: true}
	if room < 110 {
		opening.roles = []copybank.Role{copybank.Description, copybank.Opening}
	}
	first := w.one(opening, copybank.Description)
	if len(first) == 0 {
		first = w.one(query{roles: []copybank.Role{copybank.Headline}, limit: l, room: room, again: true}, copybank.Closing)
	}
	said, _ := w.factsOf(first)
	for _, text := range first {
		if !endsSentence(text) {
			text += "."
		}
		list = append(list, text)
	}
	closing, hasClosing := w.pick(query{roles: []copybank.Role{copybank.Closing}, limit: l, room: max(20, room/3), again: true, whole: true, taken: list})
	end, action := 0, w.maskOf(brief.CallToAction)
	if hasClosing && length(closing.text) <= room {
		end = l.Length(closing.text) + len(space)
		said |= closing.facts
	} else {
		hasClosing = false
	}
	must := w.required()
	for {
		needs := must &^ said
		q := query{roles: []copybank.Role{copybank.Body, copybank.Description}, limit: l, room: room - length("") - end, said: said, taken: list, needs: needs, never: action, whole: true}
		if needs == 0 && length("")+end >= ideal {
			break
		}
		if q.room < 12 {
			break
		}
		found, ok := w.pick(q)
		if !ok && needs != 0 {
			if w.addPlainly(&list, &said, needs, room-end, l, space) {
				continue
			}
			must &^= needs
			continue
		}
		if !ok {
			break
		}
		list, said = append(list, found.text), said|found.facts
	}
	if hasClosing {
		list = append(list, closing.text)
	}
	list = w.withTerms(list, l, room, space)
	return strings.Join(list, space)
}

// addPlainly adds a fact as it is if no line says it.
func (w *writer) addPlainly(list *[]string, said *mask, needs mask, room int, l policy.Limit, space string) bool {
	for i, f := range w.m.facts {
		bit := mask(1) << i
		if needs&bit == 0 || strings.Contains(strings.Join(*list, " "), f.Text) {
			continue
		}
		text := sentenceCase(f.Text)
		if !endsSentence(text) {
			text += "."
		}
		if f.Type == brief.Code || f.Type == brief.Deadline || l.Length(strings.Join(append(slices.Clone(*list), text), space)) > room || w.gate.bans(text) {
			continue
		}
		*list, *said = append(*list, text), *said|bit
		return true
	}
	return false
}

// withTerms adds the conditions of an offer where they fit.
func (w *writer) withTerms(list []string, l policy.Limit, room int, space string) []string {
	for _, f := range w.m.set.All(brief.Terms, 0) {
		text := sentenceCase(bare(f.Text)) + "."
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
