// Package guard_test tests on the whole service what separates and limits
// callers: rate limits, keys, plain HTTP, tenants and secrets.
package guard_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"fanfare/internal/account"
	"fanfare/internal/app"
	"fanfare/internal/fanfaretest"
	"fanfare/internal/ratelimit"
	"fanfare/internal/store"
)

// fullDrill selects the long forms of the drills.
var fullDrill = os.Getenv("FANFARE_DRILL") == "full"

const day = 24 * time.Hour

// withStarterLimits sets the limits of the starter plan.
func withStarterLimits(l ratelimit.Limits) func(*app.Config) {
	return func(c *app.Config) { c.Limits[account.Starter] = l }
}

// rateHeaders are the rate limit headers of an answer.
type rateHeaders struct{ limit, remaining, reset, retryAfter int64 }

func rateHeadersOf(t testing.TB, h http.Header) rateHeaders {
	t.Helper()
	number := func(name string) int64 {
		n, err := strconv.ParseInt(h.Get(name), 10, 64)
		if err != nil {
			t.Fatalf("header %s: %v", name, err)
		}
		return n
	}
	r := rateHeaders{limit: number("X-RateLimit-Limit"), remaining: number("X-RateLimit-Remaining"), reset: number("X-RateLimit-Reset")}
	if h.Get("Retry-After") != "" {
		r.retryAfter = number("Retry-After")
	}
	if h.Get("RateLimit") == "" || h.Get("RateLimit-Policy") == "" {
		t.Fatalf("got no RateLimit or RateLimit-Policy: %v", h)
	}
	return r
}

// requestCost returns how many requests a call cost its workspace, which must
// have a minute limit and an open window.
func requestCost(t testing.TB, c *fanfaretest.Client, call func()) int64 {
	t.Helper()
	left := func() int64 { return rateHeadersOf(t, c.Do("GET", "/v1", nil).Want(200).Header).remaining }
	before := left()
	call()
	return before - left() - 1
}

// newRequest returns a request that is not checked against the contract.
func newRequest(ctx context.Context, c *fanfaretest.Client, method, target string, body io.Reader, headers ...string) *http.Request {
	r := httptest.NewRequestWithContext(ctx, method, "https://fanfare.test"+target, body)
	r.RequestURI, r.RemoteAddr = target, c.From
	if c.Key != "" {
		r.Header.Set("Authorization", "Bearer "+c.Key)
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ":")
		r.Header.Add(name, strings.TrimSpace(value))
	}
	return r
}

// serveRequest lets the service answer a request.
func serveRequest(w *fanfaretest.Service, r *http.Request) *httptest.ResponseRecorder {
	rec := httptest.NewRecorder()
	w.App.API.ServeHTTP(rec, r)
	return rec
}

// holdRequest starts a request that stops in the middle of its body until it is
// released. When holdRequest returns, the service is processing it.
func holdRequest(t testing.TB, c *fanfaretest.Client) (release func() *httptest.ResponseRecorder) {
	t.Helper()
	body, more := io.Pipe()
	r := newRequest(t.Context(), c, "POST", "/v1/campaigns", body)
	r.ContentLength = -1
	done := make(chan *httptest.ResponseRecorder, 1)
	go func() {
		done <- serveRequest(c.Service, r)
		_ = body.Close()
	}()
	if _, err := more.Write([]byte(`{"name":`)); err != nil {
		t.Fatalf("the request was not let in: %v: %s", err, (<-done).Body)
	}
	return func() *httptest.ResponseRecorder {
		t.Helper()
		if _, err := more.Write([]byte(`"held"}`)); err != nil {
			t.Fatal(err)
		}
		_ = more.Close()
		return <-done
	}
}

// countingEngine counts queries.
type countingEngine struct {
	store.Engine
	reads atomic.Int64
}

func (w *countingEngine) Query(ctx context.Context, query string, args ...any) (*store.Rows, error) {
	w.reads.Add(1)
	return w.Engine.Query(ctx, query, args...)
}

// createDraft creates a draft campaign and returns its path.
func createDraft(c *fanfaretest.Client, name string) string {
	c.Service.T.Helper()
	return "/v1/campaigns/" + c.Do("POST", "/v1/campaigns", map[string]any{"name": name}).Want(201).ID()
}

// revokeReason returns why a key was revoked, empty if it was not.
func revokeReason(t testing.TB, w *fanfaretest.Service, secret string) string {
	t.Helper()
	return callerOf(t, w, secret).Key.Reason
}

// sendPlain sends a request without TLS.
func sendPlain(w *fanfaretest.Service, r *http.Request, mayRevoke bool) *httptest.ResponseRecorder {
	rec := httptest.NewRecorder()
	w.App.API.ServePlain(rec, r, mayRevoke)
	return rec
}

func contains(b []byte, text string) bool { return bytes.Contains(b, []byte(text)) }

// callerOf returns the caller that a key belongs to.
func callerOf(t testing.TB, w *fanfaretest.Service, secret string) *account.Caller {
	t.Helper()
	c, err := w.App.Keys.Caller(context.Background(), account.HashSecret(secret))
	if err != nil {
		t.Fatal(err)
	}
	return c
}
