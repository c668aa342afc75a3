package httpapi

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"fanfare/internal/analytics"
	"fanfare/internal/audience"
	"fanfare/internal/campaign"
	"fanfare/internal/connection"
	"fanfare/internal/creative"
	"fanfare/internal/fact"
	"fanfare/internal/fault"
	"fanfare/internal/page"
	"fanfare/internal/ratelimit"
)

// metricReport is one analytics report. statuses are the values of its status filter,
// nil for a report without one.
type metricReport struct {
	kind      analytics.Kind
	operation string
	statuses  []string
}

// analyticsRoutes returns the analytics operations.
func (a *API) analyticsRoutes() []route {
	const under = "/v1/analytics/"
	list := []route{
		{method: http.MethodGet, pattern: under + "schema", operation: "getAnalyticsSchema", handle: getAnalyticsSchema},
		{
			method: http.MethodPost, pattern: under + "query", operation: "queryAnalytics", handle: a.queryAnalytics, body: jsonBody, reads: true, compress: true,
			answers: []string{"application/json", csv, ndjson},
		},
	}
	for _, rep := range []metricReport{
		{kind: analytics.KindOverview, operation: "getAnalyticsOverview"},
		{kind: analytics.KindCampaigns, operation: "getAnalyticsCampaigns", statuses: campaign.Statuses},
		{kind: analytics.KindChannels, operation: "getAnalyticsChannels"},
		{kind: analytics.KindCreative, operation: "getAnalyticsCreative", statuses: creative.Statuses},
		{kind: analytics.KindAudiences, operation: "getAnalyticsAudiences", statuses: audience.Statuses},
	} {
		list = append(list, route{method: http.MethodGet, pattern: under + string(rep.kind), operation: rep.operation, handle: a.report(&rep), compress: true})
	}
	return list
}

// csv is the media type of CSV.
const csv = "text/csv"

func getAnalyticsSchema(_ context.Context, r *request) (response, error) {
	if _, err := r.query(); err != nil {
		return response{}, err
	}
	return response{status: http.StatusOK, data: analytics.SchemaJSON}, nil
}

// analyticsWorkspace returns the fields of the caller's workspace that analytics
// needs.
func (r *request) analyticsWorkspace() analytics.Workspace {
	w := r.caller.Workspace
	return analytics.NewWorkspace(w.ID, w.Timezone, w.Currency)
}

func (a *API) queryAnalytics(ctx context.Context, r *request) (response, error) {
	answer, err := a.Analytics.Query(ctx, r.analyticsWorkspace(), &r.object)
	if err != nil {
		return response{}, err
	}
	if answer.Estimated() {
		a.refundDay(r)
	}
	return answered(r, answer), nil
}

// answered returns the answer as CSV or NDJSON if Accept names that type, and
// as JSON otherwise.
func answered(r *request, a *analytics.Answer) response {
	res := response{status: http.StatusOK, textType: typeJSON}
	accept := r.http.Header["Accept"]
	switch {
	case prefersOverJSON(accept, csv):
		res.textType, res.text = csv+"; charset=utf-8; header=present", a.AppendCSV(nil)
	case prefersOverJSON(accept, ndjson):
		res.textType, res.text = ndjson, a.AppendNDJSON(nil)
	default:
		res.text = a.AppendJSON(make([]byte, 0, 4<<10))
	}
	if codes := a.WarningCodes(); len(codes) > 0 {
		r.w.Header()["X-Warnings"] = []string{strings.Join(codes, ", ")}
	}
	if next := a.Next(); next != "" && res.textType != typeJSON {
		// CSV and NDJSON cannot carry the cursor beside the rows.
		r.w.Header()["X-Next-Cursor"] = []string{next}
	}
	return res
}

// prefersOverJSON reports whether an Accept header names a media type before JSON.
func prefersOverJSON(accept []string, mediaType string) bool {
	for part := range strings.SplitSeq(strings.Join(accept, ","), ",") {
		media, rest, _ := strings.Cut(part, ";")
		media = strings.ToLower(strings.TrimSpace(media))
		if strings.Trim(qualityOf(rest), "0.") == "" {
			continue
		}
		switch media {
		case mediaType:
			return true
		case "application/json":
			return false
		}
	}
	return false
}

// refundDay refunds the request to the day quota but not to the minute quota:
// even a free request is limited per minute.
func (a *API) refundDay(r *request) {
	if r.counter == nil {
		return
	}
	r.ticket = ratelimit.Ticket{DayOf: r.ticket.DayOf}
	a.refund(r)
}

// reportParams are the parameters of every report, besides paging and status.
var reportParams = []string{"start_date", "end_date", "timezone", "metrics", "currency", "granularity", "compare", "channel", "platform"}

// factPlatforms are the values of the platform filter: ad platforms and
// measurement sources.
var factPlatforms = append(slices.Clone(connection.Platforms), analytics.MeasurementPlatform)

// report returns the handler of a report.
func (a *API) report(rep *metricReport) handler {
	filters := slices.Clone(reportParams)
	if rep.statuses != nil {
		filters = append(filters, "status")
	}
	known := filters
	listed := rep.kind != analytics.KindOverview
	if listed {
		filters = append(filters, "sort", "order")
		known = append(slices.Clone(filters), "limit", "cursor")
	}
	return func(ctx context.Context, r *request) (response, error) {
		values, err := r.query(known...)
		if err != nil {
			return response{}, err
		}
		p := &params{values: values}
		in := p.report(rep)
		if listed {
			in.Limit = p.limit()
		}
		if err := p.err(); err != nil {
			return response{}, mergeFaults(err, a.Analytics.Check(r.analyticsWorkspace(), in))
		}
		canonical := url.Values{}
		for _, name := range filters {
			if v, has := values[name]; has {
				canonical.Set(name, v)
			}
		}
		if text, has := values["cursor"]; has {
			c, err := a.openCursor(r, text, p, canonical, filters)
			if err != nil {
				return response{}, err
			}
			canonical, _ = url.ParseQuery(c.Params)
			in = &analytics.Params{Kind: rep.kind, Limit: in.Limit, Cursor: &c.After.Text}
		}
		answer, err := a.Analytics.Report(ctx, r.analyticsWorkspace(), in)
		if err != nil {
			return response{}, err
		}
		if next := answer.Next(); next != "" {
			answer.SetNext(a.Cursors().Seal(r.caller.Workspace.ID, r.route.operation, page.Cursor{Params: canonical.Encode(), After: page.Position{Text: next}}))
			r.link(answer.Next())
		}
		return answered(r, answer), nil
	}
}

// report reads the parameters of a report. The analytics package checks metric
// prefersOverJSON and dates.
func (p *params) report(rep *metricReport) *analytics.Params {
	text := func(name string) *string {
		v, has := p.values[name]
		if !has {
			return nil
		}
		return &v
	}
	in := &analytics.Params{
		Kind: rep.kind, StartDate: text("start_date"), EndDate: text("end_date"), Granularity: text("granularity"), Compare: text("compare"),
		Currency: text("currency"), Timezone: text("timezone"), Sort: p.values["sort"], Order: p.choice("order", []string{"asc", "desc"}, ""),
		Channels: p.readSet("channel", fact.Channels), Platforms: p.readSet("platform", factPlatforms),
	}
	if v, has := p.values["sort"]; has && v == "" {
		p.bad("sort", "invalid_value", "must be name or a metric.", nil)
	}
	if v, has := p.values["metrics"]; has {
		in.Metrics = strings.Split(v, ",")
		if v == "" {
			in.Metrics = nil
			p.bad("metrics", "invalid_value", "must name at least one metric.", nil)
		}
	}
	if rep.statuses != nil {
		in.Statuses = p.readSet("status", rep.statuses)
	}
	return in
}

// mergeFaults merges the details of others into err if both are invalid query
// parameters. It reports each field once.
func mergeFaults(err, others error) error {
	var a, b *fault.Error
	if !errors.As(err, &a) || !errors.As(others, &b) || b.Code != fault.InvalidParameter {
		return err
	}
	p := &params{problems: slices.Clone(a.Details)}
	for _, d := range b.Details {
		if !slices.ContainsFunc(p.problems, func(had fault.Detail) bool { return had.Field == d.Field }) {
			p.problems = append(p.problems, d)
		}
	}
	return p.err()
}
