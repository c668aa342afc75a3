package policy

import (
	"embed"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// data has the word classes by language and the frames. data/README.md explains
// both formats.
//
//go:embed data
var data embed.FS

// languageSet is a set of languages, one bit each.
type languageSet uint8

// lexiconFiles are the languages of the word classes. The words of "any" belong
// to all of them.
var lexiconFiles = []string{"en", "de", "fr", "es", "it", "pt", "any"}

const allLanguages languageSet = 1<<6 - 1

// lexicon maps words to classes.
type lexicon struct {
	classes map[string]int
	// words has the entries by their first word, stems those that start with a
	// stem, tails those that end with one.
	words, stems, tails    map[string][]lexiconEntry
	stemLengths, tailSizes []int
}

// lexiconEntry is a word or a sequence of words in a class.
type lexiconEntry struct {
	// rest are the words after the first one. numberWord is any number.
	rest      []string
	class     int
	languages languageSet
}

// numberWord stands for a number in an entry of several words.
const numberWord = "0"

// Classes that the text itself fills: numbers, amounts of money, percentages,
// and the start of a sentence.
const (
	numberClass  = "number"
	moneyClass   = "money"
	percentClass = "percent"
	startClass   = "start"
	// nameClass has names that are only names if they start with a capital.
	nameClass = "rival"
	// languageClass has frequent words of a language.
	languageClass = "language"
)

// grammar has the word classes and the frames. It is read on first use, so that
// programs without checks start faster.
var grammar = sync.OnceValue(func() *frameSet {
	l := &lexicon{classes: map[string]int{}, words: map[string][]lexiconEntry{}, stems: map[string][]lexiconEntry{}, tails: map[string][]lexiconEntry{}}
	for _, class := range []string{numberClass, moneyClass, percentClass, startClass, nameClass, languageClass} {
		l.classes[class] = len(l.classes)
	}
	for i, name := range lexiconFiles {
		languages := languageSet(1) << i
		if name == "any" {
			languages = allLanguages
		}
		l.read(readData("lexicon/"+name+".txt"), languages)
	}
	l.stemLengths, l.tailSizes = keyLengths(l.stems), keyLengths(l.tails)
	return newFrameSet(l, readData("frames.txt"))
})

func readData(name string) string {
	text, err := data.ReadFile("data/" + name)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func keyLengths(m map[string][]lexiconEntry) []int {
	var list []int
	for key := range m {
		if !slices.Contains(list, len(key)) {
			list = append(list, len(key))
		}
	}
	slices.Sort(list)
	return list
}

// dataLines returns the statements of a data file as name and value. Comments
// start with #; a line that starts with a space continues the one before.
func dataLines(text string) [][2]string {
	var list [][2]string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \n")
		switch {
		case line == "" || line[0] == '#':
		case line[0] == ' ':
			list[len(list)-1][1] += " " + strings.TrimSpace(line)
		default:
			name, value, ok := strings.Cut(line, ":")
			if !ok {
				panic(fmt.Sprintf("policy data %q: a statement is a name, a colon and a value", line))
			}
			list = append(list, [2]string{name, strings.TrimSpace(value)})
		}
	}
	return list
}

// read reads the classes of a language.
func (l *lexicon) read(text string, languages languageSet) {
	endings := map[string][]string{}
	for _, line := range dataLines(text) {
		name, value := line[0], line[1]
		if name, ok := strings.CutPrefix(name, "@"); ok {
			endings[name] = strings.Fields(value)
			continue
		}
		class, known := l.classes[name]
		if !known {
			class = len(l.classes)
			l.classes[name] = class
		}
		for entry := range strings.SplitSeq(value, ",") {
			for _, form := range expandForms(strings.TrimSpace(entry), endings) {
				l.add(form, class, languages)
			}
		}
	}
}

// expandForms returns the forms of an entry: gu{a|e}rit@ir is each alternative
// with each of the endings ir.
func expandForms(entry string, endings map[string][]string) []string {
	if open := strings.IndexByte(entry, '{'); open >= 0 {
		end := strings.IndexByte(entry, '}')
		var list []string
		for alternative := range strings.SplitSeq(entry[open+1:end], "|") {
			list = append(list, expandForms(entry[:open]+alternative+entry[end+1:], endings)...)
		}
		return list
	}
	stem, rest, ok := strings.Cut(entry, "@")
	if !ok {
		return []string{entry}
	}
	name, rest, _ := strings.Cut(rest, " ")
	if endings[name] == nil {
		panic(fmt.Sprintf("policy data %q: there are no endings @%s", entry, name))
	}
	var list []string
	for _, ending := range endings[name] {
		list = append(list, strings.TrimSpace(stem+strings.Trim(ending, "-")+" "+rest))
	}
	return list
}

func (l *lexicon) add(form string, class int, languages languageSet) {
	index, key := l.words, ""
	switch {
	case strings.HasSuffix(form, "*"):
		index, key = l.stems, foldText(strings.TrimSuffix(form, "*"))
	case strings.HasPrefix(form, "*"):
		index, key = l.tails, foldText(strings.TrimPrefix(form, "*"))
	}
	e := lexiconEntry{class: class, languages: languages}
	if key == "" {
		for _, x := range parseText(form).tokens {
			e.rest = append(e.rest, x.text)
		}
		if len(e.rest) == 0 {
			panic(fmt.Sprintf("policy data %q: an entry has a word", form))
		}
		key, e.rest = e.rest[0], e.rest[1:]
	}
	for i, old := range index[key] {
		if old.class == class && slices.Equal(old.rest, e.rest) {
			index[key][i].languages |= languages
			return
		}
	}
	index[key] = append(index[key], e)
}

// hit is a place where the text has a word of a class: tokens start to end.
type hit struct {
	start, end int
	languages  languageSet
}

// hits returns the places of all classes in a text.
func (l *lexicon) hits(p *parsedText) [][]hit {
	all := make([][]hit, len(l.classes))
	add := func(class int, h hit) { all[class] = append(all[class], h) }
	n := 0
	for i, x := range p.tokens {
		if i == 0 || endsSentence(p.tokens[i-1]) {
			add(l.classes[startClass], hit{i, i, allLanguages})
		}
		if x.kind == numberToken {
			add(l.classes[numberClass], hit{i, i + 1, allLanguages})
		}
		for n < len(p.numbers) && p.numbers[n].start == x.start {
			l.addNumber(p, i, p.numbers[n], add)
			n++
		}
		if x.kind == numberToken || l.isNumberWord(x.text) {
			l.lookUp(p, i, numberWord, add)
		}
		l.lookUp(p, i, x.text, add)
		if _, rest, ok := strings.Cut(x.text, "'"); ok && rest != "" {
			// l'arthrose, dell'acne
			l.lookUp(p, i, rest, add)
		}
	}
	keepLanguages(all, likelyLanguages(all[l.classes[languageClass]]))
	return all
}

// likelyLanguages returns the languages with the most frequent words in a text,
// and those with one word less.
func likelyLanguages(words []hit) languageSet {
	counts := make([]int, len(lexiconFiles)-1)
	for _, h := range words {
		for i := range counts {
			if h.languages&(1<<i) != 0 {
				counts[i]++
			}
		}
	}
	least := slices.Max(counts)
	if least > 1 {
		least--
	}
	var set languageSet
	for i, n := range counts {
		if n >= least {
			set |= 1 << i
		}
	}
	return set
}

// keepLanguages removes the words of other languages, because they are false
// friends: in German, "bald" is no hair loss.
func keepLanguages(all [][]hit, languages languageSet) {
	for class, list := range all {
		kept := list[:0]
		for _, h := range list {
			if h.languages &= languages; h.languages != 0 {
				kept = append(kept, h)
			}
		}
		all[class] = kept
	}
}

func (l *lexicon) addNumber(p *parsedText, i int, f number, add func(int, hit)) {
	end := i + 1
	for end < len(p.tokens) && p.tokens[end].end <= f.end {
		end++
	}
	switch f.kind {
	case moneyNumber:
		add(l.classes[moneyClass], hit{i, end, allLanguages})
	case percentNumber:
		add(l.classes[percentClass], hit{i, end, allLanguages})
	case plainNumber:
	}
}

func (l *lexicon) lookUp(p *parsedText, i int, word string, add func(int, hit)) {
	name := l.classes[nameClass]
	found := func(list []lexiconEntry) {
		for _, e := range list {
			if l.hasRest(p.tokens[i+1:], e.rest) && (e.class != name || p.isCapitalized(p.tokens[i])) {
				add(e.class, hit{i, i + 1 + len(e.rest), e.languages})
			}
		}
	}
	found(l.words[word])
	for _, n := range l.stemLengths {
		if n > len(word) {
			break
		}
		found(l.stems[word[:n]])
	}
	for _, n := range l.tailSizes {
		if n > len(word) {
			break
		}
		found(l.tails[word[len(word)-n:]])
	}
}

// hasRest reports whether the tokens start with the words.
func (l *lexicon) hasRest(tokens []token, rest []string) bool {
	if len(tokens) < len(rest) {
		return false
	}
	for i, word := range rest {
		text := tokens[i].text
		switch {
		case word == text:
		case word == numberWord && (tokens[i].kind == numberToken || l.isNumberWord(text)):
		default:
			_, elided, ok := strings.Cut(text, "'")
			if !ok || elided != word {
				return false
			}
		}
	}
	return true
}

// isNumberWord reports whether a word is a number in words.
func (l *lexicon) isNumberWord(word string) bool {
	return slices.ContainsFunc(l.words[word], func(e lexiconEntry) bool { return e.class == l.classes[numberClass] && e.rest == nil })
}
