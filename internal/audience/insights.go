package audience

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"fanfare/internal/analytics"
	"fanfare/internal/body"
	"fanfare/internal/clock"
	"fanfare/internal/fault"
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

const (
	// insightDays is the default length of the period.
	insightDays = 30
	// wholeWorkspace is the baseline value for the whole workspace instead of
	// an audience.
	wholeWorkspace = "workspace"
)

// InsightsRequest selects insights, by the query parameters of a caller.
type InsightsRequest struct {
	// Timezone is where the days of the period are.
	Timezone string
	// From and Until limit the period; Until is excluded. The default end is
	// yesterday; the default start makes the period insightDays long.
	From, Until *clock.Instant
	// Baseline is what shares are compared with: workspace, which is the
	// default, or the id of an audience.
	Baseline *string
	// Problems lists the parameters that could not be read. They are reported
	// together with the problems of the others.
	Problems []fault.Detail
}

// Insights returns the insights of an audience. Invalid parameters are an
// invalid_parameter fault.
func (s *Service) Insights(ctx context.Context, workspace, id ident.ID, r InsightsRequest) (Insights, error) {
	a, err := s.store.Load(ctx, workspace, id)
	if err != nil {
		return Insights{}, err
	}
	now := s.now()
	in := Insights{AudienceID: id, AsOf: clock.At(now), Baseline: wholeWorkspace, Size: a.Size, Overlap: []Overlap{}}
	body.Set(&in.Baseline, r.Baseline)
	if in.Period, err = s.checkInsights(ctx, workspace, &r, in.Baseline, now); err != nil {
		return Insights{}, err
	}
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

// checkInsights returns the period of a request, or a fault with all of its
// problems.
func (s *Service) checkInsights(ctx context.Context, workspace ident.ID, r *InsightsRequest, baseline string, now time.Time) (p Period, err error) {
	problems := r.Problems
	bad := func(name, code, message string, meta fault.Meta) {
		problems = append(problems, fault.Detail{Field: name, In: "query", Code: code, Message: name + " " + message, Meta: meta})
	}
	if len(problems) == 0 {
		var lastDay string
		if p, lastDay, err = r.period(now); err != nil {
			return p, err
		}
		if lastDay != "" {
			bad("start_date", "invalid_range", "must not be after end_date.", fault.Meta{"end_date": lastDay})
		}
	}
	if baseline != wholeWorkspace {
		_, err := s.store.Doc(ctx, workspace, ident.ID(baseline))
		switch {
		case fault.Is(err, fault.NotFound):
			bad("baseline", "invalid_value", "must be workspace, or the id of an audience.", nil)
		case err != nil:
			return p, err
		}
	}
	if len(problems) > 0 {
		return p, fault.BadQuery(problems)
	}
	return p, nil
}

// period returns the days of a request. If they would start after the default
// end, it returns that day.
func (r *InsightsRequest) period(now time.Time) (p Period, lastDay string, err error) {
	zone, err := clock.Zone(r.Timezone)
	if err != nil {
		return p, "", err
	}
	day := func(t time.Time, shift int) string {
		y, m, d := t.In(zone).Date()
		return time.Date(y, m, d+shift, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
	}
	var until clock.Instant
	if r.Until != nil {
		until = *r.Until
	} else {
		yesterday := day(now, -1)
		_, next, _ := clock.ParseDay(yesterday, zone)
		if until = clock.At(next); r.From != nil && *r.From >= until {
			return p, yesterday, nil
		}
	}
	// The end is excluded, unless that would leave an empty period.
	end := until.Add(-time.Millisecond)
	if r.From == nil {
		return Period{StartDate: day(end.Time(), 1-insightDays), EndDate: day(end.Time(), 0)}, "", nil
	}
	return Period{StartDate: day(r.From.Time(), 0), EndDate: day(max(end, *r.From).Time(), 0)}, "", nil
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
