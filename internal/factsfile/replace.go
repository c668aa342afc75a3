package factsfile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"fanfare/internal/connection"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/ingest"
	"fanfare/internal/metrics"
	"fanfare/internal/metrics/duckdb"
	"fanfare/internal/record"
	"fanfare/internal/store"
)

// preparedDir is the folder inside the data folder where the new file is written
// before it replaces the old one.
const preparedDir = "facts.new"

// Replaced is the result of replacing the facts.
type Replaced struct {
	connection.Losses
	// Kept is the file with the previous facts, empty if none existed.
	Kept string `json:"kept"`
	// Undone and Purged are how many imports and connections had facts in the
	// new file that were deleted since, and are deleted again.
	Undone int `json:"undone"`
	Purged int `json:"purged"`
}

// Facts are facts that can be replaced: those of a File, or of a database that
// nodes share.
type Facts interface {
	// Replace replaces all facts by empty ones or by those that fill writes, and
	// calls reconcile before requests can read them. workspaces are those of the
	// store.
	Replace(ctx context.Context, workspaces []ident.ID, reconcile func(metrics.ReplaceableEngine, *Replaced) error, fill func(metrics.ReplaceableEngine) error) (Replaced, error)
}

// Replacement replaces the facts and makes the records agree with the new ones.
type Replacement struct {
	Facts Facts
	// Dir is the folder for temporary files.
	Dir         string
	Workspaces  func(ctx context.Context) ([]ident.ID, error)
	Connections Connections
	Imports     Imports
}

// Connections are the sources of facts. connection.Service implements it.
type Connections interface {
	// LoseAll starts a new sync of all connections of the workspaces.
	LoseAll(ctx context.Context, cause record.Cause, workspaces []ident.ID) (connection.Losses, error)
	// Reconcile removes the facts of connections that were deleted since, and
	// returns how many had some.
	Reconcile(ctx context.Context, facts connection.RestoredFacts, workspace ident.ID) (int, error)
}

// Imports are the imports of own data. ingest.Service implements it.
type Imports interface {
	// UndoAgain removes the facts of imports that were undone since, and returns
	// how many had some.
	UndoAgain(ctx context.Context, facts ingest.Facts, workspace ident.ID) (int, error)
}

// Replace replaces the facts by empty ones or by those that fill writes. It
// starts a new sync of all connections, because a backup lacks later facts, and
// deletes again what was deleted since the backup. dir is a folder for temporary
// files.
func (r Replacement) Replace(ctx context.Context, cause record.Cause, fill func(e metrics.ReplaceableEngine, dir string) error) (Replaced, error) {
	workspaces, err := r.Workspaces(ctx)
	if err != nil {
		return Replaced{}, err
	}
	reconcile := func(e metrics.ReplaceableEngine, out *Replaced) (err error) {
		if out.Losses, err = r.Connections.LoseAll(ctx, cause, workspaces); err != nil {
			return err
		}
		return r.deleteAgain(ctx, e, out)
	}
	return r.Facts.Replace(ctx, workspaces, reconcile, func(e metrics.ReplaceableEngine) error { return fill(e, r.Dir) })
}

// deleteAgain removes from restored facts what the records say was deleted, and
// counts it. A workspace that the records do not have has no connections, so all
// its facts are removed.
func (r Replacement) deleteAgain(ctx context.Context, e metrics.ReplaceableEngine, out *Replaced) error {
	workspaces, err := e.Workspaces(ctx)
	if err != nil {
		return err
	}
	for _, w := range workspaces {
		undone, err := r.Imports.UndoAgain(ctx, e, w)
		if err != nil {
			return err
		}
		purged, err := r.Connections.Reconcile(ctx, metrics.Connections{Engine: e}, w)
		if err != nil {
			return err
		}
		out.Undone += undone
		out.Purged += purged
	}
	return nil
}

// Replace replaces the facts file by a new one, empty or with the facts that fill
// writes. The new file is complete before the old one is touched: if fill fails,
// for example because a backup is damaged or the disk is full, nothing changes.
//
// Replace calls reconcile after it has closed the old file and before requests
// can read the new one. reconcile marks incomplete connections and removes facts
// that were deleted since the backup. Meanwhile facts are unavailable, also after
// a crash; Replace can be repeated. It keeps the old file under the name Kept.
func (f *File) Replace(ctx context.Context, _ []ident.ID, reconcile func(metrics.ReplaceableEngine, *Replaced) error, fill func(metrics.ReplaceableEngine) error) (r Replaced, err error) {
	if f == nil {
		return r, errors.New("this server has no file of facts")
	}
	f.replacing.Lock()
	defer f.replacing.Unlock()
	dir := filepath.Join(f.config.Dir, preparedDir)
	defer func() {
		if err = errors.Join(err, os.RemoveAll(dir)); duckdb.NoSpace(err) {
			err = fault.DiskFull(err)
		}
	}()
	next, err := f.prepare(ctx, dir, fill)
	if err != nil {
		return r, fmt.Errorf("the facts stay as they were: %w", err)
	}
	if e := f.detach(reasonReplacing); e != nil {
		if err := e.Close(); err != nil {
			f.config.Log.WarnContext(ctx, "replaced facts file not closed: restart the server to free its space", "error", err)
		}
	}
	if err := errors.Join(reconcile(next, &r), next.Close()); err != nil {
		return r, err
	}
	if r.Kept, err = duckdb.Retire(f.config.Dir); err != nil {
		return r, err
	}
	if err := duckdb.Move(dir, f.config.Dir); err != nil {
		return r, err
	}
	if err := f.openReplacement(ctx); err != nil {
		return r, err
	}
	f.config.Log.WarnContext(ctx, "facts file replaced: send the data of the listed sources again", "resyncing", r.Resyncing, "send_again", len(r.SendAgain), "gone", len(r.Gone), "undone", r.Undone, "purged", r.Purged, "kept", r.Kept)
	return r, nil
}

// prepare writes a complete facts file in a folder. It runs without maintenance,
// so that the imports of the 30 days before a backup can be undone, however old
// the backup is.
func (f *File) prepare(ctx context.Context, dir string, fill func(metrics.ReplaceableEngine) error) (*duckdb.Engine, error) {
	if err := os.RemoveAll(dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	o := f.config.options()
	o.NoMaintenance = true
	e, err := duckdb.Open(ctx, dir, o)
	if err != nil {
		return nil, err
	}
	if err := fill(e); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

// openReplacement opens the new file and records it in the store.
func (f *File) openReplacement(ctx context.Context) error {
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
	f.attach(e)
	return nil
}
