package httpapi

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"fanfare/internal/account"
	"fanfare/internal/clock"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
)

const (
	// MaxLogged is the number of requests that the log of a workspace keeps.
	MaxLogged = 1000
	// maxLogs is the maximum number of workspaces with a log; together they use
	// at most 75 MB.
	maxLogs = 256
	// maxText is the number of bytes kept of a request's path, parameter names
	// and user agent together.
	maxText = 160
)

// Logged is a request in the request log. It contains no bodies, headers or
// parameter values.
type Logged struct {
	ID     ident.ID
	At     clock.Instant
	Took   time.Duration
	Method string
	// Path is the path and, after a question mark, the parameter names.
	Path string
	// Operation is the operationId of the contract, empty for an unknown path
	// or method.
	Operation string
	Status    int
	Code      fault.Code
	KeyID     ident.ID
	From      netip.Addr
	Agent     string
}

// entry is the stored form of a request. Its text is copied, because a
// substring would keep the whole request in memory, including its secrets.
type entry struct {
	id     ident.ID
	at     int64
	took   time.Duration
	key    ident.ID
	code   fault.Code
	method string
	route  *route
	from   netip.Addr
	status int16
	path   uint8
	end    uint8
	text   [maxText]byte
}

// requestLog is a ring buffer of the last requests of a workspace.
type requestLog struct {
	mu      sync.Mutex
	entries []entry
	next    int
}

// requestLogs contains the logs of the workspaces with recent requests.
// Choice: the logs are in the memory of this node only. They show what an
// integration does now; the audit log keeps what must not be lost.
type requestLogs struct {
	mu   sync.RWMutex
	logs map[ident.ID]*requestLog
}

func newRequestLogs() *requestLogs { return &requestLogs{logs: map[ident.ID]*requestLog{}} }

// logRequest adds an answered request to the log.
// Choice: only requests with a key are logged. Users see their actions in the
// console, and the audit log contains their changes.
func (a *API) logRequest(r *request) {
	if r.logCaller == nil || r.status == 0 {
		return
	}
	l := a.requests.of(r.logCaller.Workspace.ID)
	took := a.Now().Sub(r.now)
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.nextEntry()
	e.id, e.at, e.took, e.key, e.code = r.id, r.now.UnixMicro(), took, r.logCaller.Key.ID, r.code
	e.method, e.route, e.from, e.status = methodName(r.http.Method), r.route, r.from, int16(r.status)
	e.copyRequest(r.http)
}

// nextEntry returns the entry for the next request: a new one, or the oldest one
// if the log is full.
func (l *requestLog) nextEntry() *entry {
	n := len(l.entries)
	if n == MaxLogged {
		l.next = (l.next + 1) % n
		return &l.entries[(l.next+n-1)%n]
	}
	if n == cap(l.entries) {
		// append would allocate capacity beyond MaxLogged.
		l.entries = append(make([]entry, 0, min(max(2*n, 8), MaxLogged)), l.entries...)
	}
	l.entries = l.entries[:n+1]
	return &l.entries[n]
}

// methodName returns the method as a constant, so that the log does not keep
// the request's text in memory.
func methodName(method string) string {
	for _, known := range []string{http.MethodGet, http.MethodPost, http.MethodPatch, http.MethodDelete, http.MethodHead, http.MethodPut, http.MethodOptions} {
		if method == known {
			return known
		}
	}
	return "OTHER"
}

// copyRequest copies the path, parameter names and user agent of a request.
func (e *entry) copyRequest(hr *http.Request) {
	path, query, agent := hr.URL.Path, hr.URL.RawQuery, ""
	if values := hr.Header["User-Agent"]; len(values) > 0 {
		agent = values[0]
	}
	if strings.Contains(path, account.KeyPrefix) || strings.Contains(query, account.KeyPrefix) || strings.Contains(agent, account.KeyPrefix) {
		path, query, agent = account.Mask(path), account.Mask(query), account.Mask(agent)
	}
	n := copy(e.text[:], path)
	sign := "?"
	for query != "" && n < maxText {
		var pair string
		pair, query, _ = strings.Cut(query, "&")
		name, _, _ := strings.Cut(pair, "=")
		n += copy(e.text[n:], sign)
		n += copy(e.text[n:], name)
		sign = "&"
	}
	e.path = uint8(n)
	e.end = uint8(n + copy(e.text[n:], agent))
}

// of returns the log of a workspace and creates it if necessary. At maxLogs, it
// deletes the log whose last request is the oldest.
func (ls *requestLogs) of(workspace ident.ID) *requestLog {
	ls.mu.RLock()
	l := ls.logs[workspace]
	ls.mu.RUnlock()
	if l != nil {
		return l
	}
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if l = ls.logs[workspace]; l != nil {
		return l
	}
	if len(ls.logs) >= maxLogs {
		delete(ls.logs, ls.quietest())
	}
	l = &requestLog{}
	ls.logs[workspace] = l
	return l
}

func (ls *requestLogs) quietest() (workspace ident.ID) {
	var oldest int64
	for id, l := range ls.logs {
		if last := l.last(); workspace == "" || last < oldest {
			workspace, oldest = id, last
		}
	}
	return workspace
}

// last returns the time of the latest request, 0 if the log is empty.
func (l *requestLog) last() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.entries); n > 0 {
		return l.entries[(l.next+n-1)%n].at
	}
	return 0
}

// Requests returns the logged requests of a workspace's keys on this node,
// latest first.
func (a *API) Requests(workspace ident.ID) []Logged {
	a.requests.mu.RLock()
	l := a.requests.logs[workspace]
	a.requests.mu.RUnlock()
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	list := make([]Logged, 0, len(l.entries))
	for i := range l.entries {
		list = append(list, l.entries[(l.next+i)%len(l.entries)].show())
	}
	slices.Reverse(list)
	return list
}

func (e *entry) show() Logged {
	shown := Logged{
		ID: e.id, At: clock.At(time.UnixMicro(e.at)), Took: e.took, Method: e.method, Path: string(e.text[:e.path]), Status: int(e.status),
		Code: e.code, KeyID: e.key, From: e.from, Agent: strings.ToValidUTF8(string(e.text[e.path:e.end]), ""),
	}
	shown.Path = strings.ToValidUTF8(shown.Path, "")
	if e.route != nil {
		shown.Operation = e.route.operation
	}
	return shown
}
