package httpapi

import (
	"net/http"
	"slices"

	"fanfare/internal/account"
	"fanfare/internal/fault"
)

// ServePlain rejects a request that was sent without TLS. It does not redirect:
// the key was already sent in clear text, and a redirect would hide that. It
// revokes a valid key in the request if mayRevoke is true.
func (a *API) ServePlain(w http.ResponseWriter, hr *http.Request, mayRevoke bool) {
	now := a.Now()
	r, h := a.newRequest(w, hr, now), w.Header()
	h["Connection"] = []string{"close"}
	defer a.recoverPanic(r)
	revoked := false
	for _, secret := range exposedKeys(hr) {
		revoked = a.handleExposedKey(r, secret, "sent_in_cleartext", mayRevoke) || revoked
	}
	a.limitByAddress(r, a.addresses.Peek(r.from, now))
	message := "Use https://. Plain HTTP is refused, not redirected, because keys must not travel in clear text."
	if revoked {
		message += " The key that was sent has been revoked; make a new one."
	}
	if hr.Header.Get("X-Forwarded-Proto") != "" || hr.Header.Get("Forwarded") != "" {
		message += " If you did use https://, a proxy in front of the server reports it wrongly; tell the operator."
	}
	a.fail(r, fault.New(fault.HTTPSRequired, message, fault.Detail{
		Code: string(fault.HTTPSRequired), Message: "The request came over plain HTTP.", Meta: fault.Meta{"key_revoked": revoked},
	}))
}

// exposedKeys returns the keys in the request line and the headers. It does not
// read the body.
func exposedKeys(hr *http.Request) []string {
	found := account.Find(hr.RequestURI)
	for _, values := range hr.Header {
		for _, v := range values {
			found = append(found, account.Find(v)...)
		}
	}
	user, password, _ := hr.BasicAuth()
	found = append(found, account.Find(user+" "+password)...)
	slices.Sort(found)
	return slices.Compact(found)
}
