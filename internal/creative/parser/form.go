package parser

import (
	"unicode"
	"unicode/utf8"
)

// maxShort is the number of words of the longest prompt that is one phrase.
const maxShort = 12

// formOf decides the form of the kept lines.
func (r *reader) formOf(lines []line, page bool) string {
	labels, bullets, chat, known := 0, 0, 0, false
	for i := range lines {
		l := &lines[i]
		switch {
		case l.known, l.value > 0 && !l.bullet:
			labels++
			known = known || l.known
		case l.bullet:
			bullets++
		}
		if r.lex != nil {
			for k := l.from; k < l.to; k++ {
				if r.lex.has("lines.chat", &r.tokens[k]) || r.isMark(k, "!") && r.isMark(k+1, "!") {
					chat++
				}
			}
		}
	}
	switch {
	case page:
		return formPage
	case labels*10 >= len(lines)*6 && labels >= 2 && known:
		return formLabels
	case bullets >= 2:
		return formBullets
	case len(lines) == 1 && labels == 0 && r.wordCount(lines[0].from, lines[0].to) <= maxShort && !r.ends(&lines[0]) && r.isOnePhrase(lines[0].from, lines[0].to):
		return formShort
	case chat >= 1 || len(lines) > 0 && lines[0].from < len(r.tokens) && r.startsLow(lines[0].from):
		return formMessage
	}
	return formProse
}

// isOnePhrase reports whether no sentence ends within a line, not even before a
// small letter.
func (r *reader) isOnePhrase(from, to int) bool {
	for i := from; i+1 < to; i++ {
		if r.isMark(i, ".!?") && r.tokens[i+1].spaced && r.sentenceEnd(i, i+1) == i+1 && (i == from || !r.keepsPoint(i, from)) {
			return false
		}
	}
	return true
}

func (r *reader) startsLow(i int) bool {
	first, _ := utf8.DecodeRuneInString(r.src.text[r.tokens[i].start:])
	return unicode.IsLower(first)
}

func (r *reader) wordCount(from, to int) (n int) {
	for _, t := range r.tokens[from:to] {
		if t.kind != mark {
			n++
		}
	}
	return n
}
