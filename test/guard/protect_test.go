package guard_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fanfare/internal/account"
	"fanfare/internal/fanfaretest"
	"fanfare/internal/ident"
	"fanfare/internal/ratelimit"
	"fanfare/internal/store"
)

// TestR9Concurrency: a workspace has a limit of concurrent requests. More are
// refused without spending quota, except for requests that stop spend.
func TestR9Concurrency(t *testing.T) {
	fanfaretest.Each(t, func(t *testing.T, w *fanfaretest.Service) {
		a, b := w.Tenant(account.Starter), w.Tenant(account.Starter)
		path := createDraft(a.Client, "One")
		other := createDraft(a.Client, "Two")
		a.Do("POST", path+"/launch", nil).Want(200)
		var running []func() *httptest.ResponseRecorder
		for range 10 {
			running = append(running, holdRequest(t, a.Client))
		}
		for _, call := range []struct{ method, target string }{
			{"GET", "/v1"}, {"GET", path}, {"POST", path + "/launch"}, {"POST", path + "/resume"}, {"PATCH", path}, {"GET", "/v1/nothing"}, {"PUT", path},
		} {
			res := a.Do(call.method, call.target, nil)
			e := res.WantError(429, "rate_limit_exceeded")
			if e.Details[0].Code != "concurrency" || e.Details[0].Meta["limit"] != 10.0 || e.Details[0].Meta["retry_after"] != 1.0 {
				t.Errorf("got %+v, want the policy concurrency with its limit", e.Details)
			}
			// Three created the campaigns, ten are running; the headers do not
			// describe the refusal.
			if got := rateHeadersOf(t, res.Header); got.limit != 60 || got.remaining != 47 || got.retryAfter != 1 {
				t.Errorf("%s %s: got %+v, want 47 of 60 left and Retry-After 1", call.method, call.target, got)
			}
		}
		if got := rateHeadersOf(t, a.Do("POST", path+"/pause", nil).Want(200).Header); got.remaining != 46 {
			t.Errorf("got %+v for a pause, want it counted", got)
		}
		if got := rateHeadersOf(t, a.Do("DELETE", other, nil).Want(200).Header); got.remaining != 45 {
			t.Errorf("got %+v for archiving, want it counted", got)
		}
		b.Do("GET", "/v1", nil).Want(200)
		running[0]().Flush()
		a.Do("GET", "/v1", nil).Want(200)
		for _, release := range running[1:] {
			if rec := release(); rec.Code != 201 {
				t.Errorf("got %d for a held request, want 201: %s", rec.Code, rec.Body)
			}
		}
		// Every slot was freed.
		for range 10 {
			defer func(release func() *httptest.ResponseRecorder) { release() }(holdRequest(t, a.Client))
		}
		a.Do("GET", "/v1", nil).WantError(429, "rate_limit_exceeded")
	})
}

// TestR9PlanCaps: the concurrency limits of the plans, and 0 for none.
func TestR9PlanCaps(t *testing.T) {
	for plan, most := range map[account.Plan]int{account.Starter: 10, account.Growth: 25, account.Enterprise: 50} {
		t.Run(string(plan), func(t *testing.T) {
			t.Parallel()
			w := fanfaretest.New(t, nil)
			a := w.Tenant(plan)
			for range most {
				defer func(release func() *httptest.ResponseRecorder) { release() }(holdRequest(t, a.Client))
			}
			a.Do("GET", "/v1", nil).WantError(429, "rate_limit_exceeded")
		})
	}
	t.Run("none", func(t *testing.T) {
		t.Parallel()
		w := fanfaretest.New(t, nil, withStarterLimits(ratelimit.Limits{PerMinute: 1000}))
		a := w.Tenant(account.Starter)
		for range 100 {
			defer func(release func() *httptest.ResponseRecorder) { release() }(holdRequest(t, a.Client))
		}
		a.Do("GET", "/v1", nil).Want(200)
	})
}

// TestR9BodiesTakeNoPlace: a request whose body has not arrived takes no place of
// the node. When the body has arrived, an overloaded node refuses the request
// and spends no quota.
func TestR9BodiesTakeNoPlace(t *testing.T) {
	t.Parallel()
	w := fanfaretest.New(t, nil)
	w.App.API.MaxInFlight = 3
	a := w.Tenant(account.Growth)
	path := createDraft(a.Client, "One")
	var running []func() *httptest.ResponseRecorder
	for range 5 {
		running = append(running, holdRequest(t, w.Tenant(account.Growth).Client))
	}
	a.Do("GET", path, nil).Want(200)
	for _, release := range running[1:] {
		if rec := release(); rec.Code != 201 {
			t.Errorf("got %d for a held request, want 201: %s", rec.Code, rec.Body)
		}
	}
	w.App.API.MaxInFlight = 0
	rec := running[0]()
	if got := rateHeadersOf(t, rec.Header()); rec.Code != 503 || got.remaining != 300 {
		t.Errorf("got %d with %+v, want 503 and nothing spent", rec.Code, got)
	}
}

// TestR7Headers: answers to unknown callers have the address policy and never a
// workspace's counters.
func TestR7Headers(t *testing.T) {
	fanfaretest.Each(t, func(t *testing.T, w *fanfaretest.Service) {
		a := w.Tenant(account.Starter)
		a.Do("GET", "/v1", nil).Want(200)
		if _, err := w.App.Accounts.Revoke(t.Context(), fanfaretest.Operator, a.Workspace, callerOf(t, w, a.Key).Key.ID, "test"); err != nil {
			t.Fatal(err)
		}
		for i, c := range []*fanfaretest.Client{w.Client(""), w.Client("nonsense"), w.Client(account.NewSecret(rand.Reader)), a.Client} {
			res := c.Do("GET", "/v1/me", nil).Want(401)
			want := rateHeaders{limit: 60, remaining: int64(59 - i), reset: w.Clock.Now().Unix() + 60}
			if got := rateHeadersOf(t, res.Header); got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
			if got := res.Header.Get("RateLimit-Policy"); got != `"ip";q=60;w=60` {
				t.Errorf("got policy %s, want ip", got)
			}
			if got, want := res.Header.Get("RateLimit"), fmt.Sprintf(`"ip";r=%d;t=60`, 59-i); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			if got := res.Header.Get("WWW-Authenticate"); got != `Bearer realm="fanfare", error="invalid_token"` {
				t.Errorf("got WWW-Authenticate %s", got)
			}
		}
		// Documents have the policy and count nothing.
		if got := rateHeadersOf(t, w.Client("").Do("GET", "/healthz", nil).Want(200).Header); got.remaining != 56 {
			t.Errorf("got %+v, want 56 left", got)
		}
	})
}

// TestR8Flood: after 60 failures an address gets 429 for invalid keys. An
// unknown key costs one look-up, hundreds in a URL none. A valid key from the
// same address is accepted, even if it is new to the node.
func TestR8Flood(t *testing.T) {
	for name, open := range fanfaretest.Engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := &countingEngine{Engine: open(t)}
			w := fanfaretest.New(t, e)
			a := w.Tenant(account.Starter)
			a.Do("GET", "/v1", nil).Want(200)
			guess := func() *fanfaretest.Client { return w.Client(account.NewSecret(rand.Reader)) }
			reads := e.reads.Load()
			for range 60 {
				guess().Do("GET", "/v1/me", nil).WantError(401, "invalid_api_key")
			}
			if got := e.reads.Load() - reads; got != 60 {
				t.Errorf("got %d look-ups for 60 well-formed guesses, want 60", got)
			}
			w.Clock.Advance(1500 * time.Millisecond) // longer than a shared node caches a caller
			reads = e.reads.Load()
			for _, c := range []*fanfaretest.Client{guess(), w.Client(""), w.Client("fanf_x"), guess()} {
				res := c.Do("GET", "/v1/me", nil)
				e := res.WantError(429, "rate_limit_exceeded")
				if e.Details[0].Code != "ip" || rateHeadersOf(t, res.Header).retryAfter != 59 || rateHeadersOf(t, res.Header).remaining != 0 {
					t.Errorf("got %+v and %v, want the policy ip and Retry-After 59", e.Details, res.Header)
				}
			}
			var flood []string
			for range 150 {
				flood = append(flood, account.NewSecret(rand.Reader))
			}
			serveRequest(w, newRequest(t.Context(), guess(), "GET", "/v1/me?a="+strings.Join(flood, ","), nil))
			sendPlain(w, newRequest(t.Context(), guess(), "GET", "/v1/me?a="+strings.Join(flood, ","), nil), true)
			if got := e.reads.Load() - reads; got != 3 {
				t.Errorf("got %d look-ups for an address that is over its limit, want one for each of 3 unknown keys", got)
			}
			a.Do("GET", "/v1", nil).Want(200)
			// A change to some account empties the memory, not the memory of
			// who is a good customer.
			stranger := w.Tenant(account.Starter)
			a.Do("GET", "/v1", nil).Want(200)
			if got := rateHeadersOf(t, stranger.Do("GET", "/v1", nil).Want(200).Header); got.limit != 60 || got.remaining != 59 {
				t.Errorf("got %+v for the first use of a key, want the limit of its workspace", got)
			}
			far := guess()
			far.From = "198.51.100.1:1"
			far.Do("GET", "/v1/me", nil).WantError(401, "invalid_api_key")
			w.Clock.Advance(time.Minute)
			guess().Do("GET", "/v1/me", nil).WantError(401, "invalid_api_key")
		})
	}
}

// TestR8LookupsTakeTurns: a flood of unknown keys occupies a few reads of the
// store at most, and those of one address one, so that a key that is new to the
// node is found beside it.
func TestR8LookupsTakeTurns(t *testing.T) {
	e := &blocking{Engine: fanfaretest.SQLite(t), arrived: make(chan struct{}, 1000), release: make(chan struct{})}
	w := fanfaretest.New(t, e)
	a := w.Tenant(account.Starter)
	var wg sync.WaitGroup
	guess := func(from string) {
		c := w.Client(account.NewSecret(rand.Reader))
		c.From = from
		r := newRequest(t.Context(), c, "GET", "/v1/me", nil)
		wg.Go(func() { serveRequest(w, r) })
	}
	e.blocks.Store(true)
	for range 20 {
		guess(a.From)
	}
	<-e.arrived
	e.blocks.Store(false)
	other := *a.Client
	other.From = "198.51.100.9:1"
	other.Do("GET", "/v1", nil).Want(200)
	e.blocks.Store(true)
	for i := range 50 {
		guess(fmt.Sprintf("203.0.113.%d:1", 100+i))
	}
	for range 3 {
		<-e.arrived
	}
	// Requests of a key that is known are answered meanwhile, and look-ups end
	// one after the other, so that more than four would begin if they could.
	for range 30 {
		other.Do("GET", "/v1", nil).Want(200)
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	for ended := false; !ended; {
		select {
		case e.release <- struct{}{}:
		case <-done:
			ended = true
		}
	}
	if e.most != 4 {
		t.Errorf("got %d look-ups at once, want 4", e.most)
	}
}

// blocking is an engine whose queries wait while the test says so.
type blocking struct {
	store.Engine
	blocks           atomic.Bool
	arrived, release chan struct{}

	mu            sync.Mutex
	running, most int
}

// count adds n running queries.
func (b *blocking) count(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.running += n
	b.most = max(b.most, b.running)
}

func (b *blocking) Query(ctx context.Context, query string, args ...any) (*store.Rows, error) {
	if b.blocks.Load() {
		b.count(1)
		defer b.count(-1)
		b.arrived <- struct{}{}
		<-b.release
	}
	return b.Engine.Query(ctx, query, args...)
}

// TestR8Malformed checks that a text that is not a key is refused without a
// lookup.
func TestR8Malformed(t *testing.T) {
	e := &countingEngine{Engine: fanfaretest.SQLite(t)}
	w := fanfaretest.New(t, e)
	good := account.NewSecret(rand.Reader)
	reads := e.reads.Load()
	for i, key := range []string{"x", "fanf_", good[:40], good + "x", good[:40] + "!", strings.ToUpper(good), "fanf_" + strings.Repeat("0", 36)} {
		c := w.Client(key)
		c.From = fmt.Sprintf("203.0.113.%d:1", i+20)
		c.Do("GET", "/v1", nil).WantError(401, "invalid_api_key")
	}
	if got := e.reads.Load() - reads; got != 0 {
		t.Errorf("got %d look-ups, want 0", got)
	}
}

// TestR8UnknownInURL: unknown keys in a URL or in plain HTTP count as guesses,
// so that guessing is limited there too.
func TestR8UnknownInURL(t *testing.T) {
	e := &countingEngine{Engine: fanfaretest.SQLite(t)}
	w := fanfaretest.New(t, e)
	a := w.Tenant(account.Growth)
	a.Do("GET", "/v1", nil).Want(200)
	reads := e.reads.Load()
	for range 100 {
		serveRequest(w, newRequest(t.Context(), a.Client, "GET", "/v1/me?a="+account.NewSecret(rand.Reader), nil))
		sendPlain(w, newRequest(t.Context(), w.Client(account.NewSecret(rand.Reader)), "GET", "/v1/me", nil), true)
	}
	if got := e.reads.Load() - reads; got != 60 {
		t.Errorf("got %d look-ups for 200 guesses, want 60", got)
	}
	a.Do("GET", "/v1", nil).Want(200)
}

// TestR7Network: IPv6 is counted by /56, IPv4 by address.
func TestR7Network(t *testing.T) {
	w := fanfaretest.New(t, nil)
	fail := func(from string) int {
		c := w.Client("")
		c.From = from
		return c.Do("GET", "/v1", nil).Status
	}
	for i := range 60 {
		if got := fail(fmt.Sprintf("[2001:db8:1:2::%x]:443", i+1)); got != 401 {
			t.Fatalf("got %d for failure %d, want 401", got, i+1)
		}
	}
	for from, want := range map[string]int{
		"[2001:db8:1:2:ffff::1]:443": 429, "[2001:db8:1:ff::1]:443": 429, "[2001:db8:1:100::1]:443": 401, "203.0.113.7:443": 401, "[::ffff:203.0.113.7]:443": 401,
	} {
		if got := fail(from); got != want {
			t.Errorf("%s: got %d, want %d", from, got, want)
		}
	}
}

// unreachableCounter is a counter that cannot be reached.
type unreachableCounter struct{ ratelimit.Counter }

var errUnreachable = errors.New("connection refused")

func (unreachableCounter) Take(context.Context, ident.ID, ratelimit.Limits, time.Time) (ratelimit.Decision, error) {
	return ratelimit.Decision{}, errUnreachable
}

func (unreachableCounter) Refund(context.Context, ident.ID, ratelimit.Ticket, time.Time) error {
	return errUnreachable
}

func (unreachableCounter) Look(context.Context, ident.ID, ratelimit.Limits, time.Time) (ratelimit.Decision, error) {
	return ratelimit.Decision{}, errUnreachable
}

// TestR11Outage: without the shared counters a node counts alone: it refuses no
// caller with quota, refunds failed requests, and its headers are correct. When
// the counters are back, they count again.
func TestR11Outage(t *testing.T) {
	w := fanfaretest.New(t, nil, withStarterLimits(ratelimit.Limits{PerMinute: 5, PerDay: 100}))
	a := w.Tenant(account.Starter)
	a.Do("GET", "/v1", nil).Want(200)
	counters := w.App.API.Quota
	w.App.API.Quota = unreachableCounter{}
	for i := range 4 {
		res := a.Do("GET", []string{"/v1", "/v1/me"}[i%2], nil).Want(200)
		if got := rateHeadersOf(t, res.Header); got.remaining != int64(4-i) {
			t.Errorf("got %+v, want %d left on this node", got, 4-i)
		}
	}
	broken := &failingEvents{Events: w.App.API.Events, fault: diskError()}
	w.App.API.Events = broken
	for range 20 {
		if got := rateHeadersOf(t, a.Do("GET", "/v1/events", nil).Want(503).Header); got.remaining != 1 {
			t.Fatalf("got %+v after a failure of ours, want 1 left", got)
		}
	}
	w.App.API.Events = broken.Events
	a.Do("GET", "/v1", nil).Want(200)
	a.Do("GET", "/v1", nil).WantError(429, "rate_limit_exceeded")
	w.App.API.Quota = counters
	if got := rateHeadersOf(t, a.Do("GET", "/v1", nil).Want(200).Header); got.remaining != 3 {
		t.Errorf("got %+v, want what the counters knew before", got)
	}
	if !strings.Contains(w.Log.String(), "request counters unreachable") {
		t.Error("got nothing in the log about the outage")
	}
}

// noRefundCounter is a counter that does not refund.
type noRefundCounter struct{ ratelimit.Counter }

func (noRefundCounter) Refund(context.Context, ident.ID, ratelimit.Ticket, time.Time) error {
	return errUnreachable
}

// TestR3RefundFails: a failed refund is logged.
func TestR3RefundFails(t *testing.T) {
	w := fanfaretest.New(t, nil)
	a := w.Tenant(account.Starter)
	w.App.API.Quota = noRefundCounter{w.App.API.Quota}
	w.App.API.Events = &failingEvents{fault: diskError()}
	if got := rateHeadersOf(t, a.Do("GET", "/v1/events", nil).Want(503).Header); got.remaining != 59 {
		t.Errorf("got %+v, want one spent", got)
	}
	if !strings.Contains(w.Log.String(), "quota of a failed request not returned") {
		t.Error("got nothing in the log about it")
	}
}

// TestQuotaEvents: a workspace gets an event at 80 % of its daily quota and one
// at 100 %, each once a day (R12).
func TestQuotaEvents(t *testing.T) {
	fanfaretest.Each(t, func(t *testing.T, w *fanfaretest.Service) {
		w.App.API.Limits[account.Starter] = ratelimit.Limits{PerDay: 10}
		a := w.Tenant(account.Starter)
		for range 2 {
			for range 10 {
				a.Do("GET", "/v1", nil).Want(200)
			}
			for range 3 {
				a.Do("GET", "/v1", nil).Want(429)
			}
			w.Clock.Advance(day)
		}
		counts := map[any]int{}
		for _, e := range a.Do("GET", "/v1/events?type=quota.*", nil).Want(200).List().Data {
			counts[e["type"]]++
		}
		if counts["quota.warning"] != 2 || counts["quota.exceeded"] != 2 {
			t.Errorf("got %v, want each on both days", counts)
		}
	})
}
