package composer

import (
	"regexp"
	"slices"
	"strings"

	"fanfare/internal/creative"
)

// finish fills in what follows from the rest.
func (r *reader) finish(b *creative.Brief) {
	f := r.f
	if f.product.text == "" {
		r.fallBack()
	}
	f.kind = r.kindOf(b)
	// The title of an event is not who holds it.
	if f.brand == "" && f.kind != event {
		f.brand = f.name
	}
	f.self = f.self || selfNouns[strings.ToLower(headOf(f.product.text))]
	f.forms = shortForms(f.product.text)
	if f.product.text == "" {
		f.forms = nil
	}
	for i := range f.offers {
		f.offers[i].on = f.offers[i].on && !f.self
	}
	slices.SortStableFunc(f.offers, func(a, b offer) int { return rankOffer(a) - rankOffer(b) })
	for _, o := range f.offers[min(1, len(f.offers)):] {
		if strings.Contains(o.text, "free") && !strings.HasPrefix(o.text, "buy") {
			r.add(benefit{thing, o.text})
		}
	}
	if f.kind == event && f.when == "" && f.deadline.adverb != "" && len(f.offers) == 0 && strings.HasPrefix(f.deadline.adverb, "this ") {
		f.when, f.deadline = f.deadline.adverb, deadline{}
	}
	if f.cta == "" {
		f.cta = r.chooseAction(b)
	}
	if f.pain == "" {
		for i, b := range f.benefits {
			if x, ok := strings.CutPrefix(b.text, "no "); ok && b.kind == thing && len(strings.Fields(x)) < 4 && (isPlural(headOf(x)) || burdens[headOf(x)]) {
				f.pain, f.painFrom = pluralOf(x), 1<<(benefitBit+i)
				break
			}
		}
	} else {
		f.pain = unstart(f.pain, f.name)
	}
}

func rankOffer(o offer) int {
	switch {
	case o.on, strings.Contains(o.text, "off"):
		return 0
	case strings.HasPrefix(o.text, "buy"), o.do == "", strings.Contains(o.text, "first"):
		return 1
	case strings.Contains(o.text, "shipping"), strings.Contains(o.text, "delivery"), strings.Contains(o.text, "returns"), strings.Contains(o.text, "parking"):
		return 3
	}
	return 2
}

// ourThing is the nearest that a sentence comes to naming the product.
var ourThing = regexp.MustCompile(`\b[Oo]ur (?:new )?([a-z-]+(?: (?:a|an|the|is|are|and|for|to|with|in|on|at|by|of)\b| [a-z-]+)?)`)

// fallBack makes the most of a prompt that names no thing.
func (r *reader) fallBack() {
	f := r.f
	if m := ourThing.FindStringSubmatch(r.all); m != nil && !isVerb(headOf(trimTail(m[1]))) {
		f.product = newNoun(trimTail(m[1]))
		return
	}
	if f.name != "" && len(f.of(invite)) > 0 {
		return
	}
	// Who says what they do needs no other name for it.
	if len(f.of(clause)) > 0 {
		f.self = true
		return
	}
	for i, b := range f.benefits {
		if b.kind == thing && !hasAnyPrefix(b.text, "no ", "free ") && !numeric(b.text[:1]) {
			f.product = newNoun(bare(b.text))
			f.benefits = slices.Delete(f.benefits, i, i+1)
			return
		}
	}
	if f.kind = r.kindOf(&creative.Brief{}); f.kind == cause && len(f.benefits) > 0 {
		return
	}
	if f.occasion != "" {
		f.product, f.occasion = newNoun(f.occasion), ""
		return
	}
	if f.name != "" || len(f.benefits) > 0 || len(f.offers) > 0 {
		return
	}
	var words []string
	for word := range strings.FieldsSeq(injection.ReplaceAllString(r.all, " ")) {
		word = strings.Trim(word, `.,;:!?"'()/&%$€£+-•`+gap)
		if word != "" && len(words) < 4 && !meta.MatchString(word) {
			words = append(words, word)
		}
	}
	if text := trimTail(strings.Join(words, " ")); text != "" {
		f.product = newNoun(lowerStart(text))
	}
}

// shortForms drops what follows the head, then adjectives in front of it. Other
// words in front may be half of a name: an oat milk latte is no milk latte.
func shortForms(text string) []string {
	list := []string{text}
	words := strings.Fields(text)
	for i, word := range words {
		if i > 0 && prepositions[strings.ToLower(word)] {
			words = words[:i]
			list = append(list, strings.Join(words, " "))
			break
		}
	}
	for len(words) > 1 && len(list) < 4 && (isTrait(words[0]) || proper[strings.ToLower(words[0])] != "" || words[0] == "small") {
		words = words[1:]
		list = append(list, strings.Join(words, " "))
	}
	return list
}

// kindOf looks at the product from its head backwards, then at who sells it.
// The whole prompt may mention anything; only a cause shows by it.
func (r *reader) kindOf(b *creative.Brief) kind {
	head := headOf(r.f.product.text)
	if k := kindOfWord(head); k != "" {
		return k
	}
	words := slices.Concat(strings.Fields(r.f.brand), strings.Fields(r.f.product.text))
	if r.f.product.text == "" {
		words = slices.Concat(strings.Fields(r.all), words)
	}
	for _, word := range slices.Backward(words) {
		if k := kindOfWord(word); k != "" {
			return k
		}
	}
	if b.Objective == "donations" || gives.MatchString(r.all) {
		return cause
	}
	return goods
}

var gives = regexp.MustCompile(`(?i)\b(?:donate|donations?|charity|nonprofit|non-profit|help us)\b`)

func kindOfWord(word string) kind {
	word = strings.ToLower(strings.Trim(word, ".,"))
	for _, k := range kindWords {
		if k.words[word] {
			return k.kind
		}
	}
	return ""
}

// usual are the calls to action of the kinds of things.
var usual = map[kind]string{
	goods: "shop_now", food: "order_now", software: "get_started", service: "contact_us", event: "learn_more", cause: "donate_now", course: "sign_up", travel: "book_now", property: "contact_us",
}

// wanted are those of campaign objectives.
var wanted = map[string]string{
	"leads": "sign_up", "lead_generation": "sign_up", "signups": "sign_up", "app_installs": "download", "installs": "download", "traffic": "learn_more", "awareness": "learn_more", "reach": "learn_more", "engagement": "learn_more",
	"video_views": "watch_now", "donations": "donate_now", "event_registrations": "register_now",
}

func (r *reader) chooseAction(b *creative.Brief) string {
	for _, a := range actions {
		if (a.kinds == nil || slices.Contains(a.kinds, r.f.kind)) && hinted(r.all, a.hints) && a.pattern.MatchString(r.all) {
			return a.code
		}
	}
	if code := wanted[strings.ToLower(b.Objective)]; code != "" {
		return code
	}
	if r.f.self && r.f.kind == food {
		return "get_directions"
	}
	return usual[r.f.kind]
}
