package parser

import (
	"slices"
	"strings"

	"fanfare/internal/creative/brief"
)

// offerBegins reports whether an offer begins at a token.
func (r *reader) offerBegins(i, to int) bool {
	start, _, _ := r.offerAt(i, to)
	return start == i
}

// offerAt finds the cue of an offer at a token. aside reports something free that
// is not the offer of an ad.
func (r *reader) offerAt(i, to int) (start, end int, aside bool) {
	if n := r.lex.match("cues.offer", r.tokens[i:to]); n > 0 {
		return i, i + n, false
	}
	if n := r.lex.match("cues.is_free", r.tokens[i:to]); n > 0 {
		if begin := r.freeClause(i, n); begin >= 0 {
			return begin, i + n, false
		}
	}
	if !r.lex.has("cues.free", &r.tokens[i]) {
		return -1, -1, false
	}
	for k := i + 1; k < min(to, i+5) && r.taken[k] == "" && r.tokens[k].kind != mark; k++ {
		if r.lex.has("cues.free_aside", &r.tokens[k]) {
			return i, k + 1, true
		}
		if r.lex.has("cues.free_gift", &r.tokens[k]) {
			return i, k + 1, false
		}
		if r.lex.has("cues.stop", &r.tokens[k]) {
			break
		}
	}
	for k := i - 1; k >= max(0, i-4) && r.taken[k] == "" && r.tokens[k].kind != mark; k-- {
		aside := r.lex.has("cues.free_aside", &r.tokens[k])
		if !aside && !r.lex.has("cues.free_gift", &r.tokens[k]) {
			continue
		}
		begin := k
		for begin > 0 && i-begin < 6 && r.tokens[begin-1].kind != mark && r.taken[begin-1] == "" && !r.lex.has("cues.stop", &r.tokens[begin-1]) && !r.isBreak(begin-1) {
			begin--
		}
		return begin, i + 1, aside
	}
	return -1, -1, false
}

// freeClause returns the start of a clause that says that something is free, -1 if
// it is something beside the thing itself.
func (r *reader) freeClause(i, n int) int {
	begin := i
	for begin > 0 && r.taken[begin-1] == "" && !r.startsLine(begin) && !r.isBreak(begin-1) && !r.isMark(begin-1, ",") {
		begin--
		if r.lex.has("cues.free_aside", &r.tokens[begin]) {
			return -1
		}
	}
	for begin < i && r.lex.has("cues.and", &r.tokens[begin]) {
		begin++
	}
	if begin == i || i+n-begin > 12 || r.depends(begin, i) {
		return -1
	}
	return begin
}

// offers are discounts, gifts and trials.
func (r *reader) offers(from, to int) {
	for i := from; i < to; i++ {
		if r.taken[i] != "" {
			continue
		}
		start, cue, aside := r.offerAt(i, to)
		if start < 0 || start < from || !r.free(start, cue) {
			continue
		}
		end := r.phraseEnd(start, cue, to)
		for n := r.growsLeft("cues.offer_grow", start, from); n > 0; n = r.growsLeft("cues.offer_grow", start, from) {
			start -= n
		}
		begin := r.clauseStart(start, from)
		for begin < start && (r.taken[begin] != "" || r.lex.has("cues.and", &r.tokens[begin])) {
			begin++
		}
		if r.form == formShort {
			begin = start // The product of a short prompt.
		}
		if !r.canLeaveOut("cues.offer_lead", begin, start) {
			// What is before the offer is a condition or its subject.
			if r.wordCount(begin, end) > 14 || r.depends(begin, to) || !r.free(begin, start) {
				i = end - 1
				continue
			}
			start = begin
		}
		t := brief.Offer
		if aside {
			t = brief.Benefit
		}
		r.take(t, start, end, brief.Cued)
		i = max(i, end-1)
	}
}

// canLeaveOut reports whether the words before a phrase are phrases of a list.
func (r *reader) canLeaveOut(list string, from, to int) bool {
	for from < to {
		if r.isMark(from, `"“„«'*`) {
			from++
			continue
		}
		n := 0
		for k := to; k > from; k-- {
			if r.lex.match(list, r.tokens[from:k]) == k-from {
				n = k - from
				break
			}
		}
		if n == 0 {
			return false
		}
		from += n
	}
	return true
}

func (r *reader) previousPrices(from, to int) {
	for i := from; i < to; i++ {
		n := r.lex.match("cues.previous", r.tokens[i:to])
		if n == 0 || r.taken[i] != "" {
			continue
		}
		k := i + n
		if r.isMark(k, ":") {
			k++
		}
		bare := k < to && k > from+2 && r.tokens[k].kind == number && (k+1 == to || r.tokens[k+1].kind != word || r.lex.match("cues.until", r.tokens[k+1:to]) > 0) && r.hasAmount(r.clauseStart(k, from), k)
		if k < to && (r.tokens[k].kind == money || bare || r.isDecimal(k)) {
			conf := brief.Cued
			if r.unitEnd(k+1, to) > k+1 && !r.hasOtherAmount(k, from, to) {
				conf = brief.Guessed // It may not be for the same as the price.
			}
			if r.add(brief.PreviousPrice, k, k+1, conf) {
				r.markAs(brief.PreviousPrice, i, r.unitEnd(k+1, to))
			}
			i = k
		}
	}
}

// hasOtherAmount reports another amount in the same sentence.
func (r *reader) hasOtherAmount(k, from, to int) bool {
	return r.hasAmount(from, k) || r.hasAmount(k+1, to)
}

// unitEnd returns the end of what a price is for: "a month", "per person".
func (r *reader) unitEnd(k, to int) int {
	for n := r.lex.match("cues.price_unit", r.tokens[k:to]); n > 0 && r.free(k, k+n) && !r.lex.has("cues.those_who", &r.tokens[k+n-1]); n = r.lex.match("cues.price_unit", r.tokens[k:to]) {
		k += n
		if k < to && r.isMark(k, "(") {
			break
		}
	}
	return k
}

// prices are amounts that people pay.
func (r *reader) prices(from, to int) {
	for i := from; i < to; i++ {
		if !r.isAmount(i, to) || r.taken[i] != "" {
			continue
		}
		end := i + 1
		if i+2 < to && r.lex.has("cues.range", &r.tokens[i+1]) && r.tokens[i+2].kind == money {
			end = i + 3
		}
		start, conf := i, brief.Guessed
		if ranged := end; r.unitEnd(ranged, to) > ranged {
			end, conf = r.unitEnd(ranged, to), brief.Cued
		}
		if r.isNoPrice(i, end, from, to) {
			continue
		}
		if n := r.growsLeft("cues.price_lead", i, from); n > 0 {
			conf = brief.Cued
		}
		if n := r.growsLeft("cues.price_keep", i, from); n > 0 {
			start -= n
		}
		if r.saysPrevious(from, to) || end < to && r.taken[end] == brief.PreviousPrice || end+1 < to && r.isMark(end, ",(") && r.taken[end+1] == brief.PreviousPrice {
			conf = brief.Cued
		}
		end, conf = r.priceBasis(end, to, conf)
		if conf == brief.Guessed && (r.form == formShort || r.clauseStart(i, from) == start || start == from) && (r.form == formShort || end == to || r.isBreak(end) || r.isMark(end, ",") || r.taken[end] != "") {
			conf = brief.Sure
		}
		if r.isBundle(i, from) || r.lex.find("cues.trial", r.tokens[r.clauseStart(i, from):i]) >= 0 {
			conf = brief.Guessed
		}
		end = r.otherPrice(end, to)
		if r.form == formPage && conf >= brief.Sure && !r.hasProduct(brief.Cued) {
			r.upgradeTitle(r.title)
		}
		r.take(brief.Price, start, end, conf)
		i = end - 1
	}
}

// saysPrevious reports a previous price in the same sentence.
func (r *reader) saysPrevious(from, to int) bool {
	return r.form != formBullets && slices.Contains(r.taken[from:to], brief.PreviousPrice)
}

// isAmount reports an amount of money, also one without a currency whose unit is
// that of a price: "12.90 an hour".
func (r *reader) isAmount(i, to int) bool {
	t := &r.tokens[i]
	if t.kind == money {
		return true
	}
	if !r.isDecimal(i) {
		return false
	}
	return i+1 < to && r.lex.match("cues.price_unit", r.tokens[i+1:to]) > 0 || r.growsLeft("cues.amount_lead", i, max(0, i-3)) > 0
}

// isDecimal reports a number with two decimals, as an amount without its currency.
func (r *reader) isDecimal(i int) bool {
	low := r.tokens[i].low
	return r.tokens[i].kind == number && len(low) >= 4 && strings.Contains(".,", low[len(low)-3:len(low)-2])
}

// priceBasis adds a basis that the list of units does not have: "for all four".
func (r *reader) priceBasis(end, to int, conf float64) (int, float64) {
	if end >= to {
		return end, conf
	}
	// "£58 (60 minutes)"
	if r.isMark(end, "(") {
		for k := end + 1; k < min(to, end+9); k++ {
			if r.isMark(k, ")") && r.free(end, k) {
				return k + 1, conf
			}
		}
	}
	if !r.lex.has("cues.price_basis", &r.tokens[end]) {
		return end, conf
	}
	if basis := r.phraseEnd(end, end+1, to); basis > end+1 && r.wordCount(end, basis) <= 7 {
		return basis, conf
	}
	return end, conf
}

// otherPrice returns the end of a price with the one after it. An alternative with
// a unit belongs to it: "$6 a month or $58 a year". One with a condition is an
// offer: "£129, or £99 if you sign up by May".
func (r *reader) otherPrice(end, to int) int {
	k := end
	if r.isMark(k, ",") {
		k++
	}
	if k+1 >= to || !r.lex.has("cues.or", &r.tokens[k]) && (k == end || r.tokens[k].kind != money) {
		return end
	}
	if r.lex.has("cues.or", &r.tokens[k]) {
		k++
	}
	if r.tokens[k].kind != money || r.taken[k] != "" {
		return end
	}
	after := k + 1
	if unit := r.unitEnd(after, to); unit > after {
		return unit
	}
	atTime := after+1 < to && r.tokens[after+1].kind == number
	if after < to && !atTime && r.lex.match("cues.price_condition", r.tokens[after:to]) > 0 {
		far := after
		for far < to && !r.isBreak(far) && !r.isMark(far, ",") {
			far++
		}
		if r.wordCount(k, far) <= 14 {
			r.add(brief.Offer, k, far, brief.Cued)
			for i := k; i < far; i++ {
				if r.taken[i] == "" {
					r.taken[i] = brief.Offer
				}
			}
		}
	}
	return end
}

// isBundle reports an amount for a number of things that is named before it: "3
// classes for £39".
func (r *reader) isBundle(i, from int) bool {
	if i-1 > from && r.lex.has("cues.or", &r.tokens[i-1]) && r.taken[i-2] == brief.Price {
		return true
	}
	if i-1 > from && r.lex.has("cues.for", &r.tokens[i-1]) {
		for k := max(from, i-4); k < i-1; k++ {
			if r.tokens[k].kind == number && figures(r.tokens[k].low) == r.tokens[k].low || r.lex.has("dates.numerals", &r.tokens[k]) {
				return true
			}
		}
	}
	return false
}

// isNoPrice reports an amount that is something else than a price.
func (r *reader) isNoPrice(i, end, from, to int) bool {
	if i > from && r.isMark(i-1, "+") {
		return true
	}
	if r.growsLeft("cues.price_of", i, from) > 0 {
		return false
	}
	for k := max(from, i-5); k < i; k++ {
		if n := r.lex.match("cues.not_price_before", r.tokens[k:i]); n > 0 && k+n == i {
			return true
		}
	}
	return end < to && (r.lex.match("cues.not_price_after", r.tokens[end:to]) > 0 || r.tokens[end].kind == word && end+1 < to && r.isVerb(end))
}

// isVerb reports a verb of effect: "$25 feeds a family".
func (r *reader) isVerb(i int) bool { return r.lex.has("cues.price_verb", &r.tokens[i]) }
