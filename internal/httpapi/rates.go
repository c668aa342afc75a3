package httpapi

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"fanfare/internal/clock"
	"fanfare/internal/fault"
	"fanfare/internal/money"
	"fanfare/internal/page"
	"fanfare/internal/rates"
)

// rateRoutes returns the operations on exchange rates.
func (a *API) rateRoutes() []route {
	const all = "/v1/rates"
	return []route{
		{method: http.MethodGet, pattern: all, operation: "listRates", handle: a.listRates, compress: true},
		{method: http.MethodPost, pattern: all, operation: "setRates", handle: a.setRates, body: jsonBody},
	}
}

var rateFilters = []string{"currency", "start_date", "end_date"}

func (a *API) listRates(ctx context.Context, r *request) (response, error) {
	values, err := r.query(append([]string{"limit", "cursor"}, rateFilters...)...)
	if err != nil {
		return response{}, err
	}
	p := &params{values: values}
	limit := p.limit()
	q, canonical := p.rateQuery()
	if err := p.err(); err != nil {
		return response{}, err
	}
	if text, has := values["cursor"]; has {
		c, err := a.openCursor(r, text, p, canonical, rateFilters)
		if err != nil {
			return response{}, err
		}
		inside, _ := url.ParseQuery(c.Params)
		kept := paramsOf(inside)
		q, canonical = kept.rateQuery()
		q.After = &c.After
	}
	q.Limit = limit
	found, err := a.Rates.List(ctx, r.caller.Workspace.ID, q)
	if err != nil {
		return response{}, err
	}
	return a.pageOf(r, found, canonical.Encode()), nil
}

// rateQuery reads the filters of the list of rates. It also returns their
// canonical form.
func (p *params) rateQuery() (q rates.Query, canonical url.Values) {
	canonical = url.Values{}
	if v, has := p.values["currency"]; has {
		for item := range strings.SplitSeq(v, ",") {
			c := money.Currency(item)
			if _, ok := c.Digits(); !ok {
				p.bad("currency", "invalid_value", "must be ISO 4217 currency codes in upper case, such as USD, separated by commas.", nil)
				break
			}
			q.Currencies = append(q.Currencies, c)
		}
		slices.Sort(q.Currencies)
		q.Currencies = slices.Compact(q.Currencies)
		canonical.Set("currency", v)
	}
	q.First, q.Last = p.days()
	for _, name := range []string{"start_date", "end_date"} {
		if v, has := p.values[name]; has {
			canonical.Set(name, v)
		}
	}
	return q, canonical
}

// days reads start_date and end_date as dates, both included.
func (p *params) days() (first, last *clock.Date) {
	first, last = p.day("start_date"), p.day("end_date")
	if first != nil && last != nil && *first > *last {
		p.bad("start_date", "invalid_range", "must not be after end_date.", fault.Meta{"end_date": p.values["end_date"]})
	}
	return first, last
}

// openCursor opens the cursor of a list that does not use listQuery. The
// parameters sent beside it must equal those inside it.
func (a *API) openCursor(r *request, text string, sent *params, canonical url.Values, names []string) (page.Cursor, error) {
	c, ok := a.Cursors().Open(r.caller.Workspace.ID, r.route.operation, text)
	inside, err := url.ParseQuery(c.Params)
	if !ok || err != nil {
		return c, badCursor("cursor", "cursor_malformed", "The cursor is not one of this list in this workspace. Start the list again without it.")
	}
	for _, name := range names {
		if _, has := sent.values[name]; has && canonical.Get(name) != inside.Get(name) {
			return c, badCursor(name, "cursor_query_mismatch", "The cursor belongs to a list with another "+name+". Send the same parameters as for the first page, or none.")
		}
	}
	return c, nil
}

func (a *API) setRates(ctx context.Context, r *request) (response, error) {
	d, err := a.Rates.Set(ctx, r.idempotentCause(http.StatusOK), &r.object)
	return found(d), err
}
