package fresh_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fanfare/internal/fresh"
)

func noClock() time.Time { panic("a cache without life asks for no time") }

// testStore is a store with a value that changes: visible is what reads return,
// committed the last acknowledged value, seen the newest value that any reader
// got.
type testStore struct{ visible, committed, seen atomic.Int64 }

func (o *testStore) load() (int64, error) {
	v := o.visible.Load()
	storeMax(&o.seen, v)
	return v, nil
}

func storeMax(a *atomic.Int64, v int64) {
	for old := a.Load(); old < v; old = a.Load() {
		if a.CompareAndSwap(old, v) {
			return
		}
	}
}

// TestNoStaleReads checks the package's promise under load: a read that begins
// after a commit was acknowledged returns no older value, and no read returns
// an old value after a reader got the new one from the store.
func TestNoStaleReads(t *testing.T) {
	t.Parallel()
	// Keys share shards, and the cache is too small for all of them.
	const keys, writers, readers, rounds = 200, 4, 8, 20_000
	cache := fresh.New[string, int64](128, 0, noClock)
	origins := make([]testStore, keys)
	name := func(k int) string { return fmt.Sprintf("record/%d", k) }
	pick := func(r *rand.Rand) int { return min(r.IntN(keys), r.IntN(keys)) } // some keys are frequent
	var hits, reads, commits atomic.Int64
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(w)))
			for range rounds / 4 {
				k := pick(random)
				o := &origins[k]
				cache.Committing(name(k))
				v := o.visible.Load()
				if random.IntN(5) > 0 { // a fifth of the commits fails
					v = o.visible.Add(1)
				}
				cache.Committed(name(k))
				storeMax(&o.committed, v)
				commits.Add(1)
				if random.IntN(1000) == 0 {
					cache.Drop()
				}
			}
		})
	}
	for r := range readers {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(2, uint64(r)))
			for range rounds {
				k := pick(random)
				o := &origins[k]
				least := max(o.committed.Load(), o.seen.Load())
				v, hit := cache.Get(name(k))
				if hit {
					hits.Add(1)
				} else {
					v, _ = cache.Fill(name(k), o.load)
				}
				reads.Add(1)
				if v < least {
					t.Errorf("got version %d (from memory: %v) when %d was known, want no older one", v, hit, least)
					return
				}
			}
		})
	}
	wg.Wait()
	if hits.Load() == 0 {
		t.Error("got no read from memory, so nothing was tested")
	}
	t.Logf("fresh_reads %d reads, %d from memory, %d commits, 0 stale", reads.Load(), hits.Load(), commits.Load())
}

// TestAllInterleavings runs every order in which the steps of two commits can
// happen before, during and after a load.
func TestAllInterleavings(t *testing.T) {
	t.Parallel()
	orders := 0
	for _, order := range interleavings([]string{"a0", "a1", "a2"}, []string{"b0", "b1", "b2"}) {
		for _, cuts := range ascendingChoices(len(order), 3) {
			orders++
			runOrder(t, order, cuts)
		}
	}
	if orders != 20*84 {
		t.Errorf("got %d orders, want %d", orders, 20*84)
	}
}

// runOrder runs the steps up to the first cut before the load begins, up to the
// second before it reads, up to the third before it ends.
func runOrder(t *testing.T, order []string, cuts []int) {
	t.Helper()
	cache := fresh.New[string, int64](64, 0, noClock)
	var o testStore
	if _, err := cache.Fill("k", o.load); err != nil {
		t.Fatal(err)
	}
	check := func(when string) {
		least := max(o.committed.Load(), o.seen.Load())
		if v, ok := cache.Get("k"); ok && v < least {
			t.Fatalf("order %v cut at %v: got %d %s, want at least %d", order, cuts, v, when, least)
		}
	}
	run := func(from, to int) {
		for _, step := range order[from:to] {
			switch step[1] {
			case '0':
				cache.Committing("k")
			case '1':
				o.visible.Add(1)
			case '2':
				cache.Committed("k")
				// The commit of this writer is complete, whatever came after
				// it.
				storeMax(&o.committed, 1)
			}
			check("after " + step)
		}
	}
	run(0, cuts[0])
	v, err := cache.Fill("k", func() (int64, error) {
		run(cuts[0], cuts[1])
		v, err := o.load()
		run(cuts[1], cuts[2])
		return v, err
	})
	if err != nil || v < 0 {
		t.Fatal(v, err)
	}
	check("after the load")
	run(cuts[2], len(order))
	// After all commits an entry can be cached again, and it is the newest
	// value.
	if v, _ := cache.Fill("k", o.load); v != 2 {
		t.Fatalf("got %d at the end, want 2", v)
	}
	if v, ok := cache.Get("k"); !ok || v != 2 {
		t.Fatalf("order %v cut at %v: got %d, %v from memory at the end, want 2", order, cuts, v, ok)
	}
}

// interleavings returns every order of two sequences that keeps the order
// within each.
func interleavings(a, b []string) [][]string {
	if len(a) == 0 || len(b) == 0 {
		return [][]string{append(append([]string{}, a...), b...)}
	}
	var all [][]string
	for _, rest := range interleavings(a[1:], b) {
		all = append(all, append([]string{a[0]}, rest...))
	}
	for _, rest := range interleavings(a, b[1:]) {
		all = append(all, append([]string{b[0]}, rest...))
	}
	return all
}

// ascendingChoices returns every ascending choice of k numbers from 0 to n.
func ascendingChoices(n, k int) [][]int {
	if k == 0 {
		return [][]int{{}}
	}
	var all [][]int
	for last := range n + 1 {
		for _, before := range ascendingChoices(last, k-1) {
			all = append(all, append(before, last))
		}
	}
	return all
}

// TestDrop checks that a value whose load began before Drop is not cached.
func TestDrop(t *testing.T) {
	t.Parallel()
	cache := fresh.New[int, string](64, 0, noClock)
	for _, during := range []bool{false, true} {
		v, err := cache.Fill(1, func() (string, error) {
			if during {
				cache.Drop()
			}
			return "one", nil
		})
		if v != "one" || err != nil {
			t.Fatalf("got %q, %v", v, err)
		}
		if _, ok := cache.Get(1); ok == during {
			t.Errorf("got a copy %v after a drop during the load %v", ok, during)
		}
		cache.Drop()
		if _, ok := cache.Get(1); ok {
			t.Error("got a copy after a drop")
		}
	}
}

// TestMaxAge checks that an entry expires maxAge after the start of its load.
func TestMaxAge(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	cache := fresh.New[int, int](64, time.Second, func() time.Time { return now })
	fill := func() {
		t.Helper()
		if _, err := cache.Fill(1, func() (int, error) {
			now = now.Add(400 * time.Millisecond)
			return 1, nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	fill()
	now = now.Add(600*time.Millisecond - 1)
	if _, ok := cache.Get(1); !ok {
		t.Error("got no copy just before its end")
	}
	now = now.Add(1)
	if _, ok := cache.Get(1); ok {
		t.Error("got a copy at its end")
	}
	fill()
	if _, ok := cache.Get(1); !ok {
		t.Error("got no copy after a new load")
	}
}

// TestMaxEntries checks the maximum number of entries, and that errors are not
// cached.
func TestMaxEntries(t *testing.T) {
	t.Parallel()
	const most = 256
	cache := fresh.New[int, int](most, 0, noClock)
	for i := range 10 * most {
		if _, err := cache.Fill(i, func() (int, error) { return i, nil }); err != nil {
			t.Fatal(err)
		}
	}
	kept := 0
	for i := range 10 * most {
		v, ok := cache.Get(i)
		if ok {
			kept++
		}
		if ok && v != i {
			t.Fatalf("got %d for %d", v, i)
		}
	}
	if kept > most || kept < most/2 {
		t.Errorf("got %d copies, want up to %d", kept, most)
	}
	broken := errors.New("no disk")
	if _, err := cache.Fill(-1, func() (int, error) { return 7, broken }); !errors.Is(err, broken) {
		t.Errorf("got %v, want the cause", err)
	}
	if _, ok := cache.Get(-1); ok {
		t.Error("got a copy of a failure")
	}
}
