// Package fanfaretest starts the whole service for a test, with a clock that
// the test controls and a client that checks every exchange against the
// contract.
package fanfaretest

import (
	"bytes"
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"fanfare"
	"fanfare/internal/account"
	"fanfare/internal/adplatform/sandbox"
	"fanfare/internal/app"
	"fanfare/internal/connection"
	"fanfare/internal/httpapi"
	"fanfare/internal/ident"
	"fanfare/internal/secret"
	"fanfare/internal/store"
	"fanfare/internal/store/pgtest"
	"fanfare/internal/store/postgres"
	"fanfare/internal/store/sqlitetest"
	"fanfare/internal/store/storetest"
)

// Start is the time at the start of every test.
var Start = storetest.Start

// Clock is a clock that the test controls.
type Clock = storetest.Clock

// Service is a service that was started for a test.
type Service struct {
	T     testing.TB
	App   *app.App
	Clock *Clock
	// Platforms is the URL of the sandbox that simulates all platforms.
	Platforms string
	// Log has everything that the service has logged.
	Log *Buffer
	// Remote, if set, is the server that clients call instead of the App.
	Remote       *Remote
	disconnected atomic.Bool
}

// Remote is a server in other processes on the database of the App.
type Remote struct {
	URL    string
	Client *http.Client
}

// Buffer is a log that can be read concurrently.
type Buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// Engines open an empty database each.
var Engines = map[string]func(testing.TB) store.Engine{"sqlite": SQLite, "postgres": Postgres}

// Each runs a test on both engines.
func Each(t *testing.T, test func(t *testing.T, w *Service)) {
	t.Helper()
	for name, open := range Engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, New(t, open(t)))
		})
	}
}

// SQLite opens an empty database in a temporary folder.
func SQLite(t testing.TB) store.Engine {
	t.Helper()
	return sqlitetest.Open(t)
}

// Postgres opens an empty database on the test's own server. Metrics are in the
// same database.
func Postgres(t testing.TB) store.Engine {
	t.Helper()
	url := pgtest.URL(t)
	e, err := postgres.Open(t.Context(), url, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return sharedEngine{e, url}
}

// Address returns the address of a database that Postgres opened.
func Address(e store.Engine) string { return e.(sharedEngine).url }

// sharedEngine is a database that nodes share, with its address.
type sharedEngine struct {
	*postgres.Engine
	url string
}

// New starts the service on an engine, SQLite if it is nil. Options can change
// the configuration.
func New(t testing.TB, e store.Engine, options ...func(*app.Config)) *Service {
	t.Helper()
	if e == nil {
		e = SQLite(t)
	}
	w := &Service{T: t, Clock: storetest.NewClock(Start), Log: &Buffer{}}
	config := app.Config{
		Engine: e, Facts: sqlitetest.Dir(t), Assets: t.TempDir(), MasterKey: filepath.Join(t.TempDir(), "master.key"), Limits: httpapi.DefaultLimits(), MaxInFlight: 1000, MaxWorkspaces: 10, CachedRecords: 1024, Changelog: fanfare.Changelog,
		PublicURL: "https://fanfare.test", HistoryDays: 730, Build: "test", Now: w.Clock.Now, Random: rand.Reader, Log: slog.New(slog.NewTextHandler(w.Log, nil)),
		Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	}
	if shared, ok := e.(sharedEngine); ok {
		config.Metrics = shared.url
	}
	w.useSandbox(&config)
	for _, o := range options {
		o(&config)
	}
	a, err := app.Open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	w.App = a
	// The machine may be busy with other tests.
	a.API.TimeLimit = 10 * time.Minute
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		if t.Failed() && os.Getenv("FANFARE_TEST_LOG") != "" {
			t.Log(w.Log.String())
		}
	})
	return w
}

// useSandbox configures the service's sandbox as the address of every platform,
// with an OAuth client for each. Tests must not reach a real platform.
func (w *Service) useSandbox(c *app.Config) {
	outside := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if w.disconnected.Load() {
			panic(http.ErrAbortHandler)
		}
		w.Sandbox().ServeHTTP(rw, r)
	}))
	w.T.Cleanup(outside.Close)
	w.Platforms = outside.URL
	c.OAuth, c.PlatformURLs = map[string]connection.OAuthClient{}, map[string]string{}
	for _, p := range (&sandbox.Server{}).Addresses() {
		c.OAuth[p.Platform] = connection.OAuthClient{ID: "client", Secret: secret.New("client-secret")}
		c.PlatformURLs[p.Platform] = outside.URL + p.Prefix
	}
}

// DisconnectPlatforms makes the platforms abort every call, or answer again.
func (w *Service) DisconnectPlatforms(off bool) { w.disconnected.Store(off) }

// Consent grants consent at a platform as a person would. It returns the path
// that the platform redirects to.
func (w *Service) Consent(authorize string) string {
	w.T.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	r, err := http.NewRequestWithContext(w.T.Context(), http.MethodGet, authorize, nil)
	if err != nil {
		w.T.Fatal(err)
	}
	res, err := client.Do(r)
	if err != nil {
		w.T.Fatal(err)
	}
	_ = res.Body.Close()
	back, ok := strings.CutPrefix(res.Header.Get("Location"), "https://fanfare.test")
	if !ok {
		w.T.Fatalf("got %d to %q want to be sent back", res.StatusCode, res.Header.Get("Location"))
	}
	return back
}

// Sandbox returns the sandbox that simulates the platforms.
func (w *Service) Sandbox() *sandbox.Server { return w.App.Platforms.Server() }

// Sync performs the next work of a connection: a sync run, if one is due.
func (t *Tenant) Sync(id string) {
	w := t.Service
	w.T.Helper()
	if _, err := w.App.Connections.Work(w.T.Context(), t.Workspace, ident.ID(id)); err != nil {
		w.T.Fatal(err)
	}
}

// Operator is the cause of changes by the test's set-up.
var Operator = storetest.Operator

// Tenant is a workspace with an owner and a client with its key.
type Tenant struct {
	*Client
	Service   *Service
	Workspace ident.ID
	Owner     string
}

// Tenant creates a workspace.
func (w *Service) Tenant(plan account.Plan) *Tenant {
	w.T.Helper()
	owner := "owner-" + strings.ToLower(rand.Text())[:8] + "@example.com"
	made, err := w.App.Accounts.CreateWorkspace(context.Background(), Operator, account.NewWorkspace{
		Name: "Workspace of " + owner, Plan: string(plan), Owner: owner, Currency: "USD", Timezone: "UTC",
	})
	if err != nil {
		w.T.Fatal(err)
	}
	return &Tenant{Client: w.Client(made.APIKey), Service: w, Workspace: made.WorkspaceID, Owner: owner}
}

// As adds a user with a role and returns a client with a key of that user.
func (t *Tenant) As(role account.Role, options ...func(*account.KeyOptions)) *Client {
	w := t.Service
	w.T.Helper()
	email := string(role) + "-" + strings.ToLower(rand.Text())[:8] + "@example.com"
	ctx := context.Background()
	if _, err := w.App.Accounts.AddMember(ctx, Operator, t.Workspace, email, string(role), false); err != nil {
		w.T.Fatal(err)
	}
	opt := account.KeyOptions{Name: "Test key of " + email}
	for _, o := range options {
		o(&opt)
	}
	secret, _, err := w.App.Accounts.CreateKey(ctx, Operator, t.Workspace, email, opt)
	if err != nil {
		w.T.Fatal(err)
	}
	return w.Client(secret)
}

// Client calls the service with a key.
type Client struct {
	Service *Service
	Key     string
	// From is the caller's address.
	From string
}

// Client returns a client; an empty key sends none.
func (w *Service) Client(key string) *Client {
	return &Client{Service: w, Key: key, From: "203.0.113.7:4711"}
}

// Response is an answer.
type Response struct {
	t      testing.TB
	Status int
	Header http.Header
	Body   []byte
}

// Do calls the service. The body is sent as JSON: a string or an io.Reader
// unchanged, any other value encoded. Headers are "Name: value"; an empty value
// removes the header. The exchange is checked against the contract.
func (c *Client) Do(method, target string, body any, headers ...string) *Response {
	t := c.Service.T
	t.Helper()
	raw := encodeBody(t, body)
	in, own := body.(io.Reader)
	if !own {
		in = bytes.NewReader(raw)
	}
	r := httptest.NewRequest(method, "https://fanfare.test"+target, in)
	if body == nil {
		r.Body, r.ContentLength = http.NoBody, 0
	} else {
		r.Header.Set("Content-Type", "application/json")
	}
	r.RequestURI, r.RemoteAddr = target, c.From
	if c.Key != "" {
		r.Header.Set("Authorization", "Bearer "+c.Key)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ":")
		r.Header.Del(name)
		if value = strings.TrimSpace(value); value != "" {
			r.Header.Set(name, value)
		}
	}
	return c.send(r, raw)
}

// DoWithHeader is Do with unchanged headers, which may be empty or repeated.
func (c *Client) DoWithHeader(method, target string, body any, headers http.Header) *Response {
	t := c.Service.T
	t.Helper()
	raw := encodeBody(t, body)
	r := httptest.NewRequest(method, "https://fanfare.test"+target, bytes.NewReader(raw))
	r.RequestURI, r.RemoteAddr = target, c.From
	r.Header.Set("Authorization", "Bearer "+c.Key)
	r.Header.Set("Content-Type", "application/json")
	maps.Copy(r.Header, headers)
	return c.send(r, raw)
}

func (c *Client) send(r *http.Request, body []byte) *Response {
	c.Service.T.Helper()
	rec := httptest.NewRecorder()
	if remote := c.Service.Remote; remote != nil {
		remote.send(c.Service.T, rec, r)
	} else {
		c.Service.App.Handler.ServeHTTP(rec, r)
	}
	res := &Response{t: c.Service.T, Status: rec.Code, Header: rec.Header(), Body: rec.Body.Bytes()}
	checkExchange(c.Service.T, r, body, res)
	return res
}

// send sends a request to the server and records its response.
func (s *Remote) send(t testing.TB, rec *httptest.ResponseRecorder, r *http.Request) {
	t.Helper()
	base, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	r.URL.Host, r.Host = base.Host, base.Host
	out := r.Clone(t.Context())
	out.RequestURI = ""
	res, err := s.Client.Do(out)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	maps.Copy(rec.Header(), res.Header)
	rec.Header().Del("Date") // the server adds it, not the handler
	rec.WriteHeader(res.StatusCode)
	if _, err := io.Copy(rec, res.Body); err != nil {
		t.Fatal(err)
	}
}

func encodeBody(t testing.TB, body any) []byte {
	t.Helper()
	switch b := body.(type) {
	case nil, io.Reader:
		return nil
	case string:
		return []byte(b)
	case []byte:
		return b
	}
	raw, err := json.Marshal(body, json.Deterministic(true))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// Want fails the test unless the answer has this status.
func (r *Response) Want(status int) *Response {
	r.t.Helper()
	if r.Status != status {
		r.t.Fatalf("got status %d, want %d: %s", r.Status, status, r.Body)
	}
	return r
}

// WantError fails the test unless the answer is this error.
func (r *Response) WantError(status int, code string) *Error {
	r.t.Helper()
	r.Want(status)
	e := r.Error()
	if e.Code != code {
		r.t.Fatalf("got code %s, want %s: %s", e.Code, code, r.Body)
	}
	return e
}

// Error is an error answer.
type Error struct {
	Code      string   `json:"code"`
	Message   string   `json:"message"`
	Details   []Detail `json:"details"`
	RequestID string   `json:"request_id"`
	DocURL    string   `json:"doc_url"`
}

// Detail is one detail of an error.
type Detail struct {
	Field   string         `json:"field"`
	In      string         `json:"in"`
	Code    string         `json:"code"`
	Message string         `json:"message"`
	Meta    map[string]any `json:"meta"`
}

// Error decodes an error answer.
func (r *Response) Error() *Error {
	r.t.Helper()
	var v struct {
		Error Error `json:"error"`
	}
	if err := json.Unmarshal(r.Body, &v); err != nil {
		r.t.Fatalf("read error: %v: %s", err, r.Body)
	}
	return &v.Error
}

// Data decodes the member data.
func (r *Response) Data(out any) {
	r.t.Helper()
	v := struct {
		Data any `json:"data"`
	}{out}
	if err := json.Unmarshal(r.Body, &v); err != nil {
		r.t.Fatalf("read data: %v: %s", err, r.Body)
	}
}

// Record decodes one record.
func (r *Response) Record() map[string]any {
	r.t.Helper()
	var m map[string]any
	r.Data(&m)
	return m
}

// ID returns the id of the record.
func (r *Response) ID() string {
	r.t.Helper()
	id, _ := r.Record()["id"].(string)
	return id
}

// List is the answer of a list.
type List struct {
	Data       []map[string]any `json:"data"`
	HasMore    bool             `json:"has_more"`
	NextCursor *string          `json:"next_cursor"`
}

// List decodes a list.
func (r *Response) List() *List {
	r.t.Helper()
	var l List
	if err := json.Unmarshal(r.Body, &l); err != nil {
		r.t.Fatalf("read list: %v: %s", err, r.Body)
	}
	return &l
}
