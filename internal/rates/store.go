package rates

import (
	"context"

	"fanfare/internal/ident"
	"fanfare/internal/page"
	"fanfare/internal/record"
)

// Store stores exchange rates.
type Store interface {
	// Put writes published rates for the workspace of the cause, or for all if
	// it is empty, and the rates that Carry returns for them and the stored
	// ones. u is the result without the counts. The rates, the events, the
	// audit entry, the jobs and the caller's idempotency key are written
	// together, or nothing. Events and jobs are written only if a rate is new
	// or changed.
	// A carried rate never replaces a published one.
	Put(ctx context.Context, published []Rate, u UpdateResult, save record.Save) (record.Doc, error)
	// Workspaces lists all workspaces.
	Workspaces(ctx context.Context) ([]ident.ID, error)
	// List returns the rates that apply to a workspace. For each day, a
	// published rate precedes a carried one, then the workspace's own precedes
	// the server's.
	List(ctx context.Context, workspace ident.ID, q Query) (page.Page, error)
}
