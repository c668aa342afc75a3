package ga4

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"fanfare/internal/connection"
)

// TestOmittedDefaults checks that absent members have the default value of their
// type: an empty report is empty and not malformed.
func TestOmittedDefaults(t *testing.T) {
	t.Parallel()
	f := openSandbox(t)
	wantEvents, err := f.client.keyEvents(t.Context(), f.creds, f.account.ID)
	if err != nil || len(wantEvents) == 0 {
		t.Fatalf("got %v, %v want key events", wantEvents, err)
	}
	wantAccounts, err := f.client.Accounts(t.Context(), f.creds)
	if err != nil {
		t.Fatal(err)
	}
	f.turnOn(t, "", "defaults_omitted", "")
	last := f.server.Today(f.account) - 5
	for level := range sandboxLevels {
		r := f.mustRead(t, connection.Report{Level: level, First: last - 20, Last: last})
		if level != connection.LevelAd {
			f.checkTruth(t, r, last-20, last)
		}
		empty := f.mustRead(t, connection.Report{Level: level, First: f.account.First - 20, Last: f.account.First - 1})
		if len(empty.rows) != 0 {
			t.Errorf("level %d: got %d rows want none before the first day", level, len(empty.rows))
		}
	}
	events, err := f.client.keyEvents(t.Context(), f.creds, f.account.ID)
	if diff := cmp.Diff(wantEvents, events); err != nil || diff != "" {
		t.Errorf("got %v, key events differ (-want +got):\n%s", err, diff)
	}
	accounts, err := f.client.Accounts(t.Context(), f.creds)
	if diff := cmp.Diff(wantAccounts, accounts); err != nil || diff != "" {
		t.Errorf("got %v, properties differ (-want +got):\n%s", err, diff)
	}
	// Quotas without consumed are not exhausted: the next report is not held.
	f.mustRead(t, connection.Report{Level: connection.LevelAccount, First: last, Last: last})
}

// TestRowOrder checks that the pages of a report have every row once, although
// only a requested order is the same for all pages.
func TestRowOrder(t *testing.T) {
	t.Parallel()
	f := openSandbox(t)
	f.turnOn(t, "", "row_order", "")
	f.client.page = 7
	last := f.server.Today(f.account) - 5
	for level := range sandboxLevels {
		r := f.mustRead(t, connection.Report{Level: level, First: last - 3, Last: last})
		if level != connection.LevelAd {
			f.checkTruth(t, r, last-3, last)
		}
		if want := f.expectedRows(level, last-3, last); len(r.rows) != len(want) || level != connection.LevelAccount && len(want) <= f.client.page {
			t.Errorf("level %d: got %d rows want %d of several pages", level, len(r.rows), len(want))
		}
	}
}

// TestAccountWithoutProperties checks that an account without properties adds
// nothing to the list and is no error.
func TestAccountWithoutProperties(t *testing.T) {
	t.Parallel()
	f := openSandbox(t)
	f.turnOn(t, "", "accounts", "3")
	want, err := f.client.Accounts(t.Context(), f.creds)
	if err != nil || len(want) != 3 {
		t.Fatalf("got %+v, %v want 3 properties", want, err)
	}
	f.turnOn(t, "", "account_without_properties", "")
	got, err := f.client.Accounts(t.Context(), f.creds)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("got %v, properties differ (-want +got):\n%s", err, diff)
	}
}
