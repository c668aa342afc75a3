package ingest

import (
	"strconv"

	"fanfare/internal/fact"
)

// Codes of invalid numbers.
const (
	badFormat = "invalid_format"
	notWhole  = "invalid_type"
	tooLarge  = "too_large"
	tooSmall  = "too_small"
)

// scale is the number of decimals of a scaled measure.
const scale = 6

// parseMeasure parses a plain decimal exactly. The code is empty on success.
// With round, it rounds to six decimals, half away from zero.
func parseMeasure(b []byte, m fact.Measure, round bool) (v int64, code string) {
	negative := len(b) > 0 && b[0] == '-'
	if negative {
		b = b[1:]
	}
	digits, point, up := 0, -1, false
	for i, c := range b {
		switch {
		case c == '.' && point < 0 && i > 0 && i < len(b)-1:
			point = digits
			continue
		case c < '0' || c > '9':
			return 0, badFormat
		}
		past := -1
		if point >= 0 {
			past = digits - point
		}
		digits++
		switch limit := decimals(m); {
		case past < limit:
			if v = v*10 + int64(c-'0'); v > fact.MaxValue {
				v = fact.MaxValue + 1
			}
		case !m.Scaled() && (c != '0' || !round):
			return 0, notWhole
		case !round:
			return 0, badFormat
		case past == limit:
			up = c >= '5'
		}
	}
	if digits == 0 {
		return 0, badFormat
	}
	return checkRange(shift(v, digits, point, m, up), negative, m)
}

func decimals(m fact.Measure) int {
	if m.Scaled() {
		return scale
	}
	return 0
}

// shift converts a number to the unit of its measure.
func shift(v int64, digits, point int, m fact.Measure, up bool) int64 {
	past := 0
	if point >= 0 {
		past = digits - point
	}
	for range decimals(m) - min(past, decimals(m)) {
		if v *= 10; v > fact.MaxValue {
			return fact.MaxValue + 1
		}
	}
	if up {
		v++
	}
	return v
}

func checkRange(v int64, negative bool, m fact.Measure) (int64, string) {
	switch {
	case negative && v > 0 && !m.Scaled(), negative && v > fact.MaxValue:
		return 0, tooSmall
	case v > fact.MaxValue:
		return 0, tooLarge
	case negative:
		return -v, ""
	}
	return v, ""
}

// appendMeasure appends a value in the format of parseMeasure.
func appendMeasure(b []byte, v int64, m fact.Measure) []byte {
	if !m.Scaled() {
		return strconv.AppendInt(b, v, 10)
	}
	u := uint64(v)
	if v < 0 {
		b, u = append(b, '-'), -u
	}
	const one = 1_000_000
	b = strconv.AppendUint(b, u/one, 10)
	if rest := u % one; rest != 0 {
		b = append(b, '.')
		for unit := uint64(one / 10); rest != 0; unit /= 10 {
			b = append(b, byte('0'+rest/unit))
			rest %= unit
		}
	}
	return b
}

// exactSum is a sum that can exceed the range of one value.
type exactSum struct {
	n     int64
	known bool
	// lost means that the sum overflowed.
	lost bool
}

func (t *exactSum) add(v int64) {
	sum := t.n + v
	if v > 0 && sum < t.n || v < 0 && sum > t.n {
		t.lost = true
	}
	t.n, t.known = sum, true
}
