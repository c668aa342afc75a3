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

// Facts keeps what is brought in.
type Facts interface {
	// Write brings a batch in, all of it or nothing. The same batch again
	// changes nothing.
	Write(ctx context.Context, b *fact.Batch) error
	// Undo takes out what an import has brought in and puts back what that had
	// replaced. It reports how many rows went; none is no error.
	Undo(ctx context.Context, workspace, imported ident.ID) (int64, error)
}

// Sources are the connections of own data.
type Sources interface {
	// Source finds or makes a connection and its account. An id that names
	// nothing, a currency and a zone that are not the account's are faults of
	// their field: source, currency, timezone.
	Source(ctx context.Context, cause record.Cause, s connection.Source) (connection.Feed, error)
	// Begin comes before facts are written, so that what depends on them is
	// brought up to date even if Fed is never reached.
	Begin(ctx context.Context, workspace, id ident.ID) error
	// Fed notes success and the answer under the cause's key, in one
	// transaction.
	Fed(ctx context.Context, cause record.Cause, id ident.ID, f connection.Fed) error
}

// KindVariant is the kind of a creative's variant, beside those of package
// fact.
const KindVariant = "variant"

// Records tells which of our records there are.
type Records interface {
	// Find looks up ids of one kind and returns the record that facts are
	// linked to: the one itself, and for a variant its creative. It is asked
	// for at most MaxLookup at once; those that name nothing in the workspace
	// are absent.
	Find(ctx context.Context, workspace ident.ID, kind string, ids []ident.ID) (map[ident.ID]ident.ID, error)
}

// ImportStore keeps imports. Save is atomic: it saves the record, its events,
// its audit entry and the caller's idempotency key together, or nothing. A
// missing record is a not_found fault, a lost race record.ErrRace.
type ImportStore interface {
	// Save writes a new record, or one that nobody has changed since it was
	// loaded.
	Save(ctx context.Context, i *Import, save record.Save) (record.Doc, error)
	Load(ctx context.Context, workspace, id ident.ID) (*Import, error)
	Doc(ctx context.Context, workspace, id ident.ID) (record.Doc, error)
	List(ctx context.Context, workspace ident.ID, q page.Query) (page.Page, error)
	// Same returns the newest committed import of the file with this SHA-256
	// to a source, empty where there is none.
	Same(ctx context.Context, workspace ident.ID, source, sum string) (ident.ID, error)
}

// Files keeps the uploaded bytes under the workspace and their SHA-256 in
// hexadecimal.
type Files interface {
	// Put keeps bytes and returns when they are durable. Bytes that are there
	// already are kept from now on.
	Put(workspace ident.ID, sum string, b []byte) error
	// Open reads a file; the error for a missing one is fs.ErrNotExist.
	Open(workspace ident.ID, sum string) (f io.ReadCloser, size int64, err error)
	// Old calls each for the files last put before a moment.
	Old(ctx context.Context, before time.Time, each func(workspace ident.ID, sum string) error) error
	// Remove removes a file unless it was put since a moment.
	Remove(workspace ident.ID, sum string, before time.Time) error
}

// Parquet reads Parquet files.
type Parquet interface {
	// Read calls each with some rows at a time, every cell as text: nothing
	// for null, days as YYYY-MM-DD, numbers as plain decimals. It stops at the
	// first error of each and returns it. A file that is none gives an error
	// that is an ErrUnreadable, one with more rows, columns or text than is
	// allowed what TooLarge makes.
	Read(ctx context.Context, b []byte, each func(columns []string, rows [][]string) error) error
}
