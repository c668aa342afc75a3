package httpapi

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"fanfare/internal/body"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/fact"
	"fanfare/internal/fault"
	"fanfare/internal/ingest"
	"fanfare/internal/money"
	"fanfare/internal/record"
)

// feedParams are the query parameters of a feed.
var feedParams = []string{"source", "mode", "atomic", "currency", "timezone", "start_date", "end_date", "families"}

// ingestRoutes returns the operations that ingest own data.
func (a *API) ingestRoutes() []route {
	return []route{
		{method: http.MethodPost, pattern: "/v1/ingest/metrics", operation: "ingestMetrics", handle: a.ingestMetrics, body: feedBody, params: feedParams},
	}
}

func (a *API) ingestMetrics(ctx context.Context, r *request) (response, error) {
	if len(r.body) == 0 {
		return response{}, body.Malformed("empty_body", "The request needs rows as its body.", 0)
	}
	p := &params{values: r.params}
	w := r.caller.Workspace
	f := ingest.Feed{
		Source: p.words("source", ingest.DefaultSource, ingest.MaxSource), Mode: ingest.Mode(p.choice("mode", ingest.Modes, string(ingest.Upsert))),
		Atomic: p.choice("atomic", flags, "false") == "true", Currency: p.currency("currency"), Zone: p.zone("timezone"),
		Defaults: connection.WorkspaceDefaults{Currency: w.Currency, Zone: w.Timezone},
		First:    p.day("start_date"), Last: p.day("end_date"), Body: r.body, NDJSON: r.media == ndjson,
	}
	for _, name := range p.readSet("families", fact.Families) {
		f.Families = append(f.Families, fact.Family(slices.Index(fact.Families, name)))
	}
	if err := p.err(); err != nil {
		return response{}, err
	}
	answer, err := a.Ingest.Ingest(ctx, r.idempotentCause(http.StatusOK), f)
	if err != nil {
		return response{}, asParameters(err, feedParams)
	}
	return found(record.Doc{JSON: answer}), nil
}

// flags are the values of a boolean parameter.
var flags = []string{"true", "false"}

// words reads a text parameter, or returns fallback if it is absent or invalid.
func (p *params) words(name, fallback string, longest int) string {
	v, has := p.values[name]
	if !has {
		return fallback
	}
	if list := p.filter(filter{name: name, longest: longest}, map[string][]string{}); list == nil {
		return fallback
	}
	return v
}

// currency reads an ISO 4217 code, empty if the parameter is absent.
func (p *params) currency(name string) money.Currency {
	v, has := p.values[name]
	c := money.Currency(v)
	if _, ok := c.Digits(); has && !ok {
		p.bad(name, "invalid_value", "must be an ISO 4217 currency code in upper case, such as USD.", nil)
		return ""
	}
	return c
}

// zone reads an IANA time zone, empty if the parameter is absent.
func (p *params) zone(name string) string {
	v, has := p.values[name]
	if !has {
		return ""
	}
	if _, err := clock.Zone(v); err != nil {
		p.bad(name, "invalid_value", "must be an IANA time zone such as Europe/Berlin.", nil)
		return ""
	}
	return v
}

// day reads a date, nil if the parameter is absent or invalid.
func (p *params) day(name string) *clock.Date {
	v, has := p.values[name]
	if !has {
		return nil
	}
	d, ok := clock.ParseDate(v)
	if !ok {
		p.bad(name, "invalid_format", "must be a day such as 2026-11-15.", nil)
		return nil
	}
	return &d
}

// asParameters converts a validation fault to a query parameter fault if all of
// its fields are in names.
func asParameters(err error, names []string) error {
	var f *fault.Error
	if !errors.As(err, &f) || f.Code != fault.ValidationFailed || len(f.Details) == 0 {
		return err
	}
	details := slices.Clone(f.Details)
	for i := range details {
		if !slices.Contains(names, details[i].Field) {
			return err
		}
		details[i].In = "query"
	}
	return fault.BadQuery(details)
}
