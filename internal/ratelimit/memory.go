package ratelimit

import (
	"context"
	"fmt"
	"sync"
	"time"

	"fanfare/internal/ident"
)

// Counter counts for all requests of a workspace, wherever they arrive.
type Counter interface {
	// Take spends one request.
	Take(ctx context.Context, workspace ident.ID, l Limits, now time.Time) (Decision, error)
	// Refund gives an admitted request back.
	Refund(ctx context.Context, workspace ident.ID, t Ticket, now time.Time) error
	// Look tells how things stand without counting.
	Look(ctx context.Context, workspace ident.ID, l Limits, now time.Time) (Decision, error)
}

// Keeper holds counters while no process runs.
type Keeper interface {
	LoadUsage(ctx context.Context) (map[ident.ID]Usage, error)
	SaveUsage(ctx context.Context, changed map[ident.ID]Usage) error
}

// Memory counts in this process. It is exact as long as no other process
// serves the same workspaces.
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

// NewMemory makes an empty counter.
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

// Take spends one request. It never blocks and never fails.
func (m *Memory) Take(_ context.Context, workspace ident.ID, l Limits, now time.Time) (Decision, error) {
	e := m.entry(workspace)
	e.mu.Lock()
	defer e.mu.Unlock()
	d := e.usage.Take(l, now)
	e.dirty = e.dirty || d.OK
	return d, nil
}

// Refund gives one request back.
func (m *Memory) Refund(_ context.Context, workspace ident.ID, t Ticket, now time.Time) error {
	e := m.entry(workspace)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.usage.Refund(t, now)
	e.dirty = true
	return nil
}

// Look tells how things stand.
func (m *Memory) Look(_ context.Context, workspace ident.ID, l Limits, now time.Time) (Decision, error) {
	e := m.entry(workspace)
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.usage.Look(l, now), nil
}

// Load takes the counters over from before the start.
func (m *Memory) Load(ctx context.Context, from Keeper) error {
	kept, err := from.LoadUsage(ctx)
	if err != nil {
		return fmt.Errorf("load request counters: %w", err)
	}
	for workspace, u := range kept {
		e := m.entry(workspace)
		e.mu.Lock()
		e.usage = u
		e.mu.Unlock()
	}
	return nil
}

// Save writes the counters that have changed. Called each second, a crash
// forgets at most the last one.
func (m *Memory) Save(ctx context.Context, to Keeper) error {
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
