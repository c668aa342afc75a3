package composer

import (
	"slices"
	"strings"
	"unicode"
)

// names reads sentences that say who or what it is about. It reports whether
// the sentence was read.
func (r *reader) names(s string) bool {
	if m := presents.FindStringSubmatch(s); m != nil && r.isName(m[1]) {
		r.f.fresh = r.f.fresh || fresh.MatchString(m[2])
		r.by(m[1])
		if r.main = true; !r.names(m[3]) {
			r.list(m[3])
		}
		return true
	}
	if m := occasionOnly.FindStringSubmatch(s); m != nil && r.f.product.text == "" && !strings.ContainsAny(s, ",:") && !yardSale.MatchString(m[1]) && strings.HasSuffix(m[1], "sale") {
		r.f.occasion = occasion(m[1])
		if m := atName.FindStringSubmatch(s); m != nil {
			r.by(m[1])
		}
		return true
	}
	if m := hiring.FindStringSubmatch(s); m != nil && r.f.product.text == "" {
		segs := segments(m[2])
		r.say("We're hiring" + m[1] + " " + segs[0])
		r.itemsOf(segs[1:])
		return true
	}
	if m := isOffering.FindStringSubmatch(s); m != nil && r.f.product.text == "" {
		if allTitled(m[1]) && r.isName(m[1]) {
			r.by(m[1])
		}
		r.thing(m[2])
		return true
	}
	if m := weAre.FindStringSubmatch(s); m != nil && r.f.product.text == "" {
		r.f.self = true
		r.thing(m[1])
		return true
	}
	if m := weDo.FindStringSubmatch(s); m != nil {
		return r.we(strings.ToLower(m[1]), m[2])
	}
	if m := appositive.FindStringSubmatch(s); m != nil && r.isName(m[1]) && (r.f.product.text == "" || r.main) {
		r.called(m[1])
		r.thing(m[2])
		return true
	}
	if m := headed.FindStringSubmatch(s); m != nil && (r.f.product.text == "" || r.main) && r.headed(m[1], m[2]) {
		return true
	}
	if r.subject(s) {
		return true
	}
	told := len(r.f.benefits) > 0 || slices.ContainsFunc(r.f.says, func(s statement) bool { return !strings.HasSuffix(s.text, "?") })
	if low := strings.ToLower(firstWord(s)); r.f.product.text == "" && (low == "our" || low == "my") {
		r.main = true
	}
	if !r.main && (r.f.product.text != "" || told || r.f.ownName && r.read > 1) {
		return false
	}
	// "Hearing aids you can't see" are hearing aids.
	if m := youRelative.FindStringSubmatch(s); m != nil && !pronouns[strings.ToLower(firstWord(s))] && !imperative(s) && predicateAt(strings.Fields(m[1])) < 0 && plainNoun(m[1]) {
		r.product(m[1])
		r.say(s)
		return true
	}
	// Who says what to do, or states something, has not named anything.
	first := segments(s)[0]
	if words := strings.Fields(first); predicateAt(words) >= 0 || imperative(first) || leadsVerb(first) || prepositions[strings.ToLower(words[0])] || isTrait(first) || strings.EqualFold(words[0], "no") || slices.ContainsFunc(words, func(word string) bool { return word == "wanted" || word == "needed" }) {
		return false
	}
	r.thing(s)
	return true
}

var (
	presents = newPattern(`^(` + titled + `|[A-Z][\w']*(?: [a-z]+){1,2}) (presents|introduces|launches|announces|unveils|is launching|is introducing|brings you|is opening) (.+)$`)
	weAre    = newPattern(`(?i)^(?:we are|we're|i am|i'm|we run|i own|we own|i run) (?:an? |the )(.+)$`)
	weDo     = newPattern(`(?i)^(?:we|i|we are|we're|i am|i'm)(?: also| now| will| can)? ([a-z]+) (.+)$`)
	hiring   = newPattern(`(?i)^(?:we're |we are |now )?(?:hiring|recruiting)(:?) (.+)$`)
	// isOffering is who does something with what is advertised.
	isOffering = newPattern(`^([\p{L}' ]{3,40}?) (?:is|are) (?:now )?(?:offering|hosting|holding|running|selling) (.+)$`)
)

var youRelative = newPattern(`^([\p{L}' -]+?) you (?:can|can't|will|won't|don't|never|actually|want|need|love)\b[^,:]*$`)

// we reads "we sell leather wallets" and "we offer free fittings".
func (r *reader) we(verb, rest string) bool {
	switch verb = strings.Replace(verb, "selling", "sell", 1); {
	case makers[verb] && r.f.product.text == "":
		r.thing(rest)
		return true
	case verb == "have" || verb == "offer" || verb == "provide":
		r.list(rest)
		return true
	}
	return false
}

// sellers are the makers' verbs that never say what a thing does.
var sellers = set("sell make offer supply stock manufacture")

// headed reads "Name: what it is" and "What it is: what speaks for it".
func (r *reader) headed(before, after string) bool {
	switch {
	case r.takeTime(before):
		if r.main = true; !r.names(after) {
			r.list(after)
		}
		return true
	case occasionOnly.MatchString(before):
		r.f.occasion = occasion(occasionOnly.FindStringSubmatch(before)[1])
		if m := atName.FindStringSubmatch(before); m != nil {
			r.by(m[1])
		}
		r.list(after)
		return true
	case notices[strings.ToLower(strings.TrimPrefix(before, "Public "))]:
		if !r.names(upperFirst(after)) {
			r.list(upperFirst(after))
		}
		return true
	case allTitled(after) && len(strings.Fields(after)) < 4 && !strings.Contains(after, ",") && !allTitled(before):
		r.called(after)
		r.head(before, nil)
		return true
	case orgs[strings.ToLower(headOf(before))] && predicateAt(strings.Fields(before)) < 0:
		r.by(before)
		if r.main = true; !r.names(upperFirst(after)) {
			r.list(after)
		}
		return true
	case allTitled(before) && r.isName(before):
		first := segments(after)[0]
		if words := strings.Fields(first); predicateAt(words) >= 0 || imperative(first) || isTrait(first) {
			r.called(before)
			r.list(after)
			return true
		}
		switch head := kindOfWord(headOf(first)); {
		case determiners[strings.ToLower(firstWord(after))], head == software, head == media:
			r.called(before)
		default:
			r.by(before)
		}
		r.thing(after)
		return true
	case len(strings.Fields(before)) < 9 && predicateAt(strings.Fields(before)) < 0 && !imperative(before):
		r.head(before, nil)
		r.list(after)
		return true
	}
	return false
}

// orgs announce something, and are not what they announce.
var orgs = set("council city county government department ministry association committee authority office chamber")

// notices are labels that say nothing about the thing.
var notices = set("b2b b2c notice reminder news update announcement attention important note hello idea brief")

// subject reads a sentence about the thing: "it saves time", "Nimbus saves
// time", "our jackets are warm".
func (r *reader) subject(s string) bool {
	words := strings.Fields(s)
	at := predicateAt(words)
	// A name that is known already needs no other sign.
	if rest, ok := strings.CutPrefix(s, r.f.name+" "); ok && r.f.name != "" && leadsVerb(strings.Replace(rest, firstWord(rest), strings.ToLower(firstWord(rest)), 1)) {
		at = len(strings.Fields(r.f.name))
	}
	if at < 1 || strings.Contains(s, ":") {
		return false
	}
	who, low := strings.Join(words[:at], " "), strings.ToLower(words[0])
	what := strings.Join(words[at:], " ")
	switch {
	case at == 1 && (low == "it" || low == "they" || low == "this"):
		return r.predicate(what)
	case low == "our" || low == "the" || low == "these" || low == "my":
		if at < 2 {
			return false
		}
		noun := strings.Join(words[1:at], " ")
		if verb, ok := base(words[at]); ok && sellers[verb] && r.f.product.text == "" && at+1 < len(words) {
			r.thing(strings.Join(words[at+1:], " "))
			return true
		}
		if allTitled(noun) && r.isName(noun) && low == "the" {
			return r.named(who, what)
		}
		if r.f.product.text == "" {
			r.head(noun, nil)
		} else if !strings.Contains(" "+strings.ToLower(r.f.product.text)+" ", " "+strings.ToLower(headOf(noun))+" ") {
			return false
		}
		return r.predicate(what) || r.sayAll(s)
	case allTitled(who) && r.isName(who):
		return r.named(who, what)
	}
	// "OakRise desks are made from solid oak"
	name, noun := cutWord(who)
	if r.f.product.text == "" && noun != "" && !numeric(name) && inner(name) && !capital(firstWord(noun)) {
		r.called(name)
		r.f.ownName = false
		r.head(noun, nil)
		return r.predicate(what) || r.sayAll(s)
	}
	return false
}

// named reads what a sentence says about a name.
func (r *reader) named(name, what string) bool {
	verb, rest := cutWord(what)
	first := strings.ToLower(firstWord(rest))
	if verb == "is" && (first == "a" || first == "an" || first == "the" || first == "our" || r.f.product.text == "" && !isTrait(rest) && plainNoun(segments(rest)[0])) {
		r.called(name)
		if r.f.product.text == "" {
			r.thing(rest)
			return true
		}
		return r.sayAll(name + " " + what)
	}
	if r.f.product.text != "" && r.f.name != name && (r.f.name != "" || !strings.Contains(name, " ") && !inner(name)) {
		return false
	}
	r.called(name)
	return r.predicate(what) || r.sayAll(name+" "+what)
}

func (r *reader) sayAll(s string) bool {
	r.say(s)
	return true
}

// allTitled reports words that all have a capital.
func allTitled(s string) bool {
	for word := range strings.FieldsSeq(s) {
		if first := []rune(word)[0]; !unicode.IsUpper(first) && !unicode.IsDigit(first) && word != "&" && word != "of" && word != "and" && word != "the" {
			return false
		}
	}
	return s != "" && unicode.IsUpper([]rune(s)[0])
}

// inner reports a word with a capital inside, which is a name even where a
// sentence begins.
func inner(word string) bool { return !mixed(word) && strings.ToUpper(word) != word }

// isName tells a name at the start of a sentence from a word that only has its
// capital there.
func (r *reader) isName(s string) bool {
	if r.f.name != "" && strings.EqualFold(s, r.f.name) {
		return true
	}
	low := strings.ToLower(s)
	first := firstWord(low)
	if prepositions[first] || !strings.ContainsFunc(first, unicode.IsLetter) {
		return false
	}
	if strings.Contains(s, " ") {
		return !notNames[first] && (!verbs[first] || capital(strings.Fields(s)[1]))
	}
	return !determiners[first] && !notNames[first] && !verbs[low] && !adjectives[low] && !people[low] && !mass[low] && proper[low] == "" && !isPlural(low) && kindOfWord(low) == "" && !strings.HasSuffix(low, "ing")
}

// notNames begin sentences, and never names.
var notNames = set("code up tomorrow today we i you it they there what who how why when where if free new no tickets entry admission every each all our my your this these those here now and or but for with from in on at by to only just please")

// called notes the product's own name.
func (r *reader) called(name string) {
	name = strings.Trim(name, `.," `)
	if r.f.brand != "" && strings.EqualFold(name, r.f.brand) {
		r.f.ownName = true
		return
	}
	r.f.name, r.f.ownName = name, true
}

// by notes who offers it.
func (r *reader) by(name string) {
	name = strings.Trim(name, `.," `)
	if r.f.brand == "" {
		r.f.brand = name
	}
	if r.f.name == "" {
		r.f.name = name
	}
}
