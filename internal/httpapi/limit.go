package httpapi

import (
	"context"
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

// unlimited is the value of the rate limit headers for a workspace without
// limits.
// Choice: every response has the headers, and clients parse a large number
// where a word would break them.
const unlimited = 1<<31 - 1

// UserPlan is the key in Limits for signed-in users: requests per minute and day
// of one user in all workspaces, and concurrent requests of all users of a
// workspace on a node.
const UserPlan account.Plan = "people"

// acquire charges the request to the quota and counts it as running. release
// ends the latter.
// Choice: plans limit API keys. Signed-in users have separate quotas and
// concurrency limits, so that the console and an integration do not block each
// other. An overloaded node rejects both alike.
func (a *API) acquire(r *request) error {
	if end := r.caller.Key.ExpiresAt; end != nil && *end < clock.At(r.now.Add(14*24*time.Hour)) {
		r.w.Header()["X-Api-Key-Expires-At"] = []string{end.String()}
	}
	if a.ChangesLost != nil && a.ChangesLost() != "" {
		r.w.Header()["X-Warnings"] = []string{"changes_lost"}
	}
	err := a.countInFlight(r)
	if err == nil {
		err = a.startWork(r)
	}
	if err != nil {
		a.setQuotaHeaders(r)
		return err
	}
	return a.charge(r)
}

// maxCritical is how many critical requests of a founder may be in flight on a
// node. It only bounds their memory.
const maxCritical = 1000

// countInFlight counts the request for its workspace and its founder. It returns
// a fault beyond the number of the plan, and beyond the founder's share of the
// places.
// Choice: the share is the founder's, because a person with three workspaces
// could otherwise take all places. Critical requests are counted apart.
func (a *API) countInFlight(r *request) error {
	running := a.inFlight
	switch {
	case r.critical():
		running = a.stopping
	case r.session != "":
		running = a.people
	}
	_, limits := a.counted(r)
	r.places, r.ofFounder = running.of(r.caller.Workspace.ID), running.of("founder "+a.founder(r))
	n, all := r.places.Add(1), r.ofFounder.Add(1)
	switch {
	case r.critical() && all > maxCritical:
		return concurrency(maxCritical)
	case r.critical():
	case limits.InFlight > 0 && n > limits.InFlight:
		return concurrency(limits.InFlight)
	case all > a.share():
		return concurrency(a.share())
	}
	return nil
}

// share returns how many requests of a founder may be in flight: a third of the
// node's places, at least one.
// Choice: a third, because keys and users are counted apart, and both together
// must leave places to others.
func (a *API) share() int64 { return max(1, a.MaxInFlight/3) }

// founder returns the founder of the caller's workspace, whose workspaces share
// the resources of a node.
// Choice: if the founder cannot be read, it returns the workspace, because a
// pause must not fail for this.
func (a *API) founder(r *request) ident.ID {
	founder, err := a.Accounts.Founder(r.http.Context(), r.caller.Workspace.ID)
	if err != nil {
		return r.caller.Workspace.ID
	}
	return founder
}

// counted returns the id that the request is charged to and its limits: the
// workspace for a key, the user for a session.
func (a *API) counted(r *request) (ident.ID, ratelimit.Limits) {
	if r.session != "" {
		return r.caller.User.ID, a.Limits[UserPlan]
	}
	return r.caller.Workspace.ID, a.Limits[r.caller.Workspace.Plan]
}

// charge charges the request to the id that counted returns.
func (a *API) charge(r *request) error {
	who, limits := a.counted(r)
	counter := a.Quota
	d, err := counter.Take(r.http.Context(), who, limits, r.now)
	if err != nil {
		// The shared counters are unreachable. Count on this node and do not
		// reject requests that the store may still answer.
		a.Log.Warn("request counters unreachable, counting on this node: check that the database is available", "error", err)
		counter = a.fallback
		d, _ = counter.Take(r.http.Context(), who, limits, r.now)
	}
	if r.session == "" {
		a.emitQuotaEvent(r, d)
	}
	if !d.OK && a.triesStop(r, counter, d) {
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

const (
	// stopsPerMinute is how many requests a workspace has per minute that stop a
	// campaign beyond the limits of its keys and of its users.
	stopsPerMinute = 10
	// stopTriesPerMinute is how many such requests a key or a user may send,
	// those that fail included.
	stopTriesPerMinute = 60
)

// triesStop reports whether a request over the limit is admitted because it may
// stop a campaign. A request that would stop nothing is rejected and not
// counted.
// Choice: the specification has 429 for every request over the limit. Spend
// that cannot be stopped costs more than a request, so this safety rule is an
// exception.
// Choice: only a campaign that was stopped counts against the workspace (see
// chargeStop). Tries are counted for each key and each user, so that a client
// that sends invalid requests is refused before long and takes nothing from
// the others of its workspace.
func (a *API) triesStop(r *request, counter ratelimit.Counter, over ratelimit.Decision) bool {
	if r.route == nil || r.route.stops == nil || !r.route.stops(r.http.Context(), r) {
		return false
	}
	left, err := counter.Peek(r.http.Context(), r.stopQuota(), ratelimit.Limits{PerMinute: stopsPerMinute}, r.now)
	if err != nil || left.Minute.Remaining == 0 {
		return false
	}
	who := r.caller.Key.ID
	if r.session != "" {
		who = r.caller.User.ID
	}
	who += ":stop"
	d, err := counter.Take(r.http.Context(), who, ratelimit.Limits{PerMinute: stopTriesPerMinute}, r.now)
	if err != nil || !d.OK {
		return false
	}
	r.counter, r.ticket, r.charged, r.over = counter, d.Ticket, who, &over
	return true
}

// stopQuota returns the id that counts the stops of the workspace over the
// limit.
func (r *request) stopQuota() ident.ID { return r.caller.Workspace.ID + ":stop" }

// chargeStop charges a valid request over the limit to the stops of the
// workspace, just before it stops a campaign. If it fails then, fail takes that
// back. It returns a fault if the stops are used up.
func (a *API) chargeStop(r *request) error {
	if r.over == nil {
		return nil
	}
	ctx, limits := r.http.Context(), ratelimit.Limits{PerMinute: stopsPerMinute}
	counter := r.counter
	d, err := counter.Take(ctx, r.stopQuota(), limits, r.now)
	if err != nil {
		counter = a.fallback
		d, _ = counter.Take(ctx, r.stopQuota(), limits, r.now)
	}
	if !d.OK {
		return a.limited(r, *r.over, r.over.Policy)
	}
	r.counter, r.ticket, r.charged = counter, d.Ticket, r.stopQuota()
	return nil
}

// stopCharged reports whether chargeStop has charged the request.
func (r *request) stopCharged() bool { return r.over != nil && r.charged == r.stopQuota() }

// release ends the count of the request as running. Only the first call has an
// effect.
func (a *API) release(r *request) {
	a.stopWork(r)
	if r.places != nil {
		r.places.Add(-1)
		r.ofFounder.Add(-1)
		r.places, r.ofFounder = nil, nil
	}
}

// emitQuotaEvent writes the quota events of the day window: at 80 % and when a
// request exceeds the limit, each once a day.
func (a *API) emitQuotaEvent(r *request, d ratelimit.Decision) {
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
	if was, _ := a.quotaEventsSent.Swap(mark, day); was == day {
		return
	}
	data := map[string]any{"limit": d.Day.Limit, "used": d.Day.Limit - d.Day.Remaining, "reset_at": clock.At(d.Day.Reset)}
	if err := a.QuotaEvents.EmitDaily(r.http.Context(), workspace, kind, data); err != nil {
		a.quotaEventsSent.Delete(mark)
		a.Log.Error("quota event not written: check that the database is available", "error", err)
	}
}

// setQuotaHeaders sets the rate limit headers without counting the request.
func (a *API) setQuotaHeaders(r *request) {
	who, limits := a.counted(r)
	setLimits(r.w.Header(), a.quotaState(r, who, limits))
}

// quotaState returns the windows of a workspace or user without counting, by this
// node's count if the shared counters are unreachable.
func (a *API) quotaState(r *request, workspace ident.ID, limits ratelimit.Limits) ratelimit.Decision {
	ctx := r.http.Context()
	if r.counter != ratelimit.Counter(a.fallback) {
		if d, err := a.Quota.Peek(ctx, workspace, limits, r.now); err == nil {
			return d
		}
	}
	d, _ := a.fallback.Peek(ctx, workspace, limits, r.now)
	return d
}

// refund returns the quota of a request that failed with a server error or by a
// limit that the operation has, and the stop of one that stopped nothing. It
// refunds nothing else if the client disconnected; otherwise every request would
// be free for a client that disconnects in time.
func (a *API) refund(r *request) {
	ctx := r.http.Context()
	if r.stopCharged() {
		ctx = context.WithoutCancel(ctx)
	}
	if r.counter == nil || ctx.Err() != nil {
		return
	}
	if err := r.counter.Refund(ctx, r.charged, r.ticket, a.Now()); err != nil {
		a.Log.Warn("quota of a failed request not returned: check that the database is available", "request_id", r.id, "error", err)
		return
	}
	a.setQuotaHeaders(r)
}

func overloaded() error {
	f := fault.New(fault.Unavailable, "The service is overloaded. Try again shortly; pausing and archiving still work.")
	f.RetryAfter = time.Second
	return f.Because(fault.ErrBusy)
}

func concurrency(limit int64) error {
	message := fmt.Sprintf("More than %d requests of this workspace, or of all workspaces of its founder, are running. Wait for one to finish.", limit)
	f := fault.New(fault.RateLimitExceeded, message, fault.Detail{Code: "concurrency", Message: message, Meta: fault.Meta{"limit": limit, "retry_after": 1}})
	f.RetryAfter = time.Second
	return f
}

// limited returns the fault for an exceeded policy, with the time to retry.
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

// setLimits sets the rate limit headers: the three of the specification for the
// tightest window, and the standard ones for all windows. All values are slices
// of one string, because this runs on every request.
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

// limitHeaders have the canonical form of net/http header keys.
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

// ceilUnix rounds up, so that a client that waits until then does not retry too
// early.
func ceilUnix(t time.Time) int64 {
	s := t.Unix()
	if t.Nanosecond() > 0 {
		s++
	}
	return s
}

// inFlight counts the running requests of each workspace and founder.
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

// DefaultLimits returns the limits of the specification's plans, with the
// number of concurrent requests of a workspace per node. The limits of People
// are above the rate at which a user clicks and the number of requests that a
// page of the console sends at once.
func DefaultLimits() map[account.Plan]ratelimit.Limits {
	return map[account.Plan]ratelimit.Limits{
		account.Starter:    {PerMinute: 60, PerDay: 10_000, InFlight: 10},
		account.Growth:     {PerMinute: 300, PerDay: 100_000, InFlight: 25},
		account.Enterprise: {PerMinute: 1_000, InFlight: 50},
		UserPlan:           {PerMinute: 600, InFlight: 100},
	}
}
