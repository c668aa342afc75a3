package google_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fanfare/internal/connection"
	"fanfare/internal/fact"
	"fanfare/internal/secret"
)

// TestAdInTwoGroups checks that an ad id that two ad groups have loses no
// metrics: such rows are added up, because facts have no ad groups, and the
// list has the id once.
func TestAdInTwoGroups(t *testing.T) {
	t.Parallel()
	added := 0
	for seed := range int64(8) {
		f := openSandbox(t, seed+1)
		before := f.entities(t)
		today := f.server.Today(f.account)
		want := map[fact.Measure]int64{}
		for _, r := range f.expectedRows(connection.LevelAd, today-11, today) {
			for m := range measuresOfTruth {
				n, _ := r.Values.Get(m)
				want[m] += n
			}
		}
		f.turnOn(t, "ad_id_shared", "", f.account.ID)
		entities := f.entities(t)
		ids := map[string]bool{}
		for _, ad := range entities.Ads {
			if ids[ad.External] {
				t.Errorf("seed %d: got ad %s twice, one of which would replace the other", seed, ad.External)
			}
			ids[ad.External] = true
		}
		rows, notes, err := f.read(t, connection.Report{Account: f.account.ID, Level: connection.LevelAd, Entities: entities})
		if err != nil {
			t.Fatal(err)
		}
		compareTotals(t, rows, want)
		if keys := sumRows(rows); len(keys) != len(rows) {
			t.Errorf("seed %d: got %d rows with %d keys: a sync refuses rows with the same key", seed, len(rows), len(keys))
		}
		if len(entities.Ads) != len(before.Ads)-1 || len(notes) != 0 {
			t.Errorf("seed %d: got %d ads and notes %+v want one ad fewer than %d and no note, because no number is missing", seed, len(entities.Ads), notes, len(before.Ads))
		}
		if len(f.expectedRows(connection.LevelAd, today-11, today)) > len(rows) {
			added++
		}
		for _, level := range []connection.Level{connection.LevelCampaign, connection.LevelDevice} {
			f.compareTruth(t, f.account.ID, level, connection.Report{Entities: entities})
		}
	}
	if added == 0 {
		t.Error("no account has the ad in two ad groups of one campaign and audience")
	}
}

// TestDoubleFormats checks that doubles are read with an exponent and with all
// digits.
func TestDoubleFormats(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"exponent", "long"} {
		f := openSandbox(t, 7)
		f.turnOn(t, "double_format", format, f.account.ID)
		for _, level := range []connection.Level{connection.LevelAccount, connection.LevelCampaign, connection.LevelGeo, connection.LevelDemographic, connection.LevelDevice} {
			f.compareTruth(t, f.account.ID, level, connection.Report{Entities: f.entities(t)})
		}
	}
}

// expireToken lets the access token expire.
func (f *testSandbox) expireToken() {
	f.mu.Lock()
	f.now = f.now.Add(2 * time.Hour)
	f.mu.Unlock()
}

var oauthApp = connection.OAuthClient{ID: "app.example", Secret: secret.New("app-secret")}

// TestPassingTokenErrors checks that errors of the token endpoint that pass are
// tried again, although their status is 400, and that the refresh token works
// afterwards.
func TestPassingTokenErrors(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"internal_failure", "server_error", "temporarily_unavailable"} {
		f := openSandbox(t, 7)
		f.expireToken()
		_, err := f.client.Accounts(t.Context(), f.creds)
		if connection.ClassOf(err) != connection.Expired || err == nil {
			t.Fatalf("got %v want the access token expired", err)
		}
		f.turnOn(t, "token_error", code, "")
		before := f.calls()
		_, err = f.client.Refresh(t.Context(), oauthApp, f.creds)
		wantError(t, err, connection.Transient, code)
		if n := f.calls() - before; n < 2 || f.slept == 0 {
			t.Errorf("%s: got %d calls with waits of %v want further attempts with waits", code, n, f.slept)
		}
		f.server.TurnAllOff()
		if f.creds, err = f.client.Refresh(t.Context(), oauthApp, f.creds); err != nil || f.creds.Refresh.Empty() {
			t.Fatalf("%s: got %v want a token without a new consent", code, err)
		}
		f.compareTruth(t, f.account.ID, connection.LevelCampaign, connection.Report{})
	}
}

// TestSignInAgain checks that a person is asked to sign in again where the
// session policy of a Google Workspace wants it, and is not told that access was
// revoked.
func TestSignInAgain(t *testing.T) {
	t.Parallel()
	for _, subtype := range []string{"invalid_rapt", "rapt_required"} {
		f := openSandbox(t, 7)
		f.expireToken()
		f.turnOn(t, "token_error", subtype, "")
		before := f.calls()
		_, err := f.client.Refresh(t.Context(), oauthApp, f.creds)
		e := platformError(t, err, connection.Revoked, "invalid_grant")
		if n := f.calls() - before; n != 1 {
			t.Errorf("%s: got %d calls want 1", subtype, n)
		}
		said := strings.ToLower(e.Message + " " + e.Remedy)
		if !strings.Contains(said, "session policy") || !strings.Contains(said, "workspace") {
			t.Errorf("%s: got %q want it to name the session policy", subtype, e.Remedy)
		}
		for _, wrong := range []string{"revoked", "ended", "removed", "testing"} {
			if strings.Contains(said, wrong) {
				t.Errorf("%s: got %q, which says %q of access that a person has not taken back", subtype, said, wrong)
			}
		}
	}
}

// TestTotalBudget checks that a campaign with a budget for all its days is listed
// as any other. The client reads no budgets.
func TestTotalBudget(t *testing.T) {
	t.Parallel()
	f := openSandbox(t, 7)
	want := f.entities(t)
	f.turnOn(t, "total_budget", "", f.account.ID)
	got := f.entities(t)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("entities differ (-want +got):\n%s", diff)
	}
	if !slices.ContainsFunc(got.Campaigns, func(e connection.Entity) bool { return e.External == f.account.Campaigns[0].ID }) {
		t.Error("the campaign is not listed")
	}
	f.compareTruth(t, f.account.ID, connection.LevelCampaign, connection.Report{})
}
