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
	// for statements that a source cannot prove.
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
//	*        is up to three words of the sentence
//	^ and ;  are the start and the end of a sentence
//	. ? % #  are literal
//
// All alternatives of one phrase are the same claim. Classes and numbers are
// part of the claim.
type phrasebook struct {
	text        string
	once        sync.Once
	byFirstWord map[string][]*phrase
	exceptions  *phrasebook
}

type phrase struct {
	text     string
	elements []element
}

type element struct {
	words                                                                     [][]string
	number, fillers, anyWords, sentenceStart, sentenceEnd, optional, variable bool
}

// newPhrasebook returns a phrasebook.
func newPhrasebook(phrases string) *phrasebook { return &phrasebook{text: phrases} }

// compile parses the phrases on first use, so that programs without checks
// start faster. It panics on a syntax error in the tables.
func (b *phrasebook) compile() {
	b.byFirstWord = map[string][]*phrase{}
	for text := range strings.Lines(b.text) {
		ph := &phrase{text: strings.TrimSpace(text)}
		if ph.text == "" {
			continue
		}
		for word := range strings.FieldsSeq(ph.text) {
			ph.elements = append(ph.elements, newElement(word))
		}
		lead := ph.elements[0]
		if lead.sentenceStart {
			lead = ph.elements[1]
		}
		if lead.optional || lead.number || len(lead.words) == 0 {
			panic(fmt.Sprintf("phrase %q: the first word must be given, because phrases are found by it", ph.text))
		}
		for _, words := range lead.words {
			if list := b.byFirstWord[words[0]]; !slices.Contains(list, ph) {
				b.byFirstWord[words[0]] = append(list, ph)
			}
		}
	}
}

// unless excludes matches that overlap one of the phrases.
func (b *phrasebook) unless(phrases string) *phrasebook {
	b.exceptions = newPhrasebook(phrases)
	return b
}

func newElement(word string) element {
	switch word {
	case "~":
		return element{fillers: true}
	case "*":
		return element{anyWords: true}
	case "^":
		return element{sentenceStart: true}
	case ";":
		return element{sentenceEnd: true}
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
		class, known := "", false
		for _, classes := range []map[string]string{wordClasses, promiseClasses, europeanClasses} {
			if class, known = classes[strings.TrimSuffix(name, ">")]; known {
				break
			}
		}
		if !known {
			panic(fmt.Sprintf("phrase element %s: there is no such word class", word))
		}
		list, e.variable = append(list, strings.Split(class, ",")...), true
	}
	for _, alternative := range list {
		var words []string
		for _, p := range parseText(alternative).tokens {
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
func (b *phrasebook) find(p *parsedText) []span {
	b.once.Do(b.compile)
	var found, excepted []span
	for i := 0; i < len(p.tokens); {
		end, claim := i, ""
		for _, ph := range b.byFirstWord[p.tokens[i].text] {
			if e, v, ok := matchPhrase(p.tokens, i, ph.elements); ok && e > end {
				end, claim = e, ph.text+v
			}
		}
		if end == i {
			i++
			continue
		}
		s := span{start: p.tokens[i].start, end: p.tokens[end-1].end, claim: claim}
		if b.exceptions != nil && excepted == nil {
			excepted = append([]span{{}}, b.exceptions.find(p)...)
		}
		if !slices.ContainsFunc(excepted, func(x span) bool { return x.start < s.end && s.start < x.end }) {
			found = append(found, s)
		}
		i = end
	}
	return found
}

// maxFillers and maxAnyWords are the maximum numbers of words that ~ and * match.
const (
	maxFillers  = 4
	maxAnyWords = 3
)

// matchBetween matches elements after as few tokens between as possible.
func matchBetween(tokens []token, i int, elements []element, most int, between func(token) bool) (end int, vars string, ok bool) {
	for n := 0; n <= most; n++ {
		if end, vars, ok = matchPhrase(tokens, i+n, elements); ok {
			return end, vars, true
		}
		if i+n >= len(tokens) || !between(tokens[i+n]) {
			break
		}
	}
	return 0, "", false
}

// matchPhrase matches elements from token i on. It returns the index after them
// and the values of the variable elements.
func matchPhrase(tokens []token, i int, elements []element) (end int, vars string, ok bool) {
	if len(elements) == 0 {
		return i, "", true
	}
	e, rest := elements[0], elements[1:]
	switch {
	case e.sentenceStart:
		if i > 0 && !endsSentence(tokens[i-1]) {
			return 0, "", false
		}
		return matchPhrase(tokens, i, rest)
	case e.sentenceEnd:
		if i < len(tokens) && !endsSentence(tokens[i]) {
			return 0, "", false
		}
		return matchPhrase(tokens, i, rest)
	case e.fillers:
		return matchBetween(tokens, i, rest, maxFillers, func(x token) bool { return fillerWords[x.text] })
	case e.anyWords:
		return matchBetween(tokens, i, rest, maxAnyWords, func(x token) bool { return !endsSentence(x) })
	}
	for n := range e.lengths(tokens[min(i, len(tokens)):]) {
		if end, vars, ok = matchPhrase(tokens, i+n, rest); ok {
			if e.variable {
				for _, p := range tokens[i : i+n] {
					vars += " " + p.text
				}
			}
			return end, vars, true
		}
	}
	if e.optional {
		return matchPhrase(tokens, i, rest)
	}
	return 0, "", false
}

// lengths yields the number of tokens of each matching alternative.
func (e element) lengths(tokens []token) func(func(int) bool) {
	return func(yield func(int) bool) {
		if len(tokens) == 0 {
			return
		}
		if e.number && tokens[0].kind == numberToken {
			yield(1)
		}
		for _, words := range e.words {
			if hasWords(tokens, words) && !yield(len(words)) {
				return
			}
		}
	}
}

// hasWords reports whether the tokens start with the words.
func hasWords(tokens []token, words []string) bool {
	if len(tokens) < len(words) {
		return false
	}
	for i, word := range words {
		if tokens[i].text != word {
			return false
		}
	}
	return true
}

func endsSentence(p token) bool {
	return p.text == "." || p.text == "!" || p.text == "?" || p.text == "\n"
}
