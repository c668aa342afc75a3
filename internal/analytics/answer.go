package analytics

import (
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
	"fanfare/internal/money"
)

// Answer is a page of rows and what is to be known about them.
type Answer struct {
	layout layout
	rows   []row
	// next is the cursor of the next page, empty on the last.
	next string
	// all are the rows of every page, before they are cut to one.
	all    []row
	totals row
	// head is the meta object without what differs from page to page, and
	// open at its end.
	head []byte
	meta []byte

	totalRows *int
	cached    bool

	report *report
	// records are those that a report's rows are about.
	records map[ident.ID]fact.Record
}

// Next returns the cursor of the next page, empty on the last.
func (a *Answer) Next() string { return a.next }

// SetNext puts another cursor in the place of the answer's own, which must be
// wrapped in it.
func (a *Answer) SetNext(cursor string) { a.next = cursor }

// meta is what an answer tells about itself, but for what differs from page to
// page.
type meta struct {
	StartDate     clock.Date      `json:"start_date"`
	EndDate       clock.Date      `json:"end_date"`
	Timezone      string          `json:"timezone"`
	Currency      money.Currency  `json:"currency"`
	AsOf          clock.Instant   `json:"as_of"`
	Totals        json.RawMessage `json:"totals"`
	Columns       []column        `json:"columns"`
	Query         echo            `json:"query"`
	Freshness     freshness       `json:"freshness"`
	Warnings      []Warning       `json:"warnings"`
	EstimatedRows *int64          `json:"estimated_rows"`
}

// column describes a column of the rows.
type column struct {
	Name       string      `json:"name"`
	Kind       string      `json:"kind"`
	Type       string      `json:"type"`
	Format     *Format     `json:"format"`
	Unit       *string     `json:"unit"`
	Additivity *Additivity `json:"additivity"`
}

// echo is the query as it was understood.
type echo struct {
	Metrics     []string     `json:"metrics"`
	Dimensions  []string     `json:"dimensions"`
	DateRange   echoRange    `json:"date_range"`
	Granularity Granularity  `json:"granularity"`
	Timezone    string       `json:"timezone"`
	Currency    string       `json:"currency"`
	Family      string       `json:"family"`
	Filters     any          `json:"filters"`
	Compare     *echoCompare `json:"compare"`
	OrderBy     []echoOrder  `json:"order_by"`
	Include     echoInclude  `json:"include"`
	Limit       int          `json:"limit"`
}

type echoRange struct {
	Preset    *string    `json:"preset"`
	StartDate clock.Date `json:"start_date"`
	EndDate   clock.Date `json:"end_date"`
}

type echoCompare struct {
	To           string    `json:"to"`
	DateRange    echoRange `json:"date_range"`
	MatchWeekday bool      `json:"match_weekday"`
}

type echoOrder struct {
	Field string `json:"field"`
	Order string `json:"order"`
}

type echoInclude struct {
	Totals    bool `json:"totals"`
	EmptyRows bool `json:"empty_rows"`
	Labels    bool `json:"labels"`
	TotalRows bool `json:"total_rows"`
}

// MarshalJSON writes the query with every default filled in.
func (r *Resolved) MarshalJSON() ([]byte, error) { return json.Marshal(r.echo()) }

func (r *Resolved) echo() echo {
	q := echo{
		Metrics: []string{}, Dimensions: []string{}, DateRange: echoRange{StartDate: r.days.first, EndDate: r.days.last},
		Granularity: r.granularity, Timezone: r.timezone, Currency: string(r.currency), Family: r.family.String(),
		Include: echoInclude{r.totals, r.emptyRows, r.labels, r.totalRows}, Limit: r.limit,
	}
	if r.preset != nil {
		q.DateRange.Preset = &r.preset.name
	}
	if r.filters != nil {
		q.Filters = r.filters
	}
	for _, m := range r.metrics[:r.shown] {
		q.Metrics = append(q.Metrics, m.Name)
	}
	for _, d := range r.dimensions {
		q.Dimensions = append(q.Dimensions, d.Name)
	}
	if c := r.compare; c != nil {
		q.Compare = &echoCompare{To: c.to, DateRange: echoRange{StartDate: c.days.first, EndDate: c.days.last}, MatchWeekday: c.matchWeekday}
	}
	for _, o := range r.order {
		direction := "asc"
		if o.desc {
			direction = "desc"
		}
		q.OrderBy = append(q.OrderBy, echoOrder{o.field, direction})
	}
	return q
}

// layout finds the rows' layout in a query that was answered before.
func (q *echo) layout() layout {
	l := layout{
		dated: q.Granularity != Whole, labels: q.Include.Labels, compare: q.Compare != nil,
		edges: q.Granularity != Whole && q.Granularity != Day,
	}
	for _, name := range q.Dimensions {
		l.dimensions = append(l.dimensions, dimensions[name])
	}
	for _, name := range q.Metrics {
		l.metrics = append(l.metrics, metrics[name])
	}
	return l
}

func (l *layout) columns(currency money.Currency) []column {
	var list []column
	if l.dated {
		list = append(list, column{Name: "date", Kind: "dimension", Type: "date"})
	}
	for _, d := range l.dimensions {
		list = append(list, column{Name: d.Name, Kind: "dimension", Type: "string"})
	}
	for _, m := range l.metrics {
		c := column{Name: m.Name, Kind: "metric", Type: "number", Format: &m.Format, Additivity: &m.Additivity}
		if m.Format == FormatCount {
			c.Type = "integer"
		}
		if m.Format == FormatCurrency {
			c.Unit = (*string)(&currency)
		}
		list = append(list, c)
	}
	return list
}

// answer puts the first page together.
func (e *evaluation) answer(started time.Time) *Answer {
	query := e.r.echo()
	a := &Answer{layout: query.layout(), all: e.rows, rows: e.rows[:min(len(e.rows), e.r.limit)], totals: e.totals}
	if e.r.totalRows {
		n := len(e.rows)
		a.totalRows = &n
	}
	a.describe(e, &query, started, nil)
	return a
}

// describe writes the part of meta that all pages share.
func (a *Answer) describe(e *evaluation, query *echo, started time.Time, estimated *int64) {
	m := meta{
		StartDate: e.r.days.first, EndDate: e.r.days.last, Timezone: e.r.timezone, Currency: e.r.currency, AsOf: clock.At(started),
		Totals: json.RawMessage("null"), Columns: a.layout.columns(e.r.currency), Query: *query,
		Freshness: e.freshness(started), Warnings: e.warnings(started), EstimatedRows: estimated,
	}
	if e.r.totals && estimated == nil {
		m.Totals = a.layout.appendNumbers([]byte(`{"metrics":`), a.totals.now)
		m.Totals = a.layout.appendNumbers(append(m.Totals, `,"previous":`...), a.totals.before)
		m.Totals = append(a.layout.appendChange(append(m.Totals, `,"change":`...), &a.totals), '}')
	}
	// Nothing in it can fail to be encoded.
	b, _ := json.Marshal(&m)
	a.head = b[:len(b)-1]
}

// finish completes meta with what belongs to the page.
func (a *Answer) finish(elapsed time.Duration) {
	b := append(make([]byte, 0, len(a.head)+100), a.head...)
	b = append(b, `,"total_rows":`...)
	if a.totalRows != nil {
		b = strconv.AppendInt(b, int64(*a.totalRows), 10)
	} else {
		b = append(b, "null"...)
	}
	b = strconv.AppendInt(append(b, `,"row_count":`...), int64(len(a.rows)), 10)
	b = strconv.AppendInt(append(b, `,"elapsed_ms":`...), elapsed.Milliseconds(), 10)
	cache := `,"cache":"miss"}`
	if a.cached {
		cache = `,"cache":"hit"}`
	}
	b = append(b, cache...)
	a.meta = b
}

// AppendJSON writes the whole answer.
func (a *Answer) AppendJSON(b []byte) []byte {
	if a.report != nil {
		return a.appendReport(b)
	}
	b = append(b, `{"data":[`...)
	for i := range a.rows {
		if i > 0 {
			b = append(b, ',')
		}
		b = a.layout.appendRow(b, &a.rows[i])
		if i == 0 {
			// The others will be about as long.
			b = slices.Grow(b, len(b)*len(a.rows)+len(a.meta)+500)
		}
	}
	return a.appendRest(append(b, ']'))
}

// appendRest writes what follows the data of a list.
func (a *Answer) appendRest(b []byte) []byte {
	b = strconv.AppendBool(append(b, `,"has_more":`...), a.next != "")
	b = appendNullable(append(b, `,"next_cursor":`...), a.next, a.next == "")
	b = append(append(b, `,"meta":`...), a.meta...)
	return append(b, '}')
}

// AppendNDJSON writes the rows, each as a line of JSON.
func (a *Answer) AppendNDJSON(b []byte) []byte {
	for i := range a.rows {
		b = append(a.layout.appendRow(b, &a.rows[i]), '\n')
	}
	return b
}

// AppendCSV writes the rows as a table with a header.
func (a *Answer) AppendCSV(b []byte) []byte {
	b = a.layout.appendHeader(b)
	for i := range a.rows {
		b = a.layout.appendLine(b, &a.rows[i])
	}
	return b
}
