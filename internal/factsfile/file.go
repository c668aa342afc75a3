// Package factsfile keeps the facts of a node together with the store that they
// belong to. It opens the file that the store knows, says why metrics are
// unavailable where that file is missing, older, foreign or damaged, and
// replaces it.
package factsfile

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"

	"fanfare/internal/analytics"
	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/metrics"
	"fanfare/internal/metrics/duckdb"
	"fanfare/internal/store"
)

// Config says where the facts are and which store they belong to.
type Config struct {
	// Dir is the data folder.
	Dir string
	// Memory is how many bytes queries may use, 0 for 40 % of the machine's.
	Memory int64
	DB     *store.DB
	// Alone says that no other node shares the store.
	Alone  bool
	Now    func() time.Time
	Random io.Reader
	Log    *slog.Logger
}

func (c Config) open(ctx context.Context) (*duckdb.Engine, error) {
	return duckdb.Open(ctx, c.Dir, duckdb.Options{MemoryMB: int(c.Memory / 1e6), Now: c.Now, Log: c.Log})
}

// File is the facts of this node, or the reason why there are none that can be
// trusted. Without them every question is answered `unavailable`.
type File struct {
	config Config
	// replacing keeps two calls from replacing the facts at once.
	replacing sync.Mutex

	mu     sync.RWMutex
	engine *duckdb.Engine
	// why is empty while engine can be used.
	why string
	// damage is the last error of the engine about a file that it cannot read.
	// It may concern only a part of the file, so that other questions are
	// answered.
	damage string
	// noted is the generation that the store knows.
	noted int64
}

var _ metrics.Engine = (*File)(nil)

// Reasons why facts cannot be used.
const (
	missing     = "the file of the facts is missing"
	unreadable  = "the file of the facts cannot be opened"
	older       = "the file of the facts is an older copy"
	foreign     = "the file of the facts does not belong to the database beside it: one of the two is an older copy or comes from another folder"
	moved       = "the file of the facts does not belong to the database: it is an older copy or comes from another folder, or another node has taken over the facts"
	elsewhere   = "the facts of this database are on another node; send requests for metrics there"
	replacing   = "the facts are being replaced"
	displaced   = "the file of the facts was removed or replaced while the server runs; put the file back, which needs no restart"
	overwritten = "another program has overwritten the file of the facts while the server runs"
	damaged     = "the file of the facts cannot be read or written; the log says why"
)

// message says what is wrong and how to fix it. It goes to callers of the API,
// so it does not name the folder.
func message(why string) string { return describe(why, fix("")) }

// operatorMessage is message with commands that work as they are printed.
func (f *File) operatorMessage(why string) string { return describe(why, f.fix()) }

func describe(why, fix string) string {
	return "Metrics are unavailable on this server: " + why + ". Everything else works. " + fix
}

func (f *File) fix() string { return fix(" --data " + quote(f.config.Dir)) }

func fix(flags string) string {
	return "The operator restores them with `fanfare facts restore BACKUP" + flags + "`, or accepts the loss with `fanfare facts reset" + flags + "`, which reads them again from the platforms."
}

// quote writes a path for a shell.
func quote(path string) string {
	if strings.Trim(path, "/._-+@:0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

func unavailable(why string) *fault.Error {
	e := fault.New(fault.Unavailable, message(why))
	e.RetryAfter = time.Minute
	return e
}

// without remembers why there are no facts, and logs it.
func (f *File) without(why string, err error) {
	f.mu.Lock()
	f.why = why
	f.mu.Unlock()
	f.config.Log.Error("facts unavailable", "reason", why, "fix", f.fix(), "error", err)
}

// Fault says why metrics are unavailable or incomplete on this node, empty
// where they are not.
func (f *File) Fault() string {
	if why := f.fault(); why != "" {
		return message(why)
	}
	return ""
}

// OperatorFault is Fault for the operator: its commands name the data folder.
func (f *File) OperatorFault() string {
	if why := f.fault(); why != "" {
		return f.operatorMessage(why)
	}
	return ""
}

func (f *File) fault() string {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if f.why != "" {
		return f.why
	}
	return cmp.Or(fileFault(f.engine), f.damage)
}

// fileFault is the reason why the open file cannot be used any more.
func fileFault(e *duckdb.Engine) string {
	switch err := e.CheckFiles(); {
	case errors.Is(err, duckdb.ErrOverwritten):
		return overwritten
	case err != nil:
		return displaced
	}
	return ""
}

// use returns the engine, or the fault.
func (f *File) use() (*duckdb.Engine, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	why := f.why
	if why == "" {
		why = fileFault(f.engine)
	}
	if why != "" {
		return nil, unavailable(why)
	}
	return f.engine, nil
}

// change is use for a call that changes the facts: it tells the engine which
// generation the store has noted.
func (f *File) change() (*duckdb.Engine, error) {
	e, err := f.use()
	if err == nil {
		e.Note(f.config.DB.RecordedGeneration(e.Identity().ID))
	}
	return e, err
}

// take ends the use of the engine, gives it to the caller and says why.
func (f *File) take(why string) *duckdb.Engine {
	f.mu.Lock()
	defer f.mu.Unlock()
	e := f.engine
	f.engine, f.why, f.damage = nil, why, ""
	return e
}

// give ends the use of the engine for good, and logs why.
func (f *File) give(why string) {
	if e := f.take(why); e != nil {
		f.without(why, e.Close())
	}
}

// put takes an engine into use whose generation the store knows.
func (f *File) put(e *duckdb.Engine) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.engine, f.why, f.damage, f.noted = e, "", "", e.Identity().Generation
}

// judge follows every use of an engine. It turns an error of DuckDB about its
// file into a fault, and refuses what was read from a file that another program
// has overwritten meanwhile.
func (f *File) judge(e *duckdb.Engine, err error) error {
	if fileFault(e) == overwritten {
		return unavailable(overwritten).Because(err)
	}
	if !duckdb.Damaged(err) {
		return err
	}
	f.mu.Lock()
	first := f.damage == ""
	f.damage = damaged
	f.mu.Unlock()
	if first {
		f.config.Log.Error("facts damaged", "fix", "If the disk was full, make room and restart the server. "+f.fix(), "error", err)
	}
	return unavailable(damaged).Because(err)
}

// Query implements metrics.Engine.
func (f *File) Query(ctx context.Context, p *analytics.Plan) ([]analytics.Group, error) {
	e, err := f.use()
	if err != nil {
		return nil, err
	}
	groups, err := e.Query(ctx, p)
	return groups, f.judge(e, err)
}

// Begin implements metrics.Engine.
func (f *File) Begin(ctx context.Context, workspace ident.ID, wait time.Duration, plans ...*analytics.Plan) (turn context.Context, end func(), err error) {
	e, err := f.use()
	if err != nil {
		return nil, nil, err
	}
	if turn, end, err = e.Begin(ctx, workspace, wait, plans...); err != nil {
		return nil, nil, f.judge(e, err)
	}
	return turn, end, nil
}

// State implements metrics.Engine.
func (f *File) State(ctx context.Context, workspace ident.ID) (analytics.State, error) {
	e, err := f.use()
	if err != nil {
		return analytics.State{}, err
	}
	s, err := e.State(ctx, workspace)
	return s, f.judge(e, err)
}

// Write implements metrics.Engine.
func (f *File) Write(ctx context.Context, b *fact.Batch) error {
	e, err := f.change()
	if err != nil {
		return err
	}
	return f.judge(e, e.Write(ctx, b))
}

// Undo implements metrics.Engine.
func (f *File) Undo(ctx context.Context, workspace, imported ident.ID) (int64, error) {
	e, err := f.change()
	if err != nil {
		return 0, err
	}
	n, err := e.Undo(ctx, workspace, imported)
	return n, f.judge(e, err)
}

// Mirror implements metrics.Engine.
func (f *File) Mirror(ctx context.Context, workspace ident.ID, records []fact.Record, through clock.Instant) error {
	e, err := f.change()
	if err != nil {
		return err
	}
	return f.judge(e, e.Mirror(ctx, workspace, records, through))
}

// Dump implements metrics.Engine.
func (f *File) Dump(ctx context.Context, w io.Writer) error {
	e, err := f.use()
	if err != nil {
		return err
	}
	return f.judge(e, e.Dump(ctx, w))
}

// Fill implements metrics.Engine.
func (f *File) Fill(ctx context.Context, r io.Reader) error {
	e, err := f.use()
	if err != nil {
		return err
	}
	return f.judge(e, e.Fill(ctx, r))
}

// ReadParquet parses an uploaded Parquet file with DuckDB.
func (f *File) ReadParquet(ctx context.Context, file []byte, b fact.FileLimits, each func(columns []string, rows [][]string) error) error {
	e, err := f.use()
	if err != nil {
		return err
	}
	return e.ReadParquet(ctx, file, b, each)
}

// Close implements metrics.Engine.
func (f *File) Close() error {
	if e := f.take(replacing); e != nil {
		return e.Close()
	}
	return nil
}

// Mark returns the id and the generation of the facts; ok is false where there
// are none.
func (f *File) Mark() (m store.FactsMark, ok bool) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if f.why != "" {
		return m, false
	}
	have := f.engine.Identity()
	return store.FactsMark{ID: have.ID, Generation: have.Generation}, true
}

// NoteEvery is how often Note is called, for changes of the facts that no
// transaction of the store follows.
const NoteEvery = time.Second

// Note tells the store the generation of the facts. Where other nodes share the
// store it also finds out whether one of them has taken over the facts.
func (f *File) Note(ctx context.Context) error {
	f.mu.RLock()
	e, noted := f.engine, f.noted
	f.mu.RUnlock()
	if e == nil {
		return nil
	}
	if fileFault(e) == overwritten {
		f.give(overwritten)
		return nil
	}
	have := e.Identity()
	if have.Generation == noted && f.config.Alone {
		return nil
	}
	err := f.config.DB.RaiseFactsMark(ctx, store.FactsMark{ID: have.ID, Generation: have.Generation})
	if errors.Is(err, store.ErrFactsMoved) {
		f.give(moved)
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

// How long work that needs facts waits where there are none: where nodes share
// the store, another may have them and takes the job. Facts that are being
// replaced are back soon.
const (
	waitAlone     = time.Minute
	waitOther     = 5 * time.Second
	waitReplacing = time.Second
)

// Wait is how long work that needs facts waits for them, 0 where they are
// there.
func (f *File) Wait() time.Duration {
	switch why := f.fault(); {
	case why == "" || why == damaged:
		return 0
	case why == replacing:
		return waitReplacing
	case f.config.Alone:
		return waitAlone
	}
	return waitOther
}
