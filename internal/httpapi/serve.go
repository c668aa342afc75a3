package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"fanfare/internal/account"
	"fanfare/internal/body"
	"fanfare/internal/fairqueue"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/nearest"
	"fanfare/internal/ratelimit"
	"fanfare/internal/record"
)

const maxTarget = 8 << 10

// request is the state of one HTTP request.
type request struct {
	http   *http.Request
	w      http.ResponseWriter
	id     ident.ID
	now    time.Time
	from   netip.Addr
	route  *route
	pathID string
	caller *account.Caller
	// session is the session of a signed-in user, empty for a request with an
	// API key.
	session ident.ID
	body    []byte
	// reserved is the number of bytes that the body reserved in uploads for
	// owners.
	reserved int64
	owners   []ident.ID
	// media is the media type of the body; params are the query parameters
	// beside it.
	media   string
	params  map[string]string
	object  body.Value
	replied bool
	// status and code are those of the response. The request is logged for the
	// workspace of logCaller, which is also set if the key is expired or revoked.
	status    int
	code      fault.Code
	logCaller *account.Caller
	values    [3]string
	// places is the counter of running requests of the caller's workspace,
	// ofFounder that of its founder.
	places, ofFounder *atomic.Int64
	// working is true while the request has a place of the node, lent while it
	// waits for a turn and others have the place; waiting is how many of its
	// parts wait. mu guards them. leaveTurn ends the turn of a critical request.
	mu            sync.Mutex
	working, lent bool
	waiting       int
	leaveTurn     func()
	// progress is set while the connection is kept open.
	progress Progress
	// counter is the counter that charged the request, nil if none did; charged
	// is the id that it used.
	counter ratelimit.Counter
	ticket  ratelimit.Ticket
	charged ident.ID
	// over is the decision of the limit that a request which may stop a campaign
	// exceeds, nil for requests within the limit.
	over *ratelimit.Decision
	// idempotencyKey and fingerprint are set for a request with an Idempotency-Key.
	idempotencyKey, fingerprint string
	timeout                     lazyTimeout
}

// cause returns the cause of a write: the API key or the signed-in user.
func (r *request) cause() record.Cause {
	c := record.Cause{
		Workspace: r.caller.Workspace.ID,
		Actor:     record.Actor{Type: record.ActorKey, ID: r.caller.Key.ID, Name: r.caller.Key.Name},
		RequestID: r.id, Address: r.from.String(),
	}
	if r.session != "" {
		c.Actor, c.Session = person(r.caller), r.session
	}
	return c
}

// match returns the precondition of the If-Match header.
func (r *request) match() record.Match {
	return record.ParseMatch(r.http.Header["If-Match"])
}

// Shared header values. They are assigned without a copy and must not change.
var (
	hNoStore  = []string{"no-store"}
	hNoSniff  = []string{"nosniff"}
	hPolicy   = []string{"default-src 'none'; frame-ancestors 'none'"}
	hJSON     = []string{typeJSON}
	hHSTS     = []string{"max-age=63072000; includeSubDomains"}
	hBearer   = []string{`Bearer realm="fanfare", error="invalid_token"`}
	hReplayed = []string{"true"}
	hClose    = []string{"close"}
)

// ServeHTTP checks a request in the order of rule H1: path, key, quota, route,
// method, Accept, permission, body. Then it runs the operation.
func (a *API) ServeHTTP(w http.ResponseWriter, hr *http.Request) {
	a.serve(a.newRequest(w, hr, a.Now()))
}

func (a *API) serve(r *request) {
	a.SetNodeHeaders(r.w.Header(), r.http)
	defer a.logRequest(r)
	defer a.recoverPanic(r)
	path := r.http.URL.EscapedPath()
	if err := target(r.http, path); err != nil {
		a.limitByAddress(r, a.addresses.Peek(r.from, r.now))
		if fault.Is(err, fault.RouteNotFound) && !versioned(path) {
			a.missing(r)
		} else {
			a.fail(r, err)
		}
		return
	}
	switch {
	case versioned(path):
		if !a.cors(r) {
			a.serveVersion(r, path)
		}
	default:
		a.servePublic(r, path)
	}
}

// SetNodeHeaders sets the headers that depend on the node and not on the response.
func (a *API) SetNodeHeaders(h http.Header, hr *http.Request) {
	if a.HSTS && hstsAllowed(hr.Host) {
		h["Strict-Transport-Security"] = hHSTS
	}
	if a.draining.Load() {
		// Close each connection after its response, so that at shutdown no
		// client is about to send on an open connection.
		h["Connection"] = hClose
	}
}

// target returns a fault if the request target is too long or not canonical.
func target(hr *http.Request, path string) error {
	switch {
	case len(hr.RequestURI) > maxTarget:
		return fault.New(fault.URITooLong, "The request target is longer than 8 KiB. Put less into the query string.",
			fault.Detail{Code: string(fault.URITooLong), Message: "The target is too long.", Meta: fault.Meta{"limit_bytes": maxTarget}})
	case !canonical(path):
		return noRoute()
	}
	return nil
}

// newRequest creates a request with its id and sets the headers that every
// response has.
func (a *API) newRequest(w http.ResponseWriter, hr *http.Request, now time.Time) *request {
	r := &request{http: hr, w: w, now: now, id: ident.Make(ident.Request, now, a.RequestSeed()), from: peer(hr)}
	h := w.Header()
	r.header(h, 0, "X-Request-Id", string(r.id))
	h["Cache-Control"] = hNoStore
	h["X-Content-Type-Options"] = hNoSniff
	h["Content-Security-Policy"] = hPolicy
	return r
}

// header sets a header with storage inside the request, to avoid an allocation.
func (r *request) header(h http.Header, slot int, name, v string) {
	r.values[slot] = v
	h[name] = r.values[slot : slot+1 : slot+1]
}

// canonical reports whether a path has no empty segment, no trailing slash and
// no "." or ".." segment.
func canonical(path string) bool {
	for i := 0; i < len(path) && len(path) > 1; i++ {
		if path[i] != '/' {
			continue
		}
		segment := path[i+1:]
		if end := strings.IndexByte(segment, '/'); end >= 0 {
			segment = segment[:end]
		}
		if segment == "" || segment == "." || segment == ".." {
			return false
		}
	}
	return true
}

// versioned reports whether a path is under an API version, where every request
// needs a key.
func versioned(path string) bool {
	if len(path) < 3 || path[0] != '/' || path[1] != 'v' {
		return false
	}
	digits := 0
	for digits < len(path)-2 && path[2+digits] >= '0' && path[2+digits] <= '9' {
		digits++
	}
	return digits > 0 && (len(path) == 2+digits || path[2+digits] == '/')
}

func (a *API) serveVersion(r *request, path string) {
	if err := a.authenticate(r); err != nil {
		a.fail(r, err)
		return
	}
	a.perform(r, path)
}

// perform runs the operation of an authenticated request.
func (a *API) perform(r *request, path string) {
	if a.Refusal != nil {
		if err := a.Refusal(); err != nil {
			a.fail(r, err)
			return
		}
	}
	methods, id := a.routes.find(path)
	r.pathID = id
	r.route = methods[r.http.Method]
	if r.route == nil && r.http.Method == http.MethodHead {
		r.route = methods[http.MethodGet]
	}
	if r.route != nil && r.route.keyed && r.session != "" {
		methods, r.route = nil, nil
	}
	defer a.release(r)
	if err := a.acquire(r); err != nil {
		a.release(r)
		a.fail(r, err)
		return
	}
	if err := a.checkRoute(r, path, methods); err != nil {
		a.fail(r, err)
		return
	}
	ctx := &r.timeout
	ctx.Context, ctx.limit = fairqueue.WithYield(r.http.Context(), func() func() { return a.lendPlace(r) }), a.TimeLimit
	if r.route.waits {
		ctx.limit += longestWait
	}
	defer ctx.end()
	res, err := a.readAndRun(ctx, r)
	a.leavePlace(r)
	// The connection of a critical request is kept until the response is read,
	// unless the founder has many of them.
	if !r.critical() || r.ofFounder.Load() > a.share() {
		r.leaveConnection()
	}
	if err != nil {
		a.fail(r, err)
		return
	}
	a.reply(r, res)
}

// checkRoute checks the version, path, method, Accept header and permission,
// before the body is read.
func (a *API) checkRoute(r *request, path string, methods map[string]*route) error {
	if !strings.HasPrefix(path, "/v1/") && path != "/v1" {
		return fault.New(fault.UnknownAPIVersion, "There is no such API version. Use /v1.",
			fault.Detail{In: "path", Code: string(fault.UnknownAPIVersion), Message: "The version never existed.", Meta: fault.Meta{"supported": []string{"v1"}}})
	}
	if methods == nil {
		if near := a.nearestPath(path); near != "" {
			const message = "There is no such path. Did you mean "
			return fault.New(fault.RouteNotFound, message+near+"?", fault.Detail{In: "path", Code: string(fault.RouteNotFound), Message: message + near + "?", Meta: fault.Meta{"did_you_mean": near}})
		}
		return noRoute()
	}
	if r.route == nil {
		r.w.Header()["Allow"] = []string{allow(methods)}
		return fault.New(fault.MethodNotAllowed, "This path does not take "+r.http.Method+". See the Allow header for what it takes.",
			fault.Detail{Code: string(fault.MethodNotAllowed), Message: "Method not allowed.", Meta: fault.Meta{"method": r.http.Method, "allowed": strings.Split(allow(methods), ", ")}})
	}
	if err := r.acceptable(); err != nil {
		return err
	}
	return r.caller.Authorize(r.route.operation, r.from)
}

// nearestPath returns the pattern of an operation that differs from path by a
// typo in one segment, or an empty string.
func (a *API) nearestPath(path string) string {
	asked := strings.Split(path, "/")
	for _, r := range a.table() {
		segments, slips := strings.Split(r.pattern, "/"), 0
		if len(segments) != len(asked) {
			continue
		}
		for i, s := range segments {
			switch {
			case strings.HasPrefix(s, "{") || s == asked[i]:
			case nearest.Word(asked[i], []string{s}) != "":
				slips++
			default:
				slips = len(segments)
			}
		}
		if slips == 1 {
			return r.pattern
		}
	}
	return ""
}

func noRoute() error {
	return fault.New(fault.RouteNotFound, "There is no such path. Paths are exact, without a trailing slash; see /openapi/v1.json for all of them.")
}

// readAndRun reads the body and runs the operation. A POST with a used
// Idempotency-Key gets the stored response.
func (a *API) readAndRun(ctx context.Context, r *request) (response, error) {
	defer a.releaseBody(r)
	if err := a.readBody(r); err != nil {
		return response{}, err
	}
	if r.http.Method != http.MethodPost || r.route.reads {
		return r.route.handle(ctx, r)
	}
	return a.runIdempotent(ctx, r)
}

// lazyTimeout is a context with a time limit. It creates its timer on first use,
// because a response from memory needs none.
type lazyTimeout struct {
	context.Context
	limit  time.Duration
	once   sync.Once
	real   context.Context
	cancel context.CancelFunc
}

func (p *lazyTimeout) arm() context.Context {
	p.once.Do(func() { p.real, p.cancel = context.WithTimeout(p.Context, p.limit) })
	return p.real
}

func (p *lazyTimeout) end() {
	p.once.Do(func() { p.real = p.Context })
	if p.cancel != nil {
		p.cancel()
	}
}

// Deadline implements context.Context.
func (p *lazyTimeout) Deadline() (time.Time, bool) { return p.arm().Deadline() }

// Done implements context.Context.
func (p *lazyTimeout) Done() <-chan struct{} { return p.arm().Done() }

// Err implements context.Context.
func (p *lazyTimeout) Err() error { return p.arm().Err() }

// recoverPanic recovers from a panic, logs it and sends an internal error.
func (a *API) recoverPanic(r *request) {
	p := recover()
	if p == nil {
		return
	}
	if err, ok := p.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(p)
	}
	a.log(r).Error("request handler panicked", "panic", p, "stack", string(debug.Stack()))
	if r.replied {
		panic(http.ErrAbortHandler)
	}
	if r.caller == nil && r.route == nil {
		a.limitByAddress(r, a.addresses.Peek(r.from, r.now))
	}
	a.fail(r, fault.New(fault.Internal, internalMessage))
}

// peer returns the client's address. The listener has already replaced the
// address of a proxy.
func peer(hr *http.Request) netip.Addr {
	ap, err := netip.ParseAddrPort(hr.RemoteAddr)
	if err != nil {
		return netip.IPv4Unspecified()
	}
	return ap.Addr().Unmap()
}

// hstsAllowed reports whether HSTS may be sent for a host. It excludes localhost
// and IP addresses, because HSTS would also apply to other servers there.
func hstsAllowed(host string) bool {
	name := host
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") {
		name = host[:i]
	}
	name = strings.ToLower(strings.TrimSuffix(strings.Trim(name, "[]"), "."))
	if name == "" || name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return false
	}
	_, err := netip.ParseAddr(name)
	return err != nil
}

// acceptsJSON reports whether an Accept header admits application/json.
func acceptsJSON(accept []string) bool {
	if len(accept) == 0 || len(accept) == 1 && (accept[0] == "*/*" || accept[0] == "application/json" || accept[0] == "") {
		return true
	}
	return admits(accept, "application/json")
}

// admits reports whether an Accept header admits a media type.
func admits(accept []string, mediaType string) bool {
	ranges := strings.Join(accept, ",")
	if ranges == "" {
		return true
	}
	best, quality := -1, ""
	for part := range strings.SplitSeq(ranges, ",") {
		media, rest, _ := strings.Cut(part, ";")
		rank := closeness(strings.ToLower(strings.TrimSpace(media)), mediaType)
		if rank < 0 || rank < best {
			continue
		}
		best, quality = rank, qualityOf(rest)
	}
	return best >= 0 && quality != "0" && quality != "0.0" && quality != "0.00" && quality != "0.000"
}

// closeness ranks how closely a media range names a type, -1 for not at all.
func closeness(media, mediaType string) int {
	kind, _, _ := strings.Cut(mediaType, "/")
	switch media {
	case mediaType:
		return 2
	case kind + "/*":
		return 1
	case "*/*":
		return 0
	}
	return -1
}

// acceptable returns a fault if the Accept header excludes all media types of
// the operation.
func (r *request) acceptable() error {
	accept, types := r.http.Header["Accept"], r.route.answers
	if types == nil {
		if acceptsJSON(accept) {
			return nil
		}
		types = []string{"application/json"}
	}
	if slices.ContainsFunc(types, func(t string) bool { return admits(accept, t) }) {
		return nil
	}
	message := fmt.Sprintf("The answer is %s, which the Accept header excludes. Send Accept: %s or none.", strings.Join(types, " or "), types[0])
	return fault.New(fault.NotAcceptable, message, fault.Detail{
		Field: "Accept", In: "header", Code: string(fault.NotAcceptable), Message: message, Meta: fault.Meta{"allowed": types},
	})
}

func qualityOf(parameters string) string {
	for p := range strings.SplitSeq(parameters, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(p), "=")
		if strings.EqualFold(name, "q") {
			return strings.TrimSpace(value)
		}
	}
	return "1"
}

// limitByAddress sets the rate limit headers to the address limit.
func (a *API) limitByAddress(r *request, d ratelimit.Decision) { setLimits(r.w.Header(), d) }
