package account

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/fresh"
	"fanfare/internal/ident"
	"fanfare/internal/record"
)

// RevokeBound is how long other nodes may still accept a revoked key.
const RevokeBound = time.Second

// lookUpTime is the time limit of the store's lookup of a key. It runs before
// the time limit of the operation starts.
const lookUpTime = 5 * time.Second

// ErrUnknownKey is returned for a well-formed key that does not exist.
var ErrUnknownKey = errors.New("unknown API key")

// KeyCache finds the caller of an API key. It caches callers. A change to any
// account takes effect on this node with the next request and on other nodes
// within RevokeBound.
type KeyCache struct {
	creds   Credentials
	service *Service
	callers *fresh.Cache[Hash, *Caller]
	now     func() time.Time

	mu   sync.Mutex
	uses map[useKey]*tally
	// seen are the hashes of keys that were found before. Account changes do
	// not clear it, because it grants no permissions.
	seen map[Hash]struct{}
}

// maxSeen bounds the memory of seen to about 5 MB.
const maxSeen = 100_000

type useKey struct {
	key ident.ID
	day int64
}

// tally counts the uses of one key on one day since the last flush. The cached
// caller points to it, so that counting needs no lookup.
type tally struct {
	day   int64
	count atomic.Int64
	last  atomic.Pointer[lastUse]
	// workspace and key are the ids of the counted key.
	workspace, key ident.ID
}

type lastUse struct {
	second  int64
	address netip.Addr
	agent   string
}

// NewKeyCache returns an empty cache. shared is true if other nodes may change
// accounts too.
func NewKeyCache(creds Credentials, service *Service, shared bool, now func() time.Time) *KeyCache {
	life := time.Duration(0)
	if shared {
		life = RevokeBound
	}
	return &KeyCache{creds: creds, service: service, callers: fresh.New[Hash, *Caller](100_000, life, now), now: now, uses: map[useKey]*tally{}, seen: map[Hash]struct{}{}}
}

// Cached returns the caller of a key from the cache only.
func (g *KeyCache) Cached(hash Hash) (*Caller, bool) { return g.callers.Get(hash) }

// Caller returns the caller of the key with this hash, or ErrUnknownKey. The
// result is shared and must not be modified.
func (g *KeyCache) Caller(ctx context.Context, hash Hash) (*Caller, error) {
	if c, ok := g.callers.Get(hash); ok {
		return c, nil
	}
	return g.callers.Fill(hash, func() (*Caller, error) {
		ctx, cancel := context.WithTimeout(ctx, lookUpTime)
		defer cancel()
		c, err := g.creds.Caller(ctx, hash)
		if err == nil && c == nil {
			err = ErrUnknownKey
		}
		if err == nil {
			g.remember(hash)
		}
		return c, err
	})
}

func (g *KeyCache) remember(hash Hash) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.seen) >= maxSeen {
		for old := range g.seen {
			delete(g.seen, old)
			break
		}
	}
	g.seen[hash] = struct{}{}
}

// Seen reports whether a key with this hash was found before, without a lookup
// in the store.
func (g *KeyCache) Seen(hash Hash) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, ok := g.seen[hash]
	return ok
}

// Forget clears the cache. The store calls it after a change to accounts.
func (g *KeyCache) Forget() { g.callers.Drop() }

// Used counts one request of a key.
func (g *KeyCache) Used(c *Caller, address netip.Addr, agent string, now time.Time) {
	second := now.Unix()
	t := c.tally.Load()
	if t == nil || t.day != second/86400 {
		t = g.tally(c, second/86400)
	}
	t.count.Add(1)
	// Store only the first of several uses in the same second.
	if last := t.last.Load(); last == nil || last.second != second {
		t.last.Store(&lastUse{second, address, agent})
	}
}

// tally returns the counter of a key for a day and creates it if necessary.
func (g *KeyCache) tally(c *Caller, day int64) *tally {
	g.mu.Lock()
	defer g.mu.Unlock()
	id := useKey{c.Key.ID, day}
	t := g.uses[id]
	if t == nil {
		t = &tally{day: day, workspace: c.Key.WorkspaceID, key: c.Key.ID}
		g.uses[id] = t
	}
	c.tally.Store(t)
	return t
}

// FlushEvery is how often Flush runs. A key's last use is visible at most this
// time later.
const FlushEvery = 10 * time.Second

// Flush writes the counts to the store. After an error, it keeps them for the
// next call.
func (g *KeyCache) Flush(ctx context.Context) error {
	g.mu.Lock()
	tallies := slices.Collect(maps.Values(g.uses))
	g.mu.Unlock()
	today := g.now().Unix() / 86400
	var list []Use
	var from []*tally
	for _, t := range tallies {
		last := t.last.Load()
		if last == nil {
			continue // its first use is being counted at this moment
		}
		if n := t.count.Swap(0); n > 0 {
			list = append(list, Use{
				WorkspaceID: t.workspace, KeyID: t.key, Day: t.day, Count: n,
				At: clock.At(time.Unix(last.second, 0)), Address: last.address, Agent: cut(Mask(last.agent), 200),
			})
			from = append(from, t)
		}
	}
	if len(list) == 0 {
		return nil
	}
	if err := g.creds.AddUses(ctx, list); err != nil {
		for i, t := range from {
			t.count.Add(list[i].Count)
		}
		return fmt.Errorf("write key use: %w", err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	// A request that started before midnight may still count for yesterday.
	maps.DeleteFunc(g.uses, func(id useKey, t *tally) bool { return id.day < today-1 && t.count.Load() == 0 })
	return nil
}

func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return s[:most]
}

// noticeDays are the days before a key's expiry on which the workspace gets an
// event.
var noticeDays = []int64{1, 3, 14}

// Sweep writes events for keys that expire soon, and revokes keys that were
// unused for a year or whose owner left 30 days ago.
func (g *KeyCache) Sweep(ctx context.Context) error {
	// Write the counts first, so that a key in use does not look unused.
	if err := g.Flush(ctx); err != nil {
		return err
	}
	callers, err := g.creds.Live(ctx)
	if err != nil {
		return fmt.Errorf("read live keys: %w", err)
	}
	now := clock.At(g.now())
	var faults []error
	for _, c := range callers {
		if reason := c.revokeReason(now); reason != "" {
			_, err := g.service.Revoke(ctx, record.Cause{Actor: record.System}, c.Key.WorkspaceID, c.Key.ID, reason)
			faults = append(faults, err)
			continue
		}
		if days := c.Key.notice(now); days > 0 {
			c.Key.Notified = days
			faults = append(faults, g.service.store.SaveKey(ctx, c.Key, Note{
				Cause: record.Cause{Workspace: c.Key.WorkspaceID, Actor: record.System}, At: now,
				Action: "api_key.notice", Event: keyEvent("expiring"),
			}))
		}
	}
	return errors.Join(faults...)
}

// revokeReason returns the reason to revoke the key now, or an empty string.
func (c *Caller) revokeReason(now clock.Instant) string {
	used := c.Key.CreatedAt
	if c.Key.LastUsedAt != nil {
		used = *c.Key.LastUsedAt
	}
	switch {
	case leftLongAgo(c.InactiveAt, now):
		return "owner_inactive"
	case used.Add(365*24*time.Hour) <= now:
		return "unused"
	}
	return ""
}

// leftLongAgo reports whether a member left so long ago that the member's keys
// are revoked.
func leftLongAgo(since *clock.Instant, now clock.Instant) bool {
	return since != nil && since.Add(30*24*time.Hour) <= now
}

// notice returns the number of days to announce, 0 if no new notice is due.
func (k *Key) notice(now clock.Instant) int64 {
	if k.ExpiresAt == nil || *k.ExpiresAt <= now {
		return 0
	}
	left := time.Duration(*k.ExpiresAt-now) * time.Microsecond
	i := slices.IndexFunc(noticeDays, func(days int64) bool { return left <= time.Duration(days)*24*time.Hour })
	if i < 0 || k.Notified != 0 && k.Notified <= noticeDays[i] {
		return 0
	}
	return noticeDays[i]
}
