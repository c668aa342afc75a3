package policy

import (
	"slices"
	"unicode"
)

// disguises are the letters that signs and digits stand for inside a word.
var disguises = map[rune]rune{
	'0': 'o', '1': 'i', '3': 'e', '4': 'a', '5': 's', '7': 't', '8': 'b', '@': 'a', '$': 's', '€': 'e', '£': 'l', '!': 'i', '|': 'l', '+': 't',
	'а': 'a', 'е': 'e', 'о': 'o', 'р': 'p', 'с': 'c', 'х': 'x', 'у': 'y', 'і': 'i', 'к': 'k', 'м': 'm', 'т': 't', 'в': 'b', 'н': 'h',
	'α': 'a', 'ε': 'e', 'ο': 'o', 'ρ': 'p', 'ι': 'i', 'ν': 'v', 'τ': 't', 'κ': 'k',
}

// undisguised returns the text with the letters that its signs stand for and
// without spaces between single letters, at the same positions, or nil if
// nothing is disguised: gu4ranteed, c@sino, v i a g r a.
func (p *parsedText) undisguised() *parsedText {
	if p.plain {
		return nil
	}
	runes := slices.Clone(p.runes)
	changed := false
	for from := 0; from < len(runes); {
		to := from
		for to < len(runes) && !unicode.IsSpace(runes[to]) {
			to++
		}
		changed = uncover(runes[from:to]) || changed
		from = to + 1
	}
	if changed = closeUp(runes) || changed; !changed {
		return nil
	}
	other := parseText(string(runes))
	other.plain, other.lenient, other.languages = true, p.lenient, p.languages
	return other
}

// minDisguised is the number of letters from which a word may be disguised.
const minDisguised = 3

// uncover replaces the signs of a word that is neither a number with its unit,
// nor a name such as B2B or MP3, nor an address.
func uncover(word []rune) bool {
	letters, digits, latin, other, after := 0, 0, 0, 0, 0
	for i, r := range word {
		switch {
		case unicode.IsLetter(r):
			letters++
			if disguises[unicode.ToLower(r)] != 0 {
				other++
			} else if r < 0x250 {
				latin++
			}
			if i > 0 && disguises[word[i-1]] != 0 && !unicode.IsLetter(word[i-1]) {
				after++
			}
		case unicode.IsDigit(r):
			digits++
		case r == '.' || r == '/' || r == ':':
			if i > 0 && i < len(word)-1 {
				return false
			}
		}
	}
	if letters < minDisguised-1 || digits > letters || after == 0 && (other == 0 || latin == 0) {
		return false
	}
	changed := false
	for i, r := range word {
		plain := disguises[unicode.ToLower(r)]
		if plain == 0 || i == len(word)-1 && !unicode.IsLetter(r) {
			continue
		}
		word[i], changed = plain, true
	}
	return changed
}

// closeUp hides the separators between at least four single letters.
func closeUp(runes []rune) bool {
	single := func(i int) bool {
		return i < len(runes) && unicode.IsLetter(runes[i]) && (i == 0 || !isWordRune(runes[i-1])) && (i+1 == len(runes) || !isWordRune(runes[i+1]))
	}
	changed := false
	for i := 0; i < len(runes); i++ {
		start, n := i, 0
		for single(i) {
			n++
			if i+2 >= len(runes) || unicode.IsLetter(runes[i+1]) || !single(i+2) {
				break
			}
			i += 2
		}
		if n >= minDisguised+1 {
			for k := start + 1; k < i; k += 2 {
				runes[k], changed = '\u200b', true
			}
		}
	}
	return changed
}
