package platforms_test

import (
	"slices"
	"testing"

	"fanfare/internal/adplatform/sandbox"
	"fanfare/internal/adplatform/tiktok"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/fact"
)

// tikTokAnswer is the output of the script.
type tikTokAnswer struct {
	Accounts, Campaigns, Groups, Ads, Audiences []map[string]any
	Impressions                                 []int64
	Paused                                      map[string]any
	Asked                                       int
}

type tikTokLevel struct {
	Report     string   `json:"report_type"`
	Level      string   `json:"data_level"`
	Dimensions []string `json:"dimensions"`
	Metrics    []string `json:"metrics"`
	// Status is the condition that hides deleted objects.
	Status string `json:"status"`
}

var (
	tikTokShown = []string{"impressions", "clicks", "spend", "conversion"}
	tikTokAll   = slices.Concat(tikTokShown, []string{
		"total_purchase_value", "total_complete_payment_rate", "total_onsite_shopping_value", "engagements", "video_play_actions", "video_views_p100", "reach",
	})
	tikTokParts = slices.Concat([]string{"campaign_id", "campaign_name"}, tikTokShown)

	tikTokLevels = []tikTokLevel{
		{"BASIC", "AUCTION_ADVERTISER", []string{"advertiser_id", "stat_time_day"}, tikTokAll, ""},
		{"BASIC", "AUCTION_CAMPAIGN", []string{"campaign_id", "stat_time_day"}, slices.Concat([]string{"campaign_name", "skan_conversion"}, tikTokAll), "campaign_status"},
		{"BASIC", "AUCTION_AD", []string{"ad_id", "stat_time_day"}, slices.Concat([]string{"campaign_id", "campaign_name", "adgroup_id", "ad_name"}, tikTokAll), "ad_status"},
		{"AUDIENCE", "AUCTION_ADGROUP", []string{"adgroup_id", "country_code", "stat_time_day"}, tikTokParts, "adgroup_status"},
		{"AUDIENCE", "AUCTION_ADGROUP", []string{"adgroup_id", "age", "gender", "stat_time_day"}, tikTokParts, "adgroup_status"},
		{"AUDIENCE", "AUCTION_ADGROUP", []string{"adgroup_id", "platform", "stat_time_day"}, tikTokParts, "adgroup_status"},
	}
)

// TestTikTok compares TikTok's SDK with the client.
func TestTikTok(t *testing.T) {
	t.Parallel()
	s := openSandbox(t, sandbox.TikTokAds)
	last := clock.MakeDate(2026, 10, 20)
	first := last - 29
	cred := s.credentials()
	var answered tikTokAnswer
	s.runScript(t, "tiktok.mjs", map[string]any{"first": first, "last": last, "levels": tikTokLevels, "app": cred.App.ID, "secret": cred.App.Secret.Reveal()}, &answered)
	sdk := s.journal(t)
	if answered.Asked == 0 || answered.Asked > len(sdk) {
		t.Fatalf("got mark %d want one within %d calls", answered.Asked, len(sdk))
	}

	client := tiktok.New(s.clientOptions("/tiktok"))
	accounts, entities, impressions, paused := callEverything(t, client, cred, first, last, answered.Paused["campaign_id"])
	compareCalls(t, s.journal(t), sdk[:answered.Asked], comparison{headers: []string{"Access-Token"}})

	if accounts[0].ExternalID != answered.Accounts[0]["advertiser_id"] || accounts[0].Timezone != answered.Accounts[0]["display_timezone"] {
		t.Errorf("got account %+v want %v", accounts[0], answered.Accounts[0])
	}
	if got, want := entityCounts(entities), [4]int{len(answered.Campaigns), withAudience(answered.Groups), len(answered.Ads), len(answered.Audiences)}; got != want {
		t.Errorf("got %v campaigns, groups with an audience, ads and audiences want %v", got, want)
	}
	if !slices.Equal(impressions, answered.Impressions) || slices.Contains(impressions, 0) {
		t.Errorf("got impressions %v want %v", impressions, answered.Impressions)
	}
	if paused.Status != answered.Paused["operation_status"] || paused.Runs {
		t.Errorf("got %+v want %v", paused, answered.Paused)
	}
}

// callEverything makes all calls of a sync and a push once. It returns the
// impressions by level.
func callEverything(t *testing.T, client connection.Client, cred connection.Credentials, first, last clock.Date, campaign any) (
	accounts []connection.Account, entities *connection.Entities, impressions []int64, paused connection.Observed,
) {
	t.Helper()
	id, _ := campaign.(string)
	accounts, err := client.Accounts(t.Context(), cred)
	if err != nil {
		t.Fatal(err)
	}
	account := accounts[0].ExternalID
	entities, err = client.Entities(t.Context(), cred, account)
	if err != nil {
		t.Fatal(err)
	}
	for _, level := range client.About().Levels {
		sum := int64(0)
		q := connection.Report{Account: account, Level: level, First: first, Last: last, Entities: entities}
		err := client.Report(t.Context(), cred, q, func(rows []fact.Row) error {
			for _, row := range rows {
				sum += row.Values.V[fact.Impressions]
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		impressions = append(impressions, sum)
	}
	if err := client.SetStatus(t.Context(), cred, account, id, false); err != nil {
		t.Fatal(err)
	}
	if paused, err = client.Status(t.Context(), cred, account, id); err != nil {
		t.Fatal(err)
	}
	return accounts, entities, impressions, paused
}

// entityCounts returns the numbers of campaigns, ad groups with an audience,
// ads and audiences.
func entityCounts(e *connection.Entities) [4]int {
	return [4]int{len(e.Campaigns), len(e.Groups), len(e.Ads), len(e.Audiences)}
}

func withAudience(groups []map[string]any) (n int) {
	for _, g := range groups {
		if audiences, ok := g["audience_ids"].([]any); ok && len(audiences) == 1 {
			n++
		}
	}
	return n
}
