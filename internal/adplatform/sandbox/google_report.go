package sandbox

import (
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
)

// googleRow is one row of an answer before fields are selected.
type googleRow struct {
	s        *Call
	tree     googleTree
	customer *googleCustomer
	// a is the account of the customer.
	a *Account
	Row
	audience *Audience
	client   *googleClientRow
	// action is set in rows by conversion action.
	action *googleAction
}

// googleResource is a resource that can be queried.
type googleResource struct {
	// selectable are the resources whose fields may be selected.
	selectable string
	// rows returns its rows without metrics.
	rows func(base googleRow) iter.Seq[googleRow]
	// level has its metrics; with device if the query selects it.
	level      Level
	hasMetrics bool
	// grouped says that it is by ad group: campaigns without ad groups are not
	// in it.
	grouped bool
	// empty says that accounts of the sandbox have no rows.
	empty bool
}

var googleResources = map[string]googleResource{
	"customer":           {selectable: "customer", rows: listCustomer, level: ByAccount, hasMetrics: true},
	"customer_client":    {selectable: "customer_client customer", rows: listClients},
	"campaign":           {selectable: "campaign campaign_budget customer", rows: listCampaigns, level: ByCampaign, hasMetrics: true},
	"campaign_budget":    {selectable: "campaign_budget campaign customer", rows: listCampaigns, level: ByCampaign, hasMetrics: true},
	"asset_group":        {selectable: "asset_group campaign customer", rows: listAssetGroups, level: ByCampaign, hasMetrics: true},
	"ad_group":           {selectable: "ad_group campaign customer", rows: listGroups, level: ByAd, hasMetrics: true, grouped: true},
	"ad_group_ad":        {selectable: "ad_group_ad ad_group campaign customer", rows: listAds, level: ByAd, hasMetrics: true, grouped: true},
	"ad_group_criterion": {selectable: "ad_group_criterion ad_group campaign customer", rows: listCriteria},
	"user_list":          {selectable: "user_list customer", rows: listUserLists},
	"conversion_action":  {selectable: "conversion_action customer", rows: listConversionActions},
	"geographic_view":    {selectable: "geographic_view ad_group campaign customer", level: ByCountry, hasMetrics: true},
	"user_location_view": {selectable: "user_location_view ad_group campaign customer", level: ByCountry, hasMetrics: true},
	"age_range_view":     {selectable: "age_range_view ad_group_criterion ad_group campaign customer", level: ByAgeAndGender, hasMetrics: true, grouped: true},
	"gender_view":        {selectable: "gender_view ad_group_criterion ad_group campaign customer", level: ByAgeAndGender, hasMetrics: true, grouped: true},
}

// runGAQL returns the rows of a query.
func (s *googleCall) runGAQL(query string) (*gaql, []googleRow, *googleFailure) {
	q, failure := parseGAQL(query)
	if failure != nil {
		return nil, nil, failure
	}
	resource, failure := q.validate()
	if failure != nil {
		return nil, nil, failure
	}
	q.resolvePeriods(s.Today(s.customer.account))
	withMetrics := q.usesPrefix("metrics.") || q.usesPrefix("segments.")
	switch {
	case withMetrics && s.customer.manager:
		return nil, nil, queryError("REQUESTED_METRICS_FOR_MANAGER", "Metrics cannot be requested for a manager account. To retrieve metrics, issue separate requests against each client account under the manager account.")
	case withMetrics && s.Fault(FaultTooLarge):
		return nil, nil, queryError("DATE_RANGE_TOO_WIDE", "The date range is too wide.")
	}
	if failure := q.checkRetention(s.Now(), s.customer.account); failure != nil {
		return nil, nil, failure
	}
	lines := q.resultRows(googleRow{s: s.Call, tree: s.tree, customer: s.customer, a: s.customer.account}, resource, withMetrics)
	q.sortRows(lines)
	if q.limit > 0 && len(lines) > q.limit {
		lines = lines[:q.limit]
	}
	return q, lines, nil
}

// googleRetentionMonths is for how long metrics by day are kept.
const googleRetentionMonths = 37

// checkRetention refuses days that are older than Google keeps. Whole months are
// kept longer.
func (q *gaql) checkRetention(now time.Time, a *Account) *googleFailure {
	oldest := clock.DateIn(now.In(a.zone).AddDate(0, -googleRetentionMonths, 0), a.zone)
	first := oldest
	for _, c := range q.where {
		if low, ok := clock.ParseDate(slices.Min(c.values)); ok && c.field == "segments.date" && !strings.HasPrefix(c.operator, "<") {
			first = min(first, low)
		}
	}
	byDay := slices.ContainsFunc(q.fields, func(field string) bool {
		return slices.Contains([]string{"segments.date", "segments.week", "segments.hour", "segments.day_of_week"}, field)
	})
	if first < oldest && (byDay || first != first.FirstOfMonth()) {
		return &googleFailure{
			http.StatusBadRequest, "dateRangeError", "REQUESTED_DATE_GRANULARITY_NOT_SUPPORTED",
			"Daily data is kept for 37 months. Request months, quarters or years for older dates.", nil,
		}
	}
	return nil
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
		resource, ok = emptyResource(q.from)
	}
	if !ok {
		return resource, queryError("BAD_RESOURCE_TYPE_IN_FROM_CLAUSE", "There is no resource "+strconv.Quote(q.from)+".")
	}
	for _, field := range q.allFields() {
		if failure := q.validateField(resource, field); failure != nil {
			return resource, failure
		}
	}
	for _, c := range q.where {
		if strings.HasPrefix(c.field, "segments.") && googleDates[c.field] == nil && !slices.Contains(q.fields, c.field) {
			return resource, queryError("EXPECTED_REFERENCED_FIELD_IN_SELECT_CLAUSE", c.field+" must be selected to be asked for.")
		}
	}
	byDate := slices.ContainsFunc(q.fields, func(field string) bool { return googleDates[field] != nil })
	limited := slices.ContainsFunc(q.where, func(c gaqlCondition) bool { return googleDates[c.field] != nil })
	if byDate && !limited {
		return resource, queryError("EXPECTED_FILTERS_ON_DATE_RANGE", "A query by date needs a condition on dates.")
	}
	return resource, nil
}

// validateField checks that a field goes with the resource.
func (q *gaql) validateField(resource googleResource, field string) *googleFailure {
	of, _, _ := strings.Cut(field, ".")
	switch {
	case !isGoogleMetric(field) && !isGoogleField(field):
		return queryError("UNRECOGNIZED_FIELD", "Unrecognized field in the query: "+strconv.Quote(field)+".")
	case (of == "metrics" || of == "segments") && !resource.hasMetrics:
		return queryError("PROHIBITED_METRIC_IN_SELECT_OR_WHERE_CLAUSE", field+" does not go with "+q.from+".")
	case field == "segments.device" && q.rowLevel(resource) != ByDevice:
		return queryError("PROHIBITED_SEGMENT_IN_SELECT_OR_WHERE_CLAUSE", field+" does not go with "+q.from+".")
	case of == "metrics" && q.usesPrefix("segments.conversion_action") && !fitsConversionSegment(field):
		return queryError("PROHIBITED_SEGMENT_WITH_METRIC_IN_SELECT_OR_WHERE_CLAUSE", field+" does not go with segments of conversion actions.")
	case of != "metrics" && of != "segments" && !slices.Contains(strings.Fields(resource.selectable), of):
		return queryError("PROHIBITED_RESOURCE_TYPE_IN_SELECT_CLAUSE", field+" does not go with "+q.from+".")
	}
	return nil
}

// rowLevel returns the level with the requested metrics.
func (q *gaql) rowLevel(resource googleResource) Level {
	if q.usesPrefix("segments.device") && resource.level <= ByAd && q.from != "ad_group_ad" {
		return ByDevice
	}
	// Networks and positions are those of the campaigns.
	if q.usesPrefix("segments.ad_network_type") || q.usesPrefix("segments.slot") {
		return max(resource.level, ByCampaign)
	}
	return resource.level
}

// resultRows returns the rows of the answer: those that match the conditions,
// added up by all selected fields that are not metrics.
func (q *gaql) resultRows(base googleRow, resource googleResource, withMetrics bool) []googleRow {
	lines := []googleRow{}
	if !withMetrics {
		for line := range resource.rows(base) {
			if q.matches(&line, false) {
				lines = append(lines, line)
			}
		}
		return lines
	}
	if resource.empty || q.usesEmptySegment() {
		return lines
	}
	at := map[string]int{}
	for line := range q.metricRows(base, resource) {
		if !q.matches(&line, false) {
			continue
		}
		key := q.rowKey(&line)
		i, there := at[key]
		if !there {
			at[key] = len(lines)
			lines = append(lines, line)
			continue
		}
		for m := range fact.Measure(fact.NumMeasures) {
			if n, known := line.Values.Get(m); known {
				lines[i].Values.Set(m, lines[i].Values.V[m]+n)
			}
		}
	}
	return slices.DeleteFunc(lines, func(line googleRow) bool { return line.isEmpty() || !q.matches(&line, true) })
}

// isEmpty reports whether a row by conversion action has no conversions. Google
// leaves out rows whose metrics are all zero.
func (l *googleRow) isEmpty() bool {
	count, value := l.conversions(true)
	return l.action != nil && count == 0 && value == 0
}

// usesEmptySegment reports whether the query selects a segment that no row of the
// sandbox has. A segment removes the rows that do not have it.
func (q *gaql) usesEmptySegment() bool {
	return slices.ContainsFunc(q.allFields(), func(field string) bool {
		return googleSegments[field] && googleDates[field] == nil && googleFields[field] == nil
	})
}

// metricRows returns the rows with metrics before conditions.
func (q *gaql) metricRows(base googleRow, resource googleResource) iter.Seq[googleRow] {
	actions := []*googleAction{nil}
	if q.usesPrefix("segments.conversion_action") {
		actions = googleActions(base.s, base.a)
	}
	first, last := q.dateBounds(base.a.First, base.s.Today(base.a))
	level := q.rowLevel(resource)
	grouped := resource.grouped || q.usesPrefix("ad_group.")
	return func(yield func(googleRow) bool) {
		for row := range base.s.Rows(base.a, level, first, last) {
			line := base
			line.Row = row
			if grouped && row.Group == nil || q.from == "asset_group" && !hasAssetGroups(row.Campaign) {
				continue
			}
			if !q.changeRow(&line, level, grouped) {
				continue
			}
			for _, line.action = range actions {
				if !yield(line) {
					return
				}
			}
		}
	}
}

// Switches of views.
const (
	googleViewExceeds = "view_exceeds_campaign"
	googleSegmentGaps = "segment_gaps"
)

// changeRow changes a row as the view of the query has it. It returns false if
// the view does not have the row.
func (q *gaql) changeRow(line *googleRow, level Level, grouped bool) bool {
	switch q.from {
	case "age_range_view":
		line.Gender = ""
	case "gender_view":
		line.AgeRange = ""
	}
	if level < ByCountry {
		return true
	}
	if line.s.Behaves(line.a, googleSegmentGaps) && line.Date%3 == 0 &&
		(line.Device == "tablet" || line.AgeRange == "65+" || line.Country == line.a.countries[0]) {
		return false
	}
	if grouped && line.s.Behaves(line.a, googleViewExceeds) {
		for m, n := range line.Values.V {
			if _, known := line.Values.Get(fact.Measure(m)); known {
				line.Values.Set(fact.Measure(m), n+n/8)
			}
		}
	}
	return true
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
		if isGoogleMetric(c.field) == onMetrics && !c.matches(line.text(c.field)) {
			return false
		}
	}
	return true
}

// rowKey identifies a row by the resource and the selected fields.
func (q *gaql) rowKey(line *googleRow) string {
	parts := []string{line.resourceName(q.from)}
	for _, field := range q.fields {
		if !isGoogleMetric(field) {
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
	if isGoogleMetric(field) {
		return l.metric(field)
	}
	return l.fieldValue(field)
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
