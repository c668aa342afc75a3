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

// Kinds of tickets: what a browser carries from the first half of something to
// the second. The store keeps those of second steps, which can be tried a few
// times, and those that were used; the others are with the browser alone,
// because anybody can ask for one.
const (
	ticketStep     = "step"
	ticketSpent    = "spent"
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

// sealedTicket is a ticket that the browser alone keeps.
type sealedTicket struct {
	ExpiresAt clock.Instant  `json:"expires_at"`
	Doc       jsontext.Value `json:"doc"`
}

// seal makes a ticket that takes no room here.
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

// unseal reads a ticket that seal made. Saved with a change, spent makes it
// the only one that the ticket is good for.
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

// once tells who uses a ticket again that it is used up.
func once(err error) error {
	if errors.Is(err, ErrGone) {
		return late(err)
	}
	return err
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
