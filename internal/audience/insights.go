package audience

import (
	"context"
	"math"

	"fanfare/internal/clock"
	"fanfare/internal/ident"
)

// What insights show at most.
const (
	maxOverlaps  = 20
	maxCampaigns = 20
)

// Count is how many members an audience has and how many it needs.
type Count struct {
	AudienceID ident.ID `json:"audience_id"`
	Count      int64    `json:"count"`
	Minimum    int64    `json:"minimum"`
}

// Members counts the members of an audience.
func (s *Service) Members(ctx context.Context, workspace, id ident.ID) (Count, error) {
	a, err := s.store.Load(ctx, workspace, id)
	if err != nil {
		return Count{}, err
	}
	return Count{AudienceID: id, Count: a.Members(), Minimum: MinMembers}, nil
}

// Insights are what is known about an audience. Nothing in them is guessed:
// figures come from the platforms, and as long as none are stored, the members
// that would show them are empty and a warning says so.
type Insights struct {
	AudienceID   ident.ID      `json:"audience_id"`
	Period       Period        `json:"period"`
	AsOf         clock.Instant `json:"as_of"`
	Baseline     string        `json:"baseline"`
	Size         *Size         `json:"size"`
	Trend        []any         `json:"trend"`
	Composition  Composition   `json:"composition"`
	ByChannel    []any         `json:"by_channel"`
	Performance  Performance   `json:"performance"`
	BestTimes    []any         `json:"best_times"`
	TopCreatives []any         `json:"top_creatives"`
	Campaigns    []Campaign    `json:"campaigns"`
	Overlap      []Overlap     `json:"overlap"`
	Warnings     []Warning     `json:"warnings"`
}

// Period is a run of days, both ends included.
type Period struct {
	StartDate string `json:"start_date"`
	EndDate   string `json:"end_date"`
}

// Composition is who the audience is made of, by attribute.
type Composition struct {
	AgeRange []any `json:"age_range"`
	Gender   []any `json:"gender"`
	Country  []any `json:"country"`
	Device   []any `json:"device"`
}

// Performance are the audience's figures, and their ratio to those of the
// workspace.
type Performance struct {
	Metrics         map[string]*float64 `json:"metrics"`
	VersusWorkspace map[string]*float64 `json:"versus_workspace"`
}

// Campaign is a campaign for the audience. Figures are nil while nobody has
// reported them.
type Campaign struct {
	CampaignID  ident.ID `json:"campaign_id"`
	Name        string   `json:"name"`
	Spend       *float64 `json:"spend"`
	Conversions *float64 `json:"conversions"`
}

// Overlap is another customer list and what both share.
type Overlap struct {
	AudienceID  ident.ID `json:"audience_id"`
	Name        string   `json:"name"`
	Shared      int64    `json:"shared"`
	ShareOfThis float64  `json:"share_of_this"`
	Jaccard     float64  `json:"jaccard"`
}

// Warning says what could not be told.
type Warning struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Insights tells what is known about an audience. baseline is what shares are
// compared with: workspace, or the id of an audience.
func (s *Service) Insights(ctx context.Context, workspace, id ident.ID, p Period, baseline string) (Insights, error) {
	a, err := s.store.Load(ctx, workspace, id)
	if err != nil {
		return Insights{}, err
	}
	in := Insights{
		AudienceID: id, Period: p, AsOf: clock.At(s.now()), Baseline: baseline, Size: a.Size,
		Trend: []any{}, Composition: Composition{[]any{}, []any{}, []any{}, []any{}}, ByChannel: []any{},
		Performance: Performance{map[string]*float64{}, map[string]*float64{}}, BestTimes: []any{}, TopCreatives: []any{}, Overlap: []Overlap{},
		Warnings: []Warning{{"no_facts", "No platform has reported figures for this audience in the period."}},
	}
	if in.Campaigns, err = s.store.Campaigns(ctx, workspace, id, maxCampaigns); err != nil {
		return Insights{}, err
	}
	if a.Members() == 0 {
		return in, nil
	}
	list, err := s.store.Overlaps(ctx, workspace, id, maxOverlaps)
	if err != nil {
		return Insights{}, err
	}
	for _, o := range list {
		both := a.Members() + o.With.Members() - o.Shared
		in.Overlap = append(in.Overlap, Overlap{
			AudienceID: o.With.ID, Name: o.With.Name, Shared: o.Shared,
			ShareOfThis: share(o.Shared, a.Members()), Jaccard: share(o.Shared, both),
		})
	}
	return in, nil
}

// share is a part of a whole to four decimals. It is never above 1, although
// members may come and go between one count and the other.
func share(part, whole int64) float64 {
	if part >= whole {
		return 1
	}
	return math.Round(float64(part)/float64(whole)*1e4) / 1e4
}
