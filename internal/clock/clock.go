// Package clock defines instants in UTC with millisecond precision: RFC 3339
// text in the API, microseconds since 1970 in the store. It never reads the
// clock; callers pass the current time.
package clock

import (
	"fmt"
	"time"
)

// Instant is a time in microseconds since 1970, truncated to the millisecond,
// so that the stored number and the JSON text are equal.
type Instant int64

const layout = "2006-01-02T15:04:05.000Z"

// At truncates a time to an instant.
func At(t time.Time) Instant { return Instant(t.UnixMilli() * 1000) }

// Time returns the instant as UTC time.
func (i Instant) Time() time.Time { return time.UnixMicro(int64(i)).UTC() }

// Add returns the instant plus d.
func (i Instant) Add(d time.Duration) Instant { return i + Instant(d.Microseconds()) }

func (i Instant) String() string { return i.Time().Format(layout) }

// MarshalText returns the instant as 2026-11-15T01:48:44.123Z.
func (i Instant) MarshalText() ([]byte, error) { return i.Time().AppendFormat(nil, layout), nil }

// UnmarshalText parses the output of MarshalText.
func (i *Instant) UnmarshalText(b []byte) error {
	t, err := time.Parse(layout, string(b))
	if err != nil {
		return fmt.Errorf("read instant: %w", err)
	}
	*i = At(t)
	return nil
}

// Parse parses an RFC 3339 date-time with an offset. It rejects lower-case
// letters, a space instead of T, a missing offset, and years with more than
// four digits in UTC.
func Parse(s string) (Instant, bool) {
	if !shaped(s) {
		return 0, false
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return 0, false
	}
	if y := t.UTC().Year(); y < 1 || y > 9999 {
		return 0, false
	}
	return At(t), true
}

// shaped checks what time.Parse does not: two digits for the hour, a point
// before the fraction, and a valid offset.
func shaped(s string) bool {
	const head = "0000-00-00T00:00:00"
	if len(s) <= len(head) || !fits(s[:len(head)], head) {
		return false
	}
	rest := s[len(head):]
	if rest[0] == '.' {
		digits := 1
		for digits < len(rest) && rest[digits] >= '0' && rest[digits] <= '9' {
			digits++
		}
		if digits == 1 {
			return false
		}
		rest = rest[digits:]
	}
	return rest == "Z" || (fits(rest, "+00:00") || fits(rest, "-00:00")) && rest[1:3] < "24" && rest[4:] < "60"
}

// fits reports whether s has the layout's characters, with digits in place of
// its zeros.
func fits(s, layout string) bool {
	if len(s) != len(layout) {
		return false
	}
	for i := range len(s) {
		digit := s[i] >= '0' && s[i] <= '9'
		if layout[i] == '0' && !digit || layout[i] != '0' && s[i] != layout[i] {
			return false
		}
	}
	return true
}

// ParseDay parses YYYY-MM-DD and returns the start of the day and of the next
// day in a time zone.
func ParseDay(s string, zone *time.Location) (start, end time.Time, ok bool) {
	if len(s) != 10 {
		return start, end, false
	}
	t, err := time.Parse(time.DateOnly, s)
	if err != nil || t.Year() < 1 {
		return start, end, false
	}
	return dayStart(t, zone), dayStart(t.AddDate(0, 0, 1), zone), true
}

// dayStart returns the first instant of a date in a time zone. It searches back
// from noon, because time.Date is ambiguous if clocks skip or repeat midnight.
func dayStart(date time.Time, zone *time.Location) time.Time {
	t := time.Date(date.Year(), date.Month(), date.Day(), 12, 0, 0, 0, zone)
	for {
		h, m, s := t.Clock()
		sinceMidnight := time.Duration(h)*time.Hour + time.Duration(m)*time.Minute + time.Duration(s)*time.Second + time.Duration(t.Nanosecond())
		midnight := t.Add(-sinceMidnight)
		changed, _ := t.ZoneBounds()
		if changed.IsZero() || midnight.After(changed) {
			return midnight
		}
		if t = changed.Add(-1); t.Day() != date.Day() {
			return changed
		}
	}
}

// Zone loads an IANA time zone. It rejects "Local", "" and names that start
// with a lower-case letter ("localtime", "posixrules"), because their meaning
// depends on the machine.
func Zone(name string) (*time.Location, error) {
	if name == "" || name == "Local" || name[0] < 'A' || name[0] > 'Z' {
		return nil, fmt.Errorf("unknown time zone %q", name)
	}
	return time.LoadLocation(name)
}
