package audience

import (
	"context"
	"fmt"
	"math"
	"slices"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
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
// figures come from the platforms, and where none are stored, the members that
// would show them are empty and a warning says so.
type Insights struct {
	AudienceID ident.ID      `json:"audience_id"`
	Period     Period        `json:"period"`
	AsOf       clock.Instant `json:"as_of"`
	Baseline   string        `json:"baseline"`
	Size       *Size         `json:"size"`
	Figures
	Overlap  []Overlap `json:"overlap"`
	Warnings []Warning `json:"warnings"`
}

// Period is a run of days, both ends included.
type Period struct {
	StartDate string `json:"start_date"`
	EndDate   string `json:"end_date"`
}

// Figures are what facts tell about an audience. Amounts are in the
// workspace's currency, and ratios are of sums.
type Figures struct {
	// Trend has every day of the period.
	Trend       []Day         `json:"trend"`
	Composition Composition   `json:"composition"`
	ByChannel   []ChannelPart `json:"by_channel"`
	Performance Performance   `json:"performance"`
	BestTimes   []BestTime    `json:"best_times"`
	// TopCreatives and Campaigns are records of ours, the best first.
	TopCreatives []TopCreative `json:"top_creatives"`
	Campaigns    []Campaign    `json:"campaigns"`
	// Doubts are warnings about the figures, beside those about what is
	// missing.
	Doubts []Warning `json:"-"`
}

// Day is one day of the trend.
type Day struct {
	Date        clock.Date  `json:"date"`
	Impressions fact.Number `json:"impressions"`
	Clicks      fact.Number `json:"clicks"`
	Conversions fact.Number `json:"conversions"`
	Spend       fact.Number `json:"spend"`
}

// Composition is who the audience is made of, by attribute.
type Composition struct {
	AgeRange []Part `json:"age_range"`
	Gender   []Part `json:"gender"`
	Country  []Part `json:"country"`
	Device   []Part `json:"device"`
}

// Part is one value of an attribute. Index is 100 where the share is that of
// the baseline, and not known where that has none.
type Part struct {
	Value       string      `json:"value"`
	Impressions int64       `json:"impressions"`
	Share       fact.Number `json:"share"`
	Index       fact.Number `json:"index"`
}

// ChannelPart is one channel. The index compares shares of impressions, as in
// a Part.
type ChannelPart struct {
	Channel string                 `json:"channel"`
	Metrics map[string]fact.Number `json:"metrics"`
	Index   fact.Number            `json:"index"`
}

// Performance are the audience's figures, and their ratio to those of the
// workspace.
type Performance struct {
	Metrics         map[string]fact.Number `json:"metrics"`
	VersusWorkspace map[string]fact.Number `json:"versus_workspace"`
}

// BestTime is a day of the week by its name. An index of 100 is the average
// day.
type BestTime struct {
	Weekday string      `json:"weekday"`
	Index   fact.Number `json:"index"`
}

// TopCreative is a creative that does well with the audience.
type TopCreative struct {
	CreativeID  ident.ID    `json:"creative_id"`
	Name        string      `json:"name"`
	CTR         fact.Number `json:"ctr"`
	CVR         fact.Number `json:"cvr"`
	Conversions fact.Number `json:"conversions"`
}

// Campaign is a campaign for the audience, or one whose ads have reached it.
// Figures are not known while nobody has reported them.
type Campaign struct {
	CampaignID  ident.ID    `json:"campaign_id"`
	Name        string      `json:"name"`
	Spend       fact.Number `json:"spend"`
	Conversions fact.Number `json:"conversions"`
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
	in := Insights{AudienceID: id, Period: p, AsOf: clock.At(s.now()), Baseline: baseline, Size: a.Size, Overlap: []Overlap{}}
	if err := s.figure(ctx, workspace, &in); err != nil {
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

// figure fills in what facts tell, and what they do not.
func (s *Service) figure(ctx context.Context, workspace ident.ID, in *Insights) error {
	var told *Figures
	var err error
	if s.facts != nil {
		if told, err = s.facts.Audience(ctx, workspace, in.AudienceID, in.Baseline, in.Period); err != nil {
			return fmt.Errorf("ask facts about %s: %w", in.AudienceID, err)
		}
	}
	meant, err := s.store.Campaigns(ctx, workspace, in.AudienceID, maxCampaigns)
	if err != nil {
		return err
	}
	if told == nil {
		in.Campaigns = meant
		in.Warnings = []Warning{{"no_facts", "No platform has reported figures for this audience in the period."}}
		return nil
	}
	in.Figures = *told
	in.Campaigns = merge(told.Campaigns, meant)
	in.Warnings = slices.Concat(told.Composition.missing(), told.Doubts)
	return nil
}

// merge lists campaigns that have figures before those that are only meant for
// the audience, each once.
func merge(told, meant []Campaign) []Campaign {
	list := slices.Clone(told)
	for _, c := range meant {
		if !slices.ContainsFunc(told, func(t Campaign) bool { return t.CampaignID == c.CampaignID }) {
			list = append(list, c)
		}
	}
	return list[:min(len(list), maxCampaigns)]
}

// missing warns of every attribute that nobody has reported.
func (c *Composition) missing() []Warning {
	var list []Warning
	for _, of := range []struct {
		name  string
		parts []Part
	}{{"age_range", c.AgeRange}, {"gender", c.Gender}, {"country", c.Country}, {"device", c.Device}} {
		if len(of.parts) == 0 {
			list = append(list, Warning{"no_breakdown", "No platform has reported figures by " + of.name + " for this audience in the period."})
		}
	}
	return list
}

// share is a part of a whole to four decimals. It is never above 1, although
// members may come and go between one count and the other.
func share(part, whole int64) float64 {
	if part >= whole {
		return 1
	}
	return math.Round(float64(part)/float64(whole)*1e4) / 1e4
}
