package storetest

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"fanfare/internal/account"
	"fanfare/internal/clock"
	"fanfare/internal/ident"
	"fanfare/internal/record"
	"fanfare/internal/signin"
	"fanfare/internal/store"
)

// newHash is the hash of a new token.
func newHash() signin.Hash {
	return sha256.Sum256([]byte(ident.New("tok", time.Unix(0, 0), rand.Reader)))
}

// invitation is a link into the workspace.
func (w *Fixture) invitation(email string) *signin.Token {
	return &signin.Token{
		Hash: newHash(), ID: ident.New("lnk", w.Clock.Now(), rand.Reader), Kind: "invite", WorkspaceID: w.Workspace, Subject: email,
		Doc: []byte(`{"role":"viewer"}`), CreatedAt: w.Now(), ExpiresAt: w.Now().Add(time.Hour),
	}
}

// session returns a new session of a user in the workspace.
func (w *Fixture) session(user ident.ID) *signin.NewSession {
	now := w.Now()
	return &signin.NewSession{Hash: newHash(), Session: signin.Session{
		ID: ident.New("ses", w.Clock.Now(), rand.Reader), UserID: user, WorkspaceID: w.Workspace, Method: "password",
		CreatedAt: now, UsedAt: now, ExpiresAt: now.Add(7 * 24 * time.Hour), ProvedAt: now, Address: "203.0.113.7", Agent: "browser",
	}}
}

// people is a change of people, in the audit logs of all their workspaces.
func (w *Fixture) people(c signin.UserChange) signin.UserChange {
	c.At = w.Now()
	c.Cause.Actor = record.Actor{Type: record.ActorUser, ID: c.User, Name: "Owner"}
	return c
}

func (w *Fixture) signInSteps() []Step {
	s := w.DB.SignIn()
	var invited *signin.Token
	var in *signin.NewSession
	var p *signin.User
	password := func(rev int64) signin.Credential {
		return signin.Credential{User: p.ID, Kind: "password", ID: string(p.ID), Rev: rev, Doc: []byte("hash")}
	}
	step := func(name string, c func() signin.UserChange) Step {
		return Step{name, false, func(ctx context.Context) error { return s.Save(ctx, w.people(c())) }}
	}
	read := func(name string, f func(ctx context.Context) error) Step { return Step{name, false, f} }
	return []Step{
		read("signin.workspaces", func(ctx context.Context) error {
			_, err := w.Accounts.WorkspacesOf(ctx, w.Owner)
			return errors.Join(err, second(w.Accounts.CallerFor(ctx, w.Workspace, w.Owner)), second(w.Accounts.KeyUse(ctx, w.Workspace, 30)))
		}),
		step("signin.invite", func() signin.UserChange {
			invited = w.invitation("joiner@example.com")
			return signin.UserChange{Cause: record.Cause{Workspace: w.Workspace}, Action: "invitation.create", Target: invited.ID, Keep: invited}
		}),
		read("signin.who", func(ctx context.Context) (err error) {
			p, err = s.Person(ctx, signin.UserQuery{Email: "joiner@example.com"})
			return errors.Join(err, second(s.Token(ctx, invited.Hash)), second(s.Invitations(ctx, w.Workspace, "")), second(s.Invitations(ctx, "", "joiner@example.com")))
		}),
		step("signin.accept", func() signin.UserChange {
			j := signin.Join{Workspace: w.Workspace, Role: "viewer", Email: "joiner@example.com", Forget: w.Now()}
			if p == nil || p.Name == "" {
				p = &signin.User{ID: ident.New(ident.User, w.Clock.Now(), rand.Reader)}
				j.New = &signin.NewUser{ID: p.ID, Name: "Joiner"}
			}
			in = w.session(p.ID)
			return signin.UserChange{
				Action: "invitation.accept", User: p.ID, Burn: []signin.Hash{invited.Hash}, Join: []signin.Join{j}, Name: "Jo",
				Put:  []signin.Credential{password(0), {User: p.ID, Kind: "identity", ID: "https://id.example.com joiner", Doc: []byte("{}"), Sealed: "sealed"}},
				Open: in,
			}
		}),
		read("signin.read", func(ctx context.Context) error {
			_, err := s.Session(ctx, in.Hash)
			return errors.Join(err, second(s.Sessions(ctx, p.ID)), second(s.Person(ctx, signin.UserQuery{ID: p.ID})), second(s.Person(ctx, signin.UserQuery{Identity: "https://id.example.com joiner"})), second(s.HasCredentials(ctx)))
		}),
		read("signin.used", func(ctx context.Context) error { return s.Used(ctx, in.ID, w.Now(), "203.0.113.8", "other") }),
		step("signin.ticket", func() signin.UserChange {
			invited = &signin.Token{Hash: newHash(), ID: "lnk_1", Kind: "step", Subject: newHash().String(), Doc: []byte("{}"), CreatedAt: w.Now(), ExpiresAt: w.Now().Add(time.Minute)}
			return signin.UserChange{Keep: invited}
		}),
		step("signin.prove", func() signin.UserChange {
			hash := newHash()
			return signin.UserChange{
				Spend:  &signin.Token{Hash: hash, ID: "lnk_2", Kind: "spent", Subject: hash.String(), Doc: []byte("{}"), CreatedAt: w.Now(), ExpiresAt: w.Now()},
				Action: "session.prove", User: p.ID, Try: &invited.Hash, Put: []signin.Credential{password(1)}, Proved: in.ID,
				Switch: &signin.Switch{Session: in.ID, Workspace: w.Workspace}, End: &signin.End{Except: in.ID},
			}
		}),
		read("signin.rewrap", func(ctx context.Context) error {
			_, err := s.Rewrap(ctx, func(text string) (string, error) { return text + "!", nil })
			return err
		}),
		step("signin.leave", func() signin.UserChange {
			return signin.UserChange{
				Action: "signout", User: p.ID, End: &signin.End{Only: in.ID}, Burn: []signin.Hash{invited.Hash},
				Drop: []signin.Credential{password(2), {Kind: "identity", ID: "https://id.example.com joiner", Rev: 1}},
			}
		}),
		step("signin.invite again", func() signin.UserChange {
			invited = w.invitation("joiner@example.com")
			return signin.UserChange{Keep: invited}
		}),
		step("signin.withdraw", func() signin.UserChange {
			return signin.UserChange{Cause: record.Cause{Workspace: w.Workspace}, Action: "invitation.withdraw", Withdraw: invited.ID}
		}),
		read("signin.left", func(ctx context.Context) error {
			return second(w.Accounts.Remove(ctx, Operator, w.Workspace, "joiner@example.com"))
		}),
		read("audit.read", func(ctx context.Context) error {
			return second(w.DB.AuditEntries(ctx, w.Workspace, 0, "", 50))
		}),
		read("signin.sweep", func(ctx context.Context) error { return s.Sweep(ctx, w.Now(), w.Now()) }),
	}
}

// second is the error of a call whose result does not matter.
func second[T any](_ T, err error) error { return err }

// recordsSignIn checks what each part of a change promises.
func recordsSignIn(t *testing.T, w *Fixture) {
	s := w.DB.SignIn()
	save := func(want error, c signin.UserChange) {
		t.Helper()
		if err := s.Save(t.Context(), w.people(c)); !errors.Is(err, want) {
			t.Fatalf("got %v want %v", err, want)
		}
	}
	other, _, _ := w.AddWorkspace("owner@example.com")
	foreign, stranger, _ := w.AddWorkspace("stranger@example.com")
	in := w.session(w.Owner)
	save(nil, signin.UserChange{User: w.Owner, Action: "signin", Open: in})
	for _, id := range []ident.ID{w.Workspace, other} {
		w.Count(1, `SELECT count(*) FROM audit WHERE workspace_id = $1 AND entry LIKE '%"action":"signin"%'`, string(id))
	}
	w.Count(0, `SELECT count(*) FROM audit WHERE workspace_id = $1 AND entry LIKE '%"action":"signin"%'`, string(foreign))

	// A session switches only to workspaces of its user.
	save(signin.ErrTokenUsed, signin.UserChange{User: w.Owner, Switch: &signin.Switch{Session: in.ID, Workspace: foreign}})
	save(signin.ErrTokenUsed, signin.UserChange{User: stranger, Switch: &signin.Switch{Session: in.ID, Workspace: foreign}})
	save(nil, signin.UserChange{User: w.Owner, Switch: &signin.Switch{Session: in.ID, Workspace: other}})
	w.wantSession(in.Hash, other)
	w.must(second(w.Accounts.AddMember(t.Context(), Operator, other, "second@example.com", "owner", false)))
	w.must(second(w.Accounts.Remove(t.Context(), Operator, other, "owner@example.com")))
	w.wantSession(in.Hash, "")
	save(signin.ErrTokenUsed, signin.UserChange{User: w.Owner, Switch: &signin.Switch{Session: in.ID, Workspace: other}})

	// A user cannot end or prove the session of another user.
	save(signin.ErrTokenUsed, signin.UserChange{User: stranger, End: &signin.End{Only: in.ID}})
	save(nil, signin.UserChange{User: stranger, Proved: in.ID, End: &signin.End{}})
	w.wantSession(in.Hash, "")

	// Credentials change as they were read or not at all.
	c := signin.Credential{Kind: "password", ID: string(w.Owner), Doc: []byte("one")}
	save(nil, signin.UserChange{User: w.Owner, Put: []signin.Credential{c}})
	save(record.ErrRace, signin.UserChange{User: w.Owner, Put: []signin.Credential{c}, Open: w.session(w.Owner)})
	c.Rev = 1
	save(record.ErrRace, signin.UserChange{User: stranger, Put: []signin.Credential{c}})
	save(nil, signin.UserChange{User: w.Owner, Put: []signin.Credential{c}})
	save(record.ErrRace, signin.UserChange{User: w.Owner, Put: []signin.Credential{c}})
	save(record.ErrRace, signin.UserChange{User: w.Owner, Drop: []signin.Credential{c}})
	w.Count(1, `SELECT count(*) FROM session`)
	if r, err := w.DB.VerifyAudit(t.Context(), func(int64) {}); err != nil || len(r.Faults) > 0 {
		t.Errorf("the audit log: got %+v, %v", r, err)
	}
}

// wantSession checks that a session is in a workspace.
func (w *Fixture) wantSession(hash signin.Hash, workspace ident.ID) {
	w.T.Helper()
	got, err := w.DB.SignIn().Session(w.T.Context(), hash)
	w.must(err)
	if got == nil || got.WorkspaceID != workspace {
		w.T.Fatalf("got session %+v want one in %q", got, workspace)
	}
}

// recordsJoin checks users who join and join again.
func recordsJoin(t *testing.T, w *Fixture) {
	s := w.DB.SignIn()
	join := func(user ident.ID, role string, made *signin.NewUser) error {
		return s.Save(t.Context(), w.people(signin.UserChange{User: user, Action: "invitation.accept", Join: []signin.Join{{
			Workspace: w.Workspace, Role: role, Email: "guest@example.com", New: made, Forget: w.Now().Add(-30 * 24 * time.Hour),
		}}}))
	}
	guest := &signin.NewUser{ID: ident.New(ident.User, w.Clock.Now(), rand.Reader), Name: "Guest"}
	w.must(join(guest.ID, "editor", guest))
	again := &signin.NewUser{ID: ident.New(ident.User, w.Clock.Now(), rand.Reader), Name: "Impostor"}
	if err := join(again.ID, "owner", again); !errors.Is(err, record.ErrRace) {
		t.Errorf("a second user of one e-mail: got %v want a race", err)
	}
	w.must(join(guest.ID, "owner", nil))
	w.wantRole(guest.ID, account.Editor, "an active member keeps the role")

	secret, _, err := w.Accounts.CreateKey(t.Context(), Operator, w.Workspace, "guest@example.com", account.KeyOptions{Name: "Key"})
	w.must(err)
	leave := func() { w.must(second(w.Accounts.Remove(t.Context(), Operator, w.Workspace, "guest@example.com"))) }
	leave()
	w.Clock.Advance(29 * 24 * time.Hour)
	w.must(join(guest.ID, "viewer", nil))
	w.wantRole(guest.ID, account.Viewer, "who comes back has the new role")
	if c := w.caller(secret); c.Key.RevokedAt != nil {
		t.Error("after 29 days: got a revoked key want a live one")
	}
	leave()
	w.Clock.Advance(30 * 24 * time.Hour)
	w.must(join(guest.ID, "viewer", nil))
	if c := w.caller(secret); c.Key.RevokedAt == nil || c.Key.Reason != "owner_inactive" {
		t.Errorf("after 30 days: got key %+v want a revoked one", c.Key)
	}
}

func (w *Fixture) wantRole(user ident.ID, want account.Role, why string) {
	w.T.Helper()
	c, err := w.Accounts.CallerFor(w.T.Context(), w.Workspace, user)
	w.must(err)
	if c.Role != want || c.Key.ID != "" {
		w.T.Errorf("%s: got %s with key %q want %s without", why, c.Role, c.Key.ID, want)
	}
}

// recordsTokens lets many callers use a token that works once.
func recordsTokens(t *testing.T, w *Fixture) {
	s := w.DB.SignIn()
	first, next := w.invitation("guest@example.com"), w.invitation("guest@example.com")
	for _, token := range []*signin.Token{first, next} {
		w.must(s.Save(t.Context(), w.people(signin.UserChange{Keep: token})))
	}
	if got, err := s.Token(t.Context(), first.Hash); err != nil || got != nil {
		t.Errorf("a replaced link: got %+v, %v want nothing", got, err)
	}
	got, err := s.Token(t.Context(), next.Hash)
	if err != nil || got == nil || got.WorkspaceName != "Workspace of owner@example.com" || got.Subject != "guest@example.com" || got.ID != next.ID {
		t.Fatalf("got link %+v, %v", got, err)
	}
	other, _, _ := w.AddWorkspace("other@example.com")
	if list, err := s.Invitations(t.Context(), other, ""); err != nil || len(list) != 0 {
		t.Errorf("another workspace's invitations: got %v, %v want none", list, err)
	}
	foreign := w.people(signin.UserChange{Cause: record.Cause{Workspace: other}, Action: "invitation.withdraw", Withdraw: next.ID})
	if err := s.Save(t.Context(), foreign); !errors.Is(err, signin.ErrTokenUsed) {
		t.Errorf("withdraw from another workspace: got %v want gone", err)
	}
	var tried, burnt atomic.Int64
	count := func(n *atomic.Int64, err error) {
		if err == nil {
			n.Add(1)
		} else if !errors.Is(err, signin.ErrTokenUsed) {
			t.Error(err)
		}
	}
	together(8, func(int) { count(&tried, s.Save(t.Context(), w.people(signin.UserChange{Try: &next.Hash}))) })
	together(8, func(int) {
		count(&burnt, s.Save(t.Context(), w.people(signin.UserChange{User: w.Owner, Action: "signin", Burn: []signin.Hash{next.Hash}, Open: w.session(w.Owner)})))
	})
	if tried.Load() != signin.MaxTries || burnt.Load() != 1 {
		t.Errorf("got %d tries and %d uses want %d and 1", tried.Load(), burnt.Load(), signin.MaxTries)
	}
	w.Count(1, `SELECT count(*) FROM session`)
	var spent atomic.Int64
	hash := newHash()
	ticket := &signin.Token{Hash: hash, ID: "lnk_2", Kind: "spent", Subject: hash.String(), Doc: []byte("{}"), CreatedAt: w.Now(), ExpiresAt: w.Now().Add(time.Minute)}
	together(8, func(int) {
		count(&spent, s.Save(t.Context(), w.people(signin.UserChange{User: w.Owner, Action: "signin", Spend: ticket, Open: w.session(w.Owner)})))
	})
	if spent.Load() != 1 {
		t.Errorf("got %d uses of a ticket that the browser keeps, want 1", spent.Load())
	}
	w.Count(2, `SELECT count(*) FROM session`)
}

// recordsEnd checks that expired rows are deleted, and that backups contain
// neither sessions nor links.
func recordsEnd(t *testing.T, w *Fixture) {
	s := w.DB.SignIn()
	for i, used := range []time.Duration{0, time.Hour, 2 * time.Hour} {
		in := w.session(w.Owner)
		in.UsedAt, in.ExpiresAt = w.Now().Add(used), w.Now().Add(time.Duration(i+1)*time.Hour)
		token := w.invitation(fmt.Sprintf("guest-%d@example.com", i))
		token.ExpiresAt = in.ExpiresAt
		w.must(s.Save(t.Context(), w.people(signin.UserChange{User: w.Owner, Open: in, Keep: token})))
	}
	chunks := map[string]int{}
	w.must(store.Dump(t.Context(), w.Engine, func(c store.Chunk, _ int64) error { chunks[c.Table] += c.Rows; return nil }))
	if chunks["session"]+chunks["token"] != 0 || chunks["account_user"] == 0 {
		t.Errorf("got a backup with %v want neither sessions nor tokens", chunks)
	}
	for _, step := range []struct {
		now, idle             clock.Instant
		wantSessions, wantTkn int64
	}{
		{w.Now(), w.Now().Add(-time.Second), 3, 3},
		{w.Now(), w.Now(), 2, 3},
		{w.Now().Add(2 * time.Hour), w.Now(), 1, 1},
		{w.Now().Add(2 * time.Hour), w.Now().Add(2 * time.Hour), 0, 1},
	} {
		w.must(s.Sweep(t.Context(), step.now, step.idle))
		w.Count(step.wantSessions, `SELECT count(*) FROM session`)
		w.Count(step.wantTkn, `SELECT count(*) FROM token`)
	}
}
