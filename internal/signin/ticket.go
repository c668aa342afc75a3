package signin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"fanfare/internal/clock"
	"fanfare/internal/fault"
)

// Kinds of tickets. The browser carries a ticket from the first step of a flow
// to the second. The store has the tickets of second factors, which allow a few
// attempts, and the used tickets. Only the browser has the others, because
// anyone can request them.
const (
	ticketStep     = "step"
	ticketSpent    = "spent"
	ticketPasskey  = "passkey"
	ticketRegister = "register"
	ticketProve    = "prove"
	ticketOIDC     = "oidc"
)

// ticketLife is the time limit of the second step.
const ticketLife = 5 * time.Minute

// ticket adds a stored ticket to a change and returns its token.
func (s *Service) ticket(c *UserChange, kind string, doc any) (string, error) {
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

// sealedTicket is a ticket that only the browser keeps.
type sealedTicket struct {
	ExpiresAt clock.Instant  `json:"expires_at"`
	Doc       jsontext.Value `json:"doc"`
}

// seal returns a ticket that needs no storage on the server.
func (s *Service) seal(kind string, doc any) (string, error) {
	b, err := json.Marshal(doc, json.Deterministic(true))
	if err == nil {
		b, err = json.Marshal(sealedTicket{s.now().Add(ticketLife), b})
	}
	if err != nil {
		return "", fmt.Errorf("write ticket: %w", err)
	}
	return s.SealTicket(kind, b), nil
}

// unseal opens a ticket of seal. Save spent with the change: it makes a second
// use of the ticket fail.
func (s *Service) unseal(ctx context.Context, ticket, kind string, doc any) (spent *Token, err error) {
	var sealed sealedTicket
	plain, ok := s.OpenTicket(kind, ticket)
	if !ok {
		return nil, late(nil)
	}
	if err := json.Unmarshal(plain, &sealed); err != nil {
		return nil, fmt.Errorf("read ticket: %w", err)
	}
	if sealed.ExpiresAt <= s.now() {
		return nil, late(nil)
	}
	if err := json.Unmarshal(sealed.Doc, doc); err != nil {
		return nil, fmt.Errorf("read ticket: %w", err)
	}
	hash := hashOf(ticket)
	if used, err := s.Store.Token(ctx, hash); err != nil || used != nil {
		return nil, cmp.Or(err, late(nil))
	}
	return &Token{
		Hash: hash, ID: s.newID(linkPrefix), Kind: ticketSpent, Subject: hash.String(), Doc: []byte("{}"), CreatedAt: s.now(), ExpiresAt: sealed.ExpiresAt,
	}, nil
}

// once maps ErrTokenUsed to the fault for a used ticket.
func once(err error) error {
	if errors.Is(err, ErrTokenUsed) {
		return late(err)
	}
	return err
}

// redeem reads a stored ticket and uses up one of its attempts. It does not
// delete the ticket; the sign-in does.
func (s *Service) redeem(ctx context.Context, ticket, kind string, doc any) (*Token, error) {
	token, err := s.Store.Token(ctx, hashOf(ticket))
	if err != nil {
		return nil, err
	}
	if token == nil || token.Kind != kind || token.ExpiresAt <= s.now() {
		return nil, late(nil)
	}
	if err := s.save(ctx, UserChange{Try: &token.Hash}); errors.Is(err, ErrTokenUsed) {
		return nil, late(err)
	} else if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(token.Doc, doc); err != nil {
		return nil, fmt.Errorf("read ticket: %w", err)
	}
	return token, nil
}

// late returns the fault for a ticket that has expired, was used, or has no
// attempts left.
func late(cause error) error {
	const message = "This took too long or was tried too often. Start again."
	return fault.New(fault.InvalidState, message, fault.Detail{Code: "ticket_ended", Message: message}).Because(cause)
}
