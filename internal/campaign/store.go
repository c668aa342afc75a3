package campaign

import (
	"context"

	"fanfare/internal/fact"
	"fanfare/internal/ident"
	"fanfare/internal/money"
	"fanfare/internal/page"
	"fanfare/internal/record"
)

// Store stores campaigns. Every write is atomic: it saves the record, its
// event, its audit entry, the caller's idempotency key and the next scheduled
// time together, or nothing. A missing record is a not_found fault. A
// concurrent change is record.ErrRace.
type Store interface {
	// Save writes a new record, or one that has not changed since Load.
	Save(ctx context.Context, c *Campaign, save record.Save) (record.Doc, error)
	// SaveAll is Save for campaigns of one workspace, all or none. The answer is
	// stored under the caller's idempotency key.
	SaveAll(ctx context.Context, cause record.Cause, writes []Write, answer []byte) error
	Load(ctx context.Context, workspace, id ident.ID) (*Campaign, error)
	// IDs lists up to most ids of campaigns that match a query, in ascending
	// order, starting after the given id.
	IDs(ctx context.Context, workspace ident.ID, q page.Query, after ident.ID, most int) ([]ident.ID, error)
	Doc(ctx context.Context, workspace, id ident.ID) (record.Doc, error)
	List(ctx context.Context, workspace ident.ID, q page.Query) (page.Page, error)
	// Referring lists up to most ids of campaigns that refer to a record, in
	// ascending order, starting after the given id.
	Referring(ctx context.Context, workspace, record, after ident.ID, most int) ([]ident.ID, error)
	// ByIDs reads campaigns in the order of their ids. It omits ids that do
	// not exist.
	ByIDs(ctx context.Context, workspace ident.ID, ids []ident.ID) ([]*Campaign, error)
	// WithSpend lists the ids of campaigns for which HasSpend is true.
	WithSpend(ctx context.Context, workspace ident.ID) ([]ident.ID, error)
}

// Write is a campaign with what is saved with it.
type Write struct {
	Campaign *Campaign
	Save     record.Save
	// Stops means that the change stops the campaign.
	Stops bool
}

// References returns the usability of records that a campaign refers to. The
// map omits ids that do not exist.
type References interface {
	Usability(ctx context.Context, workspace ident.ID, ids []ident.ID) (map[ident.ID]record.Usability, error)
}

// Platforms gives access to the platform campaigns that campaigns are linked
// to.
type Platforms interface {
	// Request lists the platform campaigns of a campaign that should be enabled
	// or paused. Push is pending where the state must be written.
	Request(ctx context.Context, workspace, campaign ident.ID, enable bool) ([]record.ExternalRef, error)
}

// Spending computes the spend of campaigns from the facts.
type Spending interface {
	// Spend returns the spend of the given campaigns, or of all campaigns with
	// facts if ids is nil. The map omits campaigns without facts. Amounts are
	// in the given currency and days in the given zone; an empty value means
	// the workspace's.
	Spend(ctx context.Context, workspace ident.ID, ids []ident.ID, currency money.Currency, zone string) (map[ident.ID]fact.CampaignSpend, error)
	// LostSources returns the connections whose facts were lost and are not all
	// stored again.
	LostSources(ctx context.Context, workspace ident.ID) ([]fact.LostSource, error)
}
