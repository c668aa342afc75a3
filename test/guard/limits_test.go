package guard_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"fanfare/internal/account"
	"fanfare/internal/fanfaretest"
	"fanfare/internal/fault"
	"fanfare/internal/httpapi"
	"fanfare/internal/ident"
	"fanfare/internal/page"
	"fanfare/internal/ratelimit"
	"fanfare/internal/record"
)

// TestR1Minute: 60 requests are admitted, the 61st within 60 seconds of the
// first is not, and after Retry-After the next one is. The remaining count
// never increases within a window.
func TestR1Minute(t *testing.T) {
	fanfaretest.Each(t, func(t *testing.T, w *fanfaretest.Service) {
		a := w.Tenant(account.Starter)
		w.Clock.Advance(123_456_789 * time.Nanosecond)
		opened := w.Clock.Now()
		for i := range 60 {
			got := rateHeadersOf(t, a.Do("GET", "/v1/campaigns", nil).Want(200).Header)
			want := rateHeaders{limit: 60, remaining: int64(59 - i), reset: opened.Add(time.Minute).Unix() + 1}
			if got != want {
				t.Fatalf("request %d: got %+v, want %+v", i+1, got, want)
			}
			w.Clock.Advance(900 * time.Millisecond)
		}
		res := a.Do("GET", "/v1/campaigns", nil)
		e := res.WantError(429, "rate_limit_exceeded")
		if e.Details[0].Code != "minute" || e.Details[0].Meta["limit"] != 60.0 || e.Details[0].Meta["retry_after"] != 6.0 {
			t.Errorf("got %+v, want the policy minute, its limit and 6 seconds", e.Details)
		}
		got := rateHeadersOf(t, res.Header)
		if got.remaining != 0 || got.retryAfter != 6 {
			t.Errorf("got %+v, want nothing left and Retry-After 6", got)
		}
		w.Clock.Advance(time.Duration(got.retryAfter) * time.Second)
		if got := rateHeadersOf(t, a.Do("GET", "/v1/campaigns", nil).Want(200).Header); got.remaining != 59 {
			t.Errorf("got %+v, want a new window", got)
		}
	})
}

// TestR1Together: of 200 concurrent requests exactly 60 are admitted.
func TestR1Together(t *testing.T) {
	fanfaretest.Each(t, func(t *testing.T, w *fanfaretest.Service) {
		w.App.API.Limits[account.Starter] = ratelimit.Limits{PerMinute: 60, PerDay: 10_000}
		a := w.Tenant(account.Starter)
		var mu sync.Mutex
		answers := map[int]int{}
		left := map[int64]int{}
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				for range 10 {
					rec := serveRequest(w, newRequest(t.Context(), a.Client, "GET", "/v1/me", nil))
					mu.Lock()
					answers[rec.Code]++
					if rec.Code == 200 {
						left[rateHeadersOf(t, rec.Header()).remaining]++
					}
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		if answers[200] != 60 || answers[429] != 140 || len(left) != 60 {
			t.Errorf("got %v and %d different left-overs, want 60 times 200 and 140 times 429", answers, len(left))
		}
	})
}

// TestR2Scope: all keys of a workspace share its quota, other workspaces have
// their own.
func TestR2Scope(t *testing.T) {
	fanfaretest.Each(t, func(t *testing.T, w *fanfaretest.Service) {
		a, b := w.Tenant(account.Starter), w.Tenant(account.Starter)
		second := a.As(account.Viewer)
		for i := range 60 {
			c := []*fanfaretest.Client{a.Client, second}[i%2]
			c.Do("GET", "/v1", nil).Want(200)
		}
		a.Do("GET", "/v1", nil).WantError(429, "rate_limit_exceeded")
		second.Do("GET", "/v1", nil).WantError(429, "rate_limit_exceeded")
		a.As(account.Owner).Do("GET", "/v1", nil).WantError(429, "rate_limit_exceeded")
		if got := rateHeadersOf(t, b.Do("GET", "/v1", nil).Want(200).Header); got.remaining != 59 {
			t.Errorf("got %+v for another workspace, want 59 left", got)
		}
	})
}

// failingEvents fails in every way an operation can.
type failingEvents struct {
	httpapi.Events
	fault error
	panic bool
}

func (b *failingEvents) List(context.Context, ident.ID, page.Query) (page.Page, error) {
	if b.panic {
		panic("a bug")
	}
	return page.Page{}, b.fault
}

func (b *failingEvents) Doc(context.Context, ident.ID, ident.ID, bool) (record.Doc, error) {
	return record.Doc{}, b.fault
}

func diskError() error {
	f := fault.New(fault.Unavailable, "No disk.")
	f.RetryAfter = time.Second
	return f
}

func tooMany() error {
	f := fault.New(fault.RateLimitExceeded, "Too many queries.", fault.Detail{Code: "concurrency", Message: "Too many queries.", Meta: fault.Meta{"retry_after": 1}})
	f.RetryAfter = time.Second
	return f
}

// TestR3Counting: which requests count.
func TestR3Counting(t *testing.T) {
	fanfaretest.Each(t, func(t *testing.T, w *fanfaretest.Service) {
		a := w.Tenant(account.Growth)
		viewer := a.As(account.Viewer)
		path := createDraft(a.Client, "One")
		etag := a.Do("GET", path, nil).Want(200).Header.Get("ETag")
		broken := &failingEvents{Events: w.App.API.Events}
		fails := func(f error) func() {
			return func() {
				broken.fault = f
				w.App.API.Events = broken
				defer func() { w.App.API.Events = broken.Events }()
				status := 500
				switch {
				case fault.Is(f, fault.Unavailable):
					status = 503
				case fault.Is(f, fault.RateLimitExceeded):
					status = 429
				}
				a.Do("GET", "/v1/events", nil).Want(status)
				a.Do("GET", "/v1/events/evt_01m7eed1vefw9bs159p71gx00q", nil).Want(status)
			}
		}
		tests := []struct {
			name string
			call func()
			want int64
		}{
			{"200", func() { a.Do("GET", path, nil).Want(200) }, 1},
			{"HEAD", func() { a.Do("HEAD", path, nil).Want(200) }, 1},
			{"304", func() { a.Do("GET", path, nil, "If-None-Match: "+etag).Want(304) }, 1},
			{"201 and its replay", func() {
				a.Do("POST", "/v1/campaigns", map[string]any{"name": "Two"}, "Idempotency-Key: k").Want(201)
				a.Do("POST", "/v1/campaigns", map[string]any{"name": "Two"}, "Idempotency-Key: k").Want(201)
			}, 2},
			{"400", func() { a.Do("GET", "/v1/campaigns?limit=0", nil).Want(400) }, 1},
			{"403", func() { viewer.Do("POST", "/v1/campaigns", map[string]any{"name": "x"}).Want(403) }, 1},
			{"404", func() { a.Do("GET", "/v1/campaigns/cmp_x", nil).Want(404) }, 1},
			{"404 no route", func() { a.Do("GET", "/v1/nothing", nil).Want(404) }, 1},
			{"405", func() { a.Do("PUT", path, nil).Want(405) }, 1},
			{"406", func() { a.Do("GET", path, nil, "Accept: text/html").Want(406) }, 1},
			{"409", func() { a.Do("POST", path+"/resume", nil).Want(409) }, 1},
			{"412", func() { a.Do("PATCH", path, "{}", `If-Match: "9"`).Want(412) }, 1},
			{"415", func() { a.Do("POST", "/v1/campaigns", "x", "Content-Type: text/plain").Want(415) }, 1},
			{"422", func() { a.Do("POST", "/v1/campaigns", "{}").Want(422) }, 1},
			{"401", func() { w.Client("").Do("GET", path, nil).Want(401) }, 0},
			{"health and documents", func() {
				for _, p := range []string{"/healthz", "/readyz", "/docs", "/docs/errors", "/openapi/v1.yaml"} {
					serveRequest(w, newRequest(t.Context(), a.Client, "GET", p, nil))
				}
			}, 0},
			{"500 is given back", fails(errors.New("a bug")), 0},
			{"503 is given back", fails(diskError()), 0},
			{"429 of an operation is given back", fails(tooMany()), 0},
			{"a panic is given back", func() {
				broken.panic, w.App.API.Events = true, broken
				defer func() { w.App.API.Events, broken.panic = broken.Events, false }()
				a.Do("GET", "/v1/events", nil).Want(500)
			}, 0},
			{"a caller who hangs up has spent it", func() {
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				broken.fault, w.App.API.Events = context.Canceled, broken
				defer func() { w.App.API.Events = broken.Events }()
				serveRequest(w, newRequest(ctx, a.Client, "GET", "/v1/events", nil))
			}, 1},
		}
		for _, tt := range tests {
			if got := requestCost(t, a.Client, tt.call); got != tt.want {
				// A shared counter cannot be queried after its caller has
				// disconnected.
				if tt.name == "a caller who hangs up has spent it" && !w.App.Engine.Traits().Exclusive {
					continue
				}
				t.Errorf("%s: got %d spent, want %d", tt.name, got, tt.want)
			}
		}
	})
}

// TestR3RefusedIsFree: 429 does not count, so that retries do not extend the
// wait.
func TestR3RefusedIsFree(t *testing.T) {
	fanfaretest.Each(t, func(t *testing.T, w *fanfaretest.Service) {
		w.App.API.Limits[account.Starter] = ratelimit.Limits{PerMinute: 2, PerDay: 5}
		a := w.Tenant(account.Starter)
		for minute := range 2 {
			for range 2 {
				a.Do("GET", "/v1", nil).Want(200)
			}
			for range 20 {
				a.Do("GET", "/v1", nil).WantError(429, "rate_limit_exceeded")
			}
			day := a.Do("GET", "/v1", nil).Want(429).Header.Get("RateLimit")
			if want := fmt.Sprintf(`"minute";r=0;t=60, "day";r=%d;`, 3-2*minute); !strings.HasPrefix(day, want) {
				t.Errorf("got %s, want %s…", day, want)
			}
			w.Clock.Advance(time.Minute)
		}
		a.Do("GET", "/v1", nil).Want(200)
		e := a.Do("GET", "/v1", nil).WantError(429, "rate_limit_exceeded")
		if e.Details[0].Code != "day" || e.Details[0].Meta["limit"] != 5.0 {
			t.Errorf("got %+v, want the policy day", e.Details)
		}
	})
}

// TestR4R5R6Headers: the window in the headers, its units, and both windows in
// the standard fields.
func TestR4R5R6Headers(t *testing.T) {
	fanfaretest.Each(t, func(t *testing.T, w *fanfaretest.Service) {
		type heads struct {
			rateHeaders
			state, policy string
		}
		get := func(c *fanfaretest.Client) heads {
			h := c.Do("GET", "/v1/me", nil).Header
			return heads{rateHeadersOf(t, h), h.Get("RateLimit"), h.Get("RateLimit-Policy")}
		}
		midnight := fanfaretest.Start.Truncate(day).Add(day).Unix()
		minute := fanfaretest.Start.Add(time.Minute).Unix()
		tests := []struct {
			name   string
			limits ratelimit.Limits
			want   []heads
		}{
			{"minute is smaller", ratelimit.Limits{PerMinute: 2, PerDay: 9}, []heads{
				{rateHeaders{2, 1, minute, 0}, `"minute";r=1;t=60, "day";r=8;t=43200`, `"minute";q=2;w=60, "day";q=9;w=86400`},
				{rateHeaders{2, 0, minute, 0}, `"minute";r=0;t=60, "day";r=7;t=43200`, `"minute";q=2;w=60, "day";q=9;w=86400`},
				{rateHeaders{2, 0, minute, 60}, `"minute";r=0;t=60, "day";r=7;t=43200`, `"minute";q=2;w=60, "day";q=9;w=86400`},
			}},
			{"day is smaller", ratelimit.Limits{PerMinute: 9, PerDay: 1}, []heads{
				{rateHeaders{1, 0, midnight, 0}, `"minute";r=8;t=60, "day";r=0;t=43200`, `"minute";q=9;w=60, "day";q=1;w=86400`},
				{rateHeaders{1, 0, midnight, 43200}, `"minute";r=8;t=60, "day";r=0;t=43200`, `"minute";q=9;w=60, "day";q=1;w=86400`},
			}},
			{"a tie shows the later", ratelimit.Limits{PerMinute: 1, PerDay: 1}, []heads{
				{rateHeaders{1, 0, midnight, 0}, `"minute";r=0;t=60, "day";r=0;t=43200`, `"minute";q=1;w=60, "day";q=1;w=86400`},
				{rateHeaders{1, 0, midnight, 43200}, `"minute";r=0;t=60, "day";r=0;t=43200`, `"minute";q=1;w=60, "day";q=1;w=86400`},
			}},
			{"no day policy", ratelimit.Limits{PerMinute: 1}, []heads{
				{rateHeaders{1, 0, minute, 0}, `"minute";r=0;t=60`, `"minute";q=1;w=60`},
				{rateHeaders{1, 0, minute, 60}, `"minute";r=0;t=60`, `"minute";q=1;w=60`},
			}},
			{"no minute policy", ratelimit.Limits{PerDay: 1}, []heads{
				{rateHeaders{1, 0, midnight, 0}, `"day";r=0;t=43200`, `"day";q=1;w=86400`},
				{rateHeaders{1, 0, midnight, 43200}, `"day";r=0;t=43200`, `"day";q=1;w=86400`},
			}},
			{"no limit is a large one", ratelimit.Limits{}, []heads{
				{rateHeaders{1<<31 - 1, 1<<31 - 1, minute, 0}, `"minute";r=2147483647;t=60`, `"minute";q=2147483647;w=60`},
			}},
		}
		for _, tt := range tests {
			w.App.API.Limits[account.Starter] = tt.limits
			a := w.Tenant(account.Starter)
			for i, want := range tt.want {
				if got := get(a.Client); got != want {
					t.Errorf("%s, request %d:\n got %+v\nwant %+v", tt.name, i+1, got, want)
				}
			}
		}
	})
}

// TestR5NeverEarly checks that a caller who waits for the time of the response
// is admitted, for any fraction of a second, and that both headers have the
// same time.
func TestR5NeverEarly(t *testing.T) {
	w := fanfaretest.New(t, nil, withStarterLimits(ratelimit.Limits{PerMinute: 1, PerDay: 40}))
	a := w.Tenant(account.Starter)
	for i := range 40 {
		w.Clock.Advance(time.Duration(i) * 77_777_777 * time.Nanosecond)
		a.Do("GET", "/v1", nil).Want(200)
		w.Clock.Advance(time.Duration(i) * 1_234_567_891 * time.Nanosecond)
		got := rateHeadersOf(t, a.Do("GET", "/v1", nil).Want(429).Header)
		wait := w.Clock.Now().Add(time.Duration(got.retryAfter) * time.Second)
		if ahead := wait.Sub(time.Unix(got.reset, 0)); got.retryAfter < 1 || ahead < -time.Second || ahead > time.Second {
			t.Errorf("got %+v at %v, want Retry-After to lead to Reset", got, w.Clock.Now())
		}
		if i < 39 {
			w.Clock.Advance(time.Duration(got.retryAfter) * time.Second)
		}
	}
}

// TestR10PlanChange: a new plan applies from the next request, and used quota
// stays used.
func TestR10PlanChange(t *testing.T) {
	fanfaretest.Each(t, func(t *testing.T, w *fanfaretest.Service) {
		a := w.Tenant(account.Starter)
		plan := func(p account.Plan) {
			if _, err := w.App.Accounts.SetPlan(t.Context(), fanfaretest.Operator, a.Workspace, string(p)); err != nil {
				t.Fatal(err)
			}
		}
		for range 60 {
			a.Do("GET", "/v1", nil).Want(200)
		}
		a.Do("GET", "/v1", nil).Want(429)
		plan(account.Growth)
		if got := rateHeadersOf(t, a.Do("GET", "/v1", nil).Want(200).Header); got.limit != 300 || got.remaining != 300-61 {
			t.Errorf("got %+v after the plan grew, want 239 of 300 left", got)
		}
		plan(account.Starter)
		if got := rateHeadersOf(t, a.Do("GET", "/v1", nil).Want(429).Header); got.limit != 60 || got.remaining != 0 {
			t.Errorf("got %+v after the plan shrank, want 0 of 60 left", got)
		}
		plan(account.Enterprise)
		if got := rateHeadersOf(t, a.Do("GET", "/v1", nil).Want(200).Header); got.limit != 1000 || got.remaining != 1000-62 {
			t.Errorf("got %+v, want 938 of 1000 left", got)
		}
	})
}
