package httpapi

import (
	"net/http"

	"fanfare/internal/fault"
	"fanfare/internal/ident"
)

// ServePlain refuses a request that did not come over TLS. There is no
// redirect: the secret is on the wire already, and a redirect would hide that.
// A valid key in it is revoked if mayRevoke.
func (a *API) ServePlain(w http.ResponseWriter, hr *http.Request, mayRevoke bool) {
	now := a.Now()
	r := &request{http: hr, w: w, now: now, id: ident.New(ident.Request, now, a.Random), from: peer(hr)}
	h := w.Header()
	h["X-Request-Id"] = []string{string(r.id)}
	h["Cache-Control"] = hNoStore
	h["X-Content-Type-Options"] = hNoSniff
	h["Content-Security-Policy"] = hPolicy
	h["Connection"] = []string{"close"}
	defer a.survive(r)
	a.limitByAddress(r, a.addresses.Look(r.from, now))
	revoked := false
	if secret, err := bearer(hr.Header["Authorization"]); err == nil {
		revoked = a.exposed(r, secret, "sent_in_cleartext", mayRevoke)
	}
	for _, values := range hr.URL.Query() {
		for _, v := range values {
			revoked = a.exposed(r, v, "sent_in_cleartext", mayRevoke) || revoked
		}
	}
	message := "Use https://. Plain HTTP is refused, not redirected, because keys must not travel in clear text."
	if revoked {
		message += " The key that was sent has been revoked; make a new one."
	}
	a.fail(r, fault.New(fault.HTTPSRequired, message, fault.Detail{
		Code: string(fault.HTTPSRequired), Message: "The request came over plain HTTP.", Meta: fault.Meta{"key_revoked": revoked},
	}))
}
