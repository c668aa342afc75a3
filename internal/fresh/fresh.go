// Package fresh is a cache that is never older than the store: an entry is
// dropped before the commit that changes it is visible, and none is added
// during such a commit.
package fresh

import (
	"hash/maphash"
	"sync"
	"time"
)

const numShards = 64

// Cache has entries by key. They are never stale if Committing and Committed
// are called around every commit that changes the original. If other processes
// change it too, maxAge limits the age of an entry instead.
type Cache[K comparable, V any] struct {
	seed        maphash.Seed
	maxPerShard int
	maxAge      time.Duration
	now         func() time.Time
	shards      [numShards]shard[K, V]
}

type shard[K comparable, V any] struct {
	mu      sync.RWMutex
	entries map[K]entry[V]
	// activeCommits is the number of commits in progress, epoch the number of
	// completed ones.
	activeCommits int
	epoch         uint64
}

type entry[V any] struct {
	value V
	until time.Time
}

// New returns a cache with a maximum number of entries. A life of 0 is
// unlimited.
func New[K comparable, V any](most int, life time.Duration, now func() time.Time) *Cache[K, V] {
	c := &Cache[K, V]{seed: maphash.MakeSeed(), maxPerShard: max(1, most/numShards), maxAge: life, now: now}
	for i := range c.shards {
		c.shards[i].entries = map[K]entry[V]{}
	}
	return c
}

func (c *Cache[K, V]) shardOf(key K) *shard[K, V] {
	return &c.shards[maphash.Comparable(c.seed, key)%numShards]
}

// Get returns the entry, if there is a valid one.
func (c *Cache[K, V]) Get(key K) (V, bool) {
	s := c.shardOf(key)
	s.mu.RLock()
	e, ok := s.entries[key]
	s.mu.RUnlock()
	if ok && c.maxAge > 0 && !c.now().Before(e.until) {
		ok = false
	}
	return e.value, ok
}

// Fill loads the original and caches it, unless a commit happened in between.
func (c *Cache[K, V]) Fill(key K, load func() (V, error)) (V, error) {
	s := c.shardOf(key)
	s.mu.RLock()
	epoch, busy := s.epoch, s.activeCommits > 0
	s.mu.RUnlock()
	var until time.Time
	if c.maxAge > 0 {
		until = c.now().Add(c.maxAge)
	}
	v, err := load()
	if err != nil || busy {
		return v, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.epoch != epoch || s.activeCommits > 0 {
		return v, nil
	}
	if len(s.entries) >= c.maxPerShard {
		// Choice: an arbitrary entry is evicted. Tracking the use of entries
		// would cost every hit more than a rare unnecessary load.
		for old := range s.entries {
			delete(s.entries, old)
			break
		}
	}
	s.entries[key] = entry[V]{value: v, until: until}
	return v, nil
}

// Committing must be called before a commit that changes the original is
// visible.
func (c *Cache[K, V]) Committing(key K) {
	s := c.shardOf(key)
	s.mu.Lock()
	delete(s.entries, key)
	s.activeCommits++
	s.mu.Unlock()
}

// Committed must be called once for each Committing, after the commit.
func (c *Cache[K, V]) Committed(key K) {
	s := c.shardOf(key)
	s.mu.Lock()
	s.activeCommits--
	s.epoch++
	s.mu.Unlock()
}

// Drop drops all entries, also those that are being loaded.
func (c *Cache[K, V]) Drop() {
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		clear(s.entries)
		s.epoch++
		s.mu.Unlock()
	}
}
