// Package httpapi is the door: routes, authentication, limits, decoding,
// encoding and the mapping of faults to HTTP. It holds no rules of the
// business and no SQL; requests go on to the slices.
package httpapi

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"fanfare/internal/account"
	"fanfare/internal/analytics"
	"fanfare/internal/asset"
	"fanfare/internal/audience"
	"fanfare/internal/campaign"
	"fanfare/internal/connection"
	"fanfare/internal/creative"
	"fanfare/internal/ident"
	"fanfare/internal/ingest"
	"fanfare/internal/page"
	"fanfare/internal/ratelimit"
	"fanfare/internal/rates"
	"fanfare/internal/record"
)

// Events reads the log of what happened.
type Events interface {
	List(ctx context.Context, workspace ident.ID, q page.Query) (page.Page, error)
	Doc(ctx context.Context, workspace, id ident.ID, restricted bool) (record.Doc, error)
}

// Answers reads what was answered under an Idempotency-Key.
type Answers interface {
	Answer(ctx context.Context, workspace ident.ID, key string) (*record.Answer, error)
}

// QuotaEvents tells a workspace about its quota, at most once a day and kind.
type QuotaEvents interface {
	EmitDaily(ctx context.Context, workspace ident.ID, kind string, data map[string]any) error
}

// Deps is everything the door needs.
type Deps struct {
	Campaigns *campaign.Service
	Audiences *audience.Service
	Creatives *creative.Service
	Assets    *asset.Service
	Analytics *analytics.Service
	Ingest    *ingest.Service
	Rates     *rates.Service

	Connections *connection.Service
	Events      Events
	Answers     Answers
	Accounts    *account.Service
	Gate        *account.Gate
	Quota       ratelimit.Counter
	// QuotaEvents is told when a workspace nears or meets its day limit.
	QuotaEvents QuotaEvents
	Limits      map[account.Plan]ratelimit.Limits
	Cursors     func() *page.Sealer
	// Ready says whether the store answers.
	Ready func(context.Context) error
	// FactsFault says why this node has no metrics, or not all of them; empty
	// where it has.
	FactsFault func() string
	// ChangesLost says that acknowledged changes are missing from the database;
	// empty where none are.
	ChangesLost func() string
	// Contract is the OpenAPI document.
	Contract []byte
	Docs     Docs
	Build    string
	// PublicURL is where browsers find the server; links lead there.
	PublicURL string
	// HSTS says that the certificate is one that browsers may insist on.
	HSTS bool
	// KeepExposedKeys only warns when a key was sent where others can read it.
	KeepExposedKeys bool
	// CORSOrigins are the web origins that may call from a browser.
	CORSOrigins []string
	// MaxInFlight is how many requests the node works on before it sheds
	// those that can wait.
	MaxInFlight int64
	// MaxUploads is how many bytes of bodies the node keeps in memory at once,
	// 0 for Uploads.
	MaxUploads int64
	Now        func() time.Time
	// RequestSeed makes the random part of request ids, which are no secret.
	RequestSeed func() uint64
	Log         *slog.Logger
}

// API answers requests.
type API struct {
	Deps
	routes    routes
	addresses *ratelimit.Addresses
	fallback  *ratelimit.Memory
	inFlight  *inFlight
	people    *inFlight
	running   atomic.Int64
	requests  *requestLogs
	uploads   *uploads
	pending   pending
	told      sync.Map
	public    map[string]*publicPage
	draining  atomic.Bool
	// origin is PublicURL without a slash at its end, local that it is known on
	// its own machine only.
	origin string
	local  bool
}

// maxAddresses bounds the table of addresses that failed to authenticate.
const maxAddresses = 100_000

// New makes the door.
func New(d Deps) *API {
	a := &API{
		Deps: d, addresses: ratelimit.NewAddresses(maxAddresses), fallback: ratelimit.NewMemory(),
		inFlight: newInFlight(), people: newInFlight(), requests: newRequestLogs(), pending: newPending(), uploads: newUploads(d.MaxUploads),
	}
	a.routes, a.public = newRoutes(a.table()), a.pages()
	a.known(d.PublicURL)
	return a
}

// Drain makes the node say that it is not ready, so that no new traffic comes.
func (a *API) Drain() { a.draining.Store(true) }
