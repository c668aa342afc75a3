package rates

import (
	"fmt"
	"strconv"

	"fanfare/internal/body"
	"fanfare/internal/clock"
	"fanfare/internal/fault"
	"fanfare/internal/money"
)

// maxRates is the maximum number of rates per call.
const maxRates = 1000

// readRates reads the rates that a caller sends, and checks them. Duplicates are
// reported only if nothing else is wrong.
func readRates(f *body.Reader) (list []Rate) {
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
	if f.Err() == nil {
		checkDuplicates(list, f.Bad)
	}
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
		rate.Currency = *c
		checkCurrency(o.At("currency"), *c, o.Bad)
	}
	v := o.Typed("rate", body.Required, func(v *body.Value) bool { return v.Kind == body.KindString || v.Kind == body.KindNumber }, "a decimal string or a number")
	if v != nil {
		rate.PerEuro = readDecimal(o, v.Text)
	}
	o.Done()
	return rate
}

// report reports a problem like body.Reader.Bad.
type report func(path, code, message string, meta fault.Meta)

// checkCurrency reports a currency that cannot have a rate.
func checkCurrency(path string, c money.Currency, bad report) {
	if c == Base {
		bad(path, "invalid_value", fmt.Sprintf("must be another than %s, which all rates are against.", Base), nil)
	}
}

// checkDuplicates reports rates of the same day and currency.
func checkDuplicates(list []Rate, bad report) {
	first := make(map[rateKey]int, len(list))
	for i, r := range list {
		k := rateKey{r.Currency, r.Date}
		if j, twice := first[k]; twice {
			bad(fmt.Sprintf("rates[%d]", i), "duplicate_item", fmt.Sprintf("is of the same day and currency as rates[%d].", j), fault.Meta{"first": j})
			continue
		}
		first[k] = i
	}
}

// checkParsed is the check of rates that were not read from a body.
func checkParsed(list []Rate) error {
	var details []fault.Detail
	bad := func(path, code, message string, meta fault.Meta) {
		details = append(details, fault.Detail{Field: path, Code: code, Message: path + " " + message, Meta: meta})
	}
	if len(list) == 0 {
		bad("rates", "too_few_items", "must have at least 1 item.", fault.Meta{"minimum": 1})
	}
	for i, r := range list {
		at := func(name string) string { return fmt.Sprintf("rates[%d].%s", i, name) }
		if _, known := r.Currency.Digits(); !known {
			bad(at("currency"), "invalid_value", "must be an ISO 4217 currency code in upper case, such as USD.", nil)
		}
		checkCurrency(at("currency"), r.Currency, bad)
		if !r.PerEuro.valid() {
			bad(at("rate"), "invalid_value", fmt.Sprintf("must be above 0 and at most %d.", MaxUnits), fault.Meta{"maximum": MaxUnits})
		}
	}
	if checkDuplicates(list, bad); len(details) > 0 {
		return fault.Invalid(details)
	}
	return nil
}

// readDecimal parses the value of a euro. ParseDecimal decides which are valid.
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
