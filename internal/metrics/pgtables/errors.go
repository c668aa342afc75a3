package pgtables

import (
	"context"
	"errors"
	"time"

	"fanfare/internal/fault"
	"fanfare/internal/pgdriver"
)

// retryAfter is when a caller may try again if the database is unavailable.
const retryAfter = 5 * time.Second

// ToFault turns an error about the database itself into an unavailable fault, and
// one about a canceled statement into the error of the context.
func ToFault(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil && (errors.Is(err, ctx.Err()) || pgdriver.Ended(ctx, err, false)) && !fault.Is(err, fault.Unavailable) {
		return ctx.Err()
	}
	if pgdriver.NoTable(err) {
		f := fault.New(fault.Unavailable, "Metrics are unavailable: tables of their database are missing. Everything else works. The operator restores them with `fanfare facts restore BACKUP`, or accepts the loss with `fanfare facts reset`, which reads them again from the platforms.").Because(err)
		f.RetryAfter = time.Minute
		return f
	}
	if pgdriver.Lost(err) || pgdriver.Unavailable(err) {
		return Unavailable(err)
	}
	return err
}

// Unavailable returns the fault for a database that cannot be reached.
func Unavailable(cause error) error {
	f := fault.New(fault.Unavailable, "The service cannot reach the database of its metrics at the moment. Try again in 5 seconds.").Because(cause)
	f.RetryAfter = retryAfter
	return f
}
