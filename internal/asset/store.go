package asset

import (
	"context"
	"io"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/ident"
	"fanfare/internal/record"
)

// Store stores the records of assets.
type Store interface {
	// Save inserts a record or, if the workspace already has these bytes,
	// updates the last touch of the existing one. It returns the stored record.
	Save(ctx context.Context, a *Asset, cause record.Cause) (record.Doc, error)
	// ByID returns the existing records, sorted by id.
	ByID(ctx context.Context, workspace ident.ID, ids []ident.ID) ([]*Asset, error)
	// Used returns the bytes of all assets of a workspace. Each counts for least
	// or more.
	Used(ctx context.Context, workspace ident.ID, least int64) (int64, error)
	// Linked records that a link to an asset was issued.
	Linked(ctx context.Context, id ident.ID, link record.Doc, at clock.Instant, cause record.Cause) error
	// Workspaces lists all workspaces.
	Workspaces(ctx context.Context) ([]ident.ID, error)
	// Idle lists assets without references that were last touched at or before
	// a time.
	Idle(ctx context.Context, workspace ident.ID, before clock.Instant, most int) ([]Idle, error)
	// Drop removes the records that are still idle. It checks again in the same
	// statement.
	Drop(ctx context.Context, workspace ident.ID, before clock.Instant, idle []Idle) error
	// Named returns the hashes that a record of the workspace uses.
	Named(ctx context.Context, workspace ident.ID, sums []string) (map[string]bool, error)
}

// Idle is an unused asset.
type Idle struct {
	ID     ident.ID
	SHA256 string
}

// Files stores bytes by workspace and SHA-256 in hexadecimal. Each file has the
// time when it was last put or touched.
type Files interface {
	// Put stores bytes and returns when they are durable. If the bytes exist,
	// it only touches them. A concurrent Remove either sees the touch or has
	// already removed the file, which is then written again. So after Put, the
	// file stays as long as the before of Remove requires.
	Put(workspace ident.ID, sum string, b []byte) error
	// Open opens a file. A missing file is fs.ErrNotExist. A file whose bytes
	// do not match the hash is an internal_error fault, of Open or of a Read
	// before the last bytes.
	Open(workspace ident.ID, sum string) (f io.ReadCloser, size int64, err error)
	// Touch marks a file as used now. A missing file is not an error.
	Touch(workspace ident.ID, sum string) error
	// Old calls each for files that were last put or touched before a time.
	Old(ctx context.Context, before time.Time, each func(workspace ident.ID, sum string) error) error
	// Remove removes a file unless it was put or touched since before.
	Remove(workspace ident.ID, sum string, before time.Time) error
}
