package factsfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"fanfare/internal/ident"
	"fanfare/internal/metrics/duckdb"
	"fanfare/internal/store"
)

// Open opens the facts file that belongs to the store. If there is none, it
// returns a File that reports the reason, and no error.
//
// Every start gives the file a new id, which is also in the store. So an older
// copy of the file, the file of a copied folder, and a store that is older than
// the file do not match. The store records the next id, then the file takes it,
// then the store makes it the current id. After a crash in between, the file has
// one of the two ids in the store.
func Open(ctx context.Context, c Config) (*File, error) {
	f := &File{config: c}
	e, mark, why, err := f.openMatching(ctx, c.open)
	if why != "" {
		f.setUnavailable(why, err)
		return f, nil
	}
	if err != nil {
		return nil, err
	}
	switch err = f.assignNewID(ctx, e, mark); {
	case err == nil:
	case errors.Is(err, store.ErrFactsMoved):
		f.setUnavailable(reasonMoved, errors.Join(err, e.Close()))
		return f, nil
	case duckdb.NoSpace(err):
		f.setUnavailable(reasonNoSpace, errors.Join(err, e.Close()))
		return f, nil
	case duckdb.Damaged(err):
		f.setUnavailable(f.whyUnreadable(), errors.Join(err, e.Close()))
		return f, nil
	default:
		return nil, errors.Join(err, e.Close())
	}
	f.attach(e)
	return f, nil
}

// assignNewID gives the file a new id and records it in the store. It fails if
// the store's mark is no longer mark.
func (f *File) assignNewID(ctx context.Context, e *duckdb.Engine, mark store.FactsMark) error {
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

// Claim makes the facts file in a folder the one of a store that was just restored
// from the same backup.
func Claim(ctx context.Context, c Config, e *duckdb.Engine) error {
	f := &File{config: c}
	mark, err := c.DB.FactsMark(ctx)
	if err != nil {
		return err
	}
	return f.assignNewID(ctx, e, mark)
}

// openMatching opens the facts file that belongs to the store, or returns the
// reason why there is none. If the store has no facts yet, it creates an empty
// file. A file of a higher generation than in the store is right: the process
// ended between the commits of the two.
func (f *File) openMatching(ctx context.Context, open func(context.Context) (*duckdb.Engine, error)) (e *duckdb.Engine, mark store.FactsMark, why string, err error) {
	db, alone := f.config.DB, f.config.Alone
	if mark, err = db.FactsMark(ctx); err != nil {
		return nil, mark, "", err
	}
	expected := mark.Generation > 0 || mark.ID != "" && !alone
	if mark.ID == "" {
		// The store is of an older version, or was just restored.
		if expected, err = db.HasSynced(ctx); err != nil {
			return nil, mark, "", err
		}
	}
	if expected && !duckdb.Exists(f.config.Dir) {
		return nil, mark, missingReason(mark, alone), nil
	}
	e, err = open(ctx)
	if errors.Is(err, duckdb.ErrNewer) {
		return nil, mark, "", err
	}
	if err != nil {
		return nil, mark, f.whyUnreadable(), err
	}
	if why = mismatchReason(e.Identity(), mark, expected, alone); why != "" {
		return nil, mark, why, e.Close()
	}
	return e, mark, "", nil
}

// mismatchReason returns why a file does not belong to the store, empty if it
// does.
func mismatchReason(have duckdb.Identity, mark store.FactsMark, expected, alone bool) string {
	same := have.ID == mark.ID || mark.Next != "" && have.ID == mark.Next
	switch {
	case have.Writer != "" && have.Writer != have.ID:
		return reasonForeign // the log is of another file
	case same && mark.ID != "" && have.RecordedGeneration > mark.Generation:
		return reasonForeign // the store is the older one
	case same && mark.ID != "" && have.Generation >= mark.Generation:
		return ""
	case have.Generation == 0 && expected:
		return missingReason(mark, alone)
	case have.Generation == 0 && alone, same && have.Generation >= mark.Generation:
		return ""
	case same:
		return reasonOlder
	case alone:
		return reasonForeign
	}
	return reasonMoved
}

// missingReason returns why there is no file. If nodes share the store, another
// node may have the file.
func missingReason(mark store.FactsMark, alone bool) string {
	if strings.HasSuffix(mark.ID, store.SharedFacts) {
		return reasonShared
	}
	if alone {
		return reasonMissing
	}
	return reasonOtherNode
}

// Examine reads all facts in a folder that no process has open and returns the
// problems. It changes neither the facts nor the store.
func Examine(ctx context.Context, c Config) error {
	f := &File{config: c}
	open := c.open
	if !duckdb.Exists(c.Dir) {
		// Opening would create an empty file.
		open = func(context.Context) (*duckdb.Engine, error) { return nil, errNoFile }
	}
	e, _, why, err := f.openMatching(ctx, open)
	if errors.Is(err, errNoFile) {
		return nil
	}
	if why != "" {
		return errors.Join(errors.New(f.operatorMessage(why)), err)
	}
	if err != nil {
		return err
	}
	if err = e.Dump(ctx, io.Discard); err != nil {
		err = fmt.Errorf("%w. %s", err, f.operatorFix(reasonDamaged))
	}
	return errors.Join(err, e.Close())
}

// OpenCopy opens a copy of the facts file of a store, which no process has open.
// It makes the copy in the folder dir and changes neither the file nor the store.
// It returns nil if the store has no facts yet.
func OpenCopy(ctx context.Context, c Config, dir string) (*duckdb.Engine, error) {
	f := &File{config: c}
	e, _, why, err := f.openMatching(ctx, func(ctx context.Context) (*duckdb.Engine, error) {
		if !duckdb.Exists(c.Dir) {
			return nil, errNoFile
		}
		if err := duckdb.Copy(c.Dir, dir); err != nil {
			return nil, err
		}
		o := c.options()
		o.NoMaintenance = true
		return duckdb.Open(ctx, dir, o)
	})
	switch {
	case errors.Is(err, errNoFile):
		return nil, nil
	case why != "":
		return nil, errors.Join(errors.New(f.operatorMessage(why)), err)
	}
	return e, err
}

var errNoFile = errors.New("there are no facts")
