package platforms_test

import (
	"slices"
	"strings"
	"testing"

	"fanfare/internal/adplatform/meta"
	"fanfare/internal/adplatform/sandbox"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/fact"
)

// metaAnswer is the output of the script.
type metaAnswer struct {
	Accounts, Campaigns, Groups, Ads, Audiences []map[string]any
	Impressions                                 []int64
	Paused                                      map[string]any
	Asked                                       int
}

type metaLevel struct {
	Level      string   `json:"level"`
	Breakdowns []string `json:"breakdowns,omitempty"`
	Fields     []string `json:"fields"`
}

// metaMetrics are the metrics of every level.
var metaMetrics = []string{
	"impressions", "clicks", "spend", "actions", "action_values", "conversions", "conversion_values", "inline_post_engagement",
	"video_thruplay_watched_actions", "video_p100_watched_actions",
}

var metaLevels = []metaLevel{
	{"account", nil, append([]string{"reach"}, metaMetrics...)},
	{"campaign", nil, append([]string{"campaign_id", "campaign_name", "reach"}, metaMetrics...)},
	{"ad", nil, append([]string{"campaign_id", "campaign_name", "adset_id", "ad_id", "ad_name", "reach"}, metaMetrics...)},
	{"adset", []string{"country"}, append([]string{"campaign_id", "campaign_name", "adset_id"}, metaMetrics...)},
	{"adset", []string{"age", "gender"}, append([]string{"campaign_id", "campaign_name", "adset_id"}, metaMetrics...)},
	{"adset", []string{"impression_device"}, append([]string{"campaign_id", "campaign_name", "adset_id"}, metaMetrics...)},
}

// TestMeta compares Meta's SDK with the client.
func TestMeta(t *testing.T) {
	t.Parallel()
	s := openSandbox(t, sandbox.MetaAds)
	last := clock.MakeDate(2026, 10, 20)
	first := last - 29
	var answered metaAnswer
	s.runScript(t, "meta.mjs", map[string]any{"first": first, "last": last, "levels": metaLevels}, &answered)
	sdk := s.journal(t)
	if answered.Asked == 0 || answered.Asked > len(sdk) {
		t.Fatalf("got mark %d want one within %d calls", answered.Asked, len(sdk))
	}

	client, cred := meta.New(s.clientOptions("/meta")), s.credentials()
	accounts, err := client.Accounts(t.Context(), cred)
	if err != nil {
		t.Fatal(err)
	}
	entities, err := client.Entities(t.Context(), cred, accounts[0].ExternalID)
	if err != nil {
		t.Fatal(err)
	}
	q := connection.Report{Account: accounts[0].ExternalID, First: first, Last: last, Entities: entities}
	var impressions []int64
	sum := func() (sum int64) {
		err := client.Report(t.Context(), cred, q, func(some []fact.Row) error {
			for _, row := range some {
				n, _ := row.Values.Get(fact.Impressions)
				sum += n
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return sum
	}
	for _, level := range client.About().Levels {
		q.Level = level
		impressions = append(impressions, sum())
	}
	s.addFault(t, sandbox.MetaAds, sandbox.FaultTooLarge)
	s.addFault(t, sandbox.MetaAds, sandbox.FaultAsyncStuck)
	impressions = append(impressions, sum())
	campaign := entities.Campaigns[0].External
	if err := client.SetStatus(t.Context(), cred, q.Account, campaign, false); err != nil {
		t.Fatal(err)
	}
	observed, err := client.Status(t.Context(), cred, q.Account, campaign)
	if err != nil {
		t.Fatal(err)
	}

	compareCalls(t, s.journal(t), sdk[:answered.Asked], comparison{
		headers: []string{"Content-Type"},
		ignored: map[string]string{
			"id": "the SDK repeats in it what the path says", "access_token": "the client sends it in a header, so that it is not in logs",
			"appsecret_proof": "the SDK is used without the secret of the app",
		},
		normalize: sortFields,
	})
	if !slices.Equal(impressions, answered.Impressions) {
		t.Errorf("got impressions %v want %v, as the SDK has read them", impressions, answered.Impressions)
	}
	if observed.Status != answered.Paused["effective_status"] || observed.Runs {
		t.Errorf("got %+v want %v", observed, answered.Paused)
	}
	if len(entities.Campaigns) != len(answered.Campaigns) || len(entities.Ads) != len(answered.Ads) || len(entities.Audiences) != len(answered.Audiences) {
		t.Errorf("got %d campaigns, %d ads, %d audiences want %d, %d, %d", len(entities.Campaigns), len(entities.Ads), len(entities.Audiences),
			len(answered.Campaigns), len(answered.Ads), len(answered.Audiences))
	}
}

// sortFields sorts lists of fields, whose order has no meaning.
func sortFields(_ string, parameters map[string]string) {
	if fields, ok := parameters["fields"]; ok && !strings.Contains(fields, "{") {
		list := strings.Split(fields, ",")
		slices.Sort(list)
		parameters["fields"] = strings.Join(list, ",")
	}
}
