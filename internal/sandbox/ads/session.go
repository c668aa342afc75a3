package ads

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
type Session struct{}

// Tokens are what a platform hands out.
type Tokens struct {
	Access, Refresh string
	// Lives is how long Access does.
	Lives time.Duration
}

// Now is the sandbox's own time.
func (s *Session) Now() time.Time { return time.Time{} }

// Today is the day in the account's zone.
func (s *Session) Today(a *Account) clock.Date { return 0 }

// Code is what a person who grants access comes back with: to the accounts of
// the sandbox's own world.
func (s *Session) Code() string { return "" }

// Exchange trades a code, once.
func (s *Session) Exchange(code string) (Tokens, error) { return Tokens{}, nil }

// Refresh gives new tokens for a refresh token, or for an access token where
// the platform has no others. The refresh token may be another one than
// before; the old one ends then.
func (s *Session) Refresh(token string) (Tokens, error) { return Tokens{}, nil }

// Revoke ends all tokens that come from the same grant.
func (s *Session) Revoke(token string) {}

// Open returns the account that an access token is for.
func (s *Session) Open(access string) (*Account, error) { return nil, nil }

// Rows lists what the account reports at a level now, by day and then in the
// order of its campaigns, without rows that have nothing but zeros.
func (s *Session) Rows(a *Account, level Level, first, last clock.Date) iter.Seq[Row] { return nil }

// Runs reports whether a campaign runs now, as its plan and the calls so far
// have it.
func (s *Session) Runs(a *Account, c *Campaign) bool { return false }

// SetRuns has a campaign run or pause from now on. Days before today keep
// their figures.
func (s *Session) SetRuns(a *Account, c *Campaign, run bool) {}

// Fault reports whether a fault of the platform's own kind, by its name, is
// to happen in this call.
func (s *Session) Fault(name string) bool { return false }
