package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"fanfare/internal/store"
)

// See https://www.postgresql.org/docs/current/errcodes-appendix.html.
const (
	codeUnique        = "23505"
	codeSerialization = "40001"
	codeDeadlock      = "40P01"
	codeCanceled      = "57014"
	codeReadOnly      = "25006"

	classConstraint = "23"
	classConnection = "08"
	classResources  = "53"
	classOperator   = "57"
	classSystem     = "58"
)

// classify turns an error of the driver into one that store knows. lost says
// that the connection is gone.
func classify(ctx context.Context, err error, lost bool) error {
	if err == nil {
		return nil
	}
	var e *pgconn.PgError
	if errors.As(err, &e) && e.Code == codeUnique {
		return &store.UniqueError{Cause: err}
	}
	if ended := ctx.Err(); ended != nil && (lost || e == nil || e.Code == codeCanceled) {
		return ended
	}
	if lost || e != nil && unavailable(e.Code) {
		return fmt.Errorf("%w: %w", store.ErrUnavailable, err)
	}
	return err
}

// unavailable says whether the code is about the server and not the statement.
// A server that only reads is one that another has just replaced.
func unavailable(code string) bool {
	switch code {
	case codeCanceled:
		return false
	case codeReadOnly:
		return true
	}
	for _, class := range []string{classConnection, classResources, classOperator, classSystem} {
		if strings.HasPrefix(code, class) {
			return true
		}
	}
	return false
}

// gaveWay says whether the database ended the transaction in favour of another
// one, so that the same again may succeed.
func gaveWay(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && (e.Code == codeSerialization || e.Code == codeDeadlock)
}
