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
	// MaxLogged is how many requests of a workspace are kept.
	MaxLogged = 1000
	// maxLogs is how many workspaces have a log, 75 MB at most.
	maxLogs = 256
	// maxText is what is kept of a request's path, names of parameters and
	// user agent together.
	maxText = 160
)

// Logged is a request as it is remembered. Bodies, headers and the values of
// parameters are not in it.
type Logged struct {
	ID     ident.ID
	At     clock.Instant
	Took   time.Duration
	Method string
	// Path is the path and, after a question mark, the names of parameters.
	Path string
	// Operation is what the contract calls it, empty for none.
	Operation string
	Status    int
	Code      fault.Code
	KeyID     ident.ID
	From      netip.Addr
	Agent     string
}

// entry is a request on the shelf: texts are copied into it, because a piece
// of a request's text would keep all of it in memory, its secrets too.
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

// requestLog holds the last requests of a workspace.
type requestLog struct {
	mu      sync.Mutex
	entries []entry
	next    int
}

// requestLogs holds a log for each workspace that was heard of lately.
// Choice: it is memory of this node alone. It is for seeing what an
// integration does now; what must not be lost is in the audit log.
type requestLogs struct {
	mu   sync.RWMutex
	logs map[ident.ID]*requestLog
}

func newRequestLogs() *requestLogs { return &requestLogs{logs: map[ident.ID]*requestLog{}} }

// note remembers an answered request.
// Choice: only those with a key. What people do in the console they see there,
// and what they change is in the audit log.
func (a *API) note(r *request) {
	if r.keeper == nil || r.status == 0 {
		return
	}
	l := a.requests.of(r.keeper.Workspace.ID)
	took := a.Now().Sub(r.now)
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.place()
	e.id, e.at, e.took, e.key, e.code = r.id, r.now.UnixMicro(), took, r.keeper.Key.ID, r.code
	e.method, e.route, e.from, e.status = methodName(r.http.Method), r.route, r.from, int16(r.status)
	e.write(r.http)
}

// place is where the next request goes: a new entry, or the oldest one.
func (l *requestLog) place() *entry {
	n := len(l.entries)
	if n == MaxLogged {
		l.next = (l.next + 1) % n
		return &l.entries[(l.next+n-1)%n]
	}
	if n == cap(l.entries) {
		// append would make room for more than there may be.
		l.entries = append(make([]entry, 0, min(max(2*n, 8), MaxLogged)), l.entries...)
	}
	l.entries = l.entries[:n+1]
	return &l.entries[n]
}

// methodName is the method without the text that it was cut from.
func methodName(method string) string {
	for _, known := range []string{http.MethodGet, http.MethodPost, http.MethodPatch, http.MethodDelete, http.MethodHead, http.MethodPut, http.MethodOptions} {
		if method == known {
			return known
		}
	}
	return "OTHER"
}

// write copies the texts of a request.
func (e *entry) write(hr *http.Request) {
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

// of finds or starts the log of a workspace. The one that was quiet for the
// longest gives way.
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

// last is when the latest request came, 0 for never.
func (l *requestLog) last() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.entries); n > 0 {
		return l.entries[(l.next+n-1)%n].at
	}
	return 0
}

// Requests returns the last requests of a workspace's keys on this node, the
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
