package account_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fanfare/internal/account"
	"fanfare/internal/clock"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/record"
	"fanfare/internal/store/sqlitetest"
	"fanfare/internal/store/storetest"
)

const day = 24 * time.Hour

// keyFixture is a store with the cache of keys.
type keyFixture struct {
	*storetest.Fixture
	Keys *account.KeyCache
}

// newKeyFixture opens a store in memory. shared reports that other nodes change
// it, too.
func newKeyFixture(t *testing.T, shared bool) *keyFixture {
	t.Helper()
	w := storetest.NewFixture(t, sqlitetest.Open(t))
	keys := account.NewKeyCache(w.DB.Accounts(), w.Accounts, shared, w.Clock.Now)
	w.DB.OnAuth(keys.Forget)
	return &keyFixture{w, keys}
}

// each runs a test on the only node of a store and on one of several.
func each(t *testing.T, test func(t *testing.T, w *keyFixture)) {
	t.Helper()
	for name, shared := range map[string]bool{"only node": false, "one of several nodes": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newKeyFixture(t, shared))
		})
	}
}

// testWorkspace is a workspace with the services to change it.
type testWorkspace struct {
	*keyFixture
	t   *testing.T
	acc *account.Service
	// Owner is the email of its owner.
	Owner string
}

func newTestWorkspace(t *testing.T, w *keyFixture) *testWorkspace {
	t.Helper()
	o := &testWorkspace{&keyFixture{w.Another(), w.Keys}, t, w.Accounts, ""}
	members, err := o.acc.Members(t.Context(), o.Workspace)
	if err != nil {
		t.Fatal(err)
	}
	o.Owner = members[0].Email
	return o
}

func (o *testWorkspace) member(email string, role account.Role) {
	o.t.Helper()
	if _, err := o.acc.AddMember(context.Background(), storetest.Operator, o.Workspace, email, string(role), false); err != nil {
		o.t.Fatal(err)
	}
}

func (o *testWorkspace) key(email string, opt account.KeyOptions) (string, account.Key) {
	o.t.Helper()
	opt.Name = "key"
	secret, k, err := o.acc.CreateKey(context.Background(), storetest.Operator, o.Workspace, email, opt)
	if err != nil {
		o.t.Fatal(err)
	}
	return secret, k
}

// readKey returns a key as it is stored.
func (o *testWorkspace) readKey(id ident.ID) account.Key {
	o.t.Helper()
	keys, err := o.acc.Keys(context.Background(), o.Workspace)
	if err != nil {
		o.t.Fatal(err)
	}
	for _, k := range keys {
		if k.ID == id {
			return k
		}
	}
	o.t.Fatalf("there is no key %s", id)
	return account.Key{}
}

// authFault returns the code of the fault of Check for a key now, "" for none.
func (o *testWorkspace) authFault(secret string) fault.Code {
	o.t.Helper()
	c, err := o.Keys.Caller(context.Background(), account.HashSecret(secret))
	if err != nil {
		o.t.Fatal(err)
	}
	if f, ok := errors.AsType[*fault.Error](c.Check(clock.At(o.Clock.Now()))); ok {
		return f.Code
	}
	return ""
}

func (o *testWorkspace) wantAuthFault(secret string, want fault.Code) {
	o.t.Helper()
	if got := o.authFault(secret); got != want {
		o.t.Errorf("got %q, want %q", got, want)
	}
}

// eventCount counts the events of a type since the start.
func (o *testWorkspace) eventCount(kind string) int {
	o.t.Helper()
	return len(o.Events("type", kind))
}

func (o *testWorkspace) sweep() {
	o.t.Helper()
	if err := o.Keys.Sweep(context.Background()); err != nil {
		o.t.Fatal(err)
	}
}

// TestK7Rotate checks that the new key has the name, owner, scopes, address
// list and lifetime of the old one. Both work during the overlap, then only the
// new one.
func TestK7Rotate(t *testing.T) {
	each(t, func(t *testing.T, w *keyFixture) {
		for _, overlap := range []time.Duration{0, time.Hour, 24 * time.Hour, 7 * day} {
			o := newTestWorkspace(t, w)
			opt := account.KeyOptions{Lifetime: 90 * day, Scopes: account.Scopes{"campaigns": account.Read}, Addresses: []netip.Prefix{netip.MustParsePrefix("203.0.113.0/24")}}
			oldSecret, oldKey := o.key(o.Owner, opt)
			w.Clock.Advance(10 * day)
			secret, k, err := o.acc.Rotate(t.Context(), storetest.Operator, o.Workspace, oldKey.ID, overlap)
			if err != nil {
				t.Fatal(err)
			}
			if k.Name != oldKey.Name || k.UserID != oldKey.UserID || cmp.Diff(k.Scopes, oldKey.Scopes) != "" || len(k.Addresses) != 1 || k.Addresses[0] != opt.Addresses[0] {
				t.Errorf("got %+v, want what %+v has", k, oldKey)
			}
			if want := clock.At(w.Clock.Now().Add(90 * day)); k.ExpiresAt == nil || *k.ExpiresAt != want {
				t.Errorf("got an end at %v, want %v", k.ExpiresAt, want)
			}
			o.wantAuthFault(secret, "")
			if overlap > 0 {
				w.Clock.Advance(overlap - time.Millisecond)
				o.wantAuthFault(secret, "")
				o.wantAuthFault(oldSecret, "")
				w.Clock.Advance(time.Millisecond)
			}
			o.wantAuthFault(oldSecret, fault.APIKeyExpired)
			o.wantAuthFault(secret, "")
			if got := o.eventCount("api_key.rotated"); got != 1 {
				t.Errorf("got %d events api_key.rotated, want 1", got)
			}
		}
	})
}

// TestK7RotateShortens checks that an overlap never extends the old key's
// expiry, and that a key without expiry is replaced by one without expiry.
func TestK7RotateShortens(t *testing.T) {
	each(t, func(t *testing.T, w *keyFixture) {
		o := newTestWorkspace(t, w)
		rotate := func(id ident.ID) account.Key {
			t.Helper()
			_, k, err := o.acc.Rotate(t.Context(), storetest.Operator, o.Workspace, id, 7*day)
			if err != nil {
				t.Fatal(err)
			}
			return k
		}
		short, k := o.key(o.Owner, account.KeyOptions{Lifetime: time.Hour})
		rotate(k.ID)
		w.Clock.Advance(time.Hour)
		o.wantAuthFault(short, fault.APIKeyExpired)
		_, err := o.acc.Revoke(t.Context(), storetest.Operator, o.Workspace, k.ID, "test")
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := o.acc.Rotate(t.Context(), storetest.Operator, o.Workspace, k.ID, 0); !fault.Is(err, fault.InvalidState) {
			t.Errorf("got %v for the rotation of a dead key, want invalid_state", err)
		}
		_, endless := o.key(o.Owner, account.KeyOptions{})
		if next := rotate(endless.ID); next.ExpiresAt != nil {
			t.Errorf("got an end at %v, want none", next.ExpiresAt)
		}
		if _, _, err := o.acc.Rotate(t.Context(), storetest.Operator, o.Workspace, "key_nope", 0); !fault.Is(err, fault.NotFound) {
			t.Errorf("got %v, want not_found", err)
		}
		other := newTestWorkspace(t, w)
		if _, _, err := o.acc.Rotate(t.Context(), storetest.Operator, other.Workspace, endless.ID, 0); !fault.Is(err, fault.NotFound) {
			t.Errorf("got %v for a key of another workspace, want not_found", err)
		}
	})
}

// TestK8Revoke checks that a revocation takes effect at once and permanently,
// has one audit entry, and keeps its reason.
func TestK8Revoke(t *testing.T) {
	each(t, func(t *testing.T, w *keyFixture) {
		o := newTestWorkspace(t, w)
		secret, k := o.key(o.Owner, account.KeyOptions{})
		o.wantAuthFault(secret, "")
		for _, reason := range []string{"first", "second"} {
			if _, err := o.acc.Revoke(t.Context(), storetest.Operator, o.Workspace, k.ID, reason); err != nil {
				t.Fatal(err)
			}
			o.wantAuthFault(secret, fault.APIKeyRevoked)
			w.Clock.Advance(time.Hour)
		}
		if got := o.readKey(k.ID); got.Reason != "first" || *got.RevokedAt != clock.At(storetest.Start) {
			t.Errorf("got %s at %v, want first at %v", got.Reason, got.RevokedAt, storetest.Start)
		}
		if got := o.eventCount("api_key.revoked"); got != 1 {
			t.Errorf("got %d events api_key.revoked, want 1", got)
		}
	})
}

// TestK8RevokeWins checks that concurrent changes based on the active key
// neither undo a revocation nor extend an expiry.
func TestK8RevokeWins(t *testing.T) {
	each(t, func(t *testing.T, w *keyFixture) {
		o, ctx := newTestWorkspace(t, w), t.Context()
		accounts := w.DB.Accounts()
		note := account.Note{Cause: record.Cause{Workspace: o.Workspace, Actor: record.System}, At: clock.At(w.Clock.Now()), Action: "test"}
		secret, before := o.key(o.Owner, account.KeyOptions{Lifetime: 30 * day})
		if _, _, err := o.acc.Rotate(ctx, storetest.Operator, o.Workspace, before.ID, time.Hour); err != nil {
			t.Fatal(err)
		}
		before.Notified = 14
		if err := accounts.SaveKey(ctx, before, note); err != nil {
			t.Fatal(err)
		}
		if got, want := o.readKey(before.ID).ExpiresAt, clock.At(w.Clock.Now().Add(time.Hour)); got == nil || *got != want {
			t.Errorf("got an end at %v after a notice from an old copy, want %v", got, want)
		}
		endless := before
		endless.ExpiresAt = nil
		if err := accounts.SaveKey(ctx, endless, note); err != nil {
			t.Fatal(err)
		}
		if o.readKey(before.ID).ExpiresAt == nil {
			t.Error("got the end taken away by an old copy")
		}
		if _, err := o.acc.Revoke(ctx, storetest.Operator, o.Workspace, before.ID, "stolen"); err != nil {
			t.Fatal(err)
		}
		if err := accounts.SaveKey(ctx, before, note); err != nil {
			t.Fatal(err)
		}
		o.wantAuthFault(secret, fault.APIKeyRevoked)
		if got := o.readKey(before.ID).Reason; got != "stolen" {
			t.Errorf("got reason %q, want stolen", got)
		}
		successor := account.NewKey{Key: before, Hash: account.Hash{1}}
		successor.ID = "key_successor"
		if err := accounts.AddKey(ctx, successor, &before, note); !fault.Is(err, fault.InvalidState) {
			t.Errorf("got %v for a successor of a revoked key, want invalid_state", err)
		}
		o.wantAuthFault(secret, fault.APIKeyRevoked)
	})
}

// TestK9Limits checks the limits of 20 active keys per user and 100 per
// workspace. Revoked and expired keys do not count, and a key can be rotated at
// the limit.
func TestK9Limits(t *testing.T) {
	each(t, func(t *testing.T, w *keyFixture) {
		o := newTestWorkspace(t, w)
		create := func(email string, opt account.KeyOptions) error {
			opt.Name = "key"
			_, _, err := o.acc.CreateKey(t.Context(), storetest.Operator, o.Workspace, email, opt)
			return err
		}
		// The workspace has a first key of its owner.
		o.key(o.Owner, account.KeyOptions{Lifetime: time.Hour})
		for range account.MaxKeysPerUser - 2 {
			o.key(o.Owner, account.KeyOptions{})
		}
		if err := create(o.Owner, account.KeyOptions{}); !fault.Is(err, fault.InvalidState) {
			t.Errorf("got %v for key 21 of a user, want invalid_state", err)
		}
		w.Clock.Advance(time.Hour)
		_, second := o.key(o.Owner, account.KeyOptions{})
		if err := create(o.Owner, account.KeyOptions{}); !fault.Is(err, fault.InvalidState) {
			t.Errorf("got %v, want invalid_state again", err)
		}
		if _, err := o.acc.Revoke(t.Context(), storetest.Operator, o.Workspace, second.ID, "test"); err != nil {
			t.Fatal(err)
		}
		_, third := o.key(o.Owner, account.KeyOptions{})
		if _, _, err := o.acc.Rotate(t.Context(), storetest.Operator, o.Workspace, third.ID, time.Hour); err != nil {
			t.Errorf("got %v for a rotation at the limit, want it done", err)
		}
		for n := range 5 {
			email := fmt.Sprintf("user%d@example.com", n)
			o.member(email, account.Viewer)
			made := 0
			for create(email, account.KeyOptions{}) == nil {
				made++
			}
			// The key in its overlap counts too: the owner has 21 keys.
			if want := max(0, min(account.MaxKeysPerUser, account.MaxKeysPerWorkspace-21-n*account.MaxKeysPerUser)); made != want {
				t.Errorf("got %d keys for user %d, want %d", made, n, want)
			}
		}
	})
}

// TestK9LimitHoldsTogether checks the limit with concurrent requests.
func TestK9LimitHoldsTogether(t *testing.T) {
	each(t, func(t *testing.T, w *keyFixture) {
		o := newTestWorkspace(t, w)
		var wg sync.WaitGroup
		for range 40 {
			wg.Go(func() {
				_, _, err := o.acc.CreateKey(t.Context(), storetest.Operator, o.Workspace, o.Owner, account.KeyOptions{Name: "key"})
				if err != nil && !fault.Is(err, fault.InvalidState) {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		keys, err := o.acc.Keys(t.Context(), o.Workspace)
		if err != nil || len(keys) != account.MaxKeysPerUser {
			t.Errorf("got %d keys, %v, want %d", len(keys), err, account.MaxKeysPerUser)
		}
	})
}

// TestCreateKeyRefusals checks the invalid inputs of a new key.
func TestCreateKeyRefusals(t *testing.T) {
	each(t, func(t *testing.T, w *keyFixture) {
		o := newTestWorkspace(t, w)
		o.member("left@example.com", account.Editor)
		if _, err := o.acc.Remove(t.Context(), storetest.Operator, o.Workspace, "left@example.com"); err != nil {
			t.Fatal(err)
		}
		tests := []struct {
			name, email string
			opt         account.KeyOptions
			want        fault.Code
		}{
			{"no name", o.Owner, account.KeyOptions{}, fault.ValidationFailed},
			{"blank name", o.Owner, account.KeyOptions{Name: " \t"}, fault.ValidationFailed},
			{"long name", o.Owner, account.KeyOptions{Name: strings.Repeat("é", 101)}, fault.ValidationFailed},
			{"unknown family", o.Owner, account.KeyOptions{Name: "k", Scopes: account.Scopes{"billing": account.Read}}, fault.ValidationFailed},
			{"unknown access", o.Owner, account.KeyOptions{Name: "k", Scopes: account.Scopes{"campaigns": "admin"}}, fault.ValidationFailed},
			{"K6 a life before it begins", o.Owner, account.KeyOptions{Name: "k", Lifetime: -time.Hour}, fault.ValidationFailed},
			{"unknown user", "nobody@example.com", account.KeyOptions{Name: "k"}, fault.NotFound},
			{"user who left", "left@example.com", account.KeyOptions{Name: "k"}, fault.InvalidState},
		}
		for _, tt := range tests {
			_, _, err := o.acc.CreateKey(t.Context(), storetest.Operator, o.Workspace, tt.email, tt.opt)
			if !fault.Is(err, tt.want) {
				t.Errorf("%s: got %v, want %s", tt.name, err, tt.want)
			}
		}
		narrowed, _ := o.key(o.Owner, account.KeyOptions{Scopes: account.Scopes{}})
		c, err := w.Keys.Caller(t.Context(), account.HashSecret(narrowed))
		if err != nil || c.Key.Scopes == nil || !fault.Is(c.Authorize("listCampaigns", anywhere), fault.InsufficientScope) {
			t.Errorf("got scopes %v, %v for a key narrowed to nothing, want it to open nothing", c.Key.Scopes, err)
		}
	})
}
