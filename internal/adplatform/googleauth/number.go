package googleauth

import (
	"strconv"
	"strings"

	"fanfare/internal/fact"
)

// maxExponent is larger than the exponent of any of Google's numbers.
const maxExponent = 40

// Millionths parses a decimal such as 12.3456789 or 1e-05, the text of a JSON
// number, without floats. Google computes with floats, so digits after the
// sixth can be noise; it rounds them half away from zero.
func Millionths(text string) (int64, bool) {
	rest, negative := strings.CutPrefix(text, "-")
	mantissa, power, exponential := strings.Cut(strings.ToLower(rest), "e")
	exponent := 0
	if exponential {
		n, err := strconv.Atoi(power)
		if err != nil || n > maxExponent || n < -maxExponent {
			return 0, false
		}
		exponent = n
	}
	whole, fraction, dotted := strings.Cut(mantissa, ".")
	digits := whole + fraction
	if whole == "" || dotted && fraction == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	n, ok := roundDigits(digits, len(whole)+exponent+fact.MaxDigits)
	if !ok || n > fact.MaxValue {
		return 0, false
	}
	if negative {
		n = -n
	}
	return n, true
}

// roundDigits rounds to the first digits.
func roundDigits(digits string, keep int) (int64, bool) {
	if keep < 0 {
		return 0, true
	}
	if missing := keep - len(digits); missing > 0 {
		digits += strings.Repeat("0", missing)
	}
	kept := strings.TrimLeft(digits[:keep], "0")
	n, err := strconv.ParseInt("0"+kept, 10, 64)
	if err != nil {
		return 0, false
	}
	if keep < len(digits) && digits[keep] >= '5' {
		n++
	}
	return n, true
}
