package ingest

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"fanfare/internal/clock"
	"fanfare/internal/money"
)

// clean trims a cell. A cell with a placeholder for "no value" becomes empty.
func clean(cell string) string {
	cell = strings.TrimSpace(cell)
	switch strings.ToLower(cell) {
	case "-", "--", "–", "—", "n/a", "null", "nan", "(not set)":
		return ""
	}
	return cell
}

// currencyWords are currency signs that are letters but no codes.
var currencyWords = []string{"kr", "zł", "kč", "ft", "fr", "rs"}

// digitsOf removes currencies, brackets and signs around a number. The result
// is digits and their separators.
func digitsOf(cell string) (digits string, negative, ok bool) {
	if strings.HasPrefix(cell, "(") && strings.HasSuffix(cell, ")") {
		negative, cell = true, cell[1:len(cell)-1]
	}
	minus := func(r rune) bool { return r == '-' || r == '−' }
	around := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.Is(unicode.Sc, r) || unicode.IsSpace(r) || minus(r) || r == '+'
	}
	start := strings.IndexFunc(cell, func(r rune) bool { return !around(r) })
	if start < 0 {
		return "", false, false
	}
	end := len(strings.TrimRightFunc(cell, around))
	if end <= start {
		return "", false, false
	}
	for _, beside := range []string{cell[:start], cell[end:]} {
		signs := strings.Count(beside, "-") + strings.Count(beside, "−")
		if signs > 1 || signs == 1 && negative {
			return "", false, false
		}
		negative = negative || signs == 1
		if !isCurrency(beside) {
			return "", false, false
		}
	}
	return cell[start:end], negative, true
}

// isCurrency reports whether the text next to a number is at most a sign and a
// currency.
func isCurrency(beside string) bool {
	symbols := 0
	word := strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Sc, r):
			symbols++
			return -1
		case unicode.IsLetter(r):
			return r
		}
		return -1
	}, beside)
	if word == "" {
		return symbols <= 1
	}
	if symbols == 1 { // US$, R$
		return utf8.RuneCountInString(word) <= 2
	}
	_, code := money.Currency(strings.ToUpper(word)).Digits()
	return symbols == 0 && (code || slices.Contains(currencyWords, strings.ToLower(word)))
}

// plainNumber converts a cell to a number in the format of the API.
func plainNumber(cell string, decimal byte) (string, bool) {
	digits, negative, ok := digitsOf(cell)
	if !ok {
		return "", false
	}
	whole, fraction, dotted := strings.Cut(digits, string(decimal))
	whole, ok = ungroup(whole, '.'+','-decimal)
	if !ok || dotted && (fraction == "" || !allDigits(fraction)) {
		return "", false
	}
	if whole == "" {
		whole = "0"
		if !dotted {
			return "", false
		}
	}
	if dotted {
		whole += "." + fraction
	}
	if negative {
		whole = "-" + whole
	}
	return whole, true
}

// ungroup removes the thousands separators. Groups have three digits; in India
// they have two, except the last.
func ungroup(s string, separator byte) (string, bool) {
	if allDigits(s) || s == "" {
		return s, true
	}
	groups := strings.FieldsFunc(s, func(r rune) bool {
		return r == rune(separator) || r == '\'' || r == '’' || r == ' ' || r == '\u00a0' || r == '\u202f' || r == '\u2009'
	})
	for i, g := range groups {
		last := i == len(groups)-1
		short := len(g) == 2 && !last
		if !allDigits(g) || i > 0 && len(g) != 3 && !short || i == 0 && len(g) > 3 {
			return "", false
		}
	}
	joined := strings.Join(groups, "")
	// Groups must be separated by exactly one separator.
	return joined, utf8.RuneCountInString(s) == len(joined)+len(groups)-1
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// separatorCounts counts the evidence for each decimal mark.
type separatorCounts struct{ comma, point int }

// count counts a cell. In an integer column, a group of three digits is
// thousands; in others it could be decimals.
func (m *separatorCounts) count(cell string, counts bool) {
	digits, _, ok := digitsOf(strings.TrimSpace(strings.TrimSuffix(cell, "%")))
	if !ok {
		return
	}
	dot, comma := strings.LastIndexByte(digits, '.'), strings.LastIndexByte(digits, ',')
	mark, at := &m.point, dot
	other := &m.comma
	if comma > dot {
		mark, other, at = other, mark, comma
	}
	if at < 0 {
		return
	}
	before, after := digits[:at], digits[at+1:]
	sign := digits[at : at+1]
	repeated := strings.Contains(before, sign)
	switch {
	case !allDigits(after):
	case dot >= 0 && comma >= 0 && !repeated:
		*mark++
	case repeated:
		if _, ok := ungroup(digits, sign[0]); ok {
			*other++
		}
	case len(after) != 3 || before == "0" || before == "" || len(before) > 3 && allDigits(before):
		*mark++
	case counts:
		*other++
	}
}

// DateFormats are the supported date formats. Other separators are accepted;
// only the order of the parts matters. A time after the date is ignored.
var DateFormats = []string{"YYYY-MM-DD", "YYYY/MM/DD", "YYYYMMDD", "DD.MM.YYYY", "DD/MM/YYYY", "DD-MM-YYYY", "MM/DD/YYYY", "MMM D, YYYY"}

const (
	formatISO   = "YYYY-MM-DD"
	formatDMY   = "DD/MM/YYYY"
	formatMDY   = "MM/DD/YYYY"
	formatDots  = "DD.MM.YYYY"
	formatDash  = "DD-MM-YYYY"
	formatSlash = "YYYY/MM/DD"
	formatJoint = "YYYYMMDD"
	formatWords = "MMM D, YYYY"
)

// dateParts are the numbers of a date in a cell.
type dateParts struct {
	n [3]int
	// digits is the number of digits of the first number.
	digits int
	mark   byte
	// month is set if the cell has the name of the month; n then has two numbers.
	month time.Month
}

// parseDateParts splits a cell into the numbers of a date. Text after the date
// is a time if it starts with a space or a T.
func parseDateParts(cell string) (p dateParts, ok bool) {
	count, i := 0, 0
	for i < len(cell) && count < 3 {
		c := cell[i]
		switch {
		case c >= '0' && c <= '9':
			start := i
			for i < len(cell) && cell[i] >= '0' && cell[i] <= '9' && i-start < 9 {
				p.n[count] = p.n[count]*10 + int(cell[i]-'0')
				i++
			}
			if count == 0 {
				p.digits = i - start
			}
			count++
			if p.digits == 8 && count == 1 || p.month != 0 && count == 2 {
				return p, isDateEnd(cell[i:])
			}
		case c >= 'A' && c <= 'z':
			start := i
			for i < len(cell) && (cell[i] >= 'A' && cell[i] <= 'Z' || cell[i] >= 'a' && cell[i] <= 'z') {
				i++
			}
			m, weekday := monthOf(cell[start:i])
			if m == 0 && !weekday || m != 0 && p.month != 0 {
				return p, false
			}
			if m != 0 {
				p.month = m
			}
		case c == '-' || c == '/' || c == '.':
			p.mark = c
			i++
		case c == ' ' || c == ',':
			i++
		default:
			return p, false
		}
	}
	return p, count == 3 && p.month == 0 && p.mark != 0 && isDateEnd(cell[i:])
}

func isDateEnd(rest string) bool {
	return rest == "" || rest[0] == ' ' || rest[0] == 'T' || rest[0] == ',' || rest == "."
}

// monthOf parses the English name of a month, or reports that it is a weekday.
func monthOf(word string) (m time.Month, weekday bool) {
	if len(word) < 3 {
		return 0, false
	}
	for m := time.January; m <= time.December; m++ {
		if name := m.String(); len(word) <= len(name) && strings.EqualFold(word, name[:len(word)]) {
			return m, false
		}
	}
	for d := time.Sunday; d <= time.Saturday; d++ {
		if name := d.String(); len(word) <= len(name) && strings.EqualFold(word, name[:len(word)]) {
			return 0, true
		}
	}
	return 0, false
}

// parseDay parses a cell as a date in a format.
func parseDay(cell, format string) (clock.Date, bool) {
	p, ok := parseDateParts(cell)
	if !ok || (p.month != 0) != (format == formatWords) || (p.digits == 8) != (format == formatJoint) {
		return 0, false
	}
	var y, m, d int
	switch format {
	case formatWords:
		y, m, d = p.n[1], int(p.month), p.n[0]
		if p.digits == 4 {
			y, d = d, y
		}
	case formatJoint:
		y, m, d = p.n[0]/10000, p.n[0]/100%100, p.n[0]%100
	case formatISO, formatSlash:
		y, m, d = p.n[0], p.n[1], p.n[2]
	case formatMDY:
		y, m, d = p.n[2], p.n[0], p.n[1]
	default:
		y, m, d = p.n[2], p.n[1], p.n[0]
	}
	if y < 100 && p.digits < 4 {
		y += 2000
	}
	if y < 1 || y > 9999 || m < 1 || m > 12 || d < 1 || d > 31 {
		return 0, false
	}
	day := clock.MakeDate(y, time.Month(m), d)
	_, _, same := day.Calendar()
	return day, same == d
}

// dateFormats counts the date formats that the cells of a column allow.
type dateFormats struct {
	seen, words, joint, yearFirst int
	// dayFirst and monthFirst count the dates that allow only that order.
	dayFirst, monthFirst int
	marks                [256]int
}

func (d *dateFormats) observe(cell string) {
	p, ok := parseDateParts(cell)
	if !ok {
		return
	}
	d.seen++
	d.marks[p.mark]++
	switch {
	case p.month != 0:
		d.words++
	case p.digits == 8:
		d.joint++
	case p.digits == 4:
		d.yearFirst++
	case p.n[0] > 12 && p.n[1] <= 12:
		d.dayFirst++
	case p.n[1] > 12 && p.n[0] <= 12:
		d.monthFirst++
	}
}

// format returns the date format of a column, or empty if it is ambiguous. The
// format of most cells wins; other cells are errors.
func (d *dateFormats) format() string {
	rest := d.seen - d.words - d.joint - d.yearFirst
	switch most := max(d.words, d.joint, d.yearFirst, rest); {
	case d.seen == 0:
		return ""
	case d.yearFirst == most && d.marks['/'] > d.marks['-']:
		return formatSlash
	case d.yearFirst == most:
		return formatISO
	case d.words == most:
		return formatWords
	case d.joint == most:
		return formatJoint
	case d.marks['.'] >= rest: // with points, the day always precedes the month
		return formatDots
	case d.dayFirst > 0 && d.monthFirst == 0 && d.marks['-'] > d.marks['/']:
		return formatDash
	case d.dayFirst > 0 && d.monthFirst == 0:
		return formatDMY
	case d.monthFirst > 0 && d.dayFirst == 0:
		return formatMDY
	}
	return ""
}
