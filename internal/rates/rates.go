// Package rates holds what currencies were worth: which rates may be stored,
// for which days without publication a rate goes on, and how the European
// Central Bank writes them down. It knows no HTTP and no SQL. What it needs
// from a store is in store.go; amounts are converted in analytics.
package rates

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/money"
	"fanfare/internal/page"
	"fanfare/internal/record"
)

// Base is the currency that all rates are against. It has none itself.
const Base money.Currency = "EUR"

// Decimal is a positive number with eight digits after the point, counted in
// the last of them.
type Decimal int64

const (
	digits = 8
	one    = 100_000_000
	// MaxUnits is how many units of a currency a euro may be worth: enough for
	// every currency there is, and little enough for exact products.
	MaxUnits = 10_000_000
)

// ParseDecimal reads decimal text. More digits after the point than a Decimal
// has are refused unless they are zeros, and so is what is not above zero or
// beyond MaxUnits.
func ParseDecimal(s string) (Decimal, bool) {
	whole, fraction, dotted := strings.Cut(s, ".")
	fraction = strings.TrimRight(fraction, "0")
	if len(whole) == 0 || len(whole) > 18 || dotted && len(s) == len(whole)+1 || len(fraction) > digits || strings.Trim(whole+fraction, "0123456789") != "" {
		return 0, false
	}
	units, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || units > MaxUnits {
		return 0, false
	}
	parts, err := strconv.ParseInt((fraction + "00000000")[:digits], 10, 64)
	d := Decimal(units*one + parts)
	return d, err == nil && d.valid()
}

func (d Decimal) valid() bool { return d > 0 && d <= MaxUnits*one }

// String writes the number without trailing zeros.
func (d Decimal) String() string {
	text := fmt.Sprintf("%d.%08d", d/one, d%one)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// MarshalText writes the number as String does.
func (d Decimal) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (d *Decimal) UnmarshalText(b []byte) error {
	v, ok := ParseDecimal(string(b))
	if !ok {
		return fmt.Errorf("read rate: %q is not a number above 0 with at most %d digits after the point", b, digits)
	}
	*d = v
	return nil
}

// Rate is how many units of a currency a euro was worth on a day.
type Rate struct {
	Date     clock.Date     `json:"date"`
	Currency money.Currency `json:"currency"`
	PerEuro  Decimal        `json:"rate"`
}

// Listed is a rate as the API answers it.
type Listed struct {
	Rate
	Base money.Currency `json:"base"`
	// Source is who set it: the server's operator for all workspaces, or the
	// workspace for itself.
	Source  string `json:"source"`
	Carried bool   `json:"carried"`
}

// The sources.
const (
	SourceServer    = "server"
	SourceWorkspace = "workspace"
)

// Update is what a write of rates did.
type Update struct {
	Rates int `json:"rates"`
	// Written counts the rates that were new or other than before, Carried the
	// days without publication that got one.
	Written    int64            `json:"written"`
	Carried    int64            `json:"carried"`
	Currencies []money.Currency `json:"currencies"`
	StartDate  clock.Date       `json:"start_date"`
	EndDate    clock.Date       `json:"end_date"`
}

// Query asks for one page of rates: the newest day first, the currencies of a
// day by their names.
type Query struct {
	// Currencies are the wanted ones, none for all.
	Currencies []money.Currency
	// First and Last are the days, both included; nil means no bound.
	First, Last *clock.Date
	Limit       int
	After       *page.Place
}

// Service is what can be done with rates.
type Service struct {
	store Store
	now   func() time.Time
}

// New makes the service.
func New(store Store, now func() time.Time) *Service { return &Service{store: store, now: now} }

// List returns one page of what holds for a workspace, Listed each.
func (s *Service) List(ctx context.Context, workspace ident.ID, q Query) (page.Page, error) {
	return s.store.List(ctx, workspace, q)
}

// Put writes published rates, for one workspace or, where that is empty, for
// all, and carries them over days without publication; all or nothing. The
// same rates again change nothing. The answer is an Update.
func (s *Service) Put(ctx context.Context, cause record.Cause, workspace ident.ID, list []Rate) (record.Doc, error) {
	list = slices.Clone(list)
	if details := problems(list); len(details) > 0 {
		return record.Doc{}, fault.Invalid(details)
	}
	slices.SortFunc(list, compare)
	u := Update{Rates: len(list), StartDate: list[0].Date, EndDate: list[0].Date}
	for i, r := range list {
		u.StartDate, u.EndDate = min(u.StartDate, r.Date), max(u.EndDate, r.Date)
		if i == 0 || list[i-1].Currency != r.Currency {
			u.Currencies = append(u.Currencies, r.Currency)
		}
	}
	cause.Workspace = workspace
	return s.store.Put(ctx, list, u, record.Save{Cause: cause, At: clock.At(s.now())})
}

// compare sorts by currency, then by day.
func compare(a, b Rate) int {
	return cmp.Or(cmp.Compare(a.Currency, b.Currency), cmp.Compare(a.Date, b.Date))
}

// problems lists what is wrong with rates that a caller wrote.
func problems(list []Rate) (details []fault.Detail) {
	if len(list) == 0 {
		return []fault.Detail{{Field: "rates", Code: "too_few_items", Message: "rates must have at least 1 item; it has 0.", Meta: fault.Meta{"minimum": 1, "actual": 0}}}
	}
	type key struct {
		currency money.Currency
		date     clock.Date
	}
	first := make(map[key]int, len(list))
	for i, r := range list {
		bad := func(field, code, message string, meta fault.Meta) {
			field = fmt.Sprintf("rates[%d]%s", i, field)
			details = append(details, fault.Detail{Field: field, Code: code, Message: field + " " + message, Meta: meta})
		}
		if _, known := r.Currency.Digits(); !known || r.Currency == Base {
			bad(".currency", "invalid_value", "must be an ISO 4217 code other than "+string(Base)+", such as USD.", fault.Meta{"value": r.Currency})
		}
		if !r.PerEuro.valid() {
			bad(".rate", "invalid_value", fmt.Sprintf("must be above 0 and at most %d.", MaxUnits), fault.Meta{"maximum": MaxUnits})
		}
		k := key{r.Currency, r.Date}
		if j, twice := first[k]; twice {
			bad("", "duplicate_item", fmt.Sprintf("is of the same day and currency as rates[%d].", j), fault.Meta{"first": j})
			continue
		}
		first[k] = i
	}
	return details
}

// MaxGap is how many days without publication a rate is carried over: longer
// than any row of holidays, shorter than a suspension.
const MaxGap = 7

// Carry returns the rates of days on which nothing was published: between two
// published days that are not too far apart, and on the weekend after a Friday,
// each that of the published day before. published are in the order of currency
// and day, one for each.
//
// Choice: rates are carried when they are written, and a query takes a day's
// own stored rate or none. So the same question gets the same answer whatever
// is asked beside it, missing publications show as missing rates instead of
// being guessed over, and what was carried can be seen in the list.
func Carry(published []Rate) (carried []Rate) {
	const friday = 4
	for i, r := range published {
		until := r.Date
		if r.Date.Weekday() == friday {
			until += 2
		}
		if i+1 < len(published) && published[i+1].Currency == r.Currency {
			before := published[i+1].Date - 1
			if before-r.Date <= MaxGap {
				until = before
			}
			until = min(until, before)
		}
		for d := r.Date + 1; d <= until; d++ {
			carried = append(carried, Rate{Date: d, Currency: r.Currency, PerEuro: r.PerEuro})
		}
	}
	return carried
}
