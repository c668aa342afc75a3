// Package demo fills a workspace with realistic campaigns, creatives and
// audiences.
package demo

import (
	"context"
	"fmt"
	"time"

	"fanfare/internal/audience"
	"fanfare/internal/body"
	"fanfare/internal/campaign"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/creative"
	"fanfare/internal/ident"
	"fanfare/internal/money"
	"fanfare/internal/record"
)

// Workspace is the name of the demo workspace.
const Workspace = "Northwind Outdoor (demo)"

type campaignPlan struct {
	name, objective string
	channels, tags  []string
	kind            string
	amount          int64
	// from and to are days from today; a to of 0 is no end.
	from, to int
	launched bool
	paused   bool
	archive  bool
	url      string
	// prompt generates the creative, empty for none. audience is the name of a
	// demo audience.
	prompt, audience string
}

// campaignPlans have the names of the sandbox's campaigns, except for those
// that run on no platform yet.
var campaignPlans = []campaignPlan{
	{name: "Black Friday: Trail Shoes", objective: "sales", channels: []string{"search", "social"}, tags: []string{"black-friday", "q4"}, kind: "daily", amount: 4_200, from: -89, to: 13, launched: true, prompt: "Trail shoes from Northwind Outdoor, 30% off until Black Friday, for trail runners. Grip on wet rock, 240 grams, free returns.", audience: "Trail runners", url: "https://northwind.example/trail-shoes"},
	{name: "Brand Search", objective: "traffic", channels: []string{"search"}, tags: []string{"always-on", "brand"}, kind: "daily", amount: 1_400, from: -210, launched: true, prompt: "Northwind Outdoor: boots, tents and jackets for the mountains. Free returns, 14 shops.", url: "https://northwind.example/"},
	{name: "Winter Jackets: Retargeting", objective: "sales", channels: []string{"display"}, tags: []string{"always-on"}, kind: "daily", amount: 900, from: -89, launched: true, prompt: "Winter jackets from Northwind Outdoor: warm to -15 degrees, recycled down, repaired for life.", audience: "Cart abandoners", url: "https://northwind.example/jackets"},
	{name: "Winter Jackets: Lookalikes", objective: "sales", channels: []string{"social"}, tags: []string{"q4"}, kind: "daily", amount: 1_600, from: -89, launched: true, prompt: "Winter jackets from Northwind Outdoor, for weekend hikers: warm, light, packs into its own pocket.", audience: "Weekend hikers", url: "https://northwind.example/jackets"},
	{name: "Performance Max: All Products", objective: "sales", channels: []string{"display"}, tags: []string{"always-on"}, kind: "daily", amount: 1_800, from: -120, launched: true, prompt: "Everything for the trail from Northwind Outdoor: shoes, packs, tents. Free returns for 60 days.", url: "https://northwind.example/"},
	{name: "Trail Talk: Video Teaser", objective: "awareness", channels: []string{"video"}, tags: []string{"brand"}, kind: "daily", amount: 700, from: -60, to: 30, launched: true, prompt: "Northwind Outdoor presents Trail Talk, the show for runners. Code TRAIL saves 10%.", audience: "Trail runners", url: "https://northwind.example/trailtalk"},
	{name: "Trail Talk: Creator Clips", objective: "engagement", channels: []string{"social"}, tags: []string{"brand", "creators"}, kind: "daily", amount: 800, from: -60, to: 30, launched: true, prompt: "Alpine Week with Northwind Outdoor: seven days, seven hikes in the Alps, for weekend hikers.", audience: "Weekend hikers", url: "https://northwind.example/trailtalk"},
	{name: "Trail Shoes: Try-on", objective: "traffic", channels: []string{"social"}, tags: []string{"q4"}, kind: "daily", amount: 650, from: -45, launched: true, prompt: "Try on trail shoes from Northwind Outdoor at home. Five days, free returns.", audience: "Trail runners", url: "https://northwind.example/try-on"},
	{name: "Flash Sale: Rain Gear", objective: "sales", channels: []string{"social"}, tags: []string{"q4"}, kind: "daily", amount: 1_000, from: -30, to: 5, launched: true, prompt: "Rain jackets from Northwind Outdoor, 25% off for five days. Waterproof, breathable, made to be repaired.", audience: "Newsletter readers", url: "https://northwind.example/rain"},
	{name: "Weekend Hikes: Reach", objective: "awareness", channels: []string{"social"}, tags: []string{"brand"}, kind: "daily", amount: 600, from: -75, launched: true, paused: true, prompt: "Weekend hikes with Northwind Outdoor: routes, gear and good company.", audience: "Weekend hikers", url: "https://northwind.example/hikes"},
	{name: "Gear Guide: Traffic", objective: "traffic", channels: []string{"social"}, tags: []string{"always-on"}, kind: "daily", amount: 500, from: -89, launched: true, prompt: "The gear guide from Northwind Outdoor: what to pack for every season.", url: "https://northwind.example/guide"},
	{name: "Corporate Gifts: Lead Form", objective: "leads", channels: []string{"social"}, tags: []string{"b2b", "q4"}, kind: "daily", amount: 1_500, from: -50, to: 32, launched: true, prompt: "Corporate gifts from Northwind Outdoor: bottles, jackets and packs with your logo. From 25 pieces.", url: "https://northwind.example/b2b"},
	{name: "Team Outings: Sponsored Content", objective: "leads", channels: []string{"social"}, tags: []string{"b2b"}, kind: "daily", amount: 1_100, from: -45, launched: true, prompt: "Team outings with Northwind Outdoor: guided hikes for 10 to 200 people.", url: "https://northwind.example/outings"},
	{name: "Outdoor Employer: Awareness", objective: "awareness", channels: []string{"social"}, tags: []string{"hiring"}, kind: "daily", amount: 800, from: -40, launched: true, paused: true, url: "https://northwind.example/jobs"},
	{name: "Holiday Gift Guide", objective: "sales", channels: []string{"email", "display"}, tags: []string{"holiday", "q4"}, kind: "lifetime", amount: 9_500, from: 9, to: 39, launched: true, prompt: "Gift guide from Northwind Outdoor: presents for hikers under $50. Gift wrap included, order by December 18.", audience: "Newsletter readers", url: "https://northwind.example/gifts"},
	{name: "SMS: Store Opening Munich", objective: "traffic", channels: []string{"sms", "push"}, tags: []string{"local"}, kind: "lifetime", amount: 900, from: 14, to: 16, url: "https://northwind.example/munich"},
	{name: "Affiliate Programme 2027", objective: "sales", channels: []string{"affiliate"}, tags: []string{"q1"}, url: "https://northwind.example/affiliates"},
	{name: "Spring Clearance 2025", objective: "sales", channels: []string{"social"}, tags: []string{"q2"}, kind: "daily", amount: 1_200, from: -600, archive: true, launched: true, url: "https://northwind.example/clearance"},
}

// Services are the services that create the demo's records.
type Services struct {
	Campaigns   *campaign.Service
	Creatives   *creative.Service
	Audiences   *audience.Service
	Connections *connection.Service
}

// sandboxSeed makes the demo's metrics the same everywhere.
const sandboxSeed = 7

// Fill creates the demo's records, connects the sandbox and syncs the metrics
// of the last three months.
func (s Services) Fill(ctx context.Context, workspace ident.ID, now time.Time) error {
	cause := record.Cause{Workspace: workspace, Actor: record.System}
	made, err := s.createAudiences(ctx, cause)
	if err != nil {
		return err
	}
	sent, err := body.ValueOf(map[string]any{
		"platform": connection.PlatformSandbox, "name": "Northwind sandbox", "link_by_name": true, "write_enabled": true, "config": map[string]any{"seed": sandboxSeed},
	})
	if err != nil {
		return err
	}
	d, err := s.Connections.Create(ctx, cause, sent, connection.WorkspaceDefaults{Currency: "USD", Zone: "UTC"})
	if err != nil {
		return fmt.Errorf("connect the sandbox: %w", err)
	}
	sandbox := d.ID()
	ids := make([]ident.ID, len(campaignPlans))
	for i, p := range campaignPlans {
		if ids[i], err = s.createCampaign(ctx, cause, p, made, sandbox, now); err != nil {
			return fmt.Errorf("make demo campaign %q: %w", p.name, err)
		}
	}
	if _, err := s.Connections.Work(ctx, workspace, sandbox); err != nil {
		return fmt.Errorf("sync the sandbox: %w", err)
	}
	// Campaigns are linked by now, so a pause also reaches the platforms.
	for i, p := range campaignPlans {
		if err := s.finishCampaign(ctx, cause, p, ids[i]); err != nil {
			return fmt.Errorf("finish demo campaign %q: %w", p.name, err)
		}
	}
	return nil
}

func (s Services) createCampaign(ctx context.Context, cause record.Cause, p campaignPlan, audiences map[string]ident.ID, sandbox ident.ID, now time.Time) (ident.ID, error) {
	spec := p.spec(now)
	spec.ConnectionIDs = []ident.ID{sandbox}
	if id := audiences[p.audience]; id != "" {
		spec.AudienceIDs = []ident.ID{id}
	}
	d, err := s.Campaigns.CreateSpec(ctx, cause, spec)
	if err != nil {
		return "", err
	}
	id := d.ID()
	if p.prompt != "" {
		if err := s.generateCreative(ctx, cause, p, id); err != nil {
			return "", err
		}
	}
	if p.launched {
		_, err = s.Campaigns.Transition(ctx, cause, id, record.Match{}, campaign.Launch)
	}
	return id, err
}

// generateCreative generates the creative of a campaign from its prompt.
func (s Services) generateCreative(ctx context.Context, cause record.Cause, p campaignPlan, id ident.ID) error {
	sent, err := body.ValueOf(map[string]any{"prompt": p.prompt, "campaign_id": id, "channels": p.channels, "tags": p.tags, "landing_url": p.url, "seed": 0})
	if err != nil {
		return err
	}
	d, _, err := s.Creatives.Generate(ctx, cause, sent)
	if err != nil {
		return err
	}
	patch, err := body.ValueOf(map[string]any{"creative_ids": []ident.ID{d.ID()}})
	if err != nil {
		return err
	}
	_, err = s.Campaigns.Update(ctx, cause, id, record.Match{}, patch, campaign.Defaults{})
	return err
}

// finishCampaign pauses or archives a campaign as its plan says.
func (s Services) finishCampaign(ctx context.Context, cause record.Cause, p campaignPlan, id ident.ID) (err error) {
	if p.paused {
		_, err = s.Campaigns.Transition(ctx, cause, id, record.Match{}, campaign.Pause)
	}
	if p.archive {
		_, err = s.Campaigns.Archive(ctx, cause, id, record.Match{})
	}
	return err
}

func (p campaignPlan) spec(now time.Time) campaign.Spec {
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
