package pgdriver

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// ErrNotReplicated says that a transaction is committed on the primary and
// perhaps not on its replica. PostgreSQL reports such a commit as a success with
// a warning, after the statement was canceled while it waited for the replica.
// If the replica is promoted, the transaction may be lost, so that its outcome
// is unknown.
var ErrNotReplicated = errors.New("the commit did not wait for the replica")

// warned is the name under which a connection has what WatchCommit returned.
const warned = "fanfare.warned"

// codeWarning is the class of warnings without a code of their own, such as
// "canceling wait for synchronous replication due to user request".
const codeWarning = "01000"

// noteWarning notes a warning while a transaction is committed.
func noteWarning(c *pgconn.PgConn, n *pgconn.Notice) {
	if seen, ok := c.CustomData()[warned].(*atomic.Bool); ok && n.Code == codeWarning {
		seen.Store(true)
	}
}

// WatchCommit is called right before a commit on a connection of ParseURL. The
// result returns ErrNotReplicated if the commit was successful only on the
// primary. It may be called after the connection was returned to its pool.
func WatchCommit(c *pgx.Conn) func() error {
	seen := &atomic.Bool{}
	c.PgConn().CustomData()[warned] = seen
	return func() error {
		if seen.Load() {
			return ErrNotReplicated
		}
		return nil
	}
}

// Beginner begins a transaction: a pool or a connection.
type Beginner interface {
	Begin(ctx context.Context) (pgx.Tx, error)
}

// Transact runs fn in a transaction and commits it, if fn returns no error.
func Transact(ctx context.Context, db Beginner, fn func(tx pgx.Tx) error) error {
	replicated := func() error { return nil }
	err := pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		if err := fn(tx); err != nil {
			return err
		}
		replicated = WatchCommit(tx.Conn())
		return nil
	})
	if err != nil {
		return err
	}
	return replicated()
}
