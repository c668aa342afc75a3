package factsdb

import (
	"context"
	"io"
	"time"

	"fanfare/internal/analytics"
	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
)

// checkEvery is how often a node that answers queries checks that its facts are
// still those of the store.
const checkEvery = time.Second

// check returns an error if the facts are no longer those of the store, because
// the operator has replaced them in another database. It checks before every
// write, because a write to the old facts would be lost.
func (d *Database) check(ctx context.Context, writes bool) error {
	now := d.config.Now()
	d.mu.Lock()
	age := now.Sub(d.checked)
	d.mu.Unlock()
	if !writes && age >= 0 && age < checkEvery {
		return nil
	}
	mark, err := d.config.DB.FactsMark(ctx)
	if err != nil {
		return err
	}
	id, err := d.CurrentID(ctx)
	if err != nil {
		return err
	}
	if mark.ID != id {
		f := fault.New(fault.Unavailable, "Metrics are unavailable on this server: they have moved to another database since it started. Everything else works. The operator restarts it with the --metrics of the other nodes.")
		f.RetryAfter = time.Minute
		return f
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.checked = now
	return nil
}

// Begin implements metrics.Engine.
func (d *Database) Begin(ctx context.Context, workspace ident.ID, wait time.Duration, plans ...*analytics.Plan) (turn context.Context, end func(), err error) {
	if err := d.check(ctx, false); err != nil {
		return nil, nil, err
	}
	return d.engine.Begin(ctx, workspace, wait, plans...)
}

// State implements metrics.Engine.
func (d *Database) State(ctx context.Context, workspace ident.ID) (analytics.State, error) {
	if err := d.check(ctx, false); err != nil {
		return analytics.State{}, err
	}
	return d.engine.State(ctx, workspace)
}

// Write implements metrics.Engine.
func (d *Database) Write(ctx context.Context, b *fact.Batch) error {
	if err := d.check(ctx, true); err != nil {
		return err
	}
	return d.engine.Write(ctx, b)
}

// Undo implements metrics.Engine.
func (d *Database) Undo(ctx context.Context, workspace, imported ident.ID) (int64, error) {
	if err := d.check(ctx, true); err != nil {
		return 0, err
	}
	return d.engine.Undo(ctx, workspace, imported)
}

// Mirror implements metrics.Engine.
func (d *Database) Mirror(ctx context.Context, workspace ident.ID, records []fact.Record, through clock.Instant) error {
	if err := d.check(ctx, true); err != nil {
		return err
	}
	return d.engine.Mirror(ctx, workspace, records, through)
}

// Dump implements metrics.Engine.
func (d *Database) Dump(ctx context.Context, w io.Writer) error {
	if err := d.check(ctx, true); err != nil {
		return err
	}
	return d.engine.Dump(ctx, w)
}
