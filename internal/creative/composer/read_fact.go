package composer

import (
	"strings"
	"unicode"
)

// fact reads a segment that consists of one fact. What it does not recognise
// as a whole it leaves alone.
func (r *reader) fact(s string) bool {
	s = strings.Trim(s, " .,:;-")
	if s == "" {
		return true
	}
	if m := isCalled.FindStringSubmatch(s); m != nil && !r.f.ownName && (r.f.product.text != "" || m[1] != "") {
		r.called(m[2])
		return true
	}
	if m := byName.FindStringSubmatch(s); m != nil && r.f.product.text != "" {
		r.by(m[1])
		return true
	}
	return r.call(s) || r.takeOffer(s) || r.takePrice(s) || r.takeTime(s) || r.takePlace(s) || r.takeAudience(s) || r.takeProof(s)
}

// isCalled is "it's called Quiet", or the name of what was just named.
var isCalled = newPattern(`^(?:((?:[Ii]t's |[Ii]t is |[Tt]hey're |is |are )?called|named)|the|our) (` + titled + `)$`)

var byName = newPattern(`^[Bb]y (` + titled + `)$`)

// hinted reports whether a text has one of some substrings, "|" between them.
// Most patterns are long and most sentences have none of their words.
func hinted(s, hints string) bool {
	s = strings.ToLower(s)
	for hint := range strings.SplitSeq(hints, "|") {
		if strings.Contains(s, hint) {
			return true
		}
	}
	return false
}

// numeric reports whether a text has a digit.
func numeric(s string) bool { return strings.ContainsAny(s, "0123456789") }

// call is an action that the brief asks the customer for, in its own words.
type call struct {
	code, text string
}

// call reads a call to action: "Book a demo", "order by December 18".
func (r *reader) call(s string) bool {
	words := strings.Fields(s)
	if len(words) > 9 || len(words) == 0 {
		return false
	}
	low := strings.ToLower(s)
	for _, c := range callWords {
		rest, ok := strings.CutPrefix(low, c.verb)
		if !ok || rest != "" && rest[0] != ' ' && rest[0] != ',' {
			continue
		}
		next := firstWord(strings.TrimLeft(rest, " ,"))
		if !c.whole && next != "" && !afterCall[next] && !numeric(next) || strings.ContainsAny(s, ":;") {
			return false
		}
		r.calls = append(r.calls, call{c.code, upperFirst(s)})
		if m := donateTo.FindStringSubmatch(s); m != nil && r.f.name == "" {
			r.called(m[1])
		}
		if m := deadlineEnd.FindStringSubmatch(s); m != nil && r.f.deadline.adverb == "" {
			r.f.deadline = deadline{adverb: strings.ToLower(firstWord(m[2])) + " " + m[3]}
		}
		return true
	}
	return false
}

var donateTo = newPattern(`^(?:[Dd]onate|[Gg]ive) to (` + titled + `)$`)

// asked notes the call to action that the brief names as such.
func (r *reader) asked(s string) {
	s = strings.Trim(s, ` ."'!`)
	n := len(r.calls)
	if !r.call(s) {
		for code := range closings {
			if strings.EqualFold(strings.ReplaceAll(code, "_", " "), s) {
				r.calls = append(r.calls, call{code: code})
			}
		}
	}
	if len(r.calls) > n && r.f.cta == "" {
		r.f.cta = r.calls[n].code
	}
}

// takePrice reads "from $9 per user per month".
func (r *reader) takePrice(s string) bool {
	if !numeric(s) {
		return false
	}
	m := priceOnly.FindStringSubmatch(s)
	if m == nil {
		return false
	}
	if r.f.price == "" {
		r.f.price = squeeze(strings.TrimRight(m[2], ".,") + m[3])
		if lead := strings.ToLower(m[1]); strings.HasSuffix(lead, "from ") || strings.Contains(lead, "start") {
			r.f.price = "from " + r.f.price
		}
		return true
	}
	// A second price is another fact, and stays as it is.
	return strings.HasSuffix(r.f.price, m[2]+m[3])
}

// cutDeadline takes "until Sunday" off the end of a text.
func cutDeadline(s string) (string, deadline, bool) {
	if hinted(s, "until|till|thr|by |before|end|expir|clos") {
		if m := deadlineEnd.FindStringSubmatch(s); m != nil {
			word, date := strings.ToLower(firstWord(m[2])), strings.TrimPrefix(trimTail(m[3]), "on ")
			d := deadline{"until " + date, "ends " + date}
			switch {
			case strings.HasPrefix(word, "thr"):
				d.adverb = "through " + date
			case strings.HasPrefix(word, "clos"):
				d.ends = "closes " + date
			case word == "by" || word == "before":
				d = deadline{adverb: word + " " + date}
			}
			return strings.TrimRight(m[1], " ,:-"), d, true
		}
	}
	if m := onlyNow.FindStringSubmatch(s); m != nil {
		text, low := strings.TrimSpace(m[2]), strings.ToLower(m[2])
		switch {
		case strings.Contains(low, "limited time"):
			text = "for a limited time"
		case strings.HasPrefix(low, "the next"):
			text = "for " + text
		case !strings.HasSuffix(low, "only") && strings.Contains(strings.ToLower(m[0]), "only"):
			text += " only"
		case !strings.HasSuffix(low, "only") && !hasAnyPrefix(low, "this", "while", "for", "today"):
			return s, deadline{}, false
		}
		before := strings.TrimRight(s[:len(s)-len(m[0])], " ,:-")
		return before, deadline{adverb: lowerStart(text)}, true
	}
	return s, deadline{}, false
}

// takeTime reads deadlines and dates.
func (r *reader) takeTime(s string) bool {
	if before, d, ok := cutDeadline(s); ok {
		if openEnded.MatchString(before) {
			if r.f.deadline.adverb == "" {
				r.f.deadline = d
			}
			return true
		}
		return false
	}
	if m := clockOnly.FindStringSubmatch(s); m != nil && r.f.when != "" && !hinted(r.f.when, "am|pm|:|noon") {
		r.f.when += ", " + m[1]
		return true
	}
	if !numeric(s) && !strings.Contains(s, "day") {
		return false
	}
	m := dateOnly.FindStringSubmatch(s)
	if m == nil || recurring.MatchString(m[2]) || r.f.when != "" {
		return false
	}
	lead := strings.ToLower(strings.TrimSpace(m[1]))
	switch {
	case hasAnyPrefix(lead, "start", "open", "launch", "from"):
		lead = "from"
	case lead == "this", lead == "":
		if hasAnyPrefix(strings.ToLower(m[2]), "this", "next") {
			break
		}
		lead = choose(lead == "this", lead, choose(hinted(m[2], " to | until | through "), "from", "on"))
	default:
		lead = "on"
	}
	r.f.when = squeeze(lead + " " + m[2])
	if m[3] != "" {
		r.f.where = "at " + m[3]
	}
	return true
}

// squeeze closes gaps.
func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

var notPlaces = set("january february march april may june july august september october november december monday tuesday wednesday thursday friday saturday sunday english spanish french german italian portuguese dutch greek japanese chinese excel slack gmail outlook christmas easter google notion jira black cyber")

// takePlace reads "in downtown Denver", or a place that everybody knows.
func (r *reader) takePlace(s string) bool {
	if r.f.place != "" {
		return false
	}
	if name := proper[strings.ToLower(firstWord(s))]; name == s && towns[strings.ToLower(s)] {
		r.f.place = "in " + s
		return true
	}
	if m := basedIn.FindStringSubmatch(s); m != nil {
		words := strings.Fields(m[1])
		for i := range words {
			words[i] = upperFirst(words[i])
		}
		r.f.place = "in " + strings.Join(words, " ")
		return true
	}
	place, rest := placeAt(s)
	if place == "" || rest != "" {
		return false
	}
	r.f.place = place
	return true
}

// basedIn is a place for sure, even without its capital.
var basedIn = newPattern(`^(?i:based|located) in ([a-z]{3,}(?: [a-z]{3,})?)$`)

// placeAt reads a place at the start of a text, and what follows it.
func placeAt(s string) (place, rest string) {
	m := placed.FindStringSubmatch(s)
	if m == nil {
		return "", s
	}
	name := strings.TrimPrefix(m[2], "the ")
	if first := strings.ToLower(firstWord(name)); notPlaces[first] || strings.ToUpper(first) == firstWord(name) && len(first) > 3 {
		return "", s
	}
	return strings.ToLower(m[1]) + " " + m[2], strings.TrimLeft(s[len(m[0]):], " ,")
}

// takeAudience reads "for busy parents" where that is all.
func (r *reader) takeAudience(s string) bool {
	m := aimed.FindStringSubmatch(s)
	if m == nil {
		return false
	}
	words := strings.Fields(m[2])
	n := audienceWords(words)
	sure := !strings.EqualFold(m[1], "for")
	if n == 0 && sure && len(words) < 6 && !numeric(m[2]) && hasAnyPrefix(strings.ToLower(m[1]), "target", "aim", "gear", "direct", "appeal") {
		n = len(words)
	}
	// What follows the people belongs to them: "market traders and food trucks".
	if n == 0 || n < len(words) && (len(words) > 7 || !sure && strings.ToLower(words[n]) != "and") {
		return false
	}
	if r.f.audience == "" {
		r.f.audience = whom(words, r.f.name)
	}
	return true
}

// whom is an audience without its article.
func whom(words []string, name string) string {
	who := strings.Join(words, " ")
	for _, article := range []string{"our ", "all ", "the "} {
		who = strings.TrimPrefix(who, article)
	}
	return unstart(who, name)
}

// audienceWords counts the words at the start that name people, and what says
// which ones.
func audienceWords(words []string) int {
	n := 0
	for i, word := range words {
		low := strings.ToLower(strings.Trim(word, ".,"))
		// "For 8 people" says how many, not who.
		if i == 0 && numeric(word) && !overs.MatchString(low) || i > 5 || prepositions[low] && low != "of" || low == "until" || low == "get" || low == "is" || low == "are" || strings.ContainsAny(low, "$€£") {
			break
		}
		if isPeople(low, word) {
			n = i + 1
		}
	}
	if n == 0 || n == len(words) {
		return n
	}
	// "people who hate mornings", "women over 40", "managers at startups"
	rest := words[n:]
	if len(rest) < 2 || len(rest) > 6 && (rest[0] != "who" || len(rest) > 9) || strings.ContainsAny(rest[1], "$€£%") {
		return n
	}
	switch low := strings.ToLower(rest[0]); {
	case numeric(rest[1]) && (low == "over" || low == "under" || low == "aged"):
		return min(len(words), n+choose(low == "aged" || len(rest) < 3 || prepositions[strings.ToLower(rest[2])], 2, 3))
	case low == "who", low == "on" && !numeric(rest[1]) && !notPlaces[strings.ToLower(rest[1])], low == "with" && numeric(rest[1]):
		return len(words)
	case low == "at" && !unicode.IsUpper([]rune(rest[1])[0]) && len(rest) == 2, low == "of" && len(rest) < 4:
		return len(words)
	}
	return n
}

func isPeople(low, word string) bool {
	if people[low] || people[word] {
		return true
	}
	return !things[low] && len(low) > 5 && hasAnySuffix(low, "ers", "ors", "ists", "ians", "ees") || overs.MatchString(low)
}

// overs are people by their age: "over-50s".
var overs = newPattern(`^(?:over|under)-?\d+s$`)

// takeProof keeps what others say about the thing, as it is said.
func (r *reader) takeProof(s string) bool {
	if len(strings.Fields(s)) > 10 || !hinted(s, "rated|star|review|trusted|used by|read by|loved|chosen|recommended|backed|since|years|award|winner|as seen|featured|voted|customers|members|users|downloads|planted|rehomed|served") || !proven.MatchString(s) || predicateAt(strings.Fields(s)) >= 0 {
		return false
	}
	if len(r.f.proofs) < mostProofs {
		r.f.proofs = append(r.f.proofs, unstart(provenLead.ReplaceAllString(s, ""), r.f.name))
	}
	return true
}
