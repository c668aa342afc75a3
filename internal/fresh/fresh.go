// Package fresh keeps copies of what the store holds that are never older than
// the store: a copy is dropped before the commit that changes the original can
// be seen, and none is taken while such a commit is under way.
package fresh

import (
	"hash/maphash"
	"sync"
	"time"
)

const numShards = 64

// Cache keeps copies by key. Its promise holds when Committing and Committed
// are called around every commit that changes the original; where other
// processes change it too, Life bounds the age of a copy instead.
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
	// activeCommits counts the commits under way, epoch those that are over.
	activeCommits int
	epoch         uint64
}

type entry[V any] struct {
	value V
	until time.Time
}

// New makes a cache of at most so many entries. A life of 0 is unbounded.
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

// Get returns the copy, if there is one that may be used.
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

// Fill loads the original and keeps a copy, unless a commit came in between.
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
		// Choice: one arbitrary entry makes room; keeping track of use would
		// cost every hit more than a rare needless load.
		for old := range s.entries {
			delete(s.entries, old)
			break
		}
	}
	s.entries[key] = entry[V]{value: v, until: until}
	return v, nil
}

// Committing is called before a commit that changes the original can be seen.
func (c *Cache[K, V]) Committing(key K) {
	s := c.shardOf(key)
	s.mu.Lock()
	delete(s.entries, key)
	s.activeCommits++
	s.mu.Unlock()
}

// Committed is called once for each Committing, when the commit is over.
func (c *Cache[K, V]) Committed(key K) {
	s := c.shardOf(key)
	s.mu.Lock()
	s.activeCommits--
	s.epoch++
	s.mu.Unlock()
}

// Drop forgets everything, also what is being loaded.
func (c *Cache[K, V]) Drop() {
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		clear(s.entries)
		s.epoch++
		s.mu.Unlock()
	}
}
