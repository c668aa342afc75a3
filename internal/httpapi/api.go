// Package httpapi is the HTTP layer of the API: routes, authentication, rate
// limits, decoding, encoding and the mapping of faults to HTTP status codes. It
// contains no business rules and no SQL; the slices do the work.
package httpapi

import (
	"context"
	"log/slog"
	"runtime"
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
	"fanfare/internal/fairqueue"
	"fanfare/internal/ident"
	"fanfare/internal/ingest"
	"fanfare/internal/page"
	"fanfare/internal/ratelimit"
	"fanfare/internal/rates"
	"fanfare/internal/record"
	"fanfare/internal/report"
	"fanfare/internal/search"
)

// Events reads the events of a workspace.
type Events interface {
	List(ctx context.Context, workspace ident.ID, q page.Query) (page.Page, error)
	Doc(ctx context.Context, workspace, id ident.ID, restricted bool) (record.Doc, error)
}

// Answers reads the responses that are stored by Idempotency-Key.
type Answers interface {
	StoredResponse(ctx context.Context, workspace ident.ID, key string) (*record.StoredResponse, error)
}

// QuotaEvents writes quota events of a workspace, each kind at most once a day.
type QuotaEvents interface {
	EmitDaily(ctx context.Context, workspace ident.ID, kind string, data map[string]any) error
}

// Deps are the dependencies and settings of an API.
type Deps struct {
	Campaigns *campaign.Service
	Audiences *audience.Service
	Creatives *creative.Service
	Assets    *asset.Service
	Analytics *analytics.Service
	Ingest    *ingest.Service
	Rates     *rates.Service
	Search    *search.Service
	Reports   *report.Service

	Connections *connection.Service
	Events      Events
	Answers     Answers
	Accounts    *account.Service
	Keys        *account.KeyCache
	Quota       ratelimit.Counter
	// QuotaEvents receives an event when a workspace reaches 80 % of its day
	// limit and when it exceeds it.
	QuotaEvents QuotaEvents
	Limits      map[account.Plan]ratelimit.Limits
	Cursors     func() *page.Sealer
	// Ready returns an error if the store does not answer.
	Ready func(context.Context) error
	// FactsFault returns why this node has no metrics or only part of them, or
	// an empty string if it has all.
	FactsFault func() string
	// Refusal, if set, returns the fault that answers every request with a key
	// or a session, nil for none.
	Refusal func() error
	// ChangesLost returns a message if acknowledged changes are missing from
	// the database, or an empty string.
	ChangesLost func() string
	// Contract is the OpenAPI document.
	Contract []byte
	Docs     Docs
	Build    string
	// PublicURL is the address of the server for browsers. Links in responses
	// start with it.
	PublicURL string
	// HSTS enables the Strict-Transport-Security header. Set it only if
	// browsers trust the certificate.
	HSTS bool
	// KeepExposedKeys logs a warning instead of revoking a key that was sent in
	// a URL or over plain HTTP.
	KeepExposedKeys bool
	// CORSOrigins are the web origins whose pages may call the API.
	CORSOrigins []string
	// MaxInFlight is the number of places of the node: how many requests it
	// works on before it rejects all but critical ones.
	MaxInFlight int64
	// Progress returns the connection of a request. It returns nil, and may be
	// nil, if no listener needs the progress of requests.
	Progress func(context.Context) Progress
	// MaxUploads is the maximum number of bytes of request bodies in memory, 0
	// for Uploads.
	MaxUploads int64
	Now        func() time.Time
	// RequestSeed returns the random part of a request id. It need not be
	// secret.
	RequestSeed func() uint64
	Log         *slog.Logger
}

// API is the HTTP handler of the API.
type API struct {
	Deps
	// TimeLimit is the time limit of an operation: 30 seconds, unless a test
	// changes it.
	TimeLimit       time.Duration
	routes          routes
	addresses       *ratelimit.Addresses
	anonymous       *ratelimit.Addresses
	lookups, lists  *fairqueue.Queue
	criticalQueue   *fairqueue.Queue
	fallback        *ratelimit.Memory
	inFlight        *inFlight
	people          *inFlight
	stopping        *inFlight
	refused         refusals
	running         atomic.Int64
	requests        *requestLogs
	uploads         *uploads
	pending         pending
	quotaEventsSent sync.Map
	public          map[string]*publicPage
	draining        atomic.Bool
	// origin is PublicURL without a trailing slash. local is true if its host
	// is a loopback name or address.
	origin string
	local  bool
}

// maxAddresses is the maximum number of addresses with failed authentications,
// and with other anonymous requests, that are tracked.
const maxAddresses = 100_000

// maxLists is how many lists of a workspace run and wait.
const maxLists = 128

// New returns an API with the given dependencies.
func New(d Deps) *API {
	a := &API{
		Deps: d, TimeLimit: 30 * time.Second, addresses: ratelimit.NewAddresses(maxAddresses), anonymous: ratelimit.NewAddresses(maxAddresses), lookups: fairqueue.New(fairqueue.Limits{Work: "lookups of keys", Running: keyLookups}, nil), fallback: ratelimit.NewMemory(),
		inFlight: newInFlight(), people: newInFlight(), stopping: newInFlight(), requests: newRequestLogs(), pending: newPending(), uploads: newUploads(d.MaxUploads),
	}
	// There are at least as many connections for reading, so that one is left
	// for what needs no turn.
	a.lists = fairqueue.New(fairqueue.Limits{Work: "lists", Running: 2 * runtime.GOMAXPROCS(0), PerWorkspace: maxLists}, d.Accounts.Founder)
	a.criticalQueue = fairqueue.New(fairqueue.Limits{Work: "requests that stop campaigns", Running: criticalAtOnce}, d.Accounts.Founder)
	if a.Progress == nil {
		a.Progress = noProgress
	}
	a.routes, a.public = newRoutes(a.table()), a.pages()
	a.setPublicURL(d.PublicURL)
	return a
}

// Drain makes /readyz fail, so that load balancers stop sending traffic.
func (a *API) Drain() { a.draining.Store(true) }
