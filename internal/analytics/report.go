package analytics

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/page"
)

// Kind is the kind of a report.
type Kind string

// The kinds of reports.
const (
	KindOverview  Kind = "overview"
	KindCampaigns Kind = "campaigns"
	KindChannels  Kind = "channels"
	KindCreative  Kind = "creative"
	KindAudiences Kind = "audiences"
)

// subjects has what the rows of a report are about: the member of the row and
// its dimension.
var subjects = map[Kind]struct{ member, dimension string }{
	KindCampaigns: {"campaign", "campaign_id"},
	KindChannels:  {"channel", "channel"},
	KindCreative:  {"creative", "creative_id"},
	KindAudiences: {"audience", "audience_id"},
}

// DefaultMetrics are the metrics of a report whose caller names none.
var DefaultMetrics = []string{"impressions", "clicks", "spend", "conversions", "revenue", "ctr", "cpc", "cpm", "cvr", "cpa", "roas"}

// Params are the parameters of a report. Absent ones are nil or empty.
type Params struct {
	Kind               Kind
	StartDate, EndDate *string
	Metrics            []string
	Granularity        *string
	Compare            *string
	Channels           []string
	Platforms          []string
	Statuses           []string
	Currency           *string
	Timezone           *string
	Sort, Order        string
	// Limit is 0 for the default.
	Limit  int
	Cursor *string
}

// reportOptions has the fields of a report that a query lacks.
type reportOptions struct {
	Kind Kind
	// Statuses are statuses of creatives or audiences, which are not
	// dimensions.
	Statuses []string
	Sort     string
	Desc     bool
}

const sortByName = "name"

// order returns the sort keys of a report: one metric, shown or not, or the
// name.
func (p *reportOptions) order(r *Resolved) []order {
	switch m := metrics[p.Sort]; {
	case len(r.dimensions) == 0:
		return []order{{field: "date", at: -1}}
	case m != nil:
		return []order{{field: p.Sort, by: byNow, at: r.column(m), desc: p.Desc}}
	default:
		return []order{{field: sortByName, by: byLabel, desc: p.Desc}}
	}
}

// Report runs a report. It returns the same metrics as the equivalent query.
// Invalid parameters are an invalid_parameter fault.
func (s *Service) Report(ctx context.Context, w Workspace, p *Params) (*Answer, error) {
	q, problems := p.query(w, s.Now())
	if len(problems) > 0 {
		return nil, s.Check(w, p)
	}
	a, err := s.run(ctx, w, q)
	if f := (*fault.Error)(nil); errors.As(err, &f) && len(f.Details) > 0 && f.Details[0].In == "body" {
		return nil, invalidParameters(f.Details)
	}
	if err != nil {
		return nil, err
	}
	a.report = q.report
	return a, s.describeSubjects(ctx, w, a)
}

// Check validates the parameters of a report without running it.
func (s *Service) Check(w Workspace, p *Params) error {
	q, problems := p.query(w, s.Now())
	_, others := Resolve(q, w, s.Now())
	if problems = append(problems, others...); len(problems) > 0 {
		return invalidParameters(problems)
	}
	return nil
}

// describeSubjects loads the records that the rows are about.
func (s *Service) describeSubjects(ctx context.Context, w Workspace, a *Answer) error {
	kind := recordKinds[subjects[a.report.Kind].dimension]
	if kind == "" {
		return nil
	}
	var ids []ident.ID
	for i := range a.rows {
		if v := &a.rows[i].values[0]; !v.null() {
			ids = append(ids, ident.ID(v.ID))
		}
	}
	if len(ids) == 0 {
		return nil
	}
	list, err := s.Records.Records(ctx, w.ID, kind, ids)
	if err != nil {
		return fmt.Errorf("read records: %w", err)
	}
	a.records = make(map[ident.ID]fact.Record, len(list))
	for _, r := range list {
		a.records[r.ID] = r
	}
	return nil
}

// query returns the equivalent query.
func (p *Params) query(w Workspace, now time.Time) (*Query, []fault.Detail) {
	limit := int64(p.Limit)
	if limit == 0 {
		limit = page.DefaultLimit
	}
	c := &resolver{}
	about := &reportOptions{Kind: p.Kind, Sort: p.Sort, Desc: p.Order != "asc"}
	q := &Query{Limit: &limit, Cursor: p.Cursor, report: about}
	if p.Cursor != nil && p.isPageOnly() {
		return q, nil
	}
	q.Metrics, q.Range, q.Granularity, q.Timezone, q.Currency = p.Metrics, p.days(w, now), p.Granularity, p.Timezone, p.Currency
	if q.Metrics == nil {
		q.Metrics = DefaultMetrics
	}
	if d := subjects[p.Kind].dimension; d != "" {
		q.Dimensions = []string{d}
	} else {
		limit = MaxLimit
	}
	if p.Compare != nil {
		q.Compare = &Compare{To: *p.Compare}
		if q.Compare.To == "custom" {
			c.unknown("compare", "custom", "must be previous_period or previous_year.", Comparisons[:2])
			q.Compare = nil
		}
	}
	statuses := p.Statuses
	switch p.Kind {
	case KindCreative, KindAudiences:
		about.Statuses, statuses = statuses, nil
	case KindOverview, KindChannels:
		if statuses != nil {
			c.bad("status", "unknown_parameter", "is not a parameter of this report.", nil)
		}
	case KindCampaigns:
	}
	q.Filters = allOf(oneOf("channel", "channel", p.Channels), oneOf("platform", "platform", p.Platforms), oneOf("status", "campaign_status", statuses))
	if about.Sort == "" {
		about.Sort = fact.Spend.String()
	}
	if about.Sort != sortByName && metrics[about.Sort] == nil {
		c.unknown("sort", about.Sort, "must be name or a metric.", append([]string{sortByName}, metricNames...))
	}
	if p.Order != "" && p.Order != "asc" && p.Order != "desc" {
		c.unknown("order", p.Order, "must be asc or desc.", []string{"asc", "desc"})
	}
	return q, c.problems
}

// isPageOnly reports whether the parameters have only limit and cursor.
func (p *Params) isPageOnly() bool {
	return p.StartDate == nil && p.EndDate == nil && p.Metrics == nil && p.Granularity == nil && p.Compare == nil && p.Channels == nil &&
		p.Platforms == nil && p.Statuses == nil && p.Currency == nil && p.Timezone == nil && p.Sort == "" && p.Order == ""
}

// oneOf returns a condition that a field has one of the values, or nil without
// values.
func oneOf(path, field string, values []string) *Filter {
	if len(values) == 0 {
		return nil
	}
	f := &Filter{Field: field, Op: string(In), Path: path}
	for _, v := range values {
		f.Values = append(f.Values, Scalar{Text: v})
	}
	return f
}

// allOf combines the conditions that are not nil.
func allOf(list ...*Filter) *Filter {
	all := &Filter{}
	for _, f := range list {
		if f != nil {
			all.And = append(all.And, *f)
		}
	}
	if all.And == nil {
		return nil
	}
	return all
}

// days returns the requested range, or nil for the default. If only one end is
// set, the default end is yesterday and the default length 30 days.
func (p *Params) days(w Workspace, now time.Time) *Range {
	if p.StartDate == nil && p.EndDate == nil {
		return nil
	}
	name := w.Timezone
	if p.Timezone != nil {
		name = *p.Timezone
	}
	zone, err := clock.Zone(name)
	if err != nil {
		zone = time.UTC
	}
	r := &Range{Start: p.StartDate, End: p.EndDate}
	if r.End == nil {
		last := clock.DateIn(now, zone) - 1
		if first, ok := clock.ParseDate(*r.Start); ok {
			last = max(first, last)
		}
		text := last.String()
		r.End = &text
	}
	if r.Start == nil {
		last, ok := clock.ParseDate(*r.End)
		if !ok {
			// Any valid start works, so that only the end is reported.
			last = clock.DateIn(now, zone)
		}
		text := (last - 29).String()
		r.Start = &text
	}
	return r
}

// paramCodes maps codes of body fields to codes of parameters.
var paramCodes = map[string]string{
	"too_large": "out_of_range", "too_small": "out_of_range", "too_long": "out_of_range", "too_short": "out_of_range", "too_many_items": "out_of_range",
	"too_few_items": "out_of_range", "duplicate_item": "invalid_value", "required": "invalid_value", "incompatible_fields": "invalid_value",
}

// invalidParameters rewrites the problems of a query with the names of the
// report's parameters.
func invalidParameters(problems []fault.Detail) error {
	for i := range problems {
		d := &problems[i]
		name := strings.TrimPrefix(d.Field, "date_range.")
		name = name[:strings.IndexAny(name+".", ".[")]
		switch name {
		case "date_range":
			name = "start_date"
		case "filters":
			// The report sorts by pacing, which its metrics do not name.
			name = "sort"
		}
		if code := paramCodes[d.Code]; code != "" {
			d.Code = code
		}
		subject := name
		if d.Field == "date_range" {
			subject = "start_date to end_date"
		}
		d.Message = subject + strings.TrimPrefix(d.Message, d.Field)
		if d.Meta["start_date"] != nil {
			// All lists use this code and message.
			name, d.Code, d.Message, d.Meta = "start_date", "invalid_range", "start_date must not be after end_date.", nil
		}
		d.Field, d.In = name, "query"
	}
	if err := invalidQuery(problems); fault.Is(err, fault.QueryTooBroad) {
		return err
	}
	return fault.BadQuery(problems)
}

// appendReport appends the answer of a report as JSON.
func (a *Answer) appendReport(b []byte) []byte {
	if a.report.Kind == KindOverview {
		return a.appendOverview(b)
	}
	b = append(b, `{"data":[`...)
	for i := range a.rows {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '{')
		if a.layout.dated {
			b = a.rows[i].appendDate(b)
		}
		b = a.appendSubject(b, &a.rows[i].values[0])
		b = a.layout.appendMetrics(b, &a.rows[i])
		b = a.appendEnd(b, &a.rows[i])
	}
	return a.appendPageMembers(append(b, ']'))
}

func (a *Answer) appendEnd(b []byte, r *row) []byte {
	if r.partial {
		b = append(b, `,"partial":true`...)
	}
	return append(b, '}')
}

// appendSubject appends the subject of a row.
func (a *Answer) appendSubject(b []byte, v *Value) []byte {
	b = append(appendMember(b, subjects[a.report.Kind].member), '{')
	b = appendNullable(append(b, `"id":`...), v.ID, v.null())
	b = appendNullable(append(b, `,"name":`...), v.name(), v.name() == "")
	if a.report.Kind != KindChannels {
		record := a.records[ident.ID(v.ID)]
		b = appendNullable(append(b, `,"status":`...), record.Status, record.Status == "")
		b = appendNullable(append(b, `,"external_id":`...), v.External, v.External == "")
	}
	return append(b, '}')
}

func (a *Answer) appendOverview(b []byte) []byte {
	b = a.appendTotals(append(b, `{"data":{`...))
	if a.layout.dated {
		b = append(b, `,"series":[`...)
		for i := range a.rows {
			if i > 0 {
				b = append(b, ',')
			}
			b = a.rows[i].appendDate(append(b, '{'))
			b = a.appendEnd(a.layout.appendMetrics(b, &a.rows[i]), &a.rows[i])
		}
		b = append(b, ']')
	}
	b = append(append(b, `},"meta":`...), a.meta...)
	return append(b, '}')
}
