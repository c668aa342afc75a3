package clock

import (
	"fmt"
	"time"
)

// Date is a calendar day without a time zone, in days since 1970-01-01. Metrics
// belong to the day that the platform reports, regardless of the reader's time
// zone.
type Date int32

// MakeDate returns a day. Months and days out of range are normalized as in
// time.Date.
func MakeDate(year int, month time.Month, day int) Date {
	return Date(time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix() / 86400)
}

// DateIn returns the day of a time in a time zone.
func DateIn(t time.Time, zone *time.Location) Date { return MakeDate(t.In(zone).Date()) }

// ParseDate parses YYYY-MM-DD.
func ParseDate(s string) (Date, bool) {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil || len(s) != len(time.DateOnly) || t.Year() < 1 {
		return 0, false
	}
	return Date(t.Unix() / 86400), true
}

// Time returns the start of the day in UTC.
func (d Date) Time() time.Time { return time.Unix(int64(d)*86400, 0).UTC() }

// Calendar returns year, month and day.
func (d Date) Calendar() (year int, month time.Month, day int) { return d.Time().Date() }

// FirstOfMonth returns the first day of the date's month.
func (d Date) FirstOfMonth() Date {
	year, month, _ := d.Calendar()
	return MakeDate(year, month, 1)
}

// NextMonth returns the first day of the month after the date's.
func (d Date) NextMonth() Date {
	year, month, _ := d.Calendar()
	return MakeDate(year, month+1, 1)
}

// Weekday returns the ISO 8601 day of the week, 0 for Monday.
func (d Date) Weekday() int { return (int(d)%7 + 10) % 7 }

// Append appends YYYY-MM-DD. It is faster than time.AppendFormat, because long
// answers have a date in every row.
func (d Date) Append(b []byte) []byte {
	year, month, day := d.Calendar()
	if year < 0 || year > 9999 {
		return d.Time().AppendFormat(b, time.DateOnly)
	}
	digit := func(n int) byte { return byte('0' + n%10) }
	return append(b, digit(year/1000), digit(year/100), digit(year/10), digit(year), '-',
		digit(int(month)/10), digit(int(month)), '-', digit(day/10), digit(day))
}

// String returns YYYY-MM-DD.
func (d Date) String() string { return string(d.Append(nil)) }

// MarshalText returns YYYY-MM-DD.
func (d Date) MarshalText() ([]byte, error) { return d.Append(nil), nil }

// UnmarshalText parses the output of MarshalText.
func (d *Date) UnmarshalText(b []byte) error {
	v, ok := ParseDate(string(b))
	if !ok {
		return fmt.Errorf("read day: %q is not one", b)
	}
	*d = v
	return nil
}
