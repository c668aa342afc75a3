package asset

import (
	"context"
	"io"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/ident"
	"fanfare/internal/record"
)

// Store keeps the records of assets.
type Store interface {
	// Save inserts a record or, where the workspace has these bytes already,
	// renews when that one was last touched. It returns the one that is there.
	Save(ctx context.Context, a *Asset, cause record.Cause) (record.Doc, error)
	// ByID reads those of the records that there are, in the order of their
	// ids.
	ByID(ctx context.Context, workspace ident.ID, ids []ident.ID) ([]*Asset, error)
	// Linked notes that a link to an asset was given out.
	Linked(ctx context.Context, id ident.ID, link record.Doc, at clock.Instant, cause record.Cause) error
	// Workspaces lists all workspaces.
	Workspaces(ctx context.Context) ([]ident.ID, error)
	// Idle lists assets last touched at or before a moment that no record
	// refers to.
	Idle(ctx context.Context, workspace ident.ID, before clock.Instant, most int) ([]Idle, error)
	// Drop removes the records that are still idle, whatever happened since
	// they were listed.
	Drop(ctx context.Context, workspace ident.ID, before clock.Instant, idle []Idle) error
	// Named returns which of these hashes a record of the workspace names.
	Named(ctx context.Context, workspace ident.ID, sums []string) (map[string]bool, error)
}

// Idle is an asset that nobody uses.
type Idle struct {
	ID     ident.ID
	SHA256 string
}

// Files keeps bytes under the workspace and their SHA-256 in hexadecimal. Every
// file carries when it was last put or touched.
type Files interface {
	// Put keeps bytes and returns when they are durable. Bytes that are there
	// already are only touched. A Remove that is under way at the same time
	// either sees this or has removed the file before, and it is written anew:
	// after Put the file stays for as long as Remove asks it to.
	Put(workspace ident.ID, sum string, b []byte) error
	// Open reads a file; the error for a missing one is fs.ErrNotExist.
	Open(workspace ident.ID, sum string) (f io.ReadCloser, size int64, err error)
	// Touch marks a file as used now. A missing one is no error.
	Touch(workspace ident.ID, sum string) error
	// Old calls each for the files last put or touched before a moment.
	Old(ctx context.Context, before time.Time, each func(workspace ident.ID, sum string) error) error
	// Remove removes a file unless it was put or touched since a moment.
	Remove(workspace ident.ID, sum string, before time.Time) error
}
