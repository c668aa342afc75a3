package composer

import (
	"slices"
	"strings"
)

// family lists what a slot can choose from, as indexes.
func (f *facts) family(slot string) []int {
	stem := slotStem(slot)
	list, ok := f.families[stem]
	if !ok {
		if f.families == nil {
			f.families = map[string][]int{}
		}
		list = f.choices(stem)
		f.families[stem] = list
	}
	return list
}

func (f *facts) choices(stem string) []int {
	switch stem {
	case "anp":
		return slices.DeleteFunc(f.of(thing), f.lone)
	case "extra":
		return slices.DeleteFunc(f.of(thing), func(i int) bool { return f.lone(i) || !extras[strings.ToLower(headOf(f.benefits[i].text))] })
	case "no":
		return f.noes()
	case "adj":
		return f.of(trait)
	case "adj1":
		return f.attributes()
	case "vp", "vpp", "vpit":
		return f.of(deed)
	case "does":
		return slices.DeleteFunc(f.of(deed), func(i int) bool { return states[firstWord(f.benefits[i].text)] })
	case "aim":
		return slices.DeleteFunc(f.of(invite), func(i int) bool { return steps[firstWord(f.benefits[i].text)] })
	case "do":
		return f.of(invite)
	case "howdo":
		return slices.DeleteFunc(f.of(invite), func(i int) bool { return steps[firstWord(f.benefits[i].text)] })
	case "bit":
		return f.of(thing, trait, remark)
	case "gain":
		return f.gains()
	case "adjp":
		return slices.DeleteFunc(f.of(trait), func(i int) bool { return !strings.Contains(f.benefits[i].text, " ") })
	case "isproof":
		return slices.DeleteFunc(upTo(len(f.proofs)), func(i int) bool {
			return !hasAnyPrefix(f.proofs[i], "rated", "trusted", "used", "loved", "chosen", "recommended", "backed", "award")
		})
	case "proof":
		return upTo(len(f.proofs))
	case "say":
		return upTo(len(f.says))
	}
	return nil
}

func upTo(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

func (f *facts) noes() []int {
	return slices.DeleteFunc(f.of(thing), func(i int) bool { return !strings.HasPrefix(f.benefits[i].text, "no ") })
}

// attributes are traits of one word that can stand before the product.
func (f *facts) attributes() []int {
	return slices.DeleteFunc(f.of(trait), func(i int) bool {
		text := f.benefits[i].text
		return strings.Contains(text, " ") || strings.Contains(f.product.text, text) || text == "available" || text == "open"
	})
}

// extras are what comes with a thing.
var extras = set("warranty guarantee trial manual case charger kit card certificate cover cable bag box")

// steps are deeds that nobody has set their heart on.
var steps = set("upload know set move put bring meet get learn come pay")

// states are verbs that do not answer what something does.
var states = set("work fit weigh last come stay need cost open start be")

// gains are savings of time, which can be turned into a question.
func (f *facts) gains() []int {
	return slices.DeleteFunc(f.of(deed, invite), func(i int) bool { return !saved.MatchString(f.benefits[i].text) })
}

var saved = newPattern(`^save (?:you |teams |people )?((?:up to )?(?:\d+|two|three|five|ten)) ((?:hours|minutes|days).*)$`)

// slotStem and slotTurn split "np2" into "np" and 1.
func slotStem(slot string) string {
	if slot == "adj1" {
		return slot
	}
	return strings.TrimRight(slot, "23")
}

func slotTurn(slot string) int {
	switch {
	case strings.HasSuffix(slot, "2"):
		return 1
	case strings.HasSuffix(slot, "3"):
		return 2
	}
	return 0
}

// slot is the value of a slot. The turn chooses among several facts, the form
// how short the product is said.
func (f *facts) slot(slot string, turn, form int) (value string, used mask, ok bool) {
	if list := f.family(slot); list != nil {
		n := slotTurn(slot)
		if n >= len(list) {
			return "", 0, false
		}
		i := list[(turn+n)%len(list)]
		value, used = f.several(slotStem(slot), i)
		return value, used, value != ""
	}
	value, used = f.single(slot, form)
	return value, used, value != ""
}

func (f *facts) several(stem string, i int) (string, mask) {
	switch stem {
	case "proof", "isproof":
		return f.proofs[i], 1 << (proofBit + i)
	case "say":
		return strings.TrimSuffix(f.says[i].text, "."), 1<<(sayBit+i) | f.says[i].also
	}
	b, used := f.benefits[i], mask(1)<<(benefitBit+i)
	switch stem {
	case "anp", "extra":
		return b.inSentence(), used
	case "vp":
		subject, plural := f.subject()
		if subject == "" {
			return "", 0
		}
		return b.conjugate(plural), used
	case "vpit", "vpp":
		return b.conjugate(stem == "vpit" && f.self || f.product.plural && (stem == "vpp" || !f.ownName)), used
	case "gain":
		return saved.ReplaceAllString(b.text, "$1 more $2"), used
	case "do", "aim", "howdo", "adj", "adj1", "adjp":
		return b.text, used
	}
	return b.fragment(), used
}

func (f *facts) single(slot string, form int) (string, mask) {
	p := f.product
	if p.text != "" && form < len(f.forms) {
		p.text = f.forms[form]
	}
	switch slot {
	case "name":
		return f.name, usesName
	case "brand":
		return f.brand, usesName
	case "product":
		return p.text, usesProduct
	case "aproduct":
		if !f.counted() {
			return "", 0
		}
		return p.withA(), usesProduct
	case "theproduct":
		return withNew(p.withThe(), f.fresh), usesProduct
	case "subj":
		text, _ := f.subject()
		if text == f.name {
			return text, usesName
		}
		return text, usesProduct
	case "is":
		_, plural := f.subject()
		return choose(plural, "are", "is"), 0
	case "pis":
		return choose(p.plural, "are", "is"), 0
	case "it":
		return f.pronoun("we", "they", "it"), 0
	case "it's":
		return f.pronoun("we're", "they're", "it's"), 0
	case "ournew":
		return prefixed(choose(f.fresh, "our new ", "our "), p.text), usesProduct
	case "costs":
		return f.costs()
	case "actby":
		return f.actBy()
	case "offer", "getoffer", "offeron":
		return f.offerSlot(slot, p)
	case "deadline":
		return f.deadline.adverb, usesDeadline
	case "ends":
		return f.deadline.ends, usesDeadline
	case "price":
		return f.price, usesPrice
	case "fromprice":
		if !strings.Contains(f.price, " ") {
			return "", 0
		}
		return f.price, usesPrice
	case "atprice":
		if strings.HasPrefix(f.price, "from ") {
			return " " + f.price, usesPrice
		}
		return prefixed(", ", f.price), usesPrice
	case "ask":
		return f.ask, usesAsk
	case "comes":
		_, plural := f.subject()
		return choose(plural, "come", "comes"), 0
	case "audience":
		return f.audience, usesAudience
	case "place":
		return f.place, usesPlace
	case "when":
		return f.when, usesWhen
	case "where":
		return f.where, usesWhere
	case "runs":
		if !dayRange.MatchString(f.when) {
			return "", 0
		}
		return "runs " + f.when, usesWhen
	case "starts":
		if day, ok := strings.CutPrefix(f.when, "from "); ok && !dayRange.MatchString(day) {
			return "starts " + day, usesWhen
		}
		return "", 0
	case "pain":
		return f.pain, usesPain | f.painFrom
	case "occasion":
		return f.occasion, usesOccasion
	}
	return "", 0
}

// counted reports whether it is known which article the product takes.
func (f *facts) counted() bool {
	head := strings.ToLower(headOf(f.product.text))
	return f.product.plural || f.product.mass || f.articled || countable[head] || bought[head] || selfNouns[head] || kindOfWord(head) != "" || firms[head] || wrappers[head] || hasAnySuffix(head, "er", "or", "ist", "kit", "ant") || strings.Contains(f.product.text, " and ")
}

// pronoun is how to go on about the thing.
func (f *facts) pronoun(us, they, it string) string {
	switch {
	case f.self:
		return us
	case f.product.plural && !f.ownName:
		return they
	}
	return it
}

// costs says the price as a sentence.
func (f *facts) costs() (string, mask) {
	switch sum, from := strings.CutPrefix(f.price, "from "); {
	case f.price == "":
		return "", 0
	case strings.Contains(f.price, " for ") || strings.Contains(sum, " from "):
		return f.price, usesPrice
	case from:
		return "prices start at " + sum, usesPrice
	case f.self || f.product.text == "" && !f.ownName:
		return "priced at " + f.price, usesPrice
	}
	return f.pronoun("we", "they cost ", "it costs ") + f.price, usesPrice
}

// deeds are the verbs of the calls to action that can have a deadline.
var deeds = map[string]string{
	"apply_now": "apply", "register_now": "register", "order_now": "order", "book_now": "book", "sign_up": "sign up", "shop_now": "order", "donate_now": "give", "buy_tickets": "get your tickets", "subscribe": "subscribe", "get_quote": "ask for your quote",
}

// actBy is the call to action with the deadline.
func (f *facts) actBy() (string, mask) {
	verb := deeds[f.cta]
	if verb == "" || !hasAnyPrefix(f.deadline.adverb, "by", "before") && (len(f.offers) > 0 || !strings.HasPrefix(f.deadline.adverb, "until")) {
		return "", 0
	}
	return verb + " " + strings.Replace(f.deadline.adverb, "until", "by", 1), usesDeadline | usesAsk
}

func (f *facts) offerSlot(slot string, p noun) (string, mask) {
	if len(f.offers) == 0 {
		return "", 0
	}
	o := f.offers[0]
	switch {
	case slot == "offer":
		return o.text, 1 << offerBit
	case slot == "getoffer":
		return o.do, 1 << offerBit
	case o.on && p.text != "":
		return o.text + " " + choose(p.plural || p.mass, "", "the ") + p.text, 1<<offerBit | usesProduct
	}
	return "", 0
}

func prefixed(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}

func withNew(s string, fresh bool) string {
	if rest, ok := strings.CutPrefix(s, "the "); ok && fresh {
		return "the new " + rest
	}
	return s
}
