package fact

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// MaxDigits is how many digits after the point a figure has at the most.
const MaxDigits = 6

// Number is a figure as it is answered, N / 10^Digits, where Digits are 0 or
// MaxDigits: a JSON number, exact and without trailing zeros, or null where
// nobody knows it, which is what the zero value says.
type Number struct {
	N      int64
	Digits uint8
	Known  bool
}

// Whole is a number of things.
func Whole(n int64) Number { return Number{N: n, Known: true} }

// Millionths is a number in millionths: an amount, a ratio, a part of a
// conversion.
func Millionths(n int64) Number { return Number{N: n, Digits: MaxDigits, Known: true} }

// Append writes the number as JSON does, without trailing zeros, or null.
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

// MarshalJSON writes a JSON number, or null.
func (n Number) MarshalJSON() ([]byte, error) { return n.Append(nil), nil }

// UnmarshalJSON reads what MarshalJSON wrote.
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
