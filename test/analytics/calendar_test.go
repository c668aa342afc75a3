package analytics_test

import (
	"slices"
	"time"
)

// day is a calendar day, counted from 1970-01-01.
type day int

const dateOnly = "2006-01-02"

func dayOf(t time.Time) day {
	y, m, d := t.Date()
	return date(y, m, d)
}

func date(y int, m time.Month, d int) day {
	return day(time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Unix() / 86400)
}

func parseDay(s string) day {
	t, err := time.Parse(dateOnly, s)
	if err != nil {
		panic(err)
	}
	return dayOf(t)
}

func (d day) time() time.Time { return time.Unix(int64(d)*86400, 0).UTC() }
func (d day) String() string  { return d.time().Format(dateOnly) }

// weekdays are the names of the days of the week, from Monday on.
var weekdays = []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}

func (d day) weekday() string { return weekdays[(int(d.time().Weekday())+6)%7] }

// months adds months to a day; a day that the month does not have becomes its
// last day.
func (d day) months(n int) day {
	y, m, of := d.time().Date()
	for ; ; of-- {
		if moved := date(y, m+time.Month(n), of); moved.time().Day() == of {
			return moved
		}
	}
}

// bucket returns the first day of a day's bucket.
func (d day) bucket(granularity string) day {
	y, m, _ := d.time().Date()
	switch granularity {
	case "week":
		return d - day(slices.Index(weekdays, d.weekday()))
	case "month":
		return date(y, m, 1)
	case "quarter":
		return date(y, []time.Month{1, 1, 1, 4, 4, 4, 7, 7, 7, 10, 10, 10}[m-1], 1)
	case "year":
		return date(y, 1, 1)
	default:
		return d
	}
}

// span is a range of days, both ends included.
type span struct{ first, last day }

func (s span) has(d day) bool { return d >= s.first && d <= s.last }
func (s span) days() day      { return s.last - s.first + 1 }

// buckets returns the first days of all buckets of a span, and which of them
// the span has only in part.
func (s span) buckets(granularity string) (starts []day, partial map[day]bool) {
	partial = map[day]bool{}
	for d := s.first.bucket(granularity); d <= s.last; d++ {
		start := d.bucket(granularity)
		if len(starts) == 0 || starts[len(starts)-1] != start {
			starts = append(starts, start)
		}
	}
	for _, start := range starts {
		end := start
		for (end + 1).bucket(granularity) == start {
			end++
		}
		partial[start] = start < s.first || end > s.last
	}
	return starts, partial
}

// units are the calendar units of presets.
var units = map[string]string{
	"today": "day", "this_week": "week", "this_month": "month", "this_quarter": "quarter", "this_year": "year",
	"last_week": "week", "last_month": "month", "last_quarter": "quarter", "last_year": "year",
}

// fullDays are the presets of complete days.
var fullDays = map[string]day{"yesterday": 1, "last_7_days": 7, "last_14_days": 14, "last_28_days": 28, "last_30_days": 30, "last_90_days": 90}

var presets = []string{
	"today", "yesterday", "last_7_days", "last_14_days", "last_28_days", "last_30_days", "last_90_days", "this_week", "this_month",
	"this_quarter", "this_year", "last_week", "last_month", "last_quarter", "last_year", "lifetime",
}

// presetSpan returns the days of a preset.
func presetSpan(name string, today day) span {
	if n := fullDays[name]; n > 0 {
		return span{today - n, today - 1}
	}
	unit := units[name]
	start := today.bucket(unit)
	switch {
	case unit == "":
		// lifetime is the longest possible range: 37 months.
		first := today
		for (first - 1).months(37) > today {
			first--
		}
		return span{first, today}
	case name[:5] == "last_":
		return span{(start - 1).bucket(unit), start - 1}
	default:
		return span{start, today}
	}
}

// comparedSpan returns the period that a span is compared with.
func comparedSpan(s span, preset string, to comparison) span {
	switch to.To {
	case "previous_year":
		if to.MatchWeekday {
			return span{s.first - 364, s.last - 364}
		}
		return span{s.first.months(-12), s.last.months(-12)}
	case "custom":
		return span{parseDay(to.DateRange.StartDate), parseDay(to.DateRange.EndDate)}
	}
	earlier := span{s.first - s.days(), s.first - 1}
	if unit := units[preset]; unit != "" {
		earlier.first = (s.first - 1).bucket(unit)
		if preset[:5] != "last_" {
			earlier.last = earlier.first + s.days() - 1
		}
	}
	if to.MatchWeekday {
		weeks := (s.first - earlier.first + 6) / 7
		return span{s.first - 7*weeks, s.last - 7*weeks}
	}
	return earlier
}
