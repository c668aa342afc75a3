// Package money represents amounts exactly: int64 micros in memory, decimal
// text in JSON, never a binary float.
package money

import (
	"fmt"
	"strconv"
	"strings"
)

// Amount is an amount in millionths of a currency's unit. Digits is the minimum
// number of decimals to show: those of the currency.
type Amount struct {
	Micros int64
	Digits int8
}

// Reasons that Parse returns.
const (
	BadFormat = "invalid_format"
	TooLarge  = "too_large"
)

// MaxUnits is the largest integer part: the largest one that leaves room for any
// six decimals in int64 micros.
const MaxUnits = 9_223_372_036_853

// Parse parses decimal text with at most 13 digits before and 6 after the
// point. The reason is empty on success.
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

// Decimals returns the number of decimals that the value needs.
func (a Amount) Decimals() int {
	n, m := 6, a.Micros
	for n > 0 && m%10 == 0 {
		m /= 10
		n--
	}
	return n
}

// String formats the amount with at least the decimals of its currency and
// without further trailing zeros.
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

// MarshalText returns the same text as String.
func (a Amount) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText parses the output of MarshalText.
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

// Digits returns the number of decimals of the currency, and whether the code
// is a currency. Codes must be upper case.
func (c Currency) Digits() (int, bool) {
	digits, ok := exponents[c]
	return digits, ok
}
