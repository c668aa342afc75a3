// Package money holds amounts exactly: int64 micros inside, decimal text
// outside, never a binary float.
package money

import (
	"fmt"
	"strconv"
	"strings"
)

// Amount is a sum in millionths of a currency's unit. Digits is how many
// decimals it shows at the least: those the currency usually has.
type Amount struct {
	Micros int64
	Digits int8
}

// Reasons that Parse may give.
const (
	BadFormat = "invalid_format"
	TooLarge  = "too_large"
)

// MaxUnits is the largest whole part: thirteen digits would overflow int64
// micros, so it is cut where every micro still counts.
// Choice: 9,223,372,036,853.999999 is the most that int64 micros can hold.
const MaxUnits = 9_223_372_036_853

// Parse reads decimal text with at most 13 digits before and 6 after the
// point. The reason is empty when it worked.
func Parse(s string, digits int) (a Amount, reason string) {
	whole, fraction, dotted := strings.Cut(s, ".")
	negative := strings.HasPrefix(whole, "-")
	whole = strings.TrimPrefix(whole, "-")
	if !isDigits(whole) || len(whole) > 13 || dotted && (!isDigits(fraction) || len(fraction) > 6) {
		return a, BadFormat
	}
	units, _ := strconv.ParseInt(whole, 10, 64)
	if units > MaxUnits {
		return a, TooLarge
	}
	micros, _ := strconv.ParseInt((fraction + "000000")[:6], 10, 64)
	a = Amount{Micros: units*1_000_000 + micros, Digits: int8(digits)}
	if negative {
		a.Micros = -a.Micros
	}
	return a, ""
}

func isDigits(s string) bool {
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return s != ""
}

// Decimals returns how many digits after the point the value really has.
func (a Amount) Decimals() int {
	n, m := 6, a.Micros
	for n > 0 && m%10 == 0 {
		m /= 10
		n--
	}
	return n
}

// String writes the amount with at least its currency's usual decimals and no
// further trailing zeros.
func (a Amount) String() string {
	sign, m := "", uint64(a.Micros)
	if a.Micros < 0 {
		sign, m = "-", -m
	}
	whole := strconv.FormatUint(m/1_000_000, 10)
	n := max(a.Decimals(), int(a.Digits))
	if n == 0 {
		return sign + whole
	}
	return sign + whole + "." + fmt.Sprintf("%06d", m%1_000_000)[:n]
}

// MarshalText writes the amount as String does.
func (a Amount) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (a *Amount) UnmarshalText(b []byte) error {
	s := string(b)
	digits := 0
	if dot := strings.IndexByte(s, '.'); dot >= 0 {
		digits = len(s) - dot - 1
	}
	v, reason := Parse(s, digits)
	if reason != "" {
		return fmt.Errorf("read amount %q: %s", s, reason)
	}
	*a = v
	return nil
}

// Currency is an ISO 4217 code.
type Currency string

// Digits returns the currency's number of decimals, and whether the code names
// a currency at all. Only upper case counts.
func (c Currency) Digits() (int, bool) {
	digits, ok := exponents[c]
	return digits, ok
}
