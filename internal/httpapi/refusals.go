package httpapi

import (
	"log/slog"
	"sync"
	"time"
)

// refusals logs how many requests were refused because the node is busy, at most
// one line per second, so that a flood does not fill the log.
type refusals struct {
	mu    sync.Mutex
	since time.Time
	count int
}

// countRefusal counts a refused request. A line has the number since the last
// line.
func (f *refusals) countRefusal(log *slog.Logger, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.count++
	// A clock that was set back also ends the second.
	if age := now.Sub(f.since); age >= 0 && age < time.Second {
		return
	}
	log.Warn("requests refused because the server is busy", "count", f.count)
	f.since, f.count = now, 0
}
