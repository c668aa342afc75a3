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

// googleRow is one row of an answer before fields are selected.
type googleRow struct {
	s *Call
	a *Account
	Row
	audience *Audience
}

// googleResource is a resource that can be queried.
type googleResource struct {
	// selectable are the resources whose fields may be selected.
	selectable string
	// rows returns its rows without metrics.
	rows func(s *Call, a *Account) iter.Seq[googleRow]
	// level has its metrics; with device if the query selects it.
	level      Level
	hasMetrics bool
	// grouped says that it is by ad group: campaigns without ad groups are not
	// in it.
	grouped bool
}

var googleResources = map[string]googleResource{
	"customer":           {selectable: "customer", rows: listCustomer, level: ByAccount, hasMetrics: true},
	"customer_client":    {selectable: "customer_client customer", rows: listCustomer},
	"campaign":           {selectable: "campaign customer", rows: listCampaigns, level: ByCampaign, hasMetrics: true},
	"ad_group":           {selectable: "ad_group campaign customer", rows: listGroups, level: ByAd, hasMetrics: true, grouped: true},
	"ad_group_ad":        {selectable: "ad_group_ad ad_group campaign customer", rows: listAds, level: ByAd, hasMetrics: true, grouped: true},
	"ad_group_criterion": {selectable: "ad_group_criterion ad_group campaign customer", rows: listCriteria},
	"user_list":          {selectable: "user_list customer", rows: listUserLists},
	"geographic_view":    {selectable: "geographic_view ad_group campaign customer", level: ByCountry, hasMetrics: true},
	"age_range_view":     {selectable: "age_range_view ad_group_criterion ad_group campaign customer", level: ByAgeAndGender, hasMetrics: true, grouped: true},
	"gender_view":        {selectable: "gender_view ad_group_criterion ad_group campaign customer", level: ByAgeAndGender, hasMetrics: true, grouped: true},
}

// googleMetrics maps Google's metrics to measures.
var googleMetrics = map[string]fact.Measure{
	"metrics.impressions": fact.Impressions, "metrics.clicks": fact.Clicks, "metrics.cost_micros": fact.Spend,
	"metrics.conversions": fact.Conversions, "metrics.conversions_value": fact.Revenue, "metrics.video_trueview_views": fact.VideoViews,
}

// runGAQL returns the rows of a query.
func runGAQL(s *Call, a *Account, query string) (*gaql, []googleRow, *googleFailure) {
	q, failure := parseGAQL(query)
	if failure != nil {
		return nil, nil, failure
	}
	resource, failure := q.validate()
	if failure != nil {
		return nil, nil, failure
	}
	withMetrics := q.usesPrefix("metrics.") || q.usesPrefix("segments.")
	if withMetrics && s.Fault(FaultTooLarge) {
		return nil, nil, queryError("DATE_RANGE_TOO_WIDE", "The date range is too wide.")
	}
	lines := q.resultRows(s, a, resource, withMetrics)
	q.sortRows(lines)
	if q.limit > 0 && len(lines) > q.limit {
		lines = lines[:q.limit]
	}
	return q, lines, nil
}

// chunk returns a part of the rows in the format of an answer.
func (q *gaql) chunk(lines []googleRow) googleChunk {
	c := googleChunk{Results: make([]any, len(lines))}
	for i := range lines {
		c.Results[i] = q.encodeRow(&lines[i])
	}
	mask := make([]string, len(q.fields))
	for i, field := range q.fields {
		mask[i] = camelCase(field)
	}
	c.FieldMask = strings.Join(mask, ",")
	return c
}

// allFields returns all fields of a query.
func (q *gaql) allFields() []string {
	fields := slices.Clone(q.fields)
	for _, c := range q.where {
		fields = append(fields, c.field)
	}
	for _, o := range q.order {
		fields = append(fields, o.field)
	}
	return fields
}

func (q *gaql) usesPrefix(prefix string) bool {
	return slices.ContainsFunc(q.allFields(), func(field string) bool { return strings.HasPrefix(field, prefix) })
}

// validate checks that the resource exists and has the fields.
func (q *gaql) validate() (googleResource, *googleFailure) {
	resource, ok := googleResources[q.from]
	if !ok {
		return resource, queryError("BAD_RESOURCE_TYPE_IN_FROM_CLAUSE", "There is no resource "+strconv.Quote(q.from)+".")
	}
	for _, field := range q.allFields() {
		of, _, _ := strings.Cut(field, ".")
		_, metric := googleMetrics[field]
		_, attribute := googleFields[field]
		switch {
		case !metric && !attribute:
			return resource, queryError("UNRECOGNIZED_FIELD", "Unrecognized field in the query: "+strconv.Quote(field)+".")
		case (of == "metrics" || of == "segments") && !resource.hasMetrics:
			return resource, queryError("PROHIBITED_METRIC_IN_SELECT_OR_WHERE_CLAUSE", field+" does not go with "+q.from+".")
		case field == "segments.device" && q.rowLevel(resource) != ByDevice:
			return resource, queryError("PROHIBITED_SEGMENT_IN_SELECT_OR_WHERE_CLAUSE", field+" does not go with "+q.from+".")
		case of != "metrics" && of != "segments" && !slices.Contains(strings.Fields(resource.selectable), of):
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

// rowLevel returns the level with the requested metrics.
func (q *gaql) rowLevel(resource googleResource) Level {
	if q.usesPrefix("segments.device") && resource.level <= ByAd && q.from != "ad_group_ad" {
		return ByDevice
	}
	return resource.level
}

// resultRows returns the rows of the answer: those that match the conditions,
// added up by all selected fields that are not metrics.
func (q *gaql) resultRows(s *Call, a *Account, resource googleResource, withMetrics bool) []googleRow {
	if !withMetrics {
		lines := []googleRow{}
		for line := range resource.rows(s, a) {
			if q.matches(&line, false) {
				lines = append(lines, line)
			}
		}
		return lines
	}
	first, last := q.dateBounds(a.First, s.Today(a))
	lines := []googleRow{}
	at := map[string]int{}
	grouped := resource.grouped || q.usesPrefix("ad_group.")
	for row := range s.Rows(a, q.rowLevel(resource), first, last) {
		switch q.from {
		case "age_range_view":
			row.Gender = ""
		case "gender_view":
			row.AgeRange = ""
		}
		line := googleRow{s: s, a: a, Row: row}
		if grouped && row.Group == nil || !q.matches(&line, false) {
			continue
		}
		key := q.rowKey(&line)
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
	return slices.DeleteFunc(lines, func(line googleRow) bool { return !q.matches(&line, true) })
}

// dateBounds narrows the days to read, for speed. Conditions are checked
// anyway.
func (q *gaql) dateBounds(first, last clock.Date) (clock.Date, clock.Date) {
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

// matches checks the conditions on metrics if onMetrics is set, else all others.
func (q *gaql) matches(line *googleRow, onMetrics bool) bool {
	for _, c := range q.where {
		if _, metric := googleMetrics[c.field]; metric == onMetrics && !c.matches(line.text(c.field)) {
			return false
		}
	}
	return true
}

// rowKey identifies a row by the resource and the selected fields.
func (q *gaql) rowKey(line *googleRow) string {
	parts := []string{line.resourceName(q.from)}
	for _, field := range q.fields {
		if _, metric := googleMetrics[field]; !metric {
			parts = append(parts, line.text(field))
		}
	}
	return strings.Join(parts, "\x00")
}

func (q *gaql) sortRows(lines []googleRow) {
	slices.SortStableFunc(lines, func(a, b googleRow) int {
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

// value returns the value of a field, nil for none.
func (l *googleRow) value(field string) any {
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

func (l *googleRow) text(field string) string { return fmt.Sprint(l.value(field)) }

// encodeRow returns the row in Google's format: nested objects, each with its
// resource name.
func (q *gaql) encodeRow(line *googleRow) any {
	object := map[string]any{}
	for _, field := range q.fields {
		v := line.value(field)
		if v == nil {
			continue
		}
		path := strings.Split(camelCase(field), ".")
		in := object
		for _, name := range path[:len(path)-1] {
			if in[name] == nil {
				in[name] = map[string]any{}
			}
			in = in[name].(map[string]any)
		}
		in[path[len(path)-1]] = v
		resource, _, _ := strings.Cut(field, ".")
		if name := line.resourceName(resource); name != "" {
			object[path[0]].(map[string]any)["resourceName"] = name
		}
	}
	return object
}

// camelCase converts a name such as cost_micros to costMicros.
func camelCase(name string) string {
	words := strings.Split(name, "_")
	for i, word := range words[1:] {
		if word != "" {
			words[i+1] = strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return strings.Join(words, "")
}
