// Package shorten brings texts within the limits of channels without cutting a
// word or a fact.
package shorten

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"fanfare/internal/creative/atoms"

	"fanfare/internal/creative/policy"
	"fanfare/internal/creative/words"
)

// shorter are ways to say the same in less, tried in this order. Nothing in
// them changes what is said. The hint must be in the text, in lower case, for
// the pattern to be worth a try.
var shorter = []struct {
	hint    string
	pattern *atoms.Pattern
	with    string
}{
	{"(", atoms.NewPattern(`(?i)\s*\([^()]*\)`), ""},
	{"ly ", atoms.NewPattern(`(?i)\b(?:really|simply|actually|basically|truly|absolutely|totally|literally) `), ""},
	{"very ", atoms.NewPattern(`(?i)\bvery `), ""},
	{"in order to", atoms.NewPattern(`(?i)\bin order to\b`), "to"},
	{"as well as", atoms.NewPattern(`(?i)\bas well as\b`), "and"},
	{"moment", atoms.NewPattern(`(?i)\bat this moment\b|\bat the moment\b`), "now"},
	{" of ", atoms.NewPattern(`(?i)\ba (?:wide )?(?:range|variety) of `), ""},
	{"do not", atoms.NewPattern(`(?i)\bdo not\b`), "don't"},
	{"cannot", atoms.NewPattern(`(?i)\bcannot\b`), "can't"},
	{" not", atoms.NewPattern(`(?i)\bis not\b`), "isn't"},
	{" not", atoms.NewPattern(`(?i)\bare not\b`), "aren't"},
	{" is", atoms.NewPattern(`(?i)\b(it|that|what|here|there) is( \w)`), "$1's$2"},
	{" are", atoms.NewPattern(`(?i)\b(you|we|they) are( \w)`), "$1're$2"},
	{" will", atoms.NewPattern(`(?i)\b(you|we|they|it) will( \w)`), "$1'll$2"},
	{" have", atoms.NewPattern(`(?i)\b(you|we|they) have (been|got|had|made|seen|done)\b`), "$1've $2"},
	{"purchase", atoms.NewPattern(`(?i)\bpurchase\b`), "buy"},
	{"utili", atoms.NewPattern(`(?i)\butili[sz]e\b`), "use"},
	{"approximately", atoms.NewPattern(`(?i)\bapproximately\b`), "about"},
	{"immediately", atoms.NewPattern(`(?i)\bimmediately\b`), "now"},
	{"assistance", atoms.NewPattern(`(?i)\bassistance\b`), "help"},
	{"additional", atoms.NewPattern(`(?i)\badditional\b`), "more"},
	{"numerous", atoms.NewPattern(`(?i)\bnumerous\b`), "many"},
	{"applications", atoms.NewPattern(`(?i)\bapplications\b`), "apps"},
	{"information", atoms.NewPattern(`(?i)\binformation\b`), "info"},
	{" per ", atoms.NewPattern(`(?i) per (month|year|week|day|night|hour|person|user)\b`), "/$1"},
	{"today", atoms.NewPattern(`(?i)(\w+ \w+),? today([.!?]|$)`), "$1$2"},
	{"right ", atoms.NewPattern(`(?i)(\w+ \w+),? right (?:now|away)([.!?]|$)`), "$1$2"},
	{" and ", atoms.NewPattern(`(?i) and `), " & "},
}

// plainMessage keeps a short message in the alphabet of which most fit.
var plainMessage = strings.NewReplacer("’", "'", "‘", "'", "“", `"`, "”", `"`, "–", "-", "—", "-", "…", "...", "\u00a0", " ", "•", "-")

// Text brings a text within a limit without cutting a word: it drops filler,
// contracts, takes shorter words, then drops whole sentences and clauses from
// the end, but never a part of an amount, a date or another fact. ok is false,
// and the text as it was, where that does not suffice.
func Text(text string, l policy.Limit) (short string, ok bool) {
	if l.Length(text) <= l.Hard {
		return text, true
	}
	short, ok = tighten(text, l)
	ok = ok && sameAtoms(short, text)
	for !ok {
		shortened, dropped := dropLast(short)
		if !dropped {
			return text, false
		}
		short = shortened
		ok = l.Length(short) <= l.Hard && sameAtoms(short, text)
	}
	return short, true
}

// tighten says the same in less, without leaving anything out.
func tighten(text string, l policy.Limit) (string, bool) {
	if l.Length(text) <= l.Hard {
		return text, true
	}
	short := text
	if l.Count == policy.SMS {
		short = plainMessage.Replace(short)
	}
	lower := strings.ToLower(short)
	for _, s := range shorter {
		if l.Length(short) <= l.Hard {
			return short, true
		}
		if !strings.Contains(lower, s.hint) {
			continue
		}
		short = strings.TrimSpace(s.pattern.ReplaceAllString(short, s.with))
	}
	if short == "" {
		return text, false
	}
	return upperLike(text, short), l.Length(short) <= l.Hard
}

// upperLike gives a text the capital that its first word may have lost.
func upperLike(text, short string) string {
	if text != "" && upperFirst(text) == text {
		return upperFirst(short)
	}
	return short
}

const (
	stops   = ".!?。！？؟"
	clauses = ",;:、，؛–—"
)

// breaks are words before which a clause can end.
var breaks = []string{" because ", " so that ", " while ", " where ", " which ", " that ", " when ", " if ", " plus ", " with ", " without ", " including ", " and ", " & ", " for ", " from ", " at ", " in ", " until ", " by "}

// dropLast drops the last sentence, or where there is one only, its last
// clause, keeping the mark it ends with. What is left must stand alone.
func dropLast(text string) (string, bool) {
	body := strings.TrimRight(text, stops+" \n")
	mark := strings.TrimSpace(text[len(body):])
	if i := strings.LastIndexAny(body, stops+"\n"); i >= 0 {
		for ; i >= 0; i = lastStop(body[:i]) {
			kept := strings.TrimRight(body[:i], " \n")
			next := strings.TrimLeft(body[i:], stops)
			// A point inside a number or a name ends nothing.
			if kept != "" && (next == "" || strings.HasPrefix(next, " ") || strings.HasPrefix(next, "\n") || isUnspaced(kept)) {
				return strings.TrimSpace(kept + leadingStops(body[i:])), true
			}
		}
	}
	best := -1
	for i, r := range body {
		if i > 0 && strings.ContainsRune(clauses, r) && (i+1 >= len(body) || body[i+1] == ' ' || r > 0x7f) {
			best = i
		}
	}
	if best < 0 {
		lower := strings.ToLower(body)
		for _, word := range breaks {
			if i := strings.LastIndex(lower, word); i > best && len(lower) == len(body) {
				best = i
			}
		}
	}
	if best <= 0 {
		return text, false
	}
	kept := trimTail(body[:best])
	// A fact alone says too little: "20%".
	if kept == "" || len(kept) >= len(body) || endsOpen(kept) || onlyAtoms(kept) {
		return text, false
	}
	return kept + mark, true
}

func lastStop(s string) int { return strings.LastIndexAny(s, stops+"\n") }

func leadingStops(s string) string {
	return s[:len(s)-len(strings.TrimLeft(s, stops))]
}

// endsOpen reports a text that waits for more: "looking", "how to get".
func endsOpen(s string) bool {
	i := strings.LastIndexByte(s, ' ')
	last := strings.ToLower(s[i+1:])
	return openWords[last] || i < 0 && words.IsVerb(last)
}

var openWords = set("looking ready need want get how to is are was not no your you'll we'll it's they're you're that's meet until by save up if when made what why here's find see than rated buy done tired had")

// danglers are words that nothing can end with.
var danglers = set(`a an the our my your their his her its some all any every each this these those more
	of for with in from by at on to without that which who near between under over inside against into around during made designed built aimed featuring including than about via per as because when while so where plus out within after before until through across behind above below off along towards since
	and or & is are`)

// trimTail drops words and marks that nothing can end with.
func trimTail(s string) string {
	for {
		s = strings.TrimRight(s, " ,.;:!?-")
		i := strings.LastIndexByte(s, ' ')
		last := strings.ToLower(s[i+1:])
		if i < 0 || last == "off" && strings.ContainsFunc(s[:i], unicode.IsDigit) || !danglers[last] {
			return s
		}
		s = s[:i]
	}
}

func set(list string) map[string]bool {
	m := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		m[word] = true
	}
	return m
}

func upperFirst(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if !unicode.IsLower(r) {
		return s
	}
	return string(unicode.ToUpper(r)) + s[n:]
}

// isUnspaced reports a script that is written without spaces.
func isUnspaced(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool {
		return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
	})
}

// sameAtoms reports whether every atom of a shorter text is one of the longer.
func sameAtoms(short, long string) bool {
	known := map[string]bool{}
	for _, a := range atoms.Find(long) {
		known[long[a.Start:a.End]] = true
	}
	return !slices.ContainsFunc(atoms.Find(short), func(a atoms.Atom) bool { return !known[short[a.Start:a.End]] })
}

// onlyAtoms reports a text that is one atom.
func onlyAtoms(text string) bool {
	found := atoms.Find(text)
	return len(found) == 1 && found[0].End-found[0].Start == len(text)
}
