package analytics

import (
	"context"
	"math"

	"fanfare/internal/ident"
)

// MetricNames lists the names of all metrics.
var MetricNames = metricNames

// Ranking returns a metric of every campaign that has a value in the given
// days, in millionths, for sorting. Nil days mean the default of reports.
// Invalid days are faults of the parameters start_date and end_date.
func (s *Service) Ranking(ctx context.Context, w Workspace, metric string, first, last *string) (map[ident.ID]int64, error) {
	p := &Params{Kind: KindCampaigns, StartDate: first, EndDate: last, Metrics: []string{metric}}
	if err := s.Check(w, p); err != nil {
		return nil, err
	}
	if err := s.catchUp(ctx, w.ID); err != nil {
		return nil, err
	}
	q, _ := p.query(w, s.Now())
	connections, err := s.connections(ctx, w.ID)
	if err != nil {
		return nil, err
	}
	e, err := s.resolveInternal(w, q, connections)
	if err != nil {
		return nil, err
	}
	limited, end, err := s.begin(ctx, e)
	if err != nil {
		return nil, err
	}
	defer end()
	if err := s.compute(limited, e); err != nil {
		return nil, queryError(ctx, limited, err)
	}
	values := make(map[ident.ID]int64, len(e.rows))
	for i := range e.rows {
		r := &e.rows[i]
		// Skip platform campaigns that are not linked to a campaign.
		if v := &r.values[0]; r.now[0].Known && !v.null() {
			values[ident.ID(v.ID)] = millionthsOf(r.now[0])
		}
	}
	return values, nil
}

// millionthsOf returns a number as comparable millionths. Numbers beyond nine
// trillion are equal; real values are far smaller.
func millionthsOf(n Number) int64 {
	factor := int64(powersOfTen[maxDigits-n.Digits])
	switch {
	case n.N > math.MaxInt64/factor:
		return math.MaxInt64
	case n.N < math.MinInt64/factor:
		return math.MinInt64
	}
	return n.N * factor
}
