package ratelimit

import (
	"context"
	"fmt"
	"sync"
	"time"

	"fanfare/internal/ident"
)

// Counter counts all requests of a workspace, on all instances.
type Counter interface {
	// Take counts one request.
	Take(ctx context.Context, workspace ident.ID, l Limits, now time.Time) (Decision, error)
	// Refund takes back an admitted request.
	Refund(ctx context.Context, workspace ident.ID, t Ticket, now time.Time) error
	// Peek returns the current state without counting.
	Peek(ctx context.Context, workspace ident.ID, l Limits, now time.Time) (Decision, error)
}

// UsageStore stores counters across restarts.
type UsageStore interface {
	LoadUsage(ctx context.Context) (map[ident.ID]Usage, error)
	SaveUsage(ctx context.Context, changed map[ident.ID]Usage) error
}

// Memory counts in this process. It is exact if no other process serves the
// same workspaces.
type Memory struct {
	mu    sync.RWMutex
	usage map[ident.ID]*entry
}

type entry struct {
	mu    sync.Mutex
	usage Usage
	dirty bool
}

var _ Counter = (*Memory)(nil)

// NewMemory returns an empty counter.
func NewMemory() *Memory { return &Memory{usage: map[ident.ID]*entry{}} }

func (m *Memory) entry(workspace ident.ID) *entry {
	m.mu.RLock()
	e := m.usage[workspace]
	m.mu.RUnlock()
	if e != nil {
		return e
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if e = m.usage[workspace]; e == nil {
		e = &entry{}
		m.usage[workspace] = e
	}
	return e
}

// Take counts one request. It never fails.
func (m *Memory) Take(_ context.Context, workspace ident.ID, l Limits, now time.Time) (Decision, error) {
	e := m.entry(workspace)
	e.mu.Lock()
	defer e.mu.Unlock()
	d := e.usage.Take(l, now)
	e.dirty = e.dirty || d.OK
	return d, nil
}

// Refund takes back one request.
func (m *Memory) Refund(_ context.Context, workspace ident.ID, t Ticket, now time.Time) error {
	e := m.entry(workspace)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.usage.Refund(t, now)
	e.dirty = true
	return nil
}

// Peek returns the current state without counting.
func (m *Memory) Peek(_ context.Context, workspace ident.ID, l Limits, now time.Time) (Decision, error) {
	e := m.entry(workspace)
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.usage.Peek(l, now), nil
}

// Load loads the stored counters at startup.
func (m *Memory) Load(ctx context.Context, from UsageStore) error {
	stored, err := from.LoadUsage(ctx)
	if err != nil {
		return fmt.Errorf("load request counters: %w", err)
	}
	for workspace, u := range stored {
		e := m.entry(workspace)
		e.mu.Lock()
		e.usage = u
		e.mu.Unlock()
	}
	return nil
}

// SaveEvery is how often Save runs. A crash loses at most the requests of this
// time.
const SaveEvery = time.Second

// Save writes the counters that changed.
func (m *Memory) Save(ctx context.Context, to UsageStore) error {
	changed := map[ident.ID]Usage{}
	m.mu.RLock()
	for workspace, e := range m.usage {
		e.mu.Lock()
		if e.dirty {
			changed[workspace], e.dirty = e.usage, false
		}
		e.mu.Unlock()
	}
	m.mu.RUnlock()
	if len(changed) == 0 {
		return nil
	}
	if err := to.SaveUsage(ctx, changed); err != nil {
		for workspace := range changed {
			e := m.entry(workspace)
			e.mu.Lock()
			e.dirty = true
			e.mu.Unlock()
		}
		return fmt.Errorf("save request counters: %w", err)
	}
	return nil
}
