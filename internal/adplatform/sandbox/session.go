package sandbox

import (
	"errors"
	"iter"
	"time"

	"fanfare/internal/clock"
)

// What may be wrong with a token.
var (
	ErrUnknownToken = errors.New("the token is none of this platform's")
	ErrExpiredToken = errors.New("the token has expired")
	ErrRevokedToken = errors.New("access was taken back")
)

// Call is one call to a platform, with what a dialect needs to answer it.
// Time stands still in it.
type Call struct {
	server *Server
	api    PlatformAPI
	now    time.Time
	path   string
	base   string
	// faultResults holds what is known about the faults of this call, struck the
	// last one that happened.
	faultResults map[string]bool
	lastFault    string
}

// Tokens are what a platform hands out.
type Tokens struct {
	Access, Refresh string
	// AccessLifetime is how long Access does, RefreshLives how long Refresh does; 0 is
	// without end.
	AccessLifetime, RefreshLifetime time.Duration
}

// Now is the sandbox's own time.
func (s *Call) Now() time.Time { return s.now }

// Today is the day in the account's zone.
func (s *Call) Today(a *Account) clock.Date { return clock.DateIn(s.now, a.zone) }

// Base is the address at which this call found the platform, without a slash
// at its end: what links in an answer begin with.
func (s *Call) Base() string { return s.base }

// Code is what a person who grants access comes back with: to the accounts of
// the sandbox's own world.
func (s *Call) Code() string {
	return s.server.issueCode(issuerOf(s.api.Platform()), s.server.own, s.now)
}

// Exchange trades a code, once.
func (s *Call) Exchange(code string) (Tokens, error) {
	c, err := s.server.readValidToken(code, kindCode, issuerOf(s.api.Platform()), s.now)
	if err != nil {
		return Tokens{}, err
	}
	if !s.server.state.markSpent(c.Serial) {
		return Tokens{}, ErrUnknownToken
	}
	return s.server.issueTokens(c.Issuer, c.World, c.Grant, s.now), nil
}

// Refresh gives new tokens for a refresh token, or for an access token where
// the platform has no others. The refresh token may be another one than
// before; the old one ends then.
func (s *Call) Refresh(token string) (Tokens, error) {
	issuer := issuerOf(s.api.Platform())
	kind := kindAccess
	if tokenLifetimes[issuer].refreshes {
		kind = kindRefresh
	}
	c, err := s.server.readValidToken(token, kind, issuer, s.now)
	if err != nil {
		return Tokens{}, err
	}
	if s.Fault(FaultRevokedToken) {
		return Tokens{}, ErrRevokedToken
	}
	if kind == kindRefresh && s.Fault(FaultRotatedToken) && s.server.state.markSpent(c.Serial) {
		return s.server.renewTokens(c, "", s.now), nil
	}
	return s.server.renewTokens(c, token, s.now), nil
}

// Revoke ends all tokens that come from the same grant.
func (s *Call) Revoke(token string) {
	if c, ok := readToken(token); ok && c.Issuer == issuerOf(s.api.Platform()) {
		s.server.state.addRevoked(c.Grant)
	}
}

// Open returns the account that an access token is for.
func (s *Call) Open(access string) (*Account, error) {
	c, err := s.server.readValidToken(access, kindAccess, issuerOf(s.api.Platform()), s.now)
	if err != nil {
		return nil, err
	}
	switch {
	case s.Fault(FaultExpiredToken):
		return nil, ErrExpiredToken
	case s.Fault(FaultRevokedToken):
		return nil, ErrRevokedToken
	}
	return s.server.accountOf(c.World, s.api.Platform())
}

// Rows lists what the account reports at a level now, by day and then in the
// order of its campaigns, without rows that have nothing but zeros.
func (s *Call) Rows(a *Account, level Level, first, last clock.Date) iter.Seq[Row] {
	return s.server.rowsAsOf(a, level, first, last, s.Today(a))
}

// Runs reports whether a campaign runs now, as its plan and the calls so far
// have it.
func (s *Call) Runs(a *Account, c *Campaign) bool {
	return s.server.state.runChangesOf(a).runsNow(c, s.Today(a))
}

// SetRuns has a campaign run or pause from now on. Days before today keep
// their figures, and so does today: the first without is the next.
func (s *Call) SetRuns(a *Account, c *Campaign, run bool) {
	if s.Runs(a, c) != run {
		s.server.state.addRunChange(a, c, runChange{Day: s.Today(a), Run: run})
	}
}

// Fault reports whether a fault of the platform's own kind, by its name, is
// to happen in this call. However often it is asked in one call, the answer is
// the same.
func (s *Call) Fault(name string) bool {
	hit, asked := s.faultResults[name]
	if !asked {
		hit = s.server.faults.matchRule(name, s.api.Platform(), s.path) != nil
		s.faultResults[name] = hit
	}
	if hit {
		s.lastFault = name
	}
	return hit
}
