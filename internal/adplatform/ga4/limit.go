package ga4

import (
	"net/http"
	"strings"
	"sync"
	"time"

	"fanfare/internal/adplatform/transport"
	"fanfare/internal/connection"
)

// Limits per property, with a reserve: Google allows 10 concurrent requests, and
// 10 server errors per project and hour. After either of them it refuses all
// requests of the property.
const (
	maxConcurrent   = 8
	maxServerErrors = 7
)

// limitedDoer sends requests within the limits of each property.
type limitedDoer struct {
	next transport.Doer
	now  func() time.Time

	mu         sync.Mutex
	properties map[string]*propertyLimits
}

// propertyLimits are the requests under way of a property, and the server errors
// of an hour.
type propertyLimits struct {
	slots  chan struct{}
	hour   time.Time
	errors int
}

func newLimitedDoer(next transport.Doer, now func() time.Time) *limitedDoer {
	return &limitedDoer{next: next, now: now, properties: map[string]*propertyLimits{}}
}

// limits returns the limits of a property in the current hour.
func (d *limitedDoer) limits(property string) *propertyLimits {
	l := d.properties[property]
	if l == nil {
		l = &propertyLimits{slots: make(chan struct{}, maxConcurrent)}
		d.properties[property] = l
	}
	if hour := d.now().Truncate(time.Hour); l.hour != hour {
		l.hour, l.errors = hour, 0
	}
	return l
}

// Do implements transport.Doer. It sends nothing if the property had too many
// server errors in this hour, because each retry costs one more of them.
func (d *limitedDoer) Do(req *http.Request) (*http.Response, error) {
	property, _, _ := strings.Cut(req.URL.Path[strings.LastIndex(req.URL.Path, "/")+1:], ":")
	d.mu.Lock()
	l := d.limits(property)
	failed := l.errors >= maxServerErrors
	d.mu.Unlock()
	if failed {
		return nil, &connection.Error{
			Class: connection.Throttled, Code: "server_errors", Until: nextHour(d.now()),
			Message: "Google Analytics failed several times in this hour. Fanfare waits until the next one, because Google blocks the property after ten failures.",
		}
	}
	select {
	case l.slots <- struct{}{}:
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
	defer func() { <-l.slots }()
	resp, err := d.next.Do(req)
	if err == nil && resp.StatusCode >= http.StatusInternalServerError {
		d.mu.Lock()
		d.limits(property).errors++
		d.mu.Unlock()
	}
	return resp, err
}
