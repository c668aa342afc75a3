package numbers

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// TestInt128 compares with exact integers.
func TestInt128(t *testing.T) {
	t.Parallel()
	limit := new(big.Int).Lsh(big.NewInt(1), 125)
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) *big.Int {
			n := new(big.Int).SetBytes(rapid.SliceOfN(rapid.Byte(), 0, 15).Draw(t, name))
			if rapid.Bool().Draw(t, "negative") {
				n.Neg(n)
			}
			return n
		}
		a, b := draw("a"), draw("b")
		x, err := ParseInt128(a.String())
		if err != nil {
			t.Fatal(err)
		}
		y, err := ParseInt128(b.String())
		if err != nil {
			t.Fatal(err)
		}
		sum := new(big.Int).Add(a, b)
		want, err := ParseInt128(sum.String())
		if err != nil || sum.CmpAbs(limit) > 0 {
			t.Fatalf("%s: %v", sum, err)
		}
		if got := x.Add(y); got != want {
			t.Errorf("%s + %s: got %v want %v", a, b, got, want)
		}
		if got := want.Sub(y); got != x {
			t.Errorf("%s - %s: got %v want %v", sum, b, got, x)
		}
		if n, fits := want.Int64(); fits != sum.IsInt64() || fits && n != sum.Int64() {
			t.Errorf("%s: got %d, %v", sum, n, fits)
		}
	})
}
