// Package demo fills a workspace with campaigns, creatives and audiences that
// look like somebody's.
package demo

import (
	"context"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

	"fanfare/internal/audience"
	"fanfare/internal/campaign"
	"fanfare/internal/clock"
	"fanfare/internal/creative"
	"fanfare/internal/ident"
	"fanfare/internal/money"
	"fanfare/internal/record"
)

// Workspace is the name of the demo workspace.
const Workspace = "Northwind Outdoor (demo)"

type plan struct {
	name, objective string
	channels, tags  []string
	kind            string
	amount          int64
	// from and to are days from today; 0 to is open.
	from, to int
	actions  []campaign.Action
	archive  bool
	url      string
	// prompt is what its creative is generated from, empty for none, audience
	// the name of one below.
	prompt, audience string
}

var plans = []plan{
	{name: "Black Friday: Trail Shoes", objective: "sales", channels: []string{"search", "social"}, tags: []string{"black-friday", "q4"}, kind: "lifetime", amount: 18_000, from: -4, to: 13, actions: []campaign.Action{campaign.Launch}, prompt: "Trail shoes from Northwind Outdoor, 30% off until Black Friday, for trail runners. Grip on wet rock, 240 grams, free returns.", audience: "Trail runners", url: "https://northwind.example/trail-shoes"},
	{name: "Black Friday: Teaser Video", objective: "awareness", channels: []string{"video", "social"}, tags: []string{"black-friday", "q4"}, kind: "daily", amount: 420, from: -10, to: 12, actions: []campaign.Action{campaign.Launch}, prompt: "Black Friday at Northwind Outdoor: 30% off trail shoes and jackets, from November 20.", audience: "Trail runners", url: "https://northwind.example/black-friday"},
	{name: "Holiday Gift Guide", objective: "sales", channels: []string{"email", "display"}, tags: []string{"holiday", "q4"}, kind: "lifetime", amount: 9_500, from: 9, to: 39, actions: []campaign.Action{campaign.Launch}, prompt: "Gift guide from Northwind Outdoor: presents for hikers under $50. Gift wrap included, order by December 18.", audience: "Newsletter readers", url: "https://northwind.example/gifts"},
	{name: "Winter Jackets: Retargeting", objective: "sales", channels: []string{"display", "social"}, tags: []string{"always-on"}, kind: "daily", amount: 150, from: -32, actions: []campaign.Action{campaign.Launch}, prompt: "Winter jackets from Northwind Outdoor: warm to -15 degrees, recycled down, repaired for life.", audience: "Cart abandoners", url: "https://northwind.example/jackets"},
	{name: "Brand Search", objective: "traffic", channels: []string{"search"}, tags: []string{"always-on", "brand"}, kind: "daily", amount: 80, from: -210, actions: []campaign.Action{campaign.Launch}, prompt: "Northwind Outdoor: boots, tents and jackets for the mountains. Free returns, 14 shops.", url: "https://northwind.example/"},
	{name: "Newsletter: Weekly Deals", objective: "engagement", channels: []string{"email"}, tags: []string{"always-on", "crm"}, from: -150, actions: []campaign.Action{campaign.Launch}, prompt: "Weekly deals from Northwind Outdoor: outdoor gear, new offers every Thursday.", audience: "Newsletter readers", url: "https://northwind.example/deals"},
	{name: "Podcast Sponsorship: Trail Talk", objective: "awareness", channels: []string{"audio"}, tags: []string{"brand"}, kind: "lifetime", amount: 6_000, from: -45, to: 20, actions: []campaign.Action{campaign.Launch, campaign.Pause}, prompt: "Northwind Outdoor presents Trail Talk, the podcast for runners. Code TRAIL saves 10%.", audience: "Trail runners", url: "https://northwind.example/trailtalk"},
	{name: "Creator Partnership: Alpine Week", objective: "engagement", channels: []string{"influencer", "social"}, tags: []string{"brand", "creators"}, kind: "lifetime", amount: 12_000, from: -20, to: 30, actions: []campaign.Action{campaign.Launch, campaign.Pause}, prompt: "Alpine Week with Northwind Outdoor: seven days, seven hikes in the Alps, for weekend hikers.", audience: "Weekend hikers", url: "https://northwind.example/alpine-week"},
	{name: "App Install: Route Planner", objective: "app_promotion", channels: []string{"social", "video"}, tags: []string{"app"}, kind: "daily", amount: 200, prompt: "Route Planner, the free app for hikers: plans routes, works offline, shows water and huts.", audience: "Weekend hikers", url: "https://northwind.example/app"},
	{name: "Dealer Leads: Spring Catalogue", objective: "leads", channels: []string{"search", "email"}, tags: []string{"b2b", "q1"}, kind: "lifetime", amount: 7_500, from: 70, to: 130, url: "https://northwind.example/dealers"},
	{name: "SMS: Store Opening Munich", objective: "traffic", channels: []string{"sms", "push"}, tags: []string{"local"}, kind: "lifetime", amount: 900, from: 14, to: 16, url: "https://northwind.example/munich"},
	{name: "Summer Tents Clearance", objective: "sales", channels: []string{"social", "display"}, tags: []string{"q3"}, kind: "lifetime", amount: 5_000, from: -120, archive: true, actions: []campaign.Action{campaign.Launch}, url: "https://northwind.example/tents"},
	{name: "Affiliate Programme 2027", objective: "sales", channels: []string{"affiliate"}, tags: []string{"q1"}, url: "https://northwind.example/affiliates"},
}

// Services are what the demo is made with.
type Services struct {
	Campaigns *campaign.Service
	Creatives *creative.Service
	Audiences *audience.Service
}

// Fill makes the demo's records.
func (s Services) Fill(ctx context.Context, workspace ident.ID, now time.Time) error {
	cause := record.Cause{Workspace: workspace, Actor: record.System}
	made, err := s.audiences(ctx, cause)
	if err != nil {
		return err
	}
	for _, p := range plans {
		if err := s.campaign(ctx, cause, p, made, now); err != nil {
			return fmt.Errorf("make demo campaign %q: %w", p.name, err)
		}
	}
	return nil
}

func (s Services) campaign(ctx context.Context, cause record.Cause, p plan, audiences map[string]ident.ID, now time.Time) error {
	spec := p.spec(now)
	if id := audiences[p.audience]; id != "" {
		spec.AudienceIDs = []ident.ID{id}
	}
	if p.prompt != "" {
		d, err := s.Creatives.Generate(ctx, cause, creative.Request{
			Prompt: p.prompt, Tags: p.tags, Metadata: map[string]string{}, Seed: new(int64),
			Parameters: creative.Parameters{
				Type: "text", Channels: p.channels, Variants: creative.DefaultVariants, LandingURL: &p.url, Objective: &p.objective,
				AspectRatios: []string{}, Sizes: []string{}, References: []creative.Reference{},
			},
		})
		if err != nil {
			return err
		}
		spec.CreativeIDs = []ident.ID{idOf(d)}
	}
	d, err := s.Campaigns.Create(ctx, cause, spec)
	if err != nil {
		return err
	}
	for _, a := range p.actions {
		if _, err := s.Campaigns.Act(ctx, cause, idOf(d), record.Match{}, a); err != nil {
			return fmt.Errorf("%s: %w", a, err)
		}
	}
	if p.archive {
		_, err = s.Campaigns.Archive(ctx, cause, idOf(d), record.Match{})
	}
	return err
}

// idOf reads the id of a record just made.
func idOf(d record.Doc) ident.ID {
	var made struct {
		ID ident.ID `json:"id"`
	}
	if err := json.Unmarshal(d.JSON, &made); err != nil {
		panic(err)
	}
	return made.ID
}

func (p plan) spec(now time.Time) campaign.Spec {
	s := campaign.Spec{
		Name: p.name, Objective: &p.objective, Channels: p.channels, Tags: p.tags,
		Schedule: campaign.Schedule{Timezone: "UTC"}, Attribution: campaign.DefaultAttribution,
		Tracking: &campaign.Tracking{LandingURL: &p.url, AutoTag: true},
	}
	today := now.UTC().Truncate(24 * time.Hour)
	if p.from != 0 {
		at := clock.At(today.AddDate(0, 0, p.from))
		s.Schedule.StartAt = &at
	}
	if p.to != 0 {
		at := clock.At(today.AddDate(0, 0, p.to))
		s.Schedule.EndAt = &at
	}
	if p.kind != "" {
		s.Budget = &campaign.Budget{Type: p.kind, Amount: money.Amount{Micros: p.amount * 1_000_000, Digits: 2}, Currency: "USD", Pacing: "even"}
	}
	return s
}
