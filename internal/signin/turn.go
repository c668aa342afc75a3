package signin

import (
	"context"
	"time"

	"fanfare/internal/fairqueue"
	"fanfare/internal/ident"
)

const (
	// hashesPerNetwork is how many password hashes a network may have running
	// and waiting. Eight take about as long as one page load.
	hashesPerNetwork = 8
	// hashWait is how long a sign-in waits for its hash.
	hashWait = 10 * time.Second
	// strangers is the founder of all networks in the queue of hashes.
	strangers ident.ID = "strangers"
	// operator is who waits for a hash in a command of the operator.
	operator ident.ID = ""
)

// newHashes returns the queue of password hashes. Networks take turns, so that
// one that is quiet waits for one or two hashes of others.
//
// Choice: users who have shown something that strangers do not have (a session,
// a known browser or a one-time link) take turns by user, and all networks
// together count as one such user. So no number of networks delays these users
// by more than one hash, which the place beyond the cores is for.
func newHashes(cores int) *fairqueue.Queue {
	limits := fairqueue.Limits{Work: "password checks", Running: max(1, cores) + 1, PerWorkspace: hashesPerNetwork, Caller: "network or user"}
	return fairqueue.New(limits, func(_ context.Context, who ident.ID) (ident.ID, error) {
		if ident.Valid(ident.User, string(who)) {
			return who, nil
		}
		return strangers, nil
	})
}

// turn waits for a turn to hash a password. done ends it.
func (s *Service) turn(ctx context.Context, who ident.ID) (done func(), err error) {
	if who == operator {
		return s.hashes.Take(ctx, who, 0)
	}
	return s.hashes.Take(ctx, who, hashWait)
}

// turnOf returns who takes the turn of a password attempt: the user p if the
// client is known to be the user's, or else the network.
func (p *User) turnOf(from From) ident.ID {
	if _, has := p.own(from); has {
		return p.ID
	}
	return ident.ID(network(from.Address))
}
