package campaign

import (
	"context"

	"fanfare/internal/clock"
	"fanfare/internal/ident"
	"fanfare/internal/money"
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
	// Several reads campaigns, in the order of their ids. Those that are not
	// there are left out.
	Several(ctx context.Context, workspace ident.ID, ids []ident.ID) ([]*Campaign, error)
	// Spenders lists ids of campaigns that tell of spend, as Spends has it.
	Spenders(ctx context.Context, workspace ident.ID) ([]ident.ID, error)
}

// References tells how records stand that a campaign refers to. An id that
// names nothing is not in the map.
type References interface {
	Standings(ctx context.Context, workspace ident.ID, ids []ident.ID) (map[ident.ID]Standing, error)
}

// Platforms knows the platform campaigns that campaigns are linked to.
type Platforms interface {
	// Request lists those of a campaign that are to be enabled or paused, with
	// the push pending where the state has to be written.
	Request(ctx context.Context, workspace, campaign ident.ID, enable bool) ([]record.ExternalRef, error)
}

// Spending tells what campaigns have spent, from the facts that there are.
type Spending interface {
	// Spend returns what campaigns have spent, all that have facts where ids
	// is nil. One without any fact is not in the map. Amounts are in the
	// currency and days are those of the zone; an empty one means the
	// workspace's.
	Spend(ctx context.Context, workspace ident.ID, ids []ident.ID, currency money.Currency, zone string) (map[ident.ID]Spend, error)
}

// Spend is what a campaign has spent, in millionths of a currency's unit.
type Spend struct {
	Total int64
	// Today is the part that belongs to the day of AsOf.
	Today    int64
	Currency money.Currency
	// Known is false where an amount has no rate to the currency.
	Known bool
	AsOf  clock.Instant
}

// Standing is what a campaign has to know of a record that it refers to.
type Standing struct {
	Archived bool
	// Issue is the code of the delivery issue that keeps it from being used,
	// empty where it can be.
	Issue string
	// Own marks a connection that takes the caller's own data: the caller
	// delivers the campaign by other means.
	Own bool
}
