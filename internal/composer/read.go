package composer

import (
	"regexp"
	"strings"

	"fanfare/internal/creative"
)

// gap stands where something was taken out of a sentence; clean lets no such
// character through.
const gap = "|"

// most of each is what copy can use; a prompt may have thousands.
const (
	mostBenefits = 12
	mostOffers   = 4
	mostProofs   = 3
	mostSays     = 6
)

// reader collects the facts of an English brief, sentence by sentence.
type reader struct {
	f *facts
	// label is that of the last labelled line, for the items below it.
	label string
	// all is the whole text, for hints that need no place.
	all string
	// whole is the sentence being read where it can be used as it is, also the
	// facts that were taken out of it.
	whole string
	also  mask
	// known are the facts before this sentence.
	known facts
	// bullet says that the line is an item of a list, so that its capital is
	// only that of a beginning.
	bullet bool
	// deeds says that what follows is done by the product.
	deeds bool
	// clause says that a verb in the third person must come: "that …".
	clause bool
	// main says that the sentence names what the ads are for.
	main bool
}

// read makes facts of a cleaned and settled prompt.
func read(b *creative.Brief, text string) *facts {
	r := &reader{f: &facts{brand: plainName(b.Brand.Name), cta: b.CallToAction, tone: strings.ToLower(b.Tone + " " + b.Brand.Voice)}, all: text}
	r.f.name = r.f.brand
	for line := range strings.SplitSeq(text, "\n") {
		r.line(line)
	}
	r.finish(b)
	return r.f
}

func plainName(s string) string {
	s = strings.Join(strings.Fields(strings.ReplaceAll(clean(s), bulletMark, " ")), " ")
	return strings.Trim(s, ` "'.,;:!?`)
}

func (r *reader) line(line string) {
	item := strings.HasPrefix(line, bulletMark)
	r.bullet = item
	line = strings.TrimPrefix(line, bulletMark)
	if !item {
		r.label = ""
	}
	for _, s := range sentences(line) {
		if m := label.FindStringSubmatch(s.text); m != nil {
			r.label, r.bullet = strings.ToLower(m[1]), true
			if s.text = m[2]; s.text == "" {
				continue
			}
		} else if !item {
			r.label = ""
		}
		if r.label == "" || !r.labelled(s.text) {
			r.sentence(s, item || r.label != "")
		}
	}
}

// labelled reads "Audience: students". It reports whether that was all.
func (r *reader) labelled(line string) bool {
	value := strings.Trim(line, " .!")
	switch r.label {
	case "brand", "company", "business", "client":
		if r.f.brand == "" {
			r.f.brand, r.f.name = plainName(value), plainName(value)
		}
	case "name":
		r.f.name, r.f.ownName = plainName(value), true
	case "audience", "target":
		r.f.audience = unstart(strings.TrimPrefix(value, "for "), r.f.name)
	case "tone", "voice", "style", "mood":
		r.f.tone += " " + strings.ToLower(value)
	case "cta", "call to action", "action":
		r.action(value)
	case "goal", "objective", "channel", "channels", "language", "format", "length", "keyword", "keywords", "task", "instruction", "instructions", "system", "assistant", "prompt", "note", "notes":
	case "place", "location", "city", "where", "venue":
		if r.f.place == "" && len(strings.Fields(value)) < 7 {
			r.f.place = "in " + strings.TrimPrefix(value, "in ")
			if r.label == "venue" || r.label == "where" {
				r.f.place, r.f.where = "", "at "+strings.TrimPrefix(value, "at ")
			}
		}
	case "price", "pricing", "cost":
		r.sentence(sentence{text: unstart(value, "")}, true)
	case "deadline", "ends", "valid", "until":
		r.sentence(sentence{text: "ends " + strings.TrimPrefix(strings.TrimPrefix(unstart(value, ""), "until "), "ends ")}, true)
	case "proof", "review", "reviews", "rating":
		if len(r.f.proofs) < mostProofs && value != "" {
			r.f.proofs = append(r.f.proofs, unstart(value, r.f.name))
		}
	case "benefit", "benefits", "feature", "features", "usp", "usps", "selling point", "selling points", "highlight", "highlights", "why us":
		for _, s := range sentences(line) {
			r.extras(unstart(r.spans(s.text), r.f.name))
		}
	default:
		return false
	}
	return true
}

// sentence is one sentence of the prompt.
type sentence struct {
	text string
	// full says that it ended like one.
	full bool
}

var abbreviations = set("st inc ltd co no vs mr mrs ms dr e.g i.e a.m p.m approx est jan feb mar apr aug sep sept oct nov dec")

// abbreviated reports whether a text ends in a word that takes a point.
func abbreviated(s string) bool {
	word := s[strings.LastIndexByte(s, ' ')+1:]
	return len(word) == 1 && word[0] >= 'A' && word[0] <= 'Z' || abbreviations[strings.ToLower(word)]
}

// askAgain is where a description turns into an instruction.
var askAgain = regexp.MustCompile(`(?i),? and (?:i|we)(?:'d| would)? (?:like|need|want) `)

// sentences splits a line where sentences end; not inside 4.8 or after "St.".
func sentences(line string) []sentence {
	var list []sentence
	line = askAgain.ReplaceAllString(line, "; ")
	start := 0
	for i := range len(line) {
		c := line[i]
		if c != '.' && c != '!' && c != '?' && c != ';' {
			continue
		}
		end := i+1 == len(line) || line[i+1] == ' ' || line[i+1] == '"'
		if !end || c == '.' && i+1 < len(line) && abbreviated(line[start:i]) {
			continue
		}
		if s := strings.Trim(line[start:i], " \"-"); s != "" {
			list = append(list, sentence{s, c == '.' || c == '!'})
		}
		start = i + 1
	}
	if s := strings.Trim(line[start:], " \"-"); s != "" {
		list = append(list, sentence{s, false})
	}
	return list
}

// unstart takes the capital off the first word unless it is its own.
func unstart(s, name string) string {
	if startsProper(s, name) {
		return s
	}
	return lowerFirst(s)
}

// sentence takes everything out of one sentence that it can name, and reads
// what remains as product or benefits.
func (r *reader) sentence(s sentence, item bool) {
	text := r.unorder(s.text)
	if text == "" || injected(s.text) {
		return
	}
	whole := text
	if m := pained.FindStringSubmatch(text); m != nil && r.f.pain == "" {
		r.f.pain = trimTail(m[1])
	}
	if callOnly.MatchString(strings.Trim(text, " ,.!")) {
		return
	}
	if m := audienceIs.FindStringSubmatch(text); m != nil {
		r.f.audience = trimTail(m[1])
		return
	}
	if t := opener.ReplaceAllString(text, ""); t != text {
		r.f.fresh = r.f.fresh || r.f.product.text == "" && regexpNew.MatchString(text[:len(text)-len(t)])
		text = t
	}
	if complaint.MatchString(text) {
		return
	}
	before, known := r.f.stated(), *r.f
	text = r.spans(text)
	r.known = known
	r.whole, r.also = "", r.f.stated()&^before
	if s.full {
		r.whole = whole
	}
	r.rest(text, item)
}

// stated are the facts known so far that a sentence can repeat.
func (f *facts) stated() mask {
	var m mask
	for _, fact := range []struct {
		text string
		bit  mask
	}{{f.deadline.adverb, usesDeadline}, {f.price, usesPrice}, {f.audience, usesAudience}, {f.place, usesPlace}, {f.when, usesWhen}, {f.where, usesWhere}} {
		if fact.text != "" {
			m |= fact.bit
		}
	}
	if len(f.offers) > 0 {
		m |= 1 << offerBit
	}
	return m
}

// complaint is a sentence that only names what people want to be rid of.
var complaint = regexp.MustCompile(`(?i)^(?:tired of|sick of|fed up with|struggling with|done with|had enough of)\b`)

// callOnly is a call to action and nothing else, audienceIs says whom the ads
// are for.
var (
	callOnly   = regexp.MustCompile(`(?i)^(?:get (?:a |your )?(?:free )?quote|request (?:a |your )?(?:demo|quote|call)|book (?:now|today|online|early|direct|(?:your|a|an) .{0,30})|call (?:us|now|today).{0,12}|apply(?: now| today| online)?|visit(?: us| now| today)?.{0,8}|sign up.{0,12}|(?:pre-?)?order (?:now|online|today|yours).{0,8}|shop (?:now|online|today)|donate.{0,10}|register.{0,12}|download.{0,14}|subscribe.{0,10}|learn more|contact us.{0,8}|get in touch|join us|don't miss (?:it|out|this).{0,12}|buy(?: now| today| yours)?|try it(?: free)?(?: today)?|rsvp.{0,10}|click here|reserve your .{0,20})$`)
	audienceIs = regexp.MustCompile(`(?i)\baudience (?:is|are|will be) (?:mostly |mainly |primarily )?(.+)$`)
)

// unorder takes off the instruction around what a sentence is about.
func (r *reader) unorder(s string) string {
	s, r.main = strings.TrimSpace(s), false
	if greeting.MatchString(s) {
		return ""
	}
	for {
		t := politeness.ReplaceAllString(s, "")
		if t == s || t == "" {
			break
		}
		s = t
	}
	s = callAnd.ReplaceAllString(s, "")
	if m := asksFor.FindStringSubmatchIndex(s); m != nil {
		r.action(s[m[2]:m[3]])
		s = s[:m[0]] + gap + s[m[1]:]
	}
	if m := mannered(s); m != nil {
		r.f.tone += " " + strings.ToLower(strings.Join(m, " "))
		s = strings.TrimSpace(spaces.ReplaceAllString(manner.ReplaceAllString(s, ""), " "))
	}
	switch {
	case order.MatchString(s):
		r.main = true
		r.hint(order.FindString(s))
		s = order.ReplaceAllString(s, "")
	case subjectOrder.MatchString(s):
		r.main = true
		r.hint(subjectOrder.FindString(s))
		s = subjectOrder.ReplaceAllString(s, "")
	}
	if verbOrder.MatchString(s) {
		r.main = true
		r.hint(verbOrder.FindString(s))
		s = verbOrder.ReplaceAllString(s, "")
	}
	s = strings.Trim(s, " ,:-"+gap)
	for {
		t := politeness.ReplaceAllString(s, "")
		if t == s || t == "" {
			return s
		}
		s = t
	}
}

// mannered finds instructions about how to write.
func mannered(s string) []string {
	if !hinted(s, "make|keep|have|tone|style|voice|mood|vibe|feel|look|copy|text|headline|the ad|emoji|hashtag|call|cta|urgency|humo|pun|exclamation|keyword|words|char|sentence|lines|variant|version|option|idea|catch|punch|engag|sweet|attention|compel|persua|click|scroll|not |n't|never|avoid|no need|without") {
		return nil
	}
	return manner.FindAllString(s, -1)
}

// injected reports a sentence that speaks to the writer's machinery.
func injected(s string) bool {
	return hinted(s, "ignore|disregard|forget|override|bypass|skip|prompt|instruction|reveal|print|you are|act as|pretend|jailbreak|developer|as an ai|poem|story|essay|song|joke|haiku|limerick|code|api|instead|say|reply|respond|answer|begin|malware|virus|secret|password|rules|key|python|leak|repeat|output|config|message|environment") && injection.MatchString(s)
}

// hint keeps what an instruction says about the thing: "a summer sale banner
// for …".
func (r *reader) hint(s string) {
	if m := saleName.FindStringSubmatch(s); m != nil && r.f.occasion == "" {
		r.takeOffers(m[0])
	}
	if strings.Contains(strings.ToLower(s), "volunteer") && r.f.cta == "" {
		r.f.cta = "sign_up"
	}
	if regexpLaunch.MatchString(s) {
		r.f.fresh = true
	}
}

// callAnd is a call to action in front of what it brings: "subscribe and get …".
var callAnd = regexp.MustCompile(`(?i)^(?:subscribe|sign up|order|book|register|join|buy|shop|call|visit us|enrol+)(?: now| today| direct| online| us)? (?:and|to) (?:get |receive |enjoy )?`)

var greeting = regexp.MustCompile(`(?i)^(?:hi|hello|hey|thanks|thank you|please|ok|okay|dear .{0,20}|hi there|hey there|hello there|cheers)$`)

var regexpLaunch = regexp.MustCompile(`(?i)\b(?:launch|introduc)`)

// until cuts a text at the first of some characters.
func until(s, chars string) string {
	if i := strings.IndexAny(s, chars); i >= 0 {
		return s[:i]
	}
	return s
}

// trimTail drops words and marks that nothing can end with.
func trimTail(s string) string {
	for {
		s = strings.TrimRight(s, " ,.;:!?-"+gap)
		i := strings.LastIndexByte(s, ' ')
		last := strings.ToLower(s[i+1:])
		if i < 0 || !prepositions[last] && !determiners[last] && last != "and" && last != "or" && last != "&" && last != "is" && last != "are" {
			return s
		}
		s = s[:i]
	}
}

// action notes the call to action that a text asks for.
func (r *reader) action(text string) {
	if r.f.cta != "" {
		return
	}
	for _, a := range actions {
		if a.pattern.MatchString(text) || strings.EqualFold(strings.ReplaceAll(a.code, "_", " "), strings.TrimSpace(text)) {
			r.f.cta = a.code
			return
		}
	}
}
