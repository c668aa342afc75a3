package analytics_test

import (
	"math/big"
	"slices"
)

// derived are the metrics that are a ratio of sums.
var derived = map[string]struct {
	over, less, under string
	factor            int64
}{
	"ctr": {"clicks", "", "impressions", 1}, "cpc": {"spend", "", "clicks", 1}, "cpm": {"spend", "", "impressions", 1000},
	"cpa": {"spend", "", "conversions", 1}, "cpl": {"spend", "", "leads", 1}, "cvr": {"conversions", "", "clicks", 1},
	"roas": {"revenue", "", "spend", 1}, "roi": {"revenue", "spend", "spend", 1}, "aov": {"revenue", "", "conversions", 1},
	"engagement_rate": {"engagements", "", "impressions", 1}, "cpe": {"spend", "", "engagements", 1}, "cpv": {"spend", "", "video_views", 1},
	"video_completion_rate": {"video_completions", "", "video_views", 1}, "frequency": {"impressions", "", "reach", 1},
	"delivery_rate": {"deliveries", "", "sends", 1}, "bounce_rate": {"bounces", "", "sends", 1}, "open_rate": {"opens", "", "deliveries", 1},
	"unsubscribe_rate": {"unsubscribes", "", "deliveries", 1}, "complaint_rate": {"complaints", "", "deliveries", 1},
}

// shares are the metrics that are a share of the whole result.
var shares = map[string]string{"spend_share": "spend", "conversion_share": "conversions"}

// metrics are all metrics, in the order of the catalog.
var metrics = slices.Concat(measures, []string{
	"ctr", "cpc", "cpm", "cpa", "cpl", "cvr", "roas", "roi", "aov", "engagement_rate", "cpe", "cpv", "video_completion_rate", "frequency",
	"delivery_rate", "bounce_rate", "open_rate", "unsubscribe_rate", "complaint_rate", "spend_share", "conversion_share", "pacing",
})

// sums are totals of measures, nil for unknown ones, with the reason.
type sums struct {
	of            map[string]*big.Rat
	mixed, noRate bool
}

// neededMeasures returns the measures of metrics.
func neededMeasures(names []string) map[string]bool {
	list := map[string]bool{}
	for _, name := range names {
		d := derived[name]
		for _, m := range []string{name, d.over, d.less, d.under, shares[name]} {
			list[m] = slices.Contains(measures, m)
		}
	}
	return list
}

// sumRows adds rows. Amounts are converted and rounded to a millionth one by
// one. A measure that no row has is zero if it is in zeros, else unknown.
func (b *referenceData) sumRows(views []taggedRow, currency string, needed, zeros map[string]bool) sums {
	s := sums{of: map[string]*big.Rat{}}
	seen := map[rowKey]bool{}
	var lines []rowKey
	for _, v := range views {
		if !seen[v.rowKey] {
			seen[v.rowKey] = true
			lines = append(lines, v.rowKey)
		}
	}
	for _, m := range measures {
		if !needed[m] {
			continue
		}
		if zeros[m] && m != "reach" {
			s.of[m] = new(big.Rat)
		}
		missing := false
		for _, p := range lines {
			n := b.rows[p][m]
			if n == nil {
				continue
			}
			if m == "spend" || m == "revenue" {
				if n = b.convert(n, b.accounts[[2]string{p.connection, p.account}].currency, currency, p.day); n == nil {
					missing = true
					continue
				}
			}
			if s.of[m] == nil {
				s.of[m] = new(big.Rat)
			}
			s.of[m] = new(big.Rat).Add(s.of[m], n)
		}
		if missing {
			s.of[m], s.noRate = nil, true
		}
	}
	// The same people can be in two rows.
	if len(lines) > 1 && s.of["reach"] != nil {
		s.of["reach"], s.mixed = nil, true
	}
	return s
}

// convert converts an amount with the day's rate, nil without one.
func (b *referenceData) convert(n *big.Rat, from, to string, d day) *big.Rat {
	if from == to {
		return n
	}
	worth := func(currency string) *big.Rat {
		if currency == "EUR" {
			return big.NewRat(1, 1)
		}
		return b.rates[rateDay{currency, d}]
	}
	over, under := worth(to), worth(from)
	if over == nil || under == nil {
		return nil
	}
	n = new(big.Rat).Mul(n, over)
	return round(n.Quo(n, under))
}

// round rounds a number to six digits after the point, half away from zero.
func round(n *big.Rat) *big.Rat { return parseNumber(n.FloatString(6)) }

// quotient returns nil if a part is unknown or the divisor is zero.
func quotient(over, under *big.Rat) *big.Rat {
	if over == nil || under == nil || under.Sign() == 0 {
		return nil
	}
	return round(new(big.Rat).Quo(over, under))
}

// metric computes one metric. pace is that of the row's campaign.
func (s sums) metric(name string, whole sums, pace *big.Rat) *big.Rat {
	if d, is := derived[name]; is {
		over := s.of[d.over]
		if d.less != "" {
			if s.of[d.less] == nil || over == nil {
				return nil
			}
			over = new(big.Rat).Sub(over, s.of[d.less])
		}
		if over != nil {
			over = new(big.Rat).Mul(over, big.NewRat(d.factor, 1))
		}
		return quotient(over, s.of[d.under])
	}
	if m, is := shares[name]; is {
		return quotient(s.of[m], whole.of[m])
	}
	if name == "pacing" {
		return pace
	}
	return s.of[name]
}

// relativeChange returns how much a metric differs from the previous one.
func relativeChange(now, before *big.Rat) *big.Rat {
	if now == nil || before == nil {
		return nil
	}
	return quotient(new(big.Rat).Sub(now, before), new(big.Rat).Abs(before))
}
