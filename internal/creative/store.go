package creative

import (
	"context"
	"time"

	"fanfare/internal/asset"
	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
	"fanfare/internal/page"
	"fanfare/internal/record"
)

// Store stores creatives and their variants. Save is atomic: it writes the
// record, its variants, events, audit entries, the caller's idempotency key,
// the cost and the next job together, or nothing. A missing record is a
// not_found fault. A concurrent change is record.ErrRace.
type Store interface {
	Save(ctx context.Context, c *Creative, save Save) (record.Doc, error)
	Load(ctx context.Context, workspace, id ident.ID) (*Creative, error)
	Doc(ctx context.Context, workspace, id ident.ID) (record.Doc, error)
	List(ctx context.Context, workspace ident.ID, q page.Query) (page.Page, error)
	// Variants lists the variants of a creative.
	Variants(ctx context.Context, workspace, creative ident.ID, q page.Query) (page.Page, error)
	// Variant reads one variant, VariantDoc its document.
	Variant(ctx context.Context, workspace, id ident.ID) (*Variant, error)
	VariantDoc(ctx context.Context, workspace, id ident.ID) (record.Doc, error)
	// ReplaceResponse replaces the response stored under the caller's idempotency key, if
	// one exists.
	ReplaceResponse(ctx context.Context, cause record.Cause, id ident.ID, d record.Doc) error
	// ModelSpend returns the workspace's spend on models in a month, in millionths
	// of a US dollar.
	ModelSpend(ctx context.Context, workspace ident.ID, month string) (int64, error)
}

// Save is written together with a creative.
type Save struct {
	record.Save
	// Variants are written when a creative becomes ready.
	Variants []Variant
	// Changed replaces stored variants.
	Changed []*Variant
	// NewMedia and OldMedia are the assets that changed variants refer to since
	// and that no variant refers to anymore.
	NewMedia, OldMedia []ident.ID
	// Answer, if set, is the response that is stored under the caller's
	// idempotency key instead of the creative.
	Answer *Variant
	// Spend is added to the workspace's spend of Month.
	Spend int64
	Month string
}

// OpenProvider is a provider and its properties.
type OpenProvider struct {
	Provider
	// Quick means that the provider needs no network and is free.
	Quick bool
	// Priced means that the provider's prices are known.
	Priced bool
	// NoFallback means that the built-in composer does not replace the provider
	// unless a request says so.
	NoFallback bool
}

// ProviderCatalog lists and opens providers.
type ProviderCatalog interface {
	// Names lists the providers that a workspace can use, default first.
	Names(ctx context.Context, workspace ident.ID) ([]string, error)
	// Open returns a provider by name.
	Open(ctx context.Context, workspace ident.ID, name string) (OpenProvider, error)
}

// Painter renders images: the texts of a draft, on a photo if the brief has one.
type Painter interface {
	// ReadPhoto prepares a photo for the images of a generation. A photo that
	// cannot be used is a *FailureError.
	ReadPhoto(ctx context.Context, b []byte) (Photo, error)
	Paint(ctx context.Context, b *Brief, d *Draft, s Shape, format string) (*Picture, error)
}

// Assets stores images. asset.Service implements it.
type Assets interface {
	// Keep stores an image.
	Store(ctx context.Context, cause record.Cause, p asset.Picture) (record.Doc, error)
	// ByID returns the assets with the given ids. It omits ids that do not
	// exist.
	ByID(ctx context.Context, workspace ident.ID, ids []ident.ID) ([]*asset.Asset, error)
	// Bytes returns the bytes of an asset.
	Bytes(ctx context.Context, workspace, id ident.ID) ([]byte, error)
}

// Fetcher downloads an image from a public URL, within FetchTimeout and of at
// most MaxFetchBytes.
type Fetcher func(ctx context.Context, url string) ([]byte, error)

// The limits of a Fetcher.
const (
	FetchTimeout  = 10 * time.Second
	MaxFetchBytes = 5 << 20
)

// CampaignContext has the data of a campaign that a brief uses.
type CampaignContext struct {
	Objective, LandingURL string
	Channels              []string
}

// Records reads the records that a request refers to. Missing and archived
// records are distinguished, as in every reference.
type Records interface {
	// Campaign returns the data of a campaign that a brief uses.
	Campaign(ctx context.Context, workspace, id ident.ID) (c CampaignContext, there, archived bool, err error)
	// Audience reports whether an audience exists and is archived.
	Audience(ctx context.Context, workspace, id ident.ID) (there, archived bool, err error)
	// Workspace returns the workspace's rules for creatives.
	Workspace(ctx context.Context, workspace ident.ID) (Rules, error)
}

// Rules are the settings of a workspace for creatives.
type Rules struct {
	RequireApproval bool
	// Budget is the maximum spend on models per month, in millionths of a US
	// dollar; nil means no limit.
	Budget *int64
}

// month returns the UTC calendar month of a time.
func month(at clock.Instant) string { return at.Time().UTC().Format("2006-01") }

// MetricsSource returns the metrics of creatives.
type MetricsSource interface {
	// Variants returns the metrics of the last 30 full days in the workspace's
	// time zone and currency. A variant's id has the metrics of ads linked to
	// it. The creative's id has those of all ads linked to it or to one of its
	// variants. The map omits ids without facts.
	Variants(ctx context.Context, workspace, creative ident.ID) (map[ident.ID]fact.VariantMetrics, error)
}

// Setup is the configuration of a provider for a workspace.
type Setup struct {
	// Workspace is empty for a provider that every workspace can use.
	Workspace ident.ID
	Kind      string
	Settings  ModelSettings
	// Sealed is the encrypted API key.
	Sealed string
}

// ModelSettings are the settings of a language model without its key. They are
// stored as this JSON.
type ModelSettings struct {
	// BaseURL is the address of the API, empty for the vendor's.
	BaseURL string `json:"base_url"`
	// Model and ImageModel are the requested model names. Without an
	// ImageModel, the model draws no pictures.
	Model      string `json:"model"`
	ImageModel string `json:"image_model"`
	// Default makes it the provider of requests that name none.
	Default bool `json:"default"`
	// NoFallback lets generations fail if the model does. Requests can override
	// it.
	NoFallback bool `json:"no_fallback"`
	// Price overrides the price table; nil uses the table.
	Price *ModelPrice `json:"price"`
	// Version is the number of changes. A sealed key belongs to one version.
	Version int64 `json:"version"`
}

// ModelPrice is the price of a model in millionths of a US dollar.
type ModelPrice struct {
	// InputMicros and OutputMicros are per million tokens.
	InputMicros  int64 `json:"input_micros"`
	OutputMicros int64 `json:"output_micros"`
	// ImageMicros is per picture, for vendors that charge by picture.
	ImageMicros int64 `json:"image_micros"`
}

// Setups stores the configurations of providers.
type Setups interface {
	// Setups lists the providers of a workspace: its own, then the shared ones.
	Setups(ctx context.Context, workspace ident.ID) ([]Setup, error)
	// Put writes a setup. Drop removes one and reports whether it existed.
	Put(ctx context.Context, s Setup, cause record.Cause, at clock.Instant) error
	Drop(ctx context.Context, workspace ident.ID, kind string, cause record.Cause, at clock.Instant) (bool, error)
}
