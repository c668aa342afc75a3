package composer

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// ambiguous words are proper names only where they are written so.
var ambiguous = set("us it sat led cork phoenix queens windows apple slack zoom notion stripe excel wellington outlook hr soc perth orlando is maine reading turkey bath may march devon alps")

var monthDay = newPattern(`\b(may|march|mar|jan|feb|apr|jun|jul|aug|sept?|oct|nov|dec)(\.? \d{1,2}\b)|\b(\d{1,2}(?:st|nd|rd|th)? )(may|march|mar|jan|feb|apr|jun|jul|aug|sept?|oct|nov|dec)\b`)

// settle gives English text the case and spelling it was meant to have: no
// shouting, names of days and places with a capital, the brand as the brand
// writes itself.
//
// Names are words that have one spelling only, by their lower case.
func settle(text, brand string, names map[string]string) string {
	loud := shouted(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		words := strings.Split(line, " ")
		titled := titleCase(words)
		for j, word := range words {
			if bare := strings.TrimFunc(word, notWord); bare == "" || names[strings.ToLower(bare)] != bare {
				words[j] = settleWord(word, loud, titled, j == 0)
			}
		}
		line = strings.Join(words, " ")
		lines[i] = monthDay.ReplaceAllStringFunc(line, func(s string) string {
			words := strings.Split(s, " ")
			for i := range words {
				words[i] = upperFirst(words[i])
			}
			return strings.Join(words, " ")
		})
	}
	text = holidays.Replace(strings.Join(lines, "\n"))
	return spell(text, brand)
}

// spell writes a name the way its owner does.
func spell(text, name string) string {
	lower, want := strings.ToLower(text), strings.ToLower(name)
	if name == "" || len(lower) != len(text) || len(want) != len(name) {
		return text
	}
	for from := 0; ; {
		i := strings.Index(lower[from:], want)
		if i < 0 {
			return text
		}
		i += from
		from = i + len(name)
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		after, _ := utf8.DecodeRuneInString(text[from:])
		if (i == 0 || notWord(before)) && (from == len(text) || notWord(after)) {
			text = text[:i] + name + text[from:]
		}
	}
}

// holidays have names of two words.
var holidays = strings.NewReplacer("black Friday", "Black Friday", "cyber monday", "Cyber Monday", "cyber Monday", "Cyber Monday", "mother's day", "Mother's Day", "father's day", "Father's Day", "new year's eve", "New Year's Eve", "valentine's day", "Valentine's Day", "Valentine's day", "Valentine's Day", "new york", "New York", "los angeles", "Los Angeles", "san francisco", "San Francisco", "hong kong", "Hong Kong")

// shouted reports text that is mostly capitals.
func shouted(text string) bool {
	upper, letters := 0, 0
	for _, r := range text {
		if unicode.IsLetter(r) {
			letters++
		}
		if unicode.IsUpper(r) {
			upper++
		}
	}
	return letters > 7 && upper*10 > letters*6
}

// titleCase reports a line in which every longer word has a capital.
func titleCase(words []string) bool {
	capital, long := 0, 0
	for _, word := range words {
		if len(word) > 3 && unicode.IsLetter(rune(word[0])) {
			long++
			if unicode.IsUpper(rune(word[0])) && strings.ToUpper(word) != word {
				capital++
			}
		}
	}
	return long > 3 && capital*10 >= long*9
}

func settleWord(word string, loud, titled, first bool) string {
	core := strings.TrimFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' })
	if core == "" || !unicode.IsLetter(rune(core[0])) && core[0] < 0x80 && !strings.ContainsFunc(core, unicode.IsUpper) {
		return word
	}
	low, form := strings.ToLower(core), core
	capitals := core == strings.ToUpper(core) && len(core) > 1 && strings.ContainsFunc(core, unicode.IsUpper)
	name, known := proper[low]
	for _, ending := range []string{"'s", "s"} {
		if stem, cut := strings.CutSuffix(low, ending); cut && proper[stem] != "" && !known && !ambiguous[stem] && (ending == "'s" || strings.HasSuffix(stem, "day")) {
			name, known = proper[stem]+ending, true
		}
	}
	switch {
	case slips[low] != "":
		form = slips[low]
		if first && !loud && unicode.IsUpper(rune(core[0])) {
			form = upperFirst(form)
		}
	case known && (!ambiguous[low] || !loud && core == name):
		form = name
	case loud, titled && !first && mixed(core):
		form = low
	case capitals && strings.ContainsAny(core, "0123456789"):
	case capitals && (shouts[low] || len([]rune(core)) > 5 || verbs[low] || adjectives[low]):
		form = low
		if len([]rune(core)) > 5 && !verbs[low] && !adjectives[low] {
			form = upperFirst(low)
		}
	}
	if loud && low == "i" {
		form = "I"
	}
	return strings.Replace(word, core, form, 1)
}

// mixed reports a word that has a capital only in front; others are spelled
// that way on purpose.
func mixed(word string) bool {
	rest := []rune(word)[1:]
	return !strings.ContainsFunc(string(rest), unicode.IsUpper)
}

// capital reports a word with a capital in front only.
func capital(word string) bool {
	r := []rune(word)
	return len(r) > 1 && unicode.IsUpper(r[0]) && !unicode.IsUpper(r[1])
}

// startsProper reports whether a sentence begins with a word that keeps its
// capital.
func startsProper(s, name string) bool {
	word := strings.Trim(firstWord(s), ",.:;!?\"'")
	if word == "" || name != "" && strings.HasPrefix(s, name) {
		return true
	}
	low := strings.ToLower(word)
	if before, _, ok := strings.Cut(word, "-"); ok && mixed(word) {
		return proper[strings.ToLower(before)] == before
	}
	if proper[low] == word || strings.HasSuffix(low, "days") && proper[strings.TrimSuffix(low, "s")]+"s" == word {
		return true
	}
	if form, ok := proper[strings.TrimSuffix(low, "'s")]; ok && (form == word || form == strings.TrimSuffix(word, "'s")) {
		return true
	}
	// In a list of names the first is one too: "Hebrew, Arabic and English".
	if word := firstWord(s); strings.HasSuffix(word, ",") && capital(firstWord(strings.TrimPrefix(s, word+" "))) {
		return true
	}
	// A capital inside a sentence is a name's, and so is the one before it.
	if words := strings.Fields(s); len(words) > 1 && capital(words[0]) && capital(words[1]) && !determiners[low] && !adjectives[low] && !verbs[low] && !strings.HasSuffix(low, "ed") && proper[strings.ToLower(words[1])] == "" {
		return true
	}
	return word == "I" || strings.HasPrefix(word, "I'") || !mixed(word)
}
