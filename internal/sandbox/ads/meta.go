package ads

import "net/http"

// meta plays the platform of that name.
type meta struct{}

// Platform implements Dialect.
func (meta) Platform() string { return MetaAds }

// Hosts implements Dialect.
func (meta) Hosts() []string { return []string{"graph.facebook.com"} }

// Prefix implements Dialect.
func (meta) Prefix() string { return "/meta" }

// Serve implements Dialect.
func (meta) Serve(_ *Session, w http.ResponseWriter, _ *http.Request) {
	w.WriteHeader(http.StatusNotImplemented)
}

// Throttle implements Dialect.
func (meta) Throttle(w http.ResponseWriter, _ *http.Request, _ int) {
	w.WriteHeader(http.StatusTooManyRequests)
}
