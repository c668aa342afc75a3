package seal

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"fanfare/internal/ident"
)

// Rewrap encrypts all secrets of one kind with the active key and returns how
// many it changed.
type Rewrap func(ctx context.Context) (int, error)

// RewrapEach returns the Rewrap of a kind of secret that belongs to workspaces.
func RewrapEach(workspaces func(context.Context) ([]ident.ID, error), rewrap func(ctx context.Context, workspace ident.ID) (int, error)) Rewrap {
	return func(ctx context.Context) (count int, err error) {
		ids, err := workspaces(ctx)
		if err != nil {
			return 0, err
		}
		for _, id := range ids {
			n, err := rewrap(ctx, id)
			count += n
			if err != nil {
				return count, err
			}
		}
		return count, nil
	}
}

// Rotated is the result of a master key rotation.
type Rotated struct {
	// Active is the id of the new key, Dropped the ids of the removed keys,
	// Rewrapped the number of secrets that were encrypted with the new key.
	Active    string   `json:"active"`
	Dropped   []string `json:"dropped"`
	Rewrapped int      `json:"rewrapped"`
}

// Rotate creates a new master key, encrypts every secret with it and removes the
// old keys. stored lists all sealed texts; together the rewraps cover them. It
// can be interrupted and repeated: it removes a key only when no secret needs it.
func (r *Ring) Rotate(ctx context.Context, stored func(context.Context) ([]string, error), rewraps ...Rewrap) (out Rotated, err error) {
	if r == nil {
		return out, errors.New("there is no master key; set --master-key")
	}
	old := r.IDs()
	if out.Active, err = r.Add(); err != nil {
		return out, fmt.Errorf("add master key: %w", err)
	}
	for _, rewrap := range rewraps {
		n, err := rewrap(ctx)
		out.Rewrapped += n
		if err != nil {
			return out, err
		}
	}
	sealed, err := stored(ctx)
	if err != nil {
		return out, err
	}
	used := KeyIDs(sealed)
	for _, id := range old {
		if slices.Contains(used, id) {
			return out, fmt.Errorf("a secret was stored with master key %s meanwhile: run the command again", id)
		}
		if err := r.Drop(id); err != nil {
			return out, fmt.Errorf("drop master key: %w", err)
		}
		out.Dropped = append(out.Dropped, id)
	}
	return out, nil
}

// WarnMissing logs the keys of stored secrets that the ring lacks. A nil Ring
// has no key.
//
// Choice: a server that lacks such a key still starts, because everything else
// works. Features that need the secrets report that access must be granted
// again.
func (r *Ring) WarnMissing(used []string, log *slog.Logger) {
	for _, id := range used {
		if r == nil || !r.Has(id) {
			log.Warn("master key missing: restore the file with this key, or enter the secrets and reconnect the platforms again", "master_key", id)
		}
	}
}

// KeyIDs returns the ids of the keys of sealed texts, sorted, each once.
func KeyIDs(sealed []string) []string {
	list := []string{}
	for _, text := range sealed {
		list = append(list, KeyID(text))
	}
	slices.Sort(list)
	return slices.Compact(list)
}
