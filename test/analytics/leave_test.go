package analytics_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"fanfare/internal/analytics"
	"fanfare/internal/app"
	"fanfare/internal/fanfaretest"
	"fanfare/internal/metrics/metricstest"
)

// slowEngine is an engine whose queries run until their caller cancels.
type slowEngine struct {
	*metricstest.Naive
	began   chan struct{}
	once    sync.Once
	stopped chan error
}

// Query implements metrics.Engine.
func (s *slowEngine) Query(ctx context.Context, _ *analytics.Plan) ([]analytics.Group, error) {
	s.once.Do(func() { close(s.began) })
	<-ctx.Done()
	s.stopped <- ctx.Err()
	return nil, ctx.Err()
}

// TestQueryStopsWithCaller checks that the query of a disconnected client is
// canceled.
func TestQueryStopsWithCaller(t *testing.T) {
	t.Parallel()
	for _, target := range []string{"POST /v1/analytics/query", "GET /v1/analytics/campaigns"} {
		t.Run(target, func(t *testing.T) {
			t.Parallel()
			e := &slowEngine{Naive: metricstest.NewNaive(), began: make(chan struct{}), stopped: make(chan error, 9)}
			w := fanfaretest.New(t, nil, func(c *app.Config) { c.FactsEngine = e })
			c := w.Tenant("growth")
			method, path, _ := strings.Cut(target, " ")
			body := ""
			if method == "POST" {
				body = `{"metrics":["spend"],"dimensions":["channel"]}`
			}
			ctx, leave := context.WithCancel(t.Context())
			r := httptest.NewRequestWithContext(ctx, method, "https://fanfare.test"+path, strings.NewReader(body))
			r.RequestURI = path
			r.Header.Set("Authorization", "Bearer "+c.Key)
			r.Header.Set("Content-Type", "application/json")
			if body == "" {
				r.Header.Del("Content-Type")
			}
			done := make(chan struct{})
			go func() {
				defer close(done)
				w.App.API.ServeHTTP(httptest.NewRecorder(), r)
			}()
			<-e.began
			leave()
			if err := <-e.stopped; !errors.Is(err, context.Canceled) {
				t.Errorf("got %v want %v", err, context.Canceled)
			}
			<-done
		})
	}
}
