package httpapi

import (
	"net/http"
	"slices"
)

// cors sets the CORS headers for the origins in CORSOrigins. It returns true if
// it answered a preflight request. If CORSOrigins is empty, it does nothing and
// OPTIONS is not allowed.
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
	h["Access-Control-Expose-Headers"] = []string{"ETag, Link, Location, Retry-After, X-Request-Id, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, RateLimit, RateLimit-Policy, Idempotency-Replayed, X-Api-Key-Expires-At, X-Next-Cursor, X-Warnings"}
	if r.http.Method != http.MethodOptions || r.http.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	h["Access-Control-Allow-Methods"] = []string{"GET, HEAD, POST, PUT, PATCH, DELETE"}
	h["Access-Control-Allow-Headers"] = []string{"Authorization, Content-Type, If-Match, If-None-Match, Idempotency-Key, Prefer, X-Request-Id"}
	h["Access-Control-Max-Age"] = []string{"600"}
	a.limitByAddress(r, a.addresses.Peek(r.from, r.now))
	a.send(r, http.StatusOK, typeJSON, []byte(`{"data":{}}`))
	return true
}
