package parser

import (
	"slices"
	"strings"
	"unicode"

	"fanfare/internal/creative/brief"
)

// doubtRoles makes an amount or a date a guess if the words around it say that it
// is something else than its type: money that people are paid or give, the fee of
// somebody who sells for others, the start of a term. The whole sentence is kept.
func (r *reader) doubtRoles() {
	if r.lex == nil {
		return
	}
	for k := range r.found {
		c := &r.found[k]
		if c.conf >= brief.Labeled || r.corrects[c.from] {
			continue
		}
		if from, to := r.sentenceAround(c.from, c.to); r.hasOtherRole(*c, from, to) {
			c.conf = min(c.conf, brief.Guessed)
		}
	}
}

// hasOtherRole reports words in the sentence of a fact that say that it has another
// role.
func (r *reader) hasOtherRole(c candidate, from, to int) bool {
	clause := r.clauseStart(c.from, from)
	says := func(name string, from, to int) bool { return from < to && r.lex.find(name, r.tokens[from:to]) >= 0 }
	switch c.t {
	case brief.Price:
		paid := r.wants != "hiring" && says("cues.paid", clause, r.clauseEnd(c.to, to))
		return paid || says("cues.agent_fee", from, to)
	case brief.Product:
		return says("cues.agent_fee", from, to)
	case brief.PreviousPrice:
		// "Joining fee waived (normally £25)" beside the price of something else.
		return r.form == formBullets && slices.ContainsFunc(r.found, func(o candidate) bool { return o.t == brief.Price }) &&
			!r.hasAmount(from, c.from) && !r.hasAmount(c.to, to)
	case brief.When:
		return says("cues.not_event", clause, c.from) || says("cues.not_when", c.from, c.to) || r.isAttribute(c, to)
	case brief.Offer:
		return r.lex.has("cues.offer_if", &r.tokens[c.from]) && r.isMark(c.to, ",") && !r.hasAmount(c.from, c.to)
	default:
		return false
	}
}

// isAttribute reports a day that belongs to the noun after it: "Christmas turkeys".
func (r *reader) isAttribute(c candidate, to int) bool {
	if r.lex.code != "en" || c.to >= to || c.to-c.from > 1 || r.tokens[c.from].kind != word || r.startsLine(c.to) {
		return false
	}
	next := &r.tokens[c.to]
	before := c.from > 0 && r.lex.has("cues.preposition", &r.tokens[c.from-1])
	return !before && next.kind == word && r.taken[c.to] == "" && !r.lex.has("cues.stop", next) && !r.lex.has("cues.finite", next) && !r.lex.has("cues.and", next) && !r.lex.has("cues.day_part", next)
}

// sentenceAround returns the line or the sentence around tokens.
func (r *reader) sentenceAround(from, to int) (start, end int) {
	for from > 0 && !r.startsLine(from) && !r.isMark(from-1, ".!?;•*") {
		from--
	}
	for to < len(r.tokens) && !r.startsLine(to) && !r.isMark(to, ".!?;") {
		to++
	}
	return r.trim(from, to)
}

// isCovered reports whether facts have all words of a text that say something.
func (r *reader) isCovered(from, to int) bool {
	covered := make([]bool, to-from)
	for _, c := range r.found {
		for i := max(from, c.from); i < min(to, c.to) && c.conf >= brief.Sure; i++ {
			covered[i-from] = true
		}
	}
	for i := from; i < to; i++ {
		t := &r.tokens[i]
		if !covered[i-from] && t.kind != mark && r.taken[i] == "" && !r.lex.has("cues.stop", t) && !r.lex.has("cues.article", t) && !r.lex.has("cues.and", t) {
			return false
		}
	}
	return true
}

// isFigured reports a text with a figure.
func isFigured(text string) bool { return strings.ContainsFunc(text, unicode.IsDigit) }
