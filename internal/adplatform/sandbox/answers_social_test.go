package sandbox

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
)

// metaList returns a list of the Meta account.
func (c answerClient) metaList(t *testing.T, edge string, query url.Values) []map[string]any {
	t.Helper()
	return c.objects(t, http.MethodGet, "https://graph.facebook.com/v26.0/act_"+c.tokens.AccountID+"/"+edge+"?"+query.Encode(), "", "data")
}

// TestMetaVersionUpgraded checks that only a header tells that another version
// answered.
func TestMetaVersionUpgraded(t *testing.T) {
	t.Parallel()
	c := newAnswerClient(t, MetaAds, Options{})
	to := "https://graph.facebook.com/v25.0/act_" + c.tokens.AccountID + "/campaigns?fields=name"
	_, header, before := c.send(t, http.MethodGet, to, "")
	if got := header.Get("X-Ad-Api-Version-Warning"); got != "" {
		t.Errorf("got the header %s without the switch", got)
	}
	c.turnOn(t, metaVersionUpgraded, "")
	status, header, after := c.send(t, http.MethodGet, to, "")
	if got := header.Get("X-Ad-Api-Version-Warning"); status != http.StatusOK || after != before || !strings.Contains(got, "v26.0") {
		t.Errorf("got %d with the header %q, want the same answer and a warning", status, got)
	}
}

// TestMetaInactiveAudience checks that the size of an inactive audience is -1.
func TestMetaInactiveAudience(t *testing.T) {
	t.Parallel()
	c := newAnswerClient(t, MetaAds, Options{})
	c.turnOn(t, metaInactiveAudience, "")
	list := c.metaList(t, "customaudiences", url.Values{"fields": {"name,approximate_count_lower_bound,approximate_count_upper_bound"}})
	for i, audience := range list {
		lower, upper := audience["approximate_count_lower_bound"], audience["approximate_count_upper_bound"]
		if (lower == float64(-1)) != (i == 0) || (upper == float64(-1)) != (i == 0) {
			t.Errorf("audience %d: got %v to %v, want -1 for the first only", i, lower, upper)
		}
	}
}

// TestMetaBudgetLevels checks which objects have budgets.
func TestMetaBudgetLevels(t *testing.T) {
	t.Parallel()
	c := newAnswerClient(t, MetaAds, Options{})
	fields := url.Values{"fields": {"daily_budget,lifetime_budget"}}
	for value, want := range map[string]struct{ campaignDaily, campaignLifetime, groupDaily bool }{
		"": {campaignDaily: true}, "adset": {groupDaily: true}, "lifetime": {campaignLifetime: true},
	} {
		c.TurnAllOff()
		if value != "" {
			c.turnOn(t, metaBudgetLevel, value)
		}
		campaign, group := c.metaList(t, "campaigns", fields)[0], c.metaList(t, "adsets", fields)[0]
		if (campaign["daily_budget"] != nil) != want.campaignDaily || (campaign["lifetime_budget"] != nil) != want.campaignLifetime || (group["daily_budget"] != nil) != want.groupDaily {
			t.Errorf("%q: got %v and %v, want %+v", value, campaign, group, want)
		}
	}
}

// TestMetaLegacyObjectives checks the objectives of lists and reports.
func TestMetaLegacyObjectives(t *testing.T) {
	t.Parallel()
	c := newAnswerClient(t, MetaAds, Options{})
	c.turnOn(t, metaLegacyObjectives, "")
	if got := c.metaList(t, "campaigns", url.Values{"fields": {"objective"}})[0]["objective"]; got != "CONVERSIONS" {
		t.Errorf("got the objective %v want CONVERSIONS", got)
	}
	rows := c.metaList(t, "insights", url.Values{"fields": {"campaign_id,objective,spend"}, "level": {"campaign"}, "date_preset": {"last_7d"}})
	for _, row := range rows {
		if text, _ := row["objective"].(string); text == "" || strings.HasPrefix(text, "OUTCOME") {
			t.Errorf("got %v, want an objective of the past", row)
		}
	}
}

// TestMetaUnavailableWith200 checks that the answer has status 200 and is no
// JSON.
func TestMetaUnavailableWith200(t *testing.T) {
	t.Parallel()
	c := newAnswerClient(t, MetaAds, Options{})
	c.turnOn(t, metaUnavailable200, "")
	status, _, answer := c.send(t, http.MethodGet, "https://graph.facebook.com/v26.0/act_"+c.tokens.AccountID+"/insights", "")
	if status != http.StatusOK || answer != "Service Unavailable" {
		t.Errorf("got %d %s", status, answer)
	}
}

// TestMetaSuccessFalse checks that a change is not made and has no error.
func TestMetaSuccessFalse(t *testing.T) {
	t.Parallel()
	c := newAnswerClient(t, MetaAds, Options{})
	c.turnOn(t, metaSuccessFalse, "")
	campaign := c.account.Campaigns[0].ID
	status, _, answer := c.send(t, http.MethodPost, "https://graph.facebook.com/v26.0/"+campaign, `{"status":"PAUSED"}`)
	if runs, _ := c.Runs(c.tokens.AccountID, campaign); status != http.StatusOK || answer != `{"success":false}` || !runs {
		t.Errorf("got %d %s, runs: %v, want a campaign that still runs", status, answer, runs)
	}
}

// TestTikTokFixedOffset checks that the time zone of a place with daylight saving
// time is its standard offset, with the sign of POSIX.
func TestTikTokFixedOffset(t *testing.T) {
	t.Parallel()
	for zone, want := range map[string]string{
		"America/New_York": "Etc/GMT+5", "Europe/Berlin": "Etc/GMT-1", "Europe/London": "Etc/GMT", "Australia/Sydney": "Etc/GMT-10", "Asia/Tokyo": "Asia/Tokyo",
	} {
		c := newAnswerClient(t, TikTokAds, Options{Timezone: zone})
		c.turnOn(t, tikTokFixedOffset, "")
		query := url.Values{"advertiser_ids": {`["` + c.tokens.AccountID + `"]`}}
		got := c.objects(t, http.MethodGet, "https://business-api.tiktok.com/open_api/v1.3/advertiser/info/?"+query.Encode(), "", "data.list")[0]
		location, err := time.LoadLocation(want)
		if err != nil {
			t.Fatal(err)
		}
		_, named := time.Date(2026, time.January, 1, 12, 0, 0, 0, location).Zone()
		_, january := time.Date(2026, time.January, 1, 12, 0, 0, 0, c.account.zone).Zone()
		_, july := time.Date(2026, time.July, 1, 12, 0, 0, 0, c.account.zone).Zone()
		if got["timezone"] != want || got["display_timezone"] != zone || named != min(january, july) {
			t.Errorf("%s: got %v and %v want %s", zone, got["timezone"], got["display_timezone"], want)
		}
	}
}

// TestTikTokSecondaryStatus checks that campaigns which are switched on have the
// secondary status of the switch.
func TestTikTokSecondaryStatus(t *testing.T) {
	t.Parallel()
	c := newAnswerClient(t, TikTokAds, Options{})
	c.turnOn(t, tikTokSecondaryStatus, "ADVERTISER_ACCOUNT_PUNISH")
	list := c.objects(t, http.MethodGet, "https://business-api.tiktok.com/open_api/v1.3/campaign/get/?advertiser_id="+c.tokens.AccountID, "", "data.list")
	on := 0
	for _, campaign := range list {
		if campaign["operation_status"] != "ENABLE" {
			continue
		}
		on++
		if got := campaign["secondary_status"]; got != "ADVERTISER_ACCOUNT_PUNISH" {
			t.Errorf("got %v want ADVERTISER_ACCOUNT_PUNISH", got)
		}
	}
	if on == 0 {
		t.Error("got no campaign that is switched on")
	}
}

// TestTikTokSharedAudience checks that two accounts list the same audience, and
// that one of them owns it.
func TestTikTokSharedAudience(t *testing.T) {
	t.Parallel()
	c := newAnswerClient(t, TikTokAds, Options{})
	c.turnOn(t, BehaviorAccounts, "2")
	c.turnOn(t, tikTokSharedAudience, "")
	shared := c.account.Audiences[0].ID
	for i, id := range c.AccountIDs(TikTokAds, c.tokens.AccessToken) {
		found := 0
		for _, audience := range c.objects(t, http.MethodGet, "https://business-api.tiktok.com/open_api/v1.3/dmp/custom_audience/list/?page_size=100&advertiser_id="+id, "", "data.list") {
			if audience["audience_id"] != shared {
				continue
			}
			found++
			if audience["is_creator"] != (i == 0) {
				t.Errorf("account %d: got %v, want the first account to own it", i, audience)
			}
		}
		if found != 1 {
			t.Errorf("account %d: got the shared audience %d times want once", i, found)
		}
	}
}

// TestLinkedInLongDecimals checks that amounts have 21 decimals which round to
// the true total.
func TestLinkedInLongDecimals(t *testing.T) {
	t.Parallel()
	c := newAnswerClient(t, LinkedInAds, Options{})
	c.turnOn(t, linkedInLongDecimals, "")
	to := "https://api.linkedin.com/rest/adAnalytics?q=analytics&pivot=(value:ACCOUNT)&timeGranularity=(value:DAILY)&fields=costInLocalCurrency,dateRange" +
		"&dateRange=(start:(year:2026,month:9,day:1),end:(year:2026,month:9,day:1))&accounts=List(urn%3Ali%3AsponsoredAccount%3A" + c.tokens.AccountID + ")"
	got, _ := c.objects(t, http.MethodGet, to, "", "elements")[0]["costInLocalCurrency"].(string)
	day := clock.MakeDate(2026, time.September, 1)
	want := fact.Millionths(*c.Truth(c.account, day, day).Families["base"][0].SpendMicros).String()
	if _, decimals, _ := strings.Cut(got, "."); len(decimals) != 21 || !strings.HasPrefix(got, want) {
		t.Errorf("got %s, want %s with 21 decimals", got, want)
	}
}

// TestLinkedInTotalBudget checks that the first campaign has a total budget and
// no daily one.
func TestLinkedInTotalBudget(t *testing.T) {
	t.Parallel()
	c := newAnswerClient(t, LinkedInAds, Options{})
	c.turnOn(t, linkedInTotalBudget, "")
	list := c.objects(t, http.MethodGet, "https://api.linkedin.com/rest/adAccounts/"+c.tokens.AccountID+"/adCampaigns?q=search", "", "elements")
	for i, campaign := range list {
		if (campaign["dailyBudget"] == nil) != (i == 0) || (campaign["totalBudget"] != nil) != (i == 0) {
			t.Errorf("campaign %d: got %v", i, campaign)
		}
	}
}

// TestLinkedInUnnamedCreatives checks that creatives have no name.
func TestLinkedInUnnamedCreatives(t *testing.T) {
	t.Parallel()
	c := newAnswerClient(t, LinkedInAds, Options{})
	to := "https://api.linkedin.com/rest/adAccounts/" + c.tokens.AccountID + "/creatives?q=criteria"
	c.turnOn(t, linkedInNamelessAds, "")
	for _, creative := range c.objects(t, http.MethodGet, to, "", "elements") {
		if _, named := creative["name"]; named {
			text, err := json.Marshal(creative)
			t.Fatalf("got %s, %v, want no name", text, err)
		}
	}
}
