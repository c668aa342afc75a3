package policy

import (
	"slices"
	"strconv"
	"strings"
)

// figure is a number in a passage with its unit.
type figure struct {
	kind figureKind
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

type figureKind string

const (
	numberFigure  figureKind = "number"
	moneyFigure   figureKind = "money"
	percentFigure figureKind = "percent"
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

var percents = wordSet("% percent pct prozent procent")

var scales = map[string]float64{
	"k": 1e3, "thousand": 1e3, "m": 1e6, "mn": 1e6, "million": 1e6, "millions": 1e6, "bn": 1e9, "billion": 1e9,
}

// figureUnits are units that make a single digit a fact: "3 days", "5 stars",
// "2x".
var figureUnits = wordSet(`x kg g mg lb lbs pound pounds oz kilo kilos ton tons km m cm mm mile miles ft feet inch inches
	l ml litre litres liter liters gb tb mb kwh w kw v mah hp mph kmh second seconds sec minute minutes min mins
	hour hours h hr hrs day days night nights week weeks month months year years am pm star stars people customers
	users members clients families countries cities stores locations awards reviews pieces items bottles cups servings
	calories kcal carat pack`)

// numerals maps number words to values. Tens and ones add up.
var numerals = func() map[string]float64 {
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

// figuresOf returns the numbers in pieces.
func figuresOf(ps []piece) []figure {
	var list []figure
	ranged := false
	for i := 0; i < len(ps); {
		f, next := figureAt(ps, i)
		if next == i {
			ranged = len(list) > 0 && (ps[i].text == "-" || ps[i].text == "to") && ps[i-1].end == list[len(list)-1].end
			i++
			continue
		}
		if n := len(list); ranged {
			// "$20-30" and "10 to 20%" have the unit only once.
			list[n-1].inherit(f)
			f.inherit(list[n-1])
		}
		list = append(list, f)
		i, ranged = next, false
	}
	return list
}

func (f *figure) inherit(other figure) {
	if f.kind == numberFigure && f.unit == "" && !f.parts {
		f.kind, f.currency = other.kind, other.currency
	}
}

// wordAt returns the text of piece i, empty if it does not exist.
func wordAt(ps []piece, i int) string {
	if i < 0 || i >= len(ps) {
		return ""
	}
	return ps[i].text
}

// figureAt parses the number that starts at piece i and returns the index after
// it, or i if no number starts there.
func figureAt(ps []piece, i int) (figure, int) {
	f := figure{kind: numberFigure, start: ps[i].start}
	k := i
	// Signs and codes can precede or follow a number. Whole words only follow:
	// Euro 2028.
	if sign, ok := currencies[ps[i].text]; ok && len(ps[i].text) <= 3 && i+1 < len(ps) && ps[i+1].kind == numberPiece {
		f.kind, f.currency = moneyFigure, sign
		k++
	}
	var spelledOut bool
	if ps[k].kind == numberPiece {
		f.read(ps[k].text)
		k++
	} else if k, spelledOut = f.readWords(ps, k); !spelledOut {
		return f, i
	}
	if by, ok := scales[wordAt(ps, k)]; ok && !f.parts {
		f.scale(by, wordAt(ps, k))
		k++
	}
	if wordAt(ps, k) == "+" {
		k++
	}
	k = f.readUnit(ps, k)
	f.end = ps[k-1].end
	return f, k
}

// readUnit parses the unit of the number.
func (f *figure) readUnit(ps []piece, k int) int {
	next := wordAt(ps, k)
	sign, money := currencies[next]
	switch {
	case money && k+1 < len(ps) && ps[k].kind == markPiece && ps[k+1].kind == numberPiece && ps[k+1].start == ps[k].end:
		// The sign belongs to the next number: "20 $5 vouchers".
	case percents[next]:
		f.kind = percentFigure
		return k + 1
	case next == "per" && wordAt(ps, k+1) == "cent":
		f.kind = percentFigure
		return k + 2
	case money && (f.kind == numberFigure || f.currency == sign):
		f.kind, f.currency = moneyFigure, sign
		return k + 1
	case figureUnits[next] && f.kind == numberFigure:
		f.unit = next
		return k + 1
	}
	return k
}

// readWords parses a number in words, such as "twenty-five".
func (f *figure) readWords(ps []piece, k int) (int, bool) {
	sum, from := 0.0, k
	for ; k < len(ps); k++ {
		v, ok := numerals[ps[k].text]
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
	f.values = []string{canonical(sum)}
	return k, true
}

// read parses the possible values of a number.
func (f *figure) read(text string) {
	groups := strings.FieldsFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	for _, g := range groups {
		f.digits += len(g)
	}
	plain := withoutGroups.Replace(text)
	dots, commas := strings.Count(plain, "."), strings.Count(plain, ",")
	thousands := !slices.ContainsFunc(groups[1:], func(g string) bool { return len(g) != 3 })
	last := strings.LastIndexAny(plain, ".,")
	switch {
	case strings.ContainsAny(text, ":/"):
		f.parts = true
		for part := range strings.FieldsFuncSeq(plain, func(r rune) bool { return r == ':' || r == '/' }) {
			f.add(strings.Replace(part, ",", ".", 1))
		}
	case dots+commas > 1 && !thousands && (dots == 0 || commas == 0):
		f.parts = true
		for _, g := range groups {
			f.add(g)
		}
	case dots+commas == 0:
		f.add(plain)
	case dots > 0 && commas > 0:
		f.add(withoutPoints.Replace(plain[:last]) + "." + withoutPoints.Replace(plain[last:]))
	case dots+commas > 1:
		f.add(withoutPoints.Replace(plain))
	case thousands && len(groups) == 2:
		f.add(withoutPoints.Replace(plain))
		fallthrough
	default:
		f.add(withoutPoints.Replace(plain[:last]) + "." + withoutPoints.Replace(plain[last:]))
	}
}

var (
	withoutGroups = strings.NewReplacer(" ", "", "'", "")
	withoutPoints = strings.NewReplacer(".", "", ",", "")
)

func (f *figure) add(number string) {
	// A number too large for a float still equals itself.
	v, _ := strconv.ParseFloat(number, 64)
	f.values = append(f.values, canonical(v))
}

// scale multiplies the values. A letter can also be a unit, so "100 m" keeps
// the value 100.
func (f *figure) scale(by float64, word string) {
	for _, value := range slices.Clone(f.values) {
		v, _ := strconv.ParseFloat(value, 64)
		f.values = append(f.values, canonical(v*by))
	}
	if len(word) > 1 {
		f.values = f.values[len(f.values)/2:]
	}
	f.unit, f.digits = word, max(f.digits, 2)
}

func canonical(v float64) string { return strconv.FormatFloat(v, 'g', 12, 64) }

// figureSet has the numbers of a brief.
type figureSet map[string]bool

func (s figureSet) addAll(list []figure) {
	for _, f := range list {
		for _, v := range f.values {
			s["number"+v] = true
			if f.kind != numberFigure {
				s[string(f.kind)+f.currency+v] = true
			}
			if strings.HasPrefix(f.unit, "pound") {
				s[string(moneyFigure)+"£"+v] = true
			}
		}
		s.addHours(f)
	}
}

// addHours adds an hour in both notations: 18:30 and 6:30 pm.
func (s figureSet) addHours(f figure) {
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

// says reports whether the set has the figure. Money must have the same
// currency and a percentage its sign: "$30" is an invented price if the brief
// only has "30 days".
func (s figureSet) says(f figure) bool {
	has := func(v string) bool { return s[string(f.kind)+f.currency+v] }
	if f.parts {
		return !slices.ContainsFunc(f.values, func(v string) bool { return !has(v) })
	}
	return slices.ContainsFunc(f.values, has)
}
