package sandbox

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
)

// googleLine is one line of an answer before its fields are chosen.
type googleLine struct {
	s *Session
	a *Account
	Row
	audience *Audience
}

// googleResource is what can be asked about.
type googleResource struct {
	// with are the resources whose fields may be selected.
	with string
	// list are its lines without figures.
	list func(s *Session, a *Account) iter.Seq[googleLine]
	// level has its figures, with device set where it is asked by device.
	level   Level
	figures bool
	// grouped says that it is about groups of ads: what runs without one is
	// not in it.
	grouped bool
}

var googleResources = map[string]googleResource{
	"customer":           {with: "customer", list: listCustomer, level: ByAccount, figures: true},
	"customer_client":    {with: "customer_client customer", list: listCustomer},
	"campaign":           {with: "campaign customer", list: listCampaigns, level: ByCampaign, figures: true},
	"ad_group":           {with: "ad_group campaign customer", list: listGroups, level: ByAd, figures: true, grouped: true},
	"ad_group_ad":        {with: "ad_group_ad ad_group campaign customer", list: listAds, level: ByAd, figures: true, grouped: true},
	"ad_group_criterion": {with: "ad_group_criterion ad_group campaign customer", list: listCriteria},
	"user_list":          {with: "user_list customer", list: listUserLists},
	"geographic_view":    {with: "geographic_view ad_group campaign customer", level: ByCountry, figures: true},
	"age_range_view":     {with: "age_range_view ad_group_criterion ad_group campaign customer", level: ByAgeAndGender, figures: true, grouped: true},
	"gender_view":        {with: "gender_view ad_group_criterion ad_group campaign customer", level: ByAgeAndGender, figures: true, grouped: true},
}

// googleMetrics are the figures that there are.
var googleMetrics = map[string]fact.Measure{
	"metrics.impressions": fact.Impressions, "metrics.clicks": fact.Clicks, "metrics.cost_micros": fact.Spend,
	"metrics.conversions": fact.Conversions, "metrics.conversions_value": fact.Revenue, "metrics.video_trueview_views": fact.VideoViews,
}

// askGoogle finds the lines that a query asks for.
func askGoogle(s *Session, a *Account, query string) (*gaql, []googleLine, *googleFailure) {
	q, failure := readGAQL(query)
	if failure != nil {
		return nil, nil, failure
	}
	resource, failure := q.check()
	if failure != nil {
		return nil, nil, failure
	}
	figures := q.wants("metrics.") || q.wants("segments.")
	if figures && s.Fault(FaultTooLarge) {
		return nil, nil, queryError("DATE_RANGE_TOO_WIDE", "The date range is too wide.")
	}
	lines := q.lines(s, a, resource, figures)
	q.sort(lines)
	if q.limit > 0 && len(lines) > q.limit {
		lines = lines[:q.limit]
	}
	return q, lines, nil
}

// chunk is a part of the lines as it is answered.
func (q *gaql) chunk(lines []googleLine) googleChunk {
	c := googleChunk{Results: make([]any, len(lines))}
	for i := range lines {
		c.Results[i] = q.write(&lines[i])
	}
	mask := make([]string, len(q.fields))
	for i, field := range q.fields {
		mask[i] = camel(field)
	}
	c.FieldMask = strings.Join(mask, ",")
	return c
}

// mentioned are all fields of a query.
func (q *gaql) mentioned() []string {
	fields := slices.Clone(q.fields)
	for _, c := range q.where {
		fields = append(fields, c.field)
	}
	for _, o := range q.order {
		fields = append(fields, o.field)
	}
	return fields
}

func (q *gaql) wants(prefix string) bool {
	return slices.ContainsFunc(q.mentioned(), func(field string) bool { return strings.HasPrefix(field, prefix) })
}

// check sees that the resource is there and has the fields.
func (q *gaql) check() (googleResource, *googleFailure) {
	resource, ok := googleResources[q.from]
	if !ok {
		return resource, queryError("BAD_RESOURCE_TYPE_IN_FROM_CLAUSE", "There is no resource "+strconv.Quote(q.from)+".")
	}
	for _, field := range q.mentioned() {
		of, _, _ := strings.Cut(field, ".")
		_, metric := googleMetrics[field]
		_, attribute := googleFields[field]
		switch {
		case !metric && !attribute:
			return resource, queryError("UNRECOGNIZED_FIELD", "Unrecognized field in the query: "+strconv.Quote(field)+".")
		case (of == "metrics" || of == "segments") && !resource.figures:
			return resource, queryError("PROHIBITED_METRIC_IN_SELECT_OR_WHERE_CLAUSE", field+" does not go with "+q.from+".")
		case field == "segments.device" && q.level(resource) != ByDevice:
			return resource, queryError("PROHIBITED_SEGMENT_IN_SELECT_OR_WHERE_CLAUSE", field+" does not go with "+q.from+".")
		case of != "metrics" && of != "segments" && !slices.Contains(strings.Fields(resource.with), of):
			return resource, queryError("PROHIBITED_RESOURCE_TYPE_IN_SELECT_CLAUSE", field+" does not go with "+q.from+".")
		}
	}
	for _, c := range q.where {
		if strings.HasPrefix(c.field, "segments.") && c.field != "segments.date" && !slices.Contains(q.fields, c.field) {
			return resource, queryError("EXPECTED_REFERENCED_FIELD_IN_SELECT_CLAUSE", c.field+" must be selected to be asked for.")
		}
	}
	return resource, nil
}

// level is the one that has the figures asked for.
func (q *gaql) level(resource googleResource) Level {
	if q.wants("segments.device") && resource.level <= ByAd && q.from != "ad_group_ad" {
		return ByDevice
	}
	return resource.level
}

// lines are those of the answer: what fits the conditions, added up by all
// that is selected and is no figure.
func (q *gaql) lines(s *Session, a *Account, resource googleResource, figures bool) []googleLine {
	if !figures {
		lines := []googleLine{}
		for line := range resource.list(s, a) {
			if q.fits(&line, false) {
				lines = append(lines, line)
			}
		}
		return lines
	}
	first, last := q.days(a.First, s.Today(a))
	lines := []googleLine{}
	at := map[string]int{}
	grouped := resource.grouped || q.wants("ad_group.")
	for row := range s.Rows(a, q.level(resource), first, last) {
		switch q.from {
		case "age_range_view":
			row.Gender = ""
		case "gender_view":
			row.AgeRange = ""
		}
		line := googleLine{s: s, a: a, Row: row}
		if grouped && row.Group == nil || !q.fits(&line, false) {
			continue
		}
		key := q.key(&line)
		i, there := at[key]
		if !there {
			i = len(lines)
			at[key] = i
			lines = append(lines, line)
			continue
		}
		for m := range fact.Measure(fact.NumMeasures) {
			if n, known := row.Values.Get(m); known {
				lines[i].Values.Set(m, lines[i].Values.V[m]+n)
			}
		}
	}
	return slices.DeleteFunc(lines, func(line googleLine) bool { return !q.fits(&line, true) })
}

// days bounds the days to be read, for speed; conditions are checked anyway.
func (q *gaql) days(first, last clock.Date) (clock.Date, clock.Date) {
	for _, c := range q.where {
		if c.field != "segments.date" {
			continue
		}
		low, _ := clock.ParseDate(slices.Min(c.values))
		high, _ := clock.ParseDate(slices.Max(c.values))
		switch c.operator {
		case "=", "IN", "BETWEEN":
			first, last = max(first, low), min(last, high)
		case ">", ">=":
			first = max(first, low)
		case "<", "<=":
			last = min(last, high)
		}
	}
	return first, last
}

// fits checks the conditions on figures, or those on all else.
func (q *gaql) fits(line *googleLine, figures bool) bool {
	for _, c := range q.where {
		if _, metric := googleMetrics[c.field]; metric == figures && !c.holds(line.text(c.field)) {
			return false
		}
	}
	return true
}

// key tells lines apart: by the resource itself and by what is selected.
func (q *gaql) key(line *googleLine) string {
	parts := []string{line.name(q.from)}
	for _, field := range q.fields {
		if _, metric := googleMetrics[field]; !metric {
			parts = append(parts, line.text(field))
		}
	}
	return strings.Join(parts, "\x00")
}

func (q *gaql) sort(lines []googleLine) {
	slices.SortStableFunc(lines, func(a, b googleLine) int {
		for _, o := range q.order {
			if c := compareGAQL(a.text(o.field), b.text(o.field)); c != 0 {
				if o.descending {
					return -c
				}
				return c
			}
		}
		return 0
	})
}

// value is what a field has, nil for nothing.
func (l *googleLine) value(field string) any {
	if m, ok := googleMetrics[field]; ok {
		n, known := l.Values.Get(m)
		switch {
		case !known:
			return nil
		case m == fact.Conversions || m == fact.Revenue:
			return jsontext.Value(fact.Millionths(n).String())
		}
		return strconv.FormatInt(n, 10)
	}
	return googleFields[field](l)
}

func (l *googleLine) text(field string) string { return fmt.Sprint(l.value(field)) }

// write is the line as Google writes it: resources as objects in objects, each
// with its name.
func (q *gaql) write(line *googleLine) any {
	object := map[string]any{}
	for _, field := range q.fields {
		v := line.value(field)
		if v == nil {
			continue
		}
		path := strings.Split(camel(field), ".")
		in := object
		for _, name := range path[:len(path)-1] {
			if in[name] == nil {
				in[name] = map[string]any{}
			}
			in = in[name].(map[string]any)
		}
		in[path[len(path)-1]] = v
		resource, _, _ := strings.Cut(field, ".")
		if name := line.name(resource); name != "" {
			object[path[0]].(map[string]any)["resourceName"] = name
		}
	}
	return object
}

// camel writes a name such as cost_micros as costMicros.
func camel(name string) string {
	words := strings.Split(name, "_")
	for i, word := range words[1:] {
		if word != "" {
			words[i+1] = strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return strings.Join(words, "")
}
