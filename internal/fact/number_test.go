package fact_test

import (
	"encoding/json"
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"fanfare/internal/fact"
)

func TestNumber(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		n    fact.Number
		want string
	}{
		{fact.Number{}, "null"},
		{fact.Whole(0), "0"},
		{fact.Whole(math.MaxInt64), "9223372036854775807"},
		{fact.Whole(-30), "-30"},
		{fact.Millionths(0), "0"},
		{fact.Millionths(1), "0.000001"},
		{fact.Millionths(-500_000), "-0.5"},
		{fact.Millionths(26_206_452), "26.206452"},
		{fact.Millionths(640_000_000), "640"},
		{fact.Millionths(math.MinInt64), "-9223372036854.775808"},
	} {
		b, err := json.Marshal(map[string]fact.Number{"n": tt.n})
		if got, want := string(b), `{"n":`+tt.want+`}`; got != want || err != nil {
			t.Errorf("got %s, %v want %s", got, err, want)
		}
	}
}

// TestNumberIsExact compares the text of random numbers with exact fractions.
func TestNumberIsExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := fact.Number{N: rapid.Int64().Draw(t, "n"), Digits: rapid.SampledFrom([]uint8{0, fact.MaxDigits}).Draw(t, "digits"), Known: true}
		text := n.String()
		got, ok := new(big.Rat).SetString(text)
		if want := big.NewRat(n.N, int64(math.Pow10(int(n.Digits)))); !ok || got.Cmp(want) != 0 {
			t.Errorf("got %s want %s", text, want.FloatString(6))
		}
		if !json.Valid([]byte(text)) || strings.Contains(text, ".") && strings.HasSuffix(text, "0") {
			t.Errorf("got %s want a JSON number without trailing zeros", text)
		}
	})
}
