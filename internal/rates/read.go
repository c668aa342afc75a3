package rates

import (
	"fmt"
	"strconv"

	"fanfare/internal/body"
	"fanfare/internal/clock"
	"fanfare/internal/fault"
)

// maxRates is the maximum number of rates per call.
const maxRates = 1000

// Read parses the rates that a caller sends.
func Read(f *body.Reader) (list []Rate) {
	if f.Object.Get("rates") == nil {
		f.Bad("rates", "required", "is required.", nil)
	}
	for _, o := range f.Objects("rates", maxRates) {
		list = append(list, readRate(o))
	}
	if v := f.Object.Get("rates"); v != nil && v.Kind == body.KindArray && len(v.Items) == 0 {
		f.Bad("rates", "too_few_items", "must have at least 1 item.", fault.Meta{"minimum": 1})
	}
	f.Done()
	return list
}

func readRate(o *body.Reader) (rate Rate) {
	if s := o.Typed("date", body.Required, body.IsString, "a string"); s != nil {
		var ok bool
		if rate.Date, ok = clock.ParseDate(s.Text); !ok {
			o.Bad(o.At("date"), "invalid_format", "must be a day such as 2026-11-15.", nil)
		}
	}
	if c := o.Currency("currency", body.Required); c != nil {
		if rate.Currency = *c; *c == Base {
			o.Bad(o.At("currency"), "invalid_value", fmt.Sprintf("must be another than %s, which all rates are against.", Base), nil)
		}
	}
	v := o.Typed("rate", body.Required, func(v *body.Value) bool { return v.Kind == body.KindString || v.Kind == body.KindNumber }, "a decimal string or a number")
	if v != nil {
		rate.PerEuro = readDecimal(o, v.Text)
	}
	o.Done()
	return rate
}

// readDecimal parses the value of a euro.
func readDecimal(o *body.Reader, text string) Decimal {
	d, ok := ParseDecimal(text)
	n, err := strconv.ParseFloat(text, 64)
	switch {
	case ok:
	case err == nil && n <= 0:
		o.Bad(o.At("rate"), "too_small", "must be greater than 0.", fault.Meta{"minimum": Decimal(1).String()})
	case err == nil && n > MaxUnits:
		o.Bad(o.At("rate"), "too_large", fmt.Sprintf("must be at most %d.", MaxUnits), fault.Meta{"maximum": MaxUnits})
	default:
		o.Bad(o.At("rate"), "invalid_format", `must be a plain decimal with at most 8 digits after the point, such as "1.0873".`, nil)
	}
	return d
}
