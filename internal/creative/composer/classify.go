package composer

import (
	"slices"
	"strings"
	"unicode"
)

// imperative reports a phrase that tells the customer what to do.
func imperative(s string) bool {
	first, more := cutWord(strings.ToLower(s))
	second := firstWord(more)
	if (first == "stop" || first == "start" || first == "keep" || first == "try") && strings.HasSuffix(second, "ing") {
		return true
	}
	if loneEnd[more[strings.LastIndexByte(more, ' ')+1:]] && !strings.HasSuffix(more, " online") && !strings.HasSuffix(more, " together") {
		return false
	}
	// "Put up by our crew" is done by others.
	if parts := strings.Fields(more); same[first] && len(parts) > 1 && (parts[0] == "by" || parts[1] == "by") {
		return false
	}
	return verbs[first] && more != "" && (!nounVerbs[first] && !adjectives[first] || afterVerb[second] && (!adjectives[first] || second == "it" || second == "your" || second == "the" || second == "an"))
}

// same are verbs whose participle is spelled like them.
var same = set("put set cut read run let hit")

var lead = newPattern(`(?i)^(?:and|with|plus|also|but|featuring|including|comes with|come with|we offer|we have|you get|you'll get|there is|there's|it has|it's|it is|they're|they are|our|both|all with|as well as) +`)

// classify finds out how a phrase can be used. What is of no kind that it knows
// is a remark, which stands alone as it was written.
func (r *reader) classify(s string, deeds bool) benefit {
	for {
		t := lead.ReplaceAllString(s, "")
		if t == s || t == "" {
			break
		}
		s = t
	}
	s = strings.TrimRight(s, " ,.;:!?-")
	if m := youCan.FindStringSubmatch(s); m != nil {
		s = m[1]
	}
	first, more := cutWord(s)
	low, second := strings.ToLower(first), strings.ToLower(firstWord(more))
	if s == "" || !strings.ContainsFunc(s, unicode.IsLetter) || low != "no" && meta.MatchString(s) || injected(s) {
		return benefit{}
	}
	verb, third := base(low)
	switch {
	case third && verb != "be" && more != "" && (!spoken[low] || deeds || strongObject[second]):
		return benefit{deed, verb + " " + more}
	case low == "cancel", low == "pause", low == "skip":
		return benefit{remark, s}
	case verbs[low] && ofThings[low] && r.f.product.plural && more != "":
		return benefit{deed, low + " " + more}
	case imperative(s):
		return benefit{invite, low + " " + more}
	case isTrait(s):
		return benefit{trait, s}
	case plainNoun(s):
		return benefit{thing, s}
	}
	return benefit{remark, s}
}

// ofThings are verbs that fit things and hardly ever their buyers.
var ofThings = set("resist last fit weigh hold work come ship need withstand fold glow float stay arrive dry")

func lowerStart(s string) string { return unstart(s, "") }

// strongObject are words before which a word that may be a noun is a verb.
var strongObject = set("a an the your you our us them it their his her its up out what how anything everything")

var afterVerb = set("your you it them our us my me the a an more less all any every each with in on at to from for up out without anything everything together what how when where faster better as by online off around")

// units are measures, which say nothing as the object of "with".
var units = set("minutes minute hours hour days day weeks week months month years year nights night km kg grams gram g m cl ml litres litre acres ft feet metres meters miles degrees inches cm mm evenings times players people guests persons modules pages steps")

// aside are what a seller has, which is no part of what is sold.
var aside = set("gift present batch batches shops stores locations branches outlets specialists experts offices employers vendors showroom resorts languages countries cities")

// plainNoun reports a phrase that is surely a noun with what belongs to it.
func plainNoun(s string) bool {
	words := strings.Fields(strings.ToLower(s))
	if len(words) == 0 || len(words) > 7 || strings.ContainsAny(s, ":;") || dateWord.MatchString(s) || hinted(s, " a week| a month| a day| per | every |%|$|€|£") || strings.Contains(s, ",") || strings.Contains(s, " and ") || strings.Contains(s, " or ") {
		return false
	}
	if prepositions[words[0]] || notNames[words[0]] && words[0] != "free" && words[0] != "no" && words[0] != "your" && words[0] != "every" || connectors[words[0]] || words[0] == "ages" || words[0] == "age" || words[0] == "over" || words[0] == "max" || words[0] == "any" || words[0] == "minimum" || words[0] == "maximum" || words[0] == "up" || predicative[words[0]] || gerunds[words[0]] {
		return false
	}
	if slices.ContainsFunc(words, func(word string) bool { return connectors[word] || pronouns[word] || hasAnySuffix(word, "'re", "'ll") }) {
		return false
	}
	for i := 1; i+1 < len(words); i++ {
		if _, verb := base(words[i]); verb && !spoken[words[i]] && prepositions[words[i+1]] && words[i+1] != "of" {
			return false
		}
	}
	if last := s[strings.LastIndexByte(s, ' ')+1:]; len(words) > 2 && len(last) == 3 && last == strings.ToUpper(last) && numeric(words[len(words)-2]) {
		return false
	}
	if _, verb := base(words[0]); (verb || words[0] == "live") && len(words) > 1 && prepositions[words[1]] && words[1] != "of" {
		return false
	}
	if len(words) > 1 && strings.HasSuffix(words[0], "s") && particles[words[1]] {
		return false
	}
	if len(words) > 1 && (strings.HasSuffix(words[0], "ed") && prepositions[words[1]] || words[1] == "by" || words[1] == "enough") {
		return false
	}
	head := strings.ToLower(headOf(s))
	if units[head] || aside[head] || numeric(head) || adjectives[head] || adverbs[head] || loneEnd[head] || hasAnySuffix(head, "ly", "able") || strings.HasSuffix(head, "ed") && len(head) > 4 && head != "bed" {
		return false
	}
	if last := words[len(words)-1]; loneEnd[last] || adverbs[last] || adjectives[last] || len(words) > 1 && strings.HasSuffix(last, "ed") || last == "today" {
		return false
	}
	// One word alone is as often a material, a trade or a size.
	if len(words) == 1 && !mass[head] || words[0] == "no" && len(words) > 1 && words[1] == "need" {
		return false
	}
	return predicateAt(words) < 0 && !visual.MatchString(s)
}

// particles make a verb of the word before them, as in "bolts on".
var particles = set("on up out off down into over together")

// gerunds say what somebody is doing.
var gerunds = set("serving accepting offering booking hiring opening starting including featuring selling covering celebrating")

var loneEnd = set("welcome included provided needed required anytime possible allowed accepted necessary daily away go matched only worldwide nationwide everywhere available wanted handled back more out up in online instead together needed always today yourself available")

var dateWord = newPattern(weekdays + `|` + months + ` \d|\d ?(?:am|pm)\b|\bat \d`)

var traitLead = newPattern(`(?i)^(?:made|designed|built|crafted|printed|baked|roasted|grown|brewed|stitched|woven|sewn|inspired|powered|produced|knitted|signed|ready|easy|suitable|available|open|safe|hand-?made|hand-poured|tested|approved|certified|sourced|perfect|ideal|gentle|poured|assembled|dyed) (?:from|of|in|with|by|using|without|on|to|at|for|daily|every|within|when|7|24|seven|all|enough)\b`)

// isTrait reports a phrase that follows "it is".
func isTrait(s string) bool {
	if traitLead.MatchString(s) {
		return !strings.Contains(s, ",")
	}
	words := strings.Fields(strings.ToLower(s))
	if len(words) == 0 || len(words) == 1 && loneAdjectives[words[0]] {
		return false
	}
	// "machine washable", "SOC 2 ready", "polyester free"
	if last := words[len(words)-1]; len(words) > 1 && len(words) < 4 && !verbs[words[0]] && (last == "ready" || last == "free" && len(words) == 2 && !people[words[0]] && words[0] != "month" && !leadsVerb(s) || strings.HasSuffix(last, "able") && adjectives[last] && last != "available") {
		return true
	}
	if !slices.ContainsFunc(words, func(word string) bool { return !adverbs[strings.Trim(word, ",")] }) {
		return false
	}
	for _, word := range words {
		word = strings.Trim(word, ",")
		switch {
		case word == "and", word == "&", word == "but", adverbs[word]:
		case adjectives[word], hasAnySuffix(word, "-free", "proof", "-friendly", "-based", "-made", "-neutral", "resistant", "-certified", "-approved", "-run", "-owned", "-grown", "-roasted", "-baked", "-lasting", "-fired", "-stitched", "-woven", "-poured"), strings.Contains(word, "-") && strings.HasSuffix(word, "ed") && len(words) == 1:
		default:
			return false
		}
	}
	return true
}

// loneAdjectives say too little alone to be said of a thing.
var loneAdjectives = set("free limited open new online small local light available guided hardcover")

// auxiliaries are verbs that nothing else can be.
var auxiliaries = set("is are was were will can could would should has have had does did don't doesn't isn't aren't won't can't must goes")

var (
	pronouns = set("we you they it he she i everyone everything nobody nothing this that")
	speakers = set("we you they it i")
)

// predicateAt finds the verb of a statement: the first word that can only be
// one, behind what can be its subject. It is -1 where there is none.
func predicateAt(words []string) int {
	low := make([]string, len(words))
	for i, word := range words {
		// "IT support" is not about it.
		if low[i] = strings.Trim(strings.ToLower(word), ".,:;!?\"'"); len(word) == 2 && word == strings.ToUpper(word) {
			low[i] = word
		}
	}
	if len(low) > 0 && (strings.HasPrefix(low[0], "it's") || hasAnySuffix(low[0], "'re", "'ll", "'ve")) {
		return 1 % max(1, len(low))
	}
	if len(low) > 2 && speakers[low[0]] && !prepositions[low[1]] {
		return choose(adverbs[low[1]], 2, 1)
	}
	for i := 1; i < len(low); i++ {
		word, prev, next := low[i], low[i-1], ""
		if prev == "also" && i > 1 {
			prev = low[i-2]
		}
		if i+1 < len(low) {
			next = low[i+1]
		}
		switch {
		case relatives[word]:
			return -1
		case auxiliaries[word] && (next != "" || word == "can" || word == "will"):
			return i
		case hasAnySuffix(word, "'re", "'ll", "'ve"):
			return i
		case prepositions[prev] || determiners[prev] || adverbs[prev] && !pronouns[prev] || prev == "and" || prev == "or" || prev == "no" || prev == "&":
			continue
		}
		verb, third := base(word)
		unsure := spoken[word] || nounVerbs[verb]
		switch {
		case third && verb != "" && next != "" && (!unsure || rarely[word] || !spoken[word] && acts(prev, next) || objects[next] || next == "one" || next == "two" || hasMoney(low[0]) || pronouns[prev] || i > 1 && i < 4 && !prepositions[low[0]] && allTitled(strings.Join(words[:i], " ")) && mixed(word) || i == 1 && capital(words[0]) && inner(words[0])):
			if adjectives[prev] && unsure {
				continue
			}
			return i
		case !third && verbs[word] && (pronouns[prev] && prev != "this" && prev != "that" || people[prev]) && (!adjectives[word] || pronouns[prev]) && (next != "" || pronouns[prev]):
			if people[prev] && nounVerbs[word] && !strongObject[next] && !numeric(next) && next != "free" && (i > 1 || modifiers[prev] || len(low) < 4) {
				continue
			}
			return i
		case !third && verbs[word] && !nounVerbs[word] && !adjectives[word] && isPlural(prev) && (next != "" || word == "apply"):
			return i
		case !third && verbs[word] && isPlural(prev) && (afterVerb[next] || numeric(next)) && !adjectives[word] && (next != "from" || word == "run" || word == "start" || word == "open") && (i == 1 || i == 2 && inner(words[0])):
			return i
		}
	}
	return -1
}

// acts reports whether a word between two others that may be a plural is the
// verb instead: nouns that stand before another noun are singular.
func acts(prev, next string) bool {
	_, verb := base(next)
	return !isPlural(prev) && !prepositions[next] && !determiners[next] && !numeric(next) && !verb && !verbs[next] && !auxiliaries[next] && next != "and" && next != "or" && next != "&" && !loneEnd[next] && !adjectives[next]
}

func hasMoney(s string) bool { return strings.ContainsAny(s, "$€£") && numeric(s) }

// objects are words before which a word that may be a plural is a verb, rarely
// are words that look like one and hardly ever are.
var (
	objects = set("a an the your you our us them it their his her its what how anything everything")
	rarely  = set("helps feels fits floats flows folds freezes heats lasts laughs lowers needs opens owns pays stays starts suits supports syncs tastes thinks uses wants warms works brings serves sounds cleans ships smells stands wears fixes hosts")
)

// modifiers are people who stand before other nouns: "kids coding camp".
var modifiers = set("kids children men women ladies family baby babies seniors pets dogs cats girls boys teens youth members adults")

// relatives begin a clause whose verb is not the sentence's.
var relatives = set("that which who whose where when if because so helping offering serving featuring selling accepting letting")
