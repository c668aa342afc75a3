package account_test

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"fanfare/internal/account"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/store/storetest"
)

func (o *testWorkspace) remove(email string) {
	o.t.Helper()
	if _, err := o.acc.Remove(context.Background(), storetest.Operator, o.Workspace, email); err != nil {
		o.t.Fatal(err)
	}
}

// TestK4OwnerLeaves checks that the keys of a removed member stop at once. A
// return within 30 days restores them; after that they are gone, whether or not
// Sweep ran meanwhile.
func TestK4OwnerLeaves(t *testing.T) {
	tests := []struct {
		name   string
		away   time.Duration
		sweeps bool
		again  bool // is removed a second time on the way
		want   fault.Code
	}{
		{"a day", day, true, false, ""},
		{"a moment before 30 days", 30*day - time.Millisecond, true, false, ""},
		{"30 days, looked after", 30 * day, true, false, fault.APIKeyRevoked},
		{"30 days, nobody looked", 30 * day, false, false, fault.APIKeyRevoked},
		{"30 days, removed again in between", 30 * day, false, true, fault.APIKeyRevoked},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			each(t, func(t *testing.T, w *keyFixture) {
				o := newTestWorkspace(t, w)
				o.member("bob@example.com", account.Editor)
				secret, k := o.key("bob@example.com", account.KeyOptions{})
				other, _ := o.key(o.Owner, account.KeyOptions{})
				o.wantAuthFault(secret, "")
				o.remove("bob@example.com")
				o.wantAuthFault(secret, fault.APIKeyOwnerInactive)
				w.Clock.Advance(tt.away / 2)
				if tt.again {
					o.remove("bob@example.com")
				}
				w.Clock.Advance(tt.away - tt.away/2)
				if tt.sweeps {
					o.sweep()
				}
				o.member("BOB@example.com", account.Viewer)
				o.wantAuthFault(secret, tt.want)
				o.wantAuthFault(other, "")
				if tt.want != "" && o.readKey(k.ID).Reason != "owner_inactive" {
					t.Errorf("got reason %q, want owner_inactive", o.readKey(k.ID).Reason)
				}
			})
		})
	}
}

// TestK4Demotion checks that a key has its owner's current role.
func TestK4Demotion(t *testing.T) {
	each(t, func(t *testing.T, w *keyFixture) {
		o := newTestWorkspace(t, w)
		o.member("ann@example.com", account.Viewer)
		secret, _ := o.key("ann@example.com", account.KeyOptions{})
		for _, role := range []account.Role{account.Editor, account.Viewer, account.Admin, account.Owner, account.Viewer} {
			if _, err := o.acc.SetRole(t.Context(), storetest.Operator, o.Workspace, "ann@example.com", string(role)); err != nil {
				t.Fatal(err)
			}
			c, err := w.Keys.Caller(t.Context(), account.HashSecret(secret))
			if err != nil || c.Role != role {
				t.Errorf("got role %v, %v, want %s", c.Role, err, role)
			}
		}
	})
}

// TestLastOwner checks that a workspace always has an active owner.
func TestLastOwner(t *testing.T) {
	each(t, func(t *testing.T, w *keyFixture) {
		o, ctx := newTestWorkspace(t, w), t.Context()
		refused := func(err error) {
			t.Helper()
			if !fault.Is(err, fault.InvalidState) {
				t.Errorf("got %v, want invalid_state", err)
			}
		}
		remove := func(email string) error {
			_, err := o.acc.Remove(ctx, storetest.Operator, o.Workspace, email)
			return err
		}
		demote := func(email string) error {
			_, err := o.acc.SetRole(ctx, storetest.Operator, o.Workspace, email, string(account.Admin))
			return err
		}
		refused(remove(o.Owner))
		refused(demote(o.Owner))
		o.member("second@example.com", account.Owner)
		if err := demote(o.Owner); err != nil {
			t.Fatal(err)
		}
		refused(remove("second@example.com"))
		if err := remove(o.Owner); err != nil {
			t.Fatal(err)
		}
		refused(demote("second@example.com"))
	})
}

// TestOneUserManyWorkspaces checks that a role in one workspace has no effect
// in another.
func TestOneUserManyWorkspaces(t *testing.T) {
	each(t, func(t *testing.T, w *keyFixture) {
		a, b := newTestWorkspace(t, w), newTestWorkspace(t, w)
		a.member("both@example.com", account.Admin)
		b.member("both@example.com", account.Viewer)
		inA, _ := a.key("both@example.com", account.KeyOptions{})
		inB, _ := b.key("both@example.com", account.KeyOptions{})
		ofA, errA := w.Keys.Caller(t.Context(), account.HashSecret(inA))
		ofB, errB := w.Keys.Caller(t.Context(), account.HashSecret(inB))
		if err := errors.Join(errA, errB); err != nil {
			t.Fatal(err)
		}
		if ofA.User.ID != ofB.User.ID || ofA.Role != account.Admin || ofB.Role != account.Viewer || ofA.Workspace.ID == ofB.Workspace.ID {
			t.Errorf("got %+v and %+v, want one user with two roles", ofA, ofB)
		}
		a.remove("both@example.com")
		a.wantAuthFault(inA, fault.APIKeyOwnerInactive)
		b.wantAuthFault(inB, "")
	})
}

// TestK6Notices checks that the workspace gets an event 14, 3 and 1 days before
// a key expires, once each, however often Sweep runs. A late Sweep announces
// only the nearest.
func TestK6Notices(t *testing.T) {
	tests := []struct {
		name  string
		looks []time.Duration // before the end
		want  []int           // notices after each look
	}{
		{"every notice once", []time.Duration{15 * day, 14 * day, 14*day - time.Hour, 3 * day, 2 * day, day, time.Hour}, []int{0, 1, 1, 2, 2, 3, 3}},
		{"late", []time.Duration{2 * day, 2 * day, 12 * time.Hour}, []int{1, 1, 2}},
		{"too late", []time.Duration{12 * time.Hour, 0, -day}, []int{1, 1, 1}},
		{"never", []time.Duration{0, -day}, []int{0, 0}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			each(t, func(t *testing.T, w *keyFixture) {
				o := newTestWorkspace(t, w)
				_, k := o.key(o.Owner, account.KeyOptions{Lifetime: 20 * day})
				o.key(o.Owner, account.KeyOptions{})
				end := k.ExpiresAt.Time()
				for i, before := range tt.looks {
					w.Clock.Advance(end.Add(-before).Sub(w.Clock.Now()))
					o.sweep()
					o.sweep()
					if got := o.eventCount("api_key.expiring"); got != tt.want[i] {
						t.Errorf("got %d notices %v before the end, want %d", got, before, tt.want[i])
					}
				}
			})
		})
	}
}

// TestK6Unused checks that a key is revoked after 365 days without use, but not
// if it was used a second ago and the use is not written yet.
func TestK6Unused(t *testing.T) {
	each(t, func(t *testing.T, w *keyFixture) {
		o := newTestWorkspace(t, w)
		never, k := o.key(o.Owner, account.KeyOptions{})
		once, _ := o.key(o.Owner, account.KeyOptions{})
		busy, _ := o.key(o.Owner, account.KeyOptions{})
		use := func(secret string) {
			t.Helper()
			c, err := w.Keys.Caller(t.Context(), account.HashSecret(secret))
			if err != nil {
				t.Fatal(err)
			}
			w.Keys.Used(c, netip.MustParseAddr("203.0.113.9"), "agent", w.Clock.Now())
		}
		w.Clock.Advance(10 * day)
		use(once)
		w.Clock.Advance(355*day - time.Hour)
		o.sweep()
		o.wantAuthFault(never, "")
		w.Clock.Advance(time.Hour)
		use(busy)
		o.sweep()
		o.wantAuthFault(never, fault.APIKeyRevoked)
		o.wantAuthFault(once, "")
		o.wantAuthFault(busy, "")
		if got := o.readKey(k.ID).Reason; got != "unused" {
			t.Errorf("got reason %q, want unused", got)
		}
		w.Clock.Advance(10 * day)
		o.sweep()
		o.wantAuthFault(once, fault.APIKeyRevoked)
		o.wantAuthFault(busy, "")
	})
}

// TestOperatorMistakes checks what the operator's commands reject and with
// which code.
func TestOperatorMistakes(t *testing.T) {
	t.Parallel()
	w := newKeyFixture(t, false)
	o, ctx, op := newTestWorkspace(t, w), t.Context(), storetest.Operator
	good := account.NewWorkspace{Name: "n", Plan: "growth", Owner: "x@example.com", Currency: "EUR", Timezone: "UTC"}
	workspace := func(change func(*account.NewWorkspace)) func() error {
		return func() error {
			n := good
			change(&n)
			_, err := o.acc.CreateWorkspace(ctx, op, n)
			return err
		}
	}
	member := func(workspace, email, role string) func() error {
		return func() error {
			_, err := o.acc.AddMember(ctx, op, ident.ID(workspace), email, role, false)
			return err
		}
	}
	here := string(o.Workspace)
	tests := []struct {
		name string
		call func() error
		want fault.Code
	}{
		{"no name", workspace(func(n *account.NewWorkspace) { n.Name = " " }), fault.ValidationFailed},
		{"long name", workspace(func(n *account.NewWorkspace) { n.Name = strings.Repeat("é", 201) }), fault.ValidationFailed},
		{"plan", workspace(func(n *account.NewWorkspace) { n.Plan = "gold" }), fault.ValidationFailed},
		{"owner", workspace(func(n *account.NewWorkspace) { n.Owner = "Ada <ada@example.com>" }), fault.ValidationFailed},
		{"currency", workspace(func(n *account.NewWorkspace) { n.Currency = "usd" }), fault.ValidationFailed},
		{"timezone", workspace(func(n *account.NewWorkspace) { n.Timezone = "Local" }), fault.ValidationFailed},
		{"set plan", func() error { _, err := o.acc.SetPlan(ctx, op, o.Workspace, "gold"); return err }, fault.ValidationFailed},
		{"plan of nobody", func() error { _, err := o.acc.SetPlan(ctx, op, "wks_x", "growth"); return err }, fault.NotFound},
		{"suspend nobody", func() error { _, err := o.acc.Suspend(ctx, op, "wks_x", true); return err }, fault.NotFound},
		{"members of nobody", func() error { _, err := o.acc.Members(ctx, "wks_x"); return err }, fault.NotFound},
		{"keys of nobody", func() error { _, err := o.acc.Keys(ctx, "wks_x"); return err }, fault.NotFound},
		{"revoke nothing", func() error { _, err := o.acc.Revoke(ctx, op, o.Workspace, "key_x", "r"); return err }, fault.NotFound},
		{"no e-mail", member(here, "nobody", "viewer"), fault.ValidationFailed},
		{"no role", member(here, "y@example.com", "god"), fault.ValidationFailed},
		{"member already", member(here, strings.ToUpper(o.Owner), "viewer"), fault.AlreadyExists},
		{"member of nobody", member("wks_x", "y@example.com", "viewer"), fault.NotFound},
		{"role of a stranger", func() error { _, err := o.acc.SetRole(ctx, op, o.Workspace, "y@example.com", "viewer"); return err }, fault.NotFound},
		{"unknown role", func() error { _, err := o.acc.SetRole(ctx, op, o.Workspace, o.Owner, "god"); return err }, fault.ValidationFailed},
		{"remove a stranger", func() error { _, err := o.acc.Remove(ctx, op, o.Workspace, "y@example.com"); return err }, fault.NotFound},
		{"nothing wrong", workspace(func(*account.NewWorkspace) {}), ""},
	}
	before, err := o.acc.Workspaces(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		if err := tt.call(); tt.want == "" && err != nil || tt.want != "" && !fault.Is(err, tt.want) {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.want)
		}
	}
	if after, err := o.acc.Workspaces(ctx); err != nil || len(after) != len(before)+1 {
		t.Errorf("got %d workspaces more, %v, want 1", len(after)-len(before), err)
	}
}
