package factsfile

import (
	"context"
	"errors"
	"fmt"
	"io"

	"fanfare/internal/ident"
	"fanfare/internal/metrics/duckdb"
	"fanfare/internal/store"
)

// Open opens the facts that belong to the store, and no others. Where there are
// none that can be trusted it returns a File that says why, and no error.
//
// The file gets a new id at every start, which only the store knows besides: so
// an older copy of the file, the file of a copied folder, and a store that is
// older than the file do not match. The order is: the store notes the next id,
// the file takes it, the store makes it the id. After a crash in between, the
// file has one of the two ids that the store has noted.
func Open(ctx context.Context, c Config) (*File, error) {
	f := &File{config: c}
	e, mark, why, err := f.find(ctx, c.open)
	if why != "" {
		f.without(why, err)
		return f, nil
	}
	if err != nil {
		return nil, err
	}
	switch err = f.renew(ctx, e, mark); {
	case err == nil:
	case errors.Is(err, store.ErrFactsMoved):
		f.without(moved, errors.Join(err, e.Close()))
		return f, nil
	case duckdb.Damaged(err):
		f.without(unreadable, errors.Join(err, e.Close()))
		return f, nil
	default:
		return nil, errors.Join(err, e.Close())
	}
	f.put(e)
	return f, nil
}

// renew gives the file a new id, and notes it in the store whose mark was read.
func (f *File) renew(ctx context.Context, e *duckdb.Engine, mark store.FactsMark) error {
	have, next := e.Identity(), f.newFactsID()
	// A file that already has the next id got it right before a crash.
	to := store.FactsMark{ID: mark.ID, Generation: mark.Generation, Next: next}
	if mark.Next != "" && have.ID == mark.Next {
		to.ID = mark.Next
	}
	if err := f.config.DB.ChangeFactsMark(ctx, mark, to); err != nil {
		return err
	}
	if err := e.Adopt(ctx, next); err != nil {
		return err
	}
	return f.config.DB.RaiseFactsMark(ctx, store.FactsMark{ID: next, Generation: have.Generation})
}

func (f *File) newFactsID() string {
	return string(ident.New(ident.Facts, f.config.Now(), f.config.Random))
}

// Claim makes the facts in a folder those of a store that was just filled from
// the same backup.
func Claim(ctx context.Context, c Config, e *duckdb.Engine) error {
	f := &File{config: c}
	mark, err := c.DB.FactsMark(ctx)
	if err != nil {
		return err
	}
	return f.renew(ctx, e, mark)
}

// find finds the facts that belong to the store, or the reason why there are
// none. A crash between the commits of the two leaves facts of a higher
// generation than the store has noted, which is right. Where the store has no
// facts yet, an empty file is made.
func (f *File) find(ctx context.Context, open func(context.Context) (*duckdb.Engine, error)) (e *duckdb.Engine, mark store.FactsMark, why string, err error) {
	db, alone := f.config.DB, f.config.Alone
	if mark, err = db.FactsMark(ctx); err != nil {
		return nil, mark, "", err
	}
	expected := mark.Generation > 0 || mark.ID != "" && !alone
	if mark.ID == "" {
		// A store of an older version, or one that was just restored.
		if expected, err = db.HasSynced(ctx); err != nil {
			return nil, mark, "", err
		}
	}
	if expected && !duckdb.Exists(f.config.Dir) {
		return nil, mark, missingReason(alone), nil
	}
	e, err = open(ctx)
	if errors.Is(err, duckdb.ErrNewer) {
		return nil, mark, "", err
	}
	if err != nil {
		return nil, mark, unreadable, err
	}
	if why = judgeIdentity(e.Identity(), mark, expected, alone); why != "" {
		return nil, mark, why, e.Close()
	}
	return e, mark, "", nil
}

// judgeIdentity returns the reason why a file cannot be used, empty where it is
// the one that the store knows.
func judgeIdentity(have duckdb.Identity, mark store.FactsMark, expected, alone bool) string {
	same := have.ID == mark.ID || mark.Next != "" && have.ID == mark.Next
	switch {
	case same && mark.ID != "" && have.Noted > mark.Generation:
		return foreign // the store is the older one
	case same && mark.ID != "" && have.Generation >= mark.Generation:
		return ""
	case have.Generation == 0 && expected:
		return missingReason(alone)
	case have.Generation == 0 && alone, same && have.Generation >= mark.Generation:
		return ""
	case same:
		return older
	case alone:
		return foreign
	}
	return moved
}

// missingReason returns why there are no facts. A server that is not alone may
// have them on another node.
func missingReason(alone bool) string {
	if alone {
		return missing
	}
	return elsewhere
}

// Examine says what is wrong with the facts in a folder that no process has
// open. It changes neither them nor the store.
func Examine(ctx context.Context, c Config) error {
	f := &File{config: c}
	open := c.open
	if !duckdb.Exists(c.Dir) {
		// Opening would make an empty file.
		open = func(context.Context) (*duckdb.Engine, error) { return nil, errNone }
	}
	e, _, why, err := f.find(ctx, open)
	if errors.Is(err, errNone) {
		return nil
	}
	if why != "" {
		return errors.Join(errors.New(f.operatorMessage(why)), err)
	}
	if err != nil {
		return err
	}
	if err = e.Dump(ctx, io.Discard); err != nil {
		err = fmt.Errorf("%w. %s", err, f.fix())
	}
	return errors.Join(err, e.Close())
}

var errNone = errors.New("there are no facts")
