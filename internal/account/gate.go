package account

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/fresh"
	"fanfare/internal/ident"
	"fanfare/internal/record"
)

// RevokeBound is how long a revoked key may go on at other nodes.
const RevokeBound = time.Second

// ErrUnknownKey is returned for a well-formed key that nobody holds.
var ErrUnknownKey = errors.New("unknown API key")

// Gate tells who holds a key. It keeps callers in memory; a change to any
// account takes effect on this node with the next request and on other nodes
// within RevokeBound.
type Gate struct {
	creds   Credentials
	service *Service
	callers *fresh.Cache[*Caller]
	now     func() time.Time

	mu   sync.Mutex
	uses map[useKey]*Use
}

type useKey struct {
	key ident.ID
	day int64
}

// NewGate makes a gate. shared says that other nodes may change accounts too.
func NewGate(creds Credentials, service *Service, shared bool, now func() time.Time) *Gate {
	life := time.Duration(0)
	if shared {
		life = RevokeBound
	}
	return &Gate{creds: creds, service: service, callers: fresh.New[*Caller](100_000, life, now), now: now, uses: map[useKey]*Use{}}
}

// Cached returns the holder of a key that was seen lately, without a look-up.
func (g *Gate) Cached(hash string) (*Caller, bool) { return g.callers.Get(hash) }

// Caller returns the holder of the key with this hash, or ErrUnknownKey. The
// result is shared: it must not be changed.
func (g *Gate) Caller(ctx context.Context, hash string) (*Caller, error) {
	if c, ok := g.callers.Get(hash); ok {
		return c, nil
	}
	return g.callers.Fill(hash, func() (*Caller, error) {
		c, err := g.creds.Caller(ctx, hash)
		if err == nil && c == nil {
			err = ErrUnknownKey
		}
		return c, err
	})
}

// Forget drops what is kept; the store calls it when accounts have changed.
func (g *Gate) Forget() { g.callers.Drop() }

// Used counts one request of a key.
func (g *Gate) Used(c *Caller, address netip.Addr, agent string, now time.Time) {
	id := useKey{c.Key.ID, now.Unix() / 86400}
	g.mu.Lock()
	defer g.mu.Unlock()
	u := g.uses[id]
	if u == nil {
		u = &Use{WorkspaceID: c.Key.WorkspaceID, KeyID: c.Key.ID, Day: id.day}
		g.uses[id] = u
	}
	u.Count++
	u.At, u.Address, u.Agent = clock.At(now), address, agent
}

// Flush writes the counts to the store. What cannot be written is counted
// again the next time.
func (g *Gate) Flush(ctx context.Context) error {
	g.mu.Lock()
	uses := g.uses
	g.uses = map[useKey]*Use{}
	g.mu.Unlock()
	if len(uses) == 0 {
		return nil
	}
	list := make([]Use, 0, len(uses))
	for _, u := range uses {
		u.Agent = cut(u.Agent, 200)
		list = append(list, *u)
	}
	if err := g.creds.AddUses(ctx, list); err != nil {
		g.mu.Lock()
		for id, u := range uses {
			if now := g.uses[id]; now != nil {
				now.Count += u.Count
			} else {
				g.uses[id] = u
			}
		}
		g.mu.Unlock()
		return fmt.Errorf("write key use: %w", err)
	}
	return nil
}

func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return s[:most]
}

// noticeDays are when owners are told that a key is about to expire.
var noticeDays = []int64{1, 3, 14}

// Sweep does what time does to keys: notices before expiry, and an end for
// keys unused for a year or whose owner has been gone for 30 days.
func (g *Gate) Sweep(ctx context.Context) error {
	callers, err := g.creds.Live(ctx)
	if err != nil {
		return fmt.Errorf("read live keys: %w", err)
	}
	now := clock.At(g.now())
	var faults []error
	for _, c := range callers {
		if reason := c.expired(now); reason != "" {
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

// expired says why a key should be revoked now, or nothing.
func (c *Caller) expired(now clock.Instant) string {
	const day = 24 * time.Hour
	used := c.Key.CreatedAt
	if c.Key.LastUsedAt != nil {
		used = *c.Key.LastUsedAt
	}
	switch {
	case c.InactiveAt != nil && c.InactiveAt.Add(30*day) <= now:
		return "owner_inactive"
	case used.Add(365*day) <= now:
		return "unused"
	}
	return ""
}

// notice returns the number of days to announce, 0 when there is nothing new.
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
