package httpapi

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"fanfare/internal/analytics"
	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/fault"
	"fanfare/internal/page"
)

// sortMetric sorts by a metric of a period; metricParams are the parameters of
// this sort.
const sortMetric = "metric"

var metricParams = []string{"metric", "metric_start_date", "metric_end_date"}

// metric checks the parameters of sort=metric and adds them to canonical.
func (p *params) metric(sort string, canonical url.Values) {
	for _, name := range metricParams {
		v, has := p.values[name]
		if !has {
			continue
		}
		canonical.Set(name, v)
		_, day := clock.ParseDate(v)
		switch {
		case name == "metric":
			p.choice(name, analytics.MetricNames, "")
		case !day:
			p.bad(name, "invalid_format", "must be a day such as 2026-11-15.", nil)
		}
	}
	if sort == sortMetric && canonical.Get("metric") == "" {
		canonical.Set("metric", fact.Spend.String())
	}
}

// listCampaigns handles the list of campaigns. To sort by a metric, the caller
// also needs the permission for the campaigns report.
func (a *API) listCampaigns(ctx context.Context, r *request) (response, error) {
	q, params, err := a.listQuery(r, &campaignList)
	if err != nil {
		return response{}, err
	}
	lost := ""
	if q.Sort == sortMetric {
		if err := r.caller.Authorize("getAnalyticsCampaigns", r.from); err != nil {
			return response{}, err
		}
		if err := a.rank(ctx, r, &q, params); err != nil {
			return response{}, err
		}
		if lost, err = a.Analytics.LostMessage(ctx, r.caller.Workspace.ID); err != nil {
			return response{}, err
		}
	}
	p, err := a.inTurn(a.Campaigns.List)(ctx, r.caller.Workspace.ID, q)
	if err != nil {
		return response{}, err
	}
	res := a.pageOf(r, p, params)
	res.warnings = a.nodeWarnings(false, lost)
	return res, nil
}

// rank changes q to sort by the metric in the parameters.
func (a *API) rank(ctx context.Context, r *request, q *page.Query, params string) (err error) {
	values, err := url.ParseQuery(params)
	if err != nil {
		return err
	}
	day := func(name string) *string {
		if v := values.Get(name); v != "" {
			return &v
		}
		return nil
	}
	home := r.analyticsWorkspace()
	if zone := values.Get("timezone"); zone != "" {
		home.Timezone = zone
	}
	q.Sort = page.ByRanking
	q.Ranking, err = a.Analytics.Ranking(ctx, home, values.Get("metric"), day("metric_start_date"), day("metric_end_date"))
	return withMetricNames(err)
}

// withMetricNames renames start_date and end_date in a report's fault to the
// parameter names of the list.
func withMetricNames(err error) error {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Code != fault.InvalidParameter {
		return err
	}
	p := &params{}
	for _, d := range f.Details {
		if strings.HasSuffix(d.Field, "_date") {
			d.Field = "metric_" + d.Field
			d.Message = strings.NewReplacer("start_date", "metric_start_date", "end_date", "metric_end_date").Replace(d.Message)
		}
		p.problems = append(p.problems, d)
	}
	return p.err()
}
