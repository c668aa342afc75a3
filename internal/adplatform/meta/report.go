package meta

import (
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"fanfare/internal/connection"
	"fanfare/internal/fact"
)

// reportReader collects the rows of a report. A report can change while its
// pages are read, which is an error.
type reportReader struct {
	q         connection.Report
	each      func([]fact.Row) error
	audiences map[string]string
	events    conversionEvents

	seen map[rowKey]fact.Values
	// missing is the number of impressions that the totals of Meta have beyond
	// the rows, negative if the rows have more.
	missing int64

	// sums are the rows of a breakdown, in the order of the answers. sumIndex
	// is the index of each key.
	sums     []fact.Row
	sumIndex map[fact.Row]int
}

func newReportReader(q connection.Report, each func([]fact.Row) error) *reportReader {
	if q.Entities == nil {
		q.Entities = &connection.Entities{}
	}
	r := &reportReader{
		q: q, each: each, audiences: map[string]string{}, events: conversionEventsOf(q), seen: map[rowKey]fact.Values{}, sumIndex: map[fact.Row]int{},
	}
	for _, a := range q.Entities.Audiences {
		r.audiences[a.External] = a.Name
	}
	return r
}

func reportChanged(message string) *connection.Error {
	return &connection.Error{Class: connection.PagesDisagree, Code: "paging_drift", Message: message}
}

// totalCheck compares the rows of one reading of a report with its total.
type totalCheck struct {
	rows  map[rowKey]bool
	pages int
	// total is the sum of all impressions that Meta reports, empty if it
	// reports none. impressions is the sum of the rows.
	total       string
	impressions int64
}

const (
	// maxReads is how often a report is read whose rows do not add up.
	maxReads = 2
	// tolerance is the part of a total by which breakdowns may differ, which
	// Meta estimates: one in so many.
	tolerance = 50
)

// missing returns how many impressions the total has beyond the rows.
func (t *totalCheck) missing() int64 {
	total, err := strconv.ParseInt(t.total, 10, 64)
	if err != nil {
		return 0
	}
	return total - t.impressions
}

// suspicious reports whether a page may have been skipped.
func (t *totalCheck) suspicious(level connection.Level) bool {
	missing := t.missing()
	if level > connection.LevelAd {
		missing -= (t.impressions + missing) / tolerance
	}
	return missing > 0 && t.pages > 1
}

// addPage adds a page. It skips duplicate rows and returns an error if one has
// changed.
func (r *reportReader) addPage(p *page[insight], check *totalCheck) error {
	total := p.Summary.Impressions
	if check.total == "" {
		check.total = total
	}
	if total != "" && total != check.total {
		return reportChanged("The total of the report has changed between two pages.")
	}
	check.pages++
	rows := make([]fact.Row, 0, len(p.Data))
	for i := range p.Data {
		in := &p.Data[i]
		key := in.rowKey()
		row, err := in.factRow(&r.q, r.audiences, &r.events)
		if err != nil {
			return err
		}
		if !check.rows[key] {
			check.rows[key] = true
			n, _ := row.Values.Get(fact.Impressions)
			check.impressions += n
		}
		if before, again := r.seen[key]; again {
			if before != row.Values {
				return reportChanged("A row has come twice, with different figures.")
			}
			continue
		}
		r.seen[key] = row.Values
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

// finishReport passes on the sums of a breakdown, and a note if the rows do not
// add up to Meta's total. They need not: Meta estimates breakdowns, and does not
// say whether the total contains deleted objects.
func (r *reportReader) finishReport() error {
	if missing := r.missing; missing != 0 {
		message := "The rows that Meta returns do not add up to its total."
		if r.q.Level > connection.LevelAd {
			message = "Meta estimates breakdowns. Their sum differs from the total."
		}
		r.q.AddNote(connection.Note{
			Code: connection.NoteTotalDiffers, First: r.q.First, Last: r.q.Last, Measure: fact.Impressions, Amount: &missing, Message: message,
		})
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
	case text == "iphone" || text == "ipod" || text == "android_smartphone" || text == "mobile_app" || text == "mobile_web":
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
