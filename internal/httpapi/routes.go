package httpapi

import (
	"context"
	"net/http"
	"slices"
	"strings"
)

// handler runs one operation. The request has passed all checks that do not
// depend on the operation.
type handler func(ctx context.Context, r *request) (response, error)

// route is one operation of the contract.
type route struct {
	method    string
	pattern   string
	operation string
	handle    handler
	// body is the kind of body that the operation reads.
	body bodyKind
	// params are the query parameters of an operation with a body.
	params []string
	// reads is true for a POST that changes nothing. It needs no
	// Idempotency-Key.
	reads bool
	// critical is true for operations that stop spend or an attacker. An
	// overloaded node runs them too, unless maxCritical of a founder are in
	// flight.
	critical bool
	// stops reports whether the request, if it is valid, stops a campaign, so
	// that it is admitted over the plan's limit. It is nil for operations that
	// never do. Their handlers call chargeStop.
	stops func(ctx context.Context, r *request) bool
	// keyed is true for operations about the caller's API key. They do not
	// exist for signed-in users.
	keyed bool
	// waits is true if callers may ask to wait with the Prefer header.
	waits bool
	// compress allows a compressed response. Single records must not set it,
	// because they have a strong ETag.
	compress bool
	// answers are the media types of a successful response, nil for JSON.
	answers []string
	// exists returns a fault if the record in the path does not exist. It runs
	// before the Idempotency-Key is looked up.
	exists func(ctx context.Context, r *request) error
}

type bodyKind int

const (
	noBody bodyKind = iota
	optionalBody
	jsonBody
	smallBody
	patchBody
	pictureBody
	feedBody
	tableBody
)

// table returns every operation under /v1, the same as in the contract.
func (a *API) table() []route {
	return slices.Concat(a.campaignRoutes(), a.creativeRoutes(), a.variantRoutes(), a.assetRoutes(), a.brandKitRoutes(), a.audienceRoutes(), a.analyticsRoutes(), a.ingestRoutes(), a.importRoutes(),
		a.rateRoutes(), a.connectionRoutes(), a.syncRoutes(), a.reportRoutes(), a.annotationRoutes(), a.serviceRoutes())
}

// serviceRoutes returns the operations on the API, the caller and events.
func (a *API) serviceRoutes() []route {
	return []route{
		{method: http.MethodGet, pattern: "/v1", operation: "getApi", handle: a.getAPI},
		{method: http.MethodGet, pattern: "/v1/me", operation: "getMe", handle: a.getMe, keyed: true},
		{method: http.MethodGet, pattern: "/v1/search", operation: "search", handle: a.search, compress: true},
		{method: http.MethodGet, pattern: "/v1/events", operation: "listEvents", handle: a.listEvents, compress: true},
		{method: http.MethodGet, pattern: "/v1/events/{id}", operation: "getEvent", handle: a.getEvent},
	}
}

// routes are the operations by pattern and method. Paths match exactly; the
// parameter {id} is the third segment.
type routes map[string]map[string]*route

const parameter = "{id}"

func newRoutes(table []route) routes {
	rs := routes{}
	for i := range table {
		r := &table[i]
		if rs[r.pattern] == nil {
			rs[r.pattern] = map[string]*route{}
		}
		rs[r.pattern][r.method] = r
	}
	return rs
}

// find returns the operations of a path by method, and the id in the path.
func (rs routes) find(path string) (methods map[string]*route, id string) {
	if methods = rs[path]; methods != nil {
		return methods, ""
	}
	// "/v1/campaigns/cmp_…/launch": the id follows the third slash.
	slash := strings.IndexByte(path[1:], '/') + 1
	if slash == 0 {
		return nil, ""
	}
	next := strings.IndexByte(path[slash+1:], '/')
	if next < 0 {
		return nil, ""
	}
	start := slash + 1 + next + 1
	end := len(path)
	if i := strings.IndexByte(path[start:], '/'); i >= 0 {
		end = start + i
	}
	return rs[path[:start]+parameter+path[end:]], path[start:end]
}

// allow returns the Allow header of a path.
func allow(methods map[string]*route) string {
	var list []string
	for m := range methods {
		list = append(list, m)
		if m == http.MethodGet {
			list = append(list, http.MethodHead)
		}
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}
