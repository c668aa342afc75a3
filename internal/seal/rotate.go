package seal

import (
	"context"
	"fmt"
	"slices"
)

// Secrets are the stored secrets that a Ring encrypts.
type Secrets interface {
	// MasterKeys returns the ids of the keys that stored secrets need, sorted.
	MasterKeys(ctx context.Context) ([]string, error)
	// Rewrap encrypts every secret with the active key and returns how many it
	// changed.
	Rewrap(ctx context.Context) (int, error)
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
// old keys. It can be interrupted and repeated: it removes a key only when no
// secret needs it.
func (r *Ring) Rotate(ctx context.Context, secrets Secrets) (out Rotated, err error) {
	old := r.IDs()
	if out.Active, err = r.Add(); err != nil {
		return out, fmt.Errorf("add master key: %w", err)
	}
	if out.Rewrapped, err = secrets.Rewrap(ctx); err != nil {
		return out, err
	}
	used, err := secrets.MasterKeys(ctx)
	if err != nil {
		return out, err
	}
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

// KeyIDs returns the ids of the keys of sealed texts, sorted, each once.
func KeyIDs(sealed []string) []string {
	list := []string{}
	for _, text := range sealed {
		list = append(list, KeyID(text))
	}
	slices.Sort(list)
	return slices.Compact(list)
}
