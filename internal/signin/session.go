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

// Lifetimes.
const (
	// A session ends IdleLife after its last use, and at the latest SessionLife
	// after the sign-in.
	IdleLife    = 12 * time.Hour
	SessionLife = 7 * 24 * time.Hour
	// ProofLife is how long an authentication counts as recent.
	ProofLife = 15 * time.Minute
	// usedEvery is the minimum time between two writes of a session's last use.
	usedEvery = time.Minute
)

// Sign-in methods, as sessions show them.
const (
	MethodPassword = "password"
	MethodPasskey  = "passkey"
	MethodOIDC     = "oidc"
	MethodLink     = "link"
)

// Session is the session of a signed-in user.
type Session struct {
	ID          ident.ID
	UserID      ident.ID
	WorkspaceID ident.ID
	Method      string
	CreatedAt   clock.Instant
	UsedAt      clock.Instant
	// ExpiresAt is when the session ends even if it is used.
	ExpiresAt clock.Instant
	// ProvedAt is when the user last authenticated, including the sign-in.
	ProvedAt clock.Instant
	Address  string
	Agent    string
}

// Proved reports whether the user authenticated recently.
func (s *Session) Proved(now time.Time) bool { return clock.At(now) < s.ProvedUntil() }

// ProvedUntil returns when the user has to authenticate again.
func (s *Session) ProvedUntil() clock.Instant { return s.ProvedAt.Add(ProofLife) }

// Live reports whether the session has not expired.
func (s *Session) Live(now time.Time) bool {
	at := clock.At(now)
	return at < s.ExpiresAt && at < s.UsedAt.Add(IdleLife)
}

// by returns the user of a session and the cause of the user's changes.
func (s *Service) by(ctx context.Context, session *Session) (*User, record.Cause, error) {
	p, err := s.person(ctx, UserQuery{ID: session.UserID})
	if err != nil {
		return nil, record.Cause{}, err
	}
	return p, p.actor(session.Address), nil
}

// Open returns the session of a token, nil if it does not exist or has expired.
// If the user was removed from the session's workspace, the session moves to
// another of the user's workspaces. If none is left, Open returns a fault.
//
// Choice: the session is read for every request, so that its end takes effect
// at once on every node; a console sends few requests.
func (s *Service) Open(ctx context.Context, token string, from From) (*Session, error) {
	if token == "" {
		return nil, nil
	}
	session, err := s.Store.Session(ctx, hashOf(token))
	if err != nil || session == nil || !session.Live(s.Now()) {
		return nil, err
	}
	if session.WorkspaceID == "" {
		if err := s.moveToFirstWorkspace(ctx, session); err != nil {
			return nil, err
		}
	}
	if now := s.now(); session.UsedAt.Add(usedEvery) <= now {
		if err := s.Store.Used(ctx, session.ID, now, from.address(), from.agent()); err != nil {
			return nil, fmt.Errorf("note use of session: %w", err)
		}
		session.UsedAt = now
	}
	// The causes of this request's changes have its address.
	session.Address, session.Agent = from.address(), from.agent()
	return session, nil
}

// moveToFirstWorkspace moves a session to the first of the user's workspaces.
func (s *Service) moveToFirstWorkspace(ctx context.Context, session *Session) error {
	p, err := s.person(ctx, UserQuery{ID: session.UserID})
	if err != nil {
		return err
	}
	if len(p.Workspaces) == 0 {
		return noWorkspace()
	}
	return s.SwitchWorkspace(ctx, session, p.Workspaces[0])
}

// SwitchWorkspace moves a session to another workspace. The user must be an
// active member of it.
func (s *Service) SwitchWorkspace(ctx context.Context, session *Session, workspace ident.ID) error {
	err := s.save(ctx, UserChange{User: session.UserID, Switch: &Switch{session.ID, workspace}})
	if errors.Is(err, ErrTokenUsed) {
		return fault.Missing().Because(err)
	}
	if err == nil {
		session.WorkspaceID = workspace
	}
	return err
}

// startSession creates a session and stores it together with the change c. If
// needsStep is true and the user has TOTP, it returns a ticket for the second
// factor instead.
func (s *Service) startSession(ctx context.Context, p *User, method string, from From, needsStep bool, c UserChange) (Result, error) {
	if len(p.Workspaces)+len(c.Join) == 0 {
		return Result{}, noWorkspace()
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

// recordFailure writes a failed sign-in to the audit logs of a known user, up
// to failuresNoted. It writes in the background, because the time of the write
// would reveal that the user exists.
func (s *Service) recordFailure(ctx context.Context, p *User, from From) {
	if p == nil || s.failures.countAttempt(s.Now(), limit{name: string(p.ID), most: failuresNoted}) != nil {
		return
	}
	ctx = context.WithoutCancel(ctx)
	s.notes.Go(func() {
		cause := record.Cause{Actor: record.System, Address: from.address()}
		if err := s.save(ctx, UserChange{Cause: cause, Action: "signin.failed", User: p.ID}); err != nil {
			s.Log.Error("failed sign-in not written to the audit log: check that the database is available", "user_id", p.ID, "error", err)
		}
	})
}

// Sessions lists the live sessions of a user, the latest sign-in first.
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

// Revoke ends a session of the same user. A missing session is a not_found
// fault.
func (s *Service) Revoke(ctx context.Context, session *Session, id ident.ID) error {
	_, cause, err := s.by(ctx, session)
	if err != nil {
		return err
	}
	err = s.save(ctx, UserChange{Cause: cause, Action: "session.revoke", Target: id, User: session.UserID, End: &End{Only: id}})
	if errors.Is(err, ErrTokenUsed) {
		return fault.Missing().Because(err)
	}
	return err
}

// SignOut ends the session of a token, if it exists.
func (s *Service) SignOut(ctx context.Context, token string) error {
	session, err := s.Store.Session(ctx, hashOf(token))
	if err != nil || session == nil {
		return err
	}
	p, cause, err := s.by(ctx, session)
	if err != nil {
		return err
	}
	err = s.save(ctx, UserChange{Cause: cause, Action: "signout", User: p.ID, End: &End{Only: session.ID}})
	if errors.Is(err, ErrTokenUsed) {
		return nil
	}
	return err
}

// EndAll ends all sessions of a user.
func (s *Service) EndAll(ctx context.Context, user ident.ID) error {
	return s.save(ctx, UserChange{Cause: record.Cause{Actor: record.System}, Action: "session.revoke_all", User: user, End: &End{}})
}

// Methods are the sign-in methods of a user.
type Methods struct {
	Password bool
	TOTP     bool
	Passkeys int
	// SSO is true if an identity of the single sign-on is linked.
	SSO bool
}

// SignInMethods returns the sign-in methods of a user.
func (s *Service) SignInMethods(ctx context.Context, user ident.ID) (Methods, error) {
	p, err := s.person(ctx, UserQuery{ID: user})
	if err != nil {
		return Methods{}, err
	}
	return p.ways()
}

func (p *User) ways() (Methods, error) {
	t, err := p.totp()
	w := Methods{TOTP: t != nil && t.Confirmed}
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

// any reports whether the user can sign in at all.
func (w Methods) any() bool { return w.Password || w.Passkeys > 0 || w.SSO }

// Rename changes the user's name in all workspaces.
func (s *Service) Rename(ctx context.Context, session *Session, name string) error {
	name, problems := checkName(name)
	if problems != nil {
		return fault.Invalid(problems)
	}
	_, cause, err := s.by(ctx, session)
	if err != nil {
		return err
	}
	return s.save(ctx, UserChange{Cause: cause, Action: "user.rename", User: session.UserID, Name: name})
}

// Sweep deletes expired sessions and tokens.
func (s *Service) Sweep(ctx context.Context) error {
	now := s.now()
	return s.Store.Sweep(ctx, now, now.Add(-IdleLife))
}

// from returns the client that last used the session.
func (s *Session) from() From {
	a, _ := netip.ParseAddr(s.Address)
	return From{Address: a, Agent: s.Agent, session: s.ID}
}
