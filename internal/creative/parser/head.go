package parser

import (
	"slices"
	"strings"

	"fanfare/internal/creative/brief"
	"fanfare/internal/creative/words"
)

// longestHead is the number of words of the longest head that can be a product. A
// longer one is kept as a sentence.
const longestHead = 6

// readHead takes the first words of a prompt, up to its first mark, for what it is
// about, if no rule found a product. It is a guess that no pattern relies on.
func (r *reader) readHead() {
	if r.form == formLabels || slices.ContainsFunc(r.found, func(c candidate) bool { return c.t == brief.Product || c.t == brief.Sentence }) {
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
const longestContext = 130

// keepContext keeps the whole line or sentence around an amount or a date that no
// pattern may use, because what belongs to it is not sure. Repeated as it is, it
// says what the brief says.
func (r *reader) keepContext() {
	r.doubtPrices()
	r.doubtRoles()
	for _, c := range slices.Clone(r.found) {
		switch c.t {
		case brief.Offer, brief.Price, brief.PreviousPrice, brief.Deadline, brief.When:
		default:
			continue
		}
		from, to := r.sentenceAround(c.from, c.to)
		// An item of a list is kept if no fact has the rest of it.
		part := r.form == formBullets && r.lex != nil && isFigured(r.text(from, to)) && !r.isCovered(from, to)
		if c.conf >= brief.Sure && !part || slices.ContainsFunc(r.found, func(o candidate) bool {
			return (o.t == brief.Sentence || o.t == brief.Benefit || o.t == brief.Terms) && o.from <= c.from && c.to <= o.to
		}) {
			continue
		}
		contact := slices.ContainsFunc(r.tokens[from:to], func(t token) bool { return t.kind == phone || t.kind == address })
		if contact || len(r.text(from, to)) > longestContext || r.lex != nil && (r.isInstruction(from, to) || r.isHostile(from, to) || r.isChat(from, to)) {
			continue
		}
		r.add(brief.Sentence, from, to, brief.Guessed)
	}
}

// longestRequirement is the number of words of the longest condition that stands
// alone.
const longestRequirement = 10

// requirement takes a short sentence or item that says what people must have, do or
// pay as terms: a condition that must not be lost and never leads.
func (r *reader) requirement(from, to int) bool {
	from, to = r.trim(from, to)
	if r.lex == nil || r.wordCount(from, to) > longestRequirement || !r.free(from, to) && !r.hasAmount(from, to) {
		return false
	}
	for i := from; i < to; i++ {
		if r.taken[i] == brief.Terms || r.taken[i] == brief.Deadline && !r.isMark(to-1, ")") {
			return false // The condition is known, or more is said.
		}
	}
	if r.lex.match("cues.require_start", r.tokens[from:to]) > 0 && r.wordCount(from, to) <= longestRequirement-2 {
		return r.take(brief.Terms, from, to, brief.Cued)
	}
	at := r.lex.find("cues.requirement", r.tokens[from:to])
	if at < 0 || r.lex.find("cues.no", r.tokens[r.clauseStart(from+at, from):from+at]) >= 0 || r.depends(from, to) || r.isMark(to-1, "?") {
		return false
	}
	// The price in it is not that of the product.
	kept := r.found[:0]
	for _, c := range r.found {
		if c.from < from || c.to > to || c.t == brief.Contact {
			kept = append(kept, c)
		}
	}
	r.found = kept
	return r.take(brief.Terms, from, to, brief.Cued)
}

// wanted takes the people that a sentence looks for as what the ad is about: "We
// need six more drivers", "Volunteer readers needed". That is a job, or an appeal
// to volunteers.
func (r *reader) wanted(from, to int) bool {
	if r.lex == nil || r.lex.code != "en" {
		return false
	}
	take := func(start, end int) bool {
		for end > start+1 && r.tokens[end-1].upper && !r.lex.has("cues.jobs", &r.tokens[end-1]) {
			end-- // "four welders Leeds"
		}
		if start >= end || !words.ArePeople(r.text(start, end)) && !r.lex.has("cues.jobs", &r.tokens[end-1]) || !r.free(start, end) || r.lex.has("cues.not_wanted", &r.tokens[end-1]) || r.wordCount(start, end) > maxProduct {
			return false
		}
		r.wants = "hiring"
		if r.lex.find("cues.volunteers", r.tokens[from:to]) >= 0 {
			r.wants = "appeal"
		}
		return r.take(brief.Product, start, end, brief.Sure)
	}
	for i := from; i < min(to, from+10); i++ {
		if n := r.lex.match("cues.wants", r.tokens[i:to]); n > 0 {
			start := i + n
			for start+1 < to && (r.lex.has("cues.article", &r.tokens[start]) || r.lex.has("cues.wanted_more", &r.tokens[start]) || r.lex.has("cues.wanted_more", &r.tokens[start+1])) {
				start++
			}
			return take(start, r.nounPhrase(start, r.clauseEnd(start, to)))
		}
		if i > from && r.lex.has("cues.are_wanted", &r.tokens[i]) {
			return take(from, i)
		}
	}
	return false
}

// doubtPrices makes a price a guess if the words before it in its clause name
// something else than the product: "polo shirts from £14".
func (r *reader) doubtPrices() {
	if r.lex == nil || r.lex.code != "en" || r.form == formShort {
		return
	}
	// The only price of a brief, with its unit, is that of the product.
	single, first := true, -1
	for k, c := range r.found {
		if c.t == brief.Price && first < 0 {
			first = k
		} else if c.t == brief.Price && plain(r.text(c.from, c.to)) != plain(r.text(r.found[first].from, r.found[first].to)) {
			single = false
		}
	}
	for k := range r.found {
		c := &r.found[k]
		if c.t != brief.Price || c.conf < brief.Sure || c.conf >= brief.Labeled || r.corrects[c.from] || single && r.tokens[c.to-1].kind != money && !r.isMark(c.to-1, ")") {
			continue
		}
		start := r.clauseStart(c.from, 0)
		for i := start; i < c.from; i++ {
			if r.startsLine(i) {
				start = i
			}
		}
		for i := start; i < c.from; i++ {
			if r.taken[i] == brief.Product {
				start = i + 1 // What is before the product is its subject.
			}
		}
		left := c.from
		for n := r.growsLeft("cues.price_lead", left, start); n > 0; n = r.growsLeft("cues.price_lead", left, start) {
			left -= n
		}
		for i := start; i < left; i++ {
			t := &r.tokens[i]
			if t.kind != word || r.taken[i] != "" && r.taken[i] != brief.Audience || r.lex.has("cues.stop", t) || r.lex.has("cues.article", t) || r.lex.has("cues.finite", t) || r.lex.has("cues.pronoun", t) || r.lex.has("cues.price_subject", t) || r.isProductWord(t.low) {
				continue
			}
			c.conf = brief.Guessed
			break
		}
	}
}

// isProductWord reports a word of what is advertised.
func (r *reader) isProductWord(low string) bool {
	for _, c := range r.found {
		if c.t != brief.Product {
			continue
		}
		for _, t := range r.tokens[c.from:c.to] {
			if strings.TrimSuffix(t.low, "s") == strings.TrimSuffix(low, "s") {
				return true
			}
		}
	}
	return false
}
