package composer

import (
	"strings"
	"unicode"
	"unicode/utf8"

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
//
// Choice: it takes apart only what it is sure of. A price, an offer or a date
// is a fact where a segment of a sentence consists of it; a list is split where
// its items are of one kind; what has a subject and a verb of its own stays a
// sentence. All else is used as it was written, or not at all, because a phrase
// of the brief reads well and half of one does not.
type reader struct {
	f *facts
	// label is that of the last labelled line, for the items below it.
	label string
	// all is the whole text, for hints that need no place.
	all string
	// main says that the sentence names what the ads are for.
	main bool
	// read counts the sentences that say something, first is the first one.
	read  int
	first string
	// guessed says that the kind of thing is not known for sure.
	guessed bool
	// calls are what the brief asks the customer to do.
	calls []call
	phone contact
}

// read makes facts of a cleaned and settled prompt.
func read(b *creative.Brief, text string, phone contact) *facts {
	r := &reader{f: &facts{brand: plainName(b.Brand.Name), cta: b.CallToAction, tone: strings.ToLower(b.Tone + " " + b.Brand.Voice)}, all: text, phone: phone}
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
	line = strings.TrimPrefix(line, bulletMark)
	if !item {
		r.label = ""
	}
	for _, s := range sentences(line) {
		// A label with nothing behind it is that of the items below.
		name := r.label
		if m := label.FindStringSubmatch(s.text); m != nil {
			name = strings.ToLower(m[1])
			if s.text = m[2]; s.text == "" {
				r.label = name
				continue
			}
		}
		if name == "" || !r.labelled(name, s.text) {
			r.sentence(s, item || name != "")
		}
	}
}

// labelled reads "Audience: students". It reports whether that was all.
func (r *reader) labelled(label, line string) bool {
	value := strings.Trim(line, " .!")
	switch label {
	case "brand", "company", "business", "client":
		if r.f.brand == "" {
			r.f.brand, r.f.name = plainName(value), plainName(value)
		}
	case "name":
		r.f.name, r.f.ownName = plainName(value), true
	case "audience", "target", "for":
		r.f.audience = unstart(strings.TrimPrefix(value, "for "), r.f.name)
	case "tone", "voice", "style", "mood":
		r.f.tone += " " + strings.ToLower(value)
	case "cta", "call to action", "action":
		r.asked(value)
	case "goal", "objective", "channel", "channels", "language", "format", "length", "keyword", "keywords", "task", "instruction", "instructions", "system", "assistant", "prompt", "note", "notes":
	case "place", "location", "city", "where", "venue":
		if r.f.place == "" && len(strings.Fields(value)) < 7 {
			r.f.place = "in " + strings.TrimPrefix(value, "in ")
			if label == "venue" || label == "where" {
				r.f.place, r.f.where = "", "at "+strings.TrimPrefix(value, "at ")
			}
		}
	case "price", "pricing", "cost":
		r.list(value)
	case "deadline", "ends", "valid", "until":
		r.list("ends " + strings.TrimPrefix(strings.TrimPrefix(lowerStart(value), "until "), "ends "))
	case "proof", "review", "reviews", "rating":
		if len(r.f.proofs) < mostProofs && value != "" {
			r.f.proofs = append(r.f.proofs, unstart(value, r.f.name))
		}
	case "benefit", "benefits", "feature", "features", "usp", "usps", "selling point", "selling points", "highlight", "highlights", "why us":
		for _, s := range sentences(line) {
			r.list(s.text)
		}
	default:
		return false
	}
	return true
}

// sentence is one sentence of the prompt.
type sentence struct {
	text string
	// question says that it ended with a question mark.
	question bool
}

var abbreviations = set("st inc ltd co no vs incl mr mrs ms dr e.g i.e a.m p.m approx est jan feb mar apr aug sep sept oct nov dec dez dic max min inkl zzgl ca bzw evtl mwst std tel tél nr bspw z.b d.h u.a aprox sr sra máx mín dott ecc av fr")

// abbreviated reports whether a text ends in a word that takes a point.
func abbreviated(s string) bool {
	word := s[strings.LastIndexByte(s, ' ')+1:]
	return len(word) == 1 && word[0] >= 'A' && word[0] <= 'Z' || abbreviations[strings.ToLower(word)] && (len(word) < 3 || strings.ToUpper(word) != word)
}

// askAgain is where a description turns into an instruction.
var askAgain = newPattern(`(?i),? and (?:i|we)(?:'d| would)? (?:like|need|want) `)

// sentences splits a line where sentences end; not inside an atom or after
// "St.".
func sentences(line string) []sentence {
	m := newMasking(line)
	list := m.sentences(m.text)
	for i := range list {
		list[i].text = m.restore(list[i].text)
	}
	return list
}

// sentences splits a line of the masked text.
func (m *masking) sentences(line string) []sentence {
	var list []sentence
	line = askAgain.ReplaceAllString(line, "; ")
	start := 0
	for i, c := range line {
		if masked(c) && m.endsSentence(line[i:]) {
			end := i + utf8.RuneLen(c)
			list = append(list, sentence{strings.Trim(line[start:end], " \"-"), false})
			start = end
			continue
		}
		if c != '.' && c != '!' && c != '?' && c != ';' {
			continue
		}
		end := i+1 == len(line) || line[i+1] == ' ' || line[i+1] == '"'
		if !end || c == '.' && i+1 < len(line) && abbreviated(line[start:i]) {
			continue
		}
		if s := strings.Trim(line[start:i], " \"-"); s != "" {
			list = append(list, sentence{s, c == '?'})
		}
		start = i + 1
	}
	if s := strings.Trim(line[start:], " \"-"); s != "" {
		list = append(list, sentence{s, false})
	}
	return list
}

// endsSentence reports whether a line begins with an atom that ends in a point
// and a new sentence follows: "until 24.12. Free delivery".
func (m *masking) endsSentence(line string) bool {
	a, size := utf8.DecodeRuneInString(line)
	rest, found := strings.CutPrefix(line[size:], " ")
	next, _ := utf8.DecodeRuneInString(rest)
	return found && strings.HasSuffix(m.atoms[a-firstMask], ".") && unicode.IsUpper(next)
}

// unstart takes the capital off the first word unless it is its own.
func unstart(s, name string) string {
	if startsProper(s, name) {
		return s
	}
	return lowerFirst(s)
}

// sentence reads one sentence.
func (r *reader) sentence(s sentence, item bool) {
	text := r.unorder(s.text)
	if text == "" || injected(s.text) {
		return
	}
	text = dayComma.ReplaceAllString(r.unquote(text), "$1 $2")
	if at := stress.FindStringIndex(text); at != nil && hinted(text, "mention|highlight|emphasi|focus|stress|point out|talk about|play up|lead with|include|are|is") {
		defer r.list(text[at[1]:])
		if text = strings.TrimRight(text[:at[0]], " ,.;"); text == "" {
			return
		}
	}
	if m := pained.FindStringSubmatch(text); m != nil && r.f.pain == "" && hinted(text, "tired|sick|fed up|struggling|no more|done with") {
		r.f.pain = unstart(trimTail(m[1]), r.f.name)
	}
	switch {
	case complaint.MatchString(text):
		return
	case s.question && !r.main:
		r.say(text + "?")
		return
	case r.call(text):
		return
	}
	if m := audienceIs.FindStringSubmatch(text); m != nil {
		r.f.audience = trimTail(m[1])
		return
	}
	if t := opener.ReplaceAllString(text, ""); t != text && r.f.product.text == "" && (r.read == 0 || !r.f.ownName) && (unicode.IsUpper([]rune(t + " ")[0]) || !hasAnyPrefix(strings.ToLower(text), "meet", "support") || determiners[strings.ToLower(firstWord(t))]) {
		r.f.fresh = r.f.fresh || r.f.product.text == "" && fresh.MatchString(text[:len(text)-len(t)])
		r.main, text = r.main || r.f.product.text == "", t
	}
	if r.read == 0 {
		r.first = text
	}
	r.read++
	if len(segments(text)) == 1 && r.fact(text) || (!item || r.f.product.text == "") && r.names(text) {
		return
	}
	r.list(text)
}

// unquote takes quotation marks off; what they enclose is often the name.
func (r *reader) unquote(s string) string {
	if m := quoted.FindStringSubmatch(s); m != nil && unicode.IsUpper([]rune(m[1])[0]) && (r.f.name == "" || r.f.name == r.f.brand) {
		r.f.name, r.f.ownName = m[1], true
	}
	return strings.ReplaceAll(s, `"`, "")
}

var (
	// complaint is a sentence that only names what people want to be rid of.
	complaint = newPattern(`(?i)^(?:tired of|sick of|fed up with|struggling with|done with|had enough of)\b`)
	// audienceIs says whom the ads are for.
	audienceIs = newPattern(`(?i)\baudience (?:is|are|will be) (?:mostly |mainly |primarily )?(.+)$`)
	// dayComma is the comma inside a date.
	dayComma = newPattern(`(` + weekdays + `), ((?:the )?(?:` + months + `|\d{1,2}(?:st|nd|rd|th)?(?: of)? ` + months + `)\b)`)
	// plainOrder are orders that are nothing else, published what may be
	// advertised itself.
	plainOrder = newPattern(`(?i)^(?:promote|promoting|advertise|advertising|announce|sell|publici|showcase|introduce|spread|tell|get|drive|raise|increase|buy)`)
	published  = newPattern(`(?i)^(?:newsletter|magazine|videos?|posters?|brochures?)\b`)
	fresh      = newPattern(`(?i)introduc|announc|launch|open`)
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
	if m := asksFor.FindStringSubmatchIndex(s); m != nil {
		r.asked(s[m[2]:m[3]])
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
	case subjectOrder.MatchString(s) && !published.MatchString(s):
		r.main = true
		r.hint(subjectOrder.FindString(s))
		s = subjectOrder.ReplaceAllString(s, "")
	}
	if m := verbOrder.FindString(s); m != "" && r.f.product.text == "" && (plainOrder.MatchString(m) || determiners[strings.ToLower(firstWord(s[len(m):]))] || strings.HasPrefix(s[len(m):], "new ") || unicode.IsUpper([]rune(s[len(m):] + " ")[0])) {
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
		r.f.occasion = occasion(m[1])
	}
	if strings.Contains(strings.ToLower(s), "volunteer") && r.f.cta == "" {
		r.f.cta = "sign_up"
	}
	if regexpLaunch.MatchString(s) {
		r.f.fresh = true
	}
}

var greeting = newPattern(`(?i)^(?:hi|hello|hey|thanks|thank you|please|ok|okay|dear .{0,20}|hi there|hey there|hello there|cheers)$`)

var regexpLaunch = newPattern(`(?i)\b(?:launch|introduc)`)

// trimTail drops words and marks that nothing can end with.
func trimTail(s string) string {
	for {
		s = strings.TrimRight(s, " ,.;:!?-"+gap)
		i := strings.LastIndexByte(s, ' ')
		last := strings.ToLower(s[i+1:])
		if i < 0 || last == "off" && numeric(s[:i]) || !prepositions[last] && !determiners[last] && last != "and" && last != "or" && last != "&" && last != "is" && last != "are" {
			return s
		}
		s = s[:i]
	}
}
