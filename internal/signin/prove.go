package signin

import (
	"context"
	"fmt"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"
)

// Proof is a password or a code for a repeated authentication.
type Proof struct {
	Password string
	Code     string
}

// Reauthenticate authenticates the user of a session again. Users with only single
// sign-on sign in again instead.
func (s *Service) Reauthenticate(ctx context.Context, session *Session, proof Proof, from From) error {
	p, cause, err := s.by(ctx, session)
	if err != nil {
		return err
	}
	c := UserChange{Cause: cause, Action: "session.prove", User: p.ID, Proved: session.ID}
	if proof.Code != "" {
		used, err := s.code(p, proof.Code, from.in(session))
		if err != nil {
			return err
		}
		if used == nil {
			s.recordFailure(ctx, p, from)
			return wrongCode()
		}
		c.Put = []Credential{*used}
	} else if ok, err := s.matches(ctx, p, p.Email, proof.Password, from.in(session)); err != nil {
		return err
	} else if !ok {
		s.recordFailure(ctx, p, from)
		return wrong()
	}
	return s.proved(ctx, session, c)
}

func (s *Service) proved(ctx context.Context, session *Session, c UserChange) error {
	if err := s.save(ctx, c); err != nil {
		return err
	}
	session.ProvedAt = s.now()
	return nil
}

// BeginProve starts a repeated authentication by passkey.
func (s *Service) BeginProve(session *Session) (Ceremony, error) {
	w, err := s.party()
	if err != nil {
		return Ceremony{}, err
	}
	options, data, err := w.BeginDiscoverableLogin(webauthn.WithUserVerification(protocol.VerificationPreferred))
	if err != nil {
		return Ceremony{}, fmt.Errorf("begin proof: %w", err)
	}
	return s.ceremony(ticketProve, session.UserID, options.Response, data)
}

// FinishProve completes a repeated authentication by passkey. The passkey must
// belong to the user of the session.
func (s *Service) FinishProve(ctx context.Context, session *Session, ticket string, response []byte, from From) error {
	spent, user, data, err := s.resume(ctx, ticket, ticketProve)
	if err != nil {
		return err
	}
	if user != session.UserID {
		return late(nil)
	}
	p, used, _, err := s.assert(ctx, data, response, user)
	if err != nil {
		return err
	}
	if used == nil {
		s.recordFailure(ctx, p, from)
		return wrongPasskey()
	}
	return once(s.proved(ctx, session, UserChange{
		Cause: p.actor(from.address()), Action: "session.prove", User: user, Proved: session.ID, Spend: spent, Put: []Credential{*used},
	}))
}
