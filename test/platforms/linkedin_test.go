package platforms_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fanfare/internal/adplatform/linkedin"
	"fanfare/internal/adplatform/sandbox"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
)

// linkedInAnswer is the output of the script.
type linkedInAnswer struct {
	Accounts, Campaigns, Creatives, Segments []map[string]any
	Impressions                              []int64
	Paused                                   map[string]any
	Asked                                    int
}

type linkedInLevel struct {
	Pivots []string `json:"pivots"`
	Fields []string `json:"fields"`
}

var (
	linkedInShown = []string{
		"pivotValues", "dateRange", "impressions", "clicks", "costInLocalCurrency", "oneClickLeads", "totalEngagements", "videoViews", "videoCompletions",
	}
	linkedInGeo = slices.Concat(linkedInShown, []string{"externalWebsiteConversions"})
	linkedInAll = slices.Concat(linkedInGeo, []string{"conversionValueInLocalCurrency", "approximateMemberReach"})

	// linkedInLevels are asked of the account.
	linkedInLevels = []linkedInLevel{
		{[]string{"ACCOUNT"}, linkedInAll},
		{[]string{"CAMPAIGN"}, linkedInAll},
		{[]string{"CAMPAIGN", "CREATIVE"}, linkedInAll},
		{[]string{"MEMBER_COUNTRY_V2"}, linkedInGeo},
		{[]string{"CAMPAIGN", "IMPRESSION_DEVICE_TYPE"}, linkedInShown},
	}
)

// TestLinkedIn compares LinkedIn's SDK with the client.
func TestLinkedIn(t *testing.T) {
	t.Parallel()
	s := openSandbox(t, sandbox.LinkedInAds)
	last := clock.MakeDate(2026, 10, 20)
	first := last - 29
	cred := s.credentials()
	client := linkedin.New(s.clientOptions("/linkedin"))
	var answered linkedInAnswer
	s.runScript(t, "linkedin.mjs", map[string]any{
		"first": first, "last": last, "levels": linkedInLevels, "version": client.About().Version, "app": cred.App.ID, "secret": cred.App.Secret.Reveal(),
	}, &answered)
	sdk := s.journal(t)
	if answered.Asked == 0 || answered.Asked > len(sdk) {
		t.Fatalf("got mark %d want one within %d calls", answered.Asked, len(sdk))
	}
	sdk = sdk[:answered.Asked]

	id := func(value any) string {
		number, _ := value.(float64)
		return strconv.FormatFloat(number, 'f', -1, 64)
	}
	accounts, entities, impressions, paused := callEverything(t, client, cred, first, last, id(answered.Paused["id"]))
	if _, err := client.Refresh(t.Context(), cred.App, cred); err != nil {
		t.Fatal(err)
	}
	ours := s.journal(t)
	compareCalls(t, ours, sdk, comparison{headers: []string{"Authorization", "Linkedin-Version", "X-Restli-Protocol-Version", "X-Restli-Method"}})
	for i := range min(len(ours), len(sdk)) {
		if diff := cmp.Diff(rawParameters(sdk[i].Query), rawParameters(ours[i].Query)); diff != "" {
			t.Errorf("call %d is written in another way (-SDK +ours):\n%s", i, diff)
		}
	}

	if accounts[0].ExternalID != id(answered.Accounts[0]["id"]) {
		t.Errorf("got account %+v want %v", accounts[0], answered.Accounts[0])
	}
	got := [3]int{len(entities.Campaigns), len(entities.Ads), len(entities.Audiences)}
	if want := [3]int{len(answered.Campaigns), len(answered.Creatives), len(answered.Segments)}; got != want {
		t.Errorf("got %v campaigns, creatives and segments want %v", got, want)
	}
	if !slices.Equal(impressions, answered.Impressions) || slices.Contains(impressions, 0) {
		t.Errorf("got impressions %v want %v", impressions, answered.Impressions)
	}
	if want := (connection.Observed{Status: "PAUSED", Stopped: true}); paused != want || answered.Paused["status"] != want.Status {
		t.Errorf("got %+v and %v want %+v", paused, answered.Paused["status"], want)
	}
}

// rawParameters returns the parameters unescaped and sorted, because escaping
// has a meaning in Rest.li.
func rawParameters(query string) []string {
	return slices.Sorted(strings.SplitSeq(query, "&"))
}
