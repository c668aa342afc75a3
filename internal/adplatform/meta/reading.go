package meta

import (
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"fanfare/internal/connection"
	"fanfare/internal/fact"
)

// reading is a report on its way in. A report is no snapshot: it may change
// while its pages are read, and then they do not belong together.
type reading struct {
	q         connection.Report
	each      func([]fact.Row) error
	audiences map[string]string

	seen map[key]fact.Values
	// total is what Meta says that all impressions add up to, empty for
	// nothing said; impressions is what they do.
	total       string
	impressions int64

	// sums are the rows of a breakdown, in the order in which they came; at
	// is where a row is in them.
	sums []fact.Row
	at   map[fact.Row]int
}

func newReading(q connection.Report, each func([]fact.Row) error) *reading {
	if q.Entities == nil {
		q.Entities = &connection.Entities{}
	}
	r := &reading{q: q, each: each, audiences: map[string]string{}, seen: map[key]fact.Values{}, at: map[fact.Row]int{}}
	for _, a := range q.Entities.Audiences {
		r.audiences[a.External] = a.Name
	}
	return r
}

func drift(message string) *connection.Error {
	return &connection.Error{Class: connection.Drift, Code: "paging_drift", Message: message}
}

// page takes one in. Rows that came before are passed over, if they are still
// the same.
func (r *reading) page(p *page[insight]) error {
	told := p.Summary.Impressions
	if r.total == "" {
		r.total = told
	}
	if told != "" && told != r.total {
		return drift("The total of the report has changed between two pages.")
	}
	rows := make([]fact.Row, 0, len(p.Data))
	for i := range p.Data {
		in := &p.Data[i]
		row, err := in.row(r.q, r.audiences)
		if err != nil {
			return err
		}
		if before, again := r.seen[in.key()]; again {
			if before != row.Values {
				return drift("A row has come twice, with different figures.")
			}
			continue
		}
		r.seen[in.key()] = row.Values
		n, _ := row.Values.Get(fact.Impressions)
		r.impressions += n
		rows = append(rows, row)
	}
	if r.q.Level > connection.LevelAd {
		r.add(rows)
		return nil
	}
	if len(rows) == 0 {
		return nil
	}
	return r.each(rows)
}

// add adds up rows that differ only in the ad set, or in the make of a device.
func (r *reading) add(rows []fact.Row) {
	for _, row := range rows {
		about := row
		about.Values, about.Campaign.Name, about.Audience.Name = fact.Values{}, "", ""
		at, there := r.at[about]
		if !there {
			r.at[about] = len(r.sums)
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

// end hands out what was added up, once it is sure that nothing is missing.
//
// Choice: impressions of a breakdown have to add up too. They are counted, and
// whoever cannot be told apart has a row of his own.
func (r *reading) end() error {
	if r.total != "" && r.total != strconv.FormatInt(r.impressions, 10) {
		return drift("The rows of the report do not add up to its total.")
	}
	for rows := range slices.Chunk(r.sums, pageSize) {
		if err := r.each(rows); err != nil {
			return err
		}
	}
	return nil
}

// oneOf finds a word of ours, the one for unknown where there is none.
func oneOf(words []string, text string) string {
	if text = strings.ToLower(text); slices.Contains(words, text) {
		return text
	}
	return "unknown"
}

// device sorts the devices that Meta knows by their make.
func device(text string) string {
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
