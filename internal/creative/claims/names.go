package claims

import (
	"slices"

	"fanfare/internal/creative/words"
)

// name is a name that the brief does not have. It is sure if it cannot be a word
// that only has a capital.
type name struct {
	extent
	sure bool
}

// capitalsAreNames are the languages in which a capital within a sentence makes
// a name. German writes all nouns so.
var capitalsAreNames = []string{"en", "fr", "es", "it", "pt"}

// names returns the names in a text that the brief does not have: those of the
// lists, words after a title, words with a capital inside, and, where capitals
// are rare, words with a capital within a sentence.
func (b *brief) names(tokens []token, text string) (list []name) {
	language := b.languageOf(text)
	for i := 0; i < len(tokens); {
		end, sure := b.nameAt(tokens, i, language)
		if end == i {
			i++
			continue
		}
		list = append(list, name{extent{tokens[i].start, tokens[end-1].end}, sure})
		i = end
	}
	return list
}

// nameAt returns the end of the name that begins at a token, which is the
// token's own place if there is none.
func (b *brief) nameAt(tokens []token, i int, language string) (end int, sure bool) {
	n, t := names(), tokens[i]
	if !t.isCapital() {
		if t.isMixed() && !b.has(t) && !n.common[t.folded] {
			return i + 1, true
		}
		return i, false
	}
	for _, l := range n.listed.at(t) {
		if l.begins(tokens[i:]) && inOneSentence(tokens, i, i+len(l.words)) {
			if b.listed[l.id] {
				return i, false // the brief has it, in some language
			}
			end = max(end, i+len(l.words))
		}
	}
	if end > 0 {
		return end, true
	}
	if b.has(t) || n.common[t.folded] || n.titles[t.folded] {
		return i, false
	}
	// A name goes on with the capitals beside it.
	for end = i + 1; end < len(tokens) && tokens[end].isCapital() && !tokens[end].opens && !b.has(tokens[end]); end++ {
	}
	title := i > 0 && n.titles[tokens[i-1].folded] && tokens[i-1].isCapital()
	switch {
	case n.people[t.folded] && !t.isShouted(), title:
		return end, true
	case t.isMixed():
		return i + 1, true
	}
	if t.opens || t.isShouted() || !slices.Contains(capitalsAreNames, language) || isTitleCase(tokens, i) {
		return i, false
	}
	run := tokens[i:end]
	unknown := func(t token) bool { return language != "en" || !words.Known(t.folded) && !t.isShouted() }
	institution := slices.ContainsFunc(run, func(t token) bool { return n.institutions[t.folded] })
	switch {
	case len(run) > 1 && (institution || slices.ContainsFunc(run, unknown)):
		return end, true
	case len(run) == 1 && unknown(t):
		return end, false
	}
	return i, false
}

// inOneSentence reports whether no sentence begins after the first of some
// tokens.
func inOneSentence(tokens []token, from, to int) bool {
	return !slices.ContainsFunc(tokens[from+1:to], func(t token) bool { return t.opens })
}

// isTitleCase reports whether the sentence of a token is written as a headline:
// only small words of it have no capital.
func isTitleCase(tokens []token, i int) bool {
	from, to := i, i+1
	for from > 0 && !tokens[from].opens {
		from--
	}
	for to < len(tokens) && !tokens[to].opens {
		to++
	}
	return !slices.ContainsFunc(tokens[from:to], func(t token) bool {
		return len([]rune(t.text)) > 3 && !t.isCapital() && !names().small[t.folded]
	})
}

// begins reports whether the tokens begin with the name.
func (l *listedName) begins(tokens []token) bool {
	return hasWords(tokens, l.words) && (!l.shouted || tokens[0].isShouted())
}
