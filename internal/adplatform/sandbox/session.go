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

// Session is one call to a platform, with what a dialect needs to answer it.
// Time stands still in it.
type Session struct {
	server  *Server
	dialect Dialect
	now     time.Time
	path    string
	base    string
	// decided holds what is known about the faults of this call, struck the
	// last one that happened.
	decided map[string]bool
	struck  string
}

// Tokens are what a platform hands out.
type Tokens struct {
	Access, Refresh string
	// Lives is how long Access does, RefreshLives how long Refresh does; 0 is
	// without end.
	Lives, RefreshLives time.Duration
}

// Now is the sandbox's own time.
func (s *Session) Now() time.Time { return s.now }

// Today is the day in the account's zone.
func (s *Session) Today(a *Account) clock.Date { return clock.DateIn(s.now, a.zone) }

// Base is the address at which this call found the platform, without a slash
// at its end: what links in an answer begin with.
func (s *Session) Base() string { return s.base }

// Code is what a person who grants access comes back with: to the accounts of
// the sandbox's own world.
func (s *Session) Code() string {
	return s.server.issueCode(issuerOf(s.dialect.Platform()), s.server.own, s.now)
}

// Exchange trades a code, once.
func (s *Session) Exchange(code string) (Tokens, error) {
	c, err := s.server.redeem(code, kindCode, issuerOf(s.dialect.Platform()), s.now)
	if err != nil {
		return Tokens{}, err
	}
	if !s.server.state.spend(c.Serial) {
		return Tokens{}, ErrUnknownToken
	}
	return s.server.issue(c.Issuer, c.World, c.Grant, s.now), nil
}

// Refresh gives new tokens for a refresh token, or for an access token where
// the platform has no others. The refresh token may be another one than
// before; the old one ends then.
func (s *Session) Refresh(token string) (Tokens, error) {
	issuer := issuerOf(s.dialect.Platform())
	kind := kindAccess
	if lives[issuer].refreshes {
		kind = kindRefresh
	}
	c, err := s.server.redeem(token, kind, issuer, s.now)
	if err != nil {
		return Tokens{}, err
	}
	if s.Fault(FaultRevokedToken) {
		return Tokens{}, ErrRevokedToken
	}
	if kind == kindRefresh && s.Fault(FaultRotatedToken) && s.server.state.spend(c.Serial) {
		return s.server.renew(c, "", s.now), nil
	}
	return s.server.renew(c, token, s.now), nil
}

// Revoke ends all tokens that come from the same grant.
func (s *Session) Revoke(token string) {
	if c, ok := readToken(token); ok && c.Issuer == issuerOf(s.dialect.Platform()) {
		s.server.state.revoke(c.Grant)
	}
}

// Open returns the account that an access token is for.
func (s *Session) Open(access string) (*Account, error) {
	c, err := s.server.redeem(access, kindAccess, issuerOf(s.dialect.Platform()), s.now)
	if err != nil {
		return nil, err
	}
	switch {
	case s.Fault(FaultExpiredToken):
		return nil, ErrExpiredToken
	case s.Fault(FaultRevokedToken):
		return nil, ErrRevokedToken
	}
	return s.server.account(c.World, s.dialect.Platform())
}

// Rows lists what the account reports at a level now, by day and then in the
// order of its campaigns, without rows that have nothing but zeros.
func (s *Session) Rows(a *Account, level Level, first, last clock.Date) iter.Seq[Row] {
	return s.server.rows(a, level, first, last, s.Today(a))
}

// Runs reports whether a campaign runs now, as its plan and the calls so far
// have it.
func (s *Session) Runs(a *Account, c *Campaign) bool {
	return s.server.state.runsOf(a).now(c, s.Today(a))
}

// SetRuns has a campaign run or pause from now on. Days before today keep
// their figures, and so does today: the first without is the next.
func (s *Session) SetRuns(a *Account, c *Campaign, run bool) {
	if s.Runs(a, c) != run {
		s.server.state.setRuns(a, c, change{Day: s.Today(a), Run: run})
	}
}

// Fault reports whether a fault of the platform's own kind, by its name, is
// to happen in this call. However often it is asked in one call, the answer is
// the same.
func (s *Session) Fault(name string) bool {
	hit, asked := s.decided[name]
	if !asked {
		hit = s.server.faults.take(name, s.dialect.Platform(), s.path) != nil
		s.decided[name] = hit
	}
	if hit {
		s.struck = name
	}
	return hit
}
