package analytics

import (
	"time"

	"fanfare/internal/clock"
)

// span is a run of days, both included.
type span struct{ first, last clock.Date }

func (s span) days() int { return int(s.last-s.first) + 1 }

// addMonths moves a day by months; where the month is too short it is the
// month's last day.
func addMonths(d clock.Date, n int) clock.Date {
	year, month, day := d.Calendar()
	first := clock.MakeDate(year, month+time.Month(n), 1)
	return min(first+clock.Date(day-1), clock.MakeDate(year, month+time.Month(n)+1, 1)-1)
}

// start is the first day of the bucket that a day is in.
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

// next is the first day after the bucket that begins on a day.
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

// before is the first day of the bucket before the one that begins on a day.
func (g Granularity) before(start clock.Date) clock.Date { return g.start(start - 1) }

// buckets are the first days of all buckets of a span, which may lie before
// it. Without granularity there is one that has no day.
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

// partial reports whether the span cuts the bucket that begins on a day.
func (g Granularity) partial(start clock.Date, s span) bool {
	return g != Whole && (start < s.first || g.next(start)-1 > s.last)
}

// has reports whether a span has a day of the week in the bucket that begins on
// a day; "" is any.
func (g Granularity) has(start clock.Date, s span, weekday string) bool {
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

// preset is a named range.
type preset struct {
	name string
	// days is how many full days before today it has.
	days int
	// unit is the calendar's unit that it is of: the one that today is in, as
	// far as it has come, or with past the whole one before.
	unit Granularity
	past bool
}

// presets are all named ranges, in the order in which they are shown.
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

// Presets are the names of ranges.
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

// span is which days the preset means on a day.
func (p *preset) span(today clock.Date) span {
	switch {
	case p.days > 0:
		return span{today - clock.Date(p.days), today - 1}
	case p.unit == "":
		// Choice: a lifetime ends today, like everything that is not over. It
		// is as long as days that are given may be.
		first := addMonths(today, -MaxMonths) + 1
		for addMonths(first, MaxMonths) <= today {
			first++
		}
		return span{first, today}
	case p.past:
		start := p.unit.start(today)
		return span{p.unit.before(start), start - 1}
	default:
		return span{p.unit.start(today), today}
	}
}

// previous is the span before: one unit of the calendar earlier, else as many
// days earlier as there are. preset is nil for days that were given.
// Choice: what has come as far as the 31st keeps its 31 days, also where the
// month before is shorter: sums of unequal lengths would not compare.
func previous(s span, p *preset, matchWeekday bool) span {
	before := span{s.first - clock.Date(s.days()), s.first - 1}
	if p != nil && p.unit != "" {
		before.first = p.unit.before(p.unit.start(s.first))
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

// yearBefore is the same days of the year before, or the same days of the week
// 52 weeks before.
func yearBefore(s span, matchWeekday bool) span {
	if matchWeekday {
		return span{s.first - 364, s.last - 364}
	}
	return span{addMonths(s.first, -12), addMonths(s.last, -12)}
}
