package composer

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// lessons keeps "learn how to file, avoid fines and pay" together: what follows
// the first verb is to be learned as well.
func (r *reader) lessons(parts []string) []string {
	if len(parts) < 2 || !teaches.MatchString(parts[0]) {
		return objects(parts)
	}
	for _, part := range parts[1:] {
		if first, more := cutWord(strings.ToLower(part)); !verbs[first] || more == "" {
			return parts
		}
	}
	if text := join(parts); len(strings.Fields(text)) <= mostWords {
		return []string{text}
	}
	return parts[:1]
}

// objects keeps "automates onboarding, leave and payroll" together: where only
// the first item has a verb, it is that of all.
func objects(parts []string) []string {
	first, more := cutWord(strings.ToLower(parts[0]))
	if _, ok := base(first); !ok || spoken[first] || len(parts) < 3 || len(strings.Fields(more)) > 2 || more == "" {
		return parts
	}
	for _, part := range parts[1:] {
		word := strings.ToLower(firstWord(part))
		_, verb := base(word)
		if verb && !spoken[word] || determiners[word] || word == "no" || word == "free" || word == "" || numeric(word) || len(strings.Fields(part)) > 2 || isTrait(part) {
			return parts
		}
	}
	return []string{join(parts)}
}

var teaches = regexp.MustCompile(`(?i)^(?:learn|find out|see|discover) (?:how )?to `)

// mostWords is how long a benefit may be.
const mostWords = 11

// splitThing splits like splitList, but what the first item joins stays
// together: "dresses and shirts".
func splitThing(s string) []string {
	first := s
	if at := listBreak.FindStringIndex(s); at != nil {
		first = s[:at[0]]
	}
	if i := strings.Index(first, " and "); i > 0 {
		if word, more := cutWord(first[i+5:]); more == "" || !isVerb(word) {
			return append([]string{first}, splitList(s[len(first):])...)
		}
	}
	return splitList(s)
}

var listBreak = regexp.MustCompile(`\s*(?:,\s+|,$|:\s+|[;` + gap + `]\s*)(?:and |plus |also |with |& )*|\s+-\s+| plus (?:a |an |free )?| as well as | \+ | & (?:free |no )`)

// splitList splits "a, b and c" into its items; "and" alone only where what
// follows can stand on its own.
func splitList(s string) []string {
	var list []string
	raw := listBreak.Split(s, -1)
	for i, part := range raw {
		part = strings.TrimSpace(part)
		last := i == len(raw)-1
		for {
			at := strings.Index(part, " and ")
			if at < 0 || !standsAlone(part[:at], part[at+5:], last && len(raw) > 1) {
				break
			}
			list = append(list, strings.TrimSpace(part[:at]))
			part = strings.TrimSpace(part[at+5:])
		}
		if part != "" {
			list = append(list, part)
		}
	}
	if len(list) == 0 {
		return []string{""}
	}
	return list
}

// standsAlone decides whether "and" joins two items of a list or two halves of
// one.
func standsAlone(before, after string, tail bool) bool {
	first, more := cutWord(strings.ToLower(after))
	if _, ok := base(first); ok && !spoken[first] && more != "" {
		return true
	}
	if first == "no" || first == "free" || first == "a" || first == "an" || first == "is" || first == "has" || first == "made" {
		return true
	}
	if b, _ := cutWord(before); verbs[strings.ToLower(b)] && verbs[first] && more != "" {
		return true
	}
	return tail && !adjectives[first] && len(strings.Fields(before)) > 1
}

var lead = regexp.MustCompile(`(?i)^(?:and|with|plus|also|but|featuring|including|includes|include|offers|offering|comes with|come with|we offer|we have|you get|you'll get|there is|there's|has|have|it has|it's|it is|is|are|they're|they are|get|enjoy|our|as well as|both|all with|all|that|which|who)\s+`)

// nounVerbs are verbs that are as often nouns; they open an invitation only
// before an object that shows it.
var nounVerbs = set(`answer bake balance block book care change charge check clean close cost cover craft cut deal design donate dream drink drive end fall feed feel file fill fit fix float flow fold forecast free freeze fund gain guide harvest heat help
hire host last laugh launch lead lift light live log look lower match measure mix move need offer open order own pack paint park pay pick plan plant play post practice print process produce promise record rent repair rest review ride roast run shape
share ship shop show sleep sort source split stand start stay store stretch study style suit support swap sync talk taste test think tour track train travel treat turn update use visit walk want warm wash watch wear welcome win work wrap scan schedule set smell
export import upload download stick stop stitch recycle reuse`)

var afterVerb = set("your you it them our us my me the a an more less all any every each with in on at to from for up out without anything everything together what how when where faster better as by online")

// classify finds out how a phrase can be used.
func (r *reader) classify(s string) (benefit, bool) {
	for {
		t := lead.ReplaceAllString(s, "")
		if t == s || t == "" {
			break
		}
		s = t
	}
	s = trimTail(s)
	if m := youCan.FindStringSubmatch(s); m != nil {
		s = m[1]
	}
	first, more := cutWord(s)
	low := strings.ToLower(first)
	if low == "to" && more != "" {
		s = more
		first, more = cutWord(s)
		low = strings.ToLower(first)
	}
	if low == "" || !strings.ContainsFunc(s, unicode.IsLetter) || low != "no" && meta.MatchString(s) || injected(s) {
		return benefit{}, false
	}
	second := strings.ToLower(firstWord(more))
	if b, ok := strings.CutSuffix(low, "ing"); ok && more != "" && (b == "help" || b == "keep" || verbs[b+"e"] && (b == "mak" || b == "giv" || b == "sav")) {
		return benefit{deed, choose(verbs[b], b, b+"e") + " " + more}, true
	}
	if verb, ok := guessBase(low); ok && r.deeds && more != "" && !determiners[low] && (r.clause || !spoken[low] && verbs[verb]) {
		return benefit{deed, verb + " " + more}, true
	}
	switch b, third := base(low); {
	case low == "pause" || low == "cancel" || low == "skip" || low == "use" && strings.HasPrefix(more, "code "):
		return benefit{remark, low + " " + more}, true
	case third && more != "" && (!spoken[low] || afterVerb[second]):
		return benefit{deed, b + " " + more}, true
	case second == "your" && more != "your" && !determiners[low] && !prepositions[low] && !isPlural(low):
		return benefit{choose(r.deeds, deed, invite), low + " " + more}, true
	case verbs[low] && more != "" && (!nounVerbs[low] && !adjectives[low] || afterVerb[second] && (!adjectives[low] || second == "it" || second == "your" || second == "the" || second == "an")):
		return benefit{choose(r.deeds, deed, invite), low + " " + more}, true
	case isTrait(s):
		return benefit{trait, r.begin(s)}, true
	case isRemark(s), verbs[low] && prepositions[second]:
		return benefit{remark, r.begin(s)}, true
	case finite.MatchString(s):
		return benefit{}, false
	}
	return benefit{thing, r.begin(s)}, true
}

// begin takes the capital of a beginning off; inside a sentence it belongs to
// the word.
func (r *reader) begin(s string) string {
	if !r.bullet {
		return s
	}
	return lowerStart(s)
}

var finite = regexp.MustCompile(`(?i)\b(?:is|are|was|were|will|can|could|should|would|has|have|had|does|do|did|don't|doesn't|isn't|aren't|we|they|you|he|she|it|i)\b`)

var loneEnd = set("welcome included provided needed required anytime possible allowed accepted necessary daily away go matched only worldwide nationwide everywhere")

var dateWord = regexp.MustCompile(weekdays + `|` + months + ` \d|\d ?(?:am|pm)\b`)

// isRemark reports a phrase that is a sentence without its verb.
func isRemark(s string) bool {
	words := strings.Fields(strings.ToLower(s))
	if dateWord.MatchString(s) || words[len(words)-1] == "gift" || loneEnd[words[len(words)-1]] || prepositions[words[0]] || words[0] == "each" || words[0] == "ages" || words[0] == "age" || words[0] == "every" || words[0] == "pause" || words[0] == "cancel" {
		return true
	}
	return len(words) > 2 && slices.ContainsFunc(words[1:], func(word string) bool { return word == "go" || word == "goes" || word == "gets" || word == "eat" })
}

func lowerStart(s string) string {
	if startsProper(s, "") {
		return s
	}
	return lowerFirst(s)
}

var traitLead = regexp.MustCompile(`(?i)^(?:made|designed|built|crafted|printed|baked|roasted|grown|brewed|stitched|woven|sewn|delivered|inspired|powered|produced|woven|knitted|signed|inspected|ready|easy|suitable|available|open|safe|free|hand-?made|cooked|tested|approved|certified|packed|filled|sourced|rated|owned|run|based|located|run by|limited|perfect|ideal|great|good|gentle|kind|close|steps|minutes|set) (?:from|of|in|with|by|using|without|on|to|at|for|same|next|daily|until|every|within|when|7|24|seven|all|enough|for)\b`)

// participled is a participle with what belongs to it: "hand-poured in Vermont".
var participled = regexp.MustCompile(`(?i)^[\w-]{3,}(?:ed|made|woven|grown|sewn) (?:in|by|from|with|at|on|to|for|of|using|without|same|next)\b`)

// isTrait reports a phrase that follows "it is".
func isTrait(s string) bool {
	if traitLead.MatchString(s) || participled.MatchString(s) {
		return true
	}
	words := strings.Fields(strings.ToLower(s))
	// "machine washable", "SOC 2 ready", "polyester free"
	if last := words[len(words)-1]; len(words) > 1 && len(words) < 4 && !verbs[words[0]] && (last == "ready" || last == "free" && len(words) == 2 || strings.HasSuffix(last, "able") && adjectives[last] && last != "available") {
		return true
	}
	for _, word := range words {
		word = strings.Trim(word, ",")
		switch {
		case word == "and", word == "&", word == "but", word == "to", adverbs[word]:
		case adjectives[word], hasAnySuffix(word, "-free", "proof", "-friendly", "-based", "-made", "-neutral", "resistant", "-certified", "-approved", "-run", "-owned", "-grown", "-roasted", "-baked", "-lasting", "-fired", "-stitched", "-woven", "-poured"), strings.Contains(word, "-") && strings.HasSuffix(word, "ed") && len(words) == 1:
		default:
			return false
		}
	}
	return true
}
