package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/go-json-experiment/json"

	"fanfare/internal/body"
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
		{name: "tag", lower: true, longest: body.MaxTag},
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
	f := body.NewReader(&r.object, false)
	spec := readCampaign(f, r.caller.Workspace.Timezone, r.caller.Workspace.Currency)
	f.Done(campaignReadOnly...)
	f.Advise(campaignAdvice)
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
		f, err := body.Merge(current.JSON, r.object, campaignReadOnly)
		if err != nil {
			return campaign.Spec{}, err
		}
		spec := readCampaign(f, r.caller.Workspace.Timezone, r.caller.Workspace.Currency)
		f.Done()
		f.Advise(campaignAdvice)
		return spec, a.campaignProblems(ctx, r, f, current.JSON, &spec)
	})
	return found(d), err
}

// campaignProblems returns all that is wrong with a body.
func (a *API) campaignProblems(ctx context.Context, r *request, f *body.Reader, current []byte, next *campaign.Spec) error {
	return f.ErrWith(func() ([]fault.Detail, error) {
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
	id, err := a.campaigns().action(ctx, r, func(f *body.Reader) {
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
	id, err := a.campaigns().action(ctx, r, func(f *body.Reader) {
		if v := f.Text("name", body.Optional, 1, campaign.MaxName); v != nil {
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
func readCampaign(f *body.Reader, zone string, currency money.Currency) campaign.Spec {
	name := f.Text("name", body.Required, 1, campaign.MaxName)
	s := campaign.Spec{
		Description:         f.Text("description", body.Nullable, 0, campaign.MaxDescription),
		Objective:           f.Choice("objective", body.Nullable, campaign.Objectives),
		Channels:            f.Choices("channels", len(campaign.Channels), campaign.Channels),
		Budget:              readBudget(f, currency),
		Schedule:            readSchedule(f, zone),
		AudienceIDs:         f.IDs("audience_ids", campaign.MaxAudiences),
		ExcludedAudienceIDs: f.IDs("excluded_audience_ids", campaign.MaxAudiences),
		CreativeIDs:         f.IDs("creative_ids", campaign.MaxCreatives),
		ConnectionIDs:       f.IDs("connection_ids", campaign.MaxConnections),
		Goal:                readGoal(f),
		Attribution:         readAttribution(f),
		Tracking:            readTracking(f),
		Experiment:          readExperiment(f),
		Tags:                f.Tags(),
		Metadata:            f.Metadata(),
	}
	body.Set(&s.Name, name)
	for i, id := range s.ExcludedAudienceIDs {
		if slices.Contains(s.AudienceIDs, id) {
			f.Bad(fmt.Sprintf("excluded_audience_ids[%d]", i), "duplicate_item", "is in audience_ids too; an audience cannot be both.", fault.Meta{"id": id})
		}
	}
	return s
}

func readBudget(f *body.Reader, fallback money.Currency) *campaign.Budget {
	o := f.Nested("budget", body.Nullable)
	if o == nil {
		return nil
	}
	b := campaign.Budget{Currency: fallback, Pacing: campaign.Pacings[0]}
	body.Set(&b.Type, o.Choice("type", body.Required, campaign.BudgetTypes))
	body.Set(&b.Currency, o.Currency("currency", body.Optional))
	body.Set(&b.Pacing, o.Choice("pacing", body.Optional, campaign.Pacings))
	amount := o.Amount("amount", body.Required, b.Currency)
	body.Set(&b.Amount, amount)
	b.DailyCap = o.Amount("daily_cap", body.Nullable, b.Currency)
	if amount != nil && b.DailyCap != nil && b.DailyCap.Micros > amount.Micros {
		o.Bad(o.At("daily_cap"), "too_large", "must not be more than amount.", fault.Meta{"maximum": amount.String()})
	}
	o.Done()
	return &b
}

func readSchedule(f *body.Reader, zone string) campaign.Schedule {
	s := campaign.Schedule{Timezone: zone}
	o := f.Nested("schedule", body.Optional)
	if o == nil {
		return s
	}
	s.StartAt, s.EndAt = o.Instant("start_at"), o.Instant("end_at")
	body.Set(&s.Timezone, o.Zone("timezone", body.Optional))
	if s.StartAt != nil && s.EndAt != nil && *s.EndAt <= *s.StartAt {
		o.Bad(o.At("end_at"), "invalid_value", "must be after schedule.start_at.", fault.Meta{"start_at": s.StartAt.String()})
	}
	o.Done()
	return s
}

func readGoal(f *body.Reader) *campaign.Goal {
	o := f.Nested("goal", body.Nullable)
	if o == nil {
		return nil
	}
	var g campaign.Goal
	body.Set(&g.Metric, o.Choice("metric", body.Required, campaign.Metrics))
	body.Set(&g.Target, o.Number("target", body.Required))
	body.Set(&g.Direction, o.Choice("direction", body.Required, campaign.Directions))
	o.Done()
	return &g
}

func readAttribution(f *body.Reader) campaign.Attribution {
	at := campaign.DefaultAttribution
	o := f.Nested("attribution", body.Optional)
	if o == nil {
		return at
	}
	body.Set(&at.ClickDays, o.OneOf("click_days", body.Optional, campaign.ClickDays))
	body.Set(&at.ViewDays, o.OneOf("view_days", body.Optional, campaign.ViewDays))
	body.Set(&at.Model, o.Choice("model", body.Optional, campaign.Models))
	o.Done()
	return at
}

func readTracking(f *body.Reader) *campaign.Tracking {
	o := f.Nested("tracking", body.Nullable)
	if o == nil {
		return nil
	}
	t := campaign.Tracking{LandingURL: o.URL("landing_url", campaign.Macros)}
	body.Set(&t.AutoTag, o.Flag("auto_tag"))
	if u := o.Nested("utm", body.Optional); u != nil {
		for name, to := range map[string]**string{
			"source": &t.UTM.Source, "medium": &t.UTM.Medium, "campaign": &t.UTM.Campaign, "content": &t.UTM.Content, "term": &t.UTM.Term,
		} {
			*to = u.Template(name, campaign.MaxUTM, campaign.Macros)
		}
		u.Done()
	}
	o.Done()
	return &t
}

func readExperiment(f *body.Reader) *campaign.Experiment {
	o := f.Nested("experiment", body.Nullable)
	if o == nil {
		return nil
	}
	e := campaign.Experiment{MinConversions: 100}
	body.Set(&e.Split, o.Choice("split", body.Required, campaign.Splits))
	body.Set(&e.WinnerMetric, o.Choice("winner_metric", body.Required, campaign.Metrics))
	body.Set(&e.MinConversions, o.Integer("min_conversions", body.Optional, 0, campaign.MaxConversions))
	e.EndsAt = o.Instant("ends_at")
	o.Done()
	return &e
}
