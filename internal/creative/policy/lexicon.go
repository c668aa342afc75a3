package policy

import (
	"embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
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
	// The classes of the same names.
	number, money, percent, start, end, rival, name, filler, language int
	// voids has, for a class, that of the words in which it does not apply: gun in
	// "glue gun".
	voids map[int]int
	// frequency has the number of entries of a class. Frequent words count more.
	frequency map[int]int
	// words has the entries, stems and tails those that are the start or the end
	// of a word.
	words        lexiconNode
	stems, tails affixes
}

// lexiconNode is a place in the tree of entries: the classes of the words up to
// here, and the words that may follow.
type lexiconNode struct {
	entries []lexiconEntry
	next    map[string]*lexiconNode
}

type lexiconEntry struct {
	class     int
	languages languageSet
	// accented is set for a word with accents: té is no te.
	accented bool
}

// affixes are starts or ends of words, with their lengths in order.
type affixes struct {
	entries map[string][]lexiconEntry
	lengths []int
}

// numberWord stands for a number in an entry of several words.
const numberWord = "0"

// builtInClasses are the classes that the code knows: numbers, amounts of money,
// percentages, the start and the end of a sentence, brands that are brands only
// with a capital, other names, words between an offer and its goods, and
// frequent words of a language.
var builtInClasses = []string{"number", "money", "percent", "start", "end", "rival", "name", "filler", "language"}

// grammar has the word classes and the frames. It is read on first use, so that
// programs without checks start faster.
var grammar = sync.OnceValue(func() *frameSet {
	l := &lexicon{
		classes: map[string]int{}, voids: map[int]int{}, frequency: map[int]int{}, words: lexiconNode{next: map[string]*lexiconNode{}},
		stems: affixes{entries: map[string][]lexiconEntry{}}, tails: affixes{entries: map[string][]lexiconEntry{}},
	}
	for i, class := range []*int{&l.number, &l.money, &l.percent, &l.start, &l.end, &l.rival, &l.name, &l.filler, &l.language} {
		*class = i
		l.classes[builtInClasses[i]] = i
	}
	for i, name := range lexiconFiles {
		l.read(readData("lexicon/"+name+".txt"), languagesOf(i))
	}
	set := newFrameSet(l)
	for i, name := range lexiconFiles {
		set.read(readData("frames/"+name+".txt"), languagesOf(i))
	}
	l.stems.lengths, l.tails.lengths = keyLengths(l.stems.entries), keyLengths(l.tails.entries)
	set.index()
	return set
})

// languagesOf returns the languages of a file of the data.
func languagesOf(file int) languageSet {
	if lexiconFiles[file] == "any" {
		return allLanguages
	}
	return 1 << file
}

// languageOf returns the set of a language tag, empty if it has no words here.
func languageOf(tag string) languageSet {
	base, _, _ := strings.Cut(strings.ToLower(tag), "-")
	if i := slices.Index(lexiconFiles, base); i >= 0 && base != "any" {
		return 1 << i
	}
	return 0
}

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
		l.addAll(value, l.class(name), endings, languages)
	}
}

// class returns the class of a name.
func (l *lexicon) class(name string) int {
	class, known := l.classes[name]
	if !known {
		class = len(l.classes)
		l.classes[name] = class
	}
	return class
}

// inline returns the class of words that a frame lists itself.
func (l *lexicon) inline(words string, languages languageSet) int {
	name := fmt.Sprintf("(%s) %d", words, languages)
	class, known := l.classes[name]
	if !known {
		class = l.class(name)
		l.addAll(words, class, nil, languages)
	}
	return class
}

// addAll adds a list of entries to a class.
func (l *lexicon) addAll(list string, class int, endings map[string][]string, languages languageSet) {
	for entry := range strings.SplitSeq(list, ",") {
		entry, void := strings.CutPrefix(strings.TrimSpace(entry), "!")
		target := class
		if void {
			target = l.class(fmt.Sprintf("! %d", class))
			l.voids[class] = target
		}
		for _, form := range expandForms(entry, endings) {
			l.add(form, target, languages)
			l.frequency[class]++
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
	e := lexiconEntry{class, languages, strings.ContainsFunc(form, func(r rune) bool { return r >= utf8.RuneSelf })}
	if stem, ok := strings.CutSuffix(form, "*"); ok {
		l.stems.add(foldText(stem), e)
		return
	}
	if tail, ok := strings.CutPrefix(form, "*"); ok {
		l.tails.add(foldText(tail), e)
		return
	}
	node, tokens := &l.words, parseText(form).tokens
	if len(tokens) == 1 && tokens[0].text == numberWord {
		panic(fmt.Sprintf("policy data: the entry %q of class %d is any number: write the class number", form, class))
	}
	for _, x := range tokens {
		next := node.next[x.text]
		if next == nil {
			next = &lexiconNode{}
			if node.next == nil {
				node.next = map[string]*lexiconNode{}
			}
			node.next[x.text] = next
		}
		node = next
	}
	if node == &l.words {
		panic(fmt.Sprintf("policy data: the entry %q has no word", form))
	}
	node.entries = addEntry(node.entries, e)
}

func (a *affixes) add(key string, e lexiconEntry) { a.entries[key] = addEntry(a.entries[key], e) }

func addEntry(list []lexiconEntry, e lexiconEntry) []lexiconEntry {
	for i := range list {
		if list[i].class == e.class && list[i].accented == e.accented {
			list[i].languages |= e.languages
			return list
		}
	}
	return append(list, e)
}

// hit is a place where the text has a word of a class: tokens start to end.
type hit struct {
	start, end int
	languages  languageSet
}

// classHit is a hit of a class.
type classHit struct {
	class int
	hit
}

// classHits are the hits of a text, sorted by class.
type classHits struct {
	list []classHit
	at   map[int][2]int
}

// of returns the hits of a class.
func (h *classHits) of(class int) []classHit {
	at := h.at[class]
	return h.list[at[0]:at[1]]
}

func (h *classHits) has(class int) bool { return h.at[class][1] > 0 }

// classes returns the classes that the text has.
func (h *classHits) classes() []int { return slices.Collect(maps.Keys(h.at)) }

// hits returns the places of each class in a text.
func (l *lexicon) hits(p *parsedText) classHits {
	found := make([]classHit, 0, 8*len(p.tokens))
	n, names := 0, p.hasNames()
	for i, x := range p.tokens {
		if i == 0 || endsSentence(p.tokens[i-1]) {
			found = append(found, classHit{l.start, hit{i, i, allLanguages}})
		} else if names && x.kind == wordToken && p.isCapitalized(x) {
			found = append(found, classHit{l.name, hit{i, i + 1, allLanguages}})
		}
		if endsSentence(x) {
			found = append(found, classHit{l.end, hit{i, i, allLanguages}})
		}
		if x.kind == numberToken {
			found = append(found, classHit{l.number, hit{i, i + 1, allLanguages}})
		}
		for n < len(p.numbers) && p.numbers[n].start == x.start {
			found = l.addNumber(p, i, p.numbers[n], found)
			n++
		}
		found = l.follow(p, i, i, &l.words, found)
		if x.kind == wordToken {
			found = l.findAffixes(i, x.text, found)
		}
	}
	found = append(found, classHit{l.end, hit{len(p.tokens), len(p.tokens), allLanguages}})
	return l.byClass(p, found)
}

// byClass sorts hits by their class and removes those of other languages than
// the text's, because they are false friends: in German, "bald" is no hair loss.
func (l *lexicon) byClass(p *parsedText, found []classHit) classHits {
	languages := l.likelyLanguages(p, found)
	kept := found[:0]
	for _, h := range found {
		if h.languages &= languages; h.languages != 0 {
			kept = append(kept, h)
		}
	}
	slices.SortStableFunc(kept, func(a, b classHit) int { return a.class - b.class })
	hits := classHits{kept, make(map[int][2]int, len(kept))}
	for from := 0; from < len(kept); {
		to := from
		for to < len(kept) && kept[to].class == kept[from].class {
			to++
		}
		hits.at[kept[from].class] = [2]int{from, to}
		from = to
	}
	l.removeVoid(hits)
	return hits
}

// removeVoid removes the hits inside words in which their class does not apply.
func (l *lexicon) removeVoid(hits classHits) {
	for class, void := range l.voids {
		at, voids := hits.at[class], hits.of(void)
		if len(voids) == 0 || at[1] == 0 {
			continue
		}
		list := slices.DeleteFunc(hits.list[at[0]:at[1]:at[1]], func(h classHit) bool {
			return slices.ContainsFunc(voids, func(v classHit) bool { return h.overlaps(v.hit) })
		})
		if hits.at[class] = [2]int{at[0], at[0] + len(list)}; len(list) == 0 {
			delete(hits.at, class)
		}
	}
}

// A frequent word of a language is evidence of it, another word of the lexicon
// weaker evidence. A text may be in the languages that have at most
// languageTolerance less evidence than the first. The language of the source is
// evidence, too.
const frequentEvidence, wordEvidence, sourceEvidence, languageTolerance = 2, 1, 3, 2

// likelyLanguages returns the languages that a text may be in.
func (l *lexicon) likelyLanguages(p *parsedText, found []classHit) languageSet {
	words, frequent := make([]languageSet, len(p.tokens)), make([]languageSet, len(p.tokens))
	for _, h := range found {
		switch {
		case h.languages == allLanguages:
		case h.class == l.language:
			frequent[h.start] |= h.languages
		default:
			words[h.start] |= h.languages
		}
	}
	var evidence [8]int
	for i := range words {
		for language := range evidence {
			evidence[language] += frequentEvidence * int(frequent[i]>>language&1)
			evidence[language] += wordEvidence * int((words[i]&^frequent[i])>>language&1)
		}
	}
	for language := range evidence {
		evidence[language] += sourceEvidence * int(p.languages>>language&1)
	}
	var set languageSet
	for i, n := range evidence {
		if n >= slices.Max(evidence[:])-languageTolerance {
			set |= 1 << i
		}
	}
	return set & allLanguages
}

func (l *lexicon) addNumber(p *parsedText, i int, f number, found []classHit) []classHit {
	class := l.money
	switch f.kind {
	case plainNumber:
		return found
	case percentNumber:
		class = l.percent
	case moneyNumber:
	}
	end := i + 1
	for end < len(p.tokens) && p.tokens[end].end <= f.end {
		end++
	}
	return append(found, classHit{class, hit{i, end, allLanguages}})
}

// follow finds the entries whose next word is token i and whose first is token
// start.
func (l *lexicon) follow(p *parsedText, start, i int, node *lexiconNode, found []classHit) []classHit {
	if i == len(p.tokens) || node.next == nil {
		return found
	}
	x := p.tokens[i]
	found = l.found(p, start, i, node.next[x.text], found)
	if _, rest, ok := strings.Cut(x.text, "'"); ok && rest != "" {
		// l'arthrose, dell'acne
		found = l.found(p, start, i, node.next[rest], found)
	}
	if x.text != numberWord && (x.kind == numberToken || l.isNumberWord(x.text)) {
		found = l.found(p, start, i, node.next[numberWord], found)
	}
	return found
}

func (l *lexicon) found(p *parsedText, start, i int, node *lexiconNode, found []classHit) []classHit {
	if node == nil {
		return found
	}
	for _, e := range node.entries {
		if (e.class != l.rival || p.isCapitalized(p.tokens[start])) && (!e.accented || start < i || !l.isUnaccented(p, p.tokens[i], node, e)) {
			found = append(found, classHit{e.class, hit{start, i + 1, e.languages}})
		}
	}
	return l.follow(p, start, i+1, node, found)
}

// isUnaccented reports whether a word without accents is a frequent word of the
// language, and not the one with accents of an entry.
func (l *lexicon) isUnaccented(p *parsedText, x token, node *lexiconNode, e lexiconEntry) bool {
	for _, r := range p.runes[x.start:x.end] {
		if r >= utf8.RuneSelf {
			return false
		}
	}
	return slices.ContainsFunc(node.entries, func(o lexiconEntry) bool { return o.class == l.language && o.languages&e.languages != 0 })
}

// findAffixes finds the entries that are the start or the end of a word.
func (l *lexicon) findAffixes(i int, word string, found []classHit) []classHit {
	for _, n := range l.stems.lengths {
		if n > len(word) {
			break
		}
		for _, e := range l.stems.entries[word[:n]] {
			found = append(found, classHit{e.class, hit{i, i + 1, e.languages}})
		}
	}
	for _, n := range l.tails.lengths {
		if n > len(word) {
			break
		}
		for _, e := range l.tails.entries[word[len(word)-n:]] {
			found = append(found, classHit{e.class, hit{i, i + 1, e.languages}})
		}
	}
	return found
}

// isNumberWord reports whether a word is a number in words.
func (l *lexicon) isNumberWord(word string) bool {
	node := l.words.next[word]
	return node != nil && slices.ContainsFunc(node.entries, func(e lexiconEntry) bool { return e.class == l.number })
}
