package meta

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/fact"
	"fanfare/internal/money"
)

// insight is a row in Meta's format.
type insight struct {
	Date         string `json:"date_start"`
	Campaign     string `json:"campaign_id"`
	CampaignName string `json:"campaign_name"`
	Group        string `json:"adset_id"`
	Ad           string `json:"ad_id"`
	AdName       string `json:"ad_name"`
	Country      string `json:"country"`
	Age          string `json:"age"`
	Gender       string `json:"gender"`
	Device       string `json:"impression_device"`
	DeviceKind   string `json:"device_platform"`

	Impressions string   `json:"impressions"`
	Clicks      string   `json:"clicks"`
	Spend       string   `json:"spend"`
	Reach       string   `json:"reach"`
	Engagements string   `json:"inline_post_engagement"`
	Actions     []action `json:"actions"`
	Amounts     []action `json:"action_values"`
	// Conversions and Worth are those of events that are not among the actions.
	Conversions []action `json:"conversions"`
	Worth       []action `json:"conversion_values"`
	Views       []action `json:"video_thruplay_watched_actions"`
	Completions []action `json:"video_p100_watched_actions"`
}

type action struct {
	Type  string `json:"action_type"`
	Value string `json:"value"`
}

// rowKey identifies a row, in Meta's values.
type rowKey struct{ date, campaign, group, ad, country, age, gender, device string }

func (i *insight) rowKey() rowKey {
	return rowKey{i.Date, i.Campaign, i.Group, i.Ad, i.Country, i.Age, i.Gender, i.Device + i.DeviceKind}
}

// values parses the metrics. Absent ones are unknown, but absent video views
// are zero: Meta omits actions that did not happen.
func (i *insight) values(events *conversionEvents) (v fact.Values, err error) {
	views := func(list []action) []string {
		if at := slices.IndexFunc(list, func(a action) bool { return a.Type == "video_view" }); at >= 0 {
			return []string{list[at].Value}
		}
		return []string{"0"}
	}
	for _, f := range []struct {
		m     fact.Measure
		texts []string
	}{
		{fact.Impressions, []string{i.Impressions}},
		{fact.Clicks, []string{i.Clicks}},
		{fact.Spend, []string{i.Spend}},
		{fact.Reach, []string{i.Reach}},
		{fact.Engagements, []string{i.Engagements}},
		{fact.Conversions, events.values(i.Actions, i.Conversions)},
		{fact.Revenue, events.values(i.Amounts, i.Worth)},
		{fact.VideoViews, views(i.Views)},
		{fact.VideoCompletions, views(i.Completions)},
	} {
		for _, text := range f.texts {
			if text == "" {
				continue
			}
			n, ok := parseMetric(f.m, text)
			if !ok {
				return v, malformedError(fmt.Sprintf("%s is no number", f.m))
			}
			sum, _ := v.Get(f.m)
			v.Set(f.m, sum+n)
		}
	}
	return v, nil
}

// parseMetric parses a decimal without floats. It cuts digits after the sixth,
// which amounts of actions sometimes have.
func parseMetric(m fact.Measure, text string) (int64, bool) {
	if !m.Scaled() {
		n, err := strconv.ParseInt(text, 10, 64)
		return n, err == nil
	}
	if whole, fraction, dotted := strings.Cut(text, "."); dotted && len(fraction) > fact.MaxDigits {
		text = whole + "." + fraction[:fact.MaxDigits]
	}
	a, reason := money.Parse(text, 0)
	return a.Micros, reason == ""
}

// factRow converts a row to a fact.
func (i *insight) factRow(q *connection.Report, audiences map[string]string, events *conversionEvents) (fact.Row, error) {
	date, ok := clock.ParseDate(i.Date)
	if !ok || date < q.First || date > q.Last {
		return fact.Row{}, malformedError("a row has no day, or one that was not asked for")
	}
	values, err := i.values(events)
	row := fact.Row{Family: connection.Families[q.Level], Date: date, Channel: channel, Values: values}
	if q.Level == connection.LevelAccount {
		return row, err
	}
	row.Campaign = fact.Entity{ExternalID: i.Campaign, Name: i.CampaignName}
	row.Creative = fact.Entity{ExternalID: i.Ad, Name: i.AdName}
	if audience := q.Entities.Groups[i.Group]; audience != "" {
		row.Audience = fact.Entity{ExternalID: audience, Name: audiences[audience]}
	}
	switch q.Level {
	case connection.LevelAccount, connection.LevelCampaign, connection.LevelAd: // no breakdown
	case connection.LevelGeo:
		if fact.IsCountry(i.Country) {
			row.Country = i.Country
		}
	case connection.LevelDemographic:
		row.AgeRange, row.Gender = knownOrUnknown(fact.AgeRanges, i.Age), knownOrUnknown(fact.Genders, i.Gender)
	case connection.LevelDevice:
		row.Device = deviceOf(cmp.Or(i.Device, i.DeviceKind))
	}
	return row, err
}
