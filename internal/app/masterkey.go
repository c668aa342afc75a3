package app

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"fanfare/internal/ident"
	"fanfare/internal/record"
	"fanfare/internal/seal"
)

// Rotated is the result of a master key rotation.
type Rotated struct {
	// Active is the id of the new key, Dropped the ids of the removed keys,
	// Rewrapped the number of secrets that were encrypted with the new key.
	Active    string   `json:"active"`
	Dropped   []string `json:"dropped"`
	Rewrapped int      `json:"rewrapped"`
}

// RotateMasterKey creates a new master key, encrypts every secret with it and
// removes the old keys. It can be interrupted and repeated: a key is removed
// only when no secret needs it.
func (a *App) RotateMasterKey(ctx context.Context, cause record.Cause) (out Rotated, err error) {
	if a.ring == nil {
		return out, errors.New("there is no master key; set --master-key")
	}
	old := a.ring.IDs()
	if out.Active, err = a.ring.Add(); err != nil {
		return out, fmt.Errorf("add master key: %w", err)
	}
	workspaces, err := a.Accounts.Workspaces(ctx)
	if err != nil {
		return out, err
	}
	ids := []ident.ID{""}
	for _, w := range workspaces {
		ids = append(ids, w.ID)
	}
	for _, id := range ids {
		n, err := a.Providers.Rewrap(ctx, cause, id)
		if err != nil {
			return out, err
		}
		out.Rewrapped += n
		if id == "" {
			continue
		}
		if n, err = a.Connections.Rewrap(ctx, id, a.ring.Rewrap); err != nil {
			return out, err
		}
		out.Rewrapped += n
	}
	n, err := a.DB.SignIn().Rewrap(ctx, a.ring.Rewrap)
	if err != nil {
		return out, err
	}
	out.Rewrapped += n
	used, err := a.MasterKeys(ctx)
	if err != nil {
		return out, err
	}
	for _, id := range old {
		if slices.Contains(used, id) {
			return out, fmt.Errorf("something came under master key %s meanwhile: run the command again", id)
		}
		if err := a.ring.Drop(id); err != nil {
			return out, fmt.Errorf("drop master key: %w", err)
		}
		out.Dropped = append(out.Dropped, id)
	}
	return out, nil
}

// MasterKeys returns the ids of the keys that stored secrets need, sorted.
func (a *App) MasterKeys(ctx context.Context) ([]string, error) {
	sealed, err := a.DB.Sealed(ctx)
	if err != nil {
		return nil, err
	}
	list := []string{}
	for _, text := range sealed {
		list = append(list, seal.KeyID(text))
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

// missKeys warns of secrets whose master key is missing.
//
// Choice: a server that lacks such a key still starts, because everything else
// works. Features that need the secrets report that access must be granted
// again.
func (a *App) missKeys(ctx context.Context) error {
	used, err := a.MasterKeys(ctx)
	if err != nil {
		return err
	}
	for _, id := range used {
		if a.ring == nil || !a.ring.Has(id) {
			a.config.Log.Warn("stored secrets cannot be opened: put back the file with this master key, or grant access anew", "master_key", id)
		}
	}
	return nil
}
