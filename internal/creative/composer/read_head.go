package composer

import (
	"slices"
	"strings"
	"unicode"
)

// thing reads a sentence that begins with what is advertised.
func (r *reader) thing(s string) {
	// Who sells something advertises that.
	if _, sold, ok := strings.Cut(s, " selling "); ok {
		s = sold
	}
	s = ticketsFor.ReplaceAllString(s, "")
	segs := groups(segments(s))
	if m := occasionOnly.FindStringSubmatch(segs[0]); m != nil && len(segs) > 1 && r.f.occasion == "" {
		r.headed(segs[0], strings.Join(segs[1:], ", "))
		return
	}
	for len(segs) > 1 && (r.fact(segs[0]) || isTrait(segs[0])) {
		if isTrait(segs[0]) {
			r.add(benefit{trait, lowerStart(segs[0])})
		}
		segs = segs[1:]
	}
	// Where the name comes later, so does the thing.
	for i := 1; i < len(segs) && r.f.ownName && !strings.Contains(segs[0], r.f.name); i++ {
		if strings.Contains(segs[i], r.f.name) && segs[i] != r.f.name {
			if allTitled(segs[0]) && r.f.brand == "" {
				r.f.brand = segs[0]
			}
			r.head(segs[i], append(slices.Clone(segs[1:i]), segs[i+1:]...))
			return
		}
	}
	// "the to-do app" behind a name says what that is.
	if len(segs) > 1 && r.f.name == "" {
		if m := nameEnd.FindStringSubmatch(segs[0]); m != nil && determiners[strings.ToLower(firstWord(segs[1]))] && r.isName(m[2]) {
			r.called(m[2])
			r.head(segs[1], nil)
			r.list(strings.Join(append([]string{m[1]}, segs[2:]...), ", "))
			return
		}
	}
	r.head(segs[0], segs[1:])
}

var ticketsFor = newPattern(`(?i)^tickets (?:for|to) (?:our |the )?`)

// nameEnd is a phrase that ends in a name.
var nameEnd = newPattern(`^(.*[a-z%]) (?:of |for )?(` + titled + `)$`)

// markers begin what hangs on a noun.
var markers = set("that which who with featuring including offering serving selling specialising specializing providing plus for in near across around throughout at from by on until to called named made designed built crafted printed baked roasted grown brewed stitched woven sewn delivered inspired powered produced hosted helping where when starting accepting under over every based located looking seeking covering")

// head reads the phrase that says what is advertised, word by word: the noun,
// then whatever hangs on it. rest are the segments behind it.
func (r *reader) head(s string, rest []string) {
	if s = strings.Trim(s, ` .,:;-"'`); s == r.f.name {
		r.itemsOf(rest)
		return
	}
	if r.f.ownName {
		s = strings.TrimSuffix(s, " "+r.f.name)
	}
	if before, due, ok := cutDeadline(s); ok && before != "" {
		r.due(due, true)
		s = before
	}
	words := strings.Fields(s)
	if len(words) == 0 {
		return
	}
	end := func(from int) int {
		for i := from; i < len(words); i++ {
			if markers[strings.ToLower(words[i])] || participleAt(words, i) {
				return i
			}
		}
		return len(words)
	}
	n := end(1)
	noun := words[:n]
	for n < len(words) {
		tail := strings.Join(words[n:], " ")
		next, more, done := r.hang(strings.ToLower(words[n]), tail, words[n-1], &rest)
		if more {
			to := end(n + 1)
			noun = append(slices.Clone(noun), words[n:to]...)
			n = to
			continue
		}
		if done {
			break
		}
		words = append(slices.Clone(words[:n]), strings.Fields(next)...)
		if len(words) > n && !markers[strings.ToLower(words[n])] && !participleAt(words, n) {
			if verbs[strings.ToLower(words[n])] {
				r.say(s)
			} else {
				r.itemsOf([]string{strings.Join(words[n:], " ")})
			}
			break
		}
	}
	r.product(strings.Join(noun, " "))
	r.itemsOf(rest)
}

// participleAt reports a word such as "restored" in "restored by hand".
func participleAt(words []string, i int) bool {
	return i > 0 && i+1 < len(words) && (len(words[i]) > 4 && strings.HasSuffix(words[i], "ed") || irregular[words[i]]) && prepositions[strings.ToLower(words[i+1])]
}

// irregular participles, as in "cut to size".
var irregular = set("cut written drawn sold worn kept held grown sewn woven hand-made sent shot shown spun")

// lives is where somebody else is, not the thing.
var lives = newPattern(`^(?:living|working|studying|travelling|traveling)$`)

// hang reads one thing that hangs on the noun. before is the word before it. It returns what is left of the
// tail, or says that the words belong to the noun, or that all was read.
func (r *reader) hang(marker, tail, before string, rest *[]string) (next string, noun, done bool) {
	_, after := cutWord(tail)
	switch marker {
	case "that", "which", "who", "helping":
		all := strings.Join(append([]string{after}, *rest...), ", ")
		if i := strings.LastIndex(all, " for "); i > 0 && r.f.audience == "" {
			if words := strings.Fields(all[i+5:]); audienceWords(words) == len(words) {
				r.f.audience, all = whom(words, r.f.name), all[:i]
			}
		}
		if marker == "helping" {
			all = "helps " + all
		}
		if !r.predicate(all) {
			// Where the verb is unknown, what was promised is left out.
			r.itemsOf(*rest)
		}
		*rest = nil
		return "", false, true
	case "based", "located":
		return after, false, false
	case "looking", "seeking":
		return "", false, true
	case "every":
		if word := strings.ToLower(firstWord(after)); !units[word] && !dateWord.MatchString(after) && word != "morning" && word != "weekend" {
			return "", true, false
		}
		before, left, ok := strings.Cut(tail, " at ")
		r.add(benefit{remark, before})
		return choose(ok, "at "+left, ""), false, !ok
	case "serving", "accepting", "covering":
		*rest = append([]string{tail}, *rest...)
		return "", false, true
	case "with", "featuring", "including", "offering", "selling", "providing", "plus", "specialising", "specializing":
		if marker == "with" && after != "" && !strings.Contains(after, " ") && !isPlural(strings.ToLower(after)) {
			return "", true, false
		}
		*rest = groups(append([]string{strings.TrimPrefix(after, "in ")}, *rest...))
		return "", false, true
	case "to":
		if verb := strings.ToLower(firstWord(after)); verbs[verb] {
			*rest = append([]string{after}, *rest...)
			return "", false, true
		}
		return "", true, false
	case "called", "named":
		if m := nameStart.FindString(after); m != "" {
			r.called(m)
			return strings.TrimLeft(after[len(m):], " ,"), false, false
		}
		return "", true, false
	case "for":
		words := strings.Fields(after)
		if n := audienceWords(words); n > 0 && r.f.audience == "" {
			r.f.audience = whom(words[:n], r.f.name)
			return strings.Join(words[n:], " "), false, false
		}
		return r.pricedAt(tail)
	case "in", "near", "across", "around", "throughout":
		if place, left := placeAt(tail); place != "" && r.f.place == "" && !lives.MatchString(before) {
			r.f.place = place
			return left, false, false
		}
		return "", true, false
	case "at", "from", "by":
		if m := nearWater.FindString(tail); m != "" && r.f.place == "" {
			r.f.place = m
			return strings.TrimLeft(tail[len(m):], " ,"), false, false
		}
		if marker != "at" && strings.HasPrefix(after, "the ") {
			return r.pricedAt(tail)
		}
		if m := nameStart.FindString(strings.TrimPrefix(after, "the ")); m != "" && !towns[strings.ToLower(firstWord(m))] && proper[strings.ToLower(firstWord(m))] == "" {
			left := strings.TrimLeft(strings.TrimPrefix(after, "the ")[len(m):], " ,")
			if marker == "at" && (r.f.brand != "" && r.f.brand != m || hinted(left, "on |am|pm")) {
				r.f.where = "at " + choose(strings.HasPrefix(after, "the "), "the ", "") + m
				return left, false, false
			}
			if marker == "at" {
				r.f.where = "at " + choose(strings.HasPrefix(after, "the "), "the ", "") + m
			}
			if !strings.HasPrefix(after, "the ") && (marker != "at" || !venues.MatchString(m)) {
				r.by(m)
			}
			return left, false, false
		}
		return r.pricedAt(tail)
	case "on", "starting":
		if r.f.when == "" && r.takeTime(tail) {
			return "", false, true
		}
		return "", true, false
	case "under", "over", "until", "where", "when":
		return "", true, false
	}
	// Made, designed, built: the whole tail is one trait.
	if marker == "hosted" || strings.Contains(tail, " for ") && r.takeAudience(tail) {
		return "", false, true
	}
	r.add(benefit{choose(isTrait(tail) || strings.HasSuffix(marker, "ed"), trait, remark), tail})
	return "", false, true
}

// pricedAt reads a price at the end of the head.
func (r *reader) pricedAt(tail string) (next string, noun, done bool) {
	if r.f.price == "" && r.takePrice(tail) {
		return "", false, true
	}
	return "", true, false
}

// venues are places by their names.
var venues = newPattern(`\b(?:Park|Hall|Square|Centre|Center|Library|Church|Stadium|Arena|Station|Beach|Castle|Gardens?)$`)

// nearWater is a place, whatever word leads to it.
var nearWater = newPattern(`^(?:by|at|from) (?:the )?(?:Lake|Loch|Mount|River|Cape|Bay|Port) [\p{Lu}][\p{L}'-]+`)

var nameStart = newPattern(`^` + titled)

// product sets what is advertised.
func (r *reader) product(s string) {
	if r.main && r.f.product.text != "" {
		r.f.self, r.f.ownName = false, false
	}
	s = unstart(strings.Trim(squeeze(s), ` ,.:;-"'`), r.f.name)
	if first := strings.ToLower(firstWord(s)); first == "a" || first == "an" {
		r.f.articled = true
	}
	s = bare(s)
	if m := ofName.FindStringSubmatch(s); m != nil && !towns[strings.ToLower(firstWord(m[2]))] && r.f.name == "" && isPlural(headOf(m[1])) && !slices.ContainsFunc(strings.Fields(m[1]), func(word string) bool { return prepositions[word] }) {
		r.by(m[2])
		s = m[1]
	}
	if first, more := cutWord(s); more != "" && inner(first) && proper[strings.ToLower(first)] == "" && r.f.name == "" && !numeric(first) {
		r.called(first)
		s = more
	}
	if headline, ok := titledName(s); ok {
		r.called(s)
		s = headline
	}
	if m := trailing.FindStringSubmatch(s); m != nil && proper[strings.ToLower(m[2])] == "" && trimTail(m[1]) == m[1] && !adjectives[headOf(m[1])] && !strings.HasSuffix(m[1], "ed") {
		r.called(m[2])
		s = m[1]
	}
	if r.f.name != "" {
		s = strings.TrimPrefix(strings.TrimPrefix(s, r.f.name+"'s "), r.f.name+" ")
		s = strings.TrimSuffix(s, " "+r.f.name)
	}
	for {
		first, more := cutWord(s)
		switch low := strings.ToLower(first); {
		case low == "new" || low == "brand-new":
			r.f.fresh = true
		case !determiners[low] && low != "and" && low != "of" && low != "best" && low != "really" && low != "very":
			more = ""
		}
		if more == "" {
			break
		}
		s = more
	}
	for _, tail := range []string{" launch", " grand opening", " opening", " promotion", " campaign", " offer"} {
		if t, ok := strings.CutSuffix(s, tail); ok {
			s, r.f.fresh = t, r.f.fresh || tail == " launch" || strings.HasSuffix(tail, "opening")
		}
	}
	words := strings.Fields(s)
	for i, word := range words {
		if i > 0 && (word == "a" || word == "an" || word == "so" || word == "very") && !prepositions[strings.ToLower(words[i-1])] {
			words = words[:i]
			break
		}
	}
	// A shop for bags sells bags.
	if n := len(words); n > 2 && (words[n-1] == "shop" || words[n-1] == "store" || words[n-1] == "boutique") && isPlural(words[n-2]) {
		words = words[:n-1]
	}
	// A watch brand sells watches.
	if n := len(words); n > 1 && (words[n-1] == "brand" || words[n-1] == "label") && words[n-2] != "fashion" && r.f.name != "" {
		words, r.f.ownName = words[:n-1], false
	}
	s = trimTail(strings.Join(words, " "))
	if s == "" || prepositions[strings.ToLower(firstWord(s))] || r.f.name != "" && strings.EqualFold(s, r.f.name) || visual.MatchString(s) && len(words) > 1 || notNames[strings.ToLower(s)] {
		return
	}
	if numeric(words[0]) && people[strings.ToLower(headOf(s))] {
		return
	}
	if len(words) > 8 || slices.Contains(words, "if") || dateWord.MatchString(s) || hasMoney(s) || onlyAtoms(s) && !strings.ContainsFunc(s, unicode.IsLetter) || loneEnd[strings.ToLower(words[len(words)-1])] && len(words) > 1 && words[len(words)-1] != "online" {
		r.add(benefit{remark, s})
		return
	}
	r.f.product = newNoun(s)
}

var ofName = newPattern(`^([a-z].*) of (` + titled + `)$`)

// titledName reports a name of several words that ends in what it is: "Annual
// Tech Leaders Summit".
func titledName(s string) (head string, ok bool) {
	words := strings.Fields(s)
	if n := len(words); n > 1 && numeric(words[n-1]) {
		words = words[:n-1]
	}
	if len(words) < 3 || !allTitled(s) {
		return "", false
	}
	head = strings.ToLower(words[len(words)-1])
	return head, kindOfWord(head) != "" || selfNouns[head] || wrappers[head]
}
