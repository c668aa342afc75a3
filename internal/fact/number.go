package fact

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// MaxDigits is the maximum number of decimals.
const MaxDigits = 6

// Number is a metric value as the API returns it: N / 10^Digits, where Digits
// is 0 or MaxDigits. Its JSON is an exact number without trailing zeros, or
// null if it is unknown. The zero value is unknown.
type Number struct {
	N      int64
	Digits uint8
	Known  bool
}

// Whole returns a Number without decimals.
func Whole(n int64) Number { return Number{N: n, Known: true} }

// Millionths returns a number in millionths: an amount, a ratio or a fractional
// conversion.
func Millionths(n int64) Number { return Number{N: n, Digits: MaxDigits, Known: true} }

// Append appends the number as JSON, without trailing zeros, or null.
func (n Number) Append(b []byte) []byte {
	if !n.Known {
		return append(b, "null"...)
	}
	if n.Digits == 0 {
		return strconv.AppendInt(b, n.N, 10)
	}
	const scale = 1_000_000
	size := uint64(n.N)
	if n.N < 0 {
		size = -size
		b = append(b, '-')
	}
	b = strconv.AppendUint(b, size/scale, 10)
	rest := size % scale
	if rest == 0 {
		return b
	}
	digits := [...]byte{'.', '0', '0', '0', '0', '0', '0'}
	for i := MaxDigits; rest > 0; i-- {
		digits[i] += byte(rest % 10)
		rest /= 10
	}
	return append(b, bytes.TrimRight(digits[:], "0")...)
}

func (n Number) String() string { return string(n.Append(nil)) }

// MarshalJSON returns a JSON number, or null.
func (n Number) MarshalJSON() ([]byte, error) { return n.Append(nil), nil }

// UnmarshalJSON parses the output of MarshalJSON.
func (n *Number) UnmarshalJSON(b []byte) error {
	text := string(b)
	if text == "null" {
		*n = Number{}
		return nil
	}
	whole, fraction, dotted := strings.Cut(text, ".")
	digits := 0
	if dotted {
		digits = MaxDigits
		fraction = (fraction + "000000")[:MaxDigits]
	}
	v, err := strconv.ParseInt(whole+fraction, 10, 64)
	if err != nil {
		return fmt.Errorf("read number: %w", err)
	}
	*n = Number{N: v, Digits: uint8(digits), Known: true}
	return nil
}
