package httpapi

import (
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// Origin is where links in an answer lead, such as https://ads.example.com:
// the address that the operator has set. The Host header is the caller's own
// word and leads anywhere.
//
// Choice: a server that is known by localhost alone lets callers on its
// machine use the name and port that they came by, which tunnels change.
func (a *API) Origin(hr *http.Request) string {
	if a.local {
		if u, err := url.Parse("https://" + hr.Host); err == nil && u.Host == hr.Host && loopback(u.Hostname()) {
			return "https://" + hr.Host
		}
	}
	return a.origin
}

// known takes the address that the operator has set.
func (a *API) known(address string) {
	a.origin = strings.TrimSuffix(address, "/")
	u, err := url.Parse(address)
	a.local = err == nil && loopback(u.Hostname())
}

// loopback reports whether a name leads to the machine of whoever uses it.
func loopback(name string) bool {
	if strings.EqualFold(name, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(name)
	return err == nil && addr.Unmap().IsLoopback()
}
