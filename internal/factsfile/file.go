package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"fanfare/internal/analytics"
	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/job"
	"fanfare/internal/metrics"
	"fanfare/internal/metrics/duckdb"
	"fanfare/internal/store"
)

// factsFile is the facts of this node, or the reason why there are none that
// can be trusted. Without them every question is answered `unavailable`, and
// everything that needs no metrics works.
type factsFile struct {
	mu     sync.RWMutex
	engine *duckdb.Engine
	// why is empty while engine can be used.
	why string
	// damage is what the engine last said about a file that it cannot read. It
	// may be only a part of the file, so that other questions are answered.
	damage string
	// noted is the generation that the store knows.
	noted int64
	log   func(msg string, args ...any)
}

var _ metrics.Engine = (*factsFile)(nil)

// factsFix ends every message about facts that cannot be used.
const factsFix = "The operator restores them with `fanfare facts restore BACKUP`, or accepts the loss with `fanfare facts reset`, which reads them again from the platforms."

func factsMessage(why string) string {
	return "Metrics are unavailable on this server: " + why + ". Everything else works. " + factsFix
}

func factsFault(why string) *fault.Error {
	f := fault.New(fault.Unavailable, factsMessage(why))
	f.RetryAfter = time.Minute
	return f
}

// Reasons why facts cannot be used.
const (
	factsMissing    = "the file of the facts is missing"
	factsUnreadable = "the file of the facts cannot be opened"
	factsOlder      = "the file of the facts is an older copy"
	factsForeign    = "the file of the facts belongs to another database, or another node has taken over the facts"
	factsElse       = "the facts of this database are on another node; send requests for metrics there"
	factsReset      = "the facts are being replaced"
)

// openFacts opens the facts that belong to the store, and no others.
func (a *App) openFacts(ctx context.Context) (*factsFile, error) {
	c := a.config
	f := &factsFile{log: c.Log.Error}
	open := func() (*duckdb.Engine, error) { return OpenFacts(c.Facts, c.Memory.Facts, c.Now, c.Log) }
	e, want, why, err := findFacts(ctx, a.DB, a.Engine.Traits().Exclusive, c.Facts, open)
	if why != "" {
		return f.without(why, err), nil
	}
	if err != nil {
		return nil, err
	}
	if err := a.adopt(ctx, e, want.ID); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	f.engine, f.noted = e, e.Identity().Generation
	return f, nil
}

// findFacts finds the facts in a folder that belong to a store, or the reason
// why there are none. The store knows their id and, at least, how far they were.
// A crash between the commits of the two leaves facts that are further than the
// store knows, which is fine. Where the store has none yet, facts are begun.
func findFacts(ctx context.Context, db *store.DB, alone bool, dir string, open func() (*duckdb.Engine, error)) (e *duckdb.Engine, want store.FactsMark, why string, err error) {
	if want, err = db.FactsMark(ctx); err != nil {
		return nil, want, "", err
	}
	expected := want.Generation > 0 || want.ID != "" && !alone
	if want.ID == "" {
		// A store of an older version, or one that was just restored.
		if expected, err = db.HadFacts(ctx); err != nil {
			return nil, want, "", err
		}
	}
	if expected && !duckdb.Exists(dir) {
		return nil, want, lacking(alone), nil
	}
	e, err = open()
	if errors.Is(err, duckdb.ErrNewer) {
		return nil, want, "", err
	}
	if err != nil {
		return nil, want, factsUnreadable, err
	}
	have := e.Identity()
	switch {
	case want.ID == "" && (have.Generation > 0 || !expected), have.ID == want.ID && have.Generation >= want.Generation:
	case have.Generation == 0 && want.Generation == 0 && alone:
	case have.ID == "" && have.Generation >= want.Generation && have.Generation > 0 && alone:
	case have.Generation == 0:
		why = lacking(alone)
	case have.ID != want.ID:
		why = factsForeign
	default:
		why = factsOlder
	}
	if why != "" {
		return nil, want, why, e.Close()
	}
	return e, want, "", nil
}

// ExamineFacts says what is wrong with the facts in a folder that nobody has
// open, and changes nothing.
func ExamineFacts(ctx context.Context, e store.Engine, db *store.DB, dir string, now func() time.Time, log *slog.Logger) error {
	if !duckdb.Exists(dir) {
		// Opening would begin them.
		_, _, why, err := findFacts(ctx, db, e.Traits().Exclusive, dir, func() (*duckdb.Engine, error) { return nil, errNone })
		if why == "" || errors.Is(err, errNone) {
			return nil
		}
		return errors.New(factsMessage(why))
	}
	facts, _, why, err := findFacts(ctx, db, e.Traits().Exclusive, dir, func() (*duckdb.Engine, error) { return OpenFacts(dir, 0, now, log) })
	if why != "" {
		return errors.Join(errors.New(factsMessage(why)), err)
	}
	if err != nil {
		return err
	}
	if err = facts.Dump(ctx, io.Discard); err != nil {
		err = fmt.Errorf("%w. %s", err, factsFix)
	}
	return errors.Join(err, facts.Close())
}

var errNone = errors.New("there are no facts")

// lacking is the reason where there are no facts.
func lacking(alone bool) string {
	if alone {
		return factsMissing
	}
	return factsElse
}

// adopt gives file and store the same id. The file comes first: a store without
// an id takes whatever id the file has.
func (a *App) adopt(ctx context.Context, e *duckdb.Engine, id string) error {
	have := e.Identity()
	if id == "" {
		id = have.ID
	}
	if id == "" {
		id = string(ident.New(ident.Facts, a.config.Now(), a.config.Random))
	}
	if have.ID != id {
		if err := e.Adopt(ctx, id); err != nil {
			return err
		}
	}
	return a.DB.RaiseFactsMark(ctx, store.FactsMark{ID: id, Generation: have.Generation})
}

// without says in the log that there are no facts.
func (f *factsFile) without(why string, err error) *factsFile {
	f.why = why
	f.log("facts unavailable: "+why+"; everything but metrics works. "+factsFix, "error", err)
	return f
}

// FactsFault says why metrics are unavailable or incomplete on this node, empty
// where they are not.
func (a *App) FactsFault() string {
	if a.factsFile == nil {
		return ""
	}
	return a.factsFile.fault()
}

func (f *factsFile) fault() string {
	f.mu.RLock()
	defer f.mu.RUnlock()
	switch {
	case f.why != "":
		return factsMessage(f.why)
	case f.damage != "":
		return factsMessage(f.damage)
	}
	return ""
}

// use returns the engine, or the fault.
func (f *factsFile) use() (*duckdb.Engine, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if f.why != "" {
		return nil, factsFault(f.why)
	}
	return f.engine, nil
}

// take ends the use of the engine, gives it to the caller and says why.
func (f *factsFile) take(why string) *duckdb.Engine {
	f.mu.Lock()
	defer f.mu.Unlock()
	e := f.engine
	f.engine, f.why, f.damage = nil, why, ""
	return e
}

// put takes an engine into use.
func (f *factsFile) put(e *duckdb.Engine, noted int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.engine, f.why, f.damage, f.noted = e, "", "", noted
}

// judge turns what DuckDB says of its file into the fault.
func (f *factsFile) judge(err error) error {
	if !duckdb.Damaged(err) {
		return err
	}
	const why = "the file of the facts cannot be read or written; the log says why"
	f.mu.Lock()
	first := f.damage == ""
	f.damage = why
	f.mu.Unlock()
	if first {
		f.log("facts damaged: "+why+". If the disk was full, make room and restart the server. "+factsFix, "error", err)
	}
	return factsFault(why).Because(err)
}

// Query implements metrics.Engine.
func (f *factsFile) Query(ctx context.Context, p *analytics.Plan) ([]analytics.Group, error) {
	e, err := f.use()
	if err != nil {
		return nil, err
	}
	groups, err := e.Query(ctx, p)
	return groups, f.judge(err)
}

// State implements metrics.Engine.
func (f *factsFile) State(ctx context.Context, workspace ident.ID) (analytics.State, error) {
	e, err := f.use()
	if err != nil {
		return analytics.State{}, err
	}
	s, err := e.State(ctx, workspace)
	return s, f.judge(err)
}

// Write implements metrics.Engine.
func (f *factsFile) Write(ctx context.Context, b *fact.Batch) error {
	e, err := f.use()
	if err != nil {
		return err
	}
	return f.judge(e.Write(ctx, b))
}

// Undo implements metrics.Engine.
func (f *factsFile) Undo(ctx context.Context, workspace, imported ident.ID) (int64, error) {
	e, err := f.use()
	if err != nil {
		return 0, err
	}
	n, err := e.Undo(ctx, workspace, imported)
	return n, f.judge(err)
}

// Mirror implements metrics.Engine.
func (f *factsFile) Mirror(ctx context.Context, workspace ident.ID, records []fact.Record, through clock.Instant) error {
	e, err := f.use()
	if err != nil {
		return err
	}
	return f.judge(e.Mirror(ctx, workspace, records, through))
}

// Dump implements metrics.Engine.
func (f *factsFile) Dump(ctx context.Context, w io.Writer) error {
	e, err := f.use()
	if err != nil {
		return err
	}
	return f.judge(e.Dump(ctx, w))
}

// Fill implements metrics.Engine.
func (f *factsFile) Fill(ctx context.Context, r io.Reader) error {
	e, err := f.use()
	if err != nil {
		return err
	}
	return f.judge(e.Fill(ctx, r))
}

// ReadParquet reads a file of columns.
func (f *factsFile) ReadParquet(ctx context.Context, file []byte, b duckdb.Bounds, each func(columns []string, rows [][]string) error) error {
	e, err := f.use()
	if err != nil {
		return err
	}
	return e.ReadParquet(ctx, file, b, each)
}

// Close implements metrics.Engine.
func (f *factsFile) Close() error {
	if e := f.take(factsReset); e != nil {
		return e.Close()
	}
	return nil
}

// mark is how far the facts are.
func (f *factsFile) mark() (store.FactsMark, bool) {
	e, err := f.use()
	if err != nil {
		return store.FactsMark{}, false
	}
	have := e.Identity()
	return store.FactsMark{ID: have.ID, Generation: have.Generation}, true
}

// noteEvery is how often the store is told how far the facts are, beside every
// acknowledgement of facts: for what changes them without one.
const noteEvery = time.Second

// noteFacts tells the store how far the facts are. Where other nodes share the
// store it also finds out whether one of them has taken over.
func (a *App) noteFacts(ctx context.Context) error {
	f := a.factsFile
	if f == nil {
		return nil
	}
	f.mu.RLock()
	e, noted := f.engine, f.noted
	f.mu.RUnlock()
	if e == nil {
		return nil
	}
	have := e.Identity()
	if have.Generation == noted && a.Engine.Traits().Exclusive {
		return nil
	}
	err := a.DB.RaiseFactsMark(ctx, store.FactsMark{ID: have.ID, Generation: have.Generation})
	if errors.Is(err, store.ErrFactsMoved) {
		if e := f.take(factsForeign); e != nil {
			f.without(factsForeign, e.Close())
		}
		return nil
	}
	if err != nil {
		return err
	}
	f.mu.Lock()
	if f.engine == e {
		f.noted = have.Generation
	}
	f.mu.Unlock()
	return nil
}

// How long work that needs facts waits where there are none: on a node that is
// not the only one another may have them, and takes the job. Facts that are
// being replaced are there soon.
const (
	waitAlone = time.Minute
	waitOther = 5 * time.Second
	waitReset = time.Second
)

// wait is how long to wait for facts, 0 where they are there.
func (f *factsFile) wait(alone bool) time.Duration {
	f.mu.RLock()
	defer f.mu.RUnlock()
	switch {
	case f.why == "":
		return 0
	case f.why == factsReset:
		return waitReset
	case alone:
		return waitAlone
	}
	return waitOther
}

// withFacts puts work off while this node has no facts.
func (a *App) withFacts(w job.Worker) job.Worker {
	return func(ctx context.Context, j job.Job) (*clock.Instant, error) {
		if a.factsFile != nil {
			if wait := a.factsFile.wait(a.Engine.Traits().Exclusive); wait > 0 {
				again := clock.At(a.config.Now().Add(wait))
				return &again, nil
			}
		}
		return w(ctx, j)
	}
}
