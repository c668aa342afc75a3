package httpapi

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"runtime/debug"
	"strings"
	"time"

	"fanfare/internal/account"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/ratelimit"
	"fanfare/internal/record"
)

const (
	// handlerTime is how long an operation may take.
	handlerTime = 30 * time.Second
	// bodyTime is how long a body may take to arrive.
	bodyTime  = 30 * time.Second
	maxTarget = 8 << 10
)

// request is one call on its way through the checks.
type request struct {
	http    *http.Request
	w       http.ResponseWriter
	id      ident.ID
	now     time.Time
	from    netip.Addr
	route   *route
	pathID  string
	caller  *account.Caller
	body    []byte
	object  value
	replied bool
	// onceKey and fingerprint are set when the caller wants this done once.
	onceKey, fingerprint string
}

// cause says on whose behalf a write is made.
func (r *request) cause() record.Cause {
	return record.Cause{
		Workspace: r.caller.Workspace.ID,
		Actor:     record.Actor{Type: record.ActorKey, ID: r.caller.Key.ID, Name: r.caller.Key.Name},
		RequestID: r.id, Address: r.from.String(),
	}
}

// match reads the caller's precondition.
func (r *request) match() record.Match {
	return record.ParseMatch(strings.Join(r.http.Header.Values("If-Match"), ","))
}

// Shared header values; the map holds them as they are.
var (
	hNoStore  = []string{"no-store"}
	hNoSniff  = []string{"nosniff"}
	hPolicy   = []string{"default-src 'none'; frame-ancestors 'none'"}
	hJSON     = []string{"application/json; charset=utf-8"}
	hHSTS     = []string{"max-age=63072000; includeSubDomains"}
	hBearer   = []string{`Bearer realm="fanfare", error="invalid_token"`}
	hReplayed = []string{"true"}
)

// ServeHTTP checks in the order that the protocol fixes: path, key, quota,
// route, method, Accept, permission, body, and only then the operation.
func (a *API) ServeHTTP(w http.ResponseWriter, hr *http.Request) {
	now := a.Now()
	r := &request{http: hr, w: w, now: now, id: ident.New(ident.Request, now, a.Random), from: peer(hr)}
	h := w.Header()
	h["X-Request-Id"] = []string{string(r.id)}
	h["Cache-Control"] = hNoStore
	h["X-Content-Type-Options"] = hNoSniff
	h["Content-Security-Policy"] = hPolicy
	if a.HSTS && insistable(hr.Host) {
		h["Strict-Transport-Security"] = hHSTS
	}
	defer a.survive(r)
	path := hr.URL.EscapedPath()
	switch {
	case len(hr.RequestURI) > maxTarget:
		a.limitByAddress(r, a.addresses.Look(r.from, now))
		a.fail(r, fault.New(fault.URITooLong, "The request target is longer than 8 KiB. Put less into the query string.",
			fault.Detail{Code: string(fault.URITooLong), Message: "The target is too long.", Meta: fault.Meta{"limit_bytes": maxTarget}}))
	case versioned(path):
		if !a.cors(r) {
			a.serveVersion(r, path)
		}
	default:
		a.servePublic(r, path)
	}
}

// versioned reports whether a path lies under an API version, where every
// request needs a key.
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
	methods, id := a.routes.find(path)
	r.pathID = id
	r.route = methods[r.http.Method]
	if r.route == nil && r.http.Method == http.MethodHead {
		r.route = methods[http.MethodGet]
	}
	release, err := a.enter(r)
	if err != nil {
		a.fail(r, err)
		return
	}
	defer release()
	if err := a.admit(r, path, methods); err != nil {
		a.fail(r, err)
		return
	}
	ctx, cancel := context.WithTimeout(r.http.Context(), handlerTime)
	defer cancel()
	res, err := a.operate(ctx, r)
	if err != nil {
		a.fail(r, err)
		return
	}
	a.reply(r, res)
}

// admit checks what can be checked before the body is read.
func (a *API) admit(r *request, path string, methods map[string]*route) error {
	if !strings.HasPrefix(path, "/v1/") && path != "/v1" {
		return fault.New(fault.UnknownAPIVersion, "There is no such API version. Use /v1.",
			fault.Detail{In: "path", Code: string(fault.UnknownAPIVersion), Message: "The version never existed.", Meta: fault.Meta{"supported": []string{"v1"}}})
	}
	if methods == nil {
		return noRoute()
	}
	if r.route == nil {
		r.w.Header()["Allow"] = []string{allow(methods)}
		return fault.New(fault.MethodNotAllowed, "This path does not take "+r.http.Method+". See the Allow header for what it takes.",
			fault.Detail{Code: string(fault.MethodNotAllowed), Message: "Method not allowed.", Meta: fault.Meta{"allowed": strings.Split(allow(methods), ", ")}})
	}
	if !acceptsJSON(r.http.Header["Accept"]) {
		return fault.New(fault.NotAcceptable, "The answer is application/json, which the Accept header excludes. Send Accept: application/json or none.")
	}
	return r.caller.May(r.route.operation, r.from)
}

func noRoute() error {
	return fault.New(fault.RouteNotFound, "There is no such path. Paths are exact, without a trailing slash; see /openapi/v1.json for all of them.")
}

// operate reads the body, answers from memory where the caller's
// Idempotency-Key was used before, and runs the operation.
func (a *API) operate(ctx context.Context, r *request) (response, error) {
	if err := a.readBody(r); err != nil {
		return response{}, err
	}
	if r.http.Method != http.MethodPost {
		return r.route.handle(ctx, r)
	}
	return a.once(ctx, r)
}

// survive answers a panic as the bug it is.
func (a *API) survive(r *request) {
	p := recover()
	if p == nil {
		return
	}
	if err, ok := p.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(p)
	}
	a.Log.Error("panic", "request_id", r.id, "panic", p, "stack", string(debug.Stack()))
	if r.replied {
		panic(http.ErrAbortHandler)
	}
	a.fail(r, fault.New(fault.Internal, internalMessage))
}

// peer is the caller's address. The listener has put the right one there.
func peer(hr *http.Request) netip.Addr {
	ap, err := netip.ParseAddrPort(hr.RemoteAddr)
	if err != nil {
		return netip.IPv4Unspecified()
	}
	return ap.Addr().Unmap()
}

// insistable reports whether HSTS may be sent for a host: never for localhost
// or an address, because it would bind the developer's other servers too.
func insistable(host string) bool {
	name := host
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") {
		name = host[:i]
	}
	name = strings.ToLower(strings.Trim(name, "[]"))
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
	best, quality := -1, ""
	for part := range strings.SplitSeq(strings.Join(accept, ","), ",") {
		media, rest, _ := strings.Cut(part, ";")
		rank := closeness(strings.ToLower(strings.TrimSpace(media)))
		if rank < 0 || rank < best {
			continue
		}
		best, quality = rank, qualityOf(rest)
	}
	return best >= 0 && quality != "0" && quality != "0.0" && quality != "0.00" && quality != "0.000"
}

// closeness ranks how closely a media range names JSON, -1 for not at all.
func closeness(media string) int {
	switch media {
	case "application/json":
		return 2
	case "application/*":
		return 1
	case "*/*":
		return 0
	}
	return -1
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

// limitByAddress describes the address policy in the headers.
func (a *API) limitByAddress(r *request, d ratelimit.Decision) { setLimits(r.w.Header(), d, r.now) }
