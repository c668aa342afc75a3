package parser

import (
	"fanfare/internal/creative/brief"
	"fanfare/internal/creative/words"
)

// partBenefits takes the parts of a sentence between its other facts that can stand
// alone: "49 € a month, no contract" has one.
func (r *reader) partBenefits(from, to int) {
	start, verbless := from, !r.hasFinite(from, to)
	flush := func(end int) {
		a, b := r.trim(start, end)
		alone := a == from && end >= to-1
		torn := start > from && r.lex.has("cues.or", &r.tokens[start-1]) || end+1 < to && r.lex.has("cues.relative_who", &r.tokens[end+1])
		if a < b && !alone && !torn && r.isPart(a, b, verbless) {
			r.benefit(a, b, brief.Sure)
		}
	}
	for i := from; i < to; i++ {
		isAnd := r.lex.has("cues.and", &r.tokens[i]) && !r.lex.has("cues.or", &r.tokens[i]) && i+1 < to && (r.lex.match("cues.clause_start", r.tokens[i+1:to]) > 0 || r.lex.code == "en" && words.ShapeOf(r.text(i+1, r.clauseEnd(i+1, to))) == words.Clause)
		if isAnd || r.isBreak(i) || r.isMark(i, ",") {
			flush(i)
			start = i + 1
			if start < to && !isAnd && r.lex.has("cues.and", &r.tokens[start]) && !r.lex.has("cues.or", &r.tokens[start]) {
				start++
			}
		}
	}
	flush(to)
}

// hasFinite reports whether one of the words is a finite verb that a list has. The
// verb of a relative clause is none of the sentence.
func (r *reader) hasFinite(from, to int) bool {
	relative := false
	for i := from; i < to; i++ {
		switch {
		case r.isMark(i, ",") || r.isBreak(i):
			relative = false
		case i > from && r.lex.has("cues.relative_who", &r.tokens[i]):
			relative = true
		case !relative && r.lex.has("cues.finite", &r.tokens[i]):
			return true
		}
	}
	return false
}

// isPart reports whether a part of a sentence is a phrase that can stand alone.
// verbless reports that the whole sentence has no verb, so that its parts are items.
func (r *reader) isPart(from, to int, verbless bool) bool {
	n := r.wordCount(from, to)
	if n < 2 || n > maxBenefit || !r.untouched(from, to) || r.depends(from, to) || r.lex.has("cues.dangling", &r.tokens[to-1]) || r.hasAmount(from, to) {
		return false
	}
	for i := from; i < to; i++ {
		t := &r.tokens[i]
		clock := r.lex.has("dates.clock_lead", t) && i+1 < to && r.tokens[i+1].kind == number
		if clock || r.isMark(i, "()[]?/") || r.lex.has("cues.first_person", t) || r.form == formMessage && !r.isPlainWord(t) {
			return false
		}
	}
	if r.lex.has("cues.no", &r.tokens[from]) {
		return n <= 5
	}
	first := &r.tokens[from]
	if r.lex.has("cues.finite", first) || r.isNames(from, to) || r.lex.match("cues.meet_at", r.tokens[from:to]) > 0 {
		return false
	}
	if r.lex.code != "en" {
		return !r.lex.has("cues.stop", first) && !r.lex.has("cues.condition", first) && !r.lex.has("cues.article", first) && (first.kind != number || n > 4) && n <= 8
	}
	if r.lex.match("cues.we_can", r.tokens[from:to]) > 0 {
		return n >= 4
	}
	switch words.ShapeOf(r.text(from, to)) {
	case words.NounPhrase, words.Attribute:
		return verbless && (r.form != formMessage || n >= 3)
	case words.Clause:
		return n >= 3 && r.hasFinite(from, min(to, from+4))
	case words.Unknown, words.Predicate, words.Imperative:
	}
	return false
}

// isPlain reports whether a dictionary has all words of a phrase.
func (r *reader) isPlain(from, to int) bool {
	for i := from; i < to; i++ {
		if r.lex == nil || !r.isPlainWord(&r.tokens[i]) || r.tokens[i].kind == number && i > from && r.tokens[i-1].kind == word && i+1 < to {
			return false
		}
	}
	return true
}

// isPlainWord reports a word that a dictionary has, or a number.
func (r *reader) isPlainWord(t *token) bool {
	return t.kind != word || r.lex.code == "en" && words.Known(t.low) && len(t.low) > 1 || r.lex.code != "en" && len(t.low) > 1
}

// isNames reports words that all have a capital, in a language that gives other
// nouns none.
func (r *reader) isNames(from, to int) bool {
	for i := from; i < to; i++ {
		if t := &r.tokens[i]; t.kind == word && !t.upper && !r.lex.has("cues.and", t) && !r.lex.has("cues.place_small", t) {
			return false
		}
	}
	return r.lex.lists["cues.nouns_capital"] == nil
}
