// Package rates defines exchange rates: which rates are valid, how they are
// carried over days without publication, and the file formats of the European
// Central Bank. It uses no HTTP and no SQL. store.go declares the interface
// that it needs; package analytics converts amounts.
package rates

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"fanfare/internal/body"
	"fanfare/internal/clock"
	"fanfare/internal/ident"
	"fanfare/internal/money"
	"fanfare/internal/page"
	"fanfare/internal/record"
)

// Base is the currency that all rates refer to. It has no rate itself.
const Base money.Currency = "EUR"

// Decimal is a positive number with eight decimals, in units of the last one.
type Decimal int64

const (
	decimals = 8
	one      = 100_000_000
	// MaxUnits is the maximum value of a euro in a currency. It is enough for
	// every currency, and products stay exact.
	MaxUnits = 10_000_000
)

// ParseDecimal parses decimal text. It rejects more decimals than a Decimal
// has, unless they are zeros, and numbers that are not positive or exceed
// MaxUnits.
func ParseDecimal(s string) (Decimal, bool) {
	whole, fraction, dotted := strings.Cut(s, ".")
	fraction = strings.TrimRight(fraction, "0")
	if len(whole) == 0 || len(whole) > 18 || dotted && len(s) == len(whole)+1 || len(fraction) > decimals || strings.Trim(whole+fraction, "0123456789") != "" {
		return 0, false
	}
	units, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || units > MaxUnits {
		return 0, false
	}
	parts, err := strconv.ParseInt((fraction + "00000000")[:decimals], 10, 64)
	d := Decimal(units*one + parts)
	return d, err == nil && d.valid()
}

func (d Decimal) valid() bool { return d > 0 && d <= MaxUnits*one }

// String formats the number without trailing zeros.
func (d Decimal) String() string {
	text := fmt.Sprintf("%d.%08d", d/one, d%one)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// MarshalText returns the same text as String.
func (d Decimal) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText parses the output of MarshalText.
func (d *Decimal) UnmarshalText(b []byte) error {
	v, ok := ParseDecimal(string(b))
	if !ok {
		return fmt.Errorf("read rate: %q is not a number above 0 with at most %d digits after the point", b, decimals)
	}
	*d = v
	return nil
}

// Rate is the value of one euro in a currency on a day.
type Rate struct {
	Date     clock.Date     `json:"date"`
	Currency money.Currency `json:"currency"`
	PerEuro  Decimal        `json:"rate"`
}

// ListedRate is a rate as the API returns it.
type ListedRate struct {
	Rate
	Base money.Currency `json:"base"`
	// Source says who set the rate: the server's operator for all workspaces,
	// or the workspace for itself.
	Source  string `json:"source"`
	Carried bool   `json:"carried"`
}

// The sources.
const (
	SourceServer    = "server"
	SourceWorkspace = "workspace"
)

// UpdateResult is the result of a write of rates.
type UpdateResult struct {
	Rates int `json:"rates"`
	// Written counts the rates that are new or changed. Carried counts the days
	// without publication that got a rate.
	Written    int64            `json:"written"`
	Carried    int64            `json:"carried"`
	Currencies []money.Currency `json:"currencies"`
	StartDate  clock.Date       `json:"start_date"`
	EndDate    clock.Date       `json:"end_date"`
}

// Query selects one page of rates, sorted by newest day, then by currency.
type Query struct {
	// Currencies are the requested currencies, empty for all.
	Currencies []money.Currency
	// First and Last are the days, both included; nil means no limit.
	First, Last *clock.Date
	Limit       int
	After       *page.Position
}

// Service implements the operations on exchange rates.
type Service struct {
	store Store
	now   func() time.Time
}

// New returns the service.
func New(store Store, now func() time.Time) *Service { return &Service{store: store, now: now} }

// List returns one page of the rates that apply to a workspace, each as a
// ListedRate.
func (s *Service) List(ctx context.Context, workspace ident.ID, q Query) (page.Page, error) {
	return s.store.List(ctx, workspace, q)
}

// Set writes the published rates of a body for the workspace of the cause, and
// carries them over days without publication. It writes all or nothing.
// Repeating the same rates changes nothing. The returned document is an
// UpdateResult.
func (s *Service) Set(ctx context.Context, cause record.Cause, sent *body.Value) (record.Doc, error) {
	f := body.NewReader(sent, false)
	list := readRates(f)
	if err := f.Err(); err != nil {
		return record.Doc{}, err
	}
	return s.write(ctx, cause, cause.Workspace, list)
}

// Put is Set for the rates of a file, for one workspace or, if it is empty, for
// all. It checks them by the same rules, but their number is not limited.
func (s *Service) Put(ctx context.Context, cause record.Cause, workspace ident.ID, list []Rate) (record.Doc, error) {
	if err := checkParsed(list); err != nil {
		return record.Doc{}, err
	}
	return s.write(ctx, cause, workspace, slices.Clone(list))
}

// write writes checked rates. It sorts the list.
func (s *Service) write(ctx context.Context, cause record.Cause, workspace ident.ID, list []Rate) (record.Doc, error) {
	slices.SortFunc(list, compareRates)
	u := UpdateResult{Rates: len(list), StartDate: list[0].Date, EndDate: list[0].Date}
	for i, r := range list {
		u.StartDate, u.EndDate = min(u.StartDate, r.Date), max(u.EndDate, r.Date)
		if i == 0 || list[i-1].Currency != r.Currency {
			u.Currencies = append(u.Currencies, r.Currency)
		}
	}
	cause.Workspace = workspace
	save, err := s.save(ctx, cause, workspace)
	if err != nil {
		return record.Doc{}, err
	}
	return s.store.Put(ctx, list, u, save)
}

// save returns the effects of changed rates: the campaigns of the workspaces
// that use them are refreshed. Rates for all workspaces have no event, because
// no workspace could read it.
func (s *Service) save(ctx context.Context, cause record.Cause, workspace ident.ID) (record.Save, error) {
	save := record.Save{Cause: cause, At: clock.At(s.now())}
	workspaces := []ident.ID{workspace}
	if workspace == "" {
		var err error
		if workspaces, err = s.store.Workspaces(ctx); err != nil {
			return save, err
		}
	} else {
		save.Events = []record.Event{{Type: "rates.updated"}}
	}
	for _, id := range workspaces {
		save.Jobs = append(save.Jobs, record.Job{Kind: record.JobSpend, Workspace: id, ID: id, At: save.At})
	}
	return save, nil
}

// compareRates sorts by currency, then by day.
func compareRates(a, b Rate) int {
	return cmp.Or(cmp.Compare(a.Currency, b.Currency), cmp.Compare(a.Date, b.Date))
}

// MaxGap is the maximum number of days without publication over which a rate is
// carried: longer than any series of holidays, shorter than a suspension.
const MaxGap = 7

// Carry returns the rates of days without publication: between two published
// days with at most MaxGap days between them, and on the weekend after a
// Friday. Each is the rate of the published day before. published must be
// sorted by currency and day, without duplicates.
//
// Choice: rates are carried when they are written, and a query uses only the
// stored rate of a day. So a query always has the same answer, missing
// publications show as missing rates, and the list shows which rates were
// carried.
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
