package movestore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"fanfare/internal/factsdb"
	"fanfare/internal/factsfile"
	"fanfare/internal/fault"
	"fanfare/internal/metrics/duckdb"
	"fanfare/internal/metrics/dump"
	"fanfare/internal/secret"
	"fanfare/internal/store"
)

// facts are the facts of the destination.
type facts interface {
	// checkEmpty returns an error if there are facts.
	checkEmpty(ctx context.Context) error
	// fill replaces what an interrupted copy has written.
	fill(ctx context.Context, r io.Reader) error
	// claim makes them the facts of the destination's records. It can be
	// repeated.
	claim(ctx context.Context) error
	Dump(ctx context.Context, w io.Writer) error
	close() error
}

func (m *mover) openFacts() facts {
	if m.To.Metrics != "" {
		return &databaseFacts{config: m.databaseConfig(m.To, m.to)}
	}
	return &fileFacts{config: m.fileConfig(m.To, m.to)}
}

func (m *mover) databaseConfig(p Place, s side) factsdb.Config {
	return factsdb.Config{URL: p.Metrics, Postgres: p.Store, DB: s.db, Dir: m.To.Data, Replacing: true, Now: m.Now, Random: m.Random, Log: m.Log}
}

func (m *mover) fileConfig(p Place, s side) factsfile.Config {
	return factsfile.Config{Dir: p.Data, DB: s.db, Alone: s.engine.Traits().Exclusive, Now: m.Now, Random: m.Random, Log: m.Log}
}

// fileFacts are facts in the data folder.
type fileFacts struct {
	config factsfile.Config
	engine *duckdb.Engine
}

func (f *fileFacts) checkEmpty(context.Context) error {
	if duckdb.Exists(f.config.Dir) {
		return fault.New(fault.InvalidState, "The destination has metrics in "+duckdb.Path(f.config.Dir)+". Choose another folder with --to-data, or move this file away.")
	}
	return nil
}

func (f *fileFacts) open(ctx context.Context) (err error) {
	if f.engine == nil {
		f.engine, err = duckdb.Open(ctx, f.config.Dir, duckdb.Options{NoMaintenance: true, Now: f.config.Now, Log: f.config.Log})
	}
	return err
}

func (f *fileFacts) fill(ctx context.Context, r io.Reader) error {
	if err := duckdb.Remove(f.config.Dir); err != nil {
		return err
	}
	if err := f.open(ctx); err != nil {
		return err
	}
	return f.engine.Fill(ctx, r)
}

func (f *fileFacts) claim(ctx context.Context) error {
	if err := f.open(ctx); err != nil {
		return err
	}
	return factsfile.Claim(ctx, f.config, f.engine)
}

func (f *fileFacts) Dump(ctx context.Context, w io.Writer) error { return f.engine.Dump(ctx, w) }

func (f *fileFacts) close() error {
	if f.engine == nil {
		return nil
	}
	return f.engine.Close()
}

// databaseFacts are facts in a database that nodes share.
type databaseFacts struct {
	config factsdb.Config
	*factsdb.Database
}

func (f *databaseFacts) open(ctx context.Context) (err error) {
	if f.Database == nil {
		f.Database, err = factsdb.Open(ctx, f.config)
	}
	return err
}

func (f *databaseFacts) checkEmpty(ctx context.Context) error {
	if err := f.open(ctx); err != nil {
		return err
	}
	err := f.CheckEmpty(ctx)
	if errors.Is(err, factsdb.ErrForeign) {
		return fault.New(fault.InvalidState, "The destination "+secret.RedactURL(f.config.URL)+" has metrics of another installation. Name an empty database with --to-metrics.")
	}
	return err
}

func (f *databaseFacts) fill(ctx context.Context, r io.Reader) error {
	if err := f.open(ctx); err != nil {
		return err
	}
	return f.Restore(ctx, r)
}

func (f *databaseFacts) claim(ctx context.Context) error {
	if err := f.open(ctx); err != nil {
		return err
	}
	return f.Claim(ctx)
}

func (f *databaseFacts) close() error {
	if f.Database == nil {
		return nil
	}
	return f.Close()
}

// copyFacts copies all facts in one step. If it was interrupted, it starts again.
func (m *mover) copyFacts(ctx context.Context, to facts) error {
	if m.mark.Facts == nil {
		next := m.mark
		err := m.withSourceFacts(ctx, func(write func(context.Context, io.Writer) error) (err error) {
			next.Facts, err = m.fillFacts(ctx, write, to)
			return err
		})
		if err != nil {
			return err
		}
		if err := m.step("metrics filled"); err != nil {
			return err
		}
		if err := m.to.db.PutCopyMark(ctx, next); err != nil {
			return err
		}
		m.mark = next
		if err := m.step("metrics noted"); err != nil {
			return err
		}
	}
	if err := to.claim(ctx); err != nil {
		return err
	}
	return m.step("metrics claimed")
}

// fillFacts passes a dump to the destination and sums up the same bytes.
func (m *mover) fillFacts(ctx context.Context, write func(context.Context, io.Writer) error, to facts) (map[string]store.RowSum, error) {
	in, out := io.Pipe()
	filled := make(chan error, 1)
	go func() {
		err := to.fill(ctx, in)
		// A writer that still writes gets the error.
		_ = in.CloseWithError(errors.Join(err, io.ErrClosedPipe))
		filled <- err
	}()
	sums, err := m.sumFacts(ctx, "copy metrics", func(ctx context.Context, w io.Writer) error { return write(ctx, io.MultiWriter(out, w)) })
	_ = out.CloseWithError(err)
	if failed := <-filled; failed != nil {
		return nil, failed
	}
	return sums, err
}

// withSourceFacts calls f with a function that dumps the facts of the source.
func (m *mover) withSourceFacts(ctx context.Context, f func(write func(context.Context, io.Writer) error) error) (err error) {
	if m.From.Metrics != "" {
		config := m.databaseConfig(m.From, m.from)
		if err := factsdb.Examine(ctx, config); err != nil {
			return err
		}
		mark, err := m.from.db.FactsMark(ctx)
		if err != nil {
			return err
		}
		if mark.ID == "" {
			return f(dumpNothing)
		}
		d, err := factsdb.Open(ctx, config)
		if err != nil {
			return err
		}
		return errors.Join(f(d.Dump), d.Close())
	}
	// The engine writes to the file that it opens, so it gets a copy.
	dir := filepath.Join(m.To.Data, "facts.source")
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o700)); err != nil {
		return err
	}
	e, err := factsfile.OpenCopy(ctx, m.fileConfig(m.From, m.from), dir)
	if err != nil {
		return err
	}
	if e == nil {
		return f(dumpNothing)
	}
	return errors.Join(f(e.Dump), e.Close())
}

// dumpNothing writes a dump without facts.
func dumpNothing(_ context.Context, w io.Writer) error {
	out, err := dump.NewWriter(w)
	if err != nil {
		return err
	}
	tables := dump.Tables()
	for i := range tables {
		if err := out.Table(&tables[i]); err != nil {
			return err
		}
	}
	return out.Close()
}

// sumFacts sums up a dump by table.
func (m *mover) sumFacts(ctx context.Context, part string, write func(context.Context, io.Writer) error) (map[string]store.RowSum, error) {
	in, out := io.Pipe()
	written := make(chan error, 1)
	go func() {
		err := write(ctx, out)
		_ = out.CloseWithError(err)
		written <- err
	}()
	s := newSummer(func(rows int64) { m.Report(part, rows, 0) })
	err := dump.Read(in, dump.Tables(), s.begin, s.add)
	_ = in.CloseWithError(errors.Join(err, io.ErrClosedPipe))
	if failed := <-written; failed != nil {
		return nil, failed
	}
	if err != nil {
		return nil, fmt.Errorf("sum up metrics: %w", err)
	}
	return s.sums, nil
}
