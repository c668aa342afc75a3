package httpapi

import (
	"context"
	"net/http"
	"net/url"

	"fanfare/internal/audience"
	"fanfare/internal/body"
	"fanfare/internal/ident"
)

var audienceList = listing{
	sorts:    []string{"created_at", "updated_at", "name", "size.estimate"},
	statuses: audience.Statuses,
	filters: []filter{
		{name: "type", allowed: audience.Types},
		{name: "tag", lower: true, longest: body.MaxTag},
		{name: "q", longest: audience.MaxName},
	},
}

func (a *API) audiences() *resource {
	return &resource{
		prefix: ident.Audience, listing: &audienceList,
		get: a.Audiences.Get, list: a.inTurn(a.Audiences.List), archive: a.Audiences.Archive, restore: a.Audiences.Restore,
	}
}

// audienceRoutes returns the operations on audiences.
func (a *API) audienceRoutes() []route {
	const all, one = "/v1/audiences", "/v1/audiences/{id}"
	s := a.audiences()
	return []route{
		{method: http.MethodGet, pattern: all, operation: "listAudiences", handle: a.listRecords(s), compress: true},
		{method: http.MethodPost, pattern: all, operation: "createAudience", handle: a.createAudience, body: jsonBody},
		{method: http.MethodGet, pattern: one, operation: "getAudience", handle: s.getRecord},
		{method: http.MethodPatch, pattern: one, operation: "updateAudience", handle: a.updateAudience, body: patchBody},
		{method: http.MethodDelete, pattern: one, operation: "archiveAudience", handle: s.archiveRecord, critical: true},
		{method: http.MethodPost, pattern: one + "/restore", operation: "restoreAudience", handle: s.restoreRecord, body: optionalBody, exists: s.exists},
		{method: http.MethodGet, pattern: one + "/members", operation: "getAudienceMembers", handle: a.getAudienceMembers},
		{method: http.MethodPost, pattern: one + "/members", operation: "changeAudienceMembers", handle: a.changeAudienceMembers, body: jsonBody, exists: s.exists},
		{method: http.MethodGet, pattern: one + "/insights", operation: "getAudienceInsights", handle: a.getAudienceInsights},
	}
}

func (a *API) createAudience(ctx context.Context, r *request) (response, error) {
	d, err := a.Audiences.Create(ctx, r.idempotentCause(http.StatusCreated), &r.object)
	if err != nil {
		return response{}, err
	}
	return r.created(d, d.ID()), nil
}

func (a *API) updateAudience(ctx context.Context, r *request) (response, error) {
	id, err := r.recordID(ident.Audience)
	if err != nil {
		return response{}, err
	}
	d, err := a.Audiences.Update(ctx, r.cause(), id, r.match(), &r.object)
	return found(d), err
}

func (a *API) getAudienceMembers(ctx context.Context, r *request) (response, error) {
	if _, err := r.query(); err != nil {
		return response{}, err
	}
	id, err := r.recordID(ident.Audience)
	if err != nil {
		return response{}, err
	}
	count, err := a.Audiences.Members(ctx, r.caller.Workspace.ID, id)
	if err != nil {
		return response{}, err
	}
	return encoded(count)
}

func (a *API) changeAudienceMembers(ctx context.Context, r *request) (response, error) {
	id, err := r.recordID(ident.Audience)
	if err != nil {
		return response{}, err
	}
	d, err := a.Audiences.ChangeMembers(ctx, r.idempotentCause(http.StatusOK), id, r.match(), &r.object)
	return found(d), err
}

func (a *API) getAudienceInsights(ctx context.Context, r *request) (response, error) {
	values, err := r.query("start_date", "end_date", "timezone", "baseline")
	if err != nil {
		return response{}, err
	}
	id, err := r.recordID(ident.Audience)
	if err != nil {
		return response{}, err
	}
	w := r.caller.Workspace
	in := audience.InsightsRequest{Timezone: w.Timezone}
	if zone, has := values["timezone"]; has {
		in.Timezone = zone
	}
	if baseline, has := values["baseline"]; has {
		in.Baseline = &baseline
	}
	p := &params{values: values}
	in.From, in.Until = p.dates(in.Timezone, url.Values{})
	in.Problems = p.problems
	found, err := a.Audiences.Insights(ctx, w.ID, id, in)
	if err != nil {
		return response{}, err
	}
	return encoded(found)
}
