package postgres

import (
	"context"
	"fmt"

	"fanfare/internal/pgdriver"
	"fanfare/internal/store"
)

// classify turns an error of the driver into one that store knows. lost says
// that the connection is gone.
func classify(ctx context.Context, err error, lost bool) error {
	switch {
	case err == nil:
		return nil
	case pgdriver.Unique(err):
		return &store.UniqueError{Cause: err}
	case pgdriver.Ended(ctx, err, lost):
		return ctx.Err()
	case lost || pgdriver.Unavailable(err):
		return fmt.Errorf("%w: %w", store.ErrUnavailable, err)
	}
	return err
}
