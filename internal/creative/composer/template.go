package composer

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// template is a line of copy with places for facts. It is used only for briefs
// that have all of them.
type template struct {
	// angle is the idea that the line carries, "" for any.
	angle string
	text  string
	// only are conditions, all of which must hold: kinds ("goods,food", any of
	// them) and flags (see facts.holds).
	only string
}

// cutTemplate is a template taken apart: cut are the parts of its text,
// conditions those of only.
type cutTemplate struct {
	template
	cut, conditions []string
}

// line is a template filled in.
type line struct {
	angle string
	// texts say the same at different lengths, the longest first.
	texts []string
	// uses are the facts in it, needs whether it speaks of "it", so that the
	// thing must have been named before.
	uses  mask
	needs bool
	// id and from identify the line and its template, so that variants do not
	// share them.
	id, from int
	// question says that it ends with one, after what must have come before:
	// "offer" or "question".
	question bool
	after    string
	// ascii says that its bytes are its letters, phone that it has a phone
	// number.
	ascii, phone bool
	// tag says that it is too little to lead.
	tag bool
	// terse says that it does not read well among whole sentences.
	terse bool
	// full says that it is a whole sentence, with subject and verb.
	full bool
}

// mask is a set of facts.
type mask uint64

const (
	usesProduct mask = 1 << iota
	usesName
	usesDeadline
	usesPrice
	usesAudience
	usesPlace
	usesWhen
	usesWhere
	usesPain
	usesOccasion
	// usesAsk marks lines that ask for the action, of which one is enough.
	usesAsk
)

const (
	offerBit   = 12 // eleven bits are taken above
	proofBit   = 16
	benefitBit = 20
	sayBit     = 40
	named      = usesProduct | usesName
)

// parts are a template cut at its slots: text, slot, text, slot, …, text.
func parts(text string) []string {
	var list []string
	for {
		before, rest, ok := strings.Cut(text, "{")
		list = append(list, before)
		if !ok {
			return list
		}
		slot, after, _ := strings.Cut(rest, "}")
		list, text = append(list, slot), after
	}
}

// Templates are taken apart once: those of the roles, and those of the calls to
// action by role and code.
var (
	tables  = [][]cutTemplate{head: cutAll(heads), hook: cutAll(hooks), support: cutAll(supports), offering: cutAll(offerLines)}
	askings = map[role]map[string][]cutTemplate{closing: cutAsking(closings), button: cutAsking(buttons)}
)

func cutAll(table []template) []cutTemplate {
	list := make([]cutTemplate, len(table))
	for i, t := range table {
		list[i] = cutTemplate{t, parts(t.text), strings.Fields(t.only)}
	}
	return list
}

func cutAsking(table map[string][]string) map[string][]cutTemplate {
	m := map[string][]cutTemplate{}
	for code, texts := range table {
		var list []template
		for _, text := range texts {
			text, only, _ := strings.Cut(text, " | ")
			list = append(list, template{text: text, only: only})
		}
		m[code] = cutAll(list)
	}
	return m
}

// holds checks a template's conditions.
func (f *facts) holds(conditions []string) bool {
	for _, condition := range conditions {
		var ok bool
		switch condition {
		case "afteroffer", "afterquestion", "full", "tag", "terse", "light", "things":
			ok = true
		case "self":
			ok = f.self
		case "sold":
			ok = !f.self && f.product.text != ""
		case "named":
			ok = f.name != ""
		case "count":
			ok = !f.product.mass
		case "known":
			ok = !f.guessed
		case "noclock":
			ok = !hinted(f.when, "am|pm|:")
		case "meeting":
			ok = f.kind != event
		case "readers":
			ok = !slices.ContainsFunc(strings.Fields(strings.ToLower(f.audience)), func(word string) bool { return young[word] })
		case "dish":
			ok = kindOfWord(headOf(f.product.text)) == food
		case "oneday":
			ok = !dayRange.MatchString(f.when)
		case "anon":
			ok = !f.ownName
		case "usual":
			ok = !f.odd()
		case "noask":
			ok = f.ask == ""
		case "brief":
			ok = len(strings.Fields(f.product.text)) < 4 && !strings.Contains(f.product.text, ",")
		case "sales":
			ok = hasAnySuffix(f.occasion, "sale", "clearance")
		case "listen":
			ok = strings.Contains(f.product.text, "podcast")
		case "on":
			ok = len(f.offers) > 0 && f.offers[0].on
		case "new":
			ok = f.fresh
		case "own":
			ok = f.ownName
		case "company":
			ok = f.brand != "" && !f.ownName && f.product.text != ""
		case "single":
			ok = !f.product.plural && !f.product.mass
		case "plural":
			ok = f.product.plural
		case "many":
			ok = f.product.plural || f.product.mass
		case "adverb":
			ok = hasAnyPrefix(f.deadline.adverb, "until", "this", "through") && !strings.HasSuffix(f.deadline.adverb, "only")
		case "sparse":
			ok = len(f.benefits)+len(f.offers)+len(f.says)+len(f.proofs) < 2 && !f.odd()
		case "bare":
			ok = f.product.text == ""
		case "formal":
			ok = f.formal()
		case "casual":
			ok = !f.formal()
		default:
			ok = slices.Contains(strings.Split(condition, ","), string(f.kind))
		}
		if !ok {
			return false
		}
	}
	return true
}

// odd reports what nobody goes looking for.
func (f *facts) odd() bool {
	return hasAnySuffix(f.product.text, "deals", "offers", "sale", "guide", "news", "menu", "plans") || modelName.MatchString(f.product.text)
}

// modelName is a product that there is only one of.
var modelName = newPattern(`\b[A-Z][a-z]*\d`)

// young cannot be spoken to, since they do not read.
var young = set("toddlers babies kids children infants newborns dogs cats pets puppies horses factories hospitals warehouses offices hotels schools restaurants homes clinics venues buildings")

// formal reports a tone that wants neither jokes nor chat.
func (f *facts) formal() bool {
	return containsAny(f.tone, "formal", "professional", "serious", "luxur", "elegant", "premium", "authoritative", "corporate", "sober", "respectful")
}

// lively reports a tone that bears an exclamation mark.
func (f *facts) lively() bool {
	return !f.formal() && containsAny(f.tone, "playful", "fun", "excit", "energetic", "bold", "cheerful", "enthusias", "upbeat", "urgent", "friendly", "young", "lively")
}

func containsAny(s string, words ...string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(s, word) })
}

// expand fills a template in every way the facts allow.
func (f *facts) expand(t *cutTemplate, id int) []line {
	if !f.holds(t.conditions) {
		return nil
	}
	cut := t.cut
	turns := 1
	for i := 1; i < len(cut); i += 2 {
		if n := len(f.family(cut[i])); n > turns {
			turns = n
		}
	}
	var lines []line
	for turn := range turns {
		l := line{angle: t.angle, from: id, question: strings.HasSuffix(t.text, "?"), full: slices.Contains(t.conditions, "full"), tag: slices.Contains(t.conditions, "tag"), terse: slices.Contains(t.conditions, "terse")}
		for _, after := range []string{"offer", "question"} {
			if slices.Contains(t.conditions, "after"+after) {
				l.after = after
			}
		}
		for form := range max(1, len(f.forms)) {
			text, uses, needs, ok := f.fill(t, turn, form)
			if !ok {
				break
			}
			l.uses, l.needs = uses, needs
			if !slices.Contains(l.texts, text) {
				l.texts = append(l.texts, text)
			}
			if uses&usesProduct == 0 {
				break
			}
		}
		if len(l.texts) > 0 {
			lines = append(lines, l)
		}
	}
	return lines
}

func (f *facts) fill(t *cutTemplate, turn, form int) (text string, uses mask, needs, ok bool) {
	var b strings.Builder
	traits, longest := 0, false
	light, things := slices.Contains(t.conditions, "light"), slices.Contains(t.conditions, "things")
	for i, part := range t.cut {
		if i%2 == 0 {
			b.WriteString(part)
			continue
		}
		value, used, found := f.slot(part, turn, form)
		if !found || used != 0 && uses&used&^named != 0 {
			return "", 0, false, false
		}
		stem := slotStem(part)
		// Lists do not go into lists, nor sentences behind a colon.
		if light && used>>benefitBit != 0 && (strings.Contains(value, ",") || strings.Contains(value, " and ") || runes(value) > 40) {
			return "", 0, false, false
		}
		if things && stem == "bit" && !f.isThing(used) {
			return "", 0, false, false
		}
		if stem == "say" {
			// A question keeps its mark and stands alone.
			if strings.HasSuffix(value, "?") && (t.angle == "" || t.text != "{say}." && t.text != "{say}") {
				return "", 0, false, false
			}
			needs = needs || f.says[sayIndex(used)].needs
		}
		uses |= used
		// "Light and made in Rome", not "made in Rome and light".
		if stem == "adj" {
			long := strings.Contains(value, " ")
			if traits++; traits > 1 && longest && !long {
				return "", 0, false, false
			}
			longest = long
		}
		if part == "it" || part == "it's" || part == "costs" && !strings.HasPrefix(value, "prices") {
			needs = needs || uses&named == 0 && !f.self
		}
		b.WriteString(value)
	}
	text = f.sentenceCase(b.String())
	// The name of a summit says that it is one.
	double := uses&named == named && strings.HasSuffix(strings.ToLower(f.name), f.product.text)
	return text, uses, needs, !double && !stutters(text)
}

// stutters reports a sentence that hangs the same thing on twice.
func stutters(text string) bool {
	for _, word := range []string{" with ", " for ", " that ", ": "} {
		if i := strings.Index(text, word); i >= 0 {
			rest := text[i+len(word)-1:]
			if end := strings.IndexAny(rest, ".?"); end >= 0 && end+1 < len(rest) && rest[end+1] == ' ' {
				rest = rest[:end]
			}
			if strings.Contains(rest, word) {
				return true
			}
		}
	}
	return false
}

// isThing reports whether a benefit is a noun.
func (f *facts) isThing(used mask) bool {
	for i, b := range f.benefits {
		if used == 1<<(benefitBit+i) {
			return b.kind == thing
		}
	}
	return false
}

func sayIndex(used mask) int {
	for i := range mostSays {
		if used&(1<<(sayBit+i)) != 0 {
			return i
		}
	}
	return 0
}

// sentenceCase gives every sentence its capital.
func (f *facts) sentenceCase(s string) string {
	s = squeezeLine(s)
	var b strings.Builder
	start := true
	for i, r := range s {
		if start && unicode.IsLetter(r) {
			start = false
			word := firstWord(s[i:])
			if mixed(word) && (f.name == "" || !strings.HasPrefix(s[i:], f.name)) && (f.brand == "" || !strings.HasPrefix(s[i:], f.brand)) {
				r = unicode.ToUpper(r)
			}
		}
		if unicode.IsDigit(r) {
			start = false
		}
		if (r == '.' || r == '?' || r == '!') && i+1 < len(s) && s[i+1] == ' ' {
			start = r != '.' || !abbreviated(s[:i])
		}
		b.WriteRune(r)
	}
	return b.String()
}

// squeezeLine closes gaps and double stops that empty or abbreviated slots
// leave.
func squeezeLine(s string) string {
	s = squeeze(s)
	for _, pair := range [][2]string{{"..", "."}, {" .", "."}, {" ,", ","}, {" ?", "?"}, {".?", "?"}, {"!.", "!"}, {"?.", "?"}, {"?:", "?"}, {",,", ","}} {
		s = strings.ReplaceAll(s, pair[0], pair[1])
	}
	return s
}

func choose[T any](yes bool, a, b T) T {
	if yes {
		return a
	}
	return b
}

// runes counts characters.
func runes(s string) int { return utf8.RuneCountInString(s) }
