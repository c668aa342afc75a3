package creative

import (
	"context"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
	"fanfare/internal/page"
	"fanfare/internal/record"
)

// Store keeps creatives and their variants. Save is atomic: it writes the
// record, its variants, events, audit entries, the caller's idempotency key,
// what was spent and the next piece of work together, or nothing. A missing
// record is a not_found fault, a lost race record.ErrRace.
type Store interface {
	Save(ctx context.Context, c *Creative, save Save) (record.Doc, error)
	Load(ctx context.Context, workspace, id ident.ID) (*Creative, error)
	Doc(ctx context.Context, workspace, id ident.ID) (record.Doc, error)
	List(ctx context.Context, workspace ident.ID, q page.Query) (page.Page, error)
	// Variants lists the variants of a creative.
	Variants(ctx context.Context, workspace, creative ident.ID, q page.Query) (page.Page, error)
	// Variant reads one.
	Variant(ctx context.Context, workspace, id ident.ID) (*Variant, error)
	// Amend replaces the answer that was remembered under the caller's key, if
	// there is one.
	Amend(ctx context.Context, cause record.Cause, id ident.ID, d record.Doc) error
	// Spent is what the workspace has spent on models in a month, in
	// millionths of a US dollar.
	Spent(ctx context.Context, workspace ident.ID, month string) (int64, error)
}

// Save is what is written beside a creative.
type Save struct {
	record.Save
	// Variants are written when a creative becomes ready; nil leaves alone what
	// is stored.
	Variants []Variant
	// Primary, if set, replaces the one variant.
	Primary *Variant
	// Spend is added to what the workspace has spent in a month.
	Spend int64
	Month string
}

// Work is a provider with what has to be known of it.
type Work struct {
	Provider
	// Quick says that it works without a network and costs nothing.
	Quick bool
	// Priced says that the price of its work is known.
	Priced bool
}

// Catalogue finds providers.
type Catalogue interface {
	// Names lists the providers that a workspace can use, its default first.
	Names(ctx context.Context, workspace ident.ID) ([]string, error)
	// Open returns one of them.
	Open(ctx context.Context, workspace ident.ID, name string) (Work, error)
}

// Painter draws pictures for drafts whose provider makes none.
type Painter interface {
	Paint(ctx context.Context, b *Brief, d *Draft, s Shape, format string) (*Picture, error)
}

// Assets keeps pictures.
type Assets interface {
	// Keep stores a picture that was made here.
	Keep(ctx context.Context, cause record.Cause, p *Picture) (Media, error)
	// Find returns what the ids name; those that name nothing are left out.
	Find(ctx context.Context, workspace ident.ID, ids []ident.ID) (map[ident.ID]Media, error)
	// Bytes returns the bytes of an asset.
	Bytes(ctx context.Context, workspace, id ident.ID) ([]byte, error)
}

// Fetcher gets a picture from a public address.
type Fetcher func(ctx context.Context, url string) ([]byte, error)

// Context is what a brief takes from the records it names.
type Context struct {
	Objective, LandingURL string
	Channels              []string
}

// Neighbours answer for the records that a request may name. Absent and
// archived records are told apart, as for every reference.
type Neighbours interface {
	// Campaign returns what a brief takes from a campaign.
	Campaign(ctx context.Context, workspace, id ident.ID) (c Context, there, archived bool, err error)
	// Audience reports whether there is such an audience.
	Audience(ctx context.Context, workspace, id ident.ID) (there, archived bool, err error)
	// Workspace returns its rules.
	Workspace(ctx context.Context, workspace ident.ID) (Rules, error)
}

// Rules are a workspace's own about creatives.
type Rules struct {
	RequireApproval bool
	// Budget is the most that may be spent on models in a month, in millionths
	// of a US dollar; nil for no limit.
	Budget *int64
}

// month names the calendar month of a moment, in UTC.
func month(at clock.Instant) string { return at.Time().UTC().Format("2006-01") }

// Figures tell how creatives do.
type Figures interface {
	// Variants returns the figures of the last 30 full days in the workspace's
	// zone and currency: under each variant's id those of the ads that are
	// linked to it, under the creative's those of all ads that are linked to
	// it or to one of its variants. What has no facts is not in the map.
	Variants(ctx context.Context, workspace, creative ident.ID) (map[ident.ID]Metrics, error)
}

// Metrics are what is shown of a variant's figures. Those of the zero value
// are not known.
type Metrics struct {
	Impressions fact.Number `json:"impressions"`
	Clicks      fact.Number `json:"clicks"`
	CTR         fact.Number `json:"ctr"`
	Conversions fact.Number `json:"conversions"`
	CVR         fact.Number `json:"cvr"`
	Spend       fact.Number `json:"spend"`
	CPA         fact.Number `json:"cpa"`
}

// Setup is a provider that an operator has set up for a workspace.
type Setup struct {
	// Workspace is empty for a provider that every workspace may use.
	Workspace ident.ID
	Kind      string
	// Settings is what is no secret, Sealed the key to the provider.
	Settings []byte
	Sealed   string
}

// Setups keeps what operators have set up.
type Setups interface {
	// Setups lists the providers of a workspace: its own, then those for all.
	Setups(ctx context.Context, workspace ident.ID) ([]Setup, error)
	// Put writes one, and Drop removes one and reports whether it was there.
	Put(ctx context.Context, s Setup, cause record.Cause, at clock.Instant) error
	Drop(ctx context.Context, workspace ident.ID, kind string, cause record.Cause, at clock.Instant) (bool, error)
}
