package ads

import "net/http"

// google plays the platform of that name.
type google struct{}

// Platform implements Dialect.
func (google) Platform() string { return GoogleAds }

// Hosts implements Dialect.
func (google) Hosts() []string { return []string{"googleads.googleapis.com"} }

// Prefix implements Dialect.
func (google) Prefix() string { return "/google" }

// Serve implements Dialect.
func (google) Serve(_ *Session, w http.ResponseWriter, _ *http.Request) {
	w.WriteHeader(http.StatusNotImplemented)
}

// Throttle implements Dialect.
func (google) Throttle(w http.ResponseWriter, _ *http.Request, _ int) {
	w.WriteHeader(http.StatusTooManyRequests)
}
