package signin_test

import (
	"crypto/rand"
	"errors"
	"log/slog"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"

	"fanfare/internal/account"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/page"
	"fanfare/internal/record"
	"fanfare/internal/seal"
	"fanfare/internal/secret"
	"fanfare/internal/signin"
	"fanfare/internal/store/sqlitetest"
	"fanfare/internal/store/storetest"
)

const (
	origin = "https://console.example.com"
	owner  = "owner@example.com"
	// good is a valid password.
	good = "correct horse battery"
)

var (
	operator = record.Cause{Actor: record.Actor{Type: record.ActorSystem, Name: "operator"}}
	home     = signin.From{Address: netip.MustParseAddr("203.0.113.7"), Agent: "browser"}
	away     = signin.From{Address: netip.MustParseAddr("198.51.100.9"), Agent: "other"}
)

// seeds seals with a real keyring.
type seeds struct{ ring *seal.Ring }

func (s seeds) Seal(user ident.ID, field string, plain secret.Text) (string, error) {
	return s.ring.Seal(seal.Context{Workspace: "people", Record: string(user), Field: field}, plain)
}

func (s seeds) Open(user ident.ID, field, sealed string) (secret.Text, error) {
	return s.ring.Open(seal.Context{Workspace: "people", Record: string(user), Field: field}, sealed)
}

// fixture is the service on a real store, with a workspace and its owner.
type fixture struct {
	*storetest.Fixture
	*signin.Service
	issuer *issuer
	sealer *page.Sealer
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	e := sqlitetest.Open(t)
	ring, _, err := seal.OpenOrCreate(filepath.Join(t.TempDir(), "master.key"), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	sealer, err := page.NewSealer([][]byte{make([]byte, page.KeySize)}, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	h := &fixture{Fixture: storetest.NewFixture(t, e), issuer: &issuer{}, sealer: sealer}
	h.restart(seeds{ring})
	h.HashCheaply()
	t.Cleanup(func() { h.Wait() })
	return h
}

// restart returns the service of a new process on the same store.
func (h *fixture) restart(s signin.Seal) {
	h.Service = signin.New(signin.Deps{
		Store: h.DB.SignIn(), Seal: s, Issuer: h.issuer, Roles: account.Roles, Now: h.Clock.Now, Random: rand.Reader, Cores: 2,
		Origin: func() string { return origin }, Log: slog.New(slog.DiscardHandler), SealTicket: h.sealer.SealBytes, OpenTicket: h.sealer.OpenBytes,
	})
}

func (h *fixture) must(err error) {
	h.T.Helper()
	if err != nil {
		h.T.Fatal(err)
	}
}

// wants checks that err is a fault with the code and, if not empty, the detail
// code.
func (h *fixture) wants(err error, code fault.Code, detail string) {
	h.T.Helper()
	var f *fault.Error
	if !errors.As(err, &f) || f.Code != code {
		h.T.Fatalf("got %v want %s", err, code)
	}
	if detail == "" {
		return
	}
	for _, d := range f.Details {
		if d.Code == detail || d.Field == detail {
			return
		}
	}
	h.T.Fatalf("got details %+v want %s", f.Details, detail)
}

// token returns the part of a link after the #.
func (h *fixture) token(l signin.Link, err error) string {
	h.T.Helper()
	h.must(err)
	before, token, ok := strings.Cut(l.URL, "#")
	if !ok || before != origin+"/link" || len(token) != 43 {
		h.T.Fatalf("got link %s", l.URL)
	}
	return token
}

// enters checks that a sign-in succeeds without a second factor.
func (h *fixture) enters(r signin.Result, err error) *signin.Session {
	h.T.Helper()
	h.must(err)
	if r.Token == "" || r.Ticket != "" {
		h.T.Fatalf("got %+v want a session", r)
	}
	return h.session(r.Token)
}

func (h *fixture) session(token string) *signin.Session {
	h.T.Helper()
	s, err := h.Open(h.T.Context(), token, home)
	h.must(err)
	if s == nil {
		h.T.Fatal("got no session")
	}
	return s
}

// closed checks that a token has no session.
func (h *fixture) closed(token string) {
	h.T.Helper()
	if s, err := h.Open(h.T.Context(), token, home); err != nil || s != nil {
		h.T.Fatalf("got %+v, %v want no session", s, err)
	}
}

// settle gives a user the good password and a session.
func (h *fixture) settle(email string) (token string, s *signin.Session) {
	h.T.Helper()
	link := h.token(h.Reset(h.T.Context(), operator, email))
	r, err := h.FollowLink(h.T.Context(), link, "", good, home)
	h.must(err)
	return r.Token, h.session(r.Token)
}

// member adds a member who cannot sign in.
func (h *fixture) member(email string, workspace ident.ID) ident.ID {
	h.T.Helper()
	m, err := h.Accounts.AddMember(h.T.Context(), operator, workspace, email, "editor", false)
	h.must(err)
	return m.ID
}

// audited counts the entries of an action in a workspace.
func (h *fixture) audited(want int64, workspace ident.ID, action string) {
	h.T.Helper()
	h.Wait()
	h.Count(want, `SELECT count(*) FROM audit WHERE workspace_id = $1 AND entry LIKE $2`, string(workspace), `%"action":"`+action+`"%`)
}
