package storetest

import (
	"fmt"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"fanfare/internal/account"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
)

func (w *Fixture) caller(secret string) *account.Caller {
	w.T.Helper()
	c, err := w.DB.Accounts().Caller(w.T.Context(), account.HashSecret(secret))
	w.must(err)
	return c
}

func recordsAccounts(t *testing.T, w *Fixture) {
	c := w.caller(w.Secret)
	if c == nil || c.Workspace.ID != w.Workspace || c.User.ID != w.Owner || c.Role != account.Owner || c.InactiveAt != nil || c.Key.Last4 != w.Secret[len(w.Secret)-4:] {
		t.Fatalf("got caller %+v", c)
	}
	if c := w.caller("fanf_unknown"); c != nil {
		t.Errorf("an unknown key gave %+v", c)
	}
	// One person in two workspaces, written in two ways.
	second, user, _ := w.AddWorkspace("Owner@Example.com")
	if user != w.Owner {
		t.Errorf("got user %s want %s", user, w.Owner)
	}
	// A known user joins under the same id, also in the audit log.
	guest, err := w.Accounts.AddMember(t.Context(), Operator, w.Workspace, "guest@example.com", "editor", false)
	w.must(err)
	again, err := w.Accounts.AddMember(t.Context(), Operator, second, "guest@example.com", "viewer", false)
	w.must(err)
	if again.ID != guest.ID {
		t.Errorf("got user %s want %s", again.ID, guest.ID)
	}
	for _, workspace := range []ident.ID{w.Workspace, second} {
		w.Count(1, `SELECT count(*) FROM audit WHERE workspace_id = $1 AND entry LIKE $2`, string(workspace), `%"action":"user.create","target":"`+string(guest.ID)+`"%`)
	}
	_, err = w.Accounts.Remove(t.Context(), Operator, second, "guest@example.com")
	w.must(err)
	members, err := w.DB.Accounts().Members(t.Context(), second)
	if err != nil || len(members) != 2 || members[1].Email != "owner@example.com" || members[1].Role != account.Owner || members[0].InactiveAt == nil {
		t.Errorf("got members %+v, %v", members, err)
	}
	secret, key, err := w.Accounts.CreateKey(t.Context(), Operator, w.Workspace, "owner@example.com", account.KeyOptions{
		Name: "Narrow", Lifetime: time.Hour, Scopes: account.Scopes{"campaigns": "read"}, Addresses: []netip.Prefix{netip.MustParsePrefix("203.0.113.0/24")},
	})
	w.must(err)
	c = w.caller(secret)
	if c.Key.ID != key.ID || c.Key.Scopes["campaigns"] != account.Read || len(c.Key.Addresses) != 1 || *c.Key.ExpiresAt != w.Now().Add(time.Hour) {
		t.Errorf("got key %+v", c.Key)
	}
	w.uses(key.ID)
	// An outdated copy of the key must not reactivate it.
	stale := c.Key
	_, err = w.Accounts.Revoke(t.Context(), Operator, w.Workspace, key.ID, "by_operator")
	w.must(err)
	stale.Notified, stale.ExpiresAt = 3, nil
	w.must(w.DB.Accounts().SaveKey(t.Context(), stale, account.Note{Cause: w.Cause(), At: w.Now(), Action: "api_key.notice"}))
	c = w.caller(secret)
	if c.Key.RevokedAt == nil || c.Key.Reason != "by_operator" || *c.Key.ExpiresAt != w.Now().Add(time.Hour) || c.Key.Notified != 3 {
		t.Errorf("got key %+v after an old copy was saved", c.Key)
	}
	if _, _, err := w.Accounts.Rotate(t.Context(), Operator, w.Workspace, key.ID, time.Hour); !fault.Is(err, fault.InvalidState) {
		t.Errorf("rotating a revoked key: %v", err)
	}
	successor := account.NewKey{Key: stale, Hash: account.Hash{1}}
	successor.ID = "key_successor"
	note := account.Note{Cause: w.Cause(), At: w.Now(), Action: "api_key.rotate"}
	if err := w.DB.Accounts().AddKey(t.Context(), successor, &stale, note); !fault.Is(err, fault.InvalidState) {
		t.Errorf("a successor of a revoked key: %v", err)
	}
	live, err := w.DB.Accounts().Live(t.Context())
	if err != nil || len(live) != 2 {
		t.Errorf("got %d live keys want 2: %v", len(live), err)
	}
	if list, err := w.DB.Accounts().Workspaces(t.Context()); err != nil || len(list) != 2 {
		t.Errorf("got %d workspaces want 2: %v", len(list), err)
	}
}

// uses counts uses of a key, with user agents that clients may send.
func (w *Fixture) uses(key ident.ID) {
	t := w.T
	t.Helper()
	today := w.Clock.Now().Unix() / 86400
	for day, count := range map[int64]int64{today: 2, today - 29: 3, today - 30: 100} {
		together(2, func(i int) {
			err := w.DB.Accounts().AddUses(t.Context(), []account.Use{{
				WorkspaceID: w.Workspace, KeyID: key, Day: day, Count: count, At: w.Now().Add(time.Duration(day-today) * 24 * time.Hour).Add(time.Duration(i) * time.Second),
				Address: netip.MustParseAddr("203.0.113.7"), Agent: "agent\x00 \xff" + strings.Repeat("é", 10),
			}})
			if err != nil {
				t.Error(err)
			}
		})
	}
	keys, err := w.DB.Accounts().Keys(t.Context(), w.Workspace)
	w.must(err)
	for _, k := range keys {
		if k.ID != key {
			continue
		}
		if k.Requests30d != 10 || k.LastUsedAt == nil || *k.LastUsedAt != w.Now().Add(time.Second) || k.LastAddress != "203.0.113.7" {
			t.Errorf("got %d uses, last at %v from %s", k.Requests30d, k.LastUsedAt, k.LastAddress)
		}
		if want := "agent " + strings.Repeat("é", 10); k.LastAgent != want {
			t.Errorf("got agent %q want %q", k.LastAgent, want)
		}
	}
}

// recordsAccountLimits lets several callers compete for the last allowed item.
func recordsAccountLimits(t *testing.T, w *Fixture) {
	for i := range account.MaxKeysPerUser - 2 {
		_, _, err := w.Accounts.CreateKey(t.Context(), Operator, w.Workspace, "owner@example.com", account.KeyOptions{Name: fmt.Sprint(i)})
		w.must(err)
	}
	var made atomic.Int64
	together(8, func(int) {
		switch _, _, err := w.Accounts.CreateKey(t.Context(), Operator, w.Workspace, "owner@example.com", account.KeyOptions{Name: "last"}); {
		case err == nil:
			made.Add(1)
		case !fault.Is(err, fault.InvalidState):
			t.Error(err)
		}
	})
	if made.Load() != 1 {
		t.Errorf("%d keys were made beyond the limit, want 1", made.Load())
	}
	w.Count(account.MaxKeysPerUser, `SELECT count(*) FROM api_key WHERE workspace_id = $1`, string(w.Workspace))
	// Two owners who remove each other: one stays.
	_, err := w.Accounts.AddMember(t.Context(), Operator, w.Workspace, "second@example.com", "owner", false)
	w.must(err)
	var removed atomic.Int64
	together(2, func(i int) {
		email := []string{"owner@example.com", "second@example.com"}[i]
		switch _, err := w.Accounts.Remove(t.Context(), Operator, w.Workspace, email); {
		case err == nil:
			removed.Add(1)
		case !fault.Is(err, fault.InvalidState):
			t.Error(err)
		}
	})
	if removed.Load() != 1 {
		t.Errorf("%d of the last two owners were removed, want 1", removed.Load())
	}
	w.Count(1, `SELECT count(*) FROM member WHERE workspace_id = $1 AND role = $2 AND inactive_at IS NULL`, string(w.Workspace), "owner")
}

// recordsAccountsTogether changes a workspace and its owners concurrently: one
// owner stays, and no change is lost.
func recordsAccountsTogether(t *testing.T, first *Fixture) {
	for range 5 {
		w := first.Another()
		members, err := w.Accounts.Members(t.Context(), w.Workspace)
		w.must(err)
		owners := []string{members[0].Email}
		for i := range 3 {
			owners = append(owners, fmt.Sprintf("owner%d@example.com", i))
			_, err := w.Accounts.AddMember(t.Context(), Operator, w.Workspace, owners[i+1], "owner", false)
			w.must(err)
		}
		together(len(owners)+2, func(i int) {
			var err error
			switch {
			case i == len(owners):
				_, err = w.Accounts.Suspend(t.Context(), Operator, w.Workspace, true)
			case i > len(owners):
				_, err = w.Accounts.SetPlan(t.Context(), Operator, w.Workspace, string(account.Enterprise))
			case i%2 == 0:
				_, err = w.Accounts.Remove(t.Context(), Operator, w.Workspace, owners[i])
			default:
				_, err = w.Accounts.SetRole(t.Context(), Operator, w.Workspace, owners[i], string(account.Viewer))
			}
			if err != nil && (i >= len(owners) || !fault.Is(err, fault.InvalidState)) {
				t.Error(err)
			}
		})
		w.Count(1, `SELECT count(*) FROM member WHERE workspace_id = $1 AND role = $2 AND inactive_at IS NULL`, string(w.Workspace), "owner")
		if got, err := w.Accounts.Workspace(t.Context(), w.Workspace); err != nil || !got.Suspended || got.Plan != account.Enterprise {
			t.Errorf("got %+v, %v, want suspended and enterprise", got, err)
		}
	}
}
