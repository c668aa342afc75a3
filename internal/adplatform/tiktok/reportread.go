package tiktok

import (
	"cmp"
	"context"
	"errors"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"fanfare/internal/adplatform/transport"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/fact"
)

var (
	ages = map[string]string{
		"AGE_13_17": "13-17", "AGE_18_24": "18-24", "AGE_25_34": "25-34", "AGE_35_44": "35-44", "AGE_45_54": "45-54",
	}
	genders = map[string]string{"FEMALE": "female", "MALE": "male"}
	devices = map[string]string{"ANDROID": "mobile", "IPHONE": "mobile", "IPAD": "tablet", "PC": "desktop", "OTHERS": "other"}
)

// Choice: TikTok's oldest age group is 55 and older, which is not an age range
// of facts. It becomes unknown.
const unknown = "unknown"

// missingValue is the value of a dimension or metric that TikTok does not know.
const missingValue = "-"

// reportItem is one row of a report.
type reportItem struct {
	Dimensions map[string]string `json:"dimensions"`
	Metrics    map[string]string `json:"metrics"`
}

// condition is one condition of a report. The value is a list in a text.
type condition struct {
	Field string `json:"field_name"`
	Type  string `json:"filter_type"`
	Value string `json:"filter_value"`
}

// in returns the condition that a field has one of some values.
func in(field string, values ...string) condition {
	return condition{field, "IN", jsonList(values)}
}

// reportCall returns the call of a part of the report.
func (r *reportReader) reportCall(part reportPart, ids *condition) transport.Call {
	metrics := slices.Clone(r.attributes)
	for _, f := range r.fields {
		metrics = append(metrics, f.metric)
	}
	query := url.Values{
		"advertiser_id": {r.q.Account}, "service_type": {part.service}, "report_type": {r.report}, "data_level": {part.service + "_" + r.data},
		"dimensions": {jsonList(append(slices.Clone(r.dimensions), "stat_time_day"))}, "metrics": {jsonList(metrics)},
		"start_date": {r.q.First.String()}, "end_date": {r.q.Last.String()},
	}
	if part.service == buyingAuction {
		conditions := slices.Clone(part.conditions)
		if r.status != "" {
			conditions = append(conditions, in(r.status, "STATUS_ALL"))
		}
		if ids != nil {
			conditions = append(conditions, *ids)
		}
		// Encoding fails only for invalid UTF-8, which TikTok does not send.
		if b, err := json.Marshal(conditions); err == nil && len(conditions) > 0 {
			query.Set("filtering", string(b))
		}
		if r.report == basicReport {
			query.Set("enable_total_metrics", "true")
		}
	}
	return transport.Call{Method: http.MethodGet, Path: "/report/integrated/get/", Account: r.q.Account, Query: query}
}

// readRows are the rows of one reading of a report.
type readRows struct {
	rows []fact.Row
	// keys are TikTok's keys of the rows, index their positions.
	keys  []string
	index map[string]int
	// pages are the numbers of rows that TikTok named on each page. changed is
	// true if a row came twice with different metrics.
	pages   []int
	changed bool
	// spend is the sum that TikTok names, empty if it names none.
	spend string
	// skan is the sum of skanMetric.
	skan int64
}

// truncatedHeader is the header of a report that lacks the oldest ads because
// the account has too many.
const truncatedHeader = "X-Tt-Ads-Throttle"

const truncatedCode = "ads_truncated"

func isTruncated(err error) bool {
	e, ok := errors.AsType[*connection.Error](err)
	return ok && e.Code == truncatedCode
}

// readScope reads a part of the report, or its rows for some ids. It reads it
// again if its pages contradict each other, and without the metrics that TikTok
// calls invalid.
func (r *reportReader) readScope(ctx context.Context, part reportPart, ids *condition) (*readRows, error) {
	for attempt := 1; ; {
		read, err := r.readOnce(ctx, part, ids)
		if slices.Contains(r.attributes, skanMetric) && isInvalidMetric(err, skanMetric) {
			r.attributes = slices.DeleteFunc(slices.Clone(r.attributes), func(name string) bool { return name == skanMetric })
			continue
		}
		if left, lost := dropInvalid(r.fields, err); len(lost) > 0 {
			for _, f := range lost {
				r.q.AddNote(r.note(connection.NoteNotIncluded, f.measure, nil, "TikTok does not have the metric "+f.metric+" for this account. What it counts is missing."))
			}
			r.fields = left
			continue
		}
		if err != nil {
			return nil, err
		}
		missing, known := read.missingSpend()
		switch complete := read.complete(); {
		case missing == 0 && (complete || known && !read.changed):
			return read, nil
		case attempt < maxReads:
		case complete:
			r.q.AddNote(r.note(connection.NoteTotalDiffers, fact.Spend, &missing, "The rows of TikTok's report do not add up to the total spend that TikTok names."))
			return read, nil
		default:
			return nil, reportChanged("The report has more or fewer rows than TikTok says.")
		}
		attempt++
	}
}

// readOnce reads all pages once.
func (r *reportReader) readOnce(ctx context.Context, part reportPart, ids *condition) (*readRows, error) {
	read := &readRows{index: map[string]int{}}
	err := readPages(ctx, r.client, r.access, r.reportCall(part, ids), 1000, func(page *listPage[reportItem], header http.Header) error {
		if header.Get(truncatedHeader) != "" {
			return &connection.Error{Class: connection.TooLarge, Code: truncatedCode, Message: "The account has more ads than TikTok reports at once."}
		}
		read.pages = append(read.pages, page.PageInfo.TotalNumber)
		read.spend = cmp.Or(read.spend, page.TotalMetrics["spend"])
		for _, it := range page.List {
			row, err := r.factRow(it)
			if err != nil {
				return err
			}
			if read.add(r.itemKey(it, &row), row) {
				// A missing value counts as none.
				n, _ := transport.ParseMetric(it.Metrics[skanMetric], fact.Conversions)
				read.skan += n
			}
		}
		return nil
	})
	return read, err
}

// itemKey returns TikTok's key of a row.
func (r *reportReader) itemKey(it reportItem, row *fact.Row) string {
	parts := []string{it.Dimensions["stat_time_day"], row.Campaign.ExternalID}
	for _, name := range r.dimensions {
		parts = append(parts, it.Dimensions[name])
	}
	return strings.Join(parts, "|")
}

// add adds a row. It returns false if the row is a duplicate.
func (read *readRows) add(key string, row fact.Row) bool {
	if i, again := read.index[key]; again {
		read.changed = read.changed || read.rows[i].Values != row.Values
		return false
	}
	read.index[key] = len(read.rows)
	read.rows, read.keys = append(read.rows, row), append(read.keys, key)
	return true
}

// complete reports whether there are as many rows as every page says.
func (read *readRows) complete() bool {
	return !read.changed && !slices.ContainsFunc(read.pages, func(n int) bool { return n != len(read.rows) })
}

// missingSpend returns by how much the spend of the rows is below the sum that
// TikTok names, and whether it names one. TikTok rounds each row, so that a small
// difference says nothing.
func (read *readRows) missingSpend() (missing int64, known bool) {
	total, ok := transport.ParseMetric(read.spend, fact.Spend)
	if !ok {
		return 0, false
	}
	for i := range read.rows {
		total -= read.rows[i].Values.V[fact.Spend]
	}
	_, decimals, _ := strings.Cut(read.spend, ".")
	step := 1_000_000 / math.Pow10(min(len(decimals), 6))
	if math.Abs(float64(total)) <= step*math.Sqrt(float64(len(read.rows))) {
		return 0, true
	}
	return total, true
}

// factRow converts a row. Fields without a dimension are empty.
func (r *reportReader) factRow(it reportItem) (fact.Row, error) {
	row := fact.Row{Family: r.family, Channel: channel}
	day, ok := clock.ParseDate(strings.TrimSuffix(it.Dimensions["stat_time_day"], " 00:00:00"))
	if !ok {
		return row, malformedError("stat_time_day")
	}
	row.Date = day
	about := func(name string) string {
		if text := cmp.Or(it.Dimensions[name], it.Metrics[name]); text != missingValue {
			return text
		}
		return ""
	}
	if r.data != wholeAccount {
		row.Campaign = r.entity(about("campaign_id"), about("campaign_name"))
		row.Creative = r.entity(about("ad_id"), about("ad_name"))
		row.Audience = r.entity(r.groups[about("adgroup_id")], "")
	}
	switch r.family {
	case fact.Base:
	case fact.Geo:
		if code := it.Dimensions["country_code"]; fact.IsCountry(code) {
			row.Country = code
		}
	case fact.Demographic:
		row.AgeRange = cmp.Or(ages[it.Dimensions["age"]], unknown)
		row.Gender = cmp.Or(genders[it.Dimensions["gender"]], unknown)
	case fact.Device:
		row.Device = cmp.Or(devices[it.Dimensions["platform"]], unknown)
	}
	var err error
	row.Values, err = values(r.fields, it.Metrics)
	return row, err
}

// malformedError returns a transient error, as for every unexpected answer.
func malformedError(name string) error {
	return &connection.Error{Class: connection.Transient, Code: "malformed", Message: "TikTok's report has a " + name + " that is not what it should be."}
}
