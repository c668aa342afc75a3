package policy

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// span is a match of a rule, in code points.
type span struct {
	start, end int
	// claim identifies the statement, independent of its wording. It is empty
	// for statements that a brief cannot prove.
	claim string
	// severity and message override those of the rule if they are not empty.
	severity, message string
}

// phrasebook is a set of phrases, indexed by their first words.
//
// Its text has one phrase per line, with spaces between words. In a phrase
//
//	a|b      is either word; a_b is two words in one alternative
//	word?    is optional
//	<class>  is any entry of a word class
//	<n>      is a number
//	~        is up to four words such as "some", "high", "quality"
//	^ and ;  are the start and the end of a sentence
//	. ? % #  are literal
//
// All alternatives of one phrase are the same claim. Classes and numbers are
// part of the claim.
type phrasebook struct {
	text   string
	once   sync.Once
	first  map[string][]*phrase
	except *phrasebook
}

type phrase struct {
	text     string
	elements []element
}

type element struct {
	words                                           [][]string
	number, loose, begins, ends, optional, variable bool
}

// book returns a phrasebook.
func book(phrases string) *phrasebook { return &phrasebook{text: phrases} }

// compile parses the phrases on first use, so that programs without checks
// start faster. It panics on a syntax error in the tables.
func (b *phrasebook) compile() {
	b.first = map[string][]*phrase{}
	for text := range strings.Lines(b.text) {
		ph := &phrase{text: strings.TrimSpace(text)}
		if ph.text == "" {
			continue
		}
		for word := range strings.FieldsSeq(ph.text) {
			ph.elements = append(ph.elements, newElement(word))
		}
		lead := ph.elements[0]
		if lead.begins {
			lead = ph.elements[1]
		}
		if lead.optional || lead.number || len(lead.words) == 0 {
			panic(fmt.Sprintf("phrase %q: the first word must be given, because phrases are found by it", ph.text))
		}
		for _, words := range lead.words {
			if list := b.first[words[0]]; !slices.Contains(list, ph) {
				b.first[words[0]] = append(list, ph)
			}
		}
	}
}

// unless excludes matches that overlap one of the phrases.
func (b *phrasebook) unless(phrases string) *phrasebook {
	b.except = book(phrases)
	return b
}

func newElement(word string) element {
	switch word {
	case "~":
		return element{loose: true}
	case "^":
		return element{begins: true}
	case ";":
		return element{ends: true}
	}
	var e element
	if trimmed := strings.TrimSuffix(word, "?"); trimmed != "" {
		e.optional, word = trimmed != word, trimmed
	}
	var list []string
	for alternative := range strings.SplitSeq(word, "|") {
		if alternative == "<n>" {
			e.number, e.variable = true, true
			continue
		}
		name, isClass := strings.CutPrefix(alternative, "<")
		if !isClass {
			list = append(list, strings.ReplaceAll(alternative, "_", " "))
			continue
		}
		class, known := wordClasses[strings.TrimSuffix(name, ">")]
		if !known {
			class, known = promiseClasses[strings.TrimSuffix(name, ">")]
		}
		if !known {
			panic(fmt.Sprintf("phrase element %s: there is no such word class", word))
		}
		list, e.variable = append(list, strings.Split(class, ",")...), true
	}
	for _, alternative := range list {
		var words []string
		for _, p := range newPassage(alternative).pieces {
			words = append(words, p.text)
		}
		if words == nil {
			panic(fmt.Sprintf("phrase element %s: %q has neither letters nor marks that are looked at", word, alternative))
		}
		e.words = append(e.words, words)
	}
	return e
}

// find returns the matches, which never overlap. Of matches with the same
// start, it returns the longest.
func (b *phrasebook) find(p *passage) []span {
	b.once.Do(b.compile)
	var found, excepted []span
	for i := 0; i < len(p.pieces); {
		end, claim := i, ""
		for _, ph := range b.first[p.pieces[i].text] {
			if e, v, ok := matchPhrase(p.pieces, i, ph.elements); ok && e > end {
				end, claim = e, ph.text+v
			}
		}
		if end == i {
			i++
			continue
		}
		s := span{start: p.pieces[i].start, end: p.pieces[end-1].end, claim: claim}
		if b.except != nil && excepted == nil {
			excepted = append([]span{{}}, b.except.find(p)...)
		}
		if !slices.ContainsFunc(excepted, func(x span) bool { return x.start < s.end && s.start < x.end }) {
			found = append(found, s)
		}
		i = end
	}
	return found
}

const maxLoose = 4

// matchPhrase matches elements from piece i on. It returns the index after them
// and the values of the variable elements.
func matchPhrase(pieces []piece, i int, elements []element) (end int, vars string, ok bool) {
	if len(elements) == 0 {
		return i, "", true
	}
	e, rest := elements[0], elements[1:]
	switch {
	case e.begins:
		if i > 0 && !endsSentence(pieces[i-1]) {
			return 0, "", false
		}
		return matchPhrase(pieces, i, rest)
	case e.ends:
		if i < len(pieces) && !endsSentence(pieces[i]) {
			return 0, "", false
		}
		return matchPhrase(pieces, i, rest)
	case e.loose:
		for n := 0; n <= maxLoose; n++ {
			if end, vars, ok = matchPhrase(pieces, i+n, rest); ok {
				return end, vars, true
			}
			if i+n >= len(pieces) || !fillers[pieces[i+n].text] {
				break
			}
		}
		return 0, "", false
	}
	for n := range e.lengths(pieces[min(i, len(pieces)):]) {
		if end, vars, ok = matchPhrase(pieces, i+n, rest); ok {
			if e.variable {
				for _, p := range pieces[i : i+n] {
					vars += " " + p.text
				}
			}
			return end, vars, true
		}
	}
	if e.optional {
		return matchPhrase(pieces, i, rest)
	}
	return 0, "", false
}

// lengths yields the number of pieces of each matching alternative.
func (e element) lengths(pieces []piece) func(func(int) bool) {
	return func(yield func(int) bool) {
		if len(pieces) == 0 {
			return
		}
		if e.number && pieces[0].kind == numberPiece {
			yield(1)
		}
		for _, words := range e.words {
			if beginsWith(pieces, words) && !yield(len(words)) {
				return
			}
		}
	}
}

// beginsWith reports whether the pieces start with the words.
func beginsWith(pieces []piece, words []string) bool {
	if len(pieces) < len(words) {
		return false
	}
	for i, word := range words {
		if pieces[i].text != word {
			return false
		}
	}
	return true
}

func endsSentence(p piece) bool {
	return p.text == "." || p.text == "!" || p.text == "?" || p.text == "\n"
}
