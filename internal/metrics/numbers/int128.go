package numbers

import (
	"fmt"
	"math/big"
	"math/bits"
	"strconv"
)

// Int128 is a signed integer of 128 bits. All sums fit: a value of a fact is at
// most fact.MaxValue, which has 50 bits. The zero value is 0.
type Int128 struct {
	high int64
	low  uint64
}

// Int128From returns n.
func Int128From(n int64) Int128 { return Int128{n >> 63, uint64(n)} }

// ParseInt128 reads a decimal integer.
func ParseInt128(text string) (Int128, error) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return Int128From(n), nil
	}
	n, ok := new(big.Int).SetString(text, 10)
	if !ok {
		return Int128{}, fmt.Errorf("%q is not a number", text)
	}
	return Int128FromBig(n)
}

// Int128FromBig returns n.
func Int128FromBig(n *big.Int) (Int128, error) {
	if n.BitLen() > 126 {
		return Int128{}, fmt.Errorf("%s is not a number of 128 bits", n)
	}
	size := new(big.Int).Abs(n)
	i := Int128{int64(new(big.Int).Rsh(size, 64).Uint64()), new(big.Int).And(size, new(big.Int).SetUint64(1<<64-1)).Uint64()}
	if n.Sign() < 0 {
		i = Int128{}.Sub(i)
	}
	return i, nil
}

// Add returns a + b.
func (a Int128) Add(b Int128) Int128 {
	low, carry := bits.Add64(a.low, b.low, 0)
	return Int128{a.high + b.high + int64(carry), low}
}

// Sub returns a - b.
func (a Int128) Sub(b Int128) Int128 {
	low, borrow := bits.Sub64(a.low, b.low, 0)
	return Int128{a.high - b.high - int64(borrow), low}
}

// Int64 returns the number and whether it fits.
func (a Int128) Int64() (n int64, fits bool) {
	n = int64(a.low)
	return n, n>>63 == a.high
}
