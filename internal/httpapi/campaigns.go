package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/go-json-experiment/json"

	"fanfare/internal/campaign"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/money"
	"fanfare/internal/record"
)

var campaignList = listing{
	sorts:    []string{"created_at", "updated_at", "name", "status", "start_at", "end_at", "launched_at", "spend", "delivery_status", "objective", sortMetric},
	byMetric: true,
	statuses: campaign.Statuses,
	filters: []filter{
		{name: "delivery_status", allowed: campaign.DeliveryStatuses},
		{name: "channel", allowed: campaign.Channels},
		{name: "objective", allowed: campaign.Objectives},
		{name: "tag", lower: true, longest: maxTag},
		{name: "audience_id", prefix: ident.Audience},
		{name: "creative_id", prefix: ident.Creative},
		{name: "q", longest: campaign.MaxName},
	},
}

func (a *API) campaigns() *resource {
	return &resource{
		prefix: ident.Campaign, listing: &campaignList,
		get: a.Campaigns.Get, list: a.Campaigns.List, archive: a.Campaigns.Archive, restore: a.Campaigns.Restore,
	}
}

// campaignRoutes are the operations on campaigns.
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
	pause.stops = func(context.Context, *request) bool { return true }
	return []route{
		{method: http.MethodGet, pattern: all, operation: "listCampaigns", handle: a.listCampaigns, compress: true},
		{method: http.MethodPost, pattern: all, operation: "createCampaign", handle: a.createCampaign, body: jsonBody},
		{method: http.MethodGet, pattern: one, operation: "getCampaign", handle: s.getRecord},
		{method: http.MethodPatch, pattern: one, operation: "updateCampaign", handle: a.updateCampaign, body: patchBody},
		{method: http.MethodDelete, pattern: one, operation: "archiveCampaign", handle: s.archiveRecord, critical: true, stops: a.runningCampaign},
		act("launch", "launchCampaign", a.launchCampaign),
		pause,
		act("resume", "resumeCampaign", a.resumeCampaign),
		act("restore", "restoreCampaign", s.restoreRecord),
		act("duplicate", "duplicateCampaign", a.duplicateCampaign),
	}
}

// runningCampaign reports whether the campaign in the path runs.
func (a *API) runningCampaign(ctx context.Context, r *request) bool {
	id, err := r.recordID(ident.Campaign)
	if err != nil {
		return false
	}
	d, err := a.Campaigns.Get(ctx, r.caller.Workspace.ID, id)
	if err != nil {
		return false
	}
	c, err := campaign.Read(d)
	return err == nil && c.Runs()
}

// campaignAdvice says how read-only members are changed.
var campaignAdvice = map[string]string{"status": "Use POST /v1/campaigns/{id}/launch, pause or resume."}

func (a *API) createCampaign(ctx context.Context, r *request) (response, error) {
	f := newFields(&r.object, false)
	spec := readCampaign(f, r.caller.Workspace.Timezone, r.caller.Workspace.Currency)
	f.done(campaignReadOnly...)
	f.advise(campaignAdvice)
	if err := a.campaignProblems(ctx, r, f, nil, &spec); err != nil {
		return response{}, err
	}
	d, err := a.Campaigns.Create(ctx, r.caused(http.StatusCreated), spec)
	if err != nil {
		return response{}, err
	}
	return r.created(d, idOf(d)), nil
}

func (a *API) updateCampaign(ctx context.Context, r *request) (response, error) {
	id, err := r.recordID(ident.Campaign)
	if err != nil {
		return response{}, err
	}
	d, err := a.Campaigns.Revise(ctx, r.cause(), id, r.match(), func(current record.Doc) (campaign.Spec, error) {
		f, err := mergePatch(current.JSON, r.object, campaignReadOnly)
		if err != nil {
			return campaign.Spec{}, err
		}
		spec := readCampaign(f, r.caller.Workspace.Timezone, r.caller.Workspace.Currency)
		f.done()
		f.advise(campaignAdvice)
		return spec, a.campaignProblems(ctx, r, f, current.JSON, &spec)
	})
	return found(d), err
}

// campaignProblems returns all that is wrong with a body.
func (a *API) campaignProblems(ctx context.Context, r *request, f *fields, current []byte, next *campaign.Spec) error {
	return f.errWith(func() ([]fault.Detail, error) {
		var was campaign.Campaign
		if current != nil {
			if err := json.Unmarshal(current, &was); err != nil {
				return nil, fmt.Errorf("read campaign: %w", err)
			}
		}
		return a.Campaigns.Dangling(ctx, r.caller.Workspace.ID, &was.Spec, next)
	})
}

func (a *API) launchCampaign(ctx context.Context, r *request) (response, error) {
	var dry bool
	id, err := a.campaigns().action(ctx, r, func(f *fields) {
		if v := f.flag("validate_only"); v != nil {
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
	id, err := a.campaigns().action(ctx, r, nil)
	if err != nil {
		return response{}, err
	}
	return a.act(ctx, r, id, campaign.Pause)
}

func (a *API) resumeCampaign(ctx context.Context, r *request) (response, error) {
	id, err := a.campaigns().action(ctx, r, nil)
	if err != nil {
		return response{}, err
	}
	return a.act(ctx, r, id, campaign.Resume)
}

func (a *API) act(ctx context.Context, r *request, id ident.ID, action campaign.Action) (response, error) {
	d, err := a.Campaigns.Act(ctx, r.caused(http.StatusOK), id, r.match(), action)
	return found(d), err
}

func (a *API) duplicateCampaign(ctx context.Context, r *request) (response, error) {
	var name string
	id, err := a.campaigns().action(ctx, r, func(f *fields) {
		if v := f.text("name", optional, 1, campaign.MaxName); v != nil {
			name = *v
		}
	})
	if err != nil {
		return response{}, err
	}
	d, err := a.Campaigns.Duplicate(ctx, r.caused(http.StatusCreated), id, r.match(), name)
	if err != nil {
		return response{}, err
	}
	return r.created(d, idOf(d)), nil
}

var campaignReadOnly = []string{
	"id", "status", "delivery", "allowed_actions", "external_refs", "spend_to_date", "budget_remaining", "version",
	"created_by", "created_at", "updated_at", "launched_at", "paused_at", "completed_at", "archived_at",
}

// readCampaign reads the writable members; what is absent gets its default.
func readCampaign(f *fields, zone string, currency money.Currency) campaign.Spec {
	name := f.text("name", required, 1, campaign.MaxName)
	s := campaign.Spec{
		Description:         f.text("description", nullable, 0, campaign.MaxDescription),
		Objective:           f.choice("objective", nullable, campaign.Objectives),
		Channels:            f.choices("channels", len(campaign.Channels), campaign.Channels),
		Budget:              readBudget(f, currency),
		Schedule:            readSchedule(f, zone),
		AudienceIDs:         f.ids("audience_ids", campaign.MaxAudiences),
		ExcludedAudienceIDs: f.ids("excluded_audience_ids", campaign.MaxAudiences),
		CreativeIDs:         f.ids("creative_ids", campaign.MaxCreatives),
		ConnectionIDs:       f.ids("connection_ids", campaign.MaxConnections),
		Goal:                readGoal(f),
		Attribution:         readAttribution(f),
		Tracking:            readTracking(f),
		Experiment:          readExperiment(f),
		Tags:                f.tags(),
		Metadata:            f.metadata(),
	}
	set(&s.Name, name)
	for i, id := range s.ExcludedAudienceIDs {
		if slices.Contains(s.AudienceIDs, id) {
			f.bad(fmt.Sprintf("excluded_audience_ids[%d]", i), "duplicate_item", "is in audience_ids too; an audience cannot be both.", fault.Meta{"id": id})
		}
	}
	return s
}

func readBudget(f *fields, fallback money.Currency) *campaign.Budget {
	o := f.nested("budget", nullable)
	if o == nil {
		return nil
	}
	b := campaign.Budget{Currency: fallback, Pacing: campaign.Pacings[0]}
	set(&b.Type, o.choice("type", required, campaign.BudgetTypes))
	set(&b.Currency, o.currency("currency", optional))
	set(&b.Pacing, o.choice("pacing", optional, campaign.Pacings))
	amount := o.amount("amount", required, b.Currency)
	set(&b.Amount, amount)
	b.DailyCap = o.amount("daily_cap", nullable, b.Currency)
	if amount != nil && b.DailyCap != nil && b.DailyCap.Micros > amount.Micros {
		o.bad(o.at("daily_cap"), "too_large", "must not be more than amount.", fault.Meta{"maximum": amount.String()})
	}
	o.done()
	return &b
}

func readSchedule(f *fields, zone string) campaign.Schedule {
	s := campaign.Schedule{Timezone: zone}
	o := f.nested("schedule", optional)
	if o == nil {
		return s
	}
	s.StartAt, s.EndAt = o.instant("start_at"), o.instant("end_at")
	set(&s.Timezone, o.zone("timezone", optional))
	if s.StartAt != nil && s.EndAt != nil && *s.EndAt <= *s.StartAt {
		o.bad(o.at("end_at"), "invalid_value", "must be after schedule.start_at.", fault.Meta{"start_at": s.StartAt.String()})
	}
	o.done()
	return s
}

func readGoal(f *fields) *campaign.Goal {
	o := f.nested("goal", nullable)
	if o == nil {
		return nil
	}
	var g campaign.Goal
	set(&g.Metric, o.choice("metric", required, campaign.Metrics))
	set(&g.Target, o.number("target", required))
	set(&g.Direction, o.choice("direction", required, campaign.Directions))
	o.done()
	return &g
}

func readAttribution(f *fields) campaign.Attribution {
	at := campaign.DefaultAttribution
	o := f.nested("attribution", optional)
	if o == nil {
		return at
	}
	set(&at.ClickDays, o.oneOf("click_days", optional, campaign.ClickDays))
	set(&at.ViewDays, o.oneOf("view_days", optional, campaign.ViewDays))
	set(&at.Model, o.choice("model", optional, campaign.Models))
	o.done()
	return at
}

func readTracking(f *fields) *campaign.Tracking {
	o := f.nested("tracking", nullable)
	if o == nil {
		return nil
	}
	t := campaign.Tracking{LandingURL: o.url("landing_url", campaign.Macros)}
	set(&t.AutoTag, o.flag("auto_tag"))
	if u := o.nested("utm", optional); u != nil {
		for name, to := range map[string]**string{
			"source": &t.UTM.Source, "medium": &t.UTM.Medium, "campaign": &t.UTM.Campaign, "content": &t.UTM.Content, "term": &t.UTM.Term,
		} {
			*to = u.template(name, campaign.MaxUTM, campaign.Macros)
		}
		u.done()
	}
	o.done()
	return &t
}

func readExperiment(f *fields) *campaign.Experiment {
	o := f.nested("experiment", nullable)
	if o == nil {
		return nil
	}
	e := campaign.Experiment{MinConversions: 100}
	set(&e.Split, o.choice("split", required, campaign.Splits))
	set(&e.WinnerMetric, o.choice("winner_metric", required, campaign.Metrics))
	set(&e.MinConversions, o.integer("min_conversions", optional, 0, campaign.MaxConversions))
	e.EndsAt = o.instant("ends_at")
	o.done()
	return &e
}
