package httpapi

import (
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// Origin returns the base of links in a response, such as
// https://ads.example.com: the address that the operator configured. The caller
// controls the Host header, so links do not use it.
//
// Choice: if the configured address is a loopback address, callers on the same
// machine get links with the loopback host and port that they used, because
// tunnels change the port.
func (a *API) Origin(hr *http.Request) string {
	if a.local {
		if u, err := url.Parse("https://" + hr.Host); err == nil && u.Host == hr.Host && loopback(u.Hostname()) {
			return "https://" + hr.Host
		}
	}
	return a.origin
}

// setPublicURL stores the address that the operator configured.
func (a *API) setPublicURL(address string) {
	a.origin = strings.TrimSuffix(address, "/")
	u, err := url.Parse(address)
	a.local = err == nil && loopback(u.Hostname())
}

// loopback reports whether a host is localhost or a loopback address.
func loopback(name string) bool {
	if strings.EqualFold(name, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(name)
	return err == nil && addr.Unmap().IsLoopback()
}
