package claims

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// token is a word, a number or a # of a text. start and end are code points.
type token struct {
	text, folded string
	start, end   int
	// opens says that a sentence, a quotation or a line begins with the token.
	opens bool
}

// isCapital reports whether the word begins with a capital.
func (t token) isCapital() bool {
	for _, r := range t.text {
		return unicode.IsUpper(r)
	}
	return false
}

// isMixed reports whether the word has a capital after a small letter.
func (t token) isMixed() bool {
	small := false
	for _, r := range t.text {
		if small && unicode.IsUpper(r) {
			return true
		}
		small = small || unicode.IsLower(r)
	}
	return false
}

// isShouted reports whether the word has no small letter.
func (t token) isShouted() bool { return !strings.ContainsFunc(t.text, unicode.IsLower) }

// tokenize splits a text.
func tokenize(text string) []token {
	runes := []rune(text)
	var list []token
	opens := true
	for i := 0; i < len(runes); {
		end := i
		switch r := runes[i]; {
		case unicode.IsDigit(r):
			for end < len(runes) && (unicode.IsDigit(runes[end]) || strings.ContainsRune(".,/:", runes[end]) && end+1 < len(runes) && unicode.IsDigit(runes[end+1])) {
				end++
			}
		case isLetter(r):
			for end < len(runes) && isLetter(runes[end]) {
				end++
			}
		case r == '#':
			end++
		default:
			opens = opens || strings.ContainsRune(".!?:;…–—|•·\"“”„«»(¿¡\n", r)
			i++
			continue
		}
		word := string(runes[i:end])
		list = append(list, token{word, fold(word), i, end, opens})
		opens, i = false, end
	}
	return list
}

func isLetter(r rune) bool { return unicode.IsLetter(r) || unicode.IsMark(r) }

// fold returns a word in small letters without accents.
func fold(word string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFKD.String(strings.ReplaceAll(word, "ß", "ss")))
}

// hasWords reports whether the tokens begin with the words.
func hasWords(tokens []token, words []string) bool {
	if len(tokens) < len(words) {
		return false
	}
	for i, word := range words {
		stem, any := strings.CutSuffix(word, "*")
		if tokens[i].folded != word && !(any && strings.HasPrefix(tokens[i].folded, stem)) {
			return false
		}
	}
	return true
}
