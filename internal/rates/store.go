package rates

import (
	"context"

	"fanfare/internal/ident"
	"fanfare/internal/page"
	"fanfare/internal/record"
)

// Store keeps rates.
type Store interface {
	// Put writes published rates for the workspace of the cause, which is empty
	// for all of them, and what Carry makes of them and of those that are
	// there; u is its answer but for the counts. All that, the event, the audit
	// entry and the caller's idempotency key are written together or not at
	// all. A carried rate never replaces a published one.
	Put(ctx context.Context, published []Rate, u Update, save record.Save) (record.Doc, error)
	// List returns what holds for a workspace: of a day's rates a published one
	// rather than a carried one, then its own rather than the server's.
	List(ctx context.Context, workspace ident.ID, q Query) (page.Page, error)
}
