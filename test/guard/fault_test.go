package guard_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"fanfare/internal/account"
	"fanfare/internal/fanfaretest"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/ratelimit"
	"fanfare/internal/store"
)

// faultyEngine is an engine whose n-th next statement fails with a database
// error. 0 is never, -1 is every one.
type faultyEngine struct {
	store.Engine
	n, met atomic.Int64
}

func (f *faultyEngine) nextError() error {
	switch f.n.Load() {
	case 0:
		return nil
	case -1:
		f.met.Add(1)
		return fmt.Errorf("%w: injected", store.ErrUnavailable)
	}
	if f.n.Add(-1) == 0 {
		f.met.Add(1)
		return fmt.Errorf("%w: injected", store.ErrUnavailable)
	}
	return nil
}

func (f *faultyEngine) Query(ctx context.Context, query string, args ...any) (*store.Rows, error) {
	if err := f.nextError(); err != nil {
		return nil, err
	}
	return f.Engine.Query(ctx, query, args...)
}

func (f *faultyEngine) Write(ctx context.Context, fn func(store.Tx) error) error {
	return f.Engine.Write(ctx, func(tx store.Tx) error { return fn(&faultyTransaction{tx, f}) })
}

func (f *faultyEngine) WriteAsync(ctx context.Context, fn func(store.Tx) error) error {
	return f.Write(ctx, fn)
}

type faultyTransaction struct {
	store.Tx
	f *faultyEngine
}

func (t *faultyTransaction) Exec(query string, args ...any) (int64, error) {
	if err := t.f.nextError(); err != nil {
		return 0, err
	}
	return t.Tx.Exec(query, args...)
}

func (t *faultyTransaction) Query(query string, args ...any) (*store.Rows, error) {
	if err := t.f.nextError(); err != nil {
		return nil, err
	}
	return t.Tx.Query(query, args...)
}

// dumpStore returns the whole content of the store.
func dumpStore(t *testing.T, e store.Engine) []byte {
	t.Helper()
	var all bytes.Buffer
	err := store.Dump(t.Context(), e, func(c store.Chunk, _ int64) error {
		fmt.Fprintf(&all, "%s %d\n", c.Table, c.Rows)
		all.Write(c.Data)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.Bytes()
}

// TestFaultLoop makes each statement of each change of accounts and counters
// fail once. The caller gets the error, no partial change remains, and the same
// change succeeds afterwards.
func TestFaultLoop(t *testing.T) {
	type faultCase struct {
		*fanfaretest.Tenant
		w   *fanfaretest.Service
		acc *account.Service
		key account.Key
	}
	op := fanfaretest.Operator
	ctx := t.Context()
	counter := func(f func(q *store.Quotas, id ident.ID, l ratelimit.Limits, now time.Time) error) func(*faultCase) error {
		return func(x *faultCase) error {
			return f(x.w.App.DB.Quotas(), x.Workspace, ratelimit.Limits{PerMinute: 5, PerDay: 9}, x.w.Clock.Now())
		}
	}
	remove := func(x *faultCase) error {
		_, err := x.acc.Remove(ctx, op, x.Workspace, "bob@example.com")
		return err
	}
	tests := []struct {
		name   string
		before func(*faultCase) error
		change func(*faultCase) error
		// many says that it consists of several changes, each atomic.
		many bool
	}{
		{name: "create workspace", change: func(x *faultCase) error {
			_, err := x.acc.CreateWorkspace(ctx, op, account.NewWorkspace{Name: "n", Plan: "growth", Owner: "new@example.com", Currency: "EUR", Timezone: "UTC"})
			return err
		}},
		{name: "plan", change: func(x *faultCase) error { _, err := x.acc.SetPlan(ctx, op, x.Workspace, "growth"); return err }},
		{name: "suspend", change: func(x *faultCase) error { _, err := x.acc.Suspend(ctx, op, x.Workspace, true); return err }},
		{name: "members", change: func(x *faultCase) error { _, err := x.acc.Members(ctx, x.Workspace); return err }},
		{name: "add member", change: func(x *faultCase) error {
			_, err := x.acc.AddMember(ctx, op, x.Workspace, "eve@example.com", "admin", true)
			return err
		}},
		{name: "role", change: func(x *faultCase) error {
			_, err := x.acc.SetRole(ctx, op, x.Workspace, "bob@example.com", "viewer")
			return err
		}},
		{name: "remove", change: remove},
		{name: "come back too late", before: func(x *faultCase) error {
			defer x.w.Clock.Advance(31 * day)
			return remove(x)
		}, change: func(x *faultCase) error {
			_, err := x.acc.AddMember(ctx, op, x.Workspace, "bob@example.com", "viewer", false)
			return err
		}, many: true},
		{name: "create key", change: func(x *faultCase) error {
			_, _, err := x.acc.CreateKey(ctx, op, x.Workspace, "bob@example.com", account.KeyOptions{Name: "k", Scopes: account.Scopes{"campaigns": account.Read}, Addresses: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}})
			return err
		}},
		{name: "rotate", change: func(x *faultCase) error {
			_, _, err := x.acc.Rotate(ctx, op, x.Workspace, x.key.ID, time.Hour)
			return err
		}},
		{name: "revoke", change: func(x *faultCase) error {
			_, err := x.acc.Revoke(ctx, op, x.Workspace, x.key.ID, "test")
			return err
		}},
		{name: "keys", change: func(x *faultCase) error { _, err := x.acc.Keys(ctx, x.Workspace); return err }},
		{name: "sweep", before: func(x *faultCase) error { x.w.Clock.Advance(20 * day); return nil }, change: func(x *faultCase) error { return x.w.App.Keys.Sweep(ctx) }, many: true},
		{name: "sweep a year later", before: func(x *faultCase) error { x.w.Clock.Advance(400 * day); return nil }, change: func(x *faultCase) error { return x.w.App.Keys.Sweep(ctx) }, many: true},
		{name: "flush", change: func(x *faultCase) error {
			c, err := x.w.App.Keys.Caller(ctx, account.HashSecret(x.Key))
			if err != nil {
				return err
			}
			x.w.App.Keys.Used(c, netip.MustParseAddr("10.0.0.1"), "agent", x.w.Clock.Now())
			return x.w.App.Keys.Flush(ctx)
		}},
		{name: "look up", change: func(x *faultCase) error {
			x.w.App.Keys.Forget()
			_, err := x.w.App.Keys.Caller(ctx, account.HashSecret(x.Key))
			return err
		}},
		{name: "take", change: counter(func(q *store.Quotas, id ident.ID, l ratelimit.Limits, now time.Time) error {
			_, err := q.Take(ctx, id, l, now)
			return err
		})},
		{name: "refund", change: counter(func(q *store.Quotas, id ident.ID, _ ratelimit.Limits, now time.Time) error {
			return q.Refund(ctx, id, ratelimit.Ticket{}, now)
		})},
		{name: "look", change: counter(func(q *store.Quotas, id ident.ID, l ratelimit.Limits, now time.Time) error {
			_, err := q.Peek(ctx, id, l, now)
			return err
		})},
		{name: "save counters", change: counter(func(q *store.Quotas, id ident.ID, _ ratelimit.Limits, _ time.Time) error {
			return q.SaveUsage(ctx, map[ident.ID]ratelimit.Usage{id: {Minute: 1}, "wks_other": {Day: 2}})
		})},
		{name: "load counters", change: counter(func(q *store.Quotas, _ ident.ID, _ ratelimit.Limits, _ time.Time) error {
			_, err := q.LoadUsage(ctx)
			return err
		})},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := &faultyEngine{Engine: fanfaretest.SQLite(t)}
			w := fanfaretest.New(t, e)
			x := &faultCase{w.Tenant(account.Starter), w, w.App.Accounts, account.Key{}}
			if _, err := x.acc.AddMember(ctx, op, x.Workspace, "bob@example.com", "editor", false); err != nil {
				t.Fatal(err)
			}
			var err error
			if _, x.key, err = x.acc.CreateKey(ctx, op, x.Workspace, "bob@example.com", account.KeyOptions{Name: "k", Lifetime: 30 * day}); err != nil {
				t.Fatal(err)
			}
			if tt.before != nil {
				if err := tt.before(x); err != nil {
					t.Fatal(err)
				}
			}
			before := dumpStore(t, e.Engine)
			for n := int64(1); ; n++ {
				e.n.Store(n)
				e.met.Store(0)
				err := tt.change(x)
				e.n.Store(0)
				if e.met.Load() == 0 {
					if err != nil || n == 1 {
						t.Errorf("got %v without a fault after %d faults", err, n-1)
					}
					return
				}
				if !fault.Is(err, fault.Unavailable) && !errors.Is(err, store.ErrUnavailable) {
					t.Fatalf("fault %d: got %v, want it told", n, err)
				}
				if after := dumpStore(t, e.Engine); !tt.many && !bytes.Equal(before, after) {
					t.Fatalf("fault %d: got something of it left in the store", n)
				}
			}
		})
	}
}

// TestOutage: while the store is unavailable, an unknown caller gets 503 and no
// failure counts against the address; keys in plain text are reported although
// they cannot be revoked; no quota is spent.
func TestOutage(t *testing.T) {
	e := &faultyEngine{Engine: fanfaretest.SQLite(t)}
	w := fanfaretest.New(t, e, withStarterLimits(ratelimit.Limits{PerMinute: 50, PerDay: 10}))
	a, b := w.Tenant(account.Starter), w.Tenant(account.Starter)
	a.Do("GET", "/v1", nil).Want(200)
	e.n.Store(-1)
	for range 100 {
		res := b.Do("GET", "/v1", nil)
		res.WantError(503, "unavailable")
		if got := rateHeadersOf(t, res.Header); got.limit != 60 || got.remaining != 60 || got.retryAfter < 1 {
			t.Fatalf("got %+v, want the address policy, untouched", got)
		}
	}
	for range 3 {
		if got := rateHeadersOf(t, a.Do("GET", "/v1/campaigns", nil).Want(503).Header); got.remaining != 9 {
			t.Errorf("got %+v, want what failed given back", got)
		}
	}
	rec := sendPlain(w, newRequest(t.Context(), a.Client, "GET", "/v1", nil), true)
	wantRefused(t, rec.Code, rec.Header(), rec.Body.Bytes(), false)
	if !strings.Contains(w.Log.String(), "api key revocation failed") {
		t.Error("got nothing in the log about the key that could not be revoked")
	}
	// The quota events cannot be written, which is no error for the caller.
	for range 8 {
		a.Do("GET", "/v1", nil).Want(200)
	}
	if !strings.Contains(w.Log.String(), "quota event not written") {
		t.Error("got nothing in the log about the event that could not be written")
	}
	e.n.Store(0)
	a.Do("GET", "/v1", nil).Want(200)
	if got := len(b.Do("GET", "/v1/events?type=quota.warning", nil).Want(200).List().Data); got != 0 {
		t.Errorf("got %d events for the other workspace, want 0", got)
	}
	w.App.API.Limits[account.Starter] = ratelimit.Limits{PerDay: 1000}
	if got := len(a.Do("GET", "/v1/events?type=quota.warning", nil).Want(200).List().Data); got != 1 {
		t.Errorf("got %d events quota.warning after the outage, want 1", got)
	}
}
