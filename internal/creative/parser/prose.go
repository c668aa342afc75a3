package parser

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"fanfare/internal/creative/brief"
)

// maxSentence is the length of the longest sentence that a writer repeats.
const maxSentence = 180

// maxParagraph is the number of sentences of a paragraph of a page that tells
// about the thing. A longer one tells a story.
const maxParagraph = 4

// readProse reads sentences.
func (r *reader) readProse(from, to int) {
	sentences := 0
	for at := from; at < to; at = r.sentenceEnd(at, to) {
		sentences++
	}
	r.story = r.form == formPage && sentences > maxParagraph
	defer func() { r.story = false }()
	for from < to {
		end := r.sentenceEnd(from, to)
		r.readSentence(from, end)
		from = end
	}
}

// sentenceEnd returns the end of the sentence that begins at a token.
func (r *reader) sentenceEnd(from, to int) int {
	for i := from; i < to; i++ {
		if !r.isMark(i, ".!?…。！？") {
			continue
		}
		k := i + 1
		for k < to && r.isMark(k, `.!?…"”»')`) && !r.tokens[k].spaced {
			k++
		}
		if k == to {
			return to
		}
		next := &r.tokens[k]
		if r.isMark(i, "。！？") {
			return k
		}
		if !next.spaced || r.form != formMessage && next.kind == word && r.startsLow(k) {
			i = k - 1
			continue
		}
		if r.isMark(i, ".") && i > from && r.keepsPoint(i, from) && k == i+1 {
			continue
		}
		return k
	}
	return to
}

// keepsPoint reports a point that belongs to an abbreviation, a letter or a day.
func (r *reader) keepsPoint(i, from int) bool {
	before := &r.tokens[i-1]
	if before.kind == word && utf8.RuneCountInString(before.low) == 1 && before.upper {
		return true
	}
	if r.lex == nil {
		return false
	}
	// "e.g." and "z. B." have a point before their last letter too.
	if before.kind == word && utf8.RuneCountInString(before.low) == 1 && i-2 > from && r.isMark(i-2, ".") {
		return true
	}
	ordinal := before.kind == number && len(before.low) <= 2 && r.lex.code != "en"
	return before.kind == word && r.lex.has("dates.abbreviations", before) || ordinal
}

// readSentence reads one sentence.
func (r *reader) readSentence(from, to int) {
	for from < to && (r.isMark(from, "*_~•|") || r.tokens[from].kind == mark && r.tokens[from].low[0] >= 0xe2 && !r.isMark(from, `“„«»¿¡”`)) {
		from++
	}
	if from >= to || !r.hasLetters(from, to) && !r.hasAtom(from, to) {
		return
	}
	r.sentence++
	if r.isQuote(from, to) {
		r.ignored++
		return
	}
	if r.lex == nil {
		r.contacts(from, to)
		r.wholeSentence(from, to)
		return
	}
	if r.isHostile(from, to) {
		r.ignored++
		return
	}
	from = r.skipGreeting(from, to)
	if n, rest := r.askFor(from, to); n > 0 {
		r.ignored++
		if rest < to {
			r.readTopic(rest, to)
		}
		return
	}
	if r.wanted(from, to) {
		r.statements++
		r.details(from, to)
		if r.lex.match("cues.wants", r.tokens[from:to]) > 0 && !r.isChat(from, to) {
			r.wholeSentence(from, to)
		}
		return
	}
	if r.isInstruction(from, to) {
		r.ignored++
		r.readNote(from, to)
		r.contacts(from, to)
		r.ownThing(from, to)
		return
	}
	question := r.isMark(to-1, "?")
	r.brandAt(from, to)
	r.details(from, to)
	if question {
		return
	}
	if r.isAside(from, to) || r.corrects[from] {
		r.ignored++
		r.readNote(from, to)
		return
	}
	r.statements++
	if r.form == formMessage && r.statements <= 3 && !r.hasProduct(brief.Guessed) {
		r.productOfChat(from, to)
	}
	if r.callToAction(from, to) {
		if r.form == formProse {
			r.wholeSentence(from, to)
		}
		return
	}
	if r.isChat(from, to) || r.story || r.requirement(from, to) {
		return
	}
	r.products(from, to)
	before := len(r.found)
	r.sentenceBenefits(from, to)
	if len(r.found) == before {
		r.partBenefits(from, to)
	}
	r.wholeSentence(from, to)
}

// skipGreeting returns the start of a sentence without "Hi Jo," before it, if more
// follows.
func (r *reader) skipGreeting(from, to int) int {
	i := from
	for n := r.lex.match("cues.greeting", r.tokens[i:to]); n > 0; n = r.lex.match("cues.greeting", r.tokens[i:to]) {
		i += n
		if i+1 < to && r.tokens[i].upper && r.isMark(i+1, ",!") {
			i++
		}
		for i < to && r.isMark(i, ",!–-") {
			i++
		}
	}
	if r.wordCount(i, to) < 3 {
		return from
	}
	return i
}

// isAside reports a sentence with words to us in it.
func (r *reader) isAside(from, to int) bool {
	at := r.lex.find("cues.instruction_any", r.tokens[from:to])
	return at >= 0
}

// isChat reports a sentence in the language of messages, which no ad repeats.
func (r *reader) isChat(from, to int) bool {
	for i := from; i < to; i++ {
		if r.lex.has("lines.chat", &r.tokens[i]) {
			return true
		}
	}
	return false
}

// isHostile reports a sentence that speaks to a model.
func (r *reader) isHostile(from, to int) bool {
	at := r.lex.find("cues.hostile", r.tokens[from:to])
	return at >= 0
}

// askFor reports a sentence that asks for an ad, and where its topic begins.
func (r *reader) askFor(from, to int) (n, topic int) {
	if r.lex == nil || r.lex.match("cues.ask", r.tokens[from:to]) == 0 {
		return 0, to
	}
	for i := from; i < min(to, from+16); i++ {
		if !r.lex.has("cues.ask_for", &r.tokens[i]) {
			continue
		}
		for k := i + 1; k < to; k++ {
			if m := r.lex.match("cues.ask_about", r.tokens[k:to]); m > 0 {
				// "an ad on Facebook for our bike": the last one before a noun counts.
				if next := r.platformEnd(k+m, to); next > 0 {
					k = next - 1
					continue
				}
				return i - from + 1, k + m
			}
			if r.isMark(k, ":–—") && r.tokens[k-1].low != "" {
				return i - from + 1, k + 1
			}
		}
		return i - from + 1, to
	}
	return 0, to
}

// platformEnd returns the end of the name of a channel, 0 without one.
func (r *reader) platformEnd(i, to int) int {
	end := 0
	for i < to {
		n := r.lex.match("cues.platform", r.tokens[i:to])
		if n == 0 {
			break
		}
		i += n
		end = i
		for i < to && (r.lex.has("cues.and", &r.tokens[i]) || r.isMark(i, ",")) {
			i++
		}
	}
	return end
}

// isInstruction reports a sentence that tells us what to write. What an advertiser
// needs money for is none: "We need £25,000 by June".
func (r *reader) isInstruction(from, to int) bool {
	if r.lex == nil {
		return false
	}
	n := r.lex.match("cues.instruction", r.tokens[from:to])
	return n > 0 && (from+n >= to || r.tokens[from+n].kind != money)
}

// readTopic reads what an ad is asked for: a noun phrase and its details.
func (r *reader) readTopic(from, to int) {
	r.details(from, to)
	r.leadingProduct(from, to, brief.Sure)
}

// readShort reads a prompt of a few words.
func (r *reader) readShort(from, to int) {
	if n, topic := r.askFor(from, to); n > 0 {
		from = topic
	} else if r.lex != nil && (r.isInstruction(from, to) || r.isHostile(from, to)) {
		r.ignored++
		return
	}
	r.details(from, to)
	if r.lex == nil {
		r.add(brief.Product, from, to, brief.Guessed)
		return
	}
	if r.callToAction(from, to) {
		return
	}
	if r.productAfterCue(from, to) {
		r.restOfShort(from, to)
		return
	}
	r.leadingProduct(from, to, brief.Sure)
	r.restOfShort(from, to)
}

// restOfShort takes the parts of a short prompt after commas as benefits.
func (r *reader) restOfShort(from, to int) {
	for i := from; i < to; {
		end := r.clauseEnd(i, to)
		if i > from && r.free(i, end) && end > i && !r.barePlace(i, end) && !r.isName(r.trim(i, end)) {
			r.benefits(i, end, brief.Sure)
		}
		i = end + 1
	}
	for i := from; i < to; i++ {
		if r.taken[i] != "" || r.tokens[i].kind != word {
			continue
		}
		if n := r.lex.match("places", r.tokens[i:to]); n > 0 && r.free(i, i+n) && r.isPlaceHere(i) {
			r.take(brief.Place, i, i+n, brief.Cued)
			i += n - 1
		}
	}
}

// wholeSentence records a sentence that a writer can repeat as it is.
func (r *reader) wholeSentence(from, to int) {
	start, end := from, to
	for start < end && r.tokens[start].kind == mark && !r.isMark(start, `"“„«(¿¡`) {
		start++
	}
	if start >= end || !r.ends(&line{from: start, to: end}) && r.form != formMessage && r.form != formBullets && r.form != formPage {
		return
	}
	first := r.src.text[r.tokens[start].start:]
	text := r.src.text[r.tokens[start].start:r.tokens[end-1].end]
	if utf8.RuneCountInString(text) > maxSentence || r.wordCount(start, end) < 4 || !startsUpper(first) && r.form != formMessage || r.isMark(end-1, "?,;:") {
		return
	}
	for i := start; i < end; i++ {
		t := &r.tokens[i]
		// The only contact of the prompt is known as one; a second one is not.
		if r.taken[i] == brief.Contact && (r.form != formProse || r.contactCount() > 1) || r.taken[i] == brief.Terms || r.taken[i] == brief.CallToAction && r.form != formProse {
			return
		}
		// "I teach pilates" is said by one person; "I want" is said to us.
		if r.lex != nil && r.lex.has("cues.first_person", t) && (!r.lex.has("cues.first_person", &r.tokens[start]) || r.lex.find("cues.to_us", r.tokens[start:end]) >= 0) || t.kind == mark && t.low[0] >= 0xe2 && !r.isMark(i, "–—’‘“”„…«»€") {
			return
		}
	}
	if r.depends(start, end) || shouts(text) {
		return
	}
	conf := brief.Guessed
	if r.form == formProse && r.ends(&line{from: start, to: end}) {
		conf = brief.Sure // The user wrote it for people to read.
	}
	r.found = append(r.found, candidate{t: brief.Sentence, from: start, to: end, conf: conf})
}

// contactCount counts the phone numbers and addresses of the prompt.
func (r *reader) contactCount() (n int) {
	for i := range r.tokens {
		if k := r.tokens[i].kind; k == phone || k == address {
			n++
		}
	}
	return n
}

func startsUpper(text string) bool {
	for _, r := range text {
		if strings.ContainsRune(`"“„«(¿¡`, r) {
			continue
		}
		return !unicode.IsLower(r)
	}
	return false
}

// shouts reports a text of capitals or with several exclamation marks.
func shouts(text string) bool {
	upper, letters := 0, 0
	for _, r := range text {
		if unicode.IsLetter(r) {
			letters++
			if unicode.IsUpper(r) {
				upper++
			}
		}
	}
	return upper*2 > letters && letters > 12 || strings.Contains(text, "!!") || strings.Contains(text, "?!")
}

// callToAction reads a short sentence that asks people to act.
func (r *reader) callToAction(from, to int) bool {
	for from < to && r.tokens[from].kind == mark {
		from++
	}
	if from >= to || r.lex.match("cues.action", r.tokens[from:to]) == 0 || r.taken[from] != "" {
		return false
	}
	end := r.clauseEnd(from, to)
	for i := from; i < end; i++ {
		if r.taken[i] != "" && r.taken[i] != brief.Place && r.taken[i] != brief.Audience || i > from && r.lex.has("cues.and", &r.tokens[i]) {
			end = i
		}
	}
	dropped := end
	end = r.cutDangling(from, end)
	words := r.wordCount(from, end)
	if words < 2 && (words == 0 || dropped != end) || words > 7 {
		return false
	}
	// A longer sentence may say more than the action.
	r.add(brief.CallToAction, from, end, brief.Sure)
	for i := from; i < end; i++ {
		r.taken[i] = brief.CallToAction
	}
	return r.wordCount(from, to) <= 8 || r.wordCount(end, to) <= 3
}
