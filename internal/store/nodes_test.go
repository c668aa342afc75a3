package store_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fanfare/internal/campaign"
	"fanfare/internal/fault"
	"fanfare/internal/record"
	"fanfare/internal/store"
	"fanfare/internal/store/pgtest"
	"fanfare/internal/store/storetest"
)

// TestNodes runs conflicting changes on three nodes with one database.
func TestNodes(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	w := storetest.NewFixture(t, node(t, url))
	nodes := []*store.DB{w.DB}
	for range 2 {
		nodes = append(nodes, store.New(node(t, url), 64, w.Clock.Now, rand.Reader))
	}
	together := func(times int, f func(db *store.DB)) {
		var group sync.WaitGroup
		for i := range times * len(nodes) {
			group.Go(func() { f(nodes[i%len(nodes)]) })
		}
		group.Wait()
	}
	t.Run("cursor keys", func(t *testing.T) {
		for want := 1; want < 5; want++ {
			var mu sync.Mutex
			var seen [][][]byte
			together(4, func(db *store.DB) {
				keys, err := db.CursorKeys(t.Context())
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				seen = append(seen, keys)
			})
			for _, keys := range seen {
				if len(keys) != min(want, 3) || !bytes.Equal(bytes.Join(keys, nil), bytes.Join(seen[0], nil)) {
					t.Errorf("rotation %d: nodes have %d and %d keys, or others", want, len(keys), len(seen[0]))
				}
			}
			w.Clock.Advance(30 * 24 * time.Hour)
		}
	})
	t.Run("locks", func(t *testing.T) {
		running, done := atomic.Int64{}, 0
		together(4, func(db *store.DB) {
			_, unlock, err := db.Lock(t.Context(), "work")
			if err != nil {
				t.Error(err)
				return
			}
			defer unlock()
			if n := running.Add(1); n != 1 {
				t.Errorf("%d workers have the lock", n)
			}
			done++ // the lock guards it
			running.Add(-1)
		})
		if done != 4*len(nodes) {
			t.Errorf("%d workers had the lock want %d", done, 4*len(nodes))
		}
		_, unlock, err := nodes[0].Lock(t.Context(), "work")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		if _, _, err := nodes[1].Lock(ctx, "work"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("another node got the lock: %v", err)
		}
		// The first node does not extend its lock.
		w.Clock.Advance(time.Minute)
		_, other, err := nodes[1].Lock(t.Context(), "work")
		if err != nil {
			t.Fatal(err)
		}
		unlock()
		w.Count(1, `SELECT count(*) FROM worker_lock WHERE name = 'work'`)
		other()
		w.Count(0, `SELECT count(*) FROM worker_lock`)
	})
	t.Run("launch", func(t *testing.T) {
		c := w.Draft("Launch")
		w.Insert(c)
		var won, lost atomic.Int64
		together(22, func(db *store.DB) {
			service := campaign.New(db.Campaigns(), nil, nil, w.Clock.Now, rand.Reader)
			switch _, err := service.Transition(t.Context(), w.Cause(), c.ID, record.Match{}, campaign.Launch); {
			case err == nil:
				won.Add(1)
			case fault.Is(err, fault.InvalidState):
				lost.Add(1)
			default:
				t.Error(err)
			}
		})
		if won.Load() != 1 || lost.Load() != 65 {
			t.Errorf("got %d winners and %d losers, want 1 and 65", won.Load(), lost.Load())
		}
		for _, db := range nodes {
			if got, err := db.Campaigns().Load(t.Context(), w.Workspace, c.ID); err != nil || got.Status != campaign.StatusActive || got.Version != 2 {
				t.Errorf("a node sees %+v, %v", got, err)
			}
		}
	})
	t.Run("daily", func(t *testing.T) {
		together(4, func(db *store.DB) {
			if err := db.EmitDaily(t.Context(), w.Workspace, "quota.warning", map[string]any{"used": 80}); err != nil {
				t.Error(err)
			}
		})
		w.Count(1, `SELECT count(*) FROM event WHERE workspace_id = $1 AND type = $2`, string(w.Workspace), "quota.warning")
	})
	t.Run("accounts", func(t *testing.T) {
		var heard atomic.Int64
		for _, db := range nodes {
			db.OnAuth(func() { heard.Add(1) })
		}
		if _, err := w.Accounts.SetPlan(t.Context(), w.Cause(), w.Workspace, "starter"); err != nil {
			t.Fatal(err)
		}
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for end := time.Now().Add(time.Minute); heard.Load() < 3; <-tick.C {
			if time.Now().After(end) {
				t.Fatalf("only %d of 3 nodes heard of the change", heard.Load())
			}
		}
	})
}
