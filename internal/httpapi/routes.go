package httpapi

import (
	"context"
	"net/http"
	"slices"
	"strings"
)

// handler answers one operation. The request has passed every check that does
// not depend on the operation.
type handler func(ctx context.Context, r *request) (response, error)

// route is one operation of the contract.
type route struct {
	method    string
	pattern   string
	operation string
	handle    handler
	// body says whether the operation reads one and of which kind.
	body bodyKind
	// params are the query parameters beside a body.
	params []string
	// reads says that a POST changes nothing, so that there is nothing to do
	// only once.
	reads bool
	// critical operations stop money or stop an attacker; they are never
	// shed and wait for nobody.
	critical bool
	// stops reports whether the request stops a campaign, so that it is
	// admitted over the plan's limit; nil for an operation that never does.
	stops func(ctx context.Context, r *request) bool
	// keyed operations are about the caller's key, so that they are nothing
	// for somebody who is signed in.
	keyed bool
	// waits says that callers may ask to be kept waiting.
	waits bool
	// compress says that the answer may be compressed: only lists, because
	// single records carry a strong entity tag.
	compress bool
	// answers are the media types of a success, nil for JSON.
	answers []string
	// exists answers whether the record in the path is there; it is asked
	// before the Idempotency-Key is looked at.
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

// table lists every operation under /v1. The contract lists the same.
func (a *API) table() []route {
	return slices.Concat(a.campaignRoutes(), a.creativeRoutes(), a.assetRoutes(), a.audienceRoutes(), a.analyticsRoutes(), a.ingestRoutes(), a.importRoutes(),
		a.rateRoutes(), a.connectionRoutes(), a.syncRoutes(), a.serviceRoutes())
}

// serviceRoutes are the operations about the caller and what has happened.
func (a *API) serviceRoutes() []route {
	return []route{
		{method: http.MethodGet, pattern: "/v1", operation: "getApi", handle: a.getAPI},
		{method: http.MethodGet, pattern: "/v1/me", operation: "getMe", handle: a.getMe, keyed: true},
		{method: http.MethodGet, pattern: "/v1/events", operation: "listEvents", handle: a.listEvents, compress: true},
		{method: http.MethodGet, pattern: "/v1/events/{id}", operation: "getEvent", handle: a.getEvent},
	}
}

// routes finds operations by path and method. Paths are exact: a pattern has a
// parameter in its fourth and, below that, its sixth segment.
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

// find returns the operations of a path by method, and the path's parameter.
func (rs routes) find(path string) (methods map[string]*route, id string) {
	if methods = rs[path]; methods != nil {
		return methods, ""
	}
	// "/v1/campaigns/cmp_…/launch": the parameter is what follows the third slash.
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

// allow lists the methods of a path for the Allow header.
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
