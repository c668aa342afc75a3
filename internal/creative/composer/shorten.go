package composer

import (
	"strings"

	"fanfare/internal/creative/policy"
)

// shorter are ways to say the same in less, tried in this order. Nothing in
// them changes what is said. The hint must be in the text, in lower case, for
// the pattern to be worth a try.
var shorter = []struct {
	hint    string
	pattern *pattern
	with    string
}{
	{"(", newPattern(`(?i)\s*\([^()]*\)`), ""},
	{"ly ", newPattern(`(?i)\b(?:really|simply|actually|basically|truly|absolutely|totally|literally) `), ""},
	{"very ", newPattern(`(?i)\bvery `), ""},
	{"in order to", newPattern(`(?i)\bin order to\b`), "to"},
	{"as well as", newPattern(`(?i)\bas well as\b`), "and"},
	{"moment", newPattern(`(?i)\bat this moment\b|\bat the moment\b`), "now"},
	{" of ", newPattern(`(?i)\ba (?:wide )?(?:range|variety) of `), ""},
	{"do not", newPattern(`(?i)\bdo not\b`), "don't"},
	{"cannot", newPattern(`(?i)\bcannot\b`), "can't"},
	{" not", newPattern(`(?i)\bis not\b`), "isn't"},
	{" not", newPattern(`(?i)\bare not\b`), "aren't"},
	{" is", newPattern(`(?i)\b(it|that|what|here|there) is( \w)`), "$1's$2"},
	{" are", newPattern(`(?i)\b(you|we|they) are( \w)`), "$1're$2"},
	{" will", newPattern(`(?i)\b(you|we|they|it) will( \w)`), "$1'll$2"},
	{" have", newPattern(`(?i)\b(you|we|they) have (been|got|had|made|seen|done)\b`), "$1've $2"},
	{"purchase", newPattern(`(?i)\bpurchase\b`), "buy"},
	{"utili", newPattern(`(?i)\butili[sz]e\b`), "use"},
	{"approximately", newPattern(`(?i)\bapproximately\b`), "about"},
	{"immediately", newPattern(`(?i)\bimmediately\b`), "now"},
	{"assistance", newPattern(`(?i)\bassistance\b`), "help"},
	{"additional", newPattern(`(?i)\badditional\b`), "more"},
	{"numerous", newPattern(`(?i)\bnumerous\b`), "many"},
	{"applications", newPattern(`(?i)\bapplications\b`), "apps"},
	{"information", newPattern(`(?i)\binformation\b`), "info"},
	{" per ", newPattern(`(?i) per (month|year|week|day|night|hour|person|user)\b`), "/$1"},
	{"today", newPattern(`(?i)(\w+ \w+),? today([.!?]|$)`), "$1$2"},
	{"right ", newPattern(`(?i)(\w+ \w+),? right (?:now|away)([.!?]|$)`), "$1$2"},
	{" and ", newPattern(`(?i) and `), " & "},
}

// plainMessage keeps a short message in the alphabet of which most fit.
var plainMessage = strings.NewReplacer("’", "'", "‘", "'", "“", `"`, "”", `"`, "–", "-", "—", "-", "…", "...", "\u00a0", " ", "•", "-")

// Shorten brings a text within a limit without cutting a word: it drops filler,
// contracts, takes shorter words, then drops whole sentences and clauses from
// the end, but never a part of an amount, a date or another fact. ok is false,
// and the text as it was, where that does not suffice.
func Shorten(text string, l policy.Limit) (short string, ok bool) {
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
			if kept != "" && (next == "" || strings.HasPrefix(next, " ") || strings.HasPrefix(next, "\n") || anyIdeograph(kept)) {
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
	return openWords[last] || i < 0 && (verbs[last] || openWords[last])
}

var openWords = set("looking ready need want get how to is are was not no your you'll we'll it's they're you're that's meet until by save up if when made what why here's find see than rated buy done tired had")
