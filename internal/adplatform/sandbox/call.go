package sandbox

import (
	"cmp"
	"errors"
	"iter"
	"time"

	"fanfare/internal/clock"
)

// Errors of a token.
var (
	ErrUnknownToken = errors.New("the token is none of this platform's")
	ErrExpiredToken = errors.New("the token has expired")
	ErrRevokedToken = errors.New("access was taken back")
)

// Call is one call to a platform. Its time is constant.
type Call struct {
	server *Server
	api    PlatformAPI
	now    time.Time
	path   string
	base   string
	// faultResults caches which faults apply to this call; lastFault is the
	// last one that was applied.
	faultResults map[string]bool
	lastFault    string
}

// Tokens are the tokens that a platform issues.
type Tokens struct {
	Access, Refresh string
	// AccessLifetime and RefreshLifetime are the lifetimes of the tokens; 0 is
	// unlimited.
	AccessLifetime, RefreshLifetime time.Duration
	// Consent is what they were issued for.
	Consent
}

// Now returns the sandbox's time.
func (s *Call) Now() time.Time { return s.now }

// Today returns the current day in the account's time zone.
func (s *Call) Today(a *Account) clock.Date { return clock.DateIn(s.now, a.zone) }

// Base returns the platform's base URL in this call, without a final slash.
// Links in an answer begin with it.
func (s *Call) Base() string { return s.base }

// Code returns an authorization code for the accounts of the person who agreed.
func (s *Call) Code(agreed Consent) string {
	set := s.server.own
	set.Seed = cmp.Or(agreed.Seed, set.Seed)
	return s.server.issueCode(issuerOf(s.api.Platform()), set, agreed, s.now)
}

// Exchange returns tokens for a code, once.
func (s *Call) Exchange(code string) (Tokens, error) {
	c, err := s.server.readValidToken(code, kindCode, issuerOf(s.api.Platform()), s.now)
	if err != nil {
		return Tokens{}, err
	}
	if !s.server.state.markSpent(c.Serial) {
		return Tokens{}, ErrUnknownToken
	}
	return s.server.issueTokens(c.Issuer, c.Set, c.Grant, c.Consent, s.now), nil
}

// Refresh returns new tokens for a refresh token, or for an access token if the
// platform has no refresh tokens. If the refresh token changes, the old one
// ends.
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

// Revoke ends all tokens of the same consent, or of the same person and app
// where the platform does so.
func (s *Call) Revoke(token string) {
	if c, ok := readToken(token); ok && c.Issuer == issuerOf(s.api.Platform()) {
		s.server.state.addRevoked(c)
	}
}

// Person returns the platform's id of the person who gave access, empty for
// tokens of an older sandbox.
func (s *Call) Person(token string) string {
	c, _ := readToken(token)
	return c.Person
}

// Open returns the account of an access token.
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
	return s.server.accountOf(c.Set, s.api.Platform())
}

// Rows returns the current rows of the account at a level, by day and then by
// campaign, without rows that are zero.
func (s *Call) Rows(a *Account, level Level, first, last clock.Date) iter.Seq[Row] {
	return s.server.rowsAsOf(a, level, first, last, s.Today(a))
}

// Runs reports whether a campaign runs now, by its plan and the calls so far.
func (s *Call) Runs(a *Account, c *Campaign) bool {
	return s.server.state.runChangesOf(a).runsNow(c, s.Today(a))
}

// SetRuns starts or pauses a campaign from now on. Today and earlier days keep
// their metrics.
func (s *Call) SetRuns(a *Account, c *Campaign, run bool) {
	if s.Runs(a, c) != run {
		s.server.state.addRunChange(a, c, runChange{Day: s.Today(a), Run: run})
	}
}

// Fault reports whether a platform's own fault applies to this call. It returns
// the same result for the whole call.
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
