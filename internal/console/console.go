// Package console is the HTTP layer for users: it signs them in, serves the
// console that is built from web/, implements its private API under
// /console/api, and serves the operations of the contract under /console/v1
// without a key. It contains no business rules; those are in the slices. API
// keys do not work here, and the session cookie does not work under /v1.
package console

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"fanfare/internal/account"
	"fanfare/internal/connection"
	"fanfare/internal/httpapi"
	"fanfare/internal/ident"
	"fanfare/internal/llm/provider"
	"fanfare/internal/record"
	"fanfare/internal/signin"
)

// Deps are the dependencies and settings of a Console.
type Deps struct {
	API      *httpapi.API
	Accounts *account.Service
	SignIn   *signin.Service
	// Mail is nil if links are shown instead of sent.
	Mail      Mail
	Audit     Audit
	Providers *provider.Service
	// ModelSpent returns a workspace's spend on models in a month such as
	// 2026-11, in millionths of a US dollar.
	ModelSpent func(ctx context.Context, workspace ident.ID, month string) (int64, error)
	// OIDC is the label of the single sign-on button, empty without single
	// sign-on.
	OIDC string
	// Authority is the file of the CA certificate, empty if clients trust the
	// server's certificate anyway.
	Authority string
	Build     string
	// MaxWorkspaces is the maximum number of workspaces that a user may own, 0
	// if only the operator creates workspaces.
	MaxWorkspaces int64
	Now           func() time.Time
	Log           *slog.Logger
}

// Mail sends links by email.
type Mail interface {
	Invite(ctx context.Context, to, workspace, by, link string, until time.Time) error
	Reset(ctx context.Context, to, link string, until time.Time) error
}

// Audit reads the audit log.
type Audit interface {
	// AuditEntries returns up to limit entries before a sequence number (0 for
	// the latest) whose action starts with the given prefix, latest first.
	AuditEntries(ctx context.Context, workspace ident.ID, before int64, action string, limit int) ([]record.AuditEntry, error)
}

// Console is the HTTP handler for browsers.
type Console struct {
	Deps
	routes map[string]map[string]*route
	files  map[string]*file
	origin *http.CrossOriginProtection
	// sending are the emails that are sent in the background.
	sending sync.WaitGroup
}

// New returns a Console with the given dependencies.
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

// Wait waits for the emails that are sent in the background.
func (c *Console) Wait() { c.sending.Wait() }

// ServeHTTP serves the console and its API, and passes all other requests to
// the API.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	at := r.URL.EscapedPath()
	switch {
	case strings.HasPrefix(at, "/v1/"):
		c.API.ServeHTTP(w, r)
	case strings.HasPrefix(at, "/console/"):
		c.API.Answer(w, r, func(ctx context.Context, call *httpapi.Call) error { return c.serve(ctx, call, at) })
	case strings.HasPrefix(at, connection.CallbackPath):
		c.API.ServeGrant(w, r, c.sessionID(r))
	default:
		f, status := c.find(r, at), http.StatusOK
		if f == nil && httpapi.WantsHTML(r) && !c.API.Serves(at) && !strings.HasPrefix(at, "/docs/") {
			// The console shows its own page for an unknown path.
			f, status = c.files[index], http.StatusNotFound
		}
		if f == nil {
			c.API.ServeHTTP(w, r)
			return
		}
		c.serveFile(w, r, f, status)
	}
}

// sessionID returns the id of the browser's session, empty if it has none.
func (c *Console) sessionID(r *http.Request) ident.ID {
	session, err := c.SignIn.Open(r.Context(), token(r), from(r))
	if err != nil || session == nil {
		return ""
	}
	return session.ID
}
