package store

import (
	"context"
	"errors"

	"fanfare/internal/record"
)

// Tx is one transaction of an engine. It is used by one goroutine, inside the
// function it was given to, and never kept.
//
// Statements use $1, $2 … each once and in ascending order, because one of the
// drivers binds by first appearance. Arguments are string, int, int64, bool,
// []byte or nil.
type Tx interface {
	// Exec runs one statement and returns how many rows it changed.
	Exec(query string, args ...any) (int64, error)
	// Query runs one statement, which may write, and returns all its rows.
	Query(query string, args ...any) (*Rows, error)
	// Script runs several statements without arguments. For migrations.
	Script(text string) error
	// Touch names something this transaction changes, for Engine.Watch.
	Touch(topic string)
}

// Engine is what a database must offer to hold the records. Everything that
// SQLite and PostgreSQL do differently is behind these methods; all other SQL
// is one text for both.
type Engine interface {
	// Query runs one reading statement on its own and returns all its rows.
	Query(ctx context.Context, query string, args ...any) (*Rows, error)
	// Write runs fn in a transaction. When it returns nil the changes are
	// durable; when it returns an error there are none. fn may run more than
	// once and must have no effect outside tx except through variables it
	// overwrites on every run.
	Write(ctx context.Context, fn func(tx Tx) error) error
	// Snapshot runs fn against one unchanging state of the whole database.
	Snapshot(ctx context.Context, fn func(tx Tx) error) error
	// Check examines the structure of the whole database, and if it is to be
	// thorough also whether indexes and tables say the same. It returns
	// ErrDamaged if there is anything wrong. An engine on a database server
	// leaves that to the server and returns nil.
	Check(ctx context.Context, thorough bool) error
	// Watch registers a watcher before the engine is used.
	Watch(w Watcher)
	// Traits tells what sets this engine apart.
	Traits() Traits
	// Close waits for the running transactions and lets the database go.
	Close() error
}

// Watcher hears of the topics a transaction touched. Committing comes before
// the commit can be seen by anybody, Committed after it (also when the commit
// failed), both before Write returns. On a shared engine Committed also comes
// for the broadcast topics that other nodes touched.
type Watcher interface {
	Committing(topics []string)
	Committed(topics []string)
}

// TopicBroadcast is the prefix of topics that must reach every node.
const TopicBroadcast = "!"

// Traits are the differences between engines that callers may act on.
type Traits struct {
	// Name is sqlite or postgres; migrations may carry it in their file name.
	Name string
	// Exclusive says that no other process can write this database, so that
	// what Watch reports is everything that happens.
	Exclusive bool
	// ClaimLock ends the inner SELECT of a claim so that two nodes never
	// claim the same row.
	ClaimLock string
	// RowLock ends a SELECT whose rows the transaction is going to change, so
	// that two nodes follow each other.
	RowLock string
	// MigrationLock, if not empty, is run first in each migration transaction.
	MigrationLock string
	// Unclean says that the database must be checked before it is used: the
	// process before did not close it, or found damage in it.
	Unclean bool
	// Clock is a query that returns the database's own time in microseconds
	// since 1970, empty when the database has no clock of its own.
	Clock string
}

// UniqueError is returned by an engine when a statement would break a unique
// index; the whole transaction is rolled back when it leaves Write.
type UniqueError struct{ Cause error }

func (e *UniqueError) Error() string { return "unique value taken: " + e.Cause.Error() }

func (e *UniqueError) Unwrap() error { return e.Cause }

// ErrUnavailable marks errors of the database itself (full disk, lost
// connection): the caller may try again later.
var ErrUnavailable = errors.New("database unavailable")

// Urgent reports whether a write may use the space that an engine keeps for a
// full disk.
func Urgent(ctx context.Context) bool { return record.IsUrgent(ctx) }

// ErrDamaged marks errors of a database whose pages are corrupt. From the first
// one on, an engine refuses every write.
var ErrDamaged = errors.New("database damaged")
