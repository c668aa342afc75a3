package campaign

import (
	"context"

	"fanfare/internal/ident"
	"fanfare/internal/page"
	"fanfare/internal/record"
)

// Store keeps campaigns. Every writing method is atomic: it saves the record,
// its event, its audit entry, the caller's idempotency key and the next
// scheduled moment together, or nothing. A missing record is a not_found
// fault, a lost race record.ErrRace.
type Store interface {
	// Save writes a new record, or one that nobody has changed since it was
	// loaded.
	Save(ctx context.Context, c *Campaign, save record.Save) (record.Doc, error)
	Load(ctx context.Context, workspace, id ident.ID) (*Campaign, error)
	Doc(ctx context.Context, workspace, id ident.ID) (record.Doc, error)
	List(ctx context.Context, workspace ident.ID, q page.Query) (page.Page, error)
	// Referring lists ids of campaigns that refer to a record, in order, from
	// behind a given one on.
	Referring(ctx context.Context, workspace, record, after ident.ID, most int) ([]ident.ID, error)
}

// References tells how records stand that a campaign refers to. An id that
// names nothing is not in the map.
type References interface {
	Standings(ctx context.Context, workspace ident.ID, ids []ident.ID) (map[ident.ID]Standing, error)
}

// Standing is what a campaign has to know of a record that it refers to.
type Standing struct {
	Archived bool
	// Issue is the code of the delivery issue that keeps it from being used,
	// empty where it can be.
	Issue string
}
