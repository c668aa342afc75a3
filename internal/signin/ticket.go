package signin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

	"fanfare/internal/fault"
)

// Kinds of tickets: what a browser carries from the first half of something to
// the second.
const (
	ticketStep     = "step"
	ticketPasskey  = "passkey"
	ticketRegister = "register"
	ticketProve    = "prove"
	ticketOIDC     = "oidc"
)

// ticketLife is how long the second half may take.
const ticketLife = 5 * time.Minute

// ticket adds a ticket to a change.
func (s *Service) ticket(c *Change, kind string, doc any) (string, error) {
	b, err := json.Marshal(doc, json.Deterministic(true))
	if err != nil {
		return "", fmt.Errorf("write ticket: %w", err)
	}
	token, hash := s.newToken()
	now := s.now()
	c.Keep = &Token{
		Hash: hash, ID: s.newID(linkPrefix), Kind: kind, Subject: hash.String(), Doc: b, CreatedAt: now, ExpiresAt: now.Add(ticketLife),
	}
	return token, nil
}

// redeem reads a ticket and uses up one of its tries. The ticket stays: what
// it was for burns it.
func (s *Service) redeem(ctx context.Context, ticket, kind string, doc any) (*Token, error) {
	token, err := s.Store.Token(ctx, hashOf(ticket))
	if err != nil {
		return nil, err
	}
	if token == nil || token.Kind != kind || token.ExpiresAt <= s.now() {
		return nil, late(nil)
	}
	if err := s.save(ctx, Change{Try: &token.Hash}); errors.Is(err, ErrGone) {
		return nil, late(err)
	} else if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(token.Doc, doc); err != nil {
		return nil, fmt.Errorf("read ticket: %w", err)
	}
	return token, nil
}

// late says that the second half of something came too late or too often.
func late(cause error) error {
	const message = "This took too long or was tried too often. Start again."
	return fault.New(fault.InvalidState, message, fault.Detail{Code: "ticket_ended", Message: message}).Because(cause)
}
