package analytics

import (
	"time"

	"fanfare/internal/clock"
)

// span is a range of days, first and last included.
type span struct{ first, last clock.Date }

func (s span) days() int { return int(s.last-s.first) + 1 }

// addMonths adds n months to a day. If the month is too short, it returns the
// last day of the month.
func addMonths(d clock.Date, n int) clock.Date {
	year, month, day := d.Calendar()
	first := clock.MakeDate(year, month+time.Month(n), 1)
	return min(first+clock.Date(day-1), clock.MakeDate(year, month+time.Month(n)+1, 1)-1)
}

// start returns the first day of the bucket that contains d.
func (g Granularity) start(d clock.Date) clock.Date {
	year, month, _ := d.Calendar()
	switch g {
	case Week:
		return d - clock.Date(d.Weekday())
	case Month:
		return clock.MakeDate(year, month, 1)
	case Quarter:
		return clock.MakeDate(year, month-(month-1)%3, 1)
	case Year:
		return clock.MakeDate(year, time.January, 1)
	default:
		return d
	}
}

// next returns the first day of the following bucket.
func (g Granularity) next(start clock.Date) clock.Date {
	switch g {
	case Week:
		return start + 7
	case Month:
		return addMonths(start, 1)
	case Quarter:
		return addMonths(start, 3)
	case Year:
		return addMonths(start, 12)
	default:
		return start + 1
	}
}

// previousStart returns the first day of the preceding bucket.
func (g Granularity) previousStart(start clock.Date) clock.Date { return g.start(start - 1) }

// buckets returns the first day of every bucket of a span. The first one can be
// before the span. Without granularity it returns one bucket with day 0.
func (g Granularity) buckets(s span) []clock.Date {
	if g == Whole {
		return []clock.Date{0}
	}
	var list []clock.Date
	for d := g.start(s.first); d <= s.last; d = g.next(d) {
		list = append(list, d)
	}
	return list
}

// partial reports whether the span contains only a part of the bucket.
func (g Granularity) partial(start clock.Date, s span) bool {
	return g != Whole && (start < s.first || g.next(start)-1 > s.last)
}

// hasWeekday reports whether the part of the bucket inside the span contains
// the weekday. An empty weekday matches any day.
func (g Granularity) hasWeekday(start clock.Date, s span, weekday string) bool {
	if g != Whole {
		s = span{max(start, s.first), min(g.next(start)-1, s.last)}
	}
	if weekday == "" || s.days() >= len(Weekdays) {
		return true
	}
	for d := s.first; d <= s.last; d++ {
		if Weekdays[d.Weekday()] == weekday {
			return true
		}
	}
	return false
}

// preset is a named date range.
type preset struct {
	name string
	// days is the number of full days before today.
	days int
	// unit is the calendar unit of the preset: the current one up to today, or
	// the whole previous one if past is set.
	unit Granularity
	past bool
}

// presets lists all named ranges in display order.
var presets = []preset{
	{name: "today", unit: Day},
	{name: "yesterday", days: 1},
	{name: "last_7_days", days: 7},
	{name: "last_14_days", days: 14},
	{name: "last_28_days", days: 28},
	{name: "last_30_days", days: 30},
	{name: "last_90_days", days: 90},
	{name: "this_week", unit: Week},
	{name: "this_month", unit: Month},
	{name: "this_quarter", unit: Quarter},
	{name: "this_year", unit: Year},
	{name: "last_week", unit: Week, past: true},
	{name: "last_month", unit: Month, past: true},
	{name: "last_quarter", unit: Quarter, past: true},
	{name: "last_year", unit: Year, past: true},
	{name: "lifetime"},
}

const defaultPreset = "last_30_days"

// Presets lists the names of the date ranges.
var Presets = func() (names []string) {
	for _, p := range presets {
		names = append(names, p.name)
	}
	return names
}()

func findPreset(name string) *preset {
	for i := range presets {
		if presets[i].name == name {
			return &presets[i]
		}
	}
	return nil
}

// span returns the days of the preset, seen from today.
func (p *preset) span(today clock.Date) span {
	switch {
	case p.days > 0:
		return span{today - clock.Date(p.days), today - 1}
	case p.unit == "":
		// Choice: a lifetime ends today, like every range that is not over. It
		// is as long as the longest custom range.
		first := addMonths(today, -MaxMonths) + 1
		for addMonths(first, MaxMonths) <= today {
			first++
		}
		return span{first, today}
	case p.past:
		start := p.unit.start(today)
		return span{p.unit.previousStart(start), start - 1}
	default:
		return span{p.unit.start(today), today}
	}
}

// previous returns the period before s: one calendar unit earlier for a preset
// with a unit, otherwise the same number of days earlier. p is nil for a custom
// range.
//
// Choice: a range that goes to the 31st keeps its 31 days, even if the previous
// month is shorter, because sums of unequal lengths do not compare.
func previous(s span, p *preset, matchWeekday bool) span {
	before := span{s.first - clock.Date(s.days()), s.first - 1}
	if p != nil && p.unit != "" {
		before.first = p.unit.previousStart(p.unit.start(s.first))
		before.last = before.first + clock.Date(s.days()) - 1
		if p.past {
			before.last = s.first - 1
		}
	}
	if !matchWeekday {
		return before
	}
	weeks := (s.first - before.first + 6) / 7
	return span{s.first - 7*weeks, s.last - 7*weeks}
}

// yearBefore returns the same dates one year earlier, or the same weekdays 52
// weeks earlier.
func yearBefore(s span, matchWeekday bool) span {
	if matchWeekday {
		return span{s.first - 364, s.last - 364}
	}
	return span{addMonths(s.first, -12), addMonths(s.last, -12)}
}
