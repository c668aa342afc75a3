package store

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"fanfare/internal/record"
)

// Tx is one transaction of an engine. Only one goroutine may use it, only
// inside the function that receives it.
//
// Statements use $1, $2 … each once and in ascending order, because one of the
// drivers binds by first appearance. Arguments are string, int, int64, bool,
// []byte or nil.
type Tx interface {
	// Exec runs one statement and returns how many rows it changed.
	Exec(query string, args ...any) (int64, error)
	// Query runs one statement, which may write, and returns all its rows.
	Query(query string, args ...any) (*Rows, error)
	// Script runs several statements without arguments, for migrations.
	Script(text string) error
	// Touch reports a topic that this transaction changes to the Watcher.
	Touch(topic string)
}

// errTxDone is the error of a statement after the function that received its Tx
// has returned.
var errTxDone = errors.New("transaction used after its end")

// RunTx runs fn with the transaction of an engine and reports a panic as an
// error. failed is the error that every statement of tx returns, nil before the
// first one fails: it counts even when fn returns nil. After RunTx, every
// statement fails.
func RunTx(tx Tx, failed *error, fn func(Tx) error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic in transaction: %v\n%s", v, debug.Stack())
		}
		*failed = errTxDone
	}()
	err = fn(tx)
	if err == nil {
		err = *failed
	}
	return err
}

// Engine is the interface that a database implements to store the records. Its
// methods cover everything that SQLite and PostgreSQL do differently; all other
// SQL is one text for both.
type Engine interface {
	// Query runs one read-only statement outside a transaction and returns all
	// its rows.
	Query(ctx context.Context, query string, args ...any) (*Rows, error)
	// Write runs fn in a transaction. If Write returns nil, the changes are
	// durable; if it returns an error, nothing changed. fn may run more than
	// once. It must have no effect outside tx, except on variables that it
	// overwrites on every run.
	Write(ctx context.Context, fn func(tx Tx) error) error
	// WriteAsync is Write without the wait for the disk, if the engine can do
	// that: a crash can lose the changes of its last second. Every reader sees
	// the changes when it returns nil.
	WriteAsync(ctx context.Context, fn func(tx Tx) error) error
	// Snapshot runs fn on one consistent snapshot of the whole database.
	Snapshot(ctx context.Context, fn func(tx Tx) error) error
	// Check verifies the structure of the whole database. If thorough, it also
	// verifies that indexes match tables. It returns ErrDamaged if it finds
	// damage. An engine on a database server returns nil, because the server
	// checks itself.
	Check(ctx context.Context, thorough bool) error
	// Watch registers a watcher. Call it before the engine is used.
	Watch(w Watcher)
	// Traits returns the properties of this engine.
	Traits() Traits
	// Close waits for running transactions and closes the database.
	Close() error
}

// Watcher receives the topics that a transaction touched. Committing is called
// before any reader can see the commit. Committed is called after the commit,
// also if it failed. Both calls happen before Write returns. On a shared
// engine, Committed is also called for the broadcast topics that other nodes
// touched.
type Watcher interface {
	Committing(topics []string)
	Committed(topics []string)
}

// TopicBroadcast is the prefix of topics that must reach every node.
const TopicBroadcast = "!"

// Traits are the differences between engines that callers may act on.
type Traits struct {
	// Name is sqlite or postgres. A migration for one engine has it in its file
	// name.
	Name string
	// Exclusive reports that no other process can write to this database, so
	// that the Watcher sees every change.
	Exclusive bool
	// Damage is set once the engine knows that the database is damaged. A
	// record that a query does not find may then still exist. It wraps
	// ErrDamaged.
	Damage error
	// ClaimLock is appended to the inner SELECT of a claim, so that two nodes
	// never claim the same row.
	ClaimLock string
	// RowLock is appended to a SELECT whose rows the transaction changes, so
	// that nodes change the rows one after the other.
	RowLock string
	// MigrationLock, if not empty, is the first statement of each migration
	// transaction.
	MigrationLock string
	// Unclean reports that the database must be checked before use: the
	// previous process did not close it, or found damage.
	Unclean bool
	// Clock is a query that returns the database's time in microseconds since
	// 1970. It is empty if the database has no clock of its own.
	Clock string
}

// UniqueError is returned by an engine if a statement violates a unique index.
// The whole transaction is rolled back if Write's function returns it.
type UniqueError struct{ Cause error }

func (e *UniqueError) Error() string { return "unique value taken: " + e.Cause.Error() }

func (e *UniqueError) Unwrap() error { return e.Cause }

// ErrUnavailable marks errors of the database itself, such as a full disk or a
// lost connection. The caller may retry later.
var ErrUnavailable = errors.New("database unavailable")

// Urgent reports whether a write may use the space that an engine reserves for
// a full disk.
func Urgent(ctx context.Context) bool { return record.IsUrgent(ctx) }

// maxBytesKey is the key of contexts with a limit of the bytes of rows.
type maxBytesKey struct{}

// WithMaxBytes returns a context in which Query returns so many bytes of rows at
// most, but at least one row. Rows.Cut reports that rows were left out.
func WithMaxBytes(ctx context.Context, most int) context.Context {
	return context.WithValue(ctx, maxBytesKey{}, most)
}

// MaxBytes returns the limit that WithMaxBytes set, 0 for none.
func MaxBytes(ctx context.Context) int {
	most, _ := ctx.Value(maxBytesKey{}).(int)
	return most
}

// ErrDamaged marks errors of a database with corrupt pages. After the first
// such error, an engine refuses every write.
var ErrDamaged = errors.New("database damaged")

// ErrDisplaced marks errors of a database whose file was removed or replaced
// while it is open. An engine refuses every write until the file is back.
var ErrDisplaced = errors.New("database file removed or replaced")

// ErrOverwritten marks errors of a database whose file another program has
// written to. An engine refuses every read and write, because it may read other
// data than was stored.
var ErrOverwritten = errors.New("database file overwritten")

// ErrInUse is returned for a database on a server that another process has open,
// if one of the two needs it for itself.
var ErrInUse = errors.New("the database is in use: stop all nodes with SIGTERM (`systemctl stop fanfare` or Ctrl-C), and wait until other commands and `fanfare migrate-store` have ended")
