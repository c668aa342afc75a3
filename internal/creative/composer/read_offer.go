package composer

import (
	"strings"
)

// takeOffer reads a segment that is a reduction or a gift, with its deadline.
func (r *reader) takeOffer(s string) bool {
	if m := midway.FindStringSubmatch(s); m != nil {
		s = m[1] + " " + m[3] + " " + m[2]
	}
	text, due, dated := cutDeadline(s)
	if m := saleName.FindStringSubmatch(text); m != nil && len(m[0]) == len(text) {
		if r.f.occasion == "" {
			r.f.occasion = occasion(m[1])
		}
		r.due(due, dated)
		return true
	}
	o, ok := r.percent(text)
	if !ok {
		o, ok = freeOf(text)
	}
	if !ok {
		if m := fixedOffer.FindStringSubmatch(text); m != nil {
			o, ok = offer{text: strings.Replace(strings.Replace(lowerStart(text), " is ", " ", 1), " are ", " ", 1)}, true
			if hasAnyPrefix(o.text, "buy") {
				o.do = o.text
			}
			if hasAnyPrefix(o.text, "first") {
				o.do, o.noun = "get your "+o.text, "your "+o.text
			}
		}
	}
	if !ok {
		return false
	}
	r.due(due, dated)
	for _, known := range r.f.offers {
		if strings.EqualFold(known.text, o.text) {
			return true
		}
	}
	if len(r.f.offers) < mostOffers {
		r.f.offers = append(r.f.offers, o)
	}
	return true
}

func (r *reader) due(d deadline, known bool) {
	if known && r.f.deadline.adverb == "" {
		r.f.deadline = d
	}
}

// midway is a deadline with a place behind it.
var midway = newPattern(`(?i)^(.+?) ((?:this|today)(?: weekend| week| month)?(?: only)?) ((?:at|in|on) .+)$`)

// occasion is the name of a sale, with the capitals that it keeps.
func occasion(s string) string {
	s = strings.TrimSpace(s)
	if hasAnyPrefix(s, "Black", "Cyber", "Mother", "Father", "New") {
		return s
	}
	return lowerStart(s)
}

// percent reads "up to 40% off linen dresses". Where nothing else was named,
// what is reduced is what is advertised.
func (r *reader) percent(s string) (offer, bool) {
	if !numeric(s) {
		return offer{}, false
	}
	m := percentOff.FindStringSubmatch(s)
	if m == nil {
		if m = saveOff.FindStringSubmatch(s); m == nil || m[3] != "" && !hasAnyPrefix(m[3], "on ", "off ") {
			return offer{}, false
		}
	}
	more, sum, rest := m[1], m[2], strings.TrimSpace(m[3])
	if len(strings.Fields(rest)) > 7 || predicateAt(strings.Fields(rest)) >= 0 {
		return offer{}, false
	}
	more = strings.TrimPrefix(strings.TrimPrefix(strings.ToLower(strings.TrimSpace(more)), "an "), "a ")
	for _, lead := range []string{"on ", "off ", "for "} {
		if t, ok := strings.CutPrefix(rest, lead); ok && audienceWords(strings.Fields(t)) == 0 {
			rest = t
		}
	}
	o := offer{text: squeeze(more + " " + sum + " off"), on: rest == ""}
	if rest != "" {
		if what := bareAll(rest); r.f.product.text == "" && !reserved.MatchString(rest) {
			name := r.f.name
			if r.head(what, nil); r.f.product.text != "" {
				o.on = true
				if r.f.product.text != what && r.f.name == name && r.f.audience == "" && r.f.place == "" {
					o.on = false
				}
				return o.with(more), true
			}
		}
		o.text += " " + rest
	}
	return o.with(more), true
}

// with completes an offer by what one does about it.
func (o offer) with(more string) offer {
	article := ""
	if hasAnyPrefix(more, "extra", "additional") {
		article = "an "
	}
	o.do, o.noun = "get "+article+o.text, article+o.text
	return o
}

// bareAll drops what only says that all of something is meant.
func bareAll(s string) string {
	for _, lead := range []string{"all of our ", "all our ", "all the ", "all ", "our ", "the "} {
		if rest, ok := strings.CutPrefix(s, lead); ok {
			return rest
		}
	}
	return s
}

// freeOf reads "free shipping over $50" and "7-day free trial".
func freeOf(s string) (offer, bool) {
	if !hinted(s, "free") {
		return offer{}, false
	}
	m := freeThing.FindStringSubmatch(s)
	if m == nil || len(strings.Fields(m[1])) > 9 || predicateAt(strings.Fields(m[1])) >= 0 {
		return offer{}, false
	}
	text := lowerStart(m[1])
	head := strings.ToLower(headOf(text))
	if !givenAway[head] {
		return offer{}, false
	}
	o := offer{text: text}
	switch {
	case head == "trial":
		o.do, o.noun = "start your "+text, "a "+text
	case bookable[head]:
		o.do, o.noun = "book your "+text, "a "+text
	case head == "plan":
		o.do, o.noun = "start on the "+text, "a "+text
	case isPlural(head) || mass[head]:
		o.do, o.noun = "get "+text, text
	case strings.Contains(text, " your "):
		o.do, o.noun = "get "+text, text
	default:
		o.do, o.noun = "get your "+text, article(text)+" "+text
	}
	return o, true
}

var (
	// bookable are gifts that one makes a date for.
	bookable = set("consultation session lesson class demo assessment inspection viewing checkup check-up valuation tasting call")
	// givenAway are things that are an offer when they are free.
	givenAway = set(`trial shipping delivery consultation consultations quote quotes estimate estimates sample samples demo demos class lesson session plan tasting entry admission gift guide ebook e-book checklist audit assessment
inspection inspections parking breakfast coffee dessert drink starter ticket tickets domain mats installation setup checkup check-up valuation viewing upgrade month months returns refills pickup call fitting alterations wifi`)
)
