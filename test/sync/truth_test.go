package sync_test

import (
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json"

	"fanfare/internal/adplatform/sandbox"
	"fanfare/internal/clock"
	"fanfare/internal/fact"
)

// familyDimensions are the dimensions that select each family.
var familyDimensions = map[fact.Family]string{fact.Base: "account_id", fact.Geo: "country", fact.Demographic: "age_range", fact.Device: "device"}

// comparedMeasures are the measures in the sandbox's truth.
var comparedMeasures = []fact.Measure{
	fact.Impressions, fact.Clicks, fact.Spend, fact.Conversions, fact.Revenue, fact.Leads, fact.Engagements, fact.VideoViews, fact.VideoCompletions,
}

// truthValue returns the true value of a measure on a day, nil for none.
func truthValue(t *sandbox.TruthDay, m fact.Measure) *int64 {
	return map[fact.Measure]*int64{
		fact.Impressions: t.Impressions, fact.Clicks: t.Clicks, fact.Spend: t.SpendMicros, fact.Conversions: t.ConversionsMicros, fact.Revenue: t.RevenueMicros,
		fact.Leads: t.Leads, fact.Engagements: t.Engagements, fact.VideoViews: t.VideoViews, fact.VideoCompletions: t.VideoCompletions,
	}[m]
}

// compareWithTruth compares every day of every account in every family with the
// truth, and returns the number of compared values. Breakdowns are read once a
// day: those that are older say so. It compares ten days at a time, because a
// warning names no more.
func (d *drill) compareWithTruth(first, last clock.Date) (n int) {
	d.Helper()
	for ; first <= last; first += 10 {
		n += d.compareTenDays(first, min(first+9, last))
	}
	return n
}

func (d *drill) compareTenDays(first, last clock.Date) (n int) {
	d.Helper()
	accounts := d.state().Accounts
	if len(accounts) != len(d.sandbox.Addresses()) {
		d.Errorf("got %d accounts want %d", len(accounts), len(d.sandbox.Addresses()))
	}
	for _, a := range accounts {
		known, there := d.sandbox.Account(a.ID)
		if !there {
			d.Fatalf("account %s is none of the sandbox's", a.ID)
		}
		truth := d.sandbox.Truth(known, first, last)
		for family := range familyDimensions {
			stored, incomplete := d.stored(a.ID, a.Platform, family, first, last)
			days := truth.Families[family.String()]
			if family == fact.Base {
				incomplete = nil // totals are read by every run
			}
			if days == nil {
				if len(stored) > 0 {
					d.Errorf("%s %s: got %d days want none", a.Platform, family, len(stored))
				}
				continue
			}
			n += d.compareDays(a.Platform+" "+family.String(), days, stored, incomplete)
			if len(stored) == 0 && last-first > 7 {
				d.Errorf("%s %s: got nothing want some days", a.Platform, family)
			}
		}
	}
	return n
}

// compareDays compares the days of a family. Where the truth has no value, none
// may be stored. Other values are only on days that the answer calls incomplete.
func (d *drill) compareDays(what string, truth []sandbox.TruthDay, stored map[clock.Date]fact.Values, incomplete map[clock.Date]bool) (n int) {
	d.Helper()
	wrong := 0
	for i := range truth {
		have := stored[truth[i].Date]
		for _, m := range comparedMeasures {
			got, _ := have.Get(m)
			var want int64
			if says := truthValue(&truth[i], m); says != nil {
				want = *says
				n++
			}
			switch {
			case got == want:
			case incomplete[truth[i].Date]:
				d.counts.warned++
			default:
				if wrong++; wrong <= 3 {
					d.Errorf("%s on %s: got %s %d want %d", what, truth[i].Date, m, got, want)
				}
			}
		}
	}
	if wrong > 3 {
		d.Errorf("%s: %d sums are wrong of %d", what, wrong, n)
	}
	return n
}

// stored returns the stored metrics of an account by day in a family, without
// empty days, and the days that the answer calls incomplete.
func (d *drill) stored(account, platform string, family fact.Family, first, last clock.Date) (days map[clock.Date]fact.Values, incomplete map[clock.Date]bool) {
	d.Helper()
	names := make([]string, len(comparedMeasures))
	for i, m := range comparedMeasures {
		names[i] = m.String()
	}
	metrics, err := json.Marshal(names)
	if err != nil {
		d.Fatal(err)
	}
	body := fmt.Sprintf(`{"metrics":%s,"dimensions":[%q],"granularity":"day","timezone":%q,"date_range":{"start_date":%q,"end_date":%q},"limit":10000,"filters":{"and":[{"field":"account_id","op":"eq","values":[%q]},{"field":"platform","op":"eq","values":[%q]}]}}`,
		metrics, familyDimensions[family], zone, first, last, account, platform)
	status, text := d.call(http.MethodPost, "/v1/analytics/query", body)
	var answer struct {
		Data []struct {
			Dimensions map[string]*string     `json:"dimensions"`
			Metrics    map[string]fact.Number `json:"metrics"`
		} `json:"data"`
		Next *string `json:"next_cursor"`
		Meta struct {
			Warnings []struct {
				Code string       `json:"code"`
				Days []clock.Date `json:"days"`
			} `json:"warnings"`
		} `json:"meta"`
	}
	if err := json.Unmarshal(text, &answer); err != nil || status != http.StatusOK || answer.Next != nil {
		d.Fatalf("query: got %d %v want 200 and one page: %.500s", status, err, text)
	}
	days, incomplete = map[clock.Date]fact.Values{}, map[clock.Date]bool{}
	for _, w := range answer.Meta.Warnings {
		for _, day := range w.Days {
			if w.Code == "incomplete_data" {
				incomplete[day] = true
			}
		}
	}
	type place struct {
		day   clock.Date
		value string
	}
	seen := map[place]bool{}
	for _, r := range answer.Data {
		day, ok := clock.ParseDate(*r.Dimensions["date"])
		if !ok {
			d.Fatalf("got %q want a day", *r.Dimensions["date"])
		}
		at := place{day: day}
		if v := r.Dimensions[familyDimensions[family]]; v != nil {
			at.value = *v
		}
		if seen[at] {
			d.Errorf("%s %s: %v is there twice", platform, family, at)
		}
		seen[at] = true
		sum, some := days[day], false
		for _, m := range comparedMeasures {
			if v := r.Metrics[m.String()]; v.Known {
				had, _ := sum.Get(m)
				sum.Set(m, had+exactValue(v, m))
				some = some || v.N != 0
			}
		}
		if some {
			days[day] = sum
		}
	}
	return days, incomplete
}

// exactValue returns a number in the stored unit of a measure.
func exactValue(n fact.Number, m fact.Measure) int64 {
	if m.Scaled() && n.Digits == 0 {
		return n.N * 1_000_000
	}
	return n.N
}
