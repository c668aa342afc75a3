package seal

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"fanfare/internal/ident"
	"fanfare/internal/record"
)

// Rotation is the master key of an installation: it replaces the key, and finds
// the keys that stored secrets need.
type Rotation struct {
	// Ring is nil if there is no master key.
	Ring  *Ring
	Store Store
	// Rewraps cover all secrets of the store.
	Rewraps []Rewrap
}

// Store has the secrets and the id of the master key of all nodes.
type Store interface {
	// Sealed returns all sealed secrets.
	Sealed(ctx context.Context) ([]string, error)
	// ReplaceMasterKey notes another master key.
	ReplaceMasterKey(ctx context.Context, id string) error
}

var errNoKey = errors.New("there is no master key; set --master-key")

// Rewrap encrypts all secrets of one kind with the active key and returns how
// many it changed.
type Rewrap func(ctx context.Context, cause record.Cause) (int, error)

// RewrapEach returns the Rewrap of a kind of secret that belongs to workspaces.
func RewrapEach(workspaces func(context.Context) ([]ident.ID, error), rewrap func(ctx context.Context, cause record.Cause, workspace ident.ID) (int, error)) Rewrap {
	return func(ctx context.Context, cause record.Cause) (count int, err error) {
		ids, err := workspaces(ctx)
		if err != nil {
			return 0, err
		}
		for _, id := range ids {
			n, err := rewrap(ctx, cause, id)
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

// Rotate creates a new master key, encrypts every secret with it, removes the old
// keys and makes it the key of all nodes. It can be interrupted and repeated: it
// removes a key only when no secret needs it.
func (r Rotation) Rotate(ctx context.Context, cause record.Cause) (out Rotated, err error) {
	if r.Ring == nil {
		return out, errNoKey
	}
	old := r.Ring.IDs()
	if out.Active, err = r.Ring.Add(); err != nil {
		return out, fmt.Errorf("add master key: %w", err)
	}
	for _, rewrap := range r.Rewraps {
		n, err := rewrap(ctx, cause)
		out.Rewrapped += n
		if err != nil {
			return out, err
		}
	}
	used, err := r.Used(ctx)
	if err != nil {
		return out, err
	}
	for _, id := range old {
		if slices.Contains(used, id) {
			return out, fmt.Errorf("a secret was stored with master key %s meanwhile: run the command again", id)
		}
		if err := r.Ring.Drop(id); err != nil {
			return out, fmt.Errorf("drop master key: %w", err)
		}
		out.Dropped = append(out.Dropped, id)
	}
	return out, r.Store.ReplaceMasterKey(ctx, out.Active)
}

// Accept makes the master key of this node that of all nodes, and returns its id.
func (r Rotation) Accept(ctx context.Context) (string, error) {
	if r.Ring == nil {
		return "", errNoKey
	}
	id := r.Ring.Active()
	return id, r.Store.ReplaceMasterKey(ctx, id)
}

// Used returns the ids of the keys that stored secrets need, sorted.
func (r Rotation) Used(ctx context.Context) ([]string, error) {
	sealed, err := r.Store.Sealed(ctx)
	return KeyIDs(sealed), err
}

// WarnMissing logs the keys of stored secrets that the ring lacks.
//
// Choice: a server that lacks such a key still starts, because everything else
// works. Features that need the secrets report that access must be granted
// again.
func (r Rotation) WarnMissing(ctx context.Context, log *slog.Logger) error {
	missing, err := r.Missing(ctx)
	for _, id := range missing {
		log.WarnContext(ctx, "master key missing: "+MissingFix, "master_key", id)
	}
	return err
}

// MissingFix is what to do about a missing master key.
const MissingFix = "restore the file with this key, or enter the secrets and reconnect the platforms again"

// Missing returns the ids of the keys of stored secrets that the ring lacks.
func (r Rotation) Missing(ctx context.Context) ([]string, error) {
	used, err := r.Used(ctx)
	return slices.DeleteFunc(used, func(id string) bool { return r.Ring != nil && r.Ring.Has(id) }), err
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
