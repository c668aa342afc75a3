// Package atoms finds the parts of a text that copy repeats exactly or not at
// all: an amount with its currency, a date, a percentage, a phone number, a code,
// a name with a symbol, a number.
package atoms

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Kind is what an atom is.
type Kind uint8

// The kinds.
const (
	Date Kind = iota
	Money
	Percent
	Phone
	Number
	// Name is a name with a symbol or a digit, or a code.
	Name
)

// Atom is one atom. Start and End are byte offsets.
type Atom struct {
	Start, End int
	Kind       Kind
}

// The parts of the atoms' grammar. Runs of spaces are one space.
const (
	letter  = `[\p{Latin}\p{Greek}\p{Cyrillic}]`
	dash    = `[-–—−‑‐]`
	number  = `(?:\d{1,3}(?:[ '’]\d{3})+(?:[.,]\d+)?|\d+(?:[.,:'’]\d+)*)`
	span    = `(?: ?` + dash + ` ?| (?:to|bis|à|a|hasta|até) )` + number
	isoCode = `CHF|EUR|USD|GBP|SEK|NOK|DKK|PLN|CZK|HUF|RON|BRL|JPY|CNY|CAD|AUD|NZD|SGD|HKD|MXN|INR|ZAR|AED|TRY`
	scaled  = `(?:(?:k|K|m|M|bn)\b| ?(?:Mio|Mrd|mio|mln|mil|million|millions|milliards?|Millionen|milliones|millones|milioni|milhões)\b\.?)?`
	signed  = `(?:[A-Z]{1,3}\p{Sc}|\p{Sc}|(?:` + isoCode + `)\b|Fr\.|Rs\.?|kr\b\.?|zł)`
	spelled = `(?:\p{Sc}|円|元|원|(?:` + isoCode + `|[Ee]uros?|[Dd]ollars?|[Pp]ounds?|[Pp]ence|[Ff]ranken|[Ff]rancs?|[Rr]eais|[Pp]esos|[Cc]ents?|[Qq]uid|[Bb]ucks|kr|zł|Kč|Ft|lei)\b)`
	percent = `(?:[%‰]|(?i:percent|per cent|pct|prozent|pour[ -]cent|por ciento|per cento|por cento)\b)`

	monthName = `(?i:jan(?:uary|uar|vier|eiro|v?\b)|feb(?:ruary|ruar|rero|braio|\b)|f[ée]v(?:rier|r?\b)|fevereiro|m[äa]rz\b|mar(?:ch|s|zo|ço|\b)|apr(?:ile|il|\b)|a[vb]ril|a[vb]r\b|gen(?:naio|\b)|ma[iy]\b|mayo|mag(?:gio|\b)|maio|jun[ei]?\b|juin|jun[ih]o|giu(?:gno|\b)|jul[yi]?\b|juil(?:let|\b)|jul[ih]o|lug(?:lio|\b)|aug(?:ust|\b)|août|aout|ago(?:sto|\b)|sept?(?:ember|embre|iembre|\b)|settembre|set(?:embro|\b)|o[ck]t(?:ober|obre|ubre|\b)|ott(?:obre|\b)|out(?:ubro|\b)|nov(?:ember|embre|iembre|embro|\b)|de[cz](?:ember|embre|embro|\b)|d[ée]c(?:embre|\b)|di[cz](?:iembre|embre|\b))`
	dayOf     = `\d{1,2}(?:st|nd|rd|th|er|º|°|ª|\.)?`
	joined    = `(?: ?(?:` + dash + `|/|&) ?| (?:bis|und|to|and|till|until|through|au|et|al|y|e|a|ao|até|hasta|jusqu'au|bis zum)(?: (?:the|zum|le|el|il|o))? )`
	inYear    = `(?:\.?,? (?:de |del |do )?\d{4}\b)?`
	numDate   = `(?:\d{4}-\d{2}-\d{2}|\d{1,2}[./]\d{1,2}[./](?:\d{4}|\d{2})\b|\d{1,2}\.\d{1,2}\.)`
	dayMonth  = dayOf + `(?:` + joined + dayOf + `)? ?(?:of |de |d'|d’)?` + monthName + inYear
	monthDate = monthName + `\.? \d{1,2}(?:st|nd|rd|th)?\b(?:` + joined + `\d{1,2}(?:st|nd|rd|th)?\b)?` + inYear
	monthYear = monthName + `(?: de| del)? \d{4}\b`
	oneDate   = `(?:` + numDate + `|` + dayMonth + `|` + monthDate + `|` + monthYear + `)`
)

// atomRules are tried in this order at every place where a word may begin.
var atomRules = []struct {
	pattern *Pattern
	// fits looks at what was found and at what is around it.
	fits func(text string, start, end int) bool
	kind Kind
}{
	{pattern: NewPattern(`^(?:` + oneDate + `)(?:` + joined + oneDate + `)?`), fits: isDate, kind: Date},
	{pattern: NewPattern(`^(?:` + signed + ` ?` + number + `(?:` + span + `)?(?:[.,]` + dash + `{1,2})?` + scaled + `(?:(?:pp|pcm|pw|pm|pn)\b| (?:` + isoCode + `)\b)?|R ?\d{1,3}(?:[ ,.]\d{3})+(?:[.,]\d{2})?|\d{1,2}p\b|` + number + `(?:` + span + `)?(?:[.,]` + dash + `{1,2})?` + scaled + ` ?` + spelled + `)`), fits: isAmount, kind: Money},
	{pattern: NewPattern(`^` + `[-–−+±~]?` + number + `(?:` + span + `)? ?` + percent), fits: ends, kind: Percent},
	{pattern: NewPattern(`^(?:\+\d{1,3}(?:[ ./-]?\(?\d{1,5}\)?){2,6}|\(\d{2,5}\)[ /-]?\d{2,5}(?:[ ./–-]?\d{2,5}){0,4}|0\d{0,5}(?:[ ./–-]\d{2,8}){1,5}|\d{2} 9\d{4}-\d{4}|\d{2,3}(?:[-. ]\d{2,4}){2,4}|\d[- ]\d{3}[- ]\d{3}[- ]\d{4})`), fits: isPhone, kind: Phone},
	{pattern: NewPattern(`^[~≈≥≤±+-]?` + number + `(?:` + dash + number + `| ` + dash + ` ` + number + `)?(?:[/x×+]` + number + `)*\+?(?: ?[ap]\.m\.?|\.?[ºª°]|` + letter + `(?:` + letter + `|\d)*)?`), fits: func(string, int, int) bool { return true }, kind: Number},
	{pattern: NewPattern(`^(?:(?:` + letter + `|\d)+(?:\+{1,3}|#)|\.[A-Z]{2,}|[A-Z]&[A-Z]\b|(?:` + letter + `|\d)+(?:[-_][\p{Lu}\d]+)*)`), fits: isName, kind: Name},
}

// joins reports whether a character and its neighbour are one word or number.
// Scripts without spaces do not show where a word ends.
func joins(a, b rune) bool {
	in := func(r rune) bool {
		return unicode.IsDigit(r) || unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic)
	}
	return in(a) && in(b)
}

// ends reports whether no word goes on at the end.
func ends(text string, _, end int) bool {
	last, _ := utf8.DecodeLastRuneInString(text[:end])
	next, _ := utf8.DecodeRuneInString(text[end:])
	return !joins(last, next)
}

// beforeDay are words after which "28.2." is a day and not a number that ends
// a sentence.
var beforeDay = set("bis zum am vom ab den und until till by on from before valid")

func isDate(text string, start, end int) bool {
	if !ends(text, start, end) || notDate.MatchString(text[end:]) {
		return false
	}
	found := text[start:end]
	if notMonth.MatchString(found) {
		return false
	}
	if m := dayAndMonth.FindStringSubmatch(found); m != nil {
		a, b := len(m[1]) == 2 && m[1] > "12", len(m[2]) == 2 && m[2] > "12"
		if a && b || m[1] > "31" && len(m[1]) == 2 || m[2] > "31" && len(m[2]) == 2 {
			return false
		}
	}
	if !strings.HasSuffix(found, ".") || strings.Count(found, ".") > 2 {
		return true
	}
	before := strings.Fields(text[:start])
	return len(before) > 0 && beforeDay[strings.ToLower(before[len(before)-1])]
}

var (
	// notDate is what follows an amount or a longer number.
	notDate = NewPattern(`^(?:[./-]\d| ?[\p{Sc}%])`)
	// notMonth is a number at the end of a sentence and the next one: "for 4. Out 9
	// October".
	notMonth    = NewPattern(`^\d{1,2}\. Out\b`)
	dayAndMonth = NewPattern(`^(\d{1,2})[./](\d{1,2})[./]`)
)

// isAmount refuses the sign of the next amount: "20 €5 vouchers".
func isAmount(text string, start, end int) bool {
	last, _ := utf8.DecodeLastRuneInString(text[:end])
	next, _ := utf8.DecodeRuneInString(text[end:])
	return ends(text, start, end) && (!unicode.Is(unicode.Sc, last) || !unicode.IsDigit(next))
}

// isPhone counts the digits and leaves out large numbers.
func isPhone(text string, start, end int) bool {
	digits := 0
	for _, r := range text[start:end] {
		if unicode.IsDigit(r) {
			digits++
		}
	}
	found := text[start:end]
	// Nine digits in groups of three are a phone number in Spain and Portugal.
	counted := thousands.MatchString(found) && (strings.Contains(found, ".") || digits != 9)
	return digits >= 7 && digits <= 15 && !counted && ends(text, start, end)
}

// thousands is a large number in groups.
var thousands = NewPattern(`^[1-9]\d{0,2}(?:[ .]\d{3})+$`)

// isName takes names with a symbol, and words of letters and digits.
func isName(text string, start, end int) bool {
	found := text[start:end]
	if strings.ContainsAny(found, "+#&") || found[0] == '.' {
		return ends(text, start, end)
	}
	return strings.ContainsFunc(found, unicode.IsDigit) && ends(text, start, end)
}

// mayHaveAtoms is a quick look for what every atom has. Of the points only that
// of ".NET" is of interest.
func mayHaveAtoms(text string) bool {
	before := ' '
	for _, r := range text {
		if unicode.IsDigit(r) || r == '+' || r == '#' || r == '&' || before == '.' && unicode.IsUpper(r) || unicode.Is(unicode.Sc, r) {
			return true
		}
		before = r
	}
	return false
}

// Find finds the atoms of a text, from left to right.
func Find(text string) []Atom {
	if !mayHaveAtoms(text) {
		return nil
	}
	var list []Atom
	before := ' '
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if found := atomAt(text, i, before, r); found.End > i {
			list = append(list, found)
			before, _ = utf8.DecodeLastRuneInString(text[:found.End])
			i = found.End
			continue
		}
		before = r
		i += size
	}
	return list
}

// leadsAtom reports whether the word that a text begins with can be part of an
// atom. Most words cannot, and the rules are slow.
func leadsAtom(text string) bool {
	end := strings.IndexFunc(text, func(r rune) bool { return !unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic) })
	if end < 0 {
		return false
	}
	r, size := utf8.DecodeRuneInString(text[end:])
	if unicode.IsDigit(r) || unicode.Is(unicode.Sc, r) || strings.ContainsRune("+#&-_", r) {
		return true
	}
	rest := text[end:]
	if r == '.' {
		rest = text[end+size:]
	}
	if len(rest) < 2 || rest[0] != ' ' {
		return false
	}
	for _, of := range []string{" de ", " del ", " "} {
		if after, ok := strings.CutPrefix(rest, of); ok && after != "" && after[0] >= '0' && after[0] <= '9' {
			return true
		}
	}
	return false
}

// atomAt reads the atom that begins at a place.
func atomAt(text string, i int, before, r rune) Atom {
	switch {
	case unicode.IsDigit(r), unicode.IsLetter(r):
		if joins(before, r) || unicode.IsLetter(r) && !leadsAtom(text[i:]) {
			return Atom{}
		}
	case unicode.Is(unicode.Sc, r), r == '(', strings.ContainsRune("~≈≥≤±", r):
	case strings.ContainsRune("+-–−.", r):
		if unicode.IsLetter(before) || unicode.IsDigit(before) || before == '+' || unicode.Is(unicode.Sc, before) || strings.ContainsRune(")%-–", before) {
			return Atom{}
		}
	default:
		return Atom{}
	}
	for n := range atomRules {
		rule := &atomRules[n]
		m := rule.pattern.FindStringIndex(text[i:])
		if m == nil || !rule.fits(text, i, i+m[1]) {
			continue
		}
		end := i + m[1]
		// The point of "24. Dez." is the month's, whatever follows.
		if rule.kind == Date && strings.HasPrefix(text[end:], ".") && shortMonth.MatchString(text[i:end]) {
			end++
		}
		return Atom{i, end, rule.kind}
	}
	return Atom{}
}

var shortMonth = NewPattern(`(?i)\d[. ]* ?(?:of |de )?(?:janv?|feb|f[ée]vr?|mär|mar|apr|a[vb]r|jun|juil|jul|aug|ago|sept?|set|o[ck]t|ott|out|nov|de[cz]|d[ée]c|di[cz]|gen|mag|giu|lug)$`)

// HasPhone reports whether a text has a phone number.
func HasPhone(text string) bool {
	return slices.ContainsFunc(Find(text), func(a Atom) bool { return a.Kind == Phone })
}

func set(words string) map[string]bool {
	m := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		m[word] = true
	}
	return m
}
