package httpapi

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"fanfare/internal/fault"
	"fanfare/internal/nearest"
)

// habits are what other APIs call parameters of this one.
var habits = map[string]string{
	"page": "cursor", "offset": "cursor", "skip": "cursor", "after": "cursor", "starting_after": "cursor", "page_token": "cursor", "next_cursor": "cursor",
	"per_page": "limit", "page_size": "limit", "size": "limit", "count": "limit", "max_results": "limit",
	"sort_by": "sort", "order_by": "sort", "direction": "order", "sort_order": "order",
	"from": "start_date", "since": "start_date", "created_after": "start_date", "to": "end_date", "until": "end_date", "created_before": "end_date",
	"search": "q", "query": "q",
}

// usage says how a parameter is used, where its name does not.
var usage = map[string]string{"cursor": " with the next_cursor of the page before"}

// notOneOf says that a value is none of those allowed, and which was meant.
func notOneOf(v string, allowed []string) (message string, meta fault.Meta) {
	shown := fault.Clip(v)
	message, meta = fmt.Sprintf("must be one of %s, not %q.", strings.Join(allowed, ", "), shown), fault.Meta{"allowed": allowed, "value": shown}
	if near := nearest.Word(v, allowed); near != "" {
		meta["did_you_mean"] = near
		message += " Did you mean " + near + "?"
	}
	return message, meta
}

// places are where members belong that callers put one level too high.
var places = map[string]string{
	"start_date": "date_range.start_date", "end_date": "date_range.end_date", "preset": "date_range.preset",
	"start_at": "schedule.start_at", "end_at": "schedule.end_at", "amount": "budget.amount", "currency": "budget.currency",
	"landing_url": "tracking.landing_url", "countries": "definition.countries",
}

// advise adds to the refusal of a read-only member how it is changed instead.
func (f *fields) advise(advice map[string]string) {
	for i, d := range f.problems.list {
		if d.Code == "read_only" && advice[d.Field] != "" {
			f.problems.list[i].Message += " " + advice[d.Field]
		}
	}
}

// noSuchDay returns the day that a text begins with, where it is written like
// one and is in no calendar.
func noSuchDay(s string) string {
	if len(s) < len(time.DateOnly) {
		return ""
	}
	day := s[:len(time.DateOnly)]
	if _, err := time.Parse(time.DateOnly, day); err == nil || !dayShape.MatchString(day) {
		return ""
	}
	return day
}

var dayShape = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`)

func dayMissing(day string) string { return "names a day that does not exist: " + day + "." }
