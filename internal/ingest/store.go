package ingest

import (
	"context"
	"io"
	"time"

	"fanfare/internal/connection"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
	"fanfare/internal/page"
	"fanfare/internal/record"
)

// Facts stores facts.
type Facts interface {
	// Write writes a batch, all or nothing. Repeating it changes nothing; an
	// import that was written before is not written again, whatever came later.
	Write(ctx context.Context, b *fact.Batch) error
	// Undo removes the facts of an import and restores those that it replaced.
	// It returns the number of removed rows; none is not an error.
	Undo(ctx context.Context, workspace, imported ident.ID) (int64, error)
}

// Sources are the connections of own data.
type Sources interface {
	// Source finds or creates a connection and its account. An id that does not
	// exist, and a currency or time zone that differs from the account's, are
	// faults of their field: source, currency, timezone.
	Source(ctx context.Context, cause record.Cause, s connection.Source) (connection.KnownSource, error)
	// Begin is called before facts are written, so that dependent data is
	// updated even if RecordFeed is never reached.
	Begin(ctx context.Context, workspace, id ident.ID) error
	// RecordFeed records success, and the answer under the idempotency key, in one
	// transaction.
	RecordFeed(ctx context.Context, cause record.Cause, id ident.ID, f connection.FeedResult) error
}

// KindVariant is the kind of a creative's variant, in addition to those of
// package fact.
const KindVariant = "variant"

// Records looks up records.
type Records interface {
	// Find looks up ids of one kind and returns the records that facts are
	// linked to: the record itself, or the creative of a variant. It takes at
	// most MaxLookup ids. The map omits ids that do not exist in the workspace.
	Find(ctx context.Context, workspace ident.ID, kind string, ids []ident.ID) (map[ident.ID]ident.ID, error)
}

// ImportStore stores imports. Save is atomic: it saves the record, its events,
// its audit entry and the caller's idempotency key together, or nothing. A
// missing record is a not_found fault. A concurrent change is record.ErrRace.
type ImportStore interface {
	// Save writes a new record, or one that has not changed since Load.
	Save(ctx context.Context, i *Import, save record.Save) (record.Doc, error)
	Load(ctx context.Context, workspace, id ident.ID) (*Import, error)
	Doc(ctx context.Context, workspace, id ident.ID) (record.Doc, error)
	List(ctx context.Context, workspace ident.ID, q page.Query) (page.Page, error)
	// Same returns the newest committed import of the file with this SHA-256 to
	// a source, or empty.
	Same(ctx context.Context, workspace ident.ID, source, sum string) (ident.ID, error)
}

// Files stores the uploaded bytes by workspace and SHA-256 in hexadecimal.
type Files interface {
	// Put stores bytes and returns when they are durable. For existing bytes,
	// the retention starts again.
	Put(workspace ident.ID, sum string, b []byte) error
	// Open opens a file. A missing file is fs.ErrNotExist.
	Open(workspace ident.ID, sum string) (f io.ReadCloser, size int64, err error)
	// Old calls each for files that were last put before a time.
	Old(ctx context.Context, before time.Time, each func(workspace ident.ID, sum string) error) error
	// Remove removes a file unless it was put since before.
	Remove(workspace ident.ID, sum string, before time.Time) error
}

// Parquet reads Parquet files.
type Parquet interface {
	// ReadParquet calls each with batches of rows, with every cell as text:
	// empty for null, days as YYYY-MM-DD, numbers as plain decimals. It stops at
	// the first error of each and returns it. It returns fact.ErrUnreadableFile
	// for a file that is not Parquet, and a fact.FileTooLargeError for one that
	// exceeds the limits.
	ReadParquet(ctx context.Context, file []byte, limits fact.FileLimits, each func(columns []string, rows [][]string) error) error
}
