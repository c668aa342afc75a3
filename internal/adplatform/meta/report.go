package meta

import (
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"fanfare/internal/connection"
	"fanfare/internal/fact"
)

// reportReader reads the pages of a report. A report can change while its pages
// are read, which is an error.
type reportReader struct {
	q         connection.Report
	each      func([]fact.Row) error
	audiences map[string]string

	seen map[rowKey]fact.Values
	// total is the sum of all impressions that Meta reports, empty if it
	// reports none. impressions is the sum of the rows.
	total       string
	impressions int64

	// sums are the rows of a breakdown, in the order of the answers. sumIndex
	// is the index of each key.
	sums     []fact.Row
	sumIndex map[fact.Row]int
}

func newReportReader(q connection.Report, each func([]fact.Row) error) *reportReader {
	if q.Entities == nil {
		q.Entities = &connection.Entities{}
	}
	r := &reportReader{q: q, each: each, audiences: map[string]string{}, seen: map[rowKey]fact.Values{}, sumIndex: map[fact.Row]int{}}
	for _, a := range q.Entities.Audiences {
		r.audiences[a.External] = a.Name
	}
	return r
}

func reportChanged(message string) *connection.Error {
	return &connection.Error{Class: connection.PagesDisagree, Code: "paging_drift", Message: message}
}

// addPage adds a page. It skips duplicate rows and returns an error if one has
// changed.
func (r *reportReader) addPage(p *page[insight]) error {
	total := p.Summary.Impressions
	if r.total == "" {
		r.total = total
	}
	if total != "" && total != r.total {
		return reportChanged("The total of the report has changed between two pages.")
	}
	rows := make([]fact.Row, 0, len(p.Data))
	for i := range p.Data {
		in := &p.Data[i]
		row, err := in.factRow(r.q, r.audiences)
		if err != nil {
			return err
		}
		if before, again := r.seen[in.rowKey()]; again {
			if before != row.Values {
				return reportChanged("A row has come twice, with different figures.")
			}
			continue
		}
		r.seen[in.rowKey()] = row.Values
		n, _ := row.Values.Get(fact.Impressions)
		r.impressions += n
		rows = append(rows, row)
	}
	if r.q.Level > connection.LevelAd {
		r.addRows(rows)
		return nil
	}
	if len(rows) == 0 {
		return nil
	}
	return r.each(rows)
}

// addRows adds rows that differ only in the ad set or the device model.
func (r *reportReader) addRows(rows []fact.Row) {
	for _, row := range rows {
		about := row
		about.Values, about.Campaign.Name, about.Audience.Name = fact.Values{}, "", ""
		at, there := r.sumIndex[about]
		if !there {
			r.sumIndex[about] = len(r.sums)
			r.sums = append(r.sums, row)
			continue
		}
		sum := &r.sums[at].Values
		for m := range fact.Measure(fact.NumMeasures) {
			if n, ok := row.Values.Get(m); ok {
				before, _ := sum.Get(m)
				sum.Set(m, before+n)
			}
		}
	}
}

// finishReport passes on the sums of a breakdown after checking that no row is
// missing.
//
// Choice: impressions of a breakdown must add up to the total, because people
// whose attributes are unknown have their own row.
func (r *reportReader) finishReport() error {
	if r.total != "" && r.total != strconv.FormatInt(r.impressions, 10) {
		return reportChanged("The rows of the report do not add up to its total.")
	}
	for rows := range slices.Chunk(r.sums, pageSize) {
		if err := r.each(rows); err != nil {
			return err
		}
	}
	return nil
}

// knownOrUnknown returns the value if it is one of the values, else unknown.
func knownOrUnknown(words []string, text string) string {
	if text = strings.ToLower(text); slices.Contains(words, text) {
		return text
	}
	return "unknown"
}

// deviceOf returns the device type of Meta's device name.
func deviceOf(text string) string {
	switch {
	case text == "desktop":
		return "desktop"
	case text == "iphone" || text == "ipod" || text == "android_smartphone":
		return "mobile"
	case text == "ipad" || text == "android_tablet":
		return "tablet"
	case strings.Contains(text, "tv"):
		return "tv"
	case text == "" || text == "unknown":
		return "unknown"
	}
	return "other"
}

func jsonText(v any) (string, error) {
	b, err := json.Marshal(v, json.Deterministic(true))
	return string(b), err
}
