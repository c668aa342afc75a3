package sandbox

import (
	"bytes"
	"cmp"
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

// Options are the settings of a Server.
type Options struct {
	// Seed, Currency and Timezone are the sandbox's own account set; USD and UTC if
	// not set.
	Seed               int64
	Currency, Timezone string
	// Scale multiplies the campaigns of every account, 1 if not set.
	Scale int
	Now   func() time.Time
	// State is the file with the changes of callers; without one they are lost
	// at a restart.
	State string
}

// MaxScale gives about 10^6 ads per account.
const MaxScale = 100_000

// Server simulates the platforms. Each has its host names and a path prefix;
// the sandbox's own operations are below /_sandbox/.
type Server struct {
	o       Options
	own     AccountSet
	state   *state
	faults  faultRules
	journal journal
	// behaviors are the switches that are on.
	behaviors behaviorRules
	// linkedInQuotas count the calls to LinkedIn.
	linkedInQuotas linkedInQuotas
	// googleOperations are the operations of Google Ads in the last day.
	googleOperations googleOperations
	// microsoft has the reports and the calls of Microsoft Advertising.
	microsoft microsoftState
	control   http.Handler

	mu sync.Mutex
	// accountRefs are the accounts of all opened account sets, by id; accounts are
	// those that have been generated.
	accountRefs map[string]accountRef
	accounts    map[accountRef]*Account
	// frozenTime is the time that the clock was set to, clockOffset its offset
	// if it runs.
	frozenTime  *time.Time
	clockOffset time.Duration
}

// accountRef identifies an account.
type accountRef struct {
	Set      AccountSet
	Platform string
}

// New returns a sandbox.
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
		o: o, own: AccountSet{Seed: o.Seed, Currency: o.Currency, Timezone: o.Timezone}, state: st, faults: faultRules{random: seedKey(0).numbered(o.Seed).named("faults")},
		accountRefs: map[string]accountRef{}, accounts: map[accountRef]*Account{},
	}
	s.control = s.controlHandler()
	if _, err := s.registerSet(s.own); err != nil {
		return nil, err
	}
	for _, w := range st.sets() {
		if _, err := s.registerSet(w); err != nil {
			return nil, fmt.Errorf("read the sandbox's state: %w", err)
		}
	}
	return s, nil
}

// Own returns the sandbox's own account set.
func (s *Server) Own() AccountSet { return s.own }

// Now returns the sandbox's time.
func (s *Server) Now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.frozenTime != nil {
		return *s.frozenTime
	}
	return s.o.Now().Add(s.clockOffset)
}

// registerSet validates an account set, registers its accounts and returns its time
// zone.
func (s *Server) registerSet(w AccountSet) (*time.Location, error) {
	zone, err := w.validate()
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range platformAPIs {
		s.accountRefs[accountID(w, d.Platform())] = accountRef{w, d.Platform()}
	}
	if w != s.own && w.Member == 0 {
		s.state.addSet(w)
	}
	return zone, nil
}

// accountOf returns the account of an account set on a platform. It generates the
// account on first use.
func (s *Server) accountOf(w AccountSet, platform string) (*Account, error) {
	at := accountRef{w, platform}
	s.mu.Lock()
	a := s.accounts[at]
	s.mu.Unlock()
	if a != nil {
		return a, nil
	}
	zone, err := s.registerSet(w)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	// A concurrent call may have returned it already.
	if s.accounts[at] == nil {
		s.accounts[at] = buildAccount(w, zone, platform, s.o.Scale)
	}
	return s.accounts[at], nil
}

// Account returns an account of any opened account set by its id.
func (s *Server) Account(id string) (*Account, bool) {
	s.mu.Lock()
	at, ok := s.accountRefs[id]
	s.mu.Unlock()
	if !ok {
		return nil, false
	}
	a, err := s.accountOf(at.Set, at.Platform)
	return a, err == nil
}

// Runs reports whether a campaign of an account runs now, and whether the
// campaign exists.
func (s *Server) Runs(account, campaign string) (runs, known bool) {
	a, ok := s.Account(account)
	if !ok {
		return false, false
	}
	for _, c := range a.Campaigns {
		if c.ID == campaign {
			return s.state.runChangesOf(a).runsNow(c, s.Today(a)), true
		}
	}
	return false, false
}

// Revoke ends all tokens of a token's grant, as a person does on the platform's
// pages.
func (s *Server) Revoke(token string) {
	if c, ok := readToken(token); ok {
		s.state.addRevoked(c)
	}
}

// Today returns the current day in the account's time zone.
func (s *Server) Today(a *Account) clock.Date { return clock.DateIn(s.Now(), a.zone) }

// Rows returns the current rows of an account at a level, as a call does.
func (s *Server) Rows(a *Account, level Level, first, last clock.Date) iter.Seq[Row] {
	return s.rowsAsOf(a, level, first, last, s.Today(a))
}

// AccountTokens has the credentials of one account.
type AccountTokens struct {
	AccountID    string  `json:"account_id"`
	AccessToken  string  `json:"access_token"`
	RefreshToken *string `json:"refresh_token"`
	// ExpiresIn is in seconds, nil for never.
	ExpiresIn *int64 `json:"expires_in"`
}

// Grant returns access to the accounts of an account set, by platform. An unset
// currency or time zone is that of the sandbox's own account set. The accounts of
// a set are always the same; the tokens are new, and of a person of their own.
func (s *Server) Grant(w AccountSet) (map[string]AccountTokens, error) {
	w = s.complete(w)
	if _, err := s.registerSet(w); err != nil {
		return nil, err
	}
	opened := map[string]AccountTokens{}
	now := s.Now()
	agreed := Consent{Person: fmt.Sprintf("2%020d", s.state.nextSerial(now))}
	for _, d := range platformAPIs {
		t := s.issueTokens(issuerOf(d.Platform()), w, s.state.nextSerial(now), agreed, now)
		access := AccountTokens{AccountID: accountID(w, d.Platform()), AccessToken: t.Access}
		if t.Refresh != "" {
			access.RefreshToken = &t.Refresh
		}
		if t.AccessLifetime > 0 {
			seconds := int64(t.AccessLifetime / time.Second)
			access.ExpiresIn = &seconds
		}
		opened[d.Platform()] = access
	}
	return opened, s.state.flush()
}

// complete sets an unset currency or time zone to that of the sandbox's own
// account set.
func (s *Server) complete(w AccountSet) AccountSet {
	w.Currency, w.Timezone = cmp.Or(w.Currency, s.own.Currency), cmp.Or(w.Timezone, s.own.Timezone)
	return w
}

// Address is the URL of a simulated platform and the account of the sandbox's
// own account set on it.
type Address struct {
	Platform  string `json:"platform"`
	Prefix    string `json:"prefix"`
	AccountID string `json:"account_id"`
}

// Addresses returns the addresses of all platforms.
func (s *Server) Addresses() (list []Address) {
	for _, d := range platformAPIs {
		list = append(list, Address{d.Platform(), d.Prefix(), accountID(s.own, d.Platform())})
	}
	return list
}

func apiOf(platform string) PlatformAPI {
	for _, d := range platformAPIs {
		if d.Platform() == platform {
			return d
		}
	}
	return nil
}

// Prefix returns the path of a platform on the sandbox's own address, such as
// /meta, empty for one that is not simulated.
func Prefix(platform string) string {
	if d := apiOf(platform); d != nil {
		return d.Prefix()
	}
	return ""
}

func platformNames() (names []string) {
	for _, d := range platformAPIs {
		names = append(names, d.Platform())
	}
	return names
}

// route returns the platform of a request, its base URL, and the request
// without the prefix.
func route(r *http.Request) (d PlatformAPI, base string, seen *http.Request) {
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	scheme := "http://"
	if r.TLS != nil || r.URL.Scheme == "https" {
		scheme = "https://"
	}
	for _, d := range platformAPIs {
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

// maxBody is the largest request body.
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
	s.serveCall(s.newCall(d, r.URL.Path, base), w, r, newEntry(d.Platform(), r, body))
}

// newCall starts a call to a platform.
func (s *Server) newCall(d PlatformAPI, path, base string) *Call {
	return &Call{server: s, api: d, now: s.Now(), path: path, base: base, faultResults: map[string]bool{}}
}

// serveCall answers a call and records it, also if the answer is aborted.
func (s *Server) serveCall(call *Call, w http.ResponseWriter, r *http.Request, e Entry) {
	recorder := &statusRecorder{ResponseWriter: w}
	defer func() {
		e.Status, e.Fault = max(recorder.status, http.StatusOK), call.lastFault
		s.journal.add(e)
		// If writing fails, the next call returns the error before it changes
		// anything.
		_ = s.state.flush()
	}()
	if fault := s.faults.chooseFault(call); fault != nil {
		call.lastFault = fault.Fault
		fault.answerWithFault(call, recorder, r)
		return
	}
	call.api.Serve(call, recorder, r)
}

// statusRecorder records the status of an answer.
type statusRecorder struct {
	http.ResponseWriter
	status int
}

func (w *statusRecorder) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap is for http.ResponseController.
func (w *statusRecorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Do answers a request without a network, so that the server can replace an
// HTTP client. An aborted answer fails while it is read.
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
	answer := &answerRecorder{header: http.Header{}}
	whole := answer.serve(s, r)
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	if !whole && answer.status == 0 {
		return nil, io.ErrUnexpectedEOF
	}
	var body io.Reader = &answer.body
	if !whole {
		body = io.MultiReader(body, truncatedBody{})
	}
	status := max(answer.status, http.StatusOK)
	return &http.Response{
		Status: fmt.Sprintf("%d %s", status, http.StatusText(status)), StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: answer.header, Body: io.NopCloser(body), ContentLength: -1, Request: req,
	}, nil
}

// truncatedBody is the missing part of an aborted answer.
type truncatedBody struct{}

func (truncatedBody) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// answerRecorder records an answer.
type answerRecorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *answerRecorder) Header() http.Header { return a.header }

func (a *answerRecorder) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
}

func (a *answerRecorder) Write(b []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(b)
}

// serve runs a handler and reports whether it completed.
func (a *answerRecorder) serve(h http.Handler, r *http.Request) (whole bool) {
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
