package audience

import (
	"context"
	"fmt"
	"math"
	"slices"

	"fanfare/internal/analytics"
	"fanfare/internal/clock"
	"fanfare/internal/ident"
)

// Maximum lengths of the lists in insights.
const (
	maxOverlaps  = 20
	maxCampaigns = 20
)

// MemberCount is the number of members of an audience and the minimum that it
// needs.
type MemberCount struct {
	AudienceID ident.ID `json:"audience_id"`
	Count      int64    `json:"count"`
	Minimum    int64    `json:"minimum"`
}

// Members counts the members of an audience.
func (s *Service) Members(ctx context.Context, workspace, id ident.ID) (MemberCount, error) {
	a, err := s.store.Load(ctx, workspace, id)
	if err != nil {
		return MemberCount{}, err
	}
	return MemberCount{AudienceID: id, Count: a.MemberCount(), Minimum: MinMembers}, nil
}

// Insights are the insights of an audience. Nothing is estimated: metrics come
// from the platforms. If none are stored, their fields are empty and a warning
// says so.
type Insights struct {
	AudienceID ident.ID      `json:"audience_id"`
	Period     Period        `json:"period"`
	AsOf       clock.Instant `json:"as_of"`
	Baseline   string        `json:"baseline"`
	Size       *Size         `json:"size"`
	analytics.AudienceFacts
	Overlap  []Overlap `json:"overlap"`
	Warnings []Warning `json:"warnings"`
}

// Period is a range of days, both included.
type Period struct {
	StartDate string `json:"start_date"`
	EndDate   string `json:"end_date"`
}

// Warning names missing data.
type Warning struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Overlap is another customer list and the members that both share.
type Overlap struct {
	AudienceID  ident.ID `json:"audience_id"`
	Name        string   `json:"name"`
	Shared      int64    `json:"shared"`
	ShareOfThis float64  `json:"share_of_this"`
	Jaccard     float64  `json:"jaccard"`
}

// Insights returns the insights of an audience. baseline is what shares are
// compared with: workspace, or the id of an audience.
func (s *Service) Insights(ctx context.Context, workspace, id ident.ID, p Period, baseline string) (Insights, error) {
	a, err := s.store.Load(ctx, workspace, id)
	if err != nil {
		return Insights{}, err
	}
	in := Insights{AudienceID: id, Period: p, AsOf: clock.At(s.now()), Baseline: baseline, Size: a.Size, Overlap: []Overlap{}}
	if err := s.addFacts(ctx, workspace, &in); err != nil {
		return Insights{}, err
	}
	if a.MemberCount() == 0 {
		return in, nil
	}
	list, err := s.store.Overlaps(ctx, workspace, id, maxOverlaps)
	if err != nil {
		return Insights{}, err
	}
	for _, o := range list {
		both := a.MemberCount() + o.With.MemberCount() - o.Shared
		in.Overlap = append(in.Overlap, Overlap{
			AudienceID: o.With.ID, Name: o.With.Name, Shared: o.Shared,
			ShareOfThis: share(o.Shared, a.MemberCount()), Jaccard: share(o.Shared, both),
		})
	}
	return in, nil
}

// addFacts adds the metrics, and warnings about missing ones.
func (s *Service) addFacts(ctx context.Context, workspace ident.ID, in *Insights) error {
	found, err := s.audienceFacts(ctx, workspace, in)
	if err != nil {
		return fmt.Errorf("query facts about %s: %w", in.AudienceID, err)
	}
	targeting, err := s.store.Campaigns(ctx, workspace, in.AudienceID, maxCampaigns)
	if err != nil {
		return err
	}
	if found == nil {
		in.Campaigns = targeting
		in.Warnings = []Warning{{Code: analytics.NoFacts, Message: "No platform has reported metrics for this audience in the period."}}
		return nil
	}
	in.AudienceFacts = *found
	in.Campaigns = mergeCampaigns(found.Campaigns, targeting)
	for _, w := range found.Warnings {
		in.Warnings = append(in.Warnings, Warning{w.Code, w.Message})
	}
	return nil
}

// audienceFacts returns the metrics of an audience, or nil without
// a source of facts.
func (s *Service) audienceFacts(ctx context.Context, workspace ident.ID, in *Insights) (*analytics.AudienceFacts, error) {
	if s.facts == nil {
		return nil, nil
	}
	first, ok := clock.ParseDate(in.Period.StartDate)
	last, ok2 := clock.ParseDate(in.Period.EndDate)
	if !ok || !ok2 {
		return nil, fmt.Errorf("%s to %s are not days", in.Period.StartDate, in.Period.EndDate)
	}
	return s.facts.AudienceInsights(ctx, workspace, in.AudienceID, in.Baseline, first, last)
}

// mergeCampaigns lists campaigns with metrics first, then campaigns that only
// target the audience, without duplicates.
func mergeCampaigns(found, targeting []analytics.CampaignMetrics) []analytics.CampaignMetrics {
	list := slices.Clone(found)
	for _, c := range targeting {
		if !slices.ContainsFunc(found, func(f analytics.CampaignMetrics) bool { return f.CampaignID == c.CampaignID }) {
			list = append(list, c)
		}
	}
	return list[:min(len(list), maxCampaigns)]
}

// share returns part / whole, rounded to four decimals. It is at most 1,
// because members can change between the two counts.
func share(part, whole int64) float64 {
	if part >= whole {
		return 1
	}
	return math.Round(float64(part)/float64(whole)*1e4) / 1e4
}
