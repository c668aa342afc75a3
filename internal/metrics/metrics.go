// Package metrics keeps facts: rows in, sums out. What sums mean is decided in
// analytics; which rows are facts, by whoever brings them. An engine stores and
// adds up, exactly, and every engine gives the same answers.
package metrics

import (
	"context"
	"io"

	"fanfare/internal/analytics"
	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
)

// Engine keeps the facts of all workspaces.
type Engine interface {
	analytics.Facts // Begin, Query, State

	// Write brings a batch in, all of it or nothing: whoever reads sees the
	// facts before it or after it. When it returns nil the batch is on disk.
	Write(ctx context.Context, b *fact.Batch) error
	// Undo takes out what an import has brought in and puts back what that had
	// replaced, unless something newer is there. It reports how many rows went.
	Undo(ctx context.Context, workspace, imported ident.ID) (int64, error)
	// Mirror notes how records look now, as of a moment, so that facts can be
	// grouped and filtered by names, statuses and tags. Later calls win.
	Mirror(ctx context.Context, workspace ident.ID, records []fact.Record, through clock.Instant) error
	// Dump writes one unchanging state of everything; Fill reads it into an
	// empty engine, all of it or nothing. They are the same for every engine.
	Dump(ctx context.Context, w io.Writer) error
	Fill(ctx context.Context, r io.Reader) error

	Close() error
}
