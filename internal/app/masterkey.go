package app

import (
	"context"
	"errors"
	"fmt"

	"fanfare/internal/ident"
	"fanfare/internal/record"
	"fanfare/internal/seal"
)

// openRing opens the master keys, if configured.
func (a *App) openRing() error {
	c := a.config
	if c.MasterKey == "" {
		return nil
	}
	ring, created, err := seal.OpenOrCreate(c.MasterKey, c.Random)
	if err != nil {
		return fmt.Errorf("open master key: %w", err)
	}
	if created {
		c.Log.Warn("master key created: back up this file separately from the data, because stored keys to other services cannot be read without it", "file", c.MasterKey)
	}
	a.ring = ring
	return nil
}

// RotateMasterKey replaces the master key. See seal.Ring.Rotate.
func (a *App) RotateMasterKey(ctx context.Context, cause record.Cause) (seal.Rotated, error) {
	if a.ring == nil {
		return seal.Rotated{}, errors.New("there is no master key; set --master-key")
	}
	return a.ring.Rotate(ctx, storedSecrets{a, cause})
}

// MasterKeys returns the ids of the keys that stored secrets need, sorted.
func (a *App) MasterKeys(ctx context.Context) ([]string, error) {
	sealed, err := a.DB.Sealed(ctx)
	return seal.KeyIDs(sealed), err
}

// storedSecrets are the secrets of all workspaces and users.
type storedSecrets struct {
	*App
	cause record.Cause
}

// Rewrap implements seal.Secrets.
func (s storedSecrets) Rewrap(ctx context.Context) (count int, err error) {
	workspaces, err := s.Accounts.Workspaces(ctx)
	if err != nil {
		return 0, err
	}
	rewrap := func(id ident.ID) error {
		n, err := s.Providers.Rewrap(ctx, s.cause, id)
		count += n
		if err != nil || id == "" {
			return err
		}
		n, err = s.Connections.Rewrap(ctx, id, s.ring.Rewrap)
		count += n
		return err
	}
	// The empty workspace has the models that all workspaces can use.
	if err := rewrap(""); err != nil {
		return count, err
	}
	for _, w := range workspaces {
		if err := rewrap(w.ID); err != nil {
			return count, err
		}
	}
	n, err := s.DB.SignIn().Rewrap(ctx, s.ring.Rewrap)
	return count + n, err
}

// warnMissingKeys warns of secrets whose master key is missing.
//
// Choice: a server that lacks such a key still starts, because everything else
// works. Features that need the secrets report that access must be granted
// again.
func (a *App) warnMissingKeys(ctx context.Context) error {
	used, err := a.MasterKeys(ctx)
	if err != nil {
		return err
	}
	for _, id := range used {
		if a.ring == nil || !a.ring.Has(id) {
			a.config.Log.Warn("master key missing: restore the file with this key, or enter the secrets and reconnect the platforms again", "master_key", id)
		}
	}
	return nil
}
