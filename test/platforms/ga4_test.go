package platforms_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"fanfare/internal/adplatform/ga4"
	"fanfare/internal/adplatform/sandbox"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/fact"
)

// ga4Report is a report request.
type ga4Report struct {
	Dimensions []string `json:"dimensions"`
	Start      string   `json:"start"`
	End        string   `json:"end"`
}

// ga4Reports are the reports of entities, then those of the levels.
func ga4Reports(first, last clock.Date) []ga4Report {
	reports := []ga4Report{
		{[]string{"sessionCampaignName", "sessionDefaultChannelGroup"}, "90daysAgo", "today"},
		{[]string{"sessionManualAdContent", "sessionDefaultChannelGroup"}, "90daysAgo", "today"},
	}
	for _, more := range [][]string{
		{},
		{"sessionCampaignName", "sessionDefaultChannelGroup"},
		{"sessionCampaignName", "sessionDefaultChannelGroup", "sessionManualAdContent"},
		{"sessionCampaignName", "sessionDefaultChannelGroup", "countryId"},
		{"sessionCampaignName", "sessionDefaultChannelGroup", "userAgeBracket", "userGender"},
		{"sessionCampaignName", "sessionDefaultChannelGroup", "deviceCategory"},
	} {
		reports = append(reports, ga4Report{append([]string{"date"}, more...), first.String(), last.String()})
	}
	return reports
}

// TestGA4 compares Google's SDK for GA4 with the client.
func TestGA4(t *testing.T) {
	t.Parallel()
	s := openSandbox(t, sandbox.GA4)
	last := clock.MakeDate(2026, 10, 20)
	first := last - 29
	var answered struct {
		Asked  int
		Events []float64
	}
	reports := ga4Reports(first, last)
	s.runScript(t, "ga4.mjs", map[string]any{"reports": reports}, &answered)
	sdk := s.journal(t)

	client := ga4.New(s.clientOptions("/ga4"))
	cred, err := client.Refresh(t.Context(), s.credentials().App, s.credentials())
	if err != nil {
		t.Fatal(err)
	}
	accounts, err := client.Accounts(t.Context(), cred)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Entities(t.Context(), cred, accounts[0].ExternalID); err != nil {
		t.Fatal(err)
	}
	q := connection.Report{Account: accounts[0].ExternalID, First: first, Last: last}
	for i, level := range client.About().Levels {
		q.Level = level
		var events int64
		err := client.Report(t.Context(), cred, q, func(rows []fact.Row) error {
			for _, row := range rows {
				events += row.Values.V[fact.Conversions]
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		// Rows without an ad belong to the campaign only, so the report by ad
		// has less.
		want := int64(answered.Events[i+2] * 1_000_000)
		if level == connection.LevelAd && events > want || level != connection.LevelAd && events != want || events == 0 {
			t.Errorf("level %d: got %d key events want %d, as the SDK has read them", level, events, want)
		}
	}
	// The SDK is for the Data API; the Admin API lists properties.
	asked := slices.DeleteFunc(s.journal(t), func(c call) bool {
		return strings.HasSuffix(c.Path, "/accountSummaries") || c.Method == http.MethodGet && strings.Contains(c.Path, "/properties")
	})
	compareCalls(t, asked, sdk[:answered.Asked], comparison{
		headers: []string{"Content-Type", "Authorization"},
		ignored: map[string]string{"$alt": "it asks for enums as numbers, and what we read has none"},
	})
}
