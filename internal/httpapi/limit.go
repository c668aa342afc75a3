package httpapi

import (
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"fanfare/internal/account"
	"fanfare/internal/clock"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/ratelimit"
)

// unlimited is shown where a workspace has no limit at all.
// Choice: the headers must be there on every response, and clients read a
// large number rightly where they would stumble over a word.
const unlimited = 1<<31 - 1

// People is where Limits has the numbers for a signed-in person: requests per
// minute and day of that person in all workspaces, and how many of all people
// of a workspace run on a node.
const People account.Plan = "people"

// enter spends quota and a place among the running requests. leave gives the
// place back.
// Choice: plans limit what keys do. A signed-in person has a limit and places
// apart from them, so that a page full of pictures and an integration do not
// stand in each other's way; an overloaded node sheds both alike.
func (a *API) enter(r *request) error {
	critical := r.route != nil && r.route.critical
	_, limits := a.counted(r)
	running := a.inFlight
	if r.session != "" {
		running = a.people
	}
	if end := r.caller.Key.ExpiresAt; end != nil && *end < clock.At(r.now.Add(14*24*time.Hour)) {
		r.w.Header()["X-Api-Key-Expires-At"] = []string{end.String()}
	}
	if n := a.running.Add(1); n > a.MaxInFlight && !critical {
		a.running.Add(-1)
		a.look(r)
		return overloaded()
	}
	r.places = running.of(r.caller.Workspace.ID)
	if n := r.places.Add(1); limits.InFlight > 0 && n > limits.InFlight && !critical {
		a.leave(r)
		a.look(r)
		return concurrency(limits.InFlight)
	}
	if err := a.charge(r); err != nil {
		a.leave(r)
		return err
	}
	return nil
}

// counted is whose requests a request is counted with, and their limits: the
// workspace's for a key, a person's own for a session.
func (a *API) counted(r *request) (ident.ID, ratelimit.Limits) {
	if r.session != "" {
		return r.caller.User.ID, a.Limits[People]
	}
	return r.caller.Workspace.ID, a.Limits[r.caller.Workspace.Plan]
}

// charge spends a request of whoever it is counted with.
func (a *API) charge(r *request) error {
	who, limits := a.counted(r)
	counter := a.Quota
	d, err := counter.Take(r.http.Context(), who, limits, r.now)
	if err != nil {
		// The counters are out of reach: count here, and do not refuse what
		// the store may still be able to answer.
		a.Log.Warn("request counters unreachable, counting on this node", "error", err)
		counter = a.fallback
		d, _ = counter.Take(r.http.Context(), who, limits, r.now)
	}
	if r.session == "" {
		a.tellQuota(r, d)
	}
	if !d.OK && a.stops(r, counter, who) {
		setLimits(r.w.Header(), d)
		return nil
	}
	if !d.OK {
		return a.limited(r, d, d.Policy)
	}
	r.counter, r.ticket, r.charged = counter, d.Ticket, who
	setLimits(r.w.Header(), d)
	return nil
}

// stopsPerMinute is how many requests that stop a campaign a workspace has over
// the limits of its plan, and a signed-in person over his own.
const stopsPerMinute = 10

// stops admits a request that stops a campaign although the plan's limit is
// used up, and counts it apart. A request that would stop nothing is refused
// like any other and uses up none of them.
// Choice: the specification has 429 for every request over the limit. Spend
// that cannot be stopped costs more than a request, so this is a rule for
// safety beside it.
func (a *API) stops(r *request, counter ratelimit.Counter, who ident.ID) bool {
	if r.route == nil || r.route.stops == nil || !r.route.stops(r.http.Context(), r) {
		return false
	}
	apart := who + ":stop"
	d, err := counter.Take(r.http.Context(), apart, ratelimit.Limits{PerMinute: stopsPerMinute}, r.now)
	if err != nil || !d.OK {
		return false
	}
	r.counter, r.ticket, r.charged = counter, d.Ticket, apart
	return true
}

// leave gives a place back.
func (a *API) leave(r *request) {
	r.places.Add(-1)
	a.running.Add(-1)
}

// tellQuota writes the events of the day window: at 80 % and when it is used
// up, each once a day.
func (a *API) tellQuota(r *request, d ratelimit.Decision) {
	var kind string
	switch used := d.Day.Limit - d.Day.Remaining; {
	case d.Day.Limit == 0:
		return
	case d.Policy == "day":
		kind = "quota.exceeded"
	case used*10 >= d.Day.Limit*8:
		kind = "quota.warning"
	default:
		return
	}
	workspace, day := r.caller.Workspace.ID, d.Day.Reset.Unix()
	mark := kind + string(workspace)
	if was, _ := a.told.Swap(mark, day); was == day {
		return
	}
	data := map[string]any{"limit": d.Day.Limit, "used": d.Day.Limit - d.Day.Remaining, "reset_at": clock.At(d.Day.Reset)}
	if err := a.QuotaEvents.EmitDaily(r.http.Context(), workspace, kind, data); err != nil {
		a.told.Delete(mark)
		a.Log.Error("write quota event", "error", err)
	}
}

// look shows the caller's windows without counting.
func (a *API) look(r *request) {
	who, limits := a.counted(r)
	setLimits(r.w.Header(), a.standing(r, who, limits))
}

// standing says how a workspace stands, by this node's own count where the
// counters are out of reach.
func (a *API) standing(r *request, workspace ident.ID, limits ratelimit.Limits) ratelimit.Decision {
	ctx := r.http.Context()
	if r.counter != ratelimit.Counter(a.fallback) {
		if d, err := a.Quota.Look(ctx, workspace, limits, r.now); err == nil {
			return d
		}
	}
	d, _ := a.fallback.Look(ctx, workspace, limits, r.now)
	return d
}

// refund gives back what a request spent that failed through our fault. A
// caller who went away has spent it: otherwise hanging up in time would make
// every request free.
func (a *API) refund(r *request) {
	ctx := r.http.Context()
	if r.counter == nil || ctx.Err() != nil {
		return
	}
	if err := r.counter.Refund(ctx, r.charged, r.ticket, a.Now()); err != nil {
		a.Log.Warn("a failed request could not be given back", "request_id", r.id, "error", err)
		return
	}
	a.look(r)
}

func overloaded() error {
	f := fault.New(fault.Unavailable, "The service is overloaded. Try again shortly; pausing and archiving still work.")
	f.RetryAfter = time.Second
	return f
}

func concurrency(limit int64) error {
	message := fmt.Sprintf("More than %d requests of this workspace are running. Wait for one to finish.", limit)
	f := fault.New(fault.RateLimitExceeded, message, fault.Detail{Code: "concurrency", Message: message, Meta: fault.Meta{"limit": limit, "retry_after": 1}})
	f.RetryAfter = time.Second
	return f
}

// limited says which policy was violated and when to come back.
func (a *API) limited(r *request, d ratelimit.Decision, policy string) error {
	setLimits(r.w.Header(), d)
	limit := d.Minute.Limit
	if policy == "day" {
		limit = d.Day.Limit
	}
	seconds := ceilSeconds(d.Wait)
	message := fmt.Sprintf("The limit of %d requests per %s is used up. Try again in %d seconds.", limit, map[string]string{"day": "day", "minute": "minute", "ip": "minute and address without a valid key"}[policy], seconds)
	f := fault.New(fault.RateLimitExceeded, message, fault.Detail{Code: policy, Message: message, Meta: fault.Meta{"limit": limit, "retry_after": seconds}})
	f.RetryAfter = time.Duration(seconds) * time.Second
	return f
}

func ceilSeconds(d time.Duration) int64 {
	return max(1, int64((d+time.Second-1)/time.Second))
}

// setLimits writes the rate headers: the three of the specification about the
// tightest window, and the standard ones about all. All values are cut from
// one string, because this runs on every request.
func setLimits(h http.Header, d ratelimit.Decision) {
	tight := d.Tightest()
	if tight.Limit == 0 {
		tight = ratelimit.Window{Limit: unlimited, Remaining: unlimited, Reset: d.Now.Add(time.Minute)}
		d.Minute = tight
	}
	var buf [192]byte
	var ends [5]int
	b := strconv.AppendInt(buf[:0], tight.Limit, 10)
	ends[0] = len(b)
	b = strconv.AppendInt(b, tight.Remaining, 10)
	ends[1] = len(b)
	b = strconv.AppendInt(b, ceilUnix(tight.Reset), 10)
	ends[2] = len(b)
	first := "minute"
	if d.Policy == "ip" {
		first = d.Policy
	}
	b = appendWindow(b, first, d.Minute, d.Now, false)
	b = appendWindow(b, "day", d.Day, d.Now, d.Minute.Limit > 0)
	ends[3] = len(b)
	b = appendPolicy(b, first, d.Minute.Limit, 60, false)
	b = appendPolicy(b, "day", d.Day.Limit, 86400, d.Minute.Limit > 0)
	ends[4] = len(b)
	text, start := string(b), 0
	values := make([]string, len(limitHeaders))
	for i, name := range limitHeaders {
		values[i] = text[start:ends[i]]
		h[name] = values[i : i+1 : i+1]
		start = ends[i]
	}
}

// limitHeaders are in the canonical form that net/http's map has.
var limitHeaders = [...]string{"X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset", "Ratelimit", "Ratelimit-Policy"}

func appendWindow(b []byte, name string, w ratelimit.Window, now time.Time, more bool) []byte {
	if w.Limit == 0 {
		return b
	}
	b = appendName(b, name, more)
	b = strconv.AppendInt(append(b, "r="...), w.Remaining, 10)
	return strconv.AppendInt(append(b, ";t="...), ceilSeconds(w.Reset.Sub(now)), 10)
}

func appendPolicy(b []byte, name string, limit, window int64, more bool) []byte {
	if limit == 0 {
		return b
	}
	b = appendName(b, name, more)
	b = strconv.AppendInt(append(b, "q="...), limit, 10)
	return strconv.AppendInt(append(b, ";w="...), window, 10)
}

func appendName(b []byte, name string, more bool) []byte {
	if more {
		b = append(b, ", "...)
	}
	return append(append(append(b, '"'), name...), `";`...)
}

// ceilUnix rounds up, so that a client that waits until then is never early.
func ceilUnix(t time.Time) int64 {
	s := t.Unix()
	if t.Nanosecond() > 0 {
		s++
	}
	return s
}

// inFlight counts the running requests of each workspace.
type inFlight struct {
	mu     sync.RWMutex
	counts map[ident.ID]*atomic.Int64
}

func newInFlight() *inFlight { return &inFlight{counts: map[ident.ID]*atomic.Int64{}} }

func (f *inFlight) of(workspace ident.ID) *atomic.Int64 {
	f.mu.RLock()
	n := f.counts[workspace]
	f.mu.RUnlock()
	if n != nil {
		return n
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if n = f.counts[workspace]; n == nil {
		n = &atomic.Int64{}
		f.counts[workspace] = n
	}
	return n
}

// DefaultLimits are the plans of the specification, with the number of
// requests a workspace may have running on a node. People have more than
// anybody clicks, and a page of the console fewer than one browser sends at
// once over HTTP/2.
func DefaultLimits() map[account.Plan]ratelimit.Limits {
	return map[account.Plan]ratelimit.Limits{
		account.Starter:    {PerMinute: 60, PerDay: 10_000, InFlight: 10},
		account.Growth:     {PerMinute: 300, PerDay: 100_000, InFlight: 25},
		account.Enterprise: {PerMinute: 1_000, InFlight: 50},
		People:             {PerMinute: 600, InFlight: 100},
	}
}
