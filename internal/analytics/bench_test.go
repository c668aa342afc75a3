package analytics

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"fanfare/internal/fact"
)

// fixed answers every plan with the same groups, so that only what is done
// with them is measured.
type fixed struct {
	*memoryFacts
	groups []Group
}

func (f *fixed) Query(_ context.Context, p *Plan) ([]Group, error) {
	if len(p.Dimensions) < 2 {
		return f.groups[:1], nil
	}
	return f.groups, nil
}

func benchmark(b *testing.B, n int, q *Query) {
	b.Helper()
	m := smallFacts(b)
	f := &fixed{memoryFacts: m}
	// In no order, as an engine answers.
	for _, i := range rand.New(rand.NewPCG(1, 2)).Perm(n) {
		f.groups = append(f.groups, Group{
			Values: []Value{{ID: fmt.Sprint("cmp_01m7eed1vefw9bs159p71gx", i), Label: fmt.Sprint("Campaign ", i)}, {ID: "social"}},
			Sums:   []Sum{{N: int64(1000 + i), Known: true}, {N: int64(i), Known: true}, {N: int64(i) * 1_234_567, Known: true}, {N: int64(i) * 100_000, Known: true}, {N: int64(i) * 7_654_321, Known: true}},
		})
	}
	s := m.service()
	s.Facts = f
	var buffer []byte
	b.ReportAllocs()
	for b.Loop() {
		a, err := s.run(b.Context(), wks, q)
		if err != nil {
			b.Fatal(err)
		}
		buffer = a.AppendJSON(buffer[:0])
	}
	b.SetBytes(int64(len(buffer)))
}

// BenchmarkOneRow measures an answer without the engine.
func BenchmarkOneRow(b *testing.B) {
	benchmark(b, 1, october(Query{Metrics: DefaultMetrics}))
}

func BenchmarkTenThousandRows(b *testing.B) {
	benchmark(b, MaxLimit, october(Query{Metrics: DefaultMetrics, Dimensions: []string{"campaign_id", "channel"}, Limit: new(int64(MaxLimit))}))
}

func BenchmarkComparedRows(b *testing.B) {
	benchmark(b, MaxLimit, october(Query{Metrics: DefaultMetrics, Dimensions: []string{"campaign_id", "channel"}, Compare: &Compare{To: "previous_period"}, Limit: new(int64(MaxLimit))}))
}

func BenchmarkStoredRows(b *testing.B) {
	benchmark(b, MaxLimit, october(Query{Metrics: []string{"impressions", "clicks", fact.Spend.String(), "conversions", "revenue"}, Dimensions: []string{"campaign_id", "channel"}}))
}
