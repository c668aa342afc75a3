// Package console is the door for people: it signs them in, shows them the
// console that is built from web/, answers its private API under /console/api,
// and lets them call the operations of the contract under /console/v1 without
// a key. It holds no rules of the business; those are in the slices. API keys
// open nothing here, and the cookie opens nothing under /v1.
package console

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"fanfare/internal/account"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/httpapi"
	"fanfare/internal/ident"
	"fanfare/internal/record"
	"fanfare/internal/secret"
	"fanfare/internal/signin"
)

// Deps is everything the door needs.
type Deps struct {
	API      *httpapi.API
	Accounts *account.Service
	SignIn   *signin.Service
	// Mail is nil where links are shown instead of sent.
	Mail      Mail
	Audit     Audit
	Providers Providers
	// ModelSpent is what a workspace has spent on models in a month such as
	// 2026-11, in millionths of a US dollar.
	ModelSpent func(ctx context.Context, workspace ident.ID, month string) (int64, error)
	// OIDC is what the single sign-on button says, empty without one.
	OIDC string
	// Authority is the file of the authority that the server's certificate is
	// from, empty where clients know it anyway.
	Authority string
	Build     string
	// MaxWorkspaces is how many workspaces a person may own and still create
	// others.
	MaxWorkspaces int64
	Now           func() time.Time
	Log           *slog.Logger
}

// Mail sends links to people.
type Mail interface {
	Invite(ctx context.Context, to, workspace, by string, link signin.Link) error
	Reset(ctx context.Context, to string, link signin.Link) error
}

// Audit reads the log of who did what.
type Audit interface {
	// Entries returns entries before a number, 0 for the end, whose action
	// begins with a word, the latest first.
	Entries(ctx context.Context, workspace ident.ID, before int64, action string, most int) ([]AuditEntry, error)
}

// AuditEntry is one line of the audit log.
type AuditEntry struct {
	Seq       int64         `json:"seq"`
	At        clock.Instant `json:"at"`
	Action    string        `json:"action"`
	Actor     record.Actor  `json:"actor"`
	Target    ident.ID      `json:"target"`
	Address   string        `json:"ip"`
	RequestID ident.ID      `json:"request_id"`
}

// Providers are the language models that a workspace can use.
type Providers interface {
	List(ctx context.Context, workspace ident.ID) ([]Provider, error)
	Set(ctx context.Context, cause record.Cause, p Provider, key secret.Text) error
	Remove(ctx context.Context, cause record.Cause, kind string) error
}

// Provider is a language model. Scope says whose it is: the workspace's own,
// or everybody's.
type Provider struct {
	Kind     string           `json:"kind"`
	Name     string           `json:"name"`
	Scope    string           `json:"scope"`
	Settings ProviderSettings `json:"settings"`
}

// ProviderSettings are how a language model is used.
type ProviderSettings struct {
	BaseURL    string `json:"base_url"`
	Model      string `json:"model"`
	ImageModel string `json:"image_model"`
	Default    bool   `json:"default"`
	// Priced says that its price is known.
	Priced bool `json:"priced"`
}

// Scopes of providers.
const (
	ScopeWorkspace = "workspace"
	ScopeServer    = "server"
)

// Console answers browsers.
type Console struct {
	Deps
	routes map[string]map[string]*route
	files  map[string]*file
	origin *http.CrossOriginProtection
	// sending are mails that no answer waits for.
	sending sync.WaitGroup
}

// New makes the door.
func New(d Deps) (*Console, error) {
	files, err := built()
	if err != nil {
		return nil, err
	}
	c := &Console{Deps: d, origin: http.NewCrossOriginProtection(), routes: map[string]map[string]*route{}, files: files}
	table := c.table()
	for i := range table {
		r := &table[i]
		if c.routes[r.path] == nil {
			c.routes[r.path] = map[string]*route{}
		}
		c.routes[r.path][r.method] = r
	}
	return c, nil
}

// Wait returns when the mails are out that no answer waits for.
func (c *Console) Wait() { c.sending.Wait() }

// ServeHTTP answers what is for people, and gives everything else to the API.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	at := r.URL.EscapedPath()
	switch {
	case strings.HasPrefix(at, "/v1/"):
		c.API.ServeHTTP(w, r)
	case strings.HasPrefix(at, "/console/"):
		c.API.Answer(w, r, func(ctx context.Context, call *httpapi.Call) error { return c.serve(ctx, call, at) })
	case strings.HasPrefix(at, connection.CallbackPath):
		c.API.ServeGrant(w, r, c.holds(r))
	default:
		f, status := c.find(r, at), http.StatusOK
		if f == nil && httpapi.ForPeople(r) && !c.API.Serves(at) && !strings.HasPrefix(at, "/docs/") {
			// The console says that there is no such page.
			f, status = c.files[index], http.StatusNotFound
		}
		if f == nil {
			c.API.ServeHTTP(w, r)
			return
		}
		c.serveFile(w, r, f, status)
	}
}

// holds returns the session that a browser holds, empty for none.
func (c *Console) holds(r *http.Request) ident.ID {
	session, err := c.SignIn.Open(r.Context(), token(r), from(r))
	if err != nil || session == nil {
		return ""
	}
	return session.ID
}
