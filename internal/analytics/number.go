package analytics

import (
	"cmp"
	"math"
	"math/big"
	"math/bits"

	"fanfare/internal/fact"
)

// maxDigits is the maximum number of decimals.
const maxDigits = fact.MaxDigits

var powersOfTen = [...]uint64{1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12}

// Number is a value of a metric. Digits is 0 or 6.
type Number = fact.Number

// asNumber returns the sum with the decimals of the measure: six for amounts and
// conversions, else none.
func (s Sum) asNumber(m fact.Measure) Number {
	if m.Scaled() {
		return Number{N: s.N, Digits: maxDigits, Known: s.Known}
	}
	return Number{N: s.N, Known: s.Known}
}

// ratio returns factor × (over − less) / under with six decimals, rounded half
// away from zero. It is unknown if an operand is unknown or under is zero.
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
				return newSigned(q, negative != (under.N < 0))
			}
		}
	}
	n := new(big.Int).Sub(inMillionths(over), inMillionths(less))
	return quotient128(n.Mul(n, big.NewInt(factor)), inMillionths(under))
}

// quotient128 divides operands or computes results that exceed 64 bits. A
// quotient too large for six decimals has none. One that still does not fit is
// unknown; real values are far smaller.
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

// inMillionths returns the number in millionths.
func inMillionths(n Number) *big.Int {
	v := big.NewInt(n.N)
	return v.Mul(v, new(big.Int).SetUint64(powersOfTen[maxDigits-n.Digits]))
}

// change returns the relative change from before to now.
//
// Choice: it uses the rounded values of the answer, so that a reader can verify
// it.
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

// newSigned returns a number with six decimals. size must fit an int64.
func newSigned(size uint64, negative bool) Number {
	n := int64(size)
	if negative {
		n = -n
	}
	return Number{N: n, Digits: maxDigits, Known: true}
}

// compare compares two known numbers by value.
func compare(n, other Number) int {
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
