package parser

import (
	"slices"

	"fanfare/internal/creative/brief"
)

// longestHead is the number of words of the longest head that can be a product. A
// longer one is kept as a sentence.
const longestHead = 6

// readHead takes the first words of a prompt, up to its first mark, for what it is
// about, if no rule found a product. It is a guess that no pattern relies on.
func (r *reader) readHead() {
	if slices.ContainsFunc(r.found, func(c candidate) bool { return c.t == brief.Product || c.t == brief.Sentence }) {
		return
	}
	from, _ := r.trim(0, len(r.tokens))
	to := from
	for to < len(r.tokens) && (r.tokens[to].kind == word || r.tokens[to].kind == named || r.isMark(to, `'’-&"“”„«»`)) && (to == from || !r.startsLine(to)) {
		to++
	}
	n := to - from
	if n < 1 || n > 16 || !r.hasLetters(from, to) || r.lex != nil && (r.isInstruction(from, to) || r.isHostile(from, to) || r.isChat(from, to)) {
		return
	}
	if n <= longestHead {
		r.add(brief.Product, from, to, brief.Guessed)
		return
	}
	r.add(brief.Sentence, from, to, brief.Guessed)
}

// startsLine reports whether a line begins at a token.
func (r *reader) startsLine(i int) bool {
	if i == 0 {
		return true
	}
	for _, c := range r.src.text[r.tokens[i-1].end:r.tokens[i].start] {
		if c == '\n' {
			return true
		}
	}
	return false
}

// longestContext is the length of the longest line that is kept for an amount.
const longestContext = 90

// keepContext keeps the whole line or sentence around an amount or a date that no
// pattern may use, because what belongs to it is not sure. Repeated as it is, it
// says what the brief says.
func (r *reader) keepContext() {
	for _, c := range slices.Clone(r.found) {
		switch c.t {
		case brief.Offer, brief.Price, brief.PreviousPrice, brief.Deadline, brief.When:
		default:
			continue
		}
		if c.conf >= brief.Sure || slices.ContainsFunc(r.found, func(o candidate) bool {
			return (o.t == brief.Sentence || o.t == brief.Benefit) && o.from <= c.from && c.to <= o.to
		}) {
			continue
		}
		from, to := c.from, c.to
		for from > 0 && !r.startsLine(from) && !r.isMark(from-1, ".!?;•*") {
			from--
		}
		for to < len(r.tokens) && !r.startsLine(to) && !r.isMark(to, ".!?;") {
			to++
		}
		from, to = r.trim(from, to)
		contact := slices.ContainsFunc(r.tokens[from:to], func(t token) bool { return t.kind == phone || t.kind == address })
		if contact || len(r.text(from, to)) > longestContext || r.lex != nil && (r.isInstruction(from, to) || r.isHostile(from, to) || r.isChat(from, to)) {
			continue
		}
		r.add(brief.Sentence, from, to, brief.Guessed)
	}
}
