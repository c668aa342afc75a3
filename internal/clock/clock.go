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
	if len(s) < 20 || s[10] != 'T' {
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

// ParseDay reads YYYY-MM-DD as the first moment of that day in a zone.
func ParseDay(s string, zone *time.Location) (time.Time, bool) {
	if len(s) != 10 {
		return time.Time{}, false
	}
	t, err := time.ParseInLocation(time.DateOnly, s, zone)
	return t, err == nil && t.Year() >= 1
}

// Zone loads an IANA time zone. "Local" and "" are not names a caller may use,
// because their meaning would depend on the machine.
func Zone(name string) (*time.Location, error) {
	if name == "" || name == "Local" {
		return nil, fmt.Errorf("unknown time zone %q", name)
	}
	return time.LoadLocation(name)
}
