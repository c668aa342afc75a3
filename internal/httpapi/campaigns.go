package httpapi

import (
	"context"
	"net/http"
	"slices"

	"fanfare/internal/body"
	"fanfare/internal/campaign"
	"fanfare/internal/ident"
)

var campaignList = listing{
	sorts:    []string{"created_at", "updated_at", "name", "status", "start_at", "end_at", "launched_at", "spend", "delivery_status", "objective", sortMetric},
	byMetric: true,
	statuses: campaign.Statuses,
	filters: []filter{
		{name: "delivery_status", allowed: campaign.DeliveryStatuses},
		{name: "channel", allowed: campaign.Channels},
		{name: "objective", allowed: campaign.Objectives},
		{name: "tag", lower: true, longest: body.MaxTag},
		{name: "audience_id", prefix: ident.Audience},
		{name: "creative_id", prefix: ident.Creative},
		{name: "q", longest: campaign.MaxName},
	},
}

func (a *API) campaigns() *resource {
	return &resource{
		prefix: ident.Campaign, listing: &campaignList,
		get: a.Campaigns.Get, list: a.inTurn(a.Campaigns.List), archive: a.Campaigns.Archive, restore: a.Campaigns.Restore,
	}
}

// campaignRoutes returns the operations on campaigns.
func (a *API) campaignRoutes() []route {
	const all, one = "/v1/campaigns", "/v1/campaigns/{id}"
	s := a.campaigns()
	act := func(verb, operation string, h handler) route {
		return route{
			method: http.MethodPost, pattern: one + "/" + verb, operation: operation, handle: h, body: optionalBody,
			exists: s.exists, critical: verb == "pause",
		}
	}
	pause := act("pause", "pauseCampaign", a.pauseCampaign)
	pause.stops = a.stopsCampaign(func(c *campaign.Campaign) bool { return slices.Contains(c.AllowedActions, campaign.Pause) })
	return []route{
		{method: http.MethodGet, pattern: all, operation: "listCampaigns", handle: a.listCampaigns, compress: true},
		{method: http.MethodPost, pattern: all, operation: "createCampaign", handle: a.createCampaign, body: jsonBody},
		{method: http.MethodPost, pattern: all + "/bulk", operation: "bulkEditCampaigns", handle: a.bulkEditCampaigns, body: jsonBody},
		{method: http.MethodGet, pattern: one, operation: "getCampaign", handle: s.getRecord},
		{method: http.MethodPatch, pattern: one, operation: "updateCampaign", handle: a.updateCampaign, body: patchBody},
		{method: http.MethodDelete, pattern: one, operation: "archiveCampaign", handle: a.archiveCampaign, critical: true, stops: a.stopsCampaign(func(c *campaign.Campaign) bool { return c.Status == campaign.StatusActive || c.MayStillRun() })},
		act("launch", "launchCampaign", a.launchCampaign),
		pause,
		act("resume", "resumeCampaign", a.resumeCampaign),
		act("restore", "restoreCampaign", s.restoreRecord),
		act("duplicate", "duplicateCampaign", a.duplicateCampaign),
	}
}

// stopsCampaign returns a function that reports whether the request, if it is
// valid, stops the campaign in its path: the caller has the permission, can returns true for the
// campaign, and If-Match holds.
func (a *API) stopsCampaign(can func(*campaign.Campaign) bool) func(ctx context.Context, r *request) bool {
	return func(ctx context.Context, r *request) bool {
		id, err := r.recordID(ident.Campaign)
		if err != nil || r.caller.Authorize(r.route.operation, r.from) != nil {
			return false
		}
		d, err := a.Campaigns.Get(ctx, r.caller.Workspace.ID, id)
		if err != nil {
			return false
		}
		c, err := campaign.Read(d)
		return err == nil && can(c) && r.match().Matches(c.Version)
	}
}

func (a *API) createCampaign(ctx context.Context, r *request) (response, error) {
	d, err := a.Campaigns.Create(ctx, r.idempotentCause(http.StatusCreated), &r.object, r.campaignDefaults())
	if err != nil {
		return response{}, err
	}
	return r.created(d, d.ID()), nil
}

func (a *API) updateCampaign(ctx context.Context, r *request) (response, error) {
	id, err := r.recordID(ident.Campaign)
	if err != nil {
		return response{}, err
	}
	d, err := a.Campaigns.Update(ctx, r.cause(), id, r.match(), &r.object, r.campaignDefaults())
	return found(d), err
}

// bulkEditCampaigns waits for a turn like a list, because it reads and writes
// many campaigns.
func (a *API) bulkEditCampaigns(ctx context.Context, r *request) (response, error) {
	leave, err := a.lists.Take(ctx, r.caller.Workspace.ID, listWait)
	if err != nil {
		return response{}, err
	}
	defer leave()
	d, err := a.Campaigns.Bulk(ctx, r.idempotentCause(http.StatusOK), &r.object, r.campaignDefaults())
	return found(d), err
}

func (r *request) campaignDefaults() campaign.Defaults {
	return campaign.Defaults{Timezone: r.caller.Workspace.Timezone, Currency: r.caller.Workspace.Currency}
}

func (a *API) launchCampaign(ctx context.Context, r *request) (response, error) {
	var dry bool
	id, err := a.campaigns().readAction(ctx, r, func(f *body.Reader) {
		if v := f.Flag("validate_only"); v != nil {
			dry = *v
		}
	})
	if err != nil {
		return response{}, err
	}
	if dry {
		d, err := a.Campaigns.CheckLaunch(ctx, r.caller.Workspace.ID, id, r.match())
		return found(d), err
	}
	return a.act(ctx, r, id, campaign.Launch)
}

func (a *API) pauseCampaign(ctx context.Context, r *request) (response, error) {
	id, err := a.campaigns().readAction(ctx, r, nil)
	if err != nil {
		return response{}, err
	}
	if err := a.chargeStop(r); err != nil {
		return response{}, err
	}
	return a.act(ctx, r, id, campaign.Pause)
}

func (a *API) archiveCampaign(ctx context.Context, r *request) (response, error) {
	// An invalid request must not be charged.
	if _, err := r.query(); err != nil {
		return response{}, err
	}
	if err := a.chargeStop(r); err != nil {
		return response{}, err
	}
	return a.campaigns().archiveRecord(ctx, r)
}

func (a *API) resumeCampaign(ctx context.Context, r *request) (response, error) {
	id, err := a.campaigns().readAction(ctx, r, nil)
	if err != nil {
		return response{}, err
	}
	return a.act(ctx, r, id, campaign.Resume)
}

func (a *API) act(ctx context.Context, r *request, id ident.ID, action campaign.Action) (response, error) {
	d, err := a.Campaigns.Transition(ctx, r.idempotentCause(http.StatusOK), id, r.match(), action)
	return found(d), err
}

func (a *API) duplicateCampaign(ctx context.Context, r *request) (response, error) {
	id, err := r.recordID(ident.Campaign)
	if err != nil {
		return response{}, err
	}
	d, err := a.Campaigns.Duplicate(ctx, r.idempotentCause(http.StatusCreated), id, r.match(), &r.object)
	if err != nil {
		return response{}, err
	}
	return r.created(d, d.ID()), nil
}
