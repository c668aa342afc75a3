package policy

import (
	"slices"
	"strconv"
	"strings"
)

// number is a number in a text with its unit.
type number struct {
	kind numberKind
	// currency is the currency of money. Currencies with the same sign are
	// equal.
	currency string
	// values are the possible values of the number: 1.500 is 1500 in some
	// locales and 1.5 in others. For dates and times they are the parts.
	values     []string
	parts      bool
	digits     int
	unit       string
	start, end int
}

type numberKind string

const (
	plainNumber   numberKind = "number"
	moneyNumber   numberKind = "money"
	percentNumber numberKind = "percent"
)

// currencies maps words and signs to currencies. It omits codes with another
// meaning before a number, such as TRY and PHP.
var currencies = func() map[string]string {
	m := map[string]string{}
	for sign, words := range map[string]string{
		"$": "$ usd cad aud nzd sgd hkd mxn dollar dollars buck bucks", "€": "€ eur euro euros", "£": "£ gbp quid",
		"¥": "¥ jpy cny rmb yen yuan 元 円", "₹": "₹ inr rupee rupees rs", "kr": "kr sek nok dkk kronor kroner",
		"chf": "chf franken francs", "zł": "zl pln", "r$": "brl reais", "₩": "₩ krw", "₽": "₽ rubles", "₺": "₺ lira",
		"₪": "₪ shekels", "₫": "₫ vnd", "₦": "₦ ngn", "₱": "₱ pesos", "₴": "₴ uah", "฿": "฿ thb baht", "zar": "zar rand",
		"aed": "aed dirham dirhams", "sar": "sar riyal", "cent": "¢ cent cents",
	} {
		for word := range strings.FieldsSeq(words) {
			m[word] = sign
		}
	}
	return m
}()

var percentWords = wordSet("% percent pct prozent procent")

var multipliers = map[string]float64{
	"k": 1e3, "thousand": 1e3, "m": 1e6, "mn": 1e6, "million": 1e6, "millions": 1e6, "bn": 1e9, "billion": 1e9,
}

// numberUnits are units that make a single digit a fact: "3 days", "5 stars",
// "2x".
var numberUnits = wordSet(`x kg g mg lb lbs pound pounds oz kilo kilos ton tons km m cm mm mile miles ft feet inch inches
	l ml litre litres liter liters gb tb mb kwh w kw v mah hp mph kmh second seconds sec minute minutes min mins
	hour hours h hr hrs day days night nights week weeks month months year years am pm star stars people customers
	users members clients families countries cities stores locations awards reviews pieces items bottles cups servings
	calories kcal carat pack`)

// numberWords maps number words to values. Tens and ones add up.
var numberWords = func() map[string]float64 {
	m := map[string]float64{}
	for i, word := range strings.Fields(`zero one two three four five six seven eight nine ten eleven twelve thirteen
		fourteen fifteen sixteen seventeen eighteen nineteen`) {
		m[word] = float64(i)
	}
	for i, word := range strings.Fields("twenty thirty forty fifty sixty seventy eighty ninety hundred") {
		m[word] = float64(20 + 10*i)
	}
	return m
}()

// wordSet returns the set of words in a text.
func wordSet(words string) map[string]bool {
	m := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		m[word] = true
	}
	return m
}

// parseNumbers returns the numbers in a text.
func parseNumbers(tokens []token) []number {
	var list []number
	inRange := false
	for i := 0; i < len(tokens); {
		f, next := parseNumber(tokens, i)
		if next == i {
			inRange = len(list) > 0 && (tokens[i].text == "-" || tokens[i].text == "to") && tokens[i-1].end == list[len(list)-1].end
			i++
			continue
		}
		if n := len(list); inRange {
			// "$20-30" and "10 to 20%" have the unit only once.
			list[n-1].inheritUnit(f)
			f.inheritUnit(list[n-1])
		}
		list = append(list, f)
		i, inRange = next, false
	}
	return list
}

func (f *number) inheritUnit(other number) {
	if f.kind == plainNumber && f.unit == "" && !f.parts {
		f.kind, f.currency = other.kind, other.currency
	}
}

// tokenTextAt returns the text of token i, empty if it does not exist.
func tokenTextAt(tokens []token, i int) string {
	if i < 0 || i >= len(tokens) {
		return ""
	}
	return tokens[i].text
}

// parseNumber parses the number that starts at token i and returns the index
// after it, or i if no number starts there.
func parseNumber(tokens []token, i int) (number, int) {
	f := number{kind: plainNumber, start: tokens[i].start}
	k := i
	// Signs and codes can precede or follow a number. Whole words only follow:
	// Euro 2028.
	if sign, ok := currencies[tokens[i].text]; ok && len(tokens[i].text) <= 3 && i+1 < len(tokens) && tokens[i+1].kind == numberToken {
		f.kind, f.currency = moneyNumber, sign
		k++
	}
	var spelledOut bool
	if tokens[k].kind == numberToken {
		f.parseDigits(tokens[k].text)
		k++
	} else if k, spelledOut = f.parseWords(tokens, k); !spelledOut {
		return f, i
	}
	if by, ok := multipliers[tokenTextAt(tokens, k)]; ok && !f.parts {
		f.applyUnit(by, tokenTextAt(tokens, k))
		k++
	}
	if tokenTextAt(tokens, k) == "+" {
		k++
	}
	k = f.parseUnit(tokens, k)
	f.end = tokens[k-1].end
	return f, k
}

// parseUnit parses the unit of the number.
func (f *number) parseUnit(tokens []token, k int) int {
	next := tokenTextAt(tokens, k)
	sign, money := currencies[next]
	switch {
	case money && k+1 < len(tokens) && tokens[k].kind == markToken && tokens[k+1].kind == numberToken && tokens[k+1].start == tokens[k].end:
		// The sign belongs to the next number: "20 $5 vouchers".
	case percentWords[next]:
		f.kind = percentNumber
		return k + 1
	case next == "per" && tokenTextAt(tokens, k+1) == "cent":
		f.kind = percentNumber
		return k + 2
	case money && (f.kind == plainNumber || f.currency == sign):
		f.kind, f.currency = moneyNumber, sign
		return k + 1
	case numberUnits[next] && f.kind == plainNumber:
		f.unit = next
		return k + 1
	}
	return k
}

// parseWords parses a number in words, such as "twenty-five".
func (f *number) parseWords(tokens []token, k int) (int, bool) {
	sum, from := 0.0, k
	for ; k < len(tokens); k++ {
		v, ok := numberWords[tokens[k].text]
		if !ok {
			break
		}
		if v == 100 && sum > 0 {
			sum *= v
		} else {
			sum += v
		}
	}
	if k == from {
		return k, false
	}
	f.values = []string{formatValue(sum)}
	return k, true
}

// parseDigits parses the possible values of a number.
func (f *number) parseDigits(text string) {
	groups := strings.FieldsFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	for _, g := range groups {
		f.digits += len(g)
	}
	plain := stripGroupMarks.Replace(text)
	dots, commas := strings.Count(plain, "."), strings.Count(plain, ",")
	thousands := !slices.ContainsFunc(groups[1:], func(g string) bool { return len(g) != 3 })
	last := strings.LastIndexAny(plain, ".,")
	switch {
	case strings.ContainsAny(text, ":/"):
		f.parts = true
		for part := range strings.FieldsFuncSeq(plain, func(r rune) bool { return r == ':' || r == '/' }) {
			f.addValue(strings.Replace(part, ",", ".", 1))
		}
	case dots+commas > 1 && !thousands && (dots == 0 || commas == 0):
		f.parts = true
		for _, g := range groups {
			f.addValue(g)
		}
	case dots+commas == 0:
		f.addValue(plain)
	case dots > 0 && commas > 0:
		f.addValue(stripPoints.Replace(plain[:last]) + "." + stripPoints.Replace(plain[last:]))
	case dots+commas > 1:
		f.addValue(stripPoints.Replace(plain))
	case thousands && len(groups) == 2:
		f.addValue(stripPoints.Replace(plain))
		fallthrough
	default:
		f.addValue(stripPoints.Replace(plain[:last]) + "." + stripPoints.Replace(plain[last:]))
	}
}

var (
	stripGroupMarks = strings.NewReplacer(" ", "", "'", "")
	stripPoints     = strings.NewReplacer(".", "", ",", "")
)

func (f *number) addValue(number string) {
	// A number too large for a float still equals itself.
	v, _ := strconv.ParseFloat(number, 64)
	f.values = append(f.values, formatValue(v))
}

// applyUnit multiplies the values by the factor of a unit. A letter can also be
// another unit, so "100 m" keeps the value 100.
func (f *number) applyUnit(factor float64, unit string) {
	for _, value := range slices.Clone(f.values) {
		v, _ := strconv.ParseFloat(value, 64)
		f.values = append(f.values, formatValue(v*factor))
	}
	if len(unit) > 1 {
		f.values = f.values[len(f.values)/2:]
	}
	f.unit, f.digits = unit, max(f.digits, 2)
}

func formatValue(v float64) string { return strconv.FormatFloat(v, 'g', 12, 64) }

// numberSet has the numbers of a source.
type numberSet map[string]bool

func (s numberSet) addAll(list []number) {
	for _, f := range list {
		for _, v := range f.values {
			s["number"+v] = true
			if f.kind != plainNumber {
				s[string(f.kind)+f.currency+v] = true
			}
			if strings.HasPrefix(f.unit, "pound") {
				s[string(moneyNumber)+"£"+v] = true
			}
		}
		s.addHours(f)
	}
}

// addHours adds an hour in both notations: 18:30 and 6:30 pm.
func (s numberSet) addHours(f number) {
	hour, err := strconv.Atoi(f.values[0])
	if err != nil || hour > 24 {
		return
	}
	if f.parts && hour > 12 {
		s["number"+strconv.Itoa(hour-12)] = true
	}
	if f.unit == "pm" && hour < 12 {
		s["number"+strconv.Itoa(hour+12)] = true
	}
	s["number0"] = true
}

// contains reports whether the set has the number. Money must have the same
// currency and a percentage its sign: "$30" is an invented price if the source
// only has "30 days".
func (s numberSet) contains(f number) bool {
	has := func(v string) bool { return s[string(f.kind)+f.currency+v] }
	if f.parts {
		return !slices.ContainsFunc(f.values, func(v string) bool { return !has(v) })
	}
	return slices.ContainsFunc(f.values, has)
}
