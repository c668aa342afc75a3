package signin

import (
	"context"

	"fanfare/internal/ident"
)

// HashCheaply makes hashes cheap, for tests that do not test hashing.
func (s *Service) HashCheaply() { s.memory = 64 }

// HoldHash takes a turn of the queue of hashes until done.
func (s *Service) HoldHash(ctx context.Context, who ident.ID) (done func(), err error) {
	return s.turn(ctx, who)
}

// Counted returns the number of names that the throttle of passwords remembers.
func (s *Service) Counted() int { return len(s.guesses.tries) }
