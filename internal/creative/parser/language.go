package parser

import (
	"unicode"

	"fanfare/internal/creative/brief"
	"fanfare/internal/creative/policy"
	"fanfare/internal/creative/words"
)

// maxDetected is the number of words that show the language.
const maxDetected = 300

// detect returns the language of a prompt and of the fields. Words with a
// capital within a sentence are names, which say nothing of the language.
func detect(text string, atoms []token, given []brief.Fact) string {
	all, tokens := text, tokenizeAround(text, atoms, true)
	for _, f := range given {
		all += "\n" + f.Text
		tokens = append(tokens, tokenize(f.Text, true)...)
	}
	if tag := policy.DetectLanguage(all); lexiconOf(tag) == nil {
		return tag
	}
	score := map[string]int{}
	for i := range tokens[:min(len(tokens), maxDetected)] {
		t := &tokens[i]
		if t.kind != word {
			continue
		}
		inner := t.upper && i > 0 && tokens[i-1].kind == word
		for _, code := range languages {
			l := lexiconOf(code)
			switch {
			case l.has("language.function", t):
				score[code] += 3
			case (!inner || code == "de") && l.has("language.word", t), l.has("dates.weekdays", t), l.has("dates.months", t):
				score[code] += 2
			case code == "en" && !inner && words.Known(t.low):
				score[code]++
			case hasEnding(l, t) && !inner:
				score[code]++
			}
			for _, r := range t.low {
				if r > unicode.MaxASCII && l.letters(r) {
					score[code] += 2
				}
			}
		}
	}
	best, most := "", 0
	for _, code := range languages {
		if score[code] > most {
			best, most = code, score[code]
		}
	}
	if best != "" {
		return best
	}
	return policy.DetectLanguage(all)
}

// hasEnding reports an ending that is typical of the language.
func hasEnding(l *lexicon, t *token) bool { return len(t.low) > 4 && l.has("language.ending", t) }

// letters reports a letter that is typical of the language.
func (l *lexicon) letters(r rune) bool {
	in := l.lists["language.letters"]
	return in != nil && len(in.byFirst[string(r)]) > 0
}
