package factsfile

import (
	"context"
	"errors"

	"fanfare/internal/metrics/duckdb"
	"fanfare/internal/store"
)

// Replace begins new facts, empty or with what fill puts into them. It calls
// lose before the new facts can be seen, to mark what is incomplete. The old
// file is kept beside the new one under the name that is returned, empty where
// there was none. Until all is done facts are unavailable, also after a crash;
// Replace can be repeated.
func (f *File) Replace(ctx context.Context, lose func() error, fill func(*duckdb.Engine) error) (kept string, err error) {
	f.replacing.Lock()
	defer f.replacing.Unlock()
	if e := f.take(replacing); e != nil {
		if err := e.Close(); err != nil {
			f.config.Log.WarnContext(ctx, "old facts cannot be closed", "error", err)
		}
	}
	if err := lose(); err != nil {
		return "", err
	}
	if kept, err = duckdb.Retire(f.config.Dir); err != nil {
		return "", err
	}
	e, err := f.config.open(ctx)
	if err != nil {
		return kept, err
	}
	id := f.newID()
	err = fill(e)
	if err == nil {
		err = e.Adopt(ctx, id)
	}
	if err == nil {
		err = f.config.DB.SetFactsMark(ctx, store.FactsMark{ID: id, Generation: e.Identity().Generation})
	}
	if err != nil {
		return kept, errors.Join(err, e.Close())
	}
	f.put(e)
	return kept, nil
}
