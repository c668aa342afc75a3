package sandbox

import (
	"fmt"
	"slices"

	"fanfare/internal/fact"
)

// rowShare is a value with its share of a row, for what the model does not have.
type rowShare struct {
	value string
	share int64
}

// hourShares are the beginnings of the hours of a day.
var hourShares = func() (hours []rowShare) {
	for hour := range 24 {
		share := int64(1 + hour/3)
		if hour > 20 {
			share = 4
		}
		hours = append(hours, rowShare{fmt.Sprintf("%02d:00:00", hour), share})
	}
	return hours
}()

// splitByShares splits a row by shares. Parts without any metric are left out.
func splitByShares(a *Account, row Row, shares []rowShare) []Row {
	weights, numbers := make([]int64, len(shares)), make([]int64, len(shares))
	parts := make([]Row, len(shares))
	for i, s := range shares {
		weights[i], parts[i] = s.share, row
		parts[i].Part, parts[i].Values = s.value, fact.Values{}
	}
	for m := range fact.Measure(fact.NumMeasures) {
		n, known := row.Values.Get(m)
		if !known || m == fact.Reach {
			continue
		}
		step := int64(1)
		switch {
		case m.Money():
			step = a.traits.moneyStep
		case m.Scaled():
			step = a.traits.conversionStep
		}
		divide(n/step, weights, numbers)
		for i := range parts {
			parts[i].Values.Set(m, numbers[i]*step)
		}
		parts[0].Values.Set(m, parts[0].Values.V[m]+n%step)
	}
	return slices.DeleteFunc(parts, func(part Row) bool { return isZero(&part.Values) })
}
