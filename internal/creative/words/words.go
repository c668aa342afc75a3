// Package words knows English words: which are verbs, which nouns have a
// plural, and so what grammatical shape a phrase of a brief has. Shapes decide
// into which slots of a pattern a phrase fits; a phrase of unknown shape fits
// none and is used as it is.
package words

import (
	"embed"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

//go:embed data/*.txt
var files embed.FS

var (
	verbs     = load("verbs")
	leanVerbs = load("verbs-also-nouns")
	leanNouns = load("nouns-also-verbs")
	// adjectives are adjectives more often than anything else.
	adjectives = load("adjectives")
	nouns      = load("nouns")
	countable  = load("countable")
	mass       = load("mass")
	people     = load("people")
	plurals    = load("plurals")
	singulars  = load("singulars")

	pronouns   = set("we you they it i he she everyone everybody nobody")
	auxiliary  = set("is are was were has have had can could will would may must do does did don't doesn't won't can't isn't aren't cannot comes come gets includes include starts start runs ends begins opens costs means needs takes goes eats")
	determiner = set("a an the our my your their his her its some all any every each this these those more up most one two three four five six seven eight nine ten both no")
	prepositon = set("of for with in from by at on to without near between under over inside against into around during including than about via per as because when while so where plus out within after before until through across behind above below off along towards since like if and or that which who")
	// settled are words that open an attribute although they can be verbs:
	// "open seven days", "free on Sundays", "made in Portugal".
	settled = set("open made built designed handmade free live available suitable ready perfect safe ideal dry warm cool clean clear slow complete separate own fit set")
)

func load(name string) map[string]bool {
	text, err := files.ReadFile("data/" + name + ".txt")
	if err != nil {
		panic(err)
	}
	m := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			m[line] = true
		}
	}
	return m
}

func set(list string) map[string]bool {
	m := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		m[word] = true
	}
	return m
}

// Shape is the grammatical shape of a phrase.
type Shape string

// The shapes.
const (
	// Unknown is a phrase of no sure shape. It can only stand alone.
	Unknown Shape = ""
	// NounPhrase is a thing: "free returns".
	NounPhrase Shape = "np"
	// Imperative is what the customer can do: "track every invoice".
	Imperative Shape = "do"
	// Predicate is what the product does, in the third person: "cuts waste".
	Predicate Shape = "does"
	// Attribute is an adjective or a participle: "dishwasher safe".
	Attribute Shape = "is"
	// Clause is a whole sentence: "dogs are welcome".
	Clause Shape = "clause"
)

// split returns the words of a phrase in lower case, without marks around them.
func split(phrase string) []string {
	list := strings.Fields(strings.ToLower(strings.ReplaceAll(phrase, "’", "'")))
	for i, w := range list {
		list[i] = strings.Trim(w, `.,;:!?()"'“”`)
	}
	return list
}

// isThird reports whether a word is a verb of a list in the third person.
func isThird(word string, list map[string]bool) bool {
	stem, ok := strings.CutSuffix(word, "s")
	if !ok || strings.HasSuffix(stem, "s") {
		return false
	}
	if list[stem] {
		return true
	}
	if short, ok := strings.CutSuffix(stem, "e"); ok && list[short] {
		return true
	}
	short, ok := strings.CutSuffix(stem, "ie")
	return ok && list[short+"y"]
}

func isNumber(word string) bool {
	return strings.ContainsFunc(word, unicode.IsDigit)
}

// opensObject reports whether a word after a verb shows that an object follows.
func opensObject(word string) bool {
	return determiner[word] || isNumber(word) || word == "it" || word == "them" || word == "us" || word == "you"
}

// ShapeOf returns the shape of an English phrase.
func ShapeOf(phrase string) Shape {
	w := split(phrase)
	if len(w) == 0 || strings.ContainsAny(phrase, ";:\n") {
		return Unknown
	}
	if w[0] == "doesn't" || w[0] == "won't" || w[0] == "can't" || w[0] == "isn't" {
		return Predicate
	}
	if hasSubject(w) {
		return Clause
	}
	if shape, sure := openedByVerb(w); sure {
		return shape
	}
	if isAttribute(w) || slices.Contains(w[1:], "since") {
		return Attribute
	}
	if last := w[len(w)-1]; last == "available" || last == "welcome" || slices.Contains(w, "+") {
		return Unknown
	}
	if len(w) <= 8 && !strings.Contains(phrase, ",") && isNounPhrase(w) {
		return NounPhrase
	}
	return Unknown
}

// hasSubject reports whether a finite verb follows a subject.
func hasSubject(w []string) bool {
	if pronouns[w[0]] && len(w) > 2 {
		return true
	}
	for i, word := range w[1:] {
		before := w[i]
		if before == "that" || before == "which" || before == "who" || before == "where" || before == "when" {
			return false
		}
		if determiner[before] || prepositon[before] || adjectives[before] {
			continue
		}
		if auxiliary[word] || isThird(word, verbs) && !nouns[word] && i+2 < len(w) ||
			verbs[word] && isPlural(before) && !adjectives[word] && !nouns[word] && i+2 < len(w) {
			return true
		}
	}
	return false
}

// openedByVerb returns the shape of a phrase whose first word can be a verb. It
// is not sure if the first word is none.
func openedByVerb(w []string) (Shape, bool) {
	first, second := w[0], ""
	if len(w) > 1 {
		second = w[1]
	}
	switch {
	case settled[first]:
		return Unknown, false
	case first == "has" || first == "is" || first == "comes" || first == "does":
		return Predicate, true
	case verbs[first] && !isPlural(first):
		return Imperative, true
	case leanVerbs[first], leanNouns[first]:
		if opensObject(second) {
			return Imperative, true
		}
		if leanVerbs[first] && !nouns[second] && !prepositon[second] {
			return Unknown, true
		}
		return Unknown, false
	case isThird(first, verbs):
		return Predicate, true
	case isThird(first, leanVerbs), isThird(first, leanNouns):
		lean := isThird(first, leanVerbs)
		switch {
		case opensObject(second) && (lean || !isNumber(second)), lean && prepositon[second] && second != "for" && second != "of":
			return Predicate, true
		case prepositon[second] || second == "":
			return Unknown, false
		}
		return Unknown, true
	}
	return Unknown, false
}

// isParticiple reports a past participle that is no noun.
func isParticiple(word string) bool {
	if word == "made" || word == "built" || word == "grown" || word == "woven" || word == "sewn" || word == "baked" {
		return true
	}
	stem, ok := strings.CutSuffix(word, "ed")
	if !ok {
		return false
	}
	if len(stem) > 2 && stem[len(stem)-1] == stem[len(stem)-2] && verbs[stem[:len(stem)-1]] {
		return true
	}
	y, hasY := strings.CutSuffix(stem, "i")
	for _, list := range []map[string]bool{verbs, leanVerbs, leanNouns} {
		if list[stem] || list[stem+"e"] || hasY && list[y+"y"] {
			return true
		}
	}
	return false
}

// attributeEndings make adjectives of other words: "pet-friendly".
var attributeEndings = []string{"-free", "-proof", "-safe", "-friendly", "-made", "-run", "-owned", "-resistant", "-tested", "-approved", "-grown", "-fed", "-poured", "-woven", "-stitched"}

func isAdjective(word string) bool {
	for _, ending := range attributeEndings {
		if strings.HasSuffix(word, ending) {
			return true
		}
	}
	return adjectives[word] || settled[word] && word != "set" && word != "own" || isParticiple(word)
}

// isAttribute reports whether the head of a phrase is an adjective or a
// participle.
func isAttribute(w []string) bool {
	if determiner[w[0]] || w[0] == "not" {
		return false
	}
	end := len(w)
	for i, word := range w {
		if i > 0 && prepositon[word] {
			end = i
			break
		}
	}
	head := w[end-1]
	if end == 1 {
		return isAdjective(head) && !nouns[head] || settled[head]
	}
	return isAdjective(head) && (!nouns[head] || settled[head]) && head != "needed" && head != "required" && head != "included"
}

// Countless reports whether a noun phrase is used without an article: it is plural
// or of a thing that is not counted, or has a determiner or a number.
func Countless(phrase string) bool {
	w := split(phrase)
	head, ok := headWord(w)
	if !ok {
		return false
	}
	for _, ending := range []string{"ing", "ness", "ity", "ship", "ware", "wear", "care", "age", "ment", "tion"} {
		if strings.HasSuffix(head, ending) && !countable[head] {
			return true
		}
	}
	return determiner[w[0]] || isNumber(w[0]) || isPlural(head) || mass[head] || head == "needed" || head == "required" || head == "included"
}

// IsThing reports whether a noun phrase is surely one thing or several: the word
// that it is about is a known noun, in the plural if a number is before it. "190
// gsm" and "4 on 4 off" are not.
func IsThing(phrase string) bool {
	w := split(phrase)
	head, ok := headWord(w)
	if !ok || isNumber(head) || slices.Contains([]string{"off", "half", "free", "included"}, w[len(w)-1]) && head != w[len(w)-1] {
		return false
	}
	known := nouns[head] || countable[head] || mass[head] || plurals[head] || people[head]
	if stem, cut := strings.CutSuffix(head, "s"); cut && !known {
		short, _ := strings.CutSuffix(stem, "e")
		y, isY := strings.CutSuffix(short, "i")
		known = Known(stem) || Known(short) || isY && Known(y+"y")
	}
	if head == "included" || head == "needed" || head == "required" {
		known = len(w) > 1
	}
	return known && (!isNumber(w[0]) || isPlural(head) || strings.Contains(w[0], "-"))
}

// isNounPhrase reports whether the word before the first preposition can be a
// noun and no part of the phrase is a verb in the third person.
func isNounPhrase(w []string) bool {
	head, ok := headWord(w)
	if !ok {
		return false
	}
	if prepositon[w[0]] && w[0] != "over" || pronouns[w[0]] || auxiliary[w[0]] {
		return false
	}
	return nouns[head] || isPlural(head) || mass[head] || countable[head] || strings.HasSuffix(head, "ing") ||
		head == "needed" || head == "required" || head == "included" || !verbs[head] && !adjectives[head] && !isParticiple(head)
}

// headWord returns the word that a noun phrase is about.
func headWord(w []string) (string, bool) {
	if len(w) == 0 {
		return "", false
	}
	end := len(w)
	for i, word := range w {
		if i > 0 && prepositon[word] {
			end = i
			break
		}
	}
	return w[end-1], w[end-1] != ""
}

func isPlural(word string) bool {
	switch {
	case plurals[word]:
		return true
	case singulars[word], mass[word], utf8.RuneCountInString(word) < 3:
		return false
	}
	if !strings.HasSuffix(word, "s") {
		return false
	}
	for _, ending := range []string{"ss", "us", "is", "'s", "ous"} {
		if strings.HasSuffix(word, ending) {
			return false
		}
	}
	return true
}

// Number is how a noun phrase counts.
type Number string

// The numbers. A phrase whose number is not sure has none.
const (
	NoNumber Number = ""
	Plural   Number = "plural"
	// One is a singular noun that takes "a".
	One Number = "one"
	// Name is a proper name in the singular.
	Name Number = "name"
)

// NumberOf returns the number of an English noun phrase without its article.
func NumberOf(phrase string) Number {
	w := split(phrase)
	head, ok := headWord(w)
	if !ok || strings.Contains(phrase, ",") {
		return NoNumber
	}
	for _, word := range w {
		if word == "and" || word == "&" || word == "+" || word == "or" {
			if IsName(phrase) {
				return Name
			}
			return NoNumber
		}
	}
	switch {
	case IsName(phrase):
		return Name
	case isPlural(head):
		return Plural
	case countable[head] && !hasName(phrase):
		return One
	}
	return NoNumber
}

// hasName reports whether a part of a phrase can be a name: a capital after the
// first word, or a first word with a capital that is no dictionary word.
func hasName(phrase string) bool {
	first, rest, _ := strings.Cut(phrase, " ")
	if strings.ContainsFunc(rest, unicode.IsUpper) {
		return true
	}
	return strings.ContainsFunc(first, unicode.IsUpper) && !Known(strings.ToLower(first))
}

// IsNamedThing reports whether a phrase is a name with the noun for the one thing
// that it names: "Lumo 8 folding bike".
func IsNamedThing(phrase string) bool {
	head, ok := headWord(split(phrase))
	first, _, _ := strings.Cut(phrase, " ")
	return ok && countable[head] && strings.ContainsFunc(first, unicode.IsUpper) && !Known(strings.ToLower(first)) && !strings.HasSuffix(phrase, "s")
}

// small are the words that names write without a capital.
var small = set("of the and for in at & to on by de la le du van der")

// IsName reports whether a phrase is surely a proper name: every word has a
// capital, and at least one is no dictionary word.
func IsName(phrase string) bool {
	unknown := false
	for i, word := range strings.Fields(phrase) {
		lower := strings.ToLower(strings.Trim(word, `.,'’"`))
		first, _ := utf8.DecodeRuneInString(word)
		switch {
		case i > 0 && (small[lower] || isNumber(word)):
			continue
		case !unicode.IsUpper(first) && !strings.ContainsFunc(word, unicode.IsUpper):
			return false
		}
		if !Known(lower) {
			unknown = true
		}
	}
	return unknown
}

// Known reports whether a word in lower case is in the dictionary, also with a
// regular ending.
func Known(word string) bool {
	in := func(w string) bool {
		return nouns[w] || verbs[w] || leanVerbs[w] || leanNouns[w] || adjectives[w] || mass[w] || countable[w] || people[w] || determiner[w] || prepositon[w] || pronouns[w] || auxiliary[w]
	}
	if in(word) || isParticiple(word) {
		return true
	}
	for _, ending := range []struct{ from, to string }{{"s", ""}, {"es", ""}, {"ies", "y"}, {"ing", ""}, {"ing", "e"}, {"ed", ""}, {"ed", "e"}} {
		if stem, ok := strings.CutSuffix(word, ending.from); ok && in(stem+ending.to) {
			return true
		}
	}
	if stem, ok := strings.CutSuffix(word, "ly"); ok && adjectives[stem] {
		return true
	}
	if stem, ok := strings.CutSuffix(word, "er"); ok && (verbs[stem] || verbs[stem+"e"]) {
		return true
	}
	left, right, ok := strings.Cut(word, "-")
	return ok && Known(left) && Known(right)
}

// ArePeople reports whether a noun phrase is about people.
func ArePeople(phrase string) bool {
	head, ok := headWord(split(phrase))
	return ok && people[head]
}

// IsVerb reports whether a word is the base form of a verb.
func IsVerb(word string) bool { return verbs[word] || leanVerbs[word] }

// Article returns "a" or "an" for the sound that a phrase begins with.
func Article(phrase string) string {
	raw, _, _ := strings.Cut(phrase, " ")
	word := strings.ToLower(raw)
	for _, start := range []string{"unin", "unim", "unid", "hour", "honest", "heir", "honor", "honour", "8", "11", "18"} {
		if strings.HasPrefix(word, start) {
			return "an"
		}
	}
	for _, start := range []string{"uni", "use", "usu", "eu", "one", "ufo", "uk"} {
		if strings.HasPrefix(word, start) {
			return "a"
		}
	}
	first, _ := utf8.DecodeRuneInString(word)
	// An acronym is read letter by letter.
	letters := "aeiouáéíóú"
	if utf8.RuneCountInString(raw) > 1 && raw == strings.ToUpper(raw) && unicode.IsLetter(first) {
		letters = "aefhilmnorsx"
	}
	if strings.ContainsRune(letters, first) {
		return "an"
	}
	return "a"
}

// LowerFirst returns a phrase as it is written within a sentence: its first
// letter is lower case if the word is an ordinary one.
func LowerFirst(phrase string) string {
	first, size := utf8.DecodeRuneInString(phrase)
	word, rest, _ := strings.Cut(phrase, " ")
	lower := strings.ToLower(word)
	if !unicode.IsUpper(first) || word == "I" || strings.HasPrefix(word, "I'") || len(word) > 1 && word == strings.ToUpper(word) || !Known(strings.Trim(lower, ".,:;'’")) {
		return phrase
	}
	next, _ := utf8.DecodeRuneInString(rest)
	// "Black Friday" is a name; "Free Wi-Fi" is not, but nothing is wrong with it.
	if unicode.IsUpper(next) {
		return phrase
	}
	return string(unicode.ToLower(first)) + phrase[size:]
}
