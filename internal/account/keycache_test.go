package account_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"fanfare/internal/account"
	"fanfare/internal/clock"
	"fanfare/internal/ident"
	"fanfare/internal/store/storetest"
)

// TestK9Bookkeeping checks what is stored about the use of a key.
func TestK9Bookkeeping(t *testing.T) {
	each(t, func(t *testing.T, w *keyFixture) {
		o, cache := newTestWorkspace(t, w), w.Keys
		secret, k := o.key(o.Owner, account.KeyOptions{})
		c, err := cache.Caller(t.Context(), account.HashSecret(secret))
		if err != nil {
			t.Fatal(err)
		}
		use := func(n int, agent string) {
			var wg sync.WaitGroup
			for range n {
				wg.Go(func() { cache.Used(c, netip.MustParseAddr("203.0.113.9"), agent, w.Clock.Now()) })
			}
			wg.Wait()
		}
		flush := func() {
			t.Helper()
			if err := cache.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		use(100, "one")
		flush()
		use(7, "one")
		flush()
		flush()
		w.Clock.Advance(29 * day)
		leak := account.NewSecret(rand.Reader)
		use(5, "two "+leak)
		flush()
		got := o.readKey(k.ID)
		want := "two " + account.Mask(leak)
		if got.Requests30d != 112 || got.LastAddress != "203.0.113.9" || got.LastAgent != want || *got.LastUsedAt != clock.At(w.Clock.Now()) {
			t.Errorf("got %+v, want 112 requests, the last by %q now", got, want)
		}
		w.Clock.Advance(day)
		if got := o.readKey(k.ID).Requests30d; got != 5 {
			t.Errorf("got %d requests 30 days after the first 107, want 5", got)
		}
	})
}

// TestK9NoCountLost checks that uses that are counted during a flush, or whose
// flush fails, are written later.
func TestK9NoCountLost(t *testing.T) {
	t.Parallel()
	creds := &books{}
	now := func() time.Time { return storetest.Start }
	cache := account.NewKeyCache(creds, nil, false, now)
	// Half of the uses are of shared keys; the other half are the first use of
	// their key.
	common := []*account.Caller{{Key: account.Key{ID: "key_a"}}, {Key: account.Key{ID: "key_a"}}, {Key: account.Key{ID: "key_b"}}}
	const users, each = 8, 2000
	var wg, flusher sync.WaitGroup
	stop := make(chan struct{})
	flusher.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				_ = cache.Flush(t.Context())
			}
		}
	})
	for u := range users {
		wg.Go(func() {
			for i := range each {
				c := common[(u+i)%len(common)]
				if i%2 == 0 {
					c = &account.Caller{Key: account.Key{ID: ident.ID(fmt.Sprintf("key_%d_%d", u, i))}}
				}
				cache.Used(c, netip.Addr{}, "", now())
			}
		})
	}
	wg.Wait()
	close(stop)
	flusher.Wait()
	creds.healthy = true
	if err := cache.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if creds.count != users*each {
		t.Errorf("got %d uses written, want %d", creds.count, users*each)
	}
}

// books is a store that fails every third write.
type books struct {
	account.Credentials
	calls, count int64
	healthy      bool
}

func (b *books) AddUses(_ context.Context, uses []account.Use) error {
	if b.calls++; b.calls%3 == 0 && !b.healthy {
		return errors.New("no disk")
	}
	for _, u := range uses {
		b.count += u.Count
	}
	return nil
}

// everybody is a store in which every key is valid.
type everybody struct {
	account.Credentials
	broken error
}

func (e everybody) Caller(_ context.Context, hash account.Hash) (*account.Caller, error) {
	return &account.Caller{Key: account.Key{ID: ident.ID(hash.String())}}, nil
}

func (e everybody) AddUses(_ context.Context, uses []account.Use) error {
	for _, u := range uses {
		if len(u.Agent) > 200 {
			return errors.New("an agent that is too long")
		}
	}
	return e.broken
}

// TestR8SeenBounded checks that Seen still knows a key after Forget, and that
// its memory is bounded.
func TestR8SeenBounded(t *testing.T) {
	t.Parallel()
	cache := account.NewKeyCache(everybody{}, nil, false, time.Now)
	const most, more = 100_000, 500
	hash := func(i int) account.Hash { return account.Hash{byte(i), byte(i >> 8), byte(i >> 16)} }
	for i := range most + more {
		if cache.Seen(hash(i)) {
			t.Fatalf("got key %d seen before it was", i)
		}
		if _, err := cache.Caller(t.Context(), hash(i)); err != nil || !cache.Seen(hash(i)) {
			t.Fatalf("got key %d not seen, %v", i, err)
		}
	}
	cache.Forget()
	seen := 0
	for i := range most + more {
		if _, cached := cache.Cached(hash(i)); cached {
			t.Fatal("got a caller after all were forgotten")
		}
		if cache.Seen(hash(i)) {
			seen++
		}
	}
	if seen != most {
		t.Errorf("got %d seen, want %d", seen, most)
	}
}

// TestK9LongAgent checks that a long user agent is cut, and that no key is
// revoked as unused while uses cannot be written.
func TestK9LongAgent(t *testing.T) {
	t.Parallel()
	now := func() time.Time { return storetest.Start }
	cache := account.NewKeyCache(everybody{}, nil, false, now)
	c, err := cache.Caller(t.Context(), account.Hash{1})
	if err != nil {
		t.Fatal(err)
	}
	cache.Used(c, netip.MustParseAddr("203.0.113.9"), strings.Repeat("long ", 100), now())
	if err := cache.Flush(t.Context()); err != nil {
		t.Error(err)
	}
	broken := errors.New("no disk")
	cache = account.NewKeyCache(everybody{broken: broken}, nil, false, now)
	if c, err = cache.Caller(t.Context(), account.Hash{1}); err != nil {
		t.Fatal(err)
	}
	cache.Used(c, netip.MustParseAddr("203.0.113.9"), "short", now())
	if err := cache.Sweep(t.Context()); !errors.Is(err, broken) {
		t.Errorf("got %v, want the cause", err)
	}
}
