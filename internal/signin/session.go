package signin

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/record"
)

// How long things last.
const (
	// IdleLife and SessionLife end a session: so long after its last use, and
	// so long after the sign-in whatever happens.
	IdleLife    = 12 * time.Hour
	SessionLife = 7 * 24 * time.Hour
	// ProofLife is how long somebody counts as proved.
	ProofLife = 15 * time.Minute
	// usedEvery is how often a last use is written down.
	usedEvery = time.Minute
)

// Ways of getting in, as sessions show them.
const (
	MethodPassword = "password"
	MethodPasskey  = "passkey"
	MethodOIDC     = "oidc"
	MethodLink     = "link"
)

// Session is somebody who is in.
type Session struct {
	ID          ident.ID
	UserID      ident.ID
	WorkspaceID ident.ID
	Method      string
	CreatedAt   clock.Instant
	UsedAt      clock.Instant
	// ExpiresAt is when it ends whatever happens.
	ExpiresAt clock.Instant
	// ProvedAt is when its holder last proved who he is; the sign-in counts.
	ProvedAt clock.Instant
	Address  string
	Agent    string
}

// Proved reports whether the holder has proved lately who he is.
func (s *Session) Proved(now time.Time) bool { return clock.At(now) < s.ProvedUntil() }

// ProvedUntil is when the holder has to prove again who he is.
func (s *Session) ProvedUntil() clock.Instant { return s.ProvedAt.Add(ProofLife) }

// Live reports whether the session has not ended by itself.
func (s *Session) Live(now time.Time) bool {
	at := clock.At(now)
	return at < s.ExpiresAt && at < s.UsedAt.Add(IdleLife)
}

// by is the session's holder as the cause of a change.
func (s *Service) by(ctx context.Context, session *Session) (*Person, record.Cause, error) {
	p, err := s.person(ctx, By{ID: session.UserID})
	if err != nil {
		return nil, record.Cause{}, err
	}
	return p, p.actor(session.Address), nil
}

// Open returns who holds a token: nil for nobody, after the end of the session
// too. Somebody who was taken out of the workspace goes on in another one; who
// has none left is told so by a fault.
//
// Choice: the session is read anew for every request, so that its end takes
// effect at once on every node; a console makes few requests.
func (s *Service) Open(ctx context.Context, token string, from From) (*Session, error) {
	if token == "" {
		return nil, nil
	}
	session, err := s.Store.Session(ctx, hashOf(token))
	if err != nil || session == nil || !session.Live(s.Now()) {
		return nil, err
	}
	if session.WorkspaceID == "" {
		if err := s.elsewhere(ctx, session); err != nil {
			return nil, err
		}
	}
	if now := s.now(); session.UsedAt.Add(usedEvery) <= now {
		if err := s.Store.Used(ctx, session.ID, now, from.address(), from.agent()); err != nil {
			return nil, fmt.Errorf("note use of session: %w", err)
		}
		session.UsedAt = now
	}
	// What changes from here on comes from there.
	session.Address, session.Agent = from.address(), from.agent()
	return session, nil
}

// elsewhere leads a session to another workspace of its holder.
func (s *Service) elsewhere(ctx context.Context, session *Session) error {
	p, err := s.person(ctx, By{ID: session.UserID})
	if err != nil {
		return err
	}
	if len(p.Workspaces) == 0 {
		return nowhere()
	}
	return s.SwitchWorkspace(ctx, session, p.Workspaces[0])
}

// SwitchWorkspace leads a session to another workspace. Only an active member
// of it gets there.
func (s *Service) SwitchWorkspace(ctx context.Context, session *Session, workspace ident.ID) error {
	err := s.save(ctx, Change{User: session.UserID, Switch: &Switch{session.ID, workspace}})
	if errors.Is(err, ErrGone) {
		return fault.Missing().Because(err)
	}
	if err == nil {
		session.WorkspaceID = workspace
	}
	return err
}

// enter lets a person in, together with the change that led there. Where the
// person has a second step and needs it, a ticket for that comes first.
func (s *Service) enter(ctx context.Context, p *Person, method string, from From, needsStep bool, c Change) (Result, error) {
	if len(p.Workspaces)+len(c.Join) == 0 {
		return Result{}, nowhere()
	}
	c.User = p.ID
	if c.Cause.Actor.Type == "" {
		c.Cause = p.actor(from.address())
	}
	if t, err := p.totp(); err != nil {
		return Result{}, err
	} else if needsStep && t != nil && t.Confirmed {
		ticket, err := s.ticket(&c, ticketStep, stepTicket{User: p.ID, Method: method})
		if err != nil {
			return Result{}, err
		}
		return Result{Ticket: ticket}, s.save(ctx, c)
	}
	token, hash := s.newToken()
	now := s.now()
	open := Session{
		ID: s.newID(sessionPrefix), UserID: p.ID, Method: method, CreatedAt: now, UsedAt: now, ProvedAt: now,
		ExpiresAt: now.Add(SessionLife), Address: from.address(), Agent: from.agent(),
	}
	if len(c.Join) > 0 {
		open.WorkspaceID = c.Join[0].Workspace
	} else {
		open.WorkspaceID = p.Workspaces[0]
	}
	c.Open = &NewSession{open, hash}
	if c.Action == "" {
		c.Action = "signin"
	}
	if err := s.save(ctx, c); err != nil {
		return Result{}, err
	}
	return Result{Token: token, Device: s.deviceFor(p, from, &c)}, nil
}

// failed notes an attempt in the audit logs of a known person, unless there
// are so many that one more tells nothing and only fills the log. It is written
// behind the answer: otherwise the time that it takes would tell who is known.
func (s *Service) failed(ctx context.Context, p *Person, from From) {
	if p == nil || s.failures.take(s.Now(), limit{name: string(p.ID), most: failuresNoted}) != nil {
		return
	}
	ctx = context.WithoutCancel(ctx)
	s.notes.Go(func() {
		cause := record.Cause{Actor: record.System, Address: from.address()}
		if err := s.save(ctx, Change{Cause: cause, Action: "signin.failed", User: p.ID}); err != nil {
			s.Log.Error("note failed sign-in", "user_id", p.ID, "error", err)
		}
	})
}

// Sessions lists where a person is in, the latest sign-in first.
func (s *Service) Sessions(ctx context.Context, user ident.ID) ([]Session, error) {
	all, err := s.Store.Sessions(ctx, user)
	if err != nil {
		return nil, err
	}
	live := []Session{}
	for _, session := range all {
		if session.Live(s.Now()) {
			live = append(live, session)
		}
	}
	return live, nil
}

// Revoke ends a session of the same person. One that is not there is not
// found.
func (s *Service) Revoke(ctx context.Context, session *Session, id ident.ID) error {
	_, cause, err := s.by(ctx, session)
	if err != nil {
		return err
	}
	err = s.save(ctx, Change{Cause: cause, Action: "session.revoke", Target: id, User: session.UserID, End: &End{Only: id}})
	if errors.Is(err, ErrGone) {
		return fault.Missing().Because(err)
	}
	return err
}

// SignOut ends the session of a token, if there is one.
func (s *Service) SignOut(ctx context.Context, token string) error {
	session, err := s.Store.Session(ctx, hashOf(token))
	if err != nil || session == nil {
		return err
	}
	p, cause, err := s.by(ctx, session)
	if err != nil {
		return err
	}
	err = s.save(ctx, Change{Cause: cause, Action: "signout", User: p.ID, End: &End{Only: session.ID}})
	if errors.Is(err, ErrGone) {
		return nil
	}
	return err
}

// EndAll ends all sessions of a person.
func (s *Service) EndAll(ctx context.Context, user ident.ID) error {
	return s.save(ctx, Change{Cause: record.Cause{Actor: record.System}, Action: "session.revoke_all", User: user, End: &End{}})
}

// Ways are what a person can sign in with.
type Ways struct {
	Password bool
	TOTP     bool
	Passkeys int
	// SSO says that an identity elsewhere is linked.
	SSO bool
}

// Ways returns what a person can sign in with.
func (s *Service) Ways(ctx context.Context, user ident.ID) (Ways, error) {
	p, err := s.person(ctx, By{ID: user})
	if err != nil {
		return Ways{}, err
	}
	return p.ways()
}

func (p *Person) ways() (Ways, error) {
	t, err := p.totp()
	w := Ways{TOTP: t != nil && t.Confirmed}
	for _, c := range p.Credentials {
		switch c.Kind {
		case kindPassword:
			w.Password = true
		case kindPasskey:
			w.Passkeys++
		case kindIdentity:
			w.SSO = true
		}
	}
	return w, err
}

// any reports whether there is a way to sign in at all.
func (w Ways) any() bool { return w.Password || w.Passkeys > 0 || w.SSO }

// Rename changes how a person is shown, in every workspace.
func (s *Service) Rename(ctx context.Context, session *Session, name string) error {
	name, problems := checkName(name)
	if problems != nil {
		return fault.Invalid(problems)
	}
	_, cause, err := s.by(ctx, session)
	if err != nil {
		return err
	}
	return s.save(ctx, Change{Cause: cause, Action: "user.rename", User: session.UserID, Name: name})
}

// Sweep deletes what has ended by itself.
func (s *Service) Sweep(ctx context.Context) error {
	now := s.now()
	return s.Store.Sweep(ctx, now, now.Add(-IdleLife))
}

// from is where the session's holder is.
func (s *Session) from() From {
	a, _ := netip.ParseAddr(s.Address)
	return From{Address: a, Agent: s.Agent, session: s.ID}
}
