package tiktok_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"fanfare/internal/adplatform/sandbox"
	"fanfare/internal/connection"
	"fanfare/internal/fact"
)

// TestSmartPlus checks that campaigns of Smart+ are read and changed.
func TestSmartPlus(t *testing.T) {
	t.Parallel()
	w := newSandbox(t, 1)
	w.turnOn(t, "smart_plus", "")
	for _, c := range w.account.Campaigns {
		if err := w.client.SetStatus(t.Context(), w.access, w.account.ID, c.ID, false); err != nil {
			t.Fatal(err)
		}
		if got, err := w.client.Status(t.Context(), w.access, w.account.ID, c.ID); err != nil || !got.Confirms(false) {
			t.Errorf("got %+v, %v, want %s paused", got, err, c.Name)
		}
	}
	got, err := w.client.Entities(t.Context(), w.access, w.account.ID)
	if err != nil || len(got.Campaigns) != len(w.account.Campaigns) {
		t.Errorf("got %d campaigns, %v", len(got.Campaigns), err)
	}
}

// TestDeletedCampaignStatus checks that a deleted campaign is gone and cannot be
// changed.
func TestDeletedCampaignStatus(t *testing.T) {
	t.Parallel()
	w := newSandbox(t, 1)
	w.turnOn(t, "deleted_hidden", "")
	id := w.account.Campaigns[1].ID
	if err := w.client.SetStatus(t.Context(), w.access, w.account.ID, id, true); connection.ClassOf(err) != connection.Refused || !strings.Contains(err.Error(), "deleted") {
		t.Errorf("got %v want a refusal that says why", err)
	}
	if _, err := w.client.Status(t.Context(), w.access, w.account.ID, id); connection.ClassOf(err) != connection.Gone {
		t.Errorf("got %v want gone", err)
	}
}

// TestPartlySuccessful checks that code 20001 is neither a success nor a failure
// by itself.
func TestPartlySuccessful(t *testing.T) {
	t.Parallel()
	w := newSandbox(t, 1)
	id := w.account.Campaigns[0].ID
	w.turnOn(t, "partial_20001", "failed")
	if err := w.client.SetStatus(t.Context(), w.access, w.account.ID, id, false); connection.ClassOf(err) != connection.Refused || !strings.Contains(err.Error(), "locked") {
		t.Errorf("got %v want a refusal with TikTok's reason", err)
	}
	if got, err := w.client.Status(t.Context(), w.access, w.account.ID, id); err != nil || !got.Runs {
		t.Errorf("got %+v, %v, want it to run", got, err)
	}
	w.turnOn(t, "partial_20001", "applied")
	if err := w.client.SetStatus(t.Context(), w.access, w.account.ID, id, false); err != nil {
		t.Errorf("got %v want the change done", err)
	}
	if got, err := w.client.Status(t.Context(), w.access, w.account.ID, id); err != nil || !got.Stopped {
		t.Errorf("got %+v, %v, want it stopped", got, err)
	}
}

// TestNarrowGrant checks that a grant without changes is kept as such.
func TestNarrowGrant(t *testing.T) {
	t.Parallel()
	w := newSandbox(t, 1)
	w.turnOn(t, "narrow_grant", "")
	id := w.account.Campaigns[0].ID
	err := w.client.SetStatus(t.Context(), w.access, w.account.ID, id, false)
	if e, ok := errors.AsType[*connection.Error](err); !ok || e.Class != connection.Forbidden || !strings.Contains(e.Remedy, "Operator") {
		t.Errorf("got %v want it forbidden, with who can help", err)
	}
	if rows, _, err := w.readAll(t, connection.Report{Level: connection.LevelCampaign}, 3); err != nil || len(rows) == 0 {
		t.Errorf("got %d rows, %v, want the report", len(rows), err)
	}
	got := w.exchange(t)
	if !slices.Equal(got.Scopes, []string{"1", "2"}) {
		t.Errorf("got scopes %v", got.Scopes)
	}
}

// TestManyAccounts checks that all accounts are listed, and that one without
// access costs no other.
func TestManyAccounts(t *testing.T) {
	t.Parallel()
	w := newSandbox(t, 1)
	w.turnOn(t, sandbox.BehaviorAccounts, "230")
	all, err := w.client.Accounts(t.Context(), w.access)
	if err != nil || len(all) != 230 {
		t.Fatalf("got %d accounts, %v", len(all), err)
	}
	denied, deleted := all[7].ExternalID, all[150].ExternalID
	w.turnOnFor(t, denied, "return_code", "40001")
	w.turnOnFor(t, deleted, "return_code", "40300")
	got, err := w.client.Accounts(t.Context(), w.access)
	if err != nil || len(got) != 230 {
		t.Fatalf("got %d accounts, %v, want all of them", len(got), err)
	}
	for i, a := range got {
		want := map[string]connection.Class{denied: connection.Forbidden, deleted: connection.Gone}[a.ExternalID]
		switch {
		case want == "" && (a.Problem != nil || !a.Enabled || a.Currency != "EUR"):
			t.Errorf("got %+v", a)
		case want != "" && (a.Problem == nil || a.Problem.Class != want || a.Enabled || a.Name != all[i].Name):
			t.Errorf("got %+v want the problem %s", a, want)
		}
	}
	w.turnOnFor(t, denied, "return_code", "40113")
	_, err = w.client.Accounts(t.Context(), w.access)
	if e, ok := errors.AsType[*connection.Error](err); !ok || e.Class != connection.Forbidden || !strings.Contains(e.Remedy, "FANFARE_OAUTH") {
		t.Errorf("got %v, want the problem of the app", err)
	}
	w.account, _ = w.server.Account(all[229].ExternalID)
	rows, _, err := w.readAll(t, connection.Report{Level: connection.LevelCampaign}, 5)
	if err != nil {
		t.Fatal(err)
	}
	w.compareSums(t, connection.LevelCampaign, sumOf(rows), w.truth(fact.Base, 5), false)
}

// TestCodes checks the class of each code, and that people are told what to do.
func TestCodes(t *testing.T) {
	t.Parallel()
	codes := map[connection.Class][]string{
		connection.Forbidden: {"40001", "40106", "40113", "40118", "40119", "40124", "40125", "41000"},
		connection.Revoked:   {"40102"},
		connection.Gone:      {"40007", "40300", "40301"},
		connection.Throttled: {"40016", "40132"},
		connection.Transient: {"40200", "40201", "40202", "40700", "50000", "50002", "51305"},
		connection.Sunset:    {"40006", "40051", "41001"},
	}
	for class, list := range codes {
		for _, code := range list {
			w := newSandbox(t, 1)
			w.turnOn(t, "return_code", code)
			_, _, err := w.readAll(t, connection.Report{Level: connection.LevelCampaign}, 3)
			e, ok := errors.AsType[*connection.Error](err)
			if !ok || e.Class != class || e.Code != code || e.RequestID == "" {
				t.Errorf("%s: got %v want %s", code, err, class)
				continue
			}
			if class == connection.Forbidden && e.Remedy == "" {
				t.Errorf("%s: got no remedy, want what to do", code)
			}
		}
	}
	w := newSandbox(t, 1)
	w.turnOn(t, "maintenance_60001", "")
	_, _, err := w.readAll(t, connection.Report{Level: connection.LevelCampaign}, 3)
	if e, ok := errors.AsType[*connection.Error](err); !ok || e.Class != connection.Transient || !e.Until.Equal(now.Add(5*time.Minute)) || w.slept > 0 {
		t.Errorf("maintenance: got %v, waited %v", err, w.slept)
	}
}

// TestAccountThrottled checks that the limit of one account does not hold
// others.
func TestAccountThrottled(t *testing.T) {
	t.Parallel()
	w := newSandbox(t, 1)
	w.turnOn(t, sandbox.BehaviorAccounts, "2")
	all, err := w.client.Accounts(t.Context(), w.access)
	if err != nil {
		t.Fatal(err)
	}
	w.turnOnFor(t, all[0].ExternalID, "advertiser_throttle_40133", "")
	_, _, err = w.readAll(t, connection.Report{Level: connection.LevelCampaign}, 3)
	if e, ok := errors.AsType[*connection.Error](err); !ok || e.Class != connection.Throttled || e.Code != "40133" {
		t.Errorf("got %v want the account throttled", err)
	}
	before := w.slept
	w.account, _ = w.server.Account(all[1].ExternalID)
	if rows, _, err := w.readAll(t, connection.Report{Level: connection.LevelCampaign}, 3); err != nil || len(rows) == 0 || w.slept != before {
		t.Errorf("got %d rows, %v after %v, want the other account at once", len(rows), err, fmt.Sprint(w.slept-before))
	}
}
