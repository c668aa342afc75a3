package campaign

import (
	"context"
	"errors"

	"fanfare/internal/clock"
	"fanfare/internal/ident"
	"fanfare/internal/page"
	"fanfare/internal/record"
)

// ErrRace is returned by Store.Update when the record has changed since it
// was loaded. The caller loads it anew.
var ErrRace = errors.New("record has changed meanwhile")

// Store keeps campaigns. Every writing method is atomic: it saves the record,
// its event, its audit entry, the caller's idempotency key and the next
// scheduled moment together, or nothing. A missing record is a not_found
// fault.
type Store interface {
	Insert(ctx context.Context, c *Campaign, save Save) (record.Doc, error)
	Update(ctx context.Context, c *Campaign, was record.Stamp, save Save) (record.Doc, error)
	Load(ctx context.Context, workspace, id ident.ID) (*Campaign, error)
	Doc(ctx context.Context, workspace, id ident.ID) (record.Doc, error)
	List(ctx context.Context, workspace ident.ID, q page.Query) (page.Page, error)
}

// Save is what is written beside the record.
type Save struct {
	Cause  record.Cause
	At     clock.Instant
	Events []record.Event
	// Next is when the schedule has to be looked at again, nil for never.
	Next *clock.Instant
}

// References tells which of the ids name nothing a campaign may use. Archived
// records count as gone.
type References interface {
	Missing(ctx context.Context, workspace ident.ID, ids []ident.ID) (absent, archived []ident.ID, err error)
}
