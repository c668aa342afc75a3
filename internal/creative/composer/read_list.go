package composer

import (
	"slices"
	"strings"
)

// segments splits a sentence at its commas and the like, except where these
// are inside of something.
func segments(s string) []string {
	var list []string
	m := newMasking(s)
	s = m.text
	start := 0
	cut := func(end, next int) {
		if text := strings.Trim(s[start:end], " ,"); text != "" {
			list = joinSegment(list, m.restore(text), start > 0 && s[start-2] == ',')
		}
		start = next
	}
	for i := 0; i+1 < len(s); i++ {
		switch c := s[i]; {
		case (c == ',' || c == ';' || c == ':') && s[i+1] == ' ':
			cut(i, i+2)
			i++
		case c == ' ' && (strings.HasPrefix(s[i:], " - ") || strings.HasPrefix(s[i:], " + ")):
			cut(i, i+3)
			i += 2
		case c == ' ' && strings.HasPrefix(s[i:], " plus ") && (!hasMoney(m.restore(s[:i])) || !hasMoney(m.restore(firstWord(s[i+6:])))):
			cut(i, i+6)
			i += 5
		}
	}
	cut(len(s), len(s))
	if len(list) == 0 {
		return []string{""}
	}
	return list
}

var connectors = set("then but so or because when while if not which where who instead until yet")

// joinSegment adds a segment to a list, or to the one before where it belongs
// to that: "was €399, now €329", "no win, no fee", "Portland, Oregon".
func joinSegment(list []string, s string, comma bool) []string {
	n := len(list)
	if n == 0 || !comma {
		return append(list, s)
	}
	before, first := list[n-1], strings.ToLower(firstWord(s))
	last := before[strings.LastIndexByte(before, ' ')+1:]
	switch {
	case connectors[first], prepositions[strings.ToLower(last)] && !priceOnly.MatchString(s), strings.HasSuffix(s, " too"), strings.Contains(s, "the rest"), strings.Contains(s, "the other"), adverbs[first] && first == strings.ToLower(s),
		hasMoney(s) && hasMoney(before) && len(strings.Fields(s)) < 6 && !percentOff.MatchString(before) && !priceOnly.MatchString(before) && !priceOnly.MatchString(s),
		first == "now" && hasAnyPrefix(strings.ToLower(before), "was "),
		first == "no" && hasAnyPrefix(strings.ToLower(before), "no "),
		capital(firstWord(s)) && capital(last) && last != before && allTitled(strings.ReplaceAll(s, " and ", " ")) && !kindly(s):
		list[n-1] = before + ", " + s
		return list
	}
	return append(list, s)
}

// kindly reports a name that says what it is, so that it stands for itself.
func kindly(s string) bool { return kindOfWord(headOf(s)) != "" || numeric(s) }

// groups puts segments together that are one list: what follows a verb and
// ends in "and" is the verb's, and so are short nouns each other's. Only
// commas without an "and" separate what can stand for itself.
func groups(segs []string) []string {
	n := len(segs)
	if n < 2 {
		return segs
	}
	last := segs[n-1]
	verbal := slices.ContainsFunc(segs, leadsVerb)
	if orders(segs) {
		// What follows the first verb is to be learned as well.
		if teaches.MatchString(segs[0]) {
			return []string{strings.Join(segs, ", ")}
		}
		return segs
	}
	tail, oxford := cutAnd(last)
	if !oxford && !strings.Contains(last, " and ") && !strings.Contains(last, " or ") && !strings.Contains(last, " & ") {
		return segs
	}
	if oxford {
		segs = append(slices.Clone(segs[:n-1]), tail)
	}
	either := strings.Contains(last, " or ") && len(strings.Fields(tail)) < 5 && !predicative[firstWord(tail)] && !numeric(segs[n-2]) && !loneEnd[last[strings.LastIndexByte(last, ' ')+1:]]
	if !listedLast(tail, verbal) && !either {
		return segs
	}
	from := n - 1
	for from > 0 && listed(segs[from-1], verbal) {
		from--
	}
	// The verb, the reduction or the noun that all of it depends on.
	if from > 0 && (leadsList(segs[from-1]) || from == n-1 && either) {
		from--
	}
	if from == n-1 {
		return segs
	}
	joined := strings.Join(segs[from:n-1], ", ") + choose(oxford, " and ", ", ") + tail
	return append(slices.Clone(segs[:from]), joined)
}

var teaches = newPattern(`(?i)^(?:learn|find out|see|discover) (?:how )?to `)

// cutAnd takes the "and" off the last item of a list.
func cutAnd(s string) (string, bool) {
	for _, and := range []string{"and ", "or ", "& "} {
		if rest, ok := strings.CutPrefix(s, and); ok {
			return rest, true
		}
	}
	return s, false
}

// listed reports a short noun phrase such as lists are made of. In a list of
// verbs, a word that may be either is a verb.
func listed(s string, verbal bool) bool {
	words := strings.Fields(strings.ToLower(s))
	if len(words) == 0 || len(words) > 3 {
		return false
	}
	first := words[0]
	if predicative[first] {
		return false
	}
	if _, verb := base(first); verb && (!spoken[first] || verbal) || first == "no" || first == "free" || numeric(first) || !verbal && verbs[first] && !nounVerbs[first] || adjectives[first] && len(words) == 1 || strings.HasSuffix(first, "ed") && (len(words) == 1 || prepositions[words[1]]) {
		return false
	}
	return !slices.ContainsFunc(words, func(word string) bool { return prepositions[word] && word != "of" }) && predicateAt(words) < 0
}

// predicative are adjectives that open a phrase of their own.
var predicative = set("open available ready perfect ideal easy online suitable")

// listedLast reports the end of such a list, whose last item may be longer.
func listedLast(s string, verbal bool) bool {
	before, after, ok := strings.Cut(s, " and ")
	if !ok {
		before, after, ok = strings.Cut(s, " & ")
	}
	if !ok {
		return listed(s, verbal)
	}
	first := strings.ToLower(firstWord(after))
	_, verb := base(first)
	if words := strings.Fields(after); strings.HasSuffix(first, "ed") && len(words) > 1 && prepositions[words[1]] {
		return false
	}
	return listed(before, verbal) && (!verb || spoken[first] && !verbal) && len(strings.Fields(after)) < 9 && predicateAt(strings.Fields(after)) < 0
}

// orders reports a list of which every item begins with a verb: "plan
// production, track inventory and cut scrap".
func orders(segs []string) bool {
	n := 0
	for _, seg := range segs {
		seg, _ = cutAnd(seg)
		for part := range strings.SplitSeq(seg, " and ") {
			first, more := cutWord(strings.ToLower(part))
			last := more[strings.LastIndexByte(more, ' ')+1:]
			if !verbs[first] || more == "" || adjectives[first] || loneEnd[last] || strings.HasSuffix(last, "ed") {
				return false
			}
			n++
		}
	}
	return n > 1
}

// leadsVerb reports a segment that begins with a verb in the third person.
func leadsVerb(s string) bool {
	first, more := cutWord(strings.ToLower(s))
	verb, ok := base(first)
	return ok && verb != "be" && more != "" && !spoken[first]
}

// leadsList reports a segment whose end is the first item of a list: "covers
// vet visits", "up to 50% off dresses".
func leadsList(s string) bool {
	words := strings.Fields(strings.ToLower(s))
	verb, ok := base(words[0])
	if (ok && verb != "" && !spoken[words[0]] || verbs[words[0]] && !nounVerbs[words[0]]) && len(words) > 1 && len(words) < 5 && !slices.ContainsFunc(words[1:], func(word string) bool { return prepositions[word] || numeric(word) }) {
		return true
	}
	return percentOff.MatchString(s) || len(words) > 1 && (words[len(words)-2] == "by" || words[len(words)-2] == "with" || words[len(words)-2] == "in")
}

// verbal splits "saves time and keeps teams in sync" where both halves are led
// by a verb of the same form.
func verbal(s string) []string {
	first := strings.ToLower(firstWord(s))
	_, is := base(first)
	// "Visit us and get a free coffee" is one offer.
	if callVerbs[first] {
		return []string{s}
	}
	for from := 0; ; {
		i := strings.Index(s[from:], " and ")
		if i < 0 {
			return []string{s}
		}
		at := from + i
		if !strings.Contains(s[:at], " ") {
			return []string{s}
		}
		second, more := cutWord(strings.ToLower(s[at+5:]))
		if verb, other := base(second); more != "" && (is && other && verb != "" && (!spoken[second] || !prepositions[firstWord(more)]) || !is && verbs[first] && verbs[second] && !nounVerbs[second] || !is && verbs[first] && verbs[second] && (afterVerb[firstWord(more)] || numeric(firstWord(more)))) {
			return append([]string{s[:at]}, verbal(s[at+5:])...)
		}
		if after := strings.Fields(s[at+5:]); is && predicateAt(after) == 1 && !pronouns[second] {
			return []string{s[:at], s[at+5:]}
		}
		from = at + 5
	}
}

// list reads a sentence or a line that names no thing.
func (r *reader) list(s string) {
	segs := segments(s)
	words := strings.Fields(segs[0])
	if len(words) == 0 {
		return
	}
	if strings.HasPrefix(strings.ToLower(s), "people to ") {
		return
	}
	// "If you don't love them, keep them" is one sentence.
	if first := strings.ToLower(words[0]); len(segs) > 1 && (first == "if" || first == "when" || first == "because" || first == "while") {
		r.say(s)
		return
	}
	if predicateAt(words) >= 0 && len(segs) > 1 && !imperative(segs[0]) {
		if _, ended := cutAnd(segs[len(segs)-1]); ended || strings.Contains(segs[len(segs)-1], " and ") || predicateAt(strings.Fields(segs[1])) >= 0 {
			r.say(s)
			return
		}
	}
	// Two halves, the second with a subject of its own, are one sentence.
	if len(segs) == 2 && speakers[strings.ToLower(firstWord(segs[1]))] && strings.Contains(segs[1], " ") && len(words) > 2 && !hasMoney(segs[0]) {
		r.say(s)
		return
	}
	if segs[0] != s || strings.Contains(s, " ") || !strange(s) {
		segs[0] = lowerStart(segs[0])
	}
	r.itemsOf(groups(segs))
}

// strange reports a word alone that nothing tells to be other than a name.
func strange(s string) bool {
	low := strings.ToLower(s)
	return capital(s) && len(s) > 3 && !verbs[low] && !adjectives[low] && !adverbs[low] && !mass[low] && !isPlural(low) && !loneAdjectives[low] && kindOfWord(low) == "" && !hasAnySuffix(low, "ed", "ly", "ing", "able", "ic", "ous", "al", "proof", "less", "y")
}

// itemsOf reads what speaks for the thing.
func (r *reader) itemsOf(segs []string) {
	// In a list of verbs, a word that may be either is a verb.
	deeds, ordered, invited := slices.ContainsFunc(segs, leadsVerb), orders(segs), slices.ContainsFunc(segs, imperative)
	for _, seg := range segs {
		seg, _ = cutAnd(seg)
		if r.fact(seg) {
			continue
		}
		parts := verbal(seg)
		if ordered && !teaches.MatchString(seg) && !callVerbs[strings.ToLower(firstWord(seg))] {
			parts = strings.Split(seg, " and ")
		}
		for _, part := range parts {
			part = strings.Trim(part, " .:;-")
			b := r.classify(part, deeds)
			if b.text != "" && !callVerbs[strings.ToLower(firstWord(part))] && (ordered || invited && b.kind == thing && orders([]string{part, part})) {
				b = benefit{invite, lowerFirst(part)}
			}
			switch {
			case b.text == "", offerLabel.MatchString(b.text):
			case b.kind == remark && predicateAt(strings.Fields(b.text)) >= 0, b.kind == invite && (once.MatchString(b.text) || callVerbs[strings.ToLower(firstWord(part))]):
				r.say(choose(b.kind == invite, b.text, part))
			default:
				r.add(b)
			}
		}
	}
}

// offerLabel announces what follows it.
var offerLabel = newPattern(`(?i)^(?:\w+ )?(?:offer|deal|price|promo)$`)

// callVerbs are what customers are asked to do.
var callVerbs = set("visit book order subscribe sign join register buy donate call apply reserve")

// once marks invitations that are whole as they are: "try it this week for
// $9.90" is nothing to be ready for.
var once = newPattern(`(?i)[$€£%]|\bit\b|\bthem\b|\bthis\b|\bby \d|\bwin\b|` + weekdays)

// predicate reads what is said about the thing: "is warm, keeps its shape and
// comes with a warranty". It keeps nothing and reports false unless every part
// is of a kind it knows.
func (r *reader) predicate(s string) bool {
	var list []benefit
	var facts []string
	for _, seg := range groups(segments(s)) {
		seg, _ = cutAnd(seg)
		for _, part := range verbal(seg) {
			verb, rest := cutWord(strings.TrimSpace(part))
			verb = strings.ToLower(verb)
			stem, third := base(verb)
			switch {
			case rest == "", len(list) > 0 && (slices.Contains(strings.Fields(rest), "them") || slices.Contains(strings.Fields(rest), "it")):
				// What speaks of the part before stays with it.
				return false
			case having[verb], (verb == "comes" || verb == "come") && strings.HasPrefix(rest, "with "):
				rest = strings.TrimPrefix(rest, "with ")
				if _, free := freeOf(rest); free {
					facts = append(facts, rest)
					continue
				}
				if !plainNoun(rest) {
					return false
				}
				list = append(list, benefit{thing, rest})
			case verb == "is" || verb == "are":
				if !isTrait(rest) {
					return false
				}
				list = append(list, benefit{trait, rest})
			case third && stem != "be":
				list = append(list, benefit{deed, stem + " " + rest})
			case verbs[verb]:
				list = append(list, benefit{deed, verb + " " + rest})
			case isTrait(part) && len(list) > 0:
				list = append(list, benefit{trait, part})
			case predicateAt(strings.Fields(part)) > 0 && len(list) > 0:
				list = append(list, benefit{remark, part})
			case len(list) > 0 && (freeThing.MatchString(part) || dateOnly.MatchString(part) || priceOnly.MatchString(part) || aimed.MatchString(part) || plainNoun(part) && seg == part):
				facts = append(facts, part)
			default:
				return false
			}
		}
	}
	for _, b := range list {
		if b.kind == remark {
			r.say(b.text)
			continue
		}
		r.add(b)
	}
	r.itemsOf(facts)
	return len(list) > 0
}

// having are verbs whose object is what one gets.
var having = set("has have includes include features feature offers offer")

// add keeps a benefit, unless it is known or says nothing.
func (r *reader) add(b benefit) {
	b.text = strings.Trim(squeeze(b.text), ` ,.:;-"`)
	low := strings.ToLower(b.text)
	words := strings.Fields(low)
	if !slices.ContainsFunc(words, func(word string) bool {
		return !prepositions[word] && !determiners[word] && word != "and" && word != "or"
	}) || len(words) > mostWords || len(r.f.benefits) >= mostBenefits || visual.MatchString(low) {
		return
	}
	if strings.EqualFold(low, r.f.name) || strings.Contains(" "+strings.ToLower(r.f.product.text)+" ", " "+low+" ") {
		return
	}
	for _, known := range r.f.benefits {
		if strings.EqualFold(known.text, b.text) {
			return
		}
	}
	r.f.benefits = append(r.f.benefits, b)
}

// mostWords is how long a benefit may be.
const mostWords = 12

// say keeps a whole sentence that others can read without the brief.
func (r *reader) say(s string) {
	words := strings.Fields(s)
	if len(r.f.says) >= mostSays || len(words) < 3 || len(s) > 120 || visual.MatchString(s) || meta.MatchString(s) || strings.Contains(strings.ToLower(s), "customers tell") {
		return
	}
	s = upperFirst(strings.TrimRight(s, " ."))
	for _, known := range r.f.says {
		if known.text == s {
			return
		}
	}
	said := statement{text: s, needs: itself[strings.ToLower(words[0])] || slices.Contains(words, "it") || slices.Contains(words, "them")}
	if m := saidPrice.FindStringSubmatch(s); m != nil && (r.f.price == "" || r.f.price == m[1]) {
		r.f.price, said.also = m[1], usesPrice
	}
	r.f.says = append(r.f.says, said)
}

// itself are words that speak of what was named before.
var itself = set("it it's its they they're their this these he she")

// saidPrice is a price at the end of a sentence.
var saidPrice = newPattern(`\b(?:it|them|costs?)(?: [\w-]+){0,3} (` + amount + period + `)$`)

// meta marks sentences about the advertising itself.
var meta = newPattern(`(?i)^(?:write|mention|make it|keep it)\b|\b(?:the ads?|this ad|an ad|ad copy|adverts?|headlines?|target audience|our audience|tone of voice|brand voice|captions?|slogans?|prompts?|instructions?|variants?|the goal|objective|cta|i want|i need|we want|want people|please|should be)\b`)
