package campaign

import (
	"context"
	"fmt"
	"slices"

	"fanfare/internal/body"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/money"
)

// Defaults apply if the caller sends no time zone or no currency.
type Defaults struct {
	Timezone string
	Currency money.Currency
}

// parseSpec parses and checks the campaign that a caller sent. It reports all
// problems at once, including new ids that do not exist or are archived.
func (s *Service) parseSpec(ctx context.Context, workspace ident.ID, f *body.Reader, d Defaults, was *Spec) (Spec, error) {
	spec := readSpec(f, d)
	f.Done(readOnly...)
	f.Advise(readOnlyAdvice)
	dangling, err := s.missingRefs(ctx, workspace, was, &spec)
	if err != nil {
		return spec, err
	}
	f.Problems.Add(dangling...)
	return spec, f.Err()
}

// readOnlyAdvice says how to change read-only fields.
var readOnlyAdvice = map[string]string{"status": "Use POST /v1/campaigns/{id}/launch, pause or resume."}

// readOnly lists the fields that callers cannot write.
var readOnly = []string{
	"id", "status", "delivery", "allowed_actions", "external_refs", "spend_to_date", "budget_remaining", "version",
	"created_by", "created_at", "updated_at", "launched_at", "paused_at", "completed_at", "archived_at",
}

// readSpec reads the writable fields. Absent fields get their defaults.
func readSpec(f *body.Reader, d Defaults) Spec {
	name := f.Text("name", body.Required, 1, MaxName)
	s := Spec{
		Description:         f.Text("description", body.Nullable, 0, MaxDescription),
		Objective:           f.Choice("objective", body.Nullable, Objectives),
		Channels:            f.Choices("channels", len(Channels), Channels),
		Budget:              readBudget(f, d.Currency),
		Schedule:            readSchedule(f, d.Timezone),
		AudienceIDs:         f.IDs("audience_ids", MaxAudiences),
		ExcludedAudienceIDs: f.IDs("excluded_audience_ids", MaxAudiences),
		CreativeIDs:         f.IDs("creative_ids", MaxCreatives),
		ConnectionIDs:       f.IDs("connection_ids", MaxConnections),
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

func readBudget(f *body.Reader, currency money.Currency) *Budget {
	o := f.Nested("budget", body.Nullable)
	if o == nil {
		return nil
	}
	b := Budget{Currency: currency, Pacing: Pacings[0]}
	body.Set(&b.Type, o.Choice("type", body.Required, BudgetTypes))
	body.Set(&b.Currency, o.Currency("currency", body.Optional))
	body.Set(&b.Pacing, o.Choice("pacing", body.Optional, Pacings))
	amount := o.Amount("amount", body.Required, b.Currency)
	body.Set(&b.Amount, amount)
	b.DailyCap = o.Amount("daily_cap", body.Nullable, b.Currency)
	if amount != nil && b.DailyCap != nil && b.DailyCap.Micros > amount.Micros {
		o.Bad(o.At("daily_cap"), "too_large", "must not be more than amount.", fault.Meta{"maximum": amount.String()})
	}
	o.Done()
	return &b
}

func readSchedule(f *body.Reader, zone string) Schedule {
	s := Schedule{Timezone: zone}
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

func readGoal(f *body.Reader) *Goal {
	o := f.Nested("goal", body.Nullable)
	if o == nil {
		return nil
	}
	var g Goal
	body.Set(&g.Metric, o.Choice("metric", body.Required, Metrics))
	body.Set(&g.Target, o.Number("target", body.Required))
	body.Set(&g.Direction, o.Choice("direction", body.Required, Directions))
	o.Done()
	return &g
}

func readAttribution(f *body.Reader) Attribution {
	at := DefaultAttribution
	o := f.Nested("attribution", body.Optional)
	if o == nil {
		return at
	}
	body.Set(&at.ClickDays, o.OneOf("click_days", body.Optional, ClickDays))
	body.Set(&at.ViewDays, o.OneOf("view_days", body.Optional, ViewDays))
	body.Set(&at.Model, o.Choice("model", body.Optional, Models))
	o.Done()
	return at
}

func readTracking(f *body.Reader) *Tracking {
	o := f.Nested("tracking", body.Nullable)
	if o == nil {
		return nil
	}
	t := Tracking{LandingURL: o.URL("landing_url", Macros)}
	body.Set(&t.AutoTag, o.Flag("auto_tag"))
	if u := o.Nested("utm", body.Optional); u != nil {
		t.UTM.Source = u.Template("source", MaxUTM, Macros)
		t.UTM.Medium = u.Template("medium", MaxUTM, Macros)
		t.UTM.Campaign = u.Template("campaign", MaxUTM, Macros)
		t.UTM.Content = u.Template("content", MaxUTM, Macros)
		t.UTM.Term = u.Template("term", MaxUTM, Macros)
		u.Done()
	}
	o.Done()
	return &t
}

func readExperiment(f *body.Reader) *Experiment {
	o := f.Nested("experiment", body.Nullable)
	if o == nil {
		return nil
	}
	e := Experiment{MinConversions: 100}
	body.Set(&e.Split, o.Choice("split", body.Required, Splits))
	body.Set(&e.WinnerMetric, o.Choice("winner_metric", body.Required, Metrics))
	body.Set(&e.MinConversions, o.Integer("min_conversions", body.Optional, 0, MaxMinConversions))
	e.EndsAt = o.Instant("ends_at")
	o.Done()
	return &e
}
