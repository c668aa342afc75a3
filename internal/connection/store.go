package connection

import (
	"context"

	"fanfare/internal/clock"
	"fanfare/internal/ident"
	"fanfare/internal/page"
	"fanfare/internal/record"
)

// Store keeps connections. Every writing method is atomic: it saves the record,
// its event, its audit entry and the caller's idempotency key together, or
// nothing. A missing record is a not_found fault, a lost race record.ErrRace.
type Store interface {
	// Save writes a new record, or one that nobody has changed since it was
	// loaded. A new one whose name a living connection of the platform has is
	// a lost race too.
	Save(ctx context.Context, c *Connection, save record.Save) (record.Doc, error)
	Load(ctx context.Context, workspace, id ident.ID) (*Connection, error)
	Doc(ctx context.Context, workspace, id ident.ID) (record.Doc, error)
	List(ctx context.Context, workspace ident.ID, q page.Query) (page.Page, error)
	// Named loads the living connection of a platform that has a name, in
	// whichever case.
	Named(ctx context.Context, workspace ident.ID, platform, name string) (*Connection, error)
	// SaveFed is Save after facts have come in: it also has the campaigns of
	// the workspace brought up to date, and remembers the answer instead of
	// the record.
	SaveFed(ctx context.Context, c *Connection, answer []byte, save record.Save) error
	// PlanSpend has the campaigns of the workspace brought up to date at a
	// moment, for the sake of one connection.
	PlanSpend(ctx context.Context, workspace, id ident.ID, at clock.Instant) error
}
