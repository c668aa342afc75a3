package httpapi

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"fanfare/internal/body"
	"fanfare/internal/clock"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/nearest"
	"fanfare/internal/page"
)

// listing defines the parameters of a list operation.
type listing struct {
	// sorts are the allowed sort fields, the default first.
	sorts []string
	// ascending makes asc the default order.
	ascending bool
	// statuses are the values of the status filter, empty for none.
	statuses []string
	filters  []filter
	// byMetric allows sort=metric.
	byMetric bool
}

// filter is a filter parameter of one list.
type filter struct {
	name string
	// allowed are the values of an enumerated filter. A caller may send
	// several, separated by commas.
	allowed []string
	// prefix is the prefix of the id that the filter takes.
	prefix string
	// lower converts the value to lower case.
	lower bool
	// longest is the maximum number of characters of free text.
	longest int
	// single allows only one of the allowed values.
	single bool
}

// params are the parameters of a query string and the problems found in them.
type params struct {
	values   map[string]string
	problems []fault.Detail
}

// paramsOf returns the params of values that are already parsed, such as those
// in a cursor.
func paramsOf(values url.Values) *params {
	p := &params{values: map[string]string{}}
	for name := range values {
		p.values[name] = values.Get(name)
	}
	return p
}

func (p *params) bad(name, code, message string, meta fault.Meta) {
	p.problems = append(p.problems, fault.Detail{Field: name, In: "query", Code: code, Message: name + " " + message, Meta: meta})
}

func (p *params) err() error {
	if len(p.problems) == 0 {
		return nil
	}
	return fault.BadQuery(p.problems)
}

// readQuery returns the value of each parameter. It rejects unknown and
// repeated parameters.
func readQuery(values url.Values, known []string) (map[string]string, error) {
	p := params{values: map[string]string{}}
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		list := values[name]
		switch {
		case !slices.Contains(known, name):
			meta, hint := fault.Meta(nil), ""
			switch near := nearest.Word(name, known); {
			case near != "":
				meta, hint = fault.Meta{"did_you_mean": near}, " Did you mean "+near+"?"
			case slices.Contains(known, paramAliases[name]):
				meta, hint = fault.Meta{"did_you_mean": paramAliases[name]}, " Use "+paramAliases[name]+paramUsage[paramAliases[name]]+"."
			}
			p.bad(fault.Clip(name), "unknown_parameter", "is not a parameter of this operation."+hint, meta)
		case len(list) > 1:
			p.bad(name, "duplicate_parameter", "is given more than once.", nil)
		case !utf8.ValidString(list[0]) || strings.ContainsFunc(list[0], func(r rune) bool { return r < ' ' }):
			p.bad(name, "invalid_format", "contains bytes that are not text.", nil)
		default:
			p.values[name] = list[0]
		}
	}
	return p.values, p.err()
}

// known lists the parameters of the list.
func (l *listing) known() []string {
	names := []string{"limit", "cursor", "sort", "order", "start_date", "end_date", "timezone"}
	if len(l.statuses) > 0 {
		names = append(names, "status")
	}
	for _, f := range l.filters {
		names = append(names, f.name)
	}
	if l.byMetric {
		names = append(names, metricParams...)
	}
	return names
}

// listQuery reads the query string of a list. With a cursor, the parameters
// inside it apply; parameters sent beside it must be equal. It also returns the
// canonical parameters for the next cursor.
func (a *API) listQuery(r *request, l *listing) (page.Query, string, error) {
	values, err := r.query(l.known()...)
	if err != nil {
		return page.Query{}, "", err
	}
	p := &params{values: values}
	limit := p.limit()
	text, has := values["cursor"]
	if !has {
		q, canonical := p.read(l, r.caller.Workspace.Timezone)
		q.Limit = limit
		return q, canonical.Encode(), p.err()
	}
	if err := p.err(); err != nil {
		return page.Query{}, "", err
	}
	c, ok := a.Cursors().Open(r.caller.Workspace.ID, r.route.operation, text)
	if !ok {
		return page.Query{}, "", badCursor("cursor", "cursor_malformed", "The cursor is not one of this list in this workspace. Start the list again without it.")
	}
	inside, err := url.ParseQuery(c.Params)
	if err != nil {
		return page.Query{}, "", badCursor("cursor", "cursor_malformed", "The cursor cannot be read. Start the list again without it.")
	}
	if err := sameQuery(p, inside, l, r.caller.Workspace.Timezone); err != nil {
		return page.Query{}, "", err
	}
	kept := paramsOf(inside)
	q, _ := kept.read(l, r.caller.Workspace.Timezone)
	q.Limit, q.After = limit, &c.After
	return q, c.Params, kept.err()
}

func badCursor(field, code, message string) error {
	return fault.New(fault.InvalidCursor, message, fault.Detail{Field: field, In: "query", Code: code, Message: message})
}

// sameQuery checks that the parameters sent beside a cursor equal those inside
// it.
func sameQuery(sent *params, inside url.Values, l *listing, zone string) error {
	beside := map[string]string{}
	for name, v := range sent.values {
		if name != "cursor" && name != "limit" {
			beside[name] = v
		}
	}
	if len(beside) == 0 {
		return nil
	}
	other := &params{values: beside}
	_, canonical := other.read(l, zone)
	if err := other.err(); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(beside)) {
		if canonical.Get(name) != inside.Get(name) {
			return badCursor(name, "cursor_query_mismatch", "The cursor belongs to a list with another "+name+". Send the same parameters as for the first page, or none.")
		}
	}
	return nil
}

func (p *params) limit() int {
	text, has := p.values["limit"]
	if !has {
		return page.DefaultLimit
	}
	for _, c := range []byte(text) {
		if c < '0' || c > '9' {
			text = ""
		}
	}
	n, err := strconv.Atoi(text)
	switch {
	case text == "":
		p.bad("limit", "invalid_type", "must be a whole number in plain digits.", nil)
	case err != nil || n < 1 || n > page.MaxLimit:
		p.bad("limit", "out_of_range", fmt.Sprintf("must be from 1 to %d.", page.MaxLimit), fault.Meta{"minimum": 1, "maximum": page.MaxLimit})
	}
	return n
}

// read reads all parameters except limit and cursor. It also returns their
// canonical form.
func (p *params) read(l *listing, zone string) (q page.Query, canonical url.Values) {
	canonical = url.Values{}
	q.Sort = p.choice("sort", l.sorts, l.sorts[0])
	order := "desc"
	if l.ascending {
		order = "asc"
	}
	order = p.choice("order", []string{"asc", "desc"}, order)
	q.Desc = order == "desc"
	canonical.Set("sort", q.Sort)
	canonical.Set("order", order)
	if len(l.statuses) > 0 {
		q.Status = p.status(l.statuses, canonical)
	}
	q.From, q.Until = p.dates(zone, canonical)
	for _, f := range l.filters {
		if values := p.filter(f, canonical); values != nil {
			q.Filters = append(q.Filters, page.Filter{Name: f.name, Values: values})
		}
	}
	if l.byMetric {
		p.metric(q.Sort, canonical)
	}
	return q, canonical
}

func (p *params) choice(name string, allowed []string, fallback string) string {
	v, has := p.values[name]
	switch {
	case !has:
		return fallback
	case !slices.Contains(allowed, v):
		p.notAllowed(name, v, allowed)
		return fallback
	}
	return v
}

func (p *params) notAllowed(name, v string, allowed []string) {
	message, meta := body.NotOneOf(v, allowed)
	p.bad(name, "invalid_value", message, meta)
}

// readSet reads a comma-separated set of allowed values, sorted.
func (p *params) readSet(name string, allowed []string) []string {
	v, has := p.values[name]
	if !has {
		return nil
	}
	list := strings.Split(v, ",")
	for _, item := range list {
		if !slices.Contains(allowed, item) {
			p.notAllowed(name, item, allowed)
			return nil
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func (p *params) status(statuses []string, canonical url.Values) []string {
	list := p.readSet("status", append(slices.Clone(statuses), "all"))
	if list == nil {
		return nil
	}
	canonical.Set("status", strings.Join(list, ","))
	if slices.Contains(list, "all") {
		canonical.Set("status", "all")
		return []string{}
	}
	return list
}

func (p *params) filter(f filter, canonical url.Values) []string {
	v, has := p.values[f.name]
	if !has {
		return nil
	}
	var list []string
	switch {
	case f.single && !slices.Contains(f.allowed, v):
		p.notAllowed(f.name, v, f.allowed)
	case f.allowed != nil:
		list = p.readSet(f.name, f.allowed)
	case f.prefix != "" && !ident.Valid(f.prefix, v):
		p.bad(f.name, "invalid_format", "must be an id that starts with "+f.prefix+"_.", nil)
	case strings.TrimSpace(v) == "" || utf8.RuneCountInString(v) > f.longest && f.longest > 0:
		p.bad(f.name, "out_of_range", fmt.Sprintf("must have 1 to %d characters.", f.longest), fault.Meta{"minimum": 1, "maximum": f.longest})
	case f.lower:
		list = []string{strings.ToLower(v)}
	default:
		list = []string{v}
	}
	canonical.Set(f.name, strings.Join(list, ","))
	return list
}

// dates reads start_date and end_date. As dates, both days are included; as
// date-times, the end is excluded.
func (p *params) dates(zone string, canonical url.Values) (from, until *clock.Instant) {
	if v, has := p.values["timezone"]; has {
		zone = v
		canonical.Set("timezone", v)
	}
	loc, err := clock.Zone(zone)
	if err != nil {
		p.bad("timezone", "invalid_value", "must be an IANA time zone such as Europe/Berlin.", nil)
		return nil, nil
	}
	from, _ = p.date("start_date", loc, canonical)
	until, day := p.date("end_date", loc, canonical)
	if day != nil {
		until = day
	}
	// An end day that ends exactly at the start is the day before the start.
	if from != nil && until != nil && (*from > *until || day != nil && *from == *until) {
		p.bad("start_date", "invalid_range", "must not be after end_date.", fault.Meta{"end_date": p.values["end_date"]})
	}
	return from, until
}

// date reads a date or a date-time. For a date, at is the start of that day and
// end the start of the next day.
func (p *params) date(name string, loc *time.Location, canonical url.Values) (at, end *clock.Instant) {
	v, has := p.values[name]
	if !has {
		return nil, nil
	}
	canonical.Set(name, v)
	if start, next, ok := clock.ParseDay(v, loc); ok {
		first, after := clock.At(start), clock.At(next)
		return &first, &after
	}
	if i, ok := clock.Parse(v); ok {
		return &i, nil
	}
	if day := body.NoSuchDay(v); day != "" {
		p.bad(name, "invalid_format", body.DayMissing(day), fault.Meta{"value": day})
		return nil, nil
	}
	message := "must be a day (2026-11-15) or an RFC 3339 date-time with an offset (2026-11-15T09:00:00Z)."
	if strings.Contains(v, " ") {
		message += " A raw + in a URL arrives as a space: write Z or %2B."
	}
	p.bad(name, "invalid_format", message, nil)
	return nil, nil
}
