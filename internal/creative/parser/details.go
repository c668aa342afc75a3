package parser

import (
	"strings"
	"unicode"

	"fanfare/internal/creative/brief"
)

// details finds the facts of a sentence, an item or a heading that have a cue or
// an atom. Each takes its words, so that no other fact has them.
func (r *reader) details(from, to int) {
	r.contacts(from, to)
	if r.lex == nil {
		return
	}
	r.terms(from, to)
	r.codes(from, to)
	r.deadlines(from, to)
	r.previousPrices(from, to)
	r.offers(from, to)
	r.prices(from, to)
	r.proofs(from, to)
	r.whens(from, to)
	r.occasions(from, to)
	r.places(from, to)
	r.audiences(from, to)
	r.setScopes(from, to)
}

func (r *reader) contacts(from, to int) {
	for i := from; i < to; i++ {
		if k := r.tokens[i].kind; k == phone || k == address {
			r.take(brief.Contact, i, i+1, brief.Cued)
		}
	}
}

// isBreak reports a mark at which a clause ends.
func (r *reader) isBreak(i int) bool {
	t := &r.tokens[i]
	if t.kind != mark {
		return false
	}
	if t.low == "-" || t.low == "–" || t.low == "—" {
		return t.spaced
	}
	return r.isMark(i, ";:.!?|·•()[]…→*") || []rune(t.low)[0] > 0x2190
}

// clauseStart returns where the clause of a token begins.
func (r *reader) clauseStart(i, from int) int {
	for i > from && !r.isBreak(i-1) && !r.isMark(i-1, ",") {
		i--
	}
	return i
}

// clauseEnd returns where the clause of a token ends.
func (r *reader) clauseEnd(i, to int) int {
	for i < to && !r.isBreak(i) && !r.isMark(i, ",") {
		i++
	}
	return i
}

// maxPhrase is the number of tokens after which a phrase is not followed.
const maxPhrase = 60

// extent returns where a phrase ends that begins at a token: at the next clause
// or the next fact. Lists and conditions belong to it.
func (r *reader) extent(i, to int) int {
	k := i
	to = min(to, i+maxPhrase)
	for k < to {
		if r.taken[k] != "" {
			break
		}
		if r.isMark(k, ",") {
			if end := r.listEnd(k, to); end > 0 {
				k = end
				continue
			}
		}
		if r.isBreak(k) || r.isMark(k, ",") {
			if end := r.conditionEnd(k, to); end > 0 {
				return end
			}
			break
		}
		if r.lex.has("cues.and", &r.tokens[k]) && k+1 < to && (r.lex.match("cues.clause_start", r.tokens[k+1:to]) > 0 || r.offerBegins(k+1, to)) {
			break
		}
		k++
	}
	return k
}

// phraseEnd returns the end of a phrase from its start, whose words up to i are
// sure. A phrase that ends where its clause ends is whole; one that ends at
// another fact can lose words that need a word after them.
func (r *reader) phraseEnd(start, i, to int) int {
	end := max(i, r.extent(i, to))
	if end < to && !r.isBreak(end) && !r.isMark(end, ",") {
		// A condition that goes on in another fact is left out whole.
		for k := max(i, end-5); k < end; k++ {
			if r.lex.has("cues.if", &r.tokens[k]) {
				end = k
			}
		}
		end = max(i, r.cutDangling(start, end))
	}
	return end
}

// cutDangling leaves out words at the end that need another word after them.
func (r *reader) cutDangling(from, to int) int {
	for to > from+1 && (r.lex.has("cues.dangling", &r.tokens[to-1]) || r.isMark(to-1, ",;:-–—(&+")) {
		to--
	}
	return to
}

// conditionEnd returns the end of a condition that follows a mark, 0 if none does.
func (r *reader) conditionEnd(k, to int) int {
	if k+1 >= to || r.taken[k+1] != "" || r.lex.match("cues.condition", r.tokens[k+1:to]) == 0 {
		return 0
	}
	end := r.clauseEnd(k+1, to)
	if r.isMark(k, "(") {
		if end >= to || !r.isMark(end, ")") {
			return 0
		}
		end++
	}
	for i := k + 1; i < end; i++ {
		if r.taken[i] != "" {
			return 0
		}
	}
	return end
}

// listEnd returns the end of the list whose first item ends at a comma, 0 if the
// comma is not one of a list: "mugs, bowls and plates".
func (r *reader) listEnd(k, to int) int {
	last := k + 1
	for i := k + 1; i < min(to, k+maxPhrase); i++ {
		switch {
		case r.taken[i] != "" || r.isBreak(i):
			return 0
		case r.isMark(i, ","):
			if i-last > 4 || i == last || r.lex.match("cues.stop", r.tokens[last:to]) > 0 {
				return 0
			}
			last = i + 1
		case r.lex.has("cues.and", &r.tokens[i]):
			if i-last > 4 || i == last || i+1 >= to || r.lex.match("cues.stop", r.tokens[last:to]) > 0 || r.lex.match("cues.clause_start", r.tokens[i+1:to]) > 0 {
				return 0
			}
			return i + 1
		case r.lex.match("cues.clause_start", r.tokens[i:to]) > 0 || r.tokens[i].kind == money || r.tokens[i].kind == percent:
			return 0
		}
	}
	return 0
}

// terms are conditions and small print, as a clause.
func (r *reader) terms(from, to int) {
	for i := from; i < to; i++ {
		n := r.lex.match("cues.terms", r.tokens[i:to])
		if n == 0 || r.taken[i] != "" {
			continue
		}
		start, end := r.clauseStart(i, from), r.clauseEnd(i+n, to)
		if i-start > 3 || !r.free(start, i) {
			start = i
		}
		for k := i; k < end; k++ {
			if r.taken[k] != "" || k > i+n-1 && k+1 < end && r.lex.has("cues.and", &r.tokens[k]) && r.lex.match("cues.clause_start", r.tokens[k+1:to]) > 0 {
				end = k
			}
		}
		r.take(brief.Terms, start, end, brief.Cued)
		i = max(i, end-1)
	}
}

// codes are discount codes.
func (r *reader) codes(from, to int) {
	for i := from; i < to; i++ {
		n := r.lex.match("cues.code_lead", r.tokens[i:to])
		if n == 0 {
			continue
		}
		k := i + n
		for k < to && r.isMark(k, `:"“„'‘«*`) {
			k++
		}
		if k < to && r.isCode(k) {
			start := i
			if r.add(brief.Code, k, k+1, brief.Cued) {
				r.found[len(r.found)-1].scope = brief.Offer
				r.markAs(brief.Code, start, k+1)
			}
			i = k
		}
	}
}

func (r *reader) isCode(i int) bool {
	t := r.tokens[i]
	text := r.src.text[t.start:t.end]
	return (t.kind == named || t.kind == word) && len(text) >= 3 && text == strings.ToUpper(text) && strings.ContainsFunc(text, unicode.IsLetter)
}

// deadlines are dates after words such as "until".
func (r *reader) deadlines(from, to int) {
	for i := from; i < to; i++ {
		n := r.lex.match("cues.until", r.tokens[i:to])
		if n == 0 || r.taken[i] != "" {
			continue
		}
		k := i + n
		if r.isMark(k, ":") {
			k++
		}
		end, isDay := r.dateRun(k, to)
		// "until we close on 24 December"
		for far := k + 1; !isDay && k < to && r.lex.match("cues.clause_start", r.tokens[k:to]) > 0 && far < min(to, k+5) && r.tokens[far].kind != mark; far++ {
			if end, isDay = r.dateRun(far, to); isDay {
				k = far
			}
		}
		if !isDay || r.inRange(i, from) || !r.free(k, end) {
			continue
		}
		if r.add(brief.Deadline, k, end, brief.Cued) {
			r.markAs(brief.Deadline, i, end)
		}
		i = end - 1
	}
}

// inRange reports a date just before a word such as "until": a range of dates.
func (r *reader) inRange(i, from int) bool {
	if i == from {
		return false
	}
	before := &r.tokens[i-1]
	return before.kind == date || r.lex.has("dates.weekdays", before) || r.lex.has("dates.times", before) || before.kind == number && r.isClock(i-1)
}

// dateRun returns the end of the dates and times that begin at a token, and
// whether they name a day.
func (r *reader) dateRun(i, to int) (end int, isDay bool) {
	end = i
	for k := i; k < to; {
		n, day := r.datePiece(k, to)
		if n == 0 {
			joined := r.lex.match("cues.when_join", r.tokens[k:to])
			if joined == 0 || k == i || end != k {
				return end, isDay
			}
			if next, _ := r.datePiece(k+joined, to); next == 0 && r.isMark(k, ",") {
				joined += r.lex.match("cues.when_join", r.tokens[k+1:to]) // ", ab 15 Uhr"
			}
			if next, _ := r.datePiece(k+joined, to); next == 0 {
				return end, isDay
			}
			k += joined
			continue
		}
		k += n
		end = k
		isDay = isDay || day
	}
	return end, isDay
}

func (r *reader) datePiece(i, to int) (n int, isDay bool) {
	if i >= to {
		return 0, false
	}
	t := &r.tokens[i]
	if n := r.lex.match("cues.date_words", r.tokens[i:to]); n > 0 {
		return n, true
	}
	switch {
	case r.lex.has("dates.clock_lead", t) && i+1 < to && r.tokens[i+1].kind == number:
		return 2, false
	case t.kind == date:
		return 1 + r.moreDays(i, to), true
	case r.lex.has("dates.weekdays", t), r.isShortDay(i, to):
		if i+1 < to && r.isDayNumber(i+1) && (i+2 == to || r.tokens[i+2].kind != word || r.lex.has("cues.when_join", &r.tokens[i+2])) {
			return 2, true
		}
		return 1, true
	case r.lex.has("dates.times", t):
		return 1, false
	case t.kind == number && i+1 < to && r.lex.has("dates.times", &r.tokens[i+1]) && !r.lex.has("dates.not_clock", &r.tokens[i+1]):
		return 2, false
	case t.kind == number && r.isClock(i):
		return 1, false
	}
	return 0, false
}

// moreDays counts the tokens of further days of a month: "Feb 13, 14, 15".
func (r *reader) moreDays(i, to int) (n int) {
	for i+n+2 < to && (r.isMark(i+n+1, ",&+") || r.lex.has("cues.and", &r.tokens[i+n+1])) && r.isDayNumber(i+n+2) {
		if i+n+3 < to && r.tokens[i+n+3].kind == word && !r.lex.has("cues.and", &r.tokens[i+n+3]) {
			break
		}
		n += 2
	}
	return n
}

func (r *reader) isDayNumber(i int) bool {
	low := r.tokens[i].low
	return r.tokens[i].kind == number && (len(low) == 1 || len(low) == 2 && low <= "31")
}

// isShortDay reports an abbreviation of a weekday. Many are other words too, so
// a number or another weekday must be beside it.
func (r *reader) isShortDay(i, to int) bool {
	if !r.lex.has("dates.weekdays_short", &r.tokens[i]) || !r.tokens[i].upper && r.form != formMessage && r.form != formShort {
		return false
	}
	for _, k := range []int{i - 1, i + 1, i + 2} {
		if k < 0 || k >= to || k >= len(r.tokens) {
			continue
		}
		t := &r.tokens[k]
		if t.kind == number || t.kind == date || k != i+2 && r.isMark(k, "-–/+&.") || r.lex.has("dates.weekdays_short", t) || r.lex.has("cues.when_keep", t) && k < i {
			return true
		}
	}
	return false
}

// isClock reports a number that is a time of day or a year.
func (r *reader) isClock(i int) bool {
	low := strings.ReplaceAll(r.tokens[i].low, ".", "")
	for _, ending := range []string{"am", "pm", "h", "uhr"} {
		if stem, ok := strings.CutSuffix(low, ending); ok && stem != "" && stem[len(stem)-1] >= '0' && stem[len(stem)-1] <= '9' {
			return true
		}
	}
	h, m, ok := strings.Cut(r.tokens[i].low, ":")
	if ok {
		return len(h) <= 2 && len(m) >= 2
	}
	return len(low) == 4 && strings.HasPrefix(low, "20") && i > 0 && (r.tokens[i-1].kind == date || r.lex.has("dates.months", &r.tokens[i-1]))
}

// whens are dates that are no deadline.
func (r *reader) whens(from, to int) {
	for i := from; i < to; i++ {
		if r.taken[i] != "" {
			continue
		}
		if r.lex.has("dates.times", &r.tokens[i]) && !r.lex.has("cues.when_keep", &r.tokens[i]) {
			continue
		}
		end, isDay := r.dateRun(i, to)
		if end == i {
			continue
		}
		start := i
		for start > from && r.taken[start-1] == "" && (r.lex.has("cues.when_keep", &r.tokens[start-1]) || start > from+1 && start < i && r.lex.has("cues.and", &r.tokens[start-1]) && r.lex.has("cues.when_keep", &r.tokens[start-2])) {
			start--
		}
		start = r.clockBefore(start, from)
		for n := r.lex.match("cues.when_tail", r.tokens[end:to]); n > 0; n = r.lex.match("cues.when_tail", r.tokens[end:to]) {
			end += n
		}
		past := start > from && (r.lex.has("cues.not_when", &r.tokens[start-1]) || start > from+1 && r.lex.has("cues.not_when", &r.tokens[start-2]) && !r.lex.has("cues.open_what", &r.tokens[start-1]))
		if isDay && !past && r.free(start, end) {
			r.take(brief.When, start, end, brief.Cued)
		}
		i = end - 1
	}
}

// clockBefore returns the start of the times just before a day: "11.30 to 1.30 Monday
// to Friday".
func (r *reader) clockBefore(i, from int) int {
	isTime := func(k int) bool {
		return k >= from && r.taken[k] == "" && r.tokens[k].kind == number && (r.isClock(k) || r.isDecimal(k))
	}
	if !isTime(i - 1) {
		return i
	}
	if i-3 >= from && r.lex.has("cues.when_join", &r.tokens[i-2]) && isTime(i-3) {
		return i - 3
	}
	return i - 1
}

func (r *reader) occasions(from, to int) {
	for i := from; i < to; i++ {
		if n := r.lex.match("cues.occasion", r.tokens[i:to]); n > 0 && r.free(i, i+n) {
			r.take(brief.Occasion, i, i+n, brief.Cued)
			i += n - 1
		}
	}
}

// proofs are ratings, numbers of customers, awards and certificates.
func (r *reader) proofs(from, to int) {
	for i := from; i < to; i++ {
		n := r.lex.match("cues.proof", r.tokens[i:to])
		if n == 0 || !r.free(i, i+n) {
			continue
		}
		start, end := i, r.phraseEnd(i, i+n, to)
		for start > from && r.taken[start-1] == "" && r.growsLeft("cues.proof_grow", start, from) > 0 {
			start -= r.growsLeft("cues.proof_grow", start, from)
		}
		begin := r.clauseStart(start, from)
		if rest := start - begin; rest > 0 && r.lex.match("cues.proof_lead", r.tokens[begin:start]) != rest {
			if rest <= 5 && end-begin <= 12 && r.free(begin, start) && !r.depends(begin, to) {
				start = begin
			} else if rest > 5 || !r.free(begin, start) {
				i = end - 1
				continue
			}
		}
		if r.wordCount(start, end) <= 14 && end-start > 1 {
			r.take(brief.Proof, start, end, brief.Cued)
		}
		i = max(i, end-1)
	}
}

// growsLeft returns the length of the longest phrase of a list that ends just
// before a token.
func (r *reader) growsLeft(list string, i, from int) int {
	for n := min(4, i-from); n > 0; n-- {
		if r.taken[i-n] == "" && r.lex.match(list, r.tokens[i-n:i]) == n {
			return n
		}
	}
	return 0
}

// depends reports a start that needs the sentence before it.
func (r *reader) depends(i, to int) bool {
	return i < to && r.lex != nil && r.lex.match("cues.depends", r.tokens[i:to]) > 0
}

// setScopes says what the deadline of a sentence belongs to: the offer of the
// sentence or of the one before, or the action that it names.
func (r *reader) setScopes(from, to int) {
	offered := false
	for i := from; i < to; i++ {
		offered = offered || r.taken[i] == brief.Offer || r.taken[i] == brief.PreviousPrice
	}
	if offered {
		r.deals[r.sentence] = brief.Offer
	}
	var actions []candidate
	for k := range r.found {
		c := &r.found[k]
		if c.t != brief.Deadline || c.from < from || c.to > to {
			continue
		}
		at := r.lex.find("cues.act", r.tokens[r.clauseStart(c.from, from):c.from])
		switch {
		case c.scope != "":
		case offered, r.deals[r.sentence-1] != "" && at < 0:
			c.scope = brief.Offer
		case at >= 0:
			c.scope = brief.CallToAction
			verb := r.clauseStart(c.from, from) + at
			if n := r.lex.match("cues.act_verb", r.tokens[verb:c.from]); n > 0 && (r.free(verb, verb+n) || r.taken[verb] == brief.Deadline) {
				actions = append(actions, candidate{t: brief.CallToAction, from: verb, to: verb + n, conf: brief.Guessed})
			}
		}
	}
	r.found = append(r.found, actions...)
}
