package search

import (
	"cmp"
	"slices"
	"strings"
)

// Scores of a name. A name that is the text itself is the best.
const (
	scoreEqual  = 100
	scoreStart  = 80
	scorePhrase = 60
	scoreWords  = 40
	// scoreOther is the score of what was found by another field than its name,
	// such as a tag.
	scoreOther = 20
	// scoreRunning is added to what is running, which people look for more often
	// than for what has ended.
	scoreRunning = 5
	// scoreDoc is subtracted from pages of the documentation.
	scoreDoc = 30
)

// score returns how well a name matches words.
func score(name, words []string) int {
	at := -1
	for i := range name {
		if len(name)-i >= len(words) && phrase(name[i:], words) {
			at = i
			break
		}
	}
	switch {
	case at == 0 && slices.Equal(name, words):
		return scoreEqual
	case at == 0:
		return scoreStart
	case at > 0:
		return scorePhrase
	case startsWith(name, words):
		return scoreWords
	}
	return scoreOther
}

// phrase reports whether a name begins with words. The last of them may be the
// beginning of a word.
func phrase(name, words []string) bool {
	last := len(words) - 1
	return slices.Equal(name[:last], words[:last]) && strings.HasPrefix(name[last], words[last])
}

// leastPerType is how many results of a type are listed, if it has so many,
// before better results of other types take all places.
const leastPerType = 3

// merge returns the best results of all types, the best first. Every type keeps
// some places.
func merge(found map[Type][]Result, limit int) Found {
	var first, rest []Result
	for _, name := range Types {
		list := found[Type(name)]
		n := min(leastPerType, len(list))
		first, rest = append(first, list[:n]...), append(rest, list[n:]...)
	}
	// Both sorts are stable, so that results of a type stay in their order.
	best := func(a, b Result) int { return cmp.Compare(b.score, a.score) }
	slices.SortStableFunc(first, best)
	slices.SortStableFunc(rest, best)
	taken := append(first, rest...)
	taken = taken[:min(limit, len(taken))]
	slices.SortStableFunc(taken, best)
	f := Found{Results: append([]Result{}, taken...), More: []Type{}}
	for _, name := range Types {
		n := 0
		for _, r := range taken {
			if r.Type == Type(name) {
				n++
			}
		}
		if n < len(found[Type(name)]) {
			f.More = append(f.More, Type(name))
		}
	}
	return f
}
