package report

import (
	"context"

	"fanfare/internal/body"
	"fanfare/internal/ident"
	"fanfare/internal/page"
	"fanfare/internal/record"
)

// Store stores the records of one kind. Every write is atomic: it saves the
// record, its audit entry and the caller's idempotency key together, or nothing.
// A missing record is a not_found fault. A concurrent change is record.ErrRace.
type Store[T any] interface {
	// Save writes a new record, or one that has not changed since Load.
	Save(ctx context.Context, v *T, save record.Save) (record.Doc, error)
	Load(ctx context.Context, workspace, id ident.ID) (*T, error)
	// List returns one page. The filter visible has the user whose private
	// records are listed.
	List(ctx context.Context, workspace ident.ID, q page.Query) (page.Page, error)
}

// Annotations stores notes.
type Annotations interface {
	Store[Annotation]
	// Notes returns the live notes that overlap the days of a query, in the
	// order of lists, up to the limit.
	Notes(ctx context.Context, workspace ident.ID, q AnnotationQuery) ([]record.Doc, error)
}

// Moments finds what automatic annotations are derived from.
type Moments interface {
	// Moments lists the latest events of a kind of annotation, of one campaign
	// or of all. Launches are those of campaigns that exist; other events are
	// there as long as the workspace's events are.
	Moments(ctx context.Context, workspace ident.ID, kind string, campaign *ident.ID, most int) ([]Moment, error)
	// HasCampaign reports whether a campaign exists.
	HasCampaign(ctx context.Context, workspace, id ident.ID) (bool, error)
}

// Queries checks analytics queries without running them.
type Queries interface {
	// Checker returns a function that returns the problems of a query of a
	// workspace.
	Checker(ctx context.Context, workspace ident.ID) (CheckQuery, error)
}

// CheckQuery returns the problems of an analytics query as a fault.
type CheckQuery func(query *body.Value) error
