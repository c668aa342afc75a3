package analytics

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"strconv"
	"strings"

	"fanfare/internal/fact"
)

// maxDigits is how many digits after the point a number has at the most.
const maxDigits = 6

var powersOfTen = [...]uint64{1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12}

// Number is an exact decimal, N / 10^Digits, or unknown. Digits are 0 or 6.
// The zero value is unknown.
type Number struct {
	N      int64
	Digits uint8
	Known  bool
}

// of is the sum of a measure as a number.
func (s Sum) of(m fact.Measure) Number {
	if m.Scaled() {
		return Number{N: s.N, Digits: maxDigits, Known: s.Known}
	}
	return Number{N: s.N, Known: s.Known}
}

// ratio returns factor × (over − less) / under to six digits, half away from
// zero. It is unknown where any of them is, and where under is zero.
func ratio(factor int64, over, less, under Number) Number {
	if !over.Known || !less.Known || !under.Known || under.N == 0 {
		return Number{}
	}
	if over.Digits == less.Digits {
		size, negative := difference(over.N, less.N)
		divisor := magnitude(under.N)
		hi, lo := bits.Mul64(size, uint64(factor)*powersOfTen[maxDigits-over.Digits+under.Digits])
		if hi < divisor {
			q, r := bits.Div64(hi, lo, divisor)
			if r >= divisor-r {
				q++
			}
			if q <= math.MaxInt64 {
				return signed(q, negative != (under.N < 0))
			}
		}
	}
	n := new(big.Int).Sub(over.scaled(), less.scaled())
	return quotient128(n.Mul(n, big.NewInt(factor)), under.scaled())
}

// quotient128 is the way for what does not fit 64 bits on the way or at the
// end: a quotient that leaves no room for six digits has none. What is too
// large even so is unknown; nothing real comes near it.
func quotient128(over, under *big.Int) Number {
	if under.Sign() == 0 {
		return Number{}
	}
	for _, digits := range []int{maxDigits, 0} {
		n := new(big.Int).Mul(over, new(big.Int).SetUint64(powersOfTen[digits]))
		q, r := n.QuoRem(n, under, new(big.Int))
		if r.Abs(r).Lsh(r, 1).CmpAbs(under) >= 0 {
			q.Add(q, big.NewInt(int64(over.Sign()*under.Sign())))
		}
		if q.IsInt64() {
			return Number{N: q.Int64(), Digits: uint8(digits), Known: true}
		}
	}
	return Number{}
}

// scaled is the number in millionths.
func (n Number) scaled() *big.Int {
	v := big.NewInt(n.N)
	return v.Mul(v, new(big.Int).SetUint64(powersOfTen[maxDigits-n.Digits]))
}

// change is how much now differs from before, as a part of before.
// Choice: both are taken as they are shown, so that whoever reads an answer
// can check it.
func change(now, before Number) Number {
	size := before
	if size.N < 0 {
		size.N = -size.N
	}
	return ratio(1, now, before, size)
}

func difference(a, b int64) (size uint64, negative bool) {
	if a < b {
		return uint64(b) - uint64(a), true
	}
	return uint64(a) - uint64(b), false
}

func magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}

// signed makes a number of six digits from a size that fits.
func signed(size uint64, negative bool) Number {
	n := int64(size)
	if negative {
		n = -n
	}
	return Number{N: n, Digits: maxDigits, Known: true}
}

// compare orders two known numbers by value.
func (n Number) compare(other Number) int {
	if n.Digits == other.Digits || n.N < 0 != (other.N < 0) {
		return cmp.Compare(n.N, other.N)
	}
	hi, lo := bits.Mul64(magnitude(n.N), powersOfTen[maxDigits-n.Digits])
	otherHi, otherLo := bits.Mul64(magnitude(other.N), powersOfTen[maxDigits-other.Digits])
	bySize := cmp.Or(cmp.Compare(hi, otherHi), cmp.Compare(lo, otherLo))
	if n.N < 0 {
		return -bySize
	}
	return bySize
}

// Append writes the number as JSON does, without trailing zeros, or null.
func (n Number) Append(b []byte) []byte {
	if !n.Known {
		return append(b, "null"...)
	}
	if n.Digits == 0 {
		return strconv.AppendInt(b, n.N, 10)
	}
	const scale = 1_000_000
	size := magnitude(n.N)
	if n.N < 0 {
		b = append(b, '-')
	}
	b = strconv.AppendUint(b, size/scale, 10)
	rest := size % scale
	if rest == 0 {
		return b
	}
	digits := [...]byte{'.', '0', '0', '0', '0', '0', '0'}
	for i := maxDigits; rest > 0; i-- {
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
		digits = maxDigits
		fraction = (fraction + "000000")[:maxDigits]
	}
	v, err := strconv.ParseInt(whole+fraction, 10, 64)
	if err != nil {
		return fmt.Errorf("read number: %w", err)
	}
	*n = Number{N: v, Digits: uint8(digits), Known: true}
	return nil
}
