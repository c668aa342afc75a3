package parser

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"fanfare/internal/creative/brief"
	"fanfare/internal/creative/words"
)

// maxProduct is the number of words of the longest product.
const maxProduct = 8

// nounPhrase returns the end of the noun phrase that begins at a token, and the
// token itself without one.
func (r *reader) nounPhrase(from, to int) int {
	if r.lex == nil {
		return from
	}
	k := from
	for k < to {
		t := &r.tokens[k]
		if n := r.lex.match("cues.compound", r.tokens[k:to]); n > 0 && r.taken[k] == "" {
			k += n // "one to one"
			continue
		}
		if r.taken[k] != "" || t.kind == money || t.kind == percent || t.kind == date || t.kind == phone || t.kind == address {
			break
		}
		if r.isMark(k, ",") {
			if end := r.listEnd(k, to); end > 0 {
				k = end
				continue
			}
			break
		}
		if t.kind == mark && !r.isMark(k, `&+'’"“”„«»`) {
			break
		}
		if r.lex.has("cues.and", t) && k+1 < to && (r.lex.match("cues.clause_start", r.tokens[k+1:to]) > 0 || r.taken[k+1] != "" || r.lex.has("cues.stop", &r.tokens[k+1])) {
			break
		}
		if k > from && r.form == formShort && r.lex.match("places", r.tokens[k:to]) > 0 && r.isPlaceHere(k) || r.lex.has("lines.chat", t) {
			break
		}
		if k > from && k+1 < to && r.lex.has("cues.material_link", t) && r.lex.has("cues.material", &r.tokens[k+1]) && r.taken[k+1] == "" {
			k += 2
			continue
		}
		if k > from && k+1 < to && r.lex.has("cues.topic_link", t) && r.lex.has("cues.topic_noun", &r.tokens[k-1]) && !r.tokens[k+1].upper && r.tokens[k+1].kind == word && r.taken[k+1] == "" && !r.lex.has("cues.article", &r.tokens[k+1]) {
			k++
			continue
		}
		inName := r.lex.code == "en" && t.upper && k+1 < to && r.tokens[k+1].upper
		if k > from && !inName && r.lex.match("cues.stop", r.tokens[k:to]) > 0 {
			break
		}
		k++
	}
	return r.cutDangling(from, k)
}

// isPlaceHere reports whether a name of the list of places is one in a short
// text. In lower case it must be no other word.
func (r *reader) isPlaceHere(i int) bool {
	return r.tokens[i].upper || r.lex.code == "en" && !words.Known(r.tokens[i].low)
}

// stutters reports a word that is no word: "OMGGG".
func stutters(text string) bool {
	var before rune
	same := 0
	for _, r := range strings.ToLower(text) {
		if r != before || !unicode.IsLetter(r) {
			before, same = r, 0
		}
		if same++; same == 3 {
			return true
		}
	}
	return false
}

// namesProduct reports whether a phrase can be what is advertised.
func (r *reader) namesProduct(from, to int) bool {
	from, to = r.trim(from, to)
	n := r.wordCount(from, to)
	if r.lex == nil || n == 0 || n > maxProduct || !r.hasLetters(from, to) || utf8.RuneCountInString(r.text(from, to)) < 3 || stutters(r.text(from, to)) {
		return false
	}
	if r.lex.find("cues.vague", r.tokens[from:to]) >= 0 || r.lex.match("cues.no_product", r.tokens[from:to]) == to-from || r.depends(from, to) || r.lex.match("cues.action", r.tokens[from:to]) > 0 && n < 3 {
		return false
	}
	if r.lex.code != "en" {
		return true
	}
	text := r.text(from, to)
	switch words.ShapeOf(text) {
	case words.NounPhrase:
		return true
	case words.Clause, words.Predicate, words.Attribute:
		return words.IsName(text)
	case words.Imperative, words.Unknown:
	}
	return words.IsName(text) || words.ShapeOf(text) == words.Unknown && n <= 6
}

// leadingProduct takes the noun phrase at the start of a topic.
func (r *reader) leadingProduct(from, to int, conf float64) {
	from = r.skipArticles(from, to)
	end := r.nounPhrase(from, to)
	if end == from || !r.namesProduct(from, end) {
		return
	}
	if end < to && r.tokens[end].kind == word && !r.lex.has("cues.stop", &r.tokens[end]) && r.taken[end] == "" && !r.lex.has("cues.and", &r.tokens[end]) && !r.lex.has("lines.chat", &r.tokens[end]) && (r.form != formShort || r.lex.match("places", r.tokens[end:to]) == 0) {
		if r.lex.code != "en" || !strings.HasSuffix(r.tokens[end].low, "ed") || r.form != formShort {
			conf = min(conf, brief.Guessed) // "sewing machines repaired" is one thing
		}
	}
	r.take(brief.Product, from, end, conf)
}

func (r *reader) skipArticles(from, to int) int {
	for from < to && (r.lex.has("cues.article", &r.tokens[from]) || r.tokens[from].kind == mark && !r.isMark(from, `"“„«`)) {
		from++
	}
	return from
}

// restIsKnown reports whether the words after a phrase are facts and joining
// words.
func (r *reader) restIsKnown(from, to int) bool {
	for i := from; i < to; i++ {
		if r.taken[i] == "" && r.tokens[i].kind != mark && !r.lex.has("cues.stop", &r.tokens[i]) && !r.lex.has("cues.article", &r.tokens[i]) {
			return false
		}
	}
	return true
}

// products finds the product that a sentence names.
func (r *reader) products(from, to int) {
	if r.productAfterCue(from, to) {
		return
	}
	if !r.productBeforeVerb(from, to) && r.statements == 1 && r.form != formPage && !r.productOfStart(from, to) {
		r.productOfLine(from, to)
	}
}

// hasProduct reports a product of at least a confidence.
func (r *reader) hasProduct(conf float64) bool {
	for _, c := range r.found {
		if c.t == brief.Product && c.conf >= conf {
			return true
		}
	}
	return false
}

// productOfStart finds the product in the first sentence: "Baby sling library!",
// "Our lamb treats are back", "Tillow turns a photo into an expense".
func (r *reader) productOfStart(from, to int) bool {
	if r.lex == nil || r.lex.code != "en" {
		return false
	}
	start := from
	our := r.tokens[from].low == "our" || r.lex.has("cues.numeral_article", &r.tokens[from])
	if our {
		start++
	}
	end := r.nounPhrase(start, to)
	if end == start || !r.free(start, end) {
		return false
	}
	text := r.text(start, end)
	// A name and a verb: the noun phrase does not end before the verb.
	for i := start + 1; i < min(to, start+4); i++ {
		name := words.IsName(r.text(start, i)) && r.nameEnd(start, to) == i
		if name && words.ShapeOf(r.text(i, r.clauseEnd(i, to))) == words.Predicate && !r.isBreak(i) {
			return r.take(brief.Product, start, i, brief.Sure)
		}
	}
	if words.ShapeOf(text) != words.NounPhrase || !r.namesProduct(start, end) || r.lex.match("cues.not_subject", r.tokens[end:to]) > 0 {
		return false
	}
	// "change over at": the phrase goes on with a particle.
	if end+1 < to && r.lex.has("cues.particle", &r.tokens[end]) && r.lex.has("cues.preposition", &r.tokens[end+1]) {
		end++
	}
	for i := start + 2; i < end; i++ {
		if !r.tokens[i].upper && r.tokens[i-1].upper && !r.tokens[i-2].upper && r.tokens[i].kind == word {
			return false // "founder Geoffrey began"
		}
	}
	after := end < to && r.tokens[end].kind == word && r.taken[end] == "" && r.lex.match("cues.stop", r.tokens[end:to]) == 0
	shape := words.ShapeOf(r.text(r.trim(from, to)))
	if after || !our && (shape == words.Clause || shape == words.Imperative || shape == words.Predicate) {
		return false
	}
	if !our && r.hasVerb(end, to) {
		return false
	}
	return r.take(brief.Product, start, end, brief.Sure)
}

// hasVerb reports whether a clause goes on with a finite verb.
func (r *reader) hasVerb(from, to int) bool {
	end := r.clauseEnd(from, to)
	for i := from; i < end; i++ {
		if r.lex.has("cues.finite", &r.tokens[i]) {
			return true
		}
	}
	return false
}

// productAfterCue finds "our new Y", "Launching X", "we sell Z".
func (r *reader) productAfterCue(from, to int) bool {
	for i := from; i < min(to, from+14); i++ {
		n := r.lex.match("cues.product_next", r.tokens[i:to])
		if n == 0 || r.taken[i] != "" {
			continue
		}
		conf := brief.Cued
		if r.form == formPage && r.statements > 3 {
			return false
		}
		if m := r.lex.match("cues.product_maybe", r.tokens[i:to]); m == n && r.form != formShort && (r.statements > 1 || r.hasProduct(brief.Guessed)) {
			conf = brief.Guessed
		}
		if i > from && !r.clauseBegins(i, from) {
			if conf < brief.Sure {
				continue
			}
			conf = brief.Sure
		}
		n += r.lex.match("cues.product_skip", r.tokens[i+n:to])
		k := r.skipArticles(i+n, to)
		if k > i+n+2 {
			continue
		}
		end := r.nounPhrase(k, to)
		if end == k || !r.namesProduct(k, end) {
			continue
		}
		return r.take(brief.Product, k, end, conf)
	}
	return false
}

func (r *reader) clauseBegins(i, from int) bool { return r.clauseStart(i, from) == i }

// productBeforeVerb finds "Ledgerly is an app that…": a name and what it is.
func (r *reader) productBeforeVerb(from, to int) bool {
	if r.depends(from, to) || r.sentence > 4 {
		return false
	}
	for i := from + 1; i < min(to, from+7); i++ {
		if r.taken[i] != "" || r.isBreak(i) || r.isMark(i, ",") {
			return false
		}
		n := r.lex.match("cues.product_is", r.tokens[i:to])
		if n == 0 {
			continue
		}
		start := from
		if r.lex.has("cues.numeral_article", &r.tokens[from]) {
			start++
		}
		if start >= i || !r.free(start, i) {
			return false
		}
		if end := r.nameEnd(start, i); end == i && r.isName(start, i) {
			return r.take(brief.Product, start, i, brief.Cued)
		}
		return false
	}
	return false
}

// isName reports whether words with capitals are a name and not the start of a
// sentence.
func (r *reader) isName(from, to int) bool {
	if from >= to || !r.tokens[from].upper {
		return false
	}
	text := r.text(from, to)
	if r.lex.has("cues.first_person", &r.tokens[from]) || r.lex.match("cues.clause_start", r.tokens[from:to]) > 0 || r.lex.match("cues.no_product", r.tokens[from:to]) == to-from {
		return false
	}
	if r.lex.code == "en" {
		return words.IsName(text) || to-from > 1
	}
	return to-from > 1 || !r.lex.has("cues.stop", &r.tokens[from])
}
