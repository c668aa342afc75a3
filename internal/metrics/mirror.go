package metrics

import (
	"context"
	"fmt"
	"sync"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
)

// Records reads the records that facts are grouped and filtered by.
type Records interface {
	// EventCount counts the events since a time. Two equal counts mean that no
	// event was added.
	EventCount(ctx context.Context, workspace ident.ID, since clock.Instant) (fact.EventCount, error)
	// Changed returns the records with events since a time, all records for zero.
	Changed(ctx context.Context, workspace ident.ID, since clock.Instant) ([]fact.Record, error)
}

// Mirror keeps the engine's copies of records up to date. It reads the events
// that the store writes with every change, and copies their records.
type Mirror struct {
	engine  Engine
	records Records
	now     func() time.Time

	mu   sync.Mutex
	last map[ident.ID]copied
}

// copied is the state of a workspace at the last update of its copies.
type copied struct {
	through clock.Instant
	news    fact.EventCount
}

// NewMirror returns a mirror of records in an engine.
func NewMirror(e Engine, r Records, now func() time.Time) *Mirror {
	return &Mirror{engine: e, records: r, now: now, last: map[ident.ID]copied{}}
}

// maxEvents is the number of counted events from which CatchUp moves the time to
// count from, even if they changed no copy.
const maxEvents = 1000

// CatchUp copies the changed records of a workspace. If none changed, it costs
// one read of the end of the event log.
func (m *Mirror) CatchUp(ctx context.Context, workspace ident.ID) error {
	state, err := m.engine.State(ctx, workspace)
	if err != nil {
		return err
	}
	news, err := m.records.EventCount(ctx, workspace, state.Mirrored)
	if err != nil {
		return err
	}
	m.mu.Lock()
	last := m.last[workspace]
	m.mu.Unlock()
	if state.Mirrored != 0 && last == (copied{state.Mirrored, news}) {
		return nil
	}
	through := clock.At(m.now())
	// Count events before reading records: a change in between is then copied by
	// the next call.
	after, err := m.records.EventCount(ctx, workspace, through)
	if err != nil {
		return err
	}
	records, err := m.records.Changed(ctx, workspace, state.Mirrored)
	if err != nil {
		return err
	}
	if len(records) == 0 && state.Mirrored != 0 && news.Events < maxEvents {
		// A write would wait for those of other workspaces.
		m.setCopied(workspace, copied{state.Mirrored, news})
		return nil
	}
	if err := m.engine.Mirror(ctx, workspace, records, through); err != nil {
		return fmt.Errorf("copy records: %w", err)
	}
	m.setCopied(workspace, copied{through, after})
	return nil
}

func (m *Mirror) setCopied(workspace ident.ID, c copied) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last[workspace] = c
}
