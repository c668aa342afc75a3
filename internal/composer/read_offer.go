package composer

import (
	"regexp"
	"strings"
)

// takeOffers reads reductions and gifts out of a sentence.
func (r *reader) takeOffers(s string) string {
	s = take(s, numeric(s) && hinted(s, "first"), firstOff, func(m []string) bool {
		text := m[2] + " off your first " + strings.ToLower(m[1])
		r.offer(offer{text: text, do: "get " + text, noun: text})
		return true
	})
	s = take(s, hinted(s, "free for"), freeFor, func(m []string) bool {
		text := strings.ToLower(m[1])
		r.offer(offer{text: text, do: "try it " + text})
		return true
	})
	s = take(s, numeric(s) && hinted(s, "off|discount|cash|reduction"), percentOff, func(m []string) bool {
		sum := strings.ReplaceAll(strings.TrimSpace(m[2]), " percent", "%")
		more := strings.ToLower(strings.TrimSpace(m[1]))
		more = strings.TrimPrefix(strings.TrimPrefix(more, "an "), "a ")
		what := strings.ToLower(m[3])
		if strings.HasPrefix(what, "discount") || what == "reduction" {
			what = "off"
		}
		on := strings.TrimSpace(m[4])
		for _, lead := range []string{"on ", "for "} {
			on = strings.TrimPrefix(on, lead)
		}
		text := squeeze(more + " " + sum + " " + what + " " + on + m[5])
		r.offer(offer{text: text, do: "get " + an(more) + text, noun: an(more) + text, on: on == "" && m[5] == "" && what == "off"})
		return true
	})
	s = take(s, numeric(s) && hinted(s, "save"), saveOff, func(m []string) bool {
		on := strings.TrimPrefix(strings.TrimSpace(m[3]), "on ")
		text := squeeze(strings.ToLower(m[1]) + " " + strings.ReplaceAll(m[2], " percent", "%") + " off " + on)
		r.offer(offer{text: text, do: "get " + text, noun: text, on: on == ""})
		return true
	})
	s = take(s, hinted(s, "first"), firstFree, func(m []string) bool {
		text := strings.ToLower(strings.ReplaceAll(strings.ReplaceAll(m[1], " is ", " "), " are ", " "))
		r.offer(offer{text: text, do: "get your " + text, noun: "your " + text})
		return true
	})
	s = take(s, hinted(s, "buy |bogo|for 1|for 2|for-1|for-2|for one|for two|half"), bogo, func(m []string) bool {
		text := strings.ToLower(m[1])
		o := offer{text: text}
		switch {
		case text == "bogo":
			o = offer{text: "buy one, get one", do: "buy one, get one"}
		case strings.HasPrefix(text, "buy"):
			if before, after, ok := strings.Cut(strings.ReplaceAll(text, " and get", " get"), " get"); ok {
				o.text = strings.TrimSuffix(before, ",") + ", get" + after
			}
			o.do = o.text
		}
		o.text += m[2]
		if o.do != "" {
			o.do += m[2]
		}
		r.offer(o)
		return true
	})
	s = take(s, hinted(s, "free"), freeThing, func(m []string) bool {
		text := trimTail(m[1])
		r.offer(offer{text: text, do: freeDeed(text), noun: newNoun(lowerStart(text)).withA()})
		return true
	})
	s = take(s, hinted(s, "early"), earlyBird, func(m []string) bool {
		text := lowerFirst(m[1])
		if i := strings.IndexAny(text, "$€£¥₹0123456789"); i > 0 && !hasAnySuffix(strings.TrimSpace(text[:i]), "from", "at", "for") {
			text = strings.TrimRight(text[:i], " :") + " for " + text[i:]
		}
		r.offer(offer{text: text, do: "get " + text, noun: text})
		return true
	})
	return take(s, hinted(s, "sale|deal|clearance"), saleName, func(m []string) bool {
		if r.f.occasion == "" {
			r.f.occasion = strings.TrimSpace(m[1])
			if !hasAnyPrefix(r.f.occasion, "Black", "Cyber", "Mother", "Father", "New") {
				r.f.occasion = lowerStart(r.f.occasion)
			}
		}
		return true
	})
}

// an is the article of "an extra 20% off".
func an(more string) string {
	if hasAnyPrefix(more, "extra", "additional") {
		return "an "
	}
	return ""
}

// freeDeed is what one does about a free thing.
func freeDeed(text string) string {
	low := strings.ToLower(text)
	head := strings.ToLower(headOf(text))
	switch head {
	case "trial":
		return "start your " + low
	case "consultation", "session", "lesson", "class", "demo", "assessment", "inspection", "viewing", "checkup", "check-up", "valuation", "tasting":
		return "book your " + low
	case "quote", "estimate", "sample", "guide", "ebook", "gift", "ticket", "tickets", "audit", "checklist":
		return "get your " + low
	case "plan":
		return "start on the " + low
	}
	return "get " + newNoun(low).withA()
}

func (r *reader) offer(o offer) {
	o.text = lowerFirst(o.text)
	for _, known := range r.f.offers {
		if strings.EqualFold(known.text, o.text) {
			return
		}
	}
	if len(r.f.offers) < mostOffers {
		r.f.offers = append(r.f.offers, o)
	}
}

// takeTimes reads deadlines and dates.
func (r *reader) takeTimes(s string) string {
	s = take(s, hinted(s, "until|till|thr|by |before|end|expir|clos"), dueBy, func(m []string) bool {
		lead, word, date := strings.ToLower(m[1]), strings.ToLower(firstWord(m[2])), trimTail(m[3])
		// Opening hours are no deadline.
		if strings.HasSuffix(strings.TrimSpace(lead), "open") && strings.Contains(date, "midnight") || r.f.deadline.adverb != "" {
			return false
		}
		date = strings.TrimPrefix(date, "on ")
		switch {
		case hasAnyPrefix(word, "until", "till", "end", "expir"):
			r.f.deadline = deadline{"until " + date, "ends " + date}
		case hasAnyPrefix(word, "thr"):
			r.f.deadline = deadline{"through " + date, "ends " + date}
		case hasAnyPrefix(word, "clos"):
			r.f.deadline = deadline{"until " + date, "closes " + date}
		default:
			r.f.deadline = deadline{word + " " + date, ""}
		}
		return true
	})
	s = take(s, hinted(s, "only|this |limited|while|next"), onlyNow, func(m []string) bool {
		text, low := strings.TrimSpace(m[2]), strings.ToLower(m[2])
		only := strings.HasSuffix(low, "only")
		switch {
		case strings.Contains(low, "limited time"):
			text = "for a limited time"
		case hasAnyPrefix(low, "while", "this", "for"):
			text = lowerFirst(text)
		case strings.HasPrefix(low, "the next"):
			text = "for the next" + text[len("the next"):]
		case !only && !strings.Contains(strings.ToLower(m[1]), "only"):
			return false
		case !only:
			text += " only"
		}
		if r.f.deadline.adverb == "" {
			r.f.deadline = deadline{adverb: text}
		}
		return true
	})
	return take(s, numeric(s) || hinted(s, "day"), onDate, func(m []string) bool {
		if at := strings.Index(s, m[0]); at > 0 && hasAnySuffix(strings.TrimSpace(s[:at]), "every", "each") || recurring.MatchString(m[2]) {
			return false
		}
		if r.f.when != "" || r.f.product.text != "" && kindOfWord(headOf(r.f.product.text)) != event && strings.TrimSpace(s) != strings.TrimSpace(m[0]) && !hasAnyPrefix(strings.ToLower(m[1]), "start", "open", "launch") {
			return false
		}
		lead := strings.ToLower(strings.TrimSpace(m[1]))
		switch {
		case lead == "from", hasAnyPrefix(lead, "start", "open", "launch"):
			lead = "from"
		case lead == "this":
		case hasAnyPrefix(strings.ToLower(m[2]), "this", "next"):
			lead = ""
		case dayRange.MatchString(m[2]):
			lead = ""
		default:
			lead = "on"
		}
		r.f.when = squeeze(strings.TrimSpace(lead+" "+m[2]) + strings.TrimRight(m[3], " "))
		return true
	})
}

// recurring is a day that comes again: "Saturday mornings".
var recurring = regexp.MustCompile(`day(?:s| (?:night|evening|morning|afternoon)s)$`)

// dayRange is a date of several days, which takes no "on".
var dayRange = regexp.MustCompile(`\d ?- ?\d`)

// squeeze closes gaps.
func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }
