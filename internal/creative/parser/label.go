package parser

import (
	"strings"

	"fanfare/internal/creative/atoms"
	"fanfare/internal/creative/brief"
	"fanfare/internal/creative/words"
)

// readLabel reads the value of a known label.
func (r *reader) readLabel(name string, from, to int) {
	from, to = r.trim(from, to)
	if from >= to {
		return
	}
	r.sentence++
	name = r.checkedType(name, from, to)
	switch t := brief.Type(name); t {
	case "ignored":
		r.ignored++
	case "avoid":
		r.ignored++
		r.avoid = r.wishes(r.avoid, from, to)
	case "must_include":
		r.ignored++
		r.mustInclude = r.wishes(r.mustInclude, from, to)
	case "kind":
		r.kindLabel = r.text(from, to)
	case "unknown":
		r.readUnknown(from, to, to)
	case "about":
		r.readProse(from, to)
	case brief.Product:
		r.productValue(from, to)
	case brief.Offer:
		r.offerValue(from, to)
	case brief.Price:
		r.priceValue(from, to)
	case brief.Benefit, brief.Proof:
		r.listValue(t, from, to)
	case brief.Contact:
		before := len(r.found)
		r.contacts(from, to)
		if len(r.found) > before {
			r.found[len(r.found)-1].conf = brief.Labeled
		}
	case brief.CallToAction:
		r.actionValue(from, to)
	case brief.Code:
		for i := from; i < to; i++ {
			if r.isCode(i) {
				r.take(brief.Code, i, i+1, brief.Labeled)
				r.found[len(r.found)-1].scope = brief.Offer
				break
			}
		}
	case brief.Terms, brief.Sentence:
		r.take(brief.Terms, from, to, brief.Labeled)
	case brief.Deadline:
		if r.lex != nil {
			from += r.lex.match("cues.until", r.tokens[from:to])
		}
		conf := brief.Labeled
		for i := from; i < to; i++ {
			if r.isMark(i, "/;(") {
				conf = brief.Guessed // Several dates, or more than a date.
			}
		}
		r.take(t, from, to, conf)
		if c := &r.found[len(r.found)-1]; c.t == t {
			c.scope = r.scopeOfLabel(from)
		}
	case brief.PreviousPrice:
		if r.hasAmount(from, to) {
			r.take(t, from, to, brief.Labeled)
		}
	case brief.Audience:
		if r.lex != nil && r.lex.has("cues.audience_lead", &r.tokens[from]) {
			from++
		}
		r.take(t, from, r.firstSentence(from, to), brief.Labeled)
	case brief.When, brief.Place, brief.Brand, brief.Occasion:
		end := r.firstSentence(from, to)
		r.take(t, from, end, brief.Labeled)
		if end < to {
			r.readProse(end, to)
		}
	}
}

// checkedType corrects the type of a label by what its value is.
func (r *reader) checkedType(name string, from, to int) string {
	amount, day := r.hasAmount(from, to), false
	for _, t := range r.tokens[from:to] {
		day = day || t.kind == date || t.kind == number && name == string(brief.When) || t.kind == number && r.lex == nil
	}
	if r.lex != nil && !day {
		for i := from; i < to && !day; i++ {
			n, isDay := r.datePiece(i, to)
			day = n > 0 && isDay
		}
	}
	switch t := brief.Type(name); {
	case to-from == 1 && (r.tokens[from].kind == address || r.tokens[from].kind == phone) && name != "ignored":
		return string(brief.Contact)
	case t == brief.CallToAction && r.tokens[from].kind == money:
		return string(brief.Price)
	case t == brief.Offer && to-from == 1 && r.isCode(from):
		return string(brief.Code)
	case t == brief.Audience && r.lex != nil && r.lex.find("cues.requirement", r.tokens[from:to]) >= 0:
		return string(brief.Terms)
	case t == brief.Deadline && !day:
		return string(brief.Terms)
	case t == brief.Deadline && amount:
		return string(brief.Offer)
	case t == brief.Brand && r.tokens[to-1].kind == number && to-from > 2:
		return string(brief.Place)
	case t == brief.Brand && amount:
		return string(brief.PreviousPrice)
	case t == brief.When && !day:
		return "unknown"
	}
	return name
}

// scopeOfLabel is the scope of a labeled deadline: the label says to act, or the
// offer has it.
func (r *reader) scopeOfLabel(value int) brief.Type {
	if r.lex == nil {
		return ""
	}
	for _, lex := range r.labels {
		if at := lex.find("cues.act", r.tokens[max(0, value-4):value]); at >= 0 {
			return brief.CallToAction
		}
	}
	for _, c := range r.found {
		if c.t == brief.Offer {
			return brief.Offer
		}
	}
	return ""
}

func (r *reader) hasAmount(from, to int) bool {
	for _, t := range r.tokens[from:to] {
		if t.kind == money {
			return true
		}
	}
	return false
}

// firstSentence returns the end of the first sentence of a value.
func (r *reader) firstSentence(from, to int) int { return r.sentenceEnd(from, to) }

// productValue takes the name at the start of a value; what follows a dash, a
// bracket or a comma says more about it.
func (r *reader) productValue(from, to int) {
	end := r.firstSentence(from, to)
	cut := end
	for i := from + 1; i < end; i++ {
		if r.isMark(i, "(–—-:;|") && r.tokens[i].spaced || r.isMark(i, ":;|") {
			cut = i
			break
		}
		if r.isMark(i, ",") && (r.lex == nil || r.listEnd(i, end) == 0) {
			cut = i
			break
		}
	}
	for r.lex != nil && from < cut-1 && r.lex.has("cues.numeral_article", &r.tokens[from]) {
		from++
	}
	r.take(brief.Product, from, cut, brief.Labeled)
	if cut < end {
		r.details(cut, end)
	}
	if end < to {
		r.readProse(end, to)
	}
}

// offerValue takes an offer without its date and its code.
func (r *reader) offerValue(from, to int) {
	before := len(r.found)
	r.details(from, to)
	for i := before; i < len(r.found); i++ {
		if r.found[i].t == brief.Offer {
			r.found[i].conf = r.confOfOffer(r.found[i].from, r.found[i].to)
			return
		}
		if r.found[i].t == brief.Deadline {
			r.found[i].scope = brief.Offer
		}
	}
	// Whatever else was found in it, the value is the offer.
	start, end := from, from
	for end < to && (r.taken[end] == "" || r.taken[end] == brief.Price || r.taken[end] == brief.Audience || r.taken[end] == brief.Place || r.taken[end] == brief.When) && !r.isMark(end, ";|") {
		if r.isMark(end, ".") && end+1 < to && r.tokens[end+1].spaced {
			break
		}
		end++
	}
	kept := r.found[:before]
	for _, c := range r.found[before:] {
		if c.from >= end || c.t == brief.Deadline || c.t == brief.Code || c.t == brief.Terms || c.t == brief.Occasion {
			kept = append(kept, c)
		}
	}
	r.found = kept
	if r.lex != nil {
		end = r.cutDangling(start, end)
	}
	r.take(brief.Offer, start, end, r.confOfOffer(start, end))
}

// confOfOffer is the confidence of the value of a label for an offer. An amount
// alone is no phrase, and two alternatives are no offer.
func (r *reader) confOfOffer(from, to int) float64 {
	from, to = r.trim(from, to)
	if from >= to || to-from == 1 && r.tokens[from].kind != word {
		return brief.Guessed
	}
	for i := from; i < to; i++ {
		if r.isMark(i, "/") && r.tokens[i].spaced {
			return brief.Guessed
		}
	}
	return brief.Labeled
}

// priceValue takes a price without the previous one.
func (r *reader) priceValue(from, to int) {
	if r.lex == nil || !r.hasAmount(from, to) {
		t := brief.Price
		if r.lex != nil && !r.hasNumber(from, to) {
			t = brief.Benefit // "Entry: free, no need to book"
		}
		if r.wordCount(from, to) > 1 {
			r.take(t, from, r.firstSentence(from, to), brief.Labeled)
		}
		return
	}
	r.previousPrices(from, to)
	// The rate of a credit belongs to its price.
	if r.lex.find("cues.credit", r.tokens[from:to]) >= 0 {
		r.take(brief.Price, from, r.firstSentence(from, to), brief.Labeled)
		return
	}
	r.terms(from, to)
	r.deadlines(from, to)
	r.offers(from, to)
	end := from
	for end < to && r.taken[end] == "" && !r.isMark(end, ";|") && (end == from || !r.isMark(end, "–—-") || !r.tokens[end].spaced || end+1 < to && r.tokens[end+1].kind == money) {
		end++
	}
	if end == from {
		r.prices(from, to)
		return
	}
	end = r.cutDangling(from, end)
	r.take(brief.Price, from, end, brief.Labeled)
}

func (r *reader) hasNumber(from, to int) bool {
	for _, t := range r.tokens[from:to] {
		if t.kind == number {
			return true
		}
	}
	return false
}

// listValue takes each item of a list, or each sentence.
func (r *reader) listValue(t brief.Type, from, to int) {
	for from < to {
		end := r.sentenceEnd(from, to)
		a, b := r.trim(from, end)
		items := [][2]int{{a, b}}
		if t == brief.Benefit {
			r.listing = true
			items = r.items(a, b)
			r.listing = false
		}
		r.listed = len(items) > 1
		for _, item := range items {
			a, b := r.trim(item[0], item[1])
			if a >= b || r.wordCount(a, b) > 24 {
				continue
			}
			proof := t == brief.Benefit && r.lex != nil && r.lex.match("cues.proof", r.tokens[a:b]) > 0 && len(items) > 1
			if t == brief.Benefit && !proof {
				r.benefit(a, b, brief.Labeled)
			} else if proof {
				r.take(brief.Proof, a, b, brief.Labeled)
			} else {
				r.take(t, a, b, brief.Labeled)
			}
		}
		r.listed = false
		if r.ends(&line{from: from, to: end}) {
			r.wholeSentence(from, end)
		}
		from = end
	}
}

// actionValue takes an action without the contact data.
func (r *reader) actionValue(from, to int) {
	if end := r.firstSentence(from, to); end < to {
		defer r.readProse(end, to)
		to = end
	}
	r.contacts(from, to)
	if r.lex != nil {
		r.deadlines(from, to)
	}
	end := from
	for end < to && r.taken[end] == "" && !r.isMark(end, "(;|") {
		end++
	}
	if r.lex != nil {
		end = r.cutDangling(from, end)
	}
	if r.wordCount(from, end) <= 9 {
		r.take(brief.CallToAction, from, end, brief.Labeled)
	}
}

// readUnknownLabel reads a line with an unknown label by its value.
func (r *reader) readUnknownLabel(l *line) {
	before := len(r.found)
	r.readUnknown(l.value, l.to, l.to)
	if len(r.found) > before || r.lex == nil || r.isInstruction(l.from, l.to) || r.isHostile(l.from, l.to) {
		return
	}
	from, to := r.trim(l.value, l.to)
	n := r.wordCount(from, to)
	switch {
	case n < 2 || n > maxBenefit || r.depends(from, to) || len(r.text(l.from, l.to)) > longestContext:
	case r.hasNumber(from, to):
		// "Range: 263 miles" says what the number is of.
		r.add(brief.Sentence, l.from, to, brief.Unlabeled)
	case n > 2 && !r.tokens[from].upper:
		r.benefit(from, to, brief.Unlabeled)
	}
}

func (r *reader) readUnknown(from, to, end int) {
	from, to = r.trim(from, to)
	if from >= to {
		return
	}
	r.sentence++
	before := len(r.found)
	r.details(from, to)
	if len(r.found) > before {
		for i := before; i < len(r.found); i++ {
			if c := &r.found[i]; c.t != brief.Contact && c.t != brief.Code && c.t != brief.Terms {
				c.conf = min(c.conf, brief.Unlabeled)
			}
		}
		return
	}
	if r.ends(&line{from: from, to: end}) && r.wordCount(from, to) > 4 {
		r.readProse(from, end)
	}
}

// readItem reads an item of a list with bullets.
func (r *reader) readItem(from, to int) {
	if r.lex != nil && (r.isHostile(from, to) || r.isInstruction(from, to) || r.isAside(from, to)) {
		r.ignored++
		r.readNote(from, to)
		return
	}
	if r.sentenceEnd(from, to) < to {
		r.readProse(from, to)
		return
	}
	r.sentence++
	before := len(r.found)
	if r.wanted(from, to) {
		r.details(from, to)
		return
	}
	r.details(from, to)
	if r.requirement(from, to) {
		return
	}
	if r.lex == nil {
		r.add(brief.Benefit, from, to, brief.Guessed)
		return
	}
	if r.itemOfAge(from, to) || r.itemOff(from, to) {
		return
	}
	touched := false
	for _, c := range r.found[before:] {
		touched = touched || c.t != brief.Place && c.t != brief.Audience
	}
	if touched {
		if last := r.found[len(r.found)-1].t; last == brief.Contact || last == brief.Deadline {
			r.callToAction(from, to)
		}
		return
	}
	if r.barePlace(from, to) || r.callToAction(from, to) {
		return
	}
	a, b := r.trim(from, to)
	if r.lex.code == "en" && words.ShapeOf(r.text(a, b)) == words.Unknown && len(atoms.Find(r.text(a, b))) == 0 && strings.ContainsAny(r.text(a, b), ",:;") {
		r.benefit(from, to, brief.Guessed)
		return
	}
	// A place or people within a benefit are not those of the ad.
	if len(r.found) > before && r.wordCount(from, to) > r.wordCount(r.found[before].from, r.found[before].to)+2 {
		for i := range r.found[before:] {
			r.found[before+i].conf = min(r.found[before+i].conf, brief.Guessed)
		}
	}
	r.benefit(from, to, brief.Cued)
}

// itemOfAge takes an item that says for which age something is as the audience.
func (r *reader) itemOfAge(from, to int) bool {
	from, to = r.trim(from, to)
	return from < to && r.lex.match("cues.age", r.tokens[from:to]) > 0 && r.wordCount(from, to) <= 6 && r.free(from, to) && r.take(brief.Audience, from, to, brief.Cued)
}

// itemOff takes a short item with a negative percentage as an offer: "fratelli -10%".
func (r *reader) itemOff(from, to int) bool {
	from, to = r.trim(from, to)
	if from >= to || r.wordCount(from, to) > 8 || !r.free(from, to) || to-from < 2 {
		return false
	}
	for i := from; i < to; i++ {
		if t := &r.tokens[i]; t.kind == percent && (strings.HasPrefix(t.low, "-") || strings.HasPrefix(t.low, "–") || strings.HasPrefix(t.low, "−")) {
			return r.take(brief.Offer, from, to, brief.Cued)
		}
	}
	return false
}
