package factsdb

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"fanfare/internal/factsfile"
	"fanfare/internal/ident"
	"fanfare/internal/metrics"
	"fanfare/internal/metrics/duckdb"
	"fanfare/internal/metrics/dump"
	"fanfare/internal/secret"
	"fanfare/internal/store"
)

var _ factsfile.Facts = (*Database)(nil)

// Replace replaces all facts with new ones, empty or with those that fill writes.
// If fill or reconcile fails, nothing changes. reconcile marks incomplete
// connections and removes facts that were deleted since, before requests read
// them. workspaces are those of the store: facts of another installation are not
// replaced.
func (d *Database) Replace(ctx context.Context, workspaces []ident.ID, reconcile func(metrics.ReplaceableEngine, *factsfile.Replaced) error, fill func(metrics.ReplaceableEngine) error) (r factsfile.Replaced, err error) {
	if err := d.checkOwner(ctx, workspaces); err != nil {
		return r, err
	}
	id := d.config.newID()
	err = d.replace(ctx, id, func(e metrics.ReplaceableEngine) error {
		next := anyDumpEngine{e, d.config}
		if err := fill(next); err != nil {
			return err
		}
		return reconcile(next, &r)
	})
	if err != nil {
		return r, fmt.Errorf("the facts stay as they were: %w", err)
	}
	if err := d.config.DB.SetFactsMark(ctx, store.FactsMark{ID: id}); err != nil {
		return r, err
	}
	d.config.Log.WarnContext(ctx, "facts replaced: send the data of the listed sources again", "resyncing", r.Resyncing, "send_again", len(r.SendAgain), "gone", len(r.Gone), "undone", r.Undone, "purged", r.Purged)
	return r, nil
}

// ErrForeign is returned for facts that are not replaced, because they belong to
// another installation.
var ErrForeign = errors.New("metrics of another installation")

// checkOwner returns ErrForeign if there are facts and none belongs to one of the
// workspaces. Ids of workspaces are random.
func (d *Database) checkOwner(ctx context.Context, workspaces []ident.ID) error {
	has, err := d.Workspaces(ctx)
	if err != nil || len(has) == 0 || slices.ContainsFunc(has, func(id ident.ID) bool { return slices.Contains(workspaces, id) }) {
		return err
	}
	return fmt.Errorf("%s has %w: name a database of this one, or an empty one, with --metrics", secret.RedactURL(d.config.URL), ErrForeign)
}

// CheckEmpty returns ErrForeign if there are facts, other than those of a restore
// that was not completed.
func (d *Database) CheckEmpty(ctx context.Context) error {
	id, err := d.CurrentID(ctx)
	if err != nil || strings.HasPrefix(id, restoring) {
		return err
	}
	return d.checkOwner(ctx, nil)
}

// Restore fills empty facts from a dump, if there is one. Call Claim after the
// records are restored.
func (d *Database) Restore(ctx context.Context, r io.Reader) error {
	if err := d.CheckEmpty(ctx); err != nil {
		return err
	}
	return d.replace(ctx, restoring+d.config.newID(), func(e metrics.ReplaceableEngine) error {
		if r == nil {
			return nil
		}
		return anyDumpEngine{e, d.config}.Fill(ctx, r)
	})
}

// Claim records in the store that the facts belong to it, whichever it had
// before.
func (d *Database) Claim(ctx context.Context) error {
	id, err := d.CurrentID(ctx)
	if err != nil {
		return err
	}
	id = strings.TrimPrefix(id, restoring)
	if err := d.SetID(ctx, id); err != nil {
		return err
	}
	return d.config.DB.SetFactsMark(ctx, store.FactsMark{ID: id})
}

// anyDumpEngine is an engine that also reads dumps of older programs.
type anyDumpEngine struct {
	metrics.ReplaceableEngine
	config Config
}

// Fill implements metrics.Engine.
func (f anyDumpEngine) Fill(ctx context.Context, r io.Reader) error {
	in := bufio.NewReader(r)
	if dump.HasMagic(in) {
		return f.ReplaceableEngine.Fill(ctx, in)
	}
	return duckdb.DumpOld(ctx, in, f.config.Dir, duckdb.Options{Now: f.config.Now, Log: f.config.Log}, func(r io.Reader) error { return f.ReplaceableEngine.Fill(ctx, r) })
}

// Examine returns what is wrong with the facts of a store. It changes neither.
func Examine(ctx context.Context, c Config) error {
	mark, err := c.DB.FactsMark(ctx)
	if err != nil {
		return err
	}
	id, err := c.readID(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w: start the database, or correct --metrics", secret.RedactURL(c.URL), err)
	}
	return c.checkID(id, mark)
}
