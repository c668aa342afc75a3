package sandbox

import (
	"slices"
	"strings"
)

// The breakdowns that split rows by fixed shares, because the model does not have
// them. The others have one value.
const (
	metaPlatform  = "publisher_platform"
	metaPlacement = "platform_position"
	metaRegion    = "region"
)

var (
	metaHours = []string{"hourly_stats_aggregated_by_advertiser_time_zone", "hourly_stats_aggregated_by_audience_time_zone"}
	// metaPlacementShares are platforms and positions, with their shares.
	metaPlacementShares = []rowShare{
		{"facebook feed", 45},
		{"facebook facebook_reels", 12},
		{"instagram feed", 18},
		{"instagram instagram_stories", 14},
		{"audience_network an_classic", 8},
		{"messenger messenger_inbox", 3},
	}
	// metaRegions are the regions of countries. Other countries have one that is
	// unknown.
	metaRegions = map[string][]rowShare{
		"US": {{"California", 60}, {"New York", 40}}, "GB": {{"England", 80}, {"Scotland", 20}}, "DE": {{"Bayern", 45}, {"Nordrhein-Westfalen", 55}},
		"FR": {{"Île-de-France", 70}, {"Occitanie", 30}}, "CA": {{"Ontario", 65}, {"Quebec", 35}}, "NL": {{"Noord-Holland", 50}, {"Zuid-Holland", 50}},
		"SE": {{"Stockholm County", 60}, {"Skåne County", 40}}, "AU": {{"New South Wales", 55}, {"Victoria", 45}},
		"ES": {{"Comunidad de Madrid", 50}, {"Cataluña", 50}}, "JP": {{"Tokyo", 65}, {"Osaka", 35}},
	}
)

func (r *metaReport) has(breakdown string) bool { return slices.Contains(r.breakdowns, breakdown) }

// sharesOf returns the values that the breakdowns of a report split a row into,
// nil for none.
func (r *metaReport) sharesOf(row Row) []rowShare {
	switch {
	case r.has(metaPlatform) && !r.has(metaPlacement):
		return metaMergeShares(metaPlacementShares)
	case r.has(metaPlacement):
		return metaPlacementShares
	case r.has(metaRegion):
		if regions := metaRegions[row.Country]; regions != nil {
			return regions
		}
		return []rowShare{{"Unknown", 1}}
	case slices.ContainsFunc(metaHours, r.has):
		return hourShares
	}
	return nil
}

// metaMergeShares adds up shares by platform.
func metaMergeShares(placements []rowShare) (merged []rowShare) {
	for _, p := range placements {
		platform, _, _ := strings.Cut(p.value, " ")
		if n := len(merged); n > 0 && merged[n-1].value == platform {
			merged[n-1].share += p.share
			continue
		}
		merged = append(merged, rowShare{platform, p.share})
	}
	return merged
}

// splitParts splits rows by breakdowns with fixed shares. The parts of a row add
// up to it, except for its reach.
func (r *metaReport) splitParts(a *Account, rows []Row) []Row {
	if len(r.breakdowns) == 0 {
		return rows
	}
	var split []Row
	for _, row := range rows {
		shares := r.sharesOf(row)
		if shares == nil {
			split = append(split, row)
			continue
		}
		for _, part := range splitByShares(a, row, shares) {
			if !r.has("country") {
				part.Country = ""
			}
			split = append(split, part)
		}
	}
	return split
}

// partValue returns the value of a breakdown that splits rows by fixed shares,
// empty for others.
func (r *metaReport) partValue(name string, row Row) string {
	platform, position, _ := strings.Cut(row.Part, " ")
	switch {
	case row.Part == "":
	case name == metaPlacement:
		return position
	case name == metaPlatform:
		return platform
	case name == metaRegion:
		return row.Part
	case slices.Contains(metaHours, name):
		return row.Part + " - " + row.Part[:2] + ":59:59"
	}
	return ""
}
