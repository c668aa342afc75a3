package analytics

import (
	"encoding/json"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func TestRatio(t *testing.T) {
	t.Parallel()
	whole := func(n int64) Number { return Number{N: n, Known: true} }
	micros := func(n int64) Number { return Number{N: n, Digits: 6, Known: true} }
	for _, test := range []struct {
		name              string
		factor            int64
		over, less, under Number
		want              string
	}{
		{"a third", 1, whole(1), whole(0), whole(3), "0.333333"},
		{"two thirds", 1, whole(2), whole(0), whole(3), "0.666667"},
		{"half away from zero", 1, whole(1), whole(0), whole(2_000_000), "0.000001"},
		{"below half", 1, whole(1), whole(0), whole(2_000_001), "0"},
		{"half away from zero below it", 1, whole(-1), whole(0), whole(2_000_000), "-0.000001"},
		{"negative divisor", 1, whole(1), whole(0), whole(-4), "-0.25"},
		{"amount by count", 1, micros(1_500_000), micros(0), whole(4), "0.375"},
		{"per mille", 1000, micros(1_000_000), micros(0), whole(3), "333.333333"},
		{"amount by amount", 1, micros(3_000_000), micros(0), micros(2_000_000), "1.5"},
		{"count by amount", 1, whole(3), whole(0), micros(2_000_000), "1.5"},
		{"less", 1, micros(1_000_000), micros(3_000_000), micros(2_000_000), "-1"},
		{"zero divisor", 1, whole(1), whole(0), whole(0), "null"},
		{"unknown", 1, Number{}, whole(0), whole(1), "null"},
		{"too large for six digits", 1, micros(math.MaxInt64), micros(0), micros(1), "9223372036854775807"},
		{"too large at all", 1, micros(math.MaxInt64), micros(math.MinInt64), micros(1), "null"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := ratio(test.factor, test.over, test.less, test.under).String(); got != test.want {
				t.Errorf("got %s want %s", got, test.want)
			}
		})
	}
}

func numbers() *rapid.Generator[Number] {
	return rapid.Custom(func(t *rapid.T) Number {
		return Number{N: rapid.Int64().Draw(t, "n"), Digits: rapid.SampledFrom([]uint8{0, 6}).Draw(t, "digits"), Known: true}
	})
}

func rat(n Number) *big.Rat {
	return new(big.Rat).SetFrac(big.NewInt(n.N), new(big.Int).SetUint64(powersOfTen[n.Digits]))
}

// TestRatioIsExact compares ratio with exact fractions.
func TestRatioIsExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		factor := rapid.SampledFrom([]int64{1, 100, 1000}).Draw(t, "factor")
		over, less, under := numbers().Draw(t, "over"), numbers().Draw(t, "less"), numbers().Draw(t, "under")
		got := ratio(factor, over, less, under)
		if under.N == 0 {
			if got.Known {
				t.Fatalf("got %v want null", got)
			}
			return
		}
		want := new(big.Rat).Sub(rat(over), rat(less))
		want.Mul(want, big.NewRat(factor, 1)).Quo(want, rat(under))
		if !got.Known {
			if new(big.Rat).Abs(want).Cmp(new(big.Rat).SetInt64(math.MaxInt64)) < 0 {
				t.Fatalf("got null want %s", want.FloatString(6))
			}
			return
		}
		scaled := rounded(want.Mul(want, new(big.Rat).SetInt(new(big.Int).SetUint64(powersOfTen[got.Digits]))))
		if scaled.Cmp(big.NewInt(got.N)) != 0 {
			t.Fatalf("got %v want %v millionths", got, scaled)
		}
	})
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := numbers().Draw(t, "a"), numbers().Draw(t, "b")
		if got, want := compare(a, b), rat(a).Cmp(rat(b)); got != want {
			t.Fatalf("%v and %v: got %d want %d", a, b, got, want)
		}
		var back Number
		if err := json.Unmarshal(a.Append(nil), &back); err != nil || rat(back).Cmp(rat(a)) != 0 {
			t.Fatalf("got %v, %v want %v", back, err, a)
		}
		if value, ok := new(big.Rat).SetString(a.String()); !ok || value.Cmp(rat(a)) != 0 {
			t.Fatalf("got %s want %v", a, rat(a))
		}
	})
	for n, want := range map[Number]string{
		{}:                                         "null",
		{Known: true}:                              "0",
		{N: -5, Known: true}:                       "-5",
		{N: 812_400_000, Digits: 6, Known: true}:   "812.4",
		{N: -1, Digits: 6, Known: true}:            "-0.000001",
		{N: 640_000_000, Digits: 6, Known: true}:   "640",
		{N: math.MinInt64, Digits: 6, Known: true}: "-9223372036854.775808",
	} {
		if got := n.String(); got != want {
			t.Errorf("got %s want %s", got, want)
		}
	}
}

func TestChange(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		now, before Number
		want        string
	}{
		{Number{N: 812_400_000, Digits: 6, Known: true}, Number{N: 640_000_000, Digits: 6, Known: true}, "0.269375"},
		{Number{N: 26_206_452, Digits: 6, Known: true}, Number{N: 29_090_909, Digits: 6, Known: true}, "-0.099153"},
		{Number{N: 1, Known: true}, Number{N: -2, Known: true}, "1.5"},
		{Number{N: 1, Known: true}, Number{N: 0, Known: true}, "null"},
		{Number{N: 1, Known: true}, Number{}, "null"},
		{Number{}, Number{N: 1, Known: true}, "null"},
	} {
		if got := change(test.now, test.before).String(); got != test.want {
			t.Errorf("%v after %v: got %s want %s", test.now, test.before, got, test.want)
		}
	}
}
