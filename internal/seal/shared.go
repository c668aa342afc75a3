package seal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
)

// Options say where the master keys are and who uses them.
type Options struct {
	// Path is the keyring file. Without it there is no Ring.
	Path string
	// Alone says that no other node shares the store, Accept that this node's
	// key is about to become that of all nodes. Each of them allows a key that
	// Notes does not have.
	Alone, Accept bool
	Notes         Notes
	Random        io.Reader
	Log           *slog.Logger
}

// Open opens the master keys, or creates them with a warning to back them up.
// Without a path it returns nil.
func Open(ctx context.Context, o Options) (*Ring, error) {
	if o.Path == "" {
		return nil, nil
	}
	var ring *Ring
	var created bool
	var err error
	if o.Alone || o.Accept {
		ring, created, err = OpenOrCreate(o.Path, o.Random)
	} else {
		ring, created, err = OpenShared(ctx, o.Path, o.Random, o.Notes)
	}
	if err != nil {
		return nil, fmt.Errorf("open master key: %w", err)
	}
	if created {
		o.Log.Warn("master key created: back up this file separately from the data, because stored keys to other services cannot be read without it", "file", o.Path)
	}
	return ring, nil
}

// Notes keeps the id of the master key of an installation whose nodes share a
// store.
type Notes interface {
	// MasterKey returns the id, empty if none is noted.
	MasterKey(ctx context.Context) (string, error)
	// NoteMasterKey notes an id, unless one is noted, and returns the noted one.
	NoteMasterKey(ctx context.Context, id string) (string, error)
}

// OpenShared is OpenOrCreate for a node that shares its store with others. It
// refuses a key that the others do not have, and creates none beside theirs:
// secrets that one node seals would be lost for the others.
func OpenShared(ctx context.Context, path string, random io.Reader, notes Notes) (ring *Ring, created bool, err error) {
	noted, err := notes.MasterKey(ctx)
	if err != nil {
		return nil, false, err
	}
	if _, err := os.Stat(path); noted != "" && errors.Is(err, fs.ErrNotExist) {
		return nil, false, fmt.Errorf("there is no master key in %s: %s", path, otherKey(noted))
	}
	if ring, created, err = OpenOrCreate(path, random); err != nil {
		return nil, false, err
	}
	if noted, err = notes.NoteMasterKey(ctx, ring.Active()); err != nil {
		return nil, false, err
	}
	if !ring.Has(noted) {
		return nil, false, fmt.Errorf("the master key in %s is not that of this installation: %s", path, otherKey(noted))
	}
	return ring, created, nil
}

func otherKey(id string) string {
	return fmt.Sprintf("copy the file of another node, which has the key %s, or name it with --master-key. If that key is lost, `fanfare master-key accept` begins with this node's key, and secrets have to be entered again", id)
}
