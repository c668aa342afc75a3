// Package clock holds how instants look: UTC, to the millisecond, as RFC 3339
// text on the wire and as microseconds since 1970 in the store. It never asks
// what time it is; now comes in from outside.
package clock

import (
	"fmt"
	"time"
)

// Instant is a moment in microseconds since 1970, cut to the millisecond so
// that the stored number and the shown text are the same moment.
type Instant int64

const layout = "2006-01-02T15:04:05.000Z"

// At cuts a time to an instant.
func At(t time.Time) Instant { return Instant(t.UnixMilli() * 1000) }

// Time returns the instant as UTC time.
func (i Instant) Time() time.Time { return time.UnixMicro(int64(i)).UTC() }

// Add moves the instant.
func (i Instant) Add(d time.Duration) Instant { return i + Instant(d.Microseconds()) }

func (i Instant) String() string { return i.Time().Format(layout) }

// MarshalText writes the instant as 2026-11-15T01:48:44.123Z.
func (i Instant) MarshalText() ([]byte, error) { return i.Time().AppendFormat(nil, layout), nil }

// UnmarshalText reads what MarshalText wrote.
func (i *Instant) UnmarshalText(b []byte) error {
	t, err := time.Parse(layout, string(b))
	if err != nil {
		return fmt.Errorf("read instant: %w", err)
	}
	*i = At(t)
	return nil
}

// Parse reads an RFC 3339 date-time with an offset. Lower-case letters, a
// space for the T and a missing offset are refused, and so are years that
// would not fit four digits after the shift to UTC.
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

// shaped checks what time.Parse is lax about: two digits for the hour, a point
// before the fraction, and an offset that a clock can have.
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

// fits reports whether s has the layout's characters, and digits where that
// has zeros.
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

// ParseDay reads YYYY-MM-DD as a day in a zone: its first moment, and that of
// the day after.
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

// dayStart returns the first moment of a date in a zone. It goes back from
// noon, because time.Date does not say which moment it gives where clocks jump
// over midnight or come to it twice.
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

// Zone loads an IANA time zone. "Local", "" and what starts with a small letter
// ("localtime", "posixrules") are not names a caller may use, because their
// meaning would depend on the machine.
func Zone(name string) (*time.Location, error) {
	if name == "" || name == "Local" || name[0] < 'A' || name[0] > 'Z' {
		return nil, fmt.Errorf("unknown time zone %q", name)
	}
	return time.LoadLocation(name)
}
