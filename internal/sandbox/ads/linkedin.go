package ads

import "net/http"

// linkedIn plays the platform of that name.
type linkedIn struct{}

// Platform implements Dialect.
func (linkedIn) Platform() string { return LinkedInAds }

// Hosts implements Dialect.
func (linkedIn) Hosts() []string { return []string{"api.linkedin.com"} }

// Prefix implements Dialect.
func (linkedIn) Prefix() string { return "/linkedin" }

// Serve implements Dialect.
func (linkedIn) Serve(_ *Session, w http.ResponseWriter, _ *http.Request) {
	w.WriteHeader(http.StatusNotImplemented)
}

// Throttle implements Dialect.
func (linkedIn) Throttle(w http.ResponseWriter, _ *http.Request, _ int) {
	w.WriteHeader(http.StatusTooManyRequests)
}
