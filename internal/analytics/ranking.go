package analytics

import (
	"context"
	"fmt"
	"math"

	"fanfare/internal/ident"
)

// MetricNames are the names of all metrics.
var MetricNames = metricNames

// Ranking returns the value of a metric for every campaign that has one on some
// days, in millionths, so that campaigns can be sorted by it. Days that are nil
// are those of a report. Wrong days are a fault of their parameters, named
// start_date and end_date.
func (s *Service) Ranking(ctx context.Context, w Workspace, metric string, first, last *string) (map[ident.ID]int64, error) {
	p := &Params{Kind: KindCampaigns, StartDate: first, EndDate: last, Metrics: []string{metric}}
	if err := s.Check(w, p); err != nil {
		return nil, err
	}
	if err := s.Catchup(ctx, w.ID); err != nil {
		return nil, fmt.Errorf("bring records up to date: %w", err)
	}
	q, _ := p.query(w, s.Now())
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	e, err := s.rows(limited, w, q)
	if err != nil {
		return nil, asked(ctx, limited, err)
	}
	values := make(map[ident.ID]int64, len(e.rows))
	for i := range e.rows {
		r := &e.rows[i]
		// What is on a platform alone is no campaign of the workspace.
		if v := &r.values[0]; r.now[0].Known && !v.null() {
			values[ident.ID(v.ID)] = millionthsOf(r.now[0])
		}
	}
	return values, nil
}

// millionthsOf is a number as one that can be compared with others. Numbers
// beyond nine trillion are all the same, which nothing real comes near.
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
