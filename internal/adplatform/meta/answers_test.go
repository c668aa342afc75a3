package meta_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fanfare/internal/connection"
)

// checkLevels checks that every level has the true totals.
func (w *testSandbox) checkLevels(t *testing.T, name string) {
	t.Helper()
	for _, level := range wholeLevels {
		q := w.reportFor(t, level, 14)
		rows, err := w.report(t, q)
		w.checkTruth(t, name, q, rows, err)
	}
}

// TestUpgradedVersion checks that the answers of another version than the
// requested one are read, and that the log says so once.
func TestUpgradedVersion(t *testing.T) {
	t.Parallel()
	w := newSandbox(t, 31)
	w.turnOn(t, "version_upgraded", "")
	w.checkLevels(t, "upgraded")
	if said := w.log.String(); strings.Count(said, "level=WARN") != 1 || !strings.Contains(said, "v27.0") || !strings.Contains(said, "platform=meta_ads") {
		t.Errorf("got log %q want one warning about the version", said)
	}
}

// TestInactiveAudience checks that an audience without a size has none, and that
// others keep theirs.
func TestInactiveAudience(t *testing.T) {
	t.Parallel()
	w := newSandbox(t, 32)
	w.turnOn(t, "audience_inactive", "")
	got, err := w.client.Entities(t.Context(), w.cred, w.account.ID)
	if err != nil || len(got.Audiences) != len(w.account.Audiences) || len(got.Audiences) < 2 {
		t.Fatalf("got %+v, %v want %d audiences", got, err, len(w.account.Audiences))
	}
	for i, a := range got.Audiences {
		switch {
		case i == 0 && a.Size != nil:
			t.Errorf("got size %d want it unknown", *a.Size)
		case i > 0 && (a.Size == nil || *a.Size != w.account.Audiences[i].Size):
			t.Errorf("got size %v want %d", a.Size, w.account.Audiences[i].Size)
		}
	}
}

// TestBudgetsAndObjectives checks that campaigns are listed alike whatever budget
// and objective they have: the client reads neither.
func TestBudgetsAndObjectives(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, value string }{{"budget_level", "adset"}, {"budget_level", "lifetime"}, {"legacy_objectives", ""}} {
		w := newSandbox(t, 33)
		want, err := w.client.Entities(t.Context(), w.cred, w.account.ID)
		if err != nil {
			t.Fatal(err)
		}
		w.turnOn(t, test.name, test.value)
		got, err := w.client.Entities(t.Context(), w.cred, w.account.ID)
		if diff := cmp.Diff(want, got); err != nil || diff != "" || len(got.Campaigns) != len(w.account.Campaigns) {
			t.Errorf("%s %s: got %v, entities differ (-want +got):\n%s", test.name, test.value, err, diff)
		}
		w.checkLevels(t, test.name+test.value)
		for _, r := range w.requests {
			if strings.Contains(r.URL.RawQuery, "budget") {
				t.Errorf("got %s want no budgets, which a campaign may not have", r.URL.RawQuery)
			}
		}
	}
}

// TestUnavailableWithStatus200 checks that a text instead of JSON is tried again
// and neither an empty list, nor an empty report, nor a change that was made.
func TestUnavailableWithStatus200(t *testing.T) {
	t.Parallel()
	w := newSandbox(t, 34)
	q := w.reportFor(t, connection.LevelCampaign, 14)
	campaign := w.account.Campaigns[0].ID
	w.turnOn(t, "service_unavailable_200", "")
	for _, level := range wholeLevels {
		q.Level = level
		before := len(w.requests)
		rows, err := w.report(t, q)
		checkClass(t, "report", err, connection.Transient, "")
		if len(rows) > 0 || len(w.requests)-before < 2 {
			t.Errorf("level %d: got %d rows in %d requests want none in several", level, len(rows), len(w.requests)-before)
		}
	}
	_, err := w.client.Accounts(t.Context(), w.cred)
	checkClass(t, "accounts", err, connection.Transient, "")
	_, err = w.client.Entities(t.Context(), w.cred, w.account.ID)
	checkClass(t, "entities", err, connection.Transient, "")
	_, err = w.client.Status(t.Context(), w.cred, w.account.ID, campaign)
	checkClass(t, "status", err, connection.Transient, "")
	checkClass(t, "pause", w.client.SetStatus(t.Context(), w.cred, w.account.ID, campaign, false), connection.Transient, "")
	checkClass(t, "revoke", w.client.Revoke(t.Context(), app, w.cred), connection.Transient, "")
	w.sandbox.TurnAllOff()
	w.checkLevels(t, "afterwards")
}

// TestChangeWithoutSuccess checks that a change with the answer success false is
// not taken for made.
func TestChangeWithoutSuccess(t *testing.T) {
	t.Parallel()
	w := newSandbox(t, 35)
	campaign := w.account.Campaigns[0].ID
	w.turnOn(t, "success_false", "")
	pause := w.client.SetStatus(t.Context(), w.cred, w.account.ID, campaign, false)
	runs, known := w.sandbox.Runs(w.account.ID, campaign)
	got, err := w.client.Status(t.Context(), w.cred, w.account.ID, campaign)
	if !runs || !known || err != nil || got.Confirms(false) || !got.Confirms(true) {
		t.Errorf("got %+v, %v want the campaign to run as before", got, err)
	}
	checkClass(t, "pause", pause, connection.Transient, "did not make the change")
	entities, err := w.client.Entities(t.Context(), w.cred, w.account.ID)
	if err != nil || !entities.Campaigns[0].Runs {
		t.Errorf("got %+v, %v want the campaign to run", entities, err)
	}
	w.sandbox.TurnAllOff()
	if err := w.client.SetStatus(t.Context(), w.cred, w.account.ID, campaign, false); err != nil {
		t.Error(err)
	}
	if runs, _ := w.sandbox.Runs(w.account.ID, campaign); runs {
		t.Error("the campaign runs")
	}
}
