package account_test

import (
	"errors"
	"slices"
	"testing"

	"fanfare/internal/account"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/store/storetest"
)

// TestUpdate checks that Update changes only given fields and reports all
// problems.
func TestUpdate(t *testing.T) {
	each(t, func(t *testing.T, w *keyFixture) {
		o := newTestWorkspace(t, w)
		ctx := t.Context()
		change := func(name, zone, currency string, budget int64) account.WorkspaceChange {
			micros := &budget
			return account.WorkspaceChange{Name: &name, Timezone: &zone, Currency: &currency, ModelBudget: &micros}
		}
		before, err := o.acc.Workspace(ctx, o.Workspace)
		if err != nil || !before.EndlessKeys {
			t.Fatalf("got %+v, %v want a workspace with endless keys", before, err)
		}
		_, err = o.acc.Update(ctx, storetest.Operator, o.Workspace, change(" ", "Mars/Base", "XXL", -1))
		f, ok := errors.AsType[*fault.Error](err)
		if !ok || f.Code != fault.ValidationFailed || len(f.Details) != 4 {
			t.Fatalf("got %v want four faults", err)
		}
		no := false
		c := change("Renamed", "Asia/Tokyo", "JPY", 5_000_000)
		c.EndlessKeys, c.RequireApproval = &no, nil
		after, err := o.acc.Update(ctx, storetest.Operator, o.Workspace, c)
		if err != nil || after.Name != "Renamed" || after.Timezone != "Asia/Tokyo" || after.Currency != "JPY" || *after.ModelBudget != 5_000_000 || after.EndlessKeys || after.RequireApproval != before.RequireApproval || after.Plan != before.Plan {
			t.Errorf("got %+v, %v", after, err)
		}
		var none *int64
		if after, err = o.acc.Update(ctx, storetest.Operator, o.Workspace, account.WorkspaceChange{ModelBudget: &none}); err != nil || after.ModelBudget != nil || after.Name != "Renamed" {
			t.Errorf("got %+v, %v want no budget", after, err)
		}
		// The workspace no longer allows keys without expiry.
		_, _, err = o.acc.CreateKey(ctx, storetest.Operator, o.Workspace, o.Owner, account.KeyOptions{Name: "endless"})
		if !fault.Is(err, fault.ValidationFailed) {
			t.Errorf("an endless key: got %v want a fault", err)
		}
		o.key(o.Owner, account.KeyOptions{Lifetime: day})
	})
}

// TestKeyless creates a workspace without a key.
func TestKeyless(t *testing.T) {
	each(t, func(t *testing.T, w *keyFixture) {
		o := newTestWorkspace(t, w)
		ctx := t.Context()
		made, err := o.acc.CreateWorkspace(ctx, storetest.Operator, account.NewWorkspace{Name: "Quiet", Plan: "starter", Owner: "quiet@example.com", Currency: "EUR", Timezone: "UTC", Keyless: true})
		if err != nil || made.APIKey != "" {
			t.Fatalf("got %+v, %v want no key", made, err)
		}
		if keys, err := o.acc.Keys(ctx, made.WorkspaceID); err != nil || len(keys) != 0 {
			t.Errorf("got %d keys, %v want none", len(keys), err)
		}
		list, err := o.acc.WorkspacesOf(ctx, made.UserID)
		if err != nil || len(list) != 1 || list[0].ID != made.WorkspaceID || list[0].Role != account.Owner || list[0].Name != "Quiet" {
			t.Errorf("got workspaces %+v, %v", list, err)
		}
		c, err := o.acc.CallerFor(ctx, made.WorkspaceID, made.UserID)
		if err != nil || c.Role != account.Owner || c.Key.ID != "" || c.User.Email != "quiet@example.com" {
			t.Errorf("got caller %+v, %v", c, err)
		}
		for _, id := range []ident.ID{o.Workspace, "wks_unknown"} {
			if _, err := o.acc.CallerFor(ctx, id, made.UserID); !fault.Is(err, fault.NotFound) {
				t.Errorf("in %s: got %v want not found", id, err)
			}
		}
	})
}

// TestRemovedMemberIsNoCaller checks that a removed member is no longer a
// caller.
func TestRemovedMemberIsNoCaller(t *testing.T) {
	each(t, func(t *testing.T, w *keyFixture) {
		o := newTestWorkspace(t, w)
		ctx := t.Context()
		m, err := o.acc.AddMember(ctx, storetest.Operator, o.Workspace, "guest@example.com", "viewer", false)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := o.acc.CallerFor(ctx, o.Workspace, m.ID); err != nil {
			t.Error(err)
		}
		o.remove("guest@example.com")
		if _, err := o.acc.CallerFor(ctx, o.Workspace, m.ID); !fault.Is(err, fault.NotFound) {
			t.Errorf("got %v want not found", err)
		}
		if list, err := o.acc.WorkspacesOf(ctx, m.ID); err != nil || len(list) != 0 {
			t.Errorf("got workspaces %+v, %v want none", list, err)
		}
	})
}

// TestKeyUse checks the counts per day, and that exposure is stored once.
func TestKeyUse(t *testing.T) {
	each(t, func(t *testing.T, w *keyFixture) {
		o := newTestWorkspace(t, w)
		ctx := t.Context()
		_, k := o.key(o.Owner, account.KeyOptions{})
		today := w.Clock.Now().Unix() / 86400
		var uses []account.Use
		for ago, n := range map[int64]int64{-1: 9, 0: 1, 1: 2, 2: 3, 3: 4} {
			uses = append(uses, account.Use{WorkspaceID: o.Workspace, KeyID: k.ID, Day: today - ago, Count: n})
		}
		if err := w.DB.Accounts().AddUses(ctx, uses); err != nil {
			t.Fatal(err)
		}
		counts, err := o.acc.KeyUse(ctx, o.Workspace, 3)
		if want := []int64{3, 2, 1}; err != nil || len(counts) != 1 || !slices.Equal(counts[k.ID], want) {
			t.Errorf("got %v, %v want %v", counts, err, want)
		}
		if err := o.acc.Exposed(ctx, storetest.Operator, k); err != nil {
			t.Fatal(err)
		}
		first := o.readKey(k.ID).ExposedAt
		w.Clock.Advance(day)
		if err := o.acc.Exposed(ctx, storetest.Operator, k); err != nil {
			t.Fatal(err)
		}
		if got := o.readKey(k.ID).ExposedAt; first == nil || got == nil || *got != *first {
			t.Errorf("got exposed at %v want %v", got, first)
		}
	})
}
