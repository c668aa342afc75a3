package composer

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// rest reads what is left of a sentence: who it is about, and what is said.
func (r *reader) rest(s string, item bool) {
	s = strings.Trim(squeeze(s), " ,-:"+gap)
	if s == "" {
		return
	}
	if at := stress.FindStringIndex(s); at != nil {
		r.rest(s[:at[0]], item)
		r.extras(s[at[1]:])
		return
	}
	if item && r.f.product.text != "" {
		r.extras(unstart(s, r.f.name))
		return
	}
	if r.about(s) || r.stated(s) {
		return
	}
	// Who says what they do, or what to do, has said what it is about.
	told := len(r.f.of(clause, invite)) > 0 && !r.main
	if told || r.f.product.text != "" && !r.main || !r.nounish(splitThing(unstart(s, r.f.name))[0]) && r.unlike(s) {
		r.extras(unstart(s, r.f.name))
		return
	}
	r.thing(unstart(s, r.f.name))
}

// stated keeps a sentence that says something as a whole: "donations are
// matched". What is listed behind it is read on its own, unless it belongs to
// the sentence.
func (r *reader) stated(s string) bool {
	first := strings.TrimSpace(until(s, ","+gap))
	if !isStatement(first) {
		return false
	}
	rest := strings.TrimPrefix(s, first)
	for _, part := range splitList(rest) {
		if b, ok := r.classify(part); part != "" && ok && b.kind == thing && r.whole != "" {
			r.say(r.whole)
			return true
		}
	}
	if strings.Trim(rest, " ,"+gap) == "" && r.whole != "" {
		// The date of a statement is its own: "donations are matched until
		// Friday" ends nothing else.
		if len(r.f.offers) == len(r.known.offers) && r.f.occasion == r.known.occasion {
			r.f.deadline, r.f.when, r.also = r.known.deadline, r.known.when, r.also&^(usesDeadline|usesWhen)
		}
		r.say(r.whole)
		return true
	}
	r.say(first)
	r.extras(rest)
	return true
}

var object = set("a an the one two three you your our us them it their his her every each all more up out for with in on to any what how")

var predicate = regexp.MustCompile(`(?i)^(?:[\w'$€£%.-]+ ){1,6}?(?:is|are|was|were|will|can|has|have|we|you|go|goes|get|gets|feeds?|helps?|keeps?|makes?|pays?|buys?|costs?|lasts?|comes?|takes?|gives?|provides?|works?|tell|say|love|like)\b .+`)

func isStatement(s string) bool {
	first := strings.ToLower(firstWord(s))
	if at := relative.FindStringIndex(s); at != nil {
		s = s[:at[0]] + " so"
	}
	words := strings.Fields(strings.ToLower(s))
	for i := 1; i+1 < min(len(words), 7); i++ {
		if verb, ok := base(words[i]); ok && verb != "" && !spoken[words[i]] && object[words[i+1]] && !verbs[first] && !prepositions[first] {
			return true
		}
	}
	return predicate.MatchString(s) && !verbs[first] && first != "with" && first != "for" && first != "and"
}

var regexpNew = regexp.MustCompile(`(?i)introduc|announc|launch|open`)

// about reads sentences that say what something is or does.
func (r *reader) about(s string) bool {
	if m := youCan.FindStringSubmatch(s); m != nil {
		r.extras(m[1])
		return true
	}
	if m := weAre.FindStringSubmatch(s); m != nil {
		if r.f.product.text == "" {
			r.f.self = true
			r.thing(m[1])
		} else {
			r.extras(m[1])
		}
		return true
	}
	if m := weDo.FindStringSubmatch(s); m != nil && verbs[strings.ToLower(m[1])] {
		r.we(strings.ToLower(m[1]), m[2])
		return true
	}
	if m := itDoes.FindStringSubmatch(s); m != nil && (isVerb(m[1]) || strings.EqualFold(firstWord(s), "it") && strings.HasSuffix(m[1], "s")) {
		r.does(m[1], m[2])
		return true
	}
	if m := subNamed.FindStringSubmatch(s); m != nil && r.isName(m[1]) {
		r.called(m[1])
		if r.f.product.text == "" {
			r.thing(m[2])
		} else {
			r.extras(m[2])
		}
		return true
	}
	if m := nameThing.FindStringSubmatch(s); m != nil && r.isName(m[1]) && isVerb(m[3]) {
		if r.f.name == "" {
			r.f.name = m[1]
		}
		if r.f.product.text == "" {
			r.product(strings.TrimSpace(m[2]))
		}
		r.does(m[3], m[4])
		return true
	}
	if m := appositive.FindStringSubmatch(s); m != nil && r.isName(m[1]) {
		r.called(m[1])
		r.thing(m[2])
		return true
	}
	if m := headed.FindStringSubmatch(s); m != nil && r.isName(m[1]) && r.f.product.text == "" {
		r.called(m[1])
		r.thing(unstart(m[2], ""))
		return true
	}
	if m := nameVerb.FindStringSubmatch(s); m != nil && r.isName(m[1]) && (r.f.name == "" || strings.HasPrefix(m[1], r.f.name)) {
		if _, ok := base(m[2]); ok && !spoken[m[2]] || m[2] == "can" || m[2] == "will" {
			r.called(m[1])
			r.does(m[2], m[3])
			return true
		}
	}
	if m := ourIs.FindStringSubmatch(s); m != nil {
		switch {
		case r.f.product.text == "":
			r.product(strings.TrimSpace(m[1]))
		case !strings.Contains(strings.ToLower(m[1]), strings.ToLower(headOf(r.f.product.text))):
			return r.stated(s)
		}
		r.does(m[2], m[3])
		return true
	}
	return false
}

// isVerb reports a verb in either form.
func isVerb(s string) bool {
	s = strings.ToLower(s)
	_, ok := base(s)
	return ok || verbs[s] || s == "can" || s == "will" || s == "are" || s == "was"
}

// isName tells a name at the start of a sentence from a word that only has its
// capital there.
func (r *reader) isName(s string) bool {
	if r.f.name != "" && strings.EqualFold(s, r.f.name) {
		return true
	}
	low := strings.ToLower(s)
	switch first := firstWord(low); {
	case determiners[first], verbs[low], adjectives[low], people[low], mass[low], proper[low] != "", isPlural(low) && !strings.Contains(low, " ") && mixed(s):
		return false
	case first == "we", first == "i", first == "you", first == "it", first == "they", first == "there", first == "what", first == "who", first == "how", first == "why", first == "free", first == "new", first == "no", first == "tickets", first == "entry", first == "admission":
		return false
	}
	return true
}

func (r *reader) called(name string) {
	name = strings.TrimRight(name, ".,")
	if r.f.brand != "" && strings.EqualFold(name, r.f.brand) {
		r.f.ownName = true
		return
	}
	r.f.name, r.f.ownName = name, true
}

// we reads "we deliver in 30 minutes" and "we sell leather wallets".
func (r *reader) we(verb, rest string) {
	rest = strings.TrimSpace(rest)
	if rest == "" {
		return
	}
	if makers[verb] && r.f.product.text == "" {
		r.thing(rest)
		return
	}
	if verb == "have" || verb == "offer" || verb == "provide" {
		r.extras(rest)
		return
	}
	parts := splitList(rest)
	r.add(benefit{clause, trimTail(verb + " " + parts[0])})
	for _, part := range parts[1:] {
		first, more := cutWord(strings.TrimPrefix(part, "we "))
		if verbs[first] && more != "" {
			r.add(benefit{clause, trimTail(first + " " + more)})
			continue
		}
		r.extras(part)
	}
}

// does reads what the product does: "saves time and keeps teams in sync".
func (r *reader) does(verb, rest string) {
	verb = strings.ToLower(verb)
	r.deeds = true
	defer func() { r.deeds = false }()
	switch verb {
	case "is", "are", "was":
		r.extras(rest)
		return
	case "has", "have", "includes", "include", "offers", "offer", "features":
		r.extras(rest)
		return
	case "comes", "come":
		if with, ok := strings.CutPrefix(rest, "with "); ok {
			r.extras(with)
			return
		}
	case "can", "will":
		verb, rest = cutWord(rest)
		r.extras(third(verb) + " " + rest)
		return
	}
	if b, ok := guessBase(verb); ok {
		verb = third(b)
	} else if verbs[verb] {
		verb = third(verb)
	} else {
		return
	}
	r.extras(verb + " " + rest)
}

// unlike reports text that is about the thing, but does not name it.
func (r *reader) unlike(s string) bool {
	b, ok := r.classify(unstart(s, r.f.name))
	return ok && b.kind != thing
}

var (
	relative   = regexp.MustCompile(` (?:that|which|who) (?:also )?`)
	having     = regexp.MustCompile(` (?:with|featuring|including|offering|serving|selling|specialising in|specializing in|providing|plus|has|have) `)
	purpose    = regexp.MustCompile(` to (?:help (?:you |people )?)?([a-z]+) `)
	participle = regexp.MustCompile(` ((?:made|designed|built|crafted|printed|baked|roasted|grown|brewed|stitched|woven|sewn|delivered|inspired|powered|produced|hand-?made|hand-?crafted) (?:from|of|in|with|by|using|without|on|to|at|same|next|daily|fresh|for|within|every) .+)$`)
)

// launches is where the maker ends and the new thing begins.
var launches = regexp.MustCompile(`(?i)^.+? (?:is |are )?(?:launching|introducing|announcing|launches) (?:an?|our|the|its) (.+)$`)

// thing reads the phrase that says what is advertised, and what hangs on it.
func (r *reader) thing(s string) {
	if m := launches.FindStringSubmatch(s); m != nil {
		s, r.f.fresh = m[1], true
	}
	parts := splitThing(s)
	for len(parts) > 1 && !r.nounish(parts[0]) {
		r.extras(parts[0])
		parts = parts[1:]
	}
	head, clause := parts[0], false
	if at := relative.FindStringIndex(head); at != nil {
		parts = append([]string{head[at[1]:]}, parts[1:]...)
		head, clause = head[:at[0]], true
	} else {
		parts = parts[1:]
	}
	if at := having.FindStringIndex(head); at != nil {
		parts = append([]string{head[at[1]:]}, parts...)
		head = head[:at[0]]
	}
	if m := purpose.FindStringSubmatchIndex(head); m != nil && verbs[head[m[2]:m[3]]] {
		parts = append([]string{head[m[2]:]}, parts...)
		head = head[:m[0]]
	}
	if m := participle.FindStringSubmatchIndex(head); m != nil {
		parts = append([]string{head[m[2]:m[3]]}, parts...)
		head = head[:m[0]]
	}
	r.product(head)
	r.deeds, r.clause = clause, clause
	r.extras(strings.Join(parts, ", "))
	r.deeds, r.clause = false, false
}

// nounish reports a phrase that can be the thing itself.
func (r *reader) nounish(s string) bool {
	b, ok := r.classify(s)
	return ok && b.kind == thing && !strings.HasPrefix(s, "no ")
}

// product sets what is advertised.
func (r *reader) product(s string) {
	s = strings.Trim(squeeze(s), ` ,.:;-"'`+gap)
	if r.main && r.f.product.text != "" {
		r.f.self, r.f.ownName = false, false
	}
	if m := called.FindStringSubmatch(s + "|"); m != nil && proper[strings.ToLower(m[1])] == "" {
		if i := strings.Index(s, m[0][:len(m[0])-1]); i >= 0 {
			if r.f.name == "" || !strings.EqualFold(r.f.name, m[1]) {
				r.f.name = m[1]
			}
			r.f.ownName = strings.Contains(m[0], "called") || strings.Contains(m[0], "named") || strings.HasPrefix(m[0], ",")
			s = strings.TrimSpace(s[:i])
		}
	}
	for _, article := range []string{"the ", "our ", "a ", "an ", "The ", "Our ", "A ", "An "} {
		s = strings.TrimPrefix(s, article)
	}
	if headline, ok := titledName(s); ok {
		r.called(s)
		s = headline
	}
	if m := trailing.FindStringSubmatch(s); m != nil && proper[strings.ToLower(m[2])] == "" {
		r.called(m[2])
		s = m[1]
	}
	if r.f.name != "" {
		for _, lead := range []string{r.f.name + " ", r.f.name + "'s "} {
			s = strings.TrimPrefix(s, lead)
		}
		s = strings.TrimSuffix(s, " "+r.f.name)
	}
	for {
		first, more := cutWord(s)
		low := strings.ToLower(first)
		if low == "new" || low == "brand-new" {
			r.f.fresh = true
		} else if !determiners[low] && low != "and" && low != "of" && low != "best" && low != "really" && low != "very" {
			break
		}
		if more == "" {
			return
		}
		s = more
	}
	for _, tail := range []string{" launch", " grand opening", " opening", " promotion", " campaign", " offer"} {
		if t, ok := strings.CutSuffix(s, tail); ok {
			s, r.f.fresh = t, r.f.fresh || tail == " launch" || strings.HasSuffix(tail, "opening")
		}
	}
	words := strings.Fields(s)
	// A shop for bags sells bags.
	if n := len(words); n > 2 && (words[n-1] == "shop" || words[n-1] == "store" || words[n-1] == "boutique") && isPlural(words[n-2]) {
		words = words[:n-1]
	}
	for i, word := range words {
		low := strings.ToLower(word)
		if i > 0 && (low == "a" || low == "an" || low == "so" || low == "very") && !prepositions[strings.ToLower(words[i-1])] {
			words = words[:i]
			break
		}
	}
	s = trimTail(strings.Join(words, " "))
	words = strings.Fields(s)
	if len(words) > 7 {
		s = trimTail(strings.Join(words[:7], " "))
	}
	if s == "" || r.f.name != "" && strings.EqualFold(s, r.f.name) || visual.MatchString(s) && len(words) > 1 {
		return
	}
	r.f.product = newNoun(s)
}

// titledName reports a name of several words that ends in what it is: "Annual
// Tech Leaders Summit".
func titledName(s string) (head string, ok bool) {
	words := strings.Fields(s)
	if len(words) < 3 {
		return "", false
	}
	for _, word := range words {
		if !unicode.IsUpper([]rune(word)[0]) {
			return "", false
		}
	}
	head = strings.ToLower(words[len(words)-1])
	return head, kindOfWord(head) != ""
}

var choices = regexp.MustCompile(`(?i)^(?:available|comes?) in [^:;]+(?:,| and | or )`)

// extras reads benefits.
func (r *reader) extras(s string) {
	// The colours of one thing are one benefit.
	if choices.MatchString(s) && len(strings.Fields(s)) <= mostWords {
		r.add(benefit{trait, "available" + s[strings.Index(strings.ToLower(s), " in"):]})
		return
	}
	var before benefitKind
	for _, part := range r.lessons(splitList(s)) {
		part = strings.Trim(part, " .:;-"+gap)
		if at := relative.FindStringIndex(part); at != nil && at[0] > 0 && len(part) > 60 && !isStatement(part) {
			part = part[:at[0]]
		}
		b, ok := r.classify(part)
		switch first, more := cutWord(strings.ToLower(part)); {
		case !ok && isStatement(part) && !meta.MatchString(part):
			r.say(part)
			continue
		case !ok:
			continue
		case before == invite && verbs[first] && more != "":
			// In a list of verbs, a word that could be either is a verb.
			b = benefit{invite, part}
		case before == deed && b.kind == thing && more != "":
			if verb, is := base(first); is {
				b = benefit{deed, verb + " " + more}
			}
		}
		before = b.kind
		// "Learn guitar with live lessons": where nothing else is named, the
		// lessons are what is sold.
		if do, with, ok := strings.Cut(b.text, " with "); ok && b.kind == invite && r.f.product.text == "" && r.nounish(with) {
			if capital(with) && !strings.Contains(with, " ") && proper[strings.ToLower(with)] == "" {
				r.f.name = with
			} else {
				r.product(with)
			}
			b.text = do
		}
		r.add(b)
	}
}

func (r *reader) add(b benefit) {
	b.text = strings.Trim(squeeze(b.text), ` ,.:;-"`+gap)
	low := strings.ToLower(b.text)
	words := strings.Fields(low)
	if !slices.ContainsFunc(words, func(word string) bool {
		return !prepositions[word] && !determiners[word] && word != "and" && word != "or"
	}) || callOnly.MatchString(low) {
		return
	}
	if len(words) > mostWords || len(r.f.benefits) >= mostBenefits || visual.MatchString(low) || strings.EqualFold(low, r.f.product.text) || strings.EqualFold(low, r.f.name) {
		return
	}
	if strings.Contains(" "+strings.ToLower(r.f.product.text)+" ", " "+low+" ") {
		return
	}
	for _, known := range r.f.benefits {
		if strings.EqualFold(known.text, b.text) {
			return
		}
	}
	r.f.benefits = append(r.f.benefits, b)
}

// say keeps a whole sentence that others can read without the brief.
func (r *reader) say(s string) {
	words := strings.Fields(s)
	if len(r.f.says) >= mostSays || len(words) < 3 || len(s) > 110 || strings.Contains(s, gap) || visual.MatchString(s) || meta.MatchString(s) {
		return
	}
	s = upperFirst(strings.TrimRight(s, " ."))
	if !slices.ContainsFunc(r.f.says, func(known statement) bool { return known.text == s }) {
		r.f.says = append(r.f.says, statement{s, r.also})
	}
}

// meta marks sentences about the advertising itself.
var meta = regexp.MustCompile(`(?i)\b(?:ads?|adverts?|copy|campaigns?|headlines?|audience|target|tone|brand voice|caption|slogan|prompt|instructions?|variants?|the goal|objective|cta|write|i want|i need|we want|please|should)\b`)
