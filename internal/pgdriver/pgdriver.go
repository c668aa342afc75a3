// Package pgdriver has what every use of the PostgreSQL driver shares: how a
// pool of connections is set up, and what an error means.
package pgdriver

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgxpool"
)

// RollbackWait is how long the database may take to roll back or to cancel a
// statement before its connection is closed.
const RollbackWait = 5 * time.Second

// connectTimeout is how long one host may take to accept a connection. Without
// it a host that does not answer, as after a power cut, would use up the time of
// the caller, and the next host of the URL would never be tried.
const connectTimeout = 5 * time.Second

// ParseURL returns the configuration of a pool. conns is the largest number of
// connections, unless the URL has pool_max_conns. The URL may name several
// hosts, which are tried in turn.
func ParseURL(url string, conns int) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	if !strings.Contains(url, "pool_max_conns") {
		config.MaxConns = int32(conns)
	}
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = connectTimeout
	}
	if config.ConnConfig.RuntimeParams["application_name"] == "" {
		config.ConnConfig.RuntimeParams["application_name"] = "fanfare"
	}
	config.ConnConfig.OnNotice = noteWarning
	// A canceled context should cancel the statement, not close the connection.
	config.ConnConfig.BuildContextWatcherHandler = func(c *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: c, DeadlineDelay: RollbackWait}
	}
	return config, nil
}

// See https://www.postgresql.org/docs/current/errcodes-appendix.html.
const (
	codeUnique        = "23505"
	codeSerialization = "40001"
	codeDeadlock      = "40P01"
	codeCanceled      = "57014"
	codeReadOnly      = "25006"
	codeNoTable       = "42P01"
	codeLockTimeout   = "55P03"

	classConstraint = "23"
	classConnection = "08"
	classResources  = "53"
	classOperator   = "57"
	classSystem     = "58"
)

func code(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	return ""
}

// Unique reports whether a unique index refused a row.
func Unique(err error) bool { return code(err) == codeUnique }

// NoTable reports whether a table does not exist.
func NoTable(err error) bool { return code(err) == codeNoTable }

// LockTimeout reports whether a lock was not free within lock_timeout.
func LockTimeout(err error) bool { return code(err) == codeLockTimeout }

// Constraint reports whether a constraint refused a row.
func Constraint(err error) bool { return strings.HasPrefix(code(err), classConstraint) }

// Aborted reports whether the database aborted a transaction in favor of
// another one, so that the same transaction may succeed when it is repeated.
func Aborted(err error) bool {
	c := code(err)
	return c == codeSerialization || c == codeDeadlock
}

// Lost reports whether the connection could not be made, or ended before the answer
// came, so that the outcome is not known.
func Lost(err error) bool {
	if code(err) != "" {
		return false
	}
	if errors.Is(err, ErrNotReplicated) {
		return true
	}
	_, connecting := errors.AsType[*pgconn.ConnectError](err)
	_, network := errors.AsType[net.Error](err)
	return connecting || network || pgconn.SafeToRetry(err) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed)
}

// Ended reports whether err means that ctx ended. lost says that the connection
// is gone.
func Ended(ctx context.Context, err error, lost bool) bool {
	if ctx.Err() == nil {
		return false
	}
	c := code(err)
	return lost || c == "" || c == codeCanceled
}

// Unavailable reports whether an error is about the server and not about the
// statement. A server that only reads is one that another has just replaced.
func Unavailable(err error) bool {
	c := code(err)
	switch c {
	case codeCanceled:
		return false
	case codeReadOnly:
		return true
	}
	for _, class := range []string{classConnection, classResources, classOperator, classSystem} {
		if strings.HasPrefix(c, class) {
			return true
		}
	}
	return false
}
