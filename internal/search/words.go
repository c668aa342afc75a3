package search

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

const (
	// MaxWords is how many words of a record the index has.
	MaxWords = 40
	// maxWord is how many characters of a word the index has. It is longer than
	// every id of a platform.
	maxWord = 40
)

// Words returns the words of texts as the index has them: letters and digits
// without case and accents, each word once, MaxWords at most. Scripts without
// spaces have one word per character.
func Words(texts ...string) []string {
	var list []string
	for _, text := range texts {
		for _, word := range split(text) {
			if len(list) == MaxWords {
				return list
			}
			if !slices.Contains(list, word) {
				list = append(list, word)
			}
		}
	}
	return list
}

// split returns the words of a text in their order.
func split(text string) []string {
	var list []string
	var word strings.Builder
	n := 0
	end := func() {
		if n > 0 {
			list = append(list, word.String())
			word.Reset()
			n = 0
		}
	}
	for _, r := range fold(text) {
		switch {
		case unicode.Is(unicode.Mn, r):
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			end()
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana):
			end()
			list = append(list, string(r))
		case n < maxWord:
			word.WriteRune(r)
			n++
		}
	}
	end()
	return list
}

// fold removes case and separates accents from their letters.
func fold(text string) string {
	for i := range len(text) {
		if text[i] >= 0x80 {
			return norm.NFKD.String(cases.Fold().String(text))
		}
	}
	return strings.ToLower(text)
}

// startsWith reports whether each of the words is the beginning of one of a
// record's words.
func startsWith(has, words []string) bool {
	for _, word := range words {
		if !slices.ContainsFunc(has, func(h string) bool { return strings.HasPrefix(h, word) }) {
			return false
		}
	}
	return true
}
