package sandbox

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"fanfare/internal/clock"
)

const (
	// metaMaxRows is the largest report that does not run in the background.
	metaMaxRows = 50_000
	// metaFewRows is the largest report of an account with too_large=1487534.
	metaFewRows = 6
	// metaFewDays is the longest report that does not run in the background, of
	// an account with another value of too_large.
	metaFewDays = 7
	// metaMaxMonths is how far back metrics are available, metaReachMonths how
	// far back reach is with breakdowns.
	metaMaxMonths   = 37
	metaReachMonths = 13
)

// metaReport is a report request.
type metaReport struct {
	level           string
	breakdowns      []string
	fields, summary []string
	windows, sort   []string
	filters         []metaFilter
	// spans are the date ranges, first and last the days of all of them.
	spans       []metaSpan
	first, last clock.Date
	// days is the number of days of a row, 0 for all and -1 for a month.
	days int
}

// metaSpan is a date range, or the days of a row.
type metaSpan struct {
	First clock.Date `json:"since"`
	Last  clock.Date `json:"until"`
}

func (s metaSpan) valid() bool { return s.First <= s.Last }

var metaLevels = map[string]Level{"account": ByAccount, "campaign": ByCampaign, "ad": ByAd}

// metaDefaultFields are the fields of reports that request none.
var metaDefaultFields = map[string][]string{
	"account":  {"account_id", "impressions", "spend"},
	"campaign": {"account_id", "campaign_id", "impressions", "spend"},
	"adset":    {"account_id", "campaign_id", "adset_id", "impressions", "spend"},
	"ad":       {"account_id", "campaign_id", "adset_id", "ad_id", "impressions", "spend"},
}

// parseMetaList parses a list: JSON, or words separated by commas.
func parseMetaList(text string) (list []string) {
	if strings.HasPrefix(text, "[") {
		if json.Unmarshal([]byte(text), &list) != nil {
			return []string{text}
		}
		return list
	}
	return metaFields(text)
}

// readReport parses the parameters of a report.
func (c metaCall) readReport(a *Account, params url.Values) (r metaReport, refused *metaError) {
	r.level = params.Get("level")
	if r.level == "" {
		r.level = "account"
	}
	if _, ok := metaLevels[r.level]; !ok && r.level != "adset" {
		return r, metaInvalid("level must be one of {ad, adset, campaign, account}")
	}
	r.breakdowns = parseMetaList(params.Get("breakdowns"))
	slices.Sort(r.breakdowns)
	r.fields, r.summary, r.windows = parseMetaList(params.Get("fields")), parseMetaList(params.Get("summary")), parseMetaList(params.Get("action_attribution_windows"))
	if len(r.fields) == 0 {
		r.fields = metaDefaultFields[r.level]
	}
	if params.Get("default_summary") == "true" && len(r.summary) == 0 {
		r.summary = r.fields
	}
	r.sort = parseMetaList(params.Get("sort"))
	for _, check := range []func() *metaError{
		func() *metaError { return r.checkNames(parseMetaList(params.Get("action_breakdowns"))) },
		r.checkBreakdowns,
		func() *metaError { return r.readDays(c.Today(a), params) },
		func() (refused *metaError) {
			r.filters, refused = readMetaFilters(params.Get("filtering"))
			return refused
		},
	} {
		if refused := check(); refused != nil {
			return r, refused
		}
	}
	return r, nil
}

// checkNames checks that all names exist.
func (r *metaReport) checkNames(actionBreakdowns []string) *metaError {
	for _, window := range r.windows {
		if !metaWindows[window] {
			return metaInvalid("Param action_attribution_windows: %s is not available", window)
		}
	}
	for _, name := range actionBreakdowns {
		if !metaActionBreakdowns[name] {
			return metaInvalid("Param action_breakdowns: %s is not available", name)
		}
	}
	for _, name := range slices.Concat(r.fields, r.summary) {
		if !metaInsightFields[name] {
			return metaInvalid("%s is not valid for fields param. please check https://developers.facebook.com/docs/marketing-api/reference/ads-insights/ for all valid values", name)
		}
	}
	for _, text := range r.sort {
		name, _, _ := strings.Cut(strings.TrimSuffix(strings.TrimSuffix(text, "_ascending"), "_descending"), ":")
		if !metaInsightFields[name] {
			return metaInvalid("Sort field %s is invalid", name)
		}
	}
	return nil
}

// metaModelBreakdowns are the breakdowns whose metrics the sandbox knows, with
// their level. All others have one value.
var metaModelBreakdowns = map[string]Level{
	"country": ByCountry, metaRegion: ByCountry, "age": ByAgeAndGender, "gender": ByAgeAndGender, "impression_device": ByDevice, "device_platform": ByDevice,
}

// breakdownLevel returns the level of the breakdowns, false if they have none.
func (r *metaReport) breakdownLevel() (level Level, ok bool) {
	for _, name := range r.breakdowns {
		if l, known := metaModelBreakdowns[name]; known {
			level, ok = l, true
		}
	}
	return level, ok
}

func (r *metaReport) checkBreakdowns() *metaError {
	level, _ := r.breakdownLevel()
	for _, name := range r.breakdowns {
		if !metaInsightBreakdowns[name] {
			return metaInvalid("breakdowns[0] must be one of the following values: %s is none", name)
		}
		if l, known := metaModelBreakdowns[name]; known && l != level {
			return r.badCombination()
		}
	}
	// Placements, regions and hours do not go together.
	parts := 0
	for _, used := range []bool{r.has(metaPlatform) || r.has(metaPlacement), r.has(metaRegion), slices.ContainsFunc(metaHours, r.has)} {
		if used {
			parts++
		}
	}
	if parts > 1 {
		return r.badCombination()
	}
	return nil
}

func (r *metaReport) badCombination() *metaError {
	return metaInvalid("Current combination of data breakdown columns (%s) is invalid", strings.Join(r.breakdowns, ", "))
}

// metaPresetDays are the presets that end yesterday, by their days.
var metaPresetDays = map[string]clock.Date{"": 30, "yesterday": 1, "last_3d": 3, "last_7d": 7, "last_14d": 14, "last_28d": 28, "last_30d": 30, "last_90d": 90}

// metaPreset returns the days of a date_preset, false if there is no such one.
func metaPreset(name string, today, oldest clock.Date) (first, last clock.Date, ok bool) {
	if days := metaPresetDays[name]; days > 0 {
		return today - days, today - 1, true
	}
	year, month, _ := today.Calendar()
	quarter := (month-1)/3*3 + 1
	monday := today - clock.Date(today.Weekday())
	sunday := today - clock.Date((today.Weekday()+1)%7)
	switch name {
	case "maximum", "data_maximum":
		return oldest, today, true
	case "today":
		return today, today, true
	case "this_month":
		return clock.MakeDate(year, month, 1), today, true
	case "last_month":
		return clock.MakeDate(year, month-1, 1), clock.MakeDate(year, month, 1) - 1, true
	case "this_quarter":
		return clock.MakeDate(year, quarter, 1), today, true
	case "last_quarter":
		return clock.MakeDate(year, quarter-3, 1), clock.MakeDate(year, quarter, 1) - 1, true
	case "this_year":
		return clock.MakeDate(year, 1, 1), today, true
	case "last_year":
		return clock.MakeDate(year-1, 1, 1), clock.MakeDate(year, 1, 1) - 1, true
	case "this_week_mon_today":
		return monday, today, true
	case "last_week_mon_sun":
		return monday - 7, monday - 1, true
	case "this_week_sun_today":
		return sunday, today, true
	case "last_week_sun_sat":
		return sunday - 7, sunday - 1, true
	}
	return 0, 0, false
}

// readDays parses the days of a report and of its rows.
func (r *metaReport) readDays(today clock.Date, params url.Values) *metaError {
	oldest := clock.DateIn(today.Time().AddDate(0, -metaMaxMonths, 0), today.Time().Location())
	if refused := r.readSpans(today, oldest, params); refused != nil {
		return refused
	}
	r.first, r.last = r.spans[0].First, r.spans[0].Last
	for _, span := range r.spans {
		r.first, r.last = min(r.first, span.First), max(r.last, span.Last)
	}
	if r.first < oldest {
		return &metaError{Code: 3018, Message: "(#3018) The start date of the time range cannot be beyond 37 months from the current date"}
	}
	switch text := params.Get("time_increment"); text {
	case "", "all_days":
	case "monthly":
		r.days = -1
	default:
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 90 {
			return metaInvalid("time_increment must be a number from 1 to 90, monthly or all_days")
		}
		r.days = n
	}
	return nil
}

// readSpans parses the date ranges: several, one, or a preset.
func (r *metaReport) readSpans(today, oldest clock.Date, params url.Values) *metaError {
	switch {
	case params.Has("time_ranges"):
		if err := json.Unmarshal([]byte(params.Get("time_ranges")), &r.spans); err != nil || len(r.spans) == 0 || slices.ContainsFunc(r.spans, func(s metaSpan) bool { return !s.valid() }) {
			return metaInvalid("time_ranges must be an array of {'since':'YYYY-MM-DD','until':'YYYY-MM-DD'}, each with the first not after the second")
		}
	case params.Has("time_range"):
		r.spans = make([]metaSpan, 1)
		if err := json.Unmarshal([]byte(params.Get("time_range")), &r.spans[0]); err != nil || !r.spans[0].valid() {
			return metaInvalid("time_range must be {'since':'YYYY-MM-DD','until':'YYYY-MM-DD'}, the first not after the second")
		}
	default:
		first, last, ok := metaPreset(params.Get("date_preset"), today, oldest)
		if !ok {
			return metaInvalid("Param date_preset must be one of the presets of Meta's SDK, such as last_30d")
		}
		r.spans = []metaSpan{{first, last}}
	}
	return nil
}

// periods returns the days of rows: the date ranges, cut by the increment.
func (r *metaReport) periods() (periods []metaSpan) {
	for _, span := range r.spans {
		for first := span.First; first <= span.Last; {
			p := metaSpan{first, span.Last}
			switch {
			case r.days > 0:
				p.Last = min(span.Last, first+clock.Date(r.days)-1)
			case r.days < 0:
				year, month, _ := first.Calendar()
				p.Last = min(span.Last, clock.MakeDate(year, month+1, 1)-1)
			}
			periods = append(periods, p)
			first = p.Last + 1
		}
	}
	return periods
}
