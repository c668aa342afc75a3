package policy

import (
	"strings"
	"unicode"
)

// isCapitalized reports whether a word starts with a capital, after an article
// with an apostrophe.
func (p *parsedText) isCapitalized(x token) bool {
	word := p.slice(x.start, x.end)
	if article, rest, ok := strings.Cut(strings.ReplaceAll(word, "’", "'"), "'"); ok && len(article) == 1 && rest != "" {
		word = rest
	}
	return unicode.IsUpper([]rune(word)[0])
}

// hasNames reports whether a capital inside a sentence marks a name: in a title,
// most words start with one.
func (p *parsedText) hasNames() bool {
	words, capitals := 0, 0
	for _, x := range p.tokens {
		if x.kind == wordToken && len(x.text) > 3 {
			words++
			if p.isCapitalized(x) {
				capitals++
			}
		}
	}
	return words <= 2 || capitals*3 <= words*2
}
