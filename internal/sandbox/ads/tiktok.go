package ads

import "net/http"

// tikTok plays the platform of that name.
type tikTok struct{}

// Platform implements Dialect.
func (tikTok) Platform() string { return TikTokAds }

// Hosts implements Dialect.
func (tikTok) Hosts() []string { return []string{"business-api.tiktok.com"} }

// Prefix implements Dialect.
func (tikTok) Prefix() string { return "/tiktok" }

// Serve implements Dialect.
func (tikTok) Serve(_ *Session, w http.ResponseWriter, _ *http.Request) {
	w.WriteHeader(http.StatusNotImplemented)
}

// Throttle implements Dialect.
func (tikTok) Throttle(w http.ResponseWriter, _ *http.Request, _ int) {
	w.WriteHeader(http.StatusTooManyRequests)
}
