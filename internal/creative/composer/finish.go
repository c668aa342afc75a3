package composer

import (
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
	// Who wrote a book does not sell it.
	if head := strings.ToLower(headOf(f.product.text)); written[head] && f.brand != "" && (!f.ownName || f.brand != f.name) && plainName(b.Brand.Name) == "" {
		f.product.text += " by " + f.brand
		f.name, f.brand = choose(f.name == f.brand, "", f.name), ""
	}
	if f.kind != event {
		f.where = ""
	} else if f.brand != "" && f.where != "" && strings.HasSuffix(f.where, " "+f.brand) && plainName(b.Brand.Name) == "" {
		// Where an event is held is not who holds it.
		if f.name == f.brand {
			f.name = ""
		}
		f.brand = ""
	}
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
		r.add(benefit{choose(strings.HasPrefix(o.text, "free") && plainNoun(o.text), thing, remark), o.text})
	}
	if f.kind == event && f.when == "" && strings.HasPrefix(f.deadline.adverb, "this ") && len(f.offers) == 0 {
		f.when, f.deadline = f.deadline.adverb, deadline{}
	}
	if f.cta == "" {
		f.cta = r.chooseAction(b)
	}
	for _, c := range r.calls {
		if c.code == f.cta && f.ask == "" && len(c.text) <= 50 && !slices.Contains(closings[f.cta], c.text+".") && !slices.Contains(buttons[f.cta], c.text) && len(strings.Fields(c.text)) > 1 && !hasAnySuffix(c.text, " now", " today") {
			f.ask = c.text
		}
	}
	r.askToCall()
	// What the brief asks for in passing is still worth saying.
	for _, c := range r.calls {
		if c.code != f.cta && len(strings.Fields(c.text)) > 3 {
			r.say(c.text)
		}
	}
	if f.pain == "" {
		for i, b := range f.benefits {
			if x, ok := strings.CutPrefix(b.text, "no "); ok && b.kind == thing && len(strings.Fields(x)) < 4 && trimTail(x) == x && headOf(x) == x[strings.LastIndexByte(x, ' ')+1:] && burdens[headOf(x)] {
				f.pain, f.painFrom = pluralOf(x), 1<<(benefitBit+i)
				break
			}
		}
	}
}

// askToCall puts the phone number into the call to action, in the brief's own
// words where these are one.
func (r *reader) askToCall() {
	if r.phone.phone == "" {
		return
	}
	for _, c := range r.calls {
		if c.code == r.f.cta && c.text == upperFirst(r.phone.without) && len(r.phone.clause) <= 60 {
			r.f.ask = upperFirst(r.phone.clause)
			return
		}
	}
	if r.f.cta == "call_now" {
		r.f.ask = "Call " + r.phone.phone
	}
}

// written are works that have an author.
var written = set("collection anthology novel book memoir album film thriller cookbook")

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

// fallBack makes the most of a prompt that names no thing.
func (r *reader) fallBack() {
	f := r.f
	if f.name != "" || len(f.says) > 0 || len(f.of(invite)) > 0 {
		return
	}
	for i, b := range f.benefits {
		if b.kind == thing && !hasAnyPrefix(b.text, "no ", "free ") && !numeric(b.text[:1]) {
			f.product = newNoun(bare(b.text))
			f.benefits = slices.Delete(f.benefits, i, i+1)
			return
		}
	}
	if f.occasion != "" {
		f.product, f.occasion = newNoun(f.occasion), ""
		return
	}
	if len(f.benefits) > 0 || len(f.offers) > 0 {
		return
	}
	var words []string
	for word := range strings.FieldsSeq(injection.ReplaceAllString(r.all, " ")) {
		word = strings.Trim(word, `.,;:!?"'()/&%$€£+-•`)
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
	if strings.Contains(text, ",") {
		return list
	}
	words := strings.Fields(text)
	for i, word := range words {
		if i > 0 && prepositions[strings.ToLower(word)] && word != "of" {
			words = words[:i]
			list = append(list, strings.Join(words, " "))
			break
		}
	}
	for len(words) > 1 && len(list) < 4 && (isTrait(words[0]) || adjectives[words[0]] || proper[strings.ToLower(words[0])] != "") && words[1] != "and" {
		words = words[1:]
		list = append(list, strings.Join(words, " "))
	}
	return list
}

// kindOf looks at the product from its head backwards, then at who sells it.
// The whole prompt may mention anything; only a cause shows by it.
func (r *reader) kindOf(b *creative.Brief) kind {
	head := headOf(r.f.product.text)
	if before, ok := strings.CutSuffix(r.f.product.text, " "+head); ok && adjectives[strings.ToLower(head)] {
		head = headOf(before)
	}
	if openTo.MatchString(r.f.product.text) {
		return event
	}
	if bedrooms.MatchString(r.f.product.text) {
		return property
	}
	if yardSale.MatchString(r.f.product.text) {
		return event
	}
	if strings.EqualFold(head, "game") && !hinted(r.all, "mobile|app|phone|pc|console|steam|download") {
		return goods
	}
	if k := kindOfWord(head); k == property && hinted(r.all, "per night|a night|short break|holiday let|sleeps|weekends from") {
		return travel
	} else if k != "" {
		return k
	}
	if r.f.product.text == "" && strings.HasPrefix(strings.ToLower(r.first), "learn") {
		return course
	}
	if r.f.product.text == "" && gives.MatchString(r.all) {
		return cause
	}
	// A coffee subscription is coffee, a coffee table is not.
	words := strings.Fields(r.f.name + " " + r.f.brand)
	if wrappers[strings.ToLower(head)] || r.f.place != "" && slices.ContainsFunc(strings.Fields(r.f.product.text), func(word string) bool { return kindOfWord(word) == service }) {
		words = append(words, strings.Fields(r.f.product.text)...)
	}
	if r.f.product.text == "" {
		words = slices.Concat(strings.Fields(r.first), words)
	}
	for _, word := range slices.Backward(words) {
		if k := kindOfWord(word); k != "" && k != property && k != software && (k != event && k != cause || !shops[strings.ToLower(head)]) && (k != event || r.f.when != "" || r.f.name != "" || wrappers[strings.ToLower(head)]) {
			return k
		}
	}
	if firms[strings.ToLower(head)] {
		return service
	}
	if b.Objective == "donations" || gives.MatchString(r.all) {
		return cause
	}
	// From here on it is a guess, which no call to action may rest on.
	r.guessed, r.f.guessed = true, true
	low := strings.ToLower(strings.TrimSuffix(head, "s"))
	switch {
	case eachMonth.MatchString(r.f.price) && r.f.place == "", digital.MatchString(r.all):
		return software
	case r.f.occasion != "", tangible.MatchString(r.all) && (r.f.product.text != "" || r.f.ownName):
		return goods
	case r.f.product.text == "" && r.f.price == "", hasAnySuffix(low, "er", "or", "ist", "ian", "ant", "sweep"), r.f.place != "" && r.f.price == "" && !r.f.self:
		return service
	}
	return goods
}

// openTo is an event by its name.
var openTo = newPattern(`(?i)^open (?:day|house|evening|studio)\b`)

var yardSale = newPattern(`(?i)\b(?:garage|yard|bake|jumble|rummage|car boot) sale$`)

// bedrooms are counted in homes only.
var bedrooms = newPattern(`(?i)\b(?:\d|one|two|three|four|five)[- ]bed(?:room)?s?\b`)

// tangible are signs of a thing that is sold.
var tangible = newPattern(`(?i)\b(?:ships?|shipped|shipping|delivery|delivered|warranty|returns|weighs?|made (?:in|from|of|with)|kg|grams?|g|cm|mm|washable|waterproof|battery|sizes|colou?rs|assembled|charge|wireless|usb|lumens|\d-pack|scents|flavou?rs|handmade|order|shop|store)\b`)

// eachMonth is a price that comes again, digital are signs of software.
var (
	eachMonth = newPattern(`(?i)\b(?:month|year|user|seat|employee|worker|agent)\b`)
	digital   = newPattern(`(?i)\b(?:all your devices|logins?|browser|dashboard|integrates|syncs|in the cloud|no code|ios|android)\b`)
)

// firms do something for their customers, whatever it is.
var firms = set("business company firm agency provider specialists experts contractor contractors")

// wrappers are nouns that say little of what is inside.
var wrappers = set("subscription box club company business provider experts specialists team brand line range delivery firm shop store place house experience pass membership starter")

var gives = newPattern(`(?i)\b(?:donate|donations?|charity|nonprofit|non-profit|help us)\b`)

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
	goods: "shop_now", food: "order_now", software: "get_started", service: "contact_us", event: "learn_more", cause: "donate_now", course: "register_now", travel: "book_now", property: "contact_us", media: "learn_more",
}

// wanted are those of campaign objectives.
var wanted = map[string]string{
	"leads": "sign_up", "lead_generation": "sign_up", "signups": "sign_up", "app_installs": "download", "installs": "download", "traffic": "learn_more", "awareness": "learn_more", "reach": "learn_more", "engagement": "learn_more",
	"video_views": "watch_now", "donations": "donate_now", "event_registrations": "register_now",
}

// weak are calls to action that a brief mentions in passing.
var weak = set("get_directions learn_more")

func (r *reader) chooseAction(b *creative.Brief) string {
	passing := ""
	for _, c := range r.calls {
		if c.code != "" && !weak[c.code] {
			return c.code
		}
		if passing == "" {
			passing = c.code
		}
	}
	if r.phone.phone != "" && b.LandingURL == "" && b.Objective == "" {
		return "call_now"
	}
	for _, a := range actions {
		if unbooked.MatchString(r.all) && (a.code == "book_now" || a.code == "register_now") {
			continue
		}
		if a.code == "subscribe" && !a.pattern.MatchString(r.f.product.text+" "+r.first) || a.code == "subscribe" && hinted(r.all, "no subscription") {
			continue
		}
		if (a.kinds == nil || slices.Contains(a.kinds, r.f.kind)) && hinted(r.all, a.hints) && a.pattern.MatchString(r.all) {
			return a.code
		}
	}
	if code := wanted[strings.ToLower(b.Objective)]; code != "" {
		return code
	}
	switch {
	case passing == "get_directions" && !r.f.self && r.f.place == "" && r.f.kind == goods:
	case passing != "" && r.f.kind != cause:
		return passing
	case r.f.self && r.f.kind == food && (r.f.place != "" || len(r.f.offers) == 0):
		return "get_directions"
	}
	if r.f.kind == goods && r.f.self && !shops[strings.ToLower(headOf(r.f.product.text))] {
		return "learn_more"
	}
	// What is for sale shows by what is said about it.
	if sells := r.f.kind == goods && (r.f.occasion != "" || tangible.MatchString(r.all) || r.buyable()); r.guessed && !r.f.self && r.f.kind != software && !sells {
		return "learn_more"
	}
	if code := usual[r.f.kind]; code != "register_now" || !unbooked.MatchString(r.all) {
		return code
	}
	return "learn_more"
}

// shops are where one shops.
var shops = set("shop store boutique brand florist bakery deli pharmacy farm winery brewery roastery")

// buyable reports a thing that people buy.
func (r *reader) buyable() bool {
	head := strings.ToLower(headOf(r.f.product.text))
	return bought[head] || bought[strings.TrimSuffix(head, "s")] || r.f.product.text == "" && r.f.ownName && r.f.price != "" || r.f.product.plural && r.f.place == "" && (hinted(r.all, "$|€|£") || len(r.f.benefits)+len(r.f.says) < 2)
}

// unbooked says that one can just come.
var unbooked = newPattern(`(?i)\bno (?:registration|booking|appointment|reservation)s? (?:necessary|needed|required)\b|\bno need to (?:register|book)\b|\bjust (?:turn|show) up\b`)
