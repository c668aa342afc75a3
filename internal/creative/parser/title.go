package parser

import (
	"strings"

	"fanfare/internal/creative/brief"
	"fanfare/internal/creative/words"
)

// longestTitle is the number of words of the longest part of a title that is taken
// as it is.
const longestTitle = 6

// readTitle finds the product in the first line of a list or a page. What is before
// a colon is the advertiser, what is after a dash says more: "Marlow Farm Shop:
// Christmas orders", "Couch to 5K – autumn group".
func (r *reader) readTitle(from, to int) {
	if r.isMark(to-1, ":") {
		to--
	}
	r.placeInBrackets(from, to)
	to = r.placeAfterComma(from, to)
	var parts [][2]int
	start, colon := from, false
	for i := from; i < to; i++ {
		if r.isMark(i, ":") && i+1 < to && r.tokens[i+1].spaced {
			colon = colon || len(parts) == 0
		} else if !r.isBreak(i) || r.isMark(i, ".!?") {
			continue
		}
		parts = append(parts, [2]int{start, i})
		start = i + 1
	}
	parts = append(parts, [2]int{start, to})
	if len(parts) > 1 && colon && r.wordCount(parts[0][0], parts[0][1]) <= 4 && r.titleProduct(parts[1][0], parts[1][1]) {
		return
	}
	for _, part := range parts {
		if r.titleProduct(part[0], part[1]) {
			return
		}
	}
}

// titleProduct takes the noun phrase at the start of a part of a title.
func (r *reader) titleProduct(from, to int) bool {
	from, to = r.trim(from, to)
	from = r.skipArticles(from, to)
	if from >= to || r.lex.match("cues.occasion", r.tokens[from:to]) == to-from || r.lex.match("cues.no_product", r.tokens[from:to]) == to-from {
		return false
	}
	if r.taken[from] == brief.Occasion {
		// "Valentine's at Osteria Lupo", "Christmas orders now open"
		end := from
		for end < to && r.taken[end] == brief.Occasion {
			end++
		}
		if n := r.nounPhrase(end, to); n > end {
			r.add(brief.Product, from, n, brief.Sure)
			return true
		}
		if r.wordCount(from, to) <= longestTitle && !r.hasAmount(from, to) {
			r.add(brief.Product, from, to, brief.Sure)
			return true
		}
		return false
	}
	end := r.nounPhrase(from, to)
	if end == from || !r.namesProduct(from, end) {
		return false
	}
	conf := brief.Sure
	if end < to && r.free(end, to) && r.wordCount(from, to) <= longestTitle-1 && !r.hasFinite(from, to) && r.lex.match("cues.audience_lead", r.tokens[end:to]) == 0 && r.lex.match("cues.place_lead", r.tokens[end:to]) == 0 && r.hasNumber(end, to) {
		end = to // "Couch to 5K"
	}
	if end < to && !r.restIsKnown(end, to) && !r.lex.has("cues.stop", &r.tokens[end]) && r.lex.match("cues.audience_lead", r.tokens[end:to]) == 0 {
		conf = brief.Guessed
	}
	if r.lex.code == "en" {
		if shape := words.ShapeOf(r.text(from, to)); (shape == words.Clause || shape == words.Predicate) && !words.IsName(r.text(from, end)) {
			conf = brief.Guessed
		}
	}
	return r.take(brief.Product, from, end, conf)
}

// placeInBrackets takes a name in brackets at the end of a title: "Summer camp
// (Pinerolo)".
func (r *reader) placeInBrackets(from, to int) {
	if !r.isMark(to-1, ")") {
		return
	}
	open := to - 2
	for open > from && !r.isMark(open, "(") {
		open--
	}
	for i := open + 1; i < to-1; i++ {
		t := &r.tokens[i]
		text := r.src.text[t.start:t.end]
		if t.kind != word && !r.isMark(i, ",") || t.kind == word && (!t.upper || text == strings.ToUpper(text) || words.Known(t.low)) && !r.lex.has("cues.place_small", t) || r.taken[i] != "" {
			return
		}
	}
	if open > from && to-open > 2 {
		r.take(brief.Place, open+1, to-1, brief.Sure)
	}
}

// placeAfterComma takes a name after the last comma of a title as its place, and
// returns the end of the rest: "Woodworking course, Bologna".
func (r *reader) placeAfterComma(from, to int) int {
	comma := to - 1
	for comma > from && !r.isMark(comma, ",") {
		comma--
	}
	if comma == from || to-comma > 4 {
		return to
	}
	for i := comma + 1; i < to; i++ {
		if t := &r.tokens[i]; t.kind != word || !t.upper && !r.lex.has("cues.place_small", t) || r.lex.code == "en" && words.Known(t.low) || r.taken[i] != "" && r.taken[i] != brief.Place {
			return to
		}
	}
	if r.lex.lists["cues.nouns_capital"] != nil && r.lex.match("places", r.tokens[comma+1:to]) == 0 {
		return to
	}
	r.take(brief.Place, comma+1, to, brief.Sure)
	return comma
}

// upgradeTitle makes the last line that can name a product the product of a page,
// when the first price comes after it.
func (r *reader) upgradeTitle(line int) {
	if r.form != formPage || line < 0 {
		return
	}
	for k := range r.found {
		if c := &r.found[k]; c.t == brief.Product && c.from >= line && c.conf < brief.Cued && c.conf >= brief.Guessed {
			c.conf = brief.Cued
			return
		}
	}
}

// ownThing finds what an instruction is about: "Please promote our booking tool".
func (r *reader) ownThing(from, to int) {
	if r.lex.find("cues.avoid_lead", r.tokens[from:to]) >= 0 || r.statements > 0 {
		return
	}
	for _, c := range r.found {
		if c.t == brief.Product {
			return
		}
	}
	for i := from; i < min(to, from+8); i++ {
		n := r.lex.match("cues.our", r.tokens[i:to])
		if n == 0 {
			continue
		}
		end := r.nounPhrase(i+n, to)
		if end > i+n && r.namesProduct(i+n, end) && r.lex.match("cues.not_own", r.tokens[end-1:to]) == 0 {
			r.take(brief.Product, i+n, end, brief.Sure)
			r.audiences(end, to)
			r.places(end, to)
		}
		return
	}
}

// productOfLine finds the product at the start of a first sentence without a verb,
// in languages whose words have no dictionary here: "Passeios de veleiro em Cascais".
func (r *reader) productOfLine(from, to int) bool {
	clause := r.clauseEnd(from, to)
	if r.lex.code == "en" || r.depends(from, to) || r.hasFinite(from, clause) || r.lex.match("cues.action", r.tokens[from:to]) > 0 {
		return false
	}
	start := r.skipArticles(from, to)
	end := r.nounPhrase(start, to)
	if end == start || r.wordCount(start, end) > 5 || !r.namesProduct(start, end) || !r.free(start, end) {
		return false
	}
	for i := start + 1; i < end; i++ {
		if r.lex.has("cues.article", &r.tokens[i]) {
			return false // A verb is before it.
		}
	}
	if end < to && r.tokens[end].kind == word && r.taken[end] == "" && !r.lex.has("cues.preposition", &r.tokens[end]) {
		return false
	}
	return r.take(brief.Product, start, end, brief.Sure)
}

// productOfChat finds the thing of a message: "Ok so its the beer fest again".
func (r *reader) productOfChat(from, to int) {
	for i := from; i < min(to, from+8); i++ {
		n := r.lex.match("cues.product_chat", r.tokens[i:to])
		if n == 0 || r.taken[i] != "" {
			continue
		}
		k := r.skipArticles(i+n, to)
		if end := r.nounPhrase(k, to); end > k && r.namesProduct(k, end) {
			r.take(brief.Product, k, end, brief.Sure)
			return
		}
	}
}
