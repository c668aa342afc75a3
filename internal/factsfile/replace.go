package factsfile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"fanfare/internal/metrics/duckdb"
	"fanfare/internal/store"
)

// prepared is the folder, inside of the data folder, in which new facts are
// completed before they replace the old ones.
const prepared = "facts.new"

// Replace begins new facts, empty or with what fill puts into them. The new file
// is complete before the old one is touched: where fill fails, for example
// because a backup is damaged or the disk is full, everything stays as it was.
// Replace calls lose before the new facts can be seen, to mark what is
// incomplete. It keeps the old file beside the new one under the name that it
// returns, empty where there was none. Between the two, facts are unavailable,
// also after a crash; Replace can be repeated.
func (f *File) Replace(ctx context.Context, lose func() error, fill func(*duckdb.Engine) error) (kept string, err error) {
	f.replacing.Lock()
	defer f.replacing.Unlock()
	dir := filepath.Join(f.config.Dir, prepared)
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := f.prepare(ctx, dir, fill); err != nil {
		return "", fmt.Errorf("the facts stay as they were: %w", err)
	}
	if e := f.take(replacing); e != nil {
		if err := e.Close(); err != nil {
			f.config.Log.WarnContext(ctx, "replaced facts file not closed: restart the server to free its space", "error", err)
		}
	}
	if err := lose(); err != nil {
		return "", err
	}
	if kept, err = duckdb.Retire(f.config.Dir); err != nil {
		return "", err
	}
	if err := duckdb.Move(dir, f.config.Dir); err != nil {
		return kept, err
	}
	return kept, f.begin(ctx)
}

// prepare makes a complete file of facts in a folder.
func (f *File) prepare(ctx context.Context, dir string, fill func(*duckdb.Engine) error) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	c := f.config
	c.Dir = dir
	e, err := c.open(ctx)
	if err != nil {
		return err
	}
	return errors.Join(fill(e), e.Close())
}

// begin opens the new file and has the store know it.
func (f *File) begin(ctx context.Context) error {
	e, err := f.config.open(ctx)
	if err != nil {
		return err
	}
	id := f.newFactsID()
	err = e.Adopt(ctx, id)
	if err == nil {
		err = f.config.DB.SetFactsMark(ctx, store.FactsMark{ID: id, Generation: e.Identity().Generation})
	}
	if err != nil {
		return errors.Join(err, e.Close())
	}
	f.put(e)
	return nil
}
