package httpapi

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"

	"fanfare/internal/account"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/page"
)

// Operation is an entry of the route table.
type Operation struct{ Method, Path, ID string }

// Operations lists the route table.
func (a *API) Operations() []Operation {
	var list []Operation
	for _, r := range a.table() {
		list = append(list, Operation{r.method, r.pattern, r.operation})
	}
	return list
}

// PublicPaths lists the paths that need no key.
func (a *API) PublicPaths() []string {
	paths := append(slices.Collect(maps.Keys(a.public)), "/healthz", "/readyz", linkPattern)
	// The contract contains the pages that responses link to, not the guides.
	for _, p := range []string{"/docs", "/docs/errors", "/docs/changelog"} {
		if a.Docs.Serves(p) {
			paths = append(paths, p)
		}
	}
	return paths
}

// Statuses maps error codes to HTTP statuses.
func Statuses() map[fault.Code]int { return statuses }

// The words and limits of lists.
var (
	CampaignSorts  = campaignList.sorts
	EventSorts     = eventList.sorts
	AudienceSorts  = audienceList.sorts
	CampaignParams = campaignList.known()
	EventParams    = eventList.known()
	AudienceParams = audienceList.known()

	ConnectionSorts  = connectionList.sorts
	ConnectionParams = connectionList.known()
	SyncSorts        = syncList.sorts
	SyncParams       = syncList.known()
	ImportSorts      = importList.sorts
	ImportParams     = importList.known()
	VariantParams    = variantList.known()
)

// These read headers.
var (
	Insistable     = hstsAllowed
	AcceptsJSON    = acceptsJSON
	AcceptsGzip    = acceptsGzip
	IdempotencyKey = idempotencyKey
	NoneMatch      = noneMatch
)

// ListQuery reads a query string as the list of campaigns does, and returns
// the canonical parameters as well.
func ListQuery(raw string) (page.Query, url.Values, error) {
	r := &request{http: &http.Request{URL: &url.URL{RawQuery: raw}}}
	values, err := r.query(campaignList.known()...)
	if err != nil {
		return page.Query{}, nil, err
	}
	p := &params{values: values}
	limit := p.limit()
	q, canonical := p.read(&campaignList, "UTC")
	q.Limit = limit
	return q, canonical, p.err()
}

// HoldUploads reserves memory for bodies of an owner until it is released.
func (a *API) HoldUploads(owner string, n int64) (release func(), err error) {
	if err := a.uploads.reserveBytes(n, ident.ID(owner)); err != nil {
		return nil, err
	}
	return func() { a.uploads.release(n, ident.ID(owner)) }, nil
}

// AnonymousOwner is the owner of bodies of clients that are not signed in.
const AnonymousOwner = anonymousOwner

// Uploading returns how many bytes of bodies are reserved.
func (a *API) Uploading() int64 {
	a.uploads.mu.Lock()
	defer a.uploads.mu.Unlock()
	return a.uploads.total
}

// MaxLogs is the maximum number of workspaces with a request log.
const MaxLogs = maxLogs

// NewRequestLogs returns empty request logs.
func NewRequestLogs() *requestLogs { return newRequestLogs() }

// Note logs a request of a workspace at some time.
func (ls *requestLogs) Note(workspace string, at int64) {
	l := ls.of(ident.ID(workspace))
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = append(l.entries, entry{at: at})
}

// Len returns the number of workspaces with a log.
func (ls *requestLogs) Len() int { return len(ls.logs) }

// Has reports whether a workspace has a log.
func (ls *requestLogs) Has(workspace string) bool { return ls.logs[ident.ID(workspace)] != nil }

// Noter returns a function that logs one request.
func (a *API) Noter(workspace, path, agent string) func() {
	r := &request{
		http: &http.Request{Method: http.MethodGet, URL: &url.URL{Path: path}, Header: http.Header{"User-Agent": {agent}}}, now: a.Now(), status: http.StatusOK,
		logCaller: &account.Caller{Workspace: account.Workspace{ID: ident.ID(workspace)}},
	}
	return func() { a.logRequest(r) }
}

// HoldCritical takes n turns of critical requests for a workspace until release,
// and counts more of them as in flight for its founder.
func (a *API) HoldCritical(ctx context.Context, workspace ident.ID, n int, more int64) (release func(), err error) {
	founder, err := a.Accounts.Founder(ctx, workspace)
	if err != nil {
		return nil, err
	}
	a.stopping.of("founder " + founder).Add(more)
	var leaves []func()
	for range n {
		leave, err := a.criticalQueue.Take(ctx, workspace, 0)
		if err != nil {
			return nil, err
		}
		leaves = append(leaves, leave)
	}
	return func() {
		a.stopping.of("founder " + founder).Add(-more)
		for _, leave := range leaves {
			leave()
		}
	}, nil
}

// Limits of critical requests.
const (
	CriticalAtOnce = criticalAtOnce
	MaxCritical    = maxCritical
)

// Critical returns how many critical requests of a workspace's founder are in
// flight.
func (a *API) Critical(ctx context.Context, workspace ident.ID) int64 {
	founder, err := a.Accounts.Founder(ctx, workspace)
	if err != nil {
		return 0
	}
	return a.stopping.of("founder " + founder).Load()
}
