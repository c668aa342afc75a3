// Package metrics defines the engine of facts. An engine stores rows and returns
// exact sums; every engine returns the same. Package analytics decides what sums
// mean, and the writer which rows are facts.
package metrics

import (
	"context"
	"io"

	"fanfare/internal/analytics"
	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
)

// Engine stores the facts of all workspaces.
type Engine interface {
	analytics.Facts // Begin, Query, State

	// Write stores a batch, all of it or nothing. Queries see the facts before it
	// or after it. When Write returns nil, the batch is on disk. A batch of an
	// import that was written before changes nothing, also after its undo: a node
	// that repeats a commit must not overwrite what came later.
	Write(ctx context.Context, b *fact.Batch) error
	// Undo deletes the facts of an import and restores those that it replaced,
	// unless newer ones have their place. It returns the number of deleted rows.
	Undo(ctx context.Context, workspace, imported ident.ID) (int64, error)
	// Mirror stores copies of records as of a time, so that queries can group and
	// filter by names, statuses and tags. Later calls win.
	Mirror(ctx context.Context, workspace ident.ID, records []fact.Record, through clock.Instant) error
	// Dump writes one snapshot of all facts. Fill reads it into an empty engine,
	// all of it or nothing. The format is the same for every engine.
	Dump(ctx context.Context, w io.Writer) error
	Fill(ctx context.Context, r io.Reader) error

	Close() error
}

// ReplaceableEngine is an engine whose facts can be replaced as a whole.
type ReplaceableEngine interface {
	Engine
	// Workspaces returns the workspaces that have facts or had them.
	Workspaces(ctx context.Context) ([]ident.ID, error)
}
