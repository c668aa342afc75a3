package sandbox

import "math/bits"

// All metrics are computed with integers, so that they are equal on every
// machine: floating point operations can be fused or approximated differently.

// seedKey is the source of random numbers: one key for each object, and derived
// from it one for each object and day.
type seedKey uint64

// named returns the key of a named child of k.
func (k seedKey) named(name string) seedKey {
	const prime = 1099511628211
	h := uint64(k) ^ 14695981039346656037
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * prime
	}
	return seedKey(h).numbered(int64(len(name)))
}

// numbered returns the key of a numbered child of k: the finalizer of
// SplitMix64, after which every bit depends on every other.
func (k seedKey) numbered(n int64) seedKey {
	h := uint64(k) + uint64(n)*0x9e3779b97f4a7c15 + 0x9e3779b97f4a7c15
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return seedKey(h ^ h>>31)
}

// intBelow returns a number from 0 to n-1.
func (k seedKey) intBelow(n int64) int64 {
	high, _ := bits.Mul64(uint64(k), uint64(n))
	return int64(high)
}

// intBetween returns a number from low to high.
func (k seedKey) intBetween(low, high int64) int64 { return low + k.intBelow(high-low+1) }

// million is the denominator of factors and rates.
const million = 1_000_000

// applyFactor returns n × factor, truncated.
func applyFactor(n, factor int64) int64 { return mulDiv(n, factor, million) }

// mulDiv returns n × part / whole, truncated, without overflow in between. Only n
// can be negative.
func mulDiv(n, part, whole int64) int64 {
	if n < 0 {
		return -mulDiv(-n, part, whole)
	}
	high, low := bits.Mul64(uint64(n), uint64(part))
	quotient, _ := bits.Div64(high, low, uint64(whole))
	return int64(quotient)
}

// expMillionths approximates e^x for x from -6 to 2, with x and the result in
// millionths: (1 + x/64)^64. It is increasing.
func expMillionths(x int64) int64 {
	f := million + x/64
	for range 6 {
		f = f * f / million
	}
	return f
}

// logNoise returns a random factor around 1 whose logarithm is approximately
// normal, with the standard deviation in millionths.
func (k seedKey) logNoise(deviation int64) int64 {
	// The sum of four uniform numbers below 2^16 is approximately normal; 37837
	// is its standard deviation.
	sum := int64(k&0xffff) + int64(k>>16&0xffff) + int64(k>>32&0xffff) + int64(k>>48) - 2*0xffff
	return expMillionths(sum * deviation / 37_837)
}
