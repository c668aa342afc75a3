package ads

import "net/http"

// ga4 plays the platform of that name.
type ga4 struct{}

// Platform implements Dialect.
func (ga4) Platform() string { return GA4 }

// Hosts implements Dialect.
func (ga4) Hosts() []string { return []string{"analyticsdata.googleapis.com"} }

// Prefix implements Dialect.
func (ga4) Prefix() string { return "/ga4" }

// Serve implements Dialect.
func (ga4) Serve(_ *Session, w http.ResponseWriter, _ *http.Request) {
	w.WriteHeader(http.StatusNotImplemented)
}

// Throttle implements Dialect.
func (ga4) Throttle(w http.ResponseWriter, _ *http.Request, _ int) {
	w.WriteHeader(http.StatusTooManyRequests)
}
