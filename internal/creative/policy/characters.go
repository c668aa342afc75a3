package policy

import (
	"html"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Finders that check characters instead of words.

// findRuns finds runs of a kind with at least minLength characters.
func findRuns(minLength int, kind func(rune) bool) func(*parsedText, *sourceIndex) []span {
	return func(p *parsedText, _ *sourceIndex) []span {
		var list []span
		for i := 0; i < len(p.runes); i++ {
			start := i
			for i < len(p.runes) && kind(p.runes[i]) {
				i++
			}
			if i-start >= minLength {
				list = append(list, span{start: start, end: i})
			}
		}
		return list
	}
}

// findRepeatedPunctuation finds "!!", "?!", "???" and "...", but not the comma
// after "11 a.m.".
func findRepeatedPunctuation(p *parsedText, _ *sourceIndex) []span {
	var list []span
	for i := 0; i < len(p.runes); i++ {
		start, loud, other := i, 0, 0
		for ; i < len(p.runes) && strings.ContainsRune("!?！？.,", p.runes[i]); i++ {
			switch r := p.runes[i]; {
			case r != '.' && r != ',':
				loud++
			case i == start || p.runes[i-1] == r || loud > 0:
				other++
			}
		}
		if loud > 1 || other > 1 {
			list = append(list, span{start: start, end: i})
		}
	}
	return append(list, findRepeatedSigns(p)...)
}

// minSigns is the number of equal signs from which they decorate: $$$, ***, ★★★.
const minSigns = 3

// findRepeatedSigns finds runs of the same sign or emoji. Plus signs may grade a
// product, and underscores and dashes separate parts of a text.
func findRepeatedSigns(p *parsedText) []span {
	var list []span
	for i := 0; i < len(p.runes); {
		r, start := p.runes[i], i
		for i < len(p.runes) && p.runes[i] == r {
			i++
		}
		if i-start >= minSigns && (strings.ContainsRune("$€£*#~%<>=^|", r) || isSymbol(r) || isEmoji(r)) {
			list = append(list, span{start: start, end: i})
		}
	}
	return list
}

// isEmoji reports whether a character is an emoji without a variation
// selector.
func isEmoji(r rune) bool {
	return r >= 0x1f000 && r <= 0x1faff ||
		strings.ContainsRune("⌚⌛⏩⏪⏫⏬⏰⏳◽◾☔☕♈♉♊♋♌♍♎♏♐♑♒♓♿⚓⚡⚪⚫⚽⚾⛄⛅⛎⛔⛪⛲⛳⛵⛺⛽✅✊✋✨❌❎❓❔❕❗❤➕➖➗➰➿⬛⬜⭐⭕", r)
}

const emojiSelector, keycap = '\ufe0f', '\u20e3'

// findEmoji finds whole emoji, including composed ones.
func findEmoji(p *parsedText, _ *sourceIndex) []span {
	var list []span
	for i := 0; i < len(p.runes); i++ {
		n := len(list)
		switch r := p.runes[i]; {
		case r == emojiSelector || r == keycap:
			start := max(i-1, 0)
			if n > 0 && list[n-1].end >= start {
				list[n-1].end = i + 1
			} else {
				list = append(list, span{start: start, end: i + 1})
			}
		case !isEmoji(r):
		case n > 0 && (list[n-1].end == i || list[n-1].end == i-1 && p.runes[i-1] == zwj):
			list[n-1].end = i + 1
		default:
			list = append(list, span{start: i, end: i + 1})
		}
	}
	return list
}

// isSymbol reports whether a character is an arrow, star, check mark, bullet,
// box or similar.
func isSymbol(r rune) bool {
	return (r >= 0x2190 && r <= 0x21ff || r >= 0x2300 && r <= 0x23ff || r >= 0x2500 && r <= 0x27bf || r >= 0x2900 && r <= 0x297f ||
		r >= 0x2b00 && r <= 0x2bff || strings.ContainsRune("•‣◦※¤¶", r)) && !isEmoji(r)
}

const (
	minCapitals = 4
	// maxCapitalPercent is the maximum percentage of capitals in a text.
	// minLetters is the number of letters below which it does not apply.
	maxCapitalPercent, minLetters = 30, 10
)

// knownAcronyms are acronyms with at least minCapitals letters and a vowel.
// Without a vowel, a word in capitals is always an acronym.
var knownAcronyms = wordSet(`aaas taeg tael aprc isee siae inps aarp abta adac afdb ahrefs aisi ajax amoled apis asic asics atms atol bacs bafa bipoc capex cefr ceos cfos cila ciso
		cnas cpam cpap cpus ctos dalf datev dele delf detran dewalt dsgvo dvla ebay ebita ebitda ecmo elster enem eori epdm esim faqs fcas fdic fema fide finra fsca
		fifa fpga gcse gmat gpus haccp hdmi hipaa hvac iaas iata iban ibex icao icms ielts ikea imss inps inss iots ipad iptu
		ipv4 ipv6 irpf isbn isee issn istat json kpis lgbtqia lsat mcat mooc mvno nasa nasdaq nato nvme nyse oauth ocde oecd
		ofsted okrs oled opec opex osha paas paye pymes qled rais renfe rfid roas rodo rohs saas saml scada seos sepa siret spid
		ssid stem suvs toefl tuev uefa unesco unicef urssaf usbs usda vies voip wifi wlan yaml`)

// isAcronym reports whether a word in capitals is an acronym.
func isAcronym(word string) bool {
	word = foldText(word)
	return knownAcronyms[word] || !strings.ContainsAny(word, "aeiouy")
}

// capitalizedWords returns the words in capitals.
func (p *parsedText) capitalizedWords() []span {
	var list []span
	for _, s := range findRuns(minCapitals, isWordRune)(p, nil) {
		letters, upper := countCapitals(p.runes[s.start:s.end])
		if letters >= minCapitals && upper == letters {
			list = append(list, s)
		}
	}
	return list
}

func countCapitals(runes []rune) (letters, upper int) {
	for _, r := range runes {
		if unicode.IsUpper(r) {
			upper++
		}
		if unicode.IsLetter(r) {
			letters++
		}
	}
	return letters, upper
}

// findCapitals finds words in capitals that are not in the source, or the whole
// text if too many letters are capitals.
//
// Choice: the first letter of a word does not count, because all platforms
// accept title case.
func findCapitals(p *parsedText, f *sourceIndex) []span {
	if _, upper := countCapitals(p.runes); upper < minCapitals {
		return nil
	}
	letters, upper := 0, 0
	for _, s := range findRuns(1, isWordRune)(p, nil) {
		n, _ := countCapitals(p.runes[s.start:s.end])
		_, inner := countCapitals(p.runes[s.start+1 : s.end])
		word := p.slice(s.start, s.end)
		if inner < minCapitals-1 || !f.capitals[word] && (inner != n-1 || !isAcronym(word)) {
			letters, upper = letters+n, upper+inner
		}
	}
	if letters >= minLetters && upper*100 > letters*maxCapitalPercent {
		return []span{{start: 0, end: len(p.runes), message: "More than 30% of the text is in capitals. Write it in normal case."}}
	}
	var list []span
	for _, s := range p.capitalizedWords() {
		if word := p.slice(s.start, s.end); !f.capitals[word] && !isAcronym(word) {
			list = append(list, s)
		}
	}
	return list
}

// hiddenWord is a word with a sign in the place of a letter: fr€€, c@sh. An
// address and a price are none.
var hiddenWord = regexp.MustCompile(`\p{L}[@$€£]+\p{L}|\p{L}{2}[$€£]{2,}`)

// findSpacedOut finds words with spaces between their letters, F R E E, and with
// signs in the place of letters.
func findSpacedOut(p *parsedText, _ *sourceIndex) []span {
	single := func(i int) bool {
		return i < len(p.runes) && (unicode.IsUpper(p.runes[i]) || unicode.IsLower(p.runes[i])) &&
			(i == 0 || !isWordRune(p.runes[i-1])) && (i+1 == len(p.runes) || !isWordRune(p.runes[i+1]))
	}
	var list []span
	for i := 0; i < len(p.runes); i++ {
		if !single(i) {
			continue
		}
		start, n := i, 1
		for i+2 < len(p.runes) && strings.ContainsRune(" -_*~", p.runes[i+1]) && single(i+2) {
			i += 2
			n++
		}
		if n >= 3 {
			list = append(list, span{start: start, end: i + 1})
		}
	}
	if strings.ContainsAny(p.text, "@$€£") {
		list = append(list, slices.DeleteFunc(p.matchAll(hiddenWord), p.isInAddress)...)
	}
	return list
}

// isInAddress reports whether a place is part of a mail address or a handle.
func (p *parsedText) isInAddress(s span) bool {
	from, to := s.start, s.end
	for from > 0 && !unicode.IsSpace(p.runes[from-1]) {
		from--
	}
	for to < len(p.runes) && !unicode.IsSpace(p.runes[to]) {
		to++
	}
	return slices.Contains(p.runes[from:to], '@') && slices.Contains(p.runes[from:to], '.')
}

var (
	phonePattern    = regexp.MustCompile(`\+?\(?\d(?:[ ()./-]{0,2}\d){6,14}`)
	notPhonePattern = regexp.MustCompile(`^(?:\d{1,4}[./-]\d{1,2}[./-]\d{1,4}|\d{4} ?[-/] ?\d{4}|\d{1,3}(?:[ .]\d{3})+|\d+)$`)
)

// findPhones finds phone numbers, but not dates, years or large numbers. Digits
// without separators count from ten digits on.
func findPhones(p *parsedText, _ *sourceIndex) []span {
	var list []span
	if !strings.ContainsAny(p.text, "0123456789") {
		return nil
	}
	for _, s := range p.matchAll(phonePattern) {
		text := p.slice(s.start, s.end)
		if !notPhonePattern.MatchString(text) || len(text) >= 10 && strings.Trim(text, "0123456789") == "" {
			list = append(list, s)
		}
	}
	return list
}

// findMarkup finds remains of HTML and scripts.
func findMarkup(p *parsedText, _ *sourceIndex) []span {
	list := p.matchAll(htmlTag)
	if len(list) == 0 {
		list = p.matchAll(openTag)
	}
	for _, s := range p.matchAll(htmlEntity) {
		if text := p.slice(s.start, s.end); html.UnescapeString(text) != text {
			list = append(list, s)
		}
	}
	if strings.ContainsAny(p.text, ":=") {
		list = append(list, p.matchAll(scriptCode)...)
	}
	return list
}

// matchAll finds all matches of a pattern.
func (p *parsedText) matchAll(pattern *regexp.Regexp) []span {
	var list []span
	bytes, runes := 0, 0
	for _, m := range pattern.FindAllStringIndex(p.text, -1) {
		start := runes + utf8.RuneCountInString(p.text[bytes:m[0]])
		bytes, runes = m[1], start+utf8.RuneCountInString(p.text[m[0]:m[1]])
		list = append(list, span{start: start, end: runes})
	}
	return list
}
