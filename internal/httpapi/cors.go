package httpapi

import (
	"net/http"
	"slices"
)

// cors answers browsers for the origins that the operator named. It reports
// whether the request was a preflight and is thereby done. Without named
// origins nothing of this exists and OPTIONS is refused like any method that a
// path does not take.
func (a *API) cors(r *request) (done bool) {
	if len(a.CORSOrigins) == 0 {
		return false
	}
	h := r.w.Header()
	h["Vary"] = []string{"Origin"}
	origin := r.http.Header.Get("Origin")
	if !slices.Contains(a.CORSOrigins, origin) {
		return false
	}
	h["Access-Control-Allow-Origin"] = []string{origin}
	h["Access-Control-Expose-Headers"] = []string{"ETag, Link, Location, Retry-After, X-Request-Id, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, RateLimit, RateLimit-Policy, Idempotency-Replayed, X-Api-Key-Expires-At"}
	if r.http.Method != http.MethodOptions || r.http.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	h["Access-Control-Allow-Methods"] = []string{"GET, HEAD, POST, PATCH, DELETE"}
	h["Access-Control-Allow-Headers"] = []string{"Authorization, Content-Type, If-Match, If-None-Match, Idempotency-Key, Prefer, X-Request-Id"}
	h["Access-Control-Max-Age"] = []string{"600"}
	a.limitByAddress(r, a.addresses.Look(r.from, r.now))
	r.send(http.StatusOK, typeJSON, []byte(`{"data":{}}`))
	return true
}
