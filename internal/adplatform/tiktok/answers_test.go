package tiktok_test

import (
	"testing"
	"time"

	"fanfare/internal/adplatform/sandbox"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/fact"
)

// checkTotals checks that campaigns and the account have the true totals.
func (w *testSandbox) checkTotals(t *testing.T, entities *connection.Entities) {
	t.Helper()
	for _, level := range []connection.Level{connection.LevelAccount, connection.LevelCampaign, connection.LevelDevice} {
		rows, _, err := w.readAll(t, connection.Report{Level: level, Entities: entities}, 20)
		if err != nil {
			t.Fatal(err)
		}
		w.compareSums(t, level, sumOf(rows), w.truth(connection.Families[level], 20), false)
	}
}

// TestFixedOffsetZone checks that the zone of an account is on the right side of
// UTC.
func TestFixedOffsetZone(t *testing.T) {
	t.Parallel()
	for zone, hours := range map[string]int{"America/New_York": -5, "Europe/Berlin": 1} {
		w := newSandboxIn(t, 1, zone)
		w.turnOn(t, "fixed_offset_zone", "")
		list, err := w.client.Accounts(t.Context(), w.access)
		if err != nil || len(list) != 1 {
			t.Fatalf("got %+v, %v want an account", list, err)
		}
		in, err := clock.Zone(list[0].Timezone)
		if err != nil {
			t.Fatalf("%s: got zone %q, which is not known: %v", zone, list[0].Timezone, err)
		}
		if _, offset := time.Date(2026, time.January, 10, 0, 0, 0, 0, in).Zone(); offset != hours*3600 {
			t.Errorf("%s: got zone %q with an offset of %d seconds want %d hours", zone, list[0].Timezone, offset, hours)
		}
		entities, err := w.client.Entities(t.Context(), w.access, w.account.ID)
		if err != nil {
			t.Fatal(err)
		}
		w.checkTotals(t, entities)
	}
}

// TestSecondaryStatus checks that a campaign that is switched on and does not
// deliver stays switched on, and that its status says why it does not deliver.
func TestSecondaryStatus(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"ADVERTISER_ACCOUNT_PUNISH", "ADVERTISER_CONTRACT_PENDING", "CAMPAIGN_STATUS_REVIEW_DISAPPROVED", "STATUS_NOT_DELIVERY"} {
		w := newSandbox(t, 1)
		w.turnOn(t, "secondary_status", value)
		entities, err := w.client.Entities(t.Context(), w.access, w.account.ID)
		if err != nil || len(entities.Campaigns) != len(w.account.Campaigns) {
			t.Fatalf("got %+v, %v want all campaigns", entities, err)
		}
		for _, c := range entities.Campaigns {
			if !c.Runs || c.Status != value {
				t.Errorf("got %+v want it switched on, with the status %s", c, value)
			}
		}
		campaign := w.account.Campaigns[0].ID
		for _, run := range []bool{false, true} {
			if err := w.client.SetStatus(t.Context(), w.access, w.account.ID, campaign, run); err != nil {
				t.Fatal(err)
			}
			if got, err := w.client.Status(t.Context(), w.access, w.account.ID, campaign); err != nil || !got.Confirms(run) || got.Confirms(!run) {
				t.Errorf("%s: got %+v, %v want %v confirmed", value, got, err, run)
			}
		}
		w.checkTotals(t, entities)
	}
}

// TestSharedAudience checks that an audience that another account shares is
// listed once.
func TestSharedAudience(t *testing.T) {
	t.Parallel()
	w := newSandbox(t, 1)
	w.turnOn(t, sandbox.BehaviorAccounts, "2")
	w.turnOn(t, "shared_audience", "")
	shared := w.account.Audiences[0].ID
	list, err := w.client.Accounts(t.Context(), w.access)
	if err != nil || len(list) != 2 {
		t.Fatalf("got %+v, %v want two accounts", list, err)
	}
	for _, a := range list {
		entities, err := w.client.Entities(t.Context(), w.access, a.ExternalID)
		if err != nil {
			t.Fatal(err)
		}
		count := map[string]int{}
		for _, x := range entities.Audiences {
			count[x.External]++
		}
		account, _ := w.server.Account(a.ExternalID)
		for _, x := range account.Audiences {
			if count[x.ID] != 1 {
				t.Errorf("%s: got audience %s %d times want once", a.ExternalID, x.ID, count[x.ID])
			}
		}
		if count[shared] > 1 {
			t.Errorf("%s: got the shared audience %d times", a.ExternalID, count[shared])
		}
		w.account = account
		rows, _, err := w.readAll(t, connection.Report{Level: connection.LevelCampaign, Entities: entities}, 20)
		if err != nil {
			t.Fatal(err)
		}
		w.compareSums(t, connection.LevelCampaign, sumOf(rows), w.truth(fact.Base, 20), false)
	}
}
