package linkedin_test

import (
	"testing"

	difference "github.com/google/go-cmp/cmp"

	"fanfare/internal/connection"
	"fanfare/internal/fact"
)

// TestLongDecimals checks that amounts with more decimals than facts have are
// rounded.
func TestLongDecimals(t *testing.T) {
	t.Parallel()
	w := newSandbox(t, 1)
	w.turnOn(t, "long_decimals", "", "")
	want := w.truth(30)
	for _, level := range []connection.Level{connection.LevelAccount, connection.LevelCampaign, connection.LevelGeo, connection.LevelDevice} {
		got, _, err := w.reportOf(t, level, 30, w.entities(t))
		if err != nil {
			t.Fatalf("level %d: %v", level, err)
		}
		compareSums(t, "long decimals", got, want)
		if n := got.V[fact.Revenue]; level <= connection.LevelCampaign && (n != want.V[fact.Revenue] || n == 0) {
			t.Errorf("level %d: got revenue %d want %d", level, n, want.V[fact.Revenue])
		}
	}
}

// TestTotalBudget checks that a campaign with a total budget is listed as any
// other. The client reads no budgets.
func TestTotalBudget(t *testing.T) {
	t.Parallel()
	w := newSandbox(t, 1)
	want := w.entities(t)
	w.turnOn(t, "total_budget", "", "")
	got := w.entities(t)
	if diff := difference.Diff(want, got); diff != "" || len(got.Campaigns) != len(w.account.Campaigns) {
		t.Errorf("entities differ (-want +got):\n%s", diff)
	}
	sums, _, err := w.reportOf(t, connection.LevelCampaign, 30, got)
	if err != nil {
		t.Fatal(err)
	}
	compareSums(t, "total budget", sums, w.truth(30))
}

// TestUnnamedCreatives checks that creatives without a name are listed and have
// their metrics.
func TestUnnamedCreatives(t *testing.T) {
	t.Parallel()
	w := newSandbox(t, 1)
	before := w.entities(t)
	want, _, err := w.reportOf(t, connection.LevelAd, 30, before)
	if err != nil {
		t.Fatal(err)
	}
	w.turnOn(t, "creative_unnamed", "", "")
	got := w.entities(t)
	if len(got.Ads) != len(before.Ads) || len(got.Ads) == 0 {
		t.Errorf("got %d ads want %d", len(got.Ads), len(before.Ads))
	}
	for i, ad := range got.Ads {
		if ad.External != before.Ads[i].External || ad.Name != ad.External {
			t.Errorf("got %+v want the id as its name", ad)
		}
	}
	sums, _, err := w.reportOf(t, connection.LevelAd, 30, got)
	if err != nil || sums != want {
		t.Errorf("got %v, %v want %v", sums, err, want)
	}
}
