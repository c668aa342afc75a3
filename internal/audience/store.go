package audience

import (
	"context"

	"fanfare/internal/analytics"
	"fanfare/internal/clock"
	"fanfare/internal/ident"
	"fanfare/internal/page"
	"fanfare/internal/record"
)

// Store keeps audiences. Every writing method is atomic: it saves the record,
// its event, its audit entry and the caller's idempotency key together, or
// nothing. A missing record is a not_found fault, a lost race record.ErrRace.
type Store interface {
	// Save writes a new record, or one that nobody has changed since it was
	// loaded.
	Save(ctx context.Context, a *Audience, save record.Save) (record.Doc, error)
	Load(ctx context.Context, workspace, id ident.ID) (*Audience, error)
	Doc(ctx context.Context, workspace, id ident.ID) (record.Doc, error)
	List(ctx context.Context, workspace ident.ID, q page.Query) (page.Page, error)
	// ChangeMembers changes the members of a list that nobody has changed
	// since it was loaded, and saves the list as Counted makes it. The answer
	// is a Changed; it is also what is remembered under the caller's key.
	ChangeMembers(ctx context.Context, a *Audience, m Members, save record.Save) (record.Doc, error)
	// Statuses tells how audiences are; an id that names nothing is not in it.
	Statuses(ctx context.Context, workspace ident.ID, ids []ident.ID) (map[ident.ID]Status, error)
	// Overlaps lists the lists that share members with one, archived ones
	// left out, those that share most first.
	Overlaps(ctx context.Context, workspace, id ident.ID, most int) ([]Shared, error)
	// Campaigns lists campaigns for an audience, archived ones left out, the
	// newest first.
	Campaigns(ctx context.Context, workspace, id ident.ID, most int) ([]analytics.CampaignFigures, error)
}

// Facts tell how an audience does.
type Facts interface {
	// Audience returns the facts of an audience on some days, both included. A
	// warning says where there are none. Shares are compared with those of the baseline:
	// workspace, or the id of an audience. A breakdown that nobody has
	// reported is empty.
	Audience(ctx context.Context, workspace, id ident.ID, baseline string, first, last clock.Date) (*analytics.AudienceFacts, error)
}

// Members are hashes of members to add and to remove. None is in both.
type Members struct{ Add, Remove []string }

// Changed is what a change of members did.
type Changed struct {
	AudienceID ident.ID `json:"audience_id"`
	Added      int64    `json:"added"`
	Removed    int64    `json:"removed"`
	Count      int64    `json:"count"`
	Status     Status   `json:"status"`
}

// Shared is a list and how many of its members are in another one too.
type Shared struct {
	With   *Audience
	Shared int64
}
