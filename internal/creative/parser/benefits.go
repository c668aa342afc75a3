package parser

import (
	"strings"

	"fanfare/internal/creative/brief"
	"fanfare/internal/creative/words"
)

// maxBenefit is the number of words of the longest benefit.
const maxBenefit = 10

// benefits records the items of a list, or the text as one benefit.
func (r *reader) benefits(from, to int, conf float64) {
	from, to = r.trim(from, to)
	if from >= to {
		return
	}
	items := r.items(from, to)
	for _, item := range items {
		r.benefit(item[0], item[1], conf)
	}
}

// benefit records one benefit, if a writer can use it.
func (r *reader) benefit(from, to int, conf float64) {
	from, to = r.trim(from, to)
	n := r.wordCount(from, to)
	if n == 0 || n > 2*maxBenefit || !r.hasLetters(from, to) {
		return
	}
	if n == 1 && r.form == formShort {
		return
	}
	switch {
	case n == 1 && conf >= brief.Labeled && r.listed:
		conf = brief.Sure // "hot tub, firewood, kayaks"
	case n == 1, r.form == formMessage && !r.isPlain(from, to):
		conf = min(conf, brief.Guessed)
	}
	if r.lex != nil && (r.isChat(from, to) || r.isRequirement(from, to)) {
		r.requirement(from, to)
		return
	}
	if n == 1 && r.lex != nil && r.form != formLabels && words.IsName(r.text(from, to)) {
		return // A signature
	}
	if r.lex != nil && r.tokens[from].kind == number && r.lex.match("cues.price_unit", r.tokens[from+1:to]) > 0 && n <= 4 {
		return // "12.90 an hour"
	}
	for i := from; i < to; i++ {
		if r.taken[i] == brief.Contact || r.taken[i] == brief.Terms {
			return
		}
	}
	if r.depends(from, to) || r.isMark(to-1, "?") || shouts(r.text(from, to)) {
		return
	}
	r.add(brief.Benefit, from, to, conf)
}

// isRequirement reports what people must have or do, or what is not included.
func (r *reader) isRequirement(from, to int) bool {
	at := r.lex.find("cues.no_benefit", r.tokens[from:to])
	return at >= 0 && (at == 0 || r.lex.match("cues.no", r.tokens[from:to]) == 0)
}

// items splits a list of phrases that each can stand alone. Anything else is one
// item.
func (r *reader) items(from, to int) [][2]int {
	whole := [][2]int{{from, to}}
	var list [][2]int
	start, semicolons := from, false
	cut := func(at, next int) {
		list = append(list, [2]int{start, at})
		start = next
	}
	for i := from; i < to; i++ {
		if r.isMark(i, ";·|•") || r.isMark(i, "/") && r.tokens[i].spaced {
			semicolons = true
			cut(i, i+1)
		}
	}
	if semicolons {
		cut(to, to)
		return list
	}
	commas := false
	for i := from; i < to; i++ {
		switch {
		case r.isMark(i, "()[]:"):
			return whole
		case r.isMark(i, ","):
			commas = true
			cut(i, i+1)
			if i+1 < to && r.lex != nil && r.lex.has("cues.and", &r.tokens[i+1]) {
				start++
			}
		case r.lex != nil && commas && r.lex.has("cues.and", &r.tokens[i]) && i > start && r.lastAnd(i, to):
			cut(i, i+1)
		}
	}
	if !commas {
		return whole
	}
	cut(to, to)
	if len(list) < 2 {
		return whole
	}
	for _, item := range list {
		if !r.standsAlone(item[0], item[1]) {
			return whole
		}
	}
	return list
}

// lastAnd reports whether no other part of a list follows a word such as "and".
func (r *reader) lastAnd(i, to int) bool {
	for k := i + 1; k < to; k++ {
		if r.isMark(k, ",") || r.lex.has("cues.and", &r.tokens[k]) {
			return false
		}
	}
	return true
}

// standsAlone reports whether an item of a list is a whole phrase.
func (r *reader) standsAlone(from, to int) bool {
	n := r.wordCount(from, to)
	if n > 0 && n <= 6 && r.listing && (r.lex == nil || r.lex.match("cues.stop", r.tokens[from:to]) == 0 || !r.lex.has("cues.preposition", &r.tokens[from])) {
		return true
	}
	if n == 0 || n > 7 || r.lex == nil || r.lex.has("cues.stop", &r.tokens[from]) || r.lex.has("cues.dangling", &r.tokens[to-1]) || r.depends(from, to) {
		return false
	}
	if r.lex.code != "en" {
		return n >= 2
	}
	if n == 1 {
		return false
	}
	return words.ShapeOf(r.text(from, to)) != words.Unknown
}

// sentenceBenefits finds the benefits in a sentence.
func (r *reader) sentenceBenefits(from, to int) {
	from, to = r.trim(from, to)
	n := r.wordCount(from, to)
	if n == 0 || r.lex != nil && r.lex.match("cues.meet_at", r.tokens[from:to]) > 0 {
		return
	}
	if r.lex == nil || r.lex.code != "en" {
		denied := r.lex.has("cues.no", &r.tokens[from]) && r.hasFinite(from, to)
		if n <= maxBenefit-1 && n >= 2 && !denied && r.untouched(from, to) && !r.depends(from, to) {
			r.benefit(from, to, brief.Sure)
		}
		return
	}
	if r.predicates(from, to) || r.depends(from, to) || r.lex.has("cues.first_person", &r.tokens[from]) || !r.untouched(from, to) {
		return
	}
	text := r.text(from, to)
	switch shape := words.ShapeOf(text); {
	case n <= maxBenefit-1 && shape != words.Unknown && shape != words.Predicate:
		r.benefit(from, to, brief.Sure)
	case n <= 3*maxBenefit && strings.Contains(text, ","):
		if items := r.items(from, to); len(items) > 1 && r.allNouns(items) {
			for _, item := range items {
				r.benefit(item[0], item[1], brief.Sure)
			}
		}
	}
}

func (r *reader) allNouns(items [][2]int) bool {
	for _, item := range items {
		if words.ShapeOf(r.text(item[0], item[1])) != words.NounPhrase {
			return false
		}
	}
	return true
}

// untouched reports whether the tokens have no other fact than a place or an
// audience.
func (r *reader) untouched(from, to int) bool {
	for i := from; i < to; i++ {
		if t := r.taken[i]; t != "" && t != brief.Place && t != brief.Audience {
			return false
		}
	}
	return true
}

// predicates finds what the product does: "It folds in ten seconds, weighs 9.8 kg
// and fits under a desk". The subject is the product or a pronoun after it.
func (r *reader) predicates(from, to int) bool {
	start := 0
	switch {
	case r.isProduct(from, to) > 0:
		start = from + r.isProduct(from, to)
	case r.lex.has("cues.pronoun", &r.tokens[from]) && r.productNamed(from):
		start = from + 1
	default:
		for i := from; i < to; i++ {
			if r.lex.has("cues.relative", &r.tokens[i]) && i > from && r.taken[i-1] == brief.Product {
				start = i + 1
				break
			}
		}
	}
	if start == 0 || start >= to {
		return false
	}
	end := start
	for end < to && !r.isBreak(end) {
		end++
	}
	var parts [][2]int
	begin := start
	for i := start; i < end; i++ {
		isAnd := r.lex.has("cues.and", &r.tokens[i])
		if !isAnd && !r.isMark(i, ",") {
			continue
		}
		next := i + 1
		if !isAnd && next < end && r.lex.has("cues.and", &r.tokens[next]) {
			next++
		}
		if next >= end {
			break
		}
		if shape := words.ShapeOf(r.text(next, r.clauseEnd(next, end))); shape == words.Predicate || shape == words.Clause {
			parts = append(parts, [2]int{begin, i})
			begin = next
			i = next
		}
	}
	parts = append(parts, [2]int{begin, end})
	if words.ShapeOf(r.text(parts[0][0], parts[0][1])) != words.Predicate {
		return false
	}
	found := false
	for i, p := range parts {
		if r.lex.match("cues.product_is", r.tokens[p[0]:p[1]]) > 0 {
			continue // It says what the product is.
		}
		shape := words.ShapeOf(r.text(p[0], p[1]))
		if shape != words.Predicate && (shape != words.Clause || i == 0) || r.wordCount(p[0], p[1]) > maxBenefit || !r.untouched(p[0], p[1]) || shape == words.Clause && r.depends(p[0], p[1]) {
			continue
		}
		r.benefit(p[0], p[1], brief.Sure)
		found = true
	}
	return found
}

// isProduct returns the number of tokens of the product that a sentence begins
// with, 0 without it.
func (r *reader) isProduct(from, to int) int {
	n := 0
	for from+n < to && r.taken[from+n] == brief.Product {
		n++
	}
	if n > 0 {
		return n
	}
	for _, c := range r.found {
		size := c.to - c.from
		if c.t != brief.Product || size == 0 || from+size >= to {
			continue
		}
		skip := 0
		if r.lex.has("cues.article", &r.tokens[from]) {
			skip = 1
		}
		if from+skip+size < to && strings.EqualFold(r.text(from+skip, from+skip+size), r.text(c.from, c.to)) {
			return skip + size
		}
	}
	return 0
}

// productNamed reports whether the sentence before names the product.
func (r *reader) productNamed(from int) bool {
	for i := from - 1; i >= max(0, from-40); i-- {
		if r.taken[i] == brief.Product {
			return true
		}
	}
	return false
}
