package fact

import (
	"fmt"
	"strconv"
	"strings"
)

// Number is a figure as it is answered, N / 10^Digits: a JSON number, exact
// and without trailing zeros, or null where nobody knows it, which is what the
// zero value says.
type Number struct {
	N      int64
	Digits uint8
	Known  bool
}

// Whole is a number of things.
func Whole(n int64) Number { return Number{N: n, Known: true} }

// Millionths is a number in millionths: an amount, a ratio, a part of a
// conversion.
func Millionths(n int64) Number { return Number{N: n, Digits: 6, Known: true} }

// String writes the number as it is answered.
func (n Number) String() string {
	if !n.Known {
		return "null"
	}
	if n.Digits == 0 {
		return strconv.FormatInt(n.N, 10)
	}
	sign, size := "", uint64(n.N)
	if n.N < 0 {
		sign, size = "-", -size
	}
	digits := fmt.Sprintf("%0*d", int(n.Digits)+1, size)
	point := len(digits) - int(n.Digits)
	fraction := strings.TrimRight(digits[point:], "0")
	if fraction == "" {
		return sign + digits[:point]
	}
	return sign + digits[:point] + "." + fraction
}

// MarshalJSON writes the number or null.
func (n Number) MarshalJSON() ([]byte, error) { return []byte(n.String()), nil }
