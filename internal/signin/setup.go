package signin

import (
	"context"
	"errors"
	"time"

	"fanfare/internal/fault"
	"fanfare/internal/ident"
)

const (
	tokenSetup = "setup"
	// setupLife limits a token that is never used. Each start of the server
	// creates a new token, and the first use deletes it.
	setupLife = 30 * 24 * time.Hour
)

// NeedsSetup reports whether no user can sign in yet.
func (s *Service) NeedsSetup(ctx context.Context) (bool, error) {
	anybody, err := s.Store.HasCredentials(ctx)
	return !anybody, err
}

// SetupURL returns the one-time link to set up the owner, empty if a user can
// already sign in.
func (s *Service) SetupURL(ctx context.Context) (string, error) {
	token, needed, err := s.SetupToken(ctx)
	if err != nil || !needed {
		return "", err
	}
	return s.Origin() + "/setup#" + token, nil
}

// SetupToken returns the token for the first-run setup, and false if a user can
// already sign in. The token stays the same within this process and replaces
// that of an earlier process.
func (s *Service) SetupToken(ctx context.Context) (string, bool, error) {
	s.setup.Lock()
	defer s.setup.Unlock()
	needed, err := s.NeedsSetup(ctx)
	if err != nil || !needed {
		return "", false, err
	}
	if s.setupToken == "" {
		token, hash := s.newToken()
		now := s.now()
		err := s.save(ctx, UserChange{Keep: &Token{Hash: hash, ID: s.newID(linkPrefix), Kind: tokenSetup, Subject: tokenSetup, Doc: []byte("{}"), CreatedAt: now, ExpiresAt: now.Add(setupLife)}})
		if err != nil {
			return "", false, err
		}
		s.setupToken = token
	}
	return s.setupToken, true, nil
}

// Owner is the first user.
type Owner struct{ Email, Name, Password string }

// Setup gives the first user a password and signs the user in. If the user does
// not exist or has no workspace, workspace creates both.
//
// Choice: creating the workspace and signing in are two steps, because another
// package creates workspaces. After an interruption, the user can repeat the
// setup with the same email and keeps the workspace.
func (s *Service) Setup(ctx context.Context, token string, o Owner, from From, workspace func(ctx context.Context, owner string) (ident.ID, error)) (Result, error) {
	s.setup.Lock()
	defer s.setup.Unlock()
	o.Email = email(o.Email)
	t, err := s.setupLink(ctx, token)
	if err != nil {
		return Result{}, err
	}
	name, problems := checkName(o.Name)
	if !validEmail(o.Email) {
		problems = append(problems, fault.Detail{Field: "email", Code: "invalid_format", Message: "email must be an e-mail address."})
	}
	if problems = append(problems, checkPassword("password", o.Password, o.Email)...); problems != nil {
		return Result{}, fault.Invalid(problems)
	}
	p, err := s.Store.Person(ctx, UserQuery{Email: o.Email})
	if err != nil {
		return Result{}, err
	}
	if p == nil || len(p.Workspaces) == 0 {
		if _, err := workspace(ctx, o.Email); err != nil {
			return Result{}, err
		}
		if p, err = s.person(ctx, UserQuery{Email: o.Email}); err != nil {
			return Result{}, err
		}
	}
	first, err := s.password(ctx, p.ID, p, o.Password)
	if err != nil {
		return Result{}, err
	}
	r, err := s.startSession(ctx, p, MethodPassword, from, false, UserChange{Action: "setup", Burn: []Hash{t.Hash}, Put: []Credential{first}, Name: name})
	if errors.Is(err, ErrTokenUsed) {
		err = errLinkUsed(err)
	}
	if err == nil {
		s.setupToken = ""
	}
	return r, err
}

// setupLink returns the first-run token if it is valid.
func (s *Service) setupLink(ctx context.Context, token string) (*Token, error) {
	needed, err := s.NeedsSetup(ctx)
	if err != nil {
		return nil, err
	}
	t, err := s.Store.Token(ctx, hashOf(token))
	if err != nil {
		return nil, err
	}
	if !needed || t == nil || t.Kind != tokenSetup || t.ExpiresAt <= s.now() {
		return nil, fault.New(fault.NotFound, "This set-up link was used or replaced. Take the one that the server logged when it started last, or sign in.")
	}
	return t, nil
}
