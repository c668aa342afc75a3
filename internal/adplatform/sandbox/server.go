package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"fanfare/internal/clock"
)

// Options make a Server.
type Options struct {
	// Seed, Currency and Timezone are the sandbox's own world; USD and UTC if
	// not set.
	Seed               int64
	Currency, Timezone string
	// Scale is how many times every account has its campaigns, 1 if not set.
	Scale int
	Now   func() time.Time
	// State is the file that keeps what callers did; without one a restart
	// forgets it.
	State string
}

// MaxScale is about 10^6 ads an account.
const MaxScale = 100_000

// Server plays the platforms. Each is found under its hosts' names and below
// its prefix, the sandbox's own controls below /_sandbox/.
type Server struct {
	o       Options
	own     World
	state   *state
	faults  faults
	journal journal
	control http.Handler

	mu sync.Mutex
	// known are the accounts of all worlds that were ever opened, by id;
	// accounts are those that were looked into.
	known    map[string]place
	accounts map[place]*Account
	// standing is the time that the clock was set to, ahead how far it is
	// ahead while it runs.
	standing *time.Time
	ahead    time.Duration
}

// place is where an account is.
type place struct {
	World    World
	Platform string
}

// New makes a sandbox.
func New(o Options) (*Server, error) {
	if o.Currency == "" {
		o.Currency = "USD"
	}
	if o.Timezone == "" {
		o.Timezone = "UTC"
	}
	if o.Scale < 0 || o.Scale > MaxScale {
		return nil, fmt.Errorf("scale %d is out of range: give one from 1 to %d", o.Scale, MaxScale)
	}
	st, err := openState(o.State)
	if err != nil {
		return nil, err
	}
	s := &Server{
		o: o, own: World{o.Seed, o.Currency, o.Timezone}, state: st, faults: faults{dice: key(0).number(o.Seed).text("faults")},
		known: map[string]place{}, accounts: map[place]*Account{},
	}
	s.control = s.controls()
	if _, err := s.know(s.own); err != nil {
		return nil, err
	}
	for _, w := range st.worlds() {
		if _, err := s.know(w); err != nil {
			return nil, fmt.Errorf("read the sandbox's state: %w", err)
		}
	}
	return s, nil
}

// Own is the sandbox's own world.
func (s *Server) Own() World { return s.own }

// Now is the sandbox's own time.
func (s *Server) Now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.standing != nil {
		return *s.standing
	}
	return s.o.Now().Add(s.ahead)
}

// know checks a world, remembers its accounts and returns its zone.
func (s *Server) know(w World) (*time.Location, error) {
	zone, err := w.check()
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range dialects {
		s.known[accountID(w, d.Platform())] = place{w, d.Platform()}
	}
	if w != s.own {
		s.state.know(w)
	}
	return zone, nil
}

// account finds the account of a world on a platform, or makes it.
func (s *Server) account(w World, platform string) (*Account, error) {
	at := place{w, platform}
	s.mu.Lock()
	a := s.accounts[at]
	s.mu.Unlock()
	if a != nil {
		return a, nil
	}
	zone, err := s.know(w)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	// Who made it first has given it away already.
	if s.accounts[at] == nil {
		s.accounts[at] = build(w, zone, platform, s.o.Scale)
	}
	return s.accounts[at], nil
}

// Account finds an account by its id, in any world that was opened.
func (s *Server) Account(id string) (*Account, bool) {
	s.mu.Lock()
	at, ok := s.known[id]
	s.mu.Unlock()
	if !ok {
		return nil, false
	}
	a, err := s.account(at.World, at.Platform)
	return a, err == nil
}

// Runs reports whether a campaign of an account runs now, and whether there is
// such a campaign.
func (s *Server) Runs(account, campaign string) (runs, known bool) {
	a, ok := s.Account(account)
	if !ok {
		return false, false
	}
	for _, c := range a.Campaigns {
		if c.ID == campaign {
			return s.state.runsOf(a).now(c, s.Today(a)), true
		}
	}
	return false, false
}

// Revoke ends all tokens of the grant that a token comes from, as a person does
// on the platform's own pages.
func (s *Server) Revoke(token string) {
	if c, ok := readToken(token); ok {
		s.state.revoke(c.Grant)
	}
}

// Today is the day in an account's zone.
func (s *Server) Today(a *Account) clock.Date { return clock.DateIn(s.Now(), a.zone) }

// Rows lists what an account reports at a level now, as a session does.
func (s *Server) Rows(a *Account, level Level, first, last clock.Date) iter.Seq[Row] {
	return s.rows(a, level, first, last, s.Today(a))
}

// Access is what opens one account.
type Access struct {
	AccountID    string  `json:"account_id"`
	AccessToken  string  `json:"access_token"`
	RefreshToken *string `json:"refresh_token"`
	// ExpiresIn is in seconds, nil for never.
	ExpiresIn *int64 `json:"expires_in"`
}

// Grant opens the accounts of a world, by platform. A currency or zone that is
// not set is that of the sandbox's own. The accounts of a world are always the
// same; the tokens are new.
func (s *Server) Grant(w World) (map[string]Access, error) {
	if w.Currency == "" {
		w.Currency = s.own.Currency
	}
	if w.Timezone == "" {
		w.Timezone = s.own.Timezone
	}
	if _, err := s.know(w); err != nil {
		return nil, err
	}
	opened := map[string]Access{}
	for _, d := range dialects {
		t := s.issue(issuerOf(d.Platform()), w, s.state.next(), s.Now())
		access := Access{AccountID: accountID(w, d.Platform()), AccessToken: t.Access}
		if t.Refresh != "" {
			access.RefreshToken = &t.Refresh
		}
		if t.Lives > 0 {
			seconds := int64(t.Lives / time.Second)
			access.ExpiresIn = &seconds
		}
		opened[d.Platform()] = access
	}
	return opened, s.state.flush()
}

// Address is where a platform is played and which account the sandbox's own
// world has there.
type Address struct {
	Platform  string `json:"platform"`
	Prefix    string `json:"prefix"`
	AccountID string `json:"account_id"`
}

// Addresses lists all platforms.
func (s *Server) Addresses() (list []Address) {
	for _, d := range dialects {
		list = append(list, Address{d.Platform(), d.Prefix(), accountID(s.own, d.Platform())})
	}
	return list
}

func dialectOf(platform string) Dialect {
	for _, d := range dialects {
		if d.Platform() == platform {
			return d
		}
	}
	return nil
}

func platformNames() (names []string) {
	for _, d := range dialects {
		names = append(names, d.Platform())
	}
	return names
}

// route finds the platform that a call is for, the address at which that was
// found, and the call as the platform sees it.
func route(r *http.Request) (d Dialect, base string, seen *http.Request) {
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	scheme := "http://"
	if r.TLS != nil || r.URL.Scheme == "https" {
		scheme = "https://"
	}
	for _, d := range dialects {
		for _, h := range d.Hosts() {
			if strings.EqualFold(h, host) {
				return d, scheme + r.Host, r
			}
		}
		rest, ok := strings.CutPrefix(r.URL.Path, d.Prefix())
		if !ok || !strings.HasPrefix(rest, "/") {
			continue
		}
		seen = r.Clone(r.Context())
		seen.URL.Path = rest
		seen.URL.RawPath = strings.TrimPrefix(r.URL.RawPath, d.Prefix())
		return d, scheme + r.Host + d.Prefix(), seen
	}
	return nil, "", nil
}

// maxBody is the largest body that is read.
const maxBody = 10 << 20

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := s.state.flush(); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if strings.HasPrefix(r.URL.Path, controlPrefix) {
		s.control.ServeHTTP(w, r)
		return
	}
	d, base, r := route(r)
	if d == nil {
		http.Error(w, "No platform is played here. GET /_sandbox/seed tells where they are.", http.StatusNotFound)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		http.Error(w, "the body cannot be read, or is too long", http.StatusRequestEntityTooLarge)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	s.play(s.session(d, r.URL.Path, base), w, r, entry(d.Platform(), r, body))
}

// session begins a call to a platform.
func (s *Server) session(d Dialect, path, base string) *Session {
	return &Session{server: s, dialect: d, now: s.Now(), path: path, base: base, decided: map[string]bool{}}
}

// play answers a call to a platform and notes it, also if the answer breaks
// off.
func (s *Server) play(session *Session, w http.ResponseWriter, r *http.Request, e Entry) {
	watched := &watcher{ResponseWriter: w}
	defer func() {
		e.Status, e.Fault = max(watched.status, http.StatusOK), session.struck
		s.journal.note(e)
		// What could not be written is said in the next call, before anything
		// is done there.
		_ = s.state.flush()
	}()
	if fault := s.faults.strike(session); fault != nil {
		session.struck = fault.Fault
		fault.spoil(session, watched, r)
		return
	}
	session.dialect.Serve(session, watched, r)
}

// watcher sees which status was answered.
type watcher struct {
	http.ResponseWriter
	status int
}

func (w *watcher) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap is for http.ResponseController.
func (w *watcher) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Do answers a request without a network, so that the server can stand where
// an HTTP client does. An answer that breaks off fails while it is read.
func (s *Server) Do(req *http.Request) (*http.Response, error) {
	r := req.Clone(req.Context())
	r.RequestURI = req.URL.RequestURI()
	if r.Host == "" {
		r.Host = req.URL.Host
	}
	if r.Body == nil {
		r.Body = http.NoBody
	}
	defer func(body io.Closer) { _ = body.Close() }(r.Body)
	answer := &recorder{header: http.Header{}}
	whole := answer.record(s, r)
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	if !whole && answer.status == 0 {
		return nil, io.ErrUnexpectedEOF
	}
	var body io.Reader = &answer.body
	if !whole {
		body = io.MultiReader(body, broken{})
	}
	status := max(answer.status, http.StatusOK)
	return &http.Response{
		Status: fmt.Sprintf("%d %s", status, http.StatusText(status)), StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: answer.header, Body: io.NopCloser(body), ContentLength: -1, Request: req,
	}, nil
}

// broken is the rest of an answer that does not come.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// recorder keeps an answer.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *recorder) Header() http.Header { return a.header }

func (a *recorder) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
}

func (a *recorder) Write(b []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(b)
}

// record lets a handler answer and reports whether it came to its end.
func (a *recorder) record(h http.Handler, r *http.Request) (whole bool) {
	defer func() {
		if p := recover(); p != nil {
			if err, ok := p.(error); !ok || !errors.Is(err, http.ErrAbortHandler) {
				panic(p)
			}
		}
	}()
	h.ServeHTTP(a, r)
	return true
}
