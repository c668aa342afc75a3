// Package parser reads a prompt into the facts of a brief. Every fact is a part
// of the prompt as it is written. What the parser is not sure of stays a whole
// sentence or is left out: a missing fact costs a line, a wrong one is a false ad.
package parser

import (
	"cmp"
	"slices"
	"strings"

	"fanfare/internal/creative/brief"
	"fanfare/internal/creative/words"
)

// The forms of prompts.
const (
	formFields  = "fields"
	formProse   = "prose"
	formShort   = "short"
	formLabels  = "labels"
	formBullets = "bullets"
	formPage    = "page"
	formMessage = "message"
)

// reader reads one prompt.
type reader struct {
	src  *source
	lang string
	// lex has the word lists of the language, labels also those of English.
	lex    *lexicon
	labels []*lexicon
	tokens []token
	// taken has the type of the fact that each token is a part of.
	taken   []brief.Type
	found   []candidate
	form    string
	ignored int
	// deals are the sentences with an offer, by their number.
	deals    map[int]brief.Type
	sentence int
	// statements counts the sentences that are no questions.
	statements int
	// story reports a long paragraph of a page, of which few facts are for ads.
	story bool
	// listing reports that a label says that a list of benefits is read, listed
	// that it has several items.
	listing, listed bool
	// kindLabel is the value of a label for the kind.
	kindLabel string
	// wants is the kind of an ad that looks for people.
	wants string
	// replaced has the token of the new value of each value that was taken back,
	// corrects the tokens of such corrections.
	replaced map[int]int
	corrects map[int]bool
	// title is the token of the last line of a page that can name the product.
	title int
	// avoid and mustInclude are what notes forbid and ask for.
	avoid, mustInclude []string
}

// candidate is a fact whose place is in tokens.
type candidate struct {
	t        brief.Type
	from, to int
	conf     float64
	scope    brief.Type
}

// Parse reads a prompt into facts. Fields that the caller gave win: the prompt
// adds no fact of a single type that a field has; its benefits and proofs are
// added. language is a BCP 47 tag, empty if it is not known.
func Parse(prompt, language string, fields *brief.Fields) *brief.Understood {
	src := newSource(prompt)
	given := fields.List()
	fixed := atomTokens(src.text)
	if language == "" {
		language = detect(src.text, fixed, given)
	}
	r := &reader{src: src, lang: language, lex: lexiconOf(language), form: formFields, deals: map[int]brief.Type{}, replaced: map[int]int{}, corrects: map[int]bool{}}
	english := lexiconOf("en")
	r.labels = []*lexicon{english}
	if r.lex != nil && r.lex != english {
		r.labels = []*lexicon{r.lex, english}
	}
	if strings.TrimSpace(src.text) != "" {
		r.tokens = tokenizeAround(src.text, fixed, elides(strings.ToLower(language[:min(2, len(language))])))
		r.taken = make([]brief.Type, len(r.tokens))
		if r.lex != nil {
			r.findCorrections()
		}
		r.read()
		r.readHead()
		r.applyCorrections()
		r.keepContext()
		if r.isGibberish() {
			r.doubtAll()
		}
	}
	u := &brief.Understood{Language: language, Form: r.form, IgnoredLines: r.ignored, Facts: r.merge(given)}
	u.Kind, u.KindConfidence = r.kindOf(fields, given)
	u.Missing = missing(u.Facts)
	u.Avoid, u.MustInclude = r.avoid, r.mustInclude
	return u
}

// merge returns the given facts and those of the prompt, in order of importance
// and place.
func (r *reader) merge(given []brief.Fact) []brief.Fact {
	list := slices.Clone(given)
	has := map[brief.Type]bool{}
	said := map[string]bool{}
	for _, f := range given {
		has[f.Type] = true
		said[string(f.Type)+plain(f.Text)] = true
	}
	for _, c := range r.chosen() {
		if has[c.t] && !c.t.Repeated() {
			continue
		}
		f, ok := r.fact(c)
		if key := string(f.Type) + plain(f.Text); ok && !said[key] {
			said[key] = true
			has[c.t] = true
			list = append(list, f)
		}
	}
	slices.SortStableFunc(list, func(a, b brief.Fact) int {
		return cmp.Or(cmp.Compare(slices.Index(brief.Types, a.Type), slices.Index(brief.Types, b.Type)), cmp.Compare(place(a), place(b)))
	})
	if list == nil {
		list = []brief.Fact{}
	}
	return list
}

// isGibberish reports an English prompt most of whose words in small letters no
// list has. What rules of form find in it is nothing.
func (r *reader) isGibberish() bool {
	if r.lex == nil || r.lex.code != "en" {
		return false
	}
	known, all := 0, 0
	for i := range r.tokens {
		t := &r.tokens[i]
		switch {
		case t.kind == mark:
			continue
		case t.kind != word || t.upper || words.Known(t.low) || words.Known(strings.TrimSuffix(t.low, "s")) || r.lex.has("kinds", t) || r.lex.has("places", t) || r.lex.has("language.function", t) || r.lex.has("lines.chat", t):
			known++
		}
		all++
	}
	return all > 0 && known*10 < all*4
}

// doubtAll leaves only contacts and the values of labels.
func (r *reader) doubtAll() {
	kept := r.found[:0]
	for _, c := range r.found {
		if c.t == brief.Contact || c.conf >= brief.Labeled {
			kept = append(kept, c)
		}
	}
	r.found = kept
}

// plain is a text for comparison.
func plain(text string) string { return strings.ToLower(strings.Trim(text, " .!")) }

func place(f brief.Fact) int {
	if f.Start == nil {
		return -1
	}
	return *f.Start
}

// chosen returns the candidates of repeated types, and the best of each single
// type. A second offer is a benefit.
func (r *reader) chosen() (list []candidate) {
	single := map[brief.Type][]candidate{}
	for _, c := range r.found {
		if c.t.Repeated() {
			list = append(list, c)
		} else {
			single[c.t] = append(single[c.t], c)
		}
	}
	for t, of := range single {
		best := of[0]
		for _, c := range of[1:] {
			if c.conf > best.conf {
				best = c
			}
		}
		if ambiguous[t] && r.isDoubtful(best, of) {
			best.conf = min(best.conf, brief.Guessed)
		}
		if t == brief.Deadline && best.scope == "" && best.conf < brief.Labeled {
			best.scope = r.likelyScope(len(of))
			if best.scope == "" {
				best.conf = brief.Guessed // What ends then is not known.
			}
		}
		list = append(list, best)
		for _, c := range of {
			if t == brief.Offer && c.conf >= brief.Sure && plain(r.text(c.from, c.to)) != plain(r.text(best.from, best.to)) {
				c.t = brief.Benefit
				list = append(list, c)
			}
		}
	}
	return list
}

// likelyScope is what the only deadline of a brief belongs to if its sentence does
// not say it: the offer, or else the action of an ad that looks for people or gifts.
func (r *reader) likelyScope(deadlines int) brief.Type {
	if deadlines > 1 {
		return ""
	}
	for _, c := range r.found {
		if (c.t == brief.Offer || c.t == brief.PreviousPrice) && c.conf >= brief.Sure {
			return brief.Offer
		}
	}
	kind, confidence := r.kindOf(nil, nil)
	if r.wants != "" || confidence >= brief.SureKind && (kind == "appeal" || kind == "hiring") {
		return brief.CallToAction
	}
	return ""
}

// ambiguous are single types of which a second candidate makes the first one
// unsure: which is the right one is not known, and no pattern uses it.
var ambiguous = map[brief.Type]bool{brief.Price: true, brief.Deadline: true, brief.When: true, brief.Place: true, brief.PreviousPrice: true}

// isDoubtful reports another candidate of the same confidence. A price that says
// what it is for is not in doubt because of a later one.
func (r *reader) isDoubtful(best candidate, of []candidate) bool {
	said := best.t == brief.Price && (best.conf >= brief.Labeled || best.to-best.from > 1)
	for _, c := range of {
		if plain(r.text(best.from, best.to)) == plain(r.text(c.from, c.to)) || said && c.from > best.from {
			continue
		}
		if c.conf >= best.conf || c.t == brief.Price && best.conf < brief.Cued {
			return true
		}
	}
	return false
}

// fact returns the fact of a candidate, unless its text is not a part of the
// prompt or not whole.
func (r *reader) fact(c candidate) (brief.Fact, bool) {
	if c.from >= c.to {
		return brief.Fact{}, false
	}
	text, start, end, same := r.src.verbatim(r.tokens[c.from].start, r.tokens[c.to-1].end)
	if c.t != brief.Contact && (r.src.inner[start] || r.src.inner[end]) {
		return brief.Fact{}, false
	}
	if !same || strings.ContainsAny(text, "\n\r<>{}|") || !isClosed(text) || len(text) > 600 {
		return brief.Fact{}, false
	}
	return brief.Fact{Type: c.t, Text: text, Start: &start, End: &end, Confidence: c.conf, Scope: c.scope}, true
}

// isClosed reports whether brackets and quotes are closed.
func isClosed(text string) bool {
	return strings.Count(text, "(") == strings.Count(text, ")") && strings.Count(text, "[") == strings.Count(text, "]") &&
		strings.Count(text, `"`)%2 == 0 && strings.Count(text, "«") == strings.Count(text, "»") &&
		strings.Count(text, "“")+strings.Count(text, "„")+strings.Count(text, "”") != 1
}

// missing returns the types of facts that would help most.
func missing(facts []brief.Fact) []brief.Type {
	has := func(types ...brief.Type) bool {
		return slices.ContainsFunc(facts, func(f brief.Fact) bool { return slices.Contains(types, f.Type) && f.Confidence >= brief.Guessed })
	}
	list := []brief.Type{}
	for _, one := range [][]brief.Type{{brief.Product}, {brief.Offer, brief.Price}, {brief.Benefit}, {brief.Audience}} {
		if !has(one...) && len(list) < 3 {
			list = append(list, one[0])
		}
	}
	return list
}

// text returns the text of tokens.
func (r *reader) text(from, to int) string {
	if from >= to {
		return ""
	}
	return r.src.text[r.tokens[from].start:r.tokens[to-1].end]
}

// add records a fact without the marks at its ends.
func (r *reader) add(t brief.Type, from, to int, conf float64) bool {
	from, to = r.trim(from, to)
	for from < to && t != brief.Sentence && r.lex != nil && r.lex.has("cues.and", &r.tokens[from]) {
		from++
	}
	if from >= to {
		return false
	}
	if r.story && (t == brief.Place || t == brief.When || t == brief.Audience) {
		conf = min(conf, brief.Guessed)
	}
	r.found = append(r.found, candidate{t: t, from: from, to: to, conf: conf})
	return true
}

// take records a fact and marks its tokens.
func (r *reader) take(t brief.Type, from, to int, conf float64) bool {
	if !r.add(t, from, to, conf) {
		return false
	}
	r.markAs(t, from, to)
	return true
}

func (r *reader) markAs(t brief.Type, from, to int) {
	for i := from; i < to; i++ {
		r.taken[i] = t
	}
}

// trim leaves out marks at both ends that belong to no phrase.
func (r *reader) trim(from, to int) (int, int) {
	for from < to && r.tokens[from].kind == mark && !strings.ContainsAny(r.tokens[from].low, `("“„«[#¿¡`) {
		from++
	}
	for from < to && r.tokens[to-1].kind == mark && !strings.ContainsAny(r.tokens[to-1].low, `)"”“»]%`) {
		to--
	}
	if to-from > 1 && r.tokens[from].low == "(" && r.tokens[to-1].low == ")" {
		return r.trim(from+1, to-1)
	}
	return from, to
}

// isMark reports whether a token is one of some marks.
func (r *reader) isMark(i int, marks string) bool {
	return i >= 0 && i < len(r.tokens) && r.tokens[i].kind == mark && strings.Contains(marks, r.tokens[i].low)
}

// free reports whether no fact has one of the tokens.
func (r *reader) free(from, to int) bool {
	for i := from; i < to; i++ {
		if r.taken[i] != "" {
			return false
		}
	}
	return true
}
