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

// Records are those that facts are grouped and filtered by.
type Records interface {
	// News marks the events since a moment. Two equal marks mean that nothing
	// has happened in between.
	EventCount(ctx context.Context, workspace ident.ID, since clock.Instant) (fact.EventCount, error)
	// Changed lists the records with events since a moment, all for zero.
	Changed(ctx context.Context, workspace ident.ID, since clock.Instant) ([]fact.Record, error)
}

// Mirror keeps the engine's copies of records up to date. It reads the events
// that the store has written with every change, and copies what they are about.
type Mirror struct {
	engine  Engine
	records Records
	now     func() time.Time

	mu   sync.Mutex
	last map[ident.ID]copied
}

// copied is the state of a workspace when its copies were last brought up to
// date.
type copied struct {
	through clock.Instant
	news    fact.EventCount
}

// NewMirror returns a mirror of records in an engine.
func NewMirror(e Engine, r Records, now func() time.Time) *Mirror {
	return &Mirror{engine: e, records: r, now: now, last: map[ident.ID]copied{}}
}

// maxEvents is how many events are counted again and again before it is noted
// that they changed no copy.
const maxEvents = 1000

// CatchUp copies the records of a workspace that have changed. Where none has,
// it costs one look at the end of the event log.
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
	// Events are counted before the copies are taken, so that what happens in
	// between is looked at once more.
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
		m.note(workspace, copied{state.Mirrored, news})
		return nil
	}
	if err := m.engine.Mirror(ctx, workspace, records, through); err != nil {
		return fmt.Errorf("copy records: %w", err)
	}
	m.note(workspace, copied{through, after})
	return nil
}

func (m *Mirror) note(workspace ident.ID, c copied) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last[workspace] = c
}
