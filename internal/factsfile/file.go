// Package factsfile opens the DuckDB file with the daily metrics of a node, if it
// is the one that the store's records belong to. If the file is missing, an older
// copy, from another folder or damaged, requests for metrics fail with the reason
// and the fix; everything else works. The package also replaces the file.
package factsfile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"fanfare/internal/analytics"
	"fanfare/internal/clock"
	"fanfare/internal/datadir"
	"fanfare/internal/fact"
	"fanfare/internal/fairqueue"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/metrics"
	"fanfare/internal/metrics/duckdb"
	"fanfare/internal/store"
)

// Config has the folder of the facts file and the store that it belongs to.
type Config struct {
	// Dir is the data folder.
	Dir string
	// Memory is how many bytes queries may use, 0 for 40 % of the machine's.
	Memory int64
	DB     *store.DB
	// Alone is true if no other node shares the store.
	Alone bool
	// Founder finds whose workspaces share turns, nil for each on its own.
	Founder fairqueue.FounderOf
	Now     func() time.Time
	Random  io.Reader
	Log     *slog.Logger
}

func (c Config) open(ctx context.Context) (*duckdb.Engine, error) {
	// DuckDB would wait for ever for the other end of a pipe.
	if info, err := os.Stat(duckdb.Path(c.Dir)); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file: move it away", duckdb.Path(c.Dir))
	}
	return duckdb.Open(ctx, c.Dir, c.options())
}

func (c Config) options() duckdb.Options {
	return duckdb.Options{MemoryMB: int(c.Memory / 1e6), Founder: c.Founder, Now: c.Now, Log: c.Log}
}

// File is the facts file of this node. Without a file that belongs to the store,
// its methods return the fault `unavailable` with the reason.
//
// A nil File belongs to a node whose facts are not in a file: it has no problem,
// no generation and no delay, and cannot be replaced.
type File struct {
	config Config
	// replacing allows one Replace at a time.
	replacing sync.Mutex

	mu     sync.RWMutex
	engine *duckdb.Engine
	// why is the reason why there is no engine, empty if there is one.
	why string
	// denied is the file or folder that the server may not use, if that is why.
	denied string
	// damage is set after the engine failed to read a part of the file. Queries
	// that need other parts still work.
	damage string
	// recorded is the generation in the store.
	recorded int64
}

var (
	_ metrics.Engine = (*File)(nil)
	_ Facts          = (*File)(nil)
)

// Reasons why facts cannot be used.
const (
	reasonMissing     = "the file of the facts is missing"
	reasonUnreadable  = "the file of the facts cannot be opened"
	reasonDenied      = "the server may not read and write the files of the facts: permission denied"
	reasonNoSpace     = "the file of the facts cannot be opened, because the disk is full"
	reasonOlder       = "the file of the facts is an older copy"
	reasonForeign     = "the file of the facts does not belong to the database beside it: one of the two is an older copy or comes from another folder"
	reasonMoved       = "the file of the facts does not belong to the database: it is an older copy or comes from another folder, or another node has taken over the facts"
	reasonShared      = "the facts of this installation are in a database that nodes share"
	reasonOtherNode   = "the facts of this database are on another node; send requests for metrics there"
	reasonReplacing   = "the facts are being replaced"
	reasonDisplaced   = "the file of the facts was removed or replaced while the server runs; put the file back, which needs no restart"
	reasonOverwritten = "another program has overwritten the file of the facts while the server runs"
	reasonDamaged     = "the file of the facts cannot be read or written; the log says why"
)

// message returns the problem and its fix, for callers of the API. It does not
// name the data folder.
func message(why string) string {
	switch why {
	case reasonDenied:
		return describe(why, "The operator corrects the owner and the mode of the file and restarts the server.")
	case reasonShared:
		return describe(why, withoutFile)
	case reasonNoSpace:
		return describe(why, "The operator makes space free and restarts the server.")
	}
	return describe(why, fixText(""))
}

const withoutFile = "The operator restarts the server without `--metrics duckdb`."

// operatorMessage is message for the operator: its commands name the data folder.
func (f *File) operatorMessage(why string) string { return describe(why, f.operatorFix(why)) }

func describe(why, fix string) string {
	return "Metrics are unavailable on this server: " + why + ". Everything else works. " + fix
}

// operatorFix returns how the operator repairs a problem.
func (f *File) operatorFix(why string) string {
	switch why {
	case reasonDenied:
		path := quote(f.denied)
		return fmt.Sprintf("Run `chown %d %s`, or `chmod u+rwX %s` if the server's user owns it, and restart the server.", os.Getuid(), path, path)
	case reasonShared:
		return withoutFile
	case reasonNoSpace:
		return "Make space free on the disk of " + f.config.Dir + ", then restart the server."
	}
	return fixText(" --data " + quote(f.config.Dir))
}

// whyUnreadable returns why the files could not be opened.
func (f *File) whyUnreadable() string {
	if f.denied = duckdb.Denied(f.config.Dir); f.denied != "" {
		return reasonDenied
	}
	if datadir.FullDisk(f.config.Dir) != "" {
		return reasonNoSpace
	}
	return reasonUnreadable
}

func fixText(flags string) string {
	return "The operator restores them with `fanfare facts restore BACKUP" + flags + "`, or accepts the loss with `fanfare facts reset" + flags + "`, which reads them again from the platforms."
}

// quote quotes a path for a shell.
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

// setUnavailable stores and logs why there are no facts.
func (f *File) setUnavailable(why string, err error) {
	f.mu.Lock()
	f.why = why
	f.mu.Unlock()
	f.config.Log.Error("facts unavailable", "reason", why, "fix", f.operatorFix(why), "error", err)
}

// Problem returns why metrics are unavailable or incomplete on this node, empty
// if they are complete.
func (f *File) Problem() string {
	if why := f.problem(); why != "" {
		return message(why)
	}
	return ""
}

// OperatorProblem is Problem for the operator: its commands name the data folder.
func (f *File) OperatorProblem() string {
	if why := f.problem(); why != "" {
		return f.operatorMessage(why)
	}
	return ""
}

func (f *File) problem() string {
	if f == nil {
		return ""
	}
	f.mu.RLock()
	defer f.mu.RUnlock()
	if f.why != "" {
		return f.why
	}
	return cmp.Or(fileProblem(f.engine), f.damage)
}

// fileProblem returns why the open file can no longer be used, empty if it can.
func fileProblem(e *duckdb.Engine) string {
	switch err := e.CheckFiles(); {
	case errors.Is(err, duckdb.ErrOverwritten):
		return reasonOverwritten
	case err != nil:
		return reasonDisplaced
	}
	return ""
}

// engineForRead returns the engine, or the fault if there is none.
func (f *File) engineForRead() (*duckdb.Engine, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	why := f.why
	if why == "" {
		why = fileProblem(f.engine)
	}
	if why != "" {
		return nil, unavailable(why)
	}
	return f.engine, nil
}

// engineForWrite is engineForRead for a call that changes the facts. The engine
// stores in its file which generation the store has recorded.
func (f *File) engineForWrite() (*duckdb.Engine, error) {
	e, err := f.engineForRead()
	if err == nil {
		e.SetRecorded(f.config.DB.RecordedGeneration(e.Identity().ID))
	}
	return e, err
}

// detach makes the facts unavailable for the reason and returns the engine, which
// the caller closes.
func (f *File) detach(why string) *duckdb.Engine {
	f.mu.Lock()
	defer f.mu.Unlock()
	e := f.engine
	f.engine, f.why, f.damage = nil, why, ""
	return e
}

// shutDown closes the engine until the next start and logs the reason.
func (f *File) shutDown(why string) {
	if e := f.detach(why); e != nil {
		f.setUnavailable(why, e.Close())
	}
}

// attach makes the facts available. The store has recorded the generation of e.
func (f *File) attach(e *duckdb.Engine) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.engine, f.why, f.damage, f.recorded = e, "", "", e.Identity().Generation
}

// engineError returns the error of a call of the engine. An error of DuckDB about
// its file becomes a fault, and so does a result that was read from a file which
// another program has overwritten.
func (f *File) engineError(e *duckdb.Engine, err error) error {
	if fileProblem(e) == reasonOverwritten {
		return unavailable(reasonOverwritten).Because(err)
	}
	if duckdb.NoSpace(err) {
		return fault.DiskFull(err)
	}
	if !duckdb.Damaged(err) {
		return err
	}
	f.mu.Lock()
	first := f.damage == ""
	f.damage = reasonDamaged
	f.mu.Unlock()
	if first {
		f.config.Log.Error("facts damaged", "fix", "If the disk was full, make room and restart the server. "+f.operatorFix(reasonDamaged), "error", err)
	}
	return unavailable(reasonDamaged).Because(err)
}

// Query implements metrics.Engine.
func (f *File) Query(ctx context.Context, p *analytics.Plan) ([]analytics.Group, error) {
	e, err := f.engineForRead()
	if err != nil {
		return nil, err
	}
	groups, err := e.Query(ctx, p)
	return groups, f.engineError(e, err)
}

// Begin implements metrics.Engine.
func (f *File) Begin(ctx context.Context, workspace ident.ID, wait time.Duration, plans ...*analytics.Plan) (turn context.Context, end func(), err error) {
	e, err := f.engineForRead()
	if err != nil {
		return nil, nil, err
	}
	if turn, end, err = e.Begin(ctx, workspace, wait, plans...); err != nil {
		return nil, nil, f.engineError(e, err)
	}
	return turn, end, nil
}

// State implements metrics.Engine.
func (f *File) State(ctx context.Context, workspace ident.ID) (analytics.State, error) {
	e, err := f.engineForRead()
	if err != nil {
		return analytics.State{}, err
	}
	s, err := e.State(ctx, workspace)
	return s, f.engineError(e, err)
}

// Write implements metrics.Engine.
func (f *File) Write(ctx context.Context, b *fact.Batch) error {
	e, err := f.engineForWrite()
	if err != nil {
		return err
	}
	return f.engineError(e, e.Write(ctx, b))
}

// Undo implements metrics.Engine.
func (f *File) Undo(ctx context.Context, workspace, imported ident.ID) (int64, error) {
	e, err := f.engineForWrite()
	if err != nil {
		return 0, err
	}
	n, err := e.Undo(ctx, workspace, imported)
	return n, f.engineError(e, err)
}

// Mirror implements metrics.Engine.
func (f *File) Mirror(ctx context.Context, workspace ident.ID, records []fact.Record, through clock.Instant) error {
	e, err := f.engineForWrite()
	if err != nil {
		return err
	}
	return f.engineError(e, e.Mirror(ctx, workspace, records, through))
}

// Dump implements metrics.Engine.
func (f *File) Dump(ctx context.Context, w io.Writer) error {
	e, err := f.engineForRead()
	if err != nil {
		return err
	}
	return f.engineError(e, e.Dump(ctx, w))
}

// Fill implements metrics.Engine.
func (f *File) Fill(ctx context.Context, r io.Reader) error {
	e, err := f.engineForRead()
	if err != nil {
		return err
	}
	return f.engineError(e, e.Fill(ctx, r))
}

// Close implements metrics.Engine.
func (f *File) Close() error {
	if e := f.detach(reasonReplacing); e != nil {
		return e.Close()
	}
	return nil
}

// Mark returns the id and the generation of the facts, as the store records them;
// ok is false if there are none.
func (f *File) Mark() (m store.FactsMark, ok bool) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if f.why != "" {
		return m, false
	}
	have := f.engine.Identity()
	return store.FactsMark{ID: have.ID, Generation: have.Generation}, true
}

// RecordEvery is how often RecordGeneration runs. It covers changes of the facts
// that no transaction of the store follows.
const RecordEvery = time.Second

// RecordGeneration writes the generation of the facts to the store. If other nodes
// share the store and one of them has taken over the facts, it shuts down the
// engine.
func (f *File) RecordGeneration(ctx context.Context) error {
	if f == nil {
		return nil
	}
	f.mu.RLock()
	e, noted := f.engine, f.recorded
	f.mu.RUnlock()
	if e == nil {
		return nil
	}
	if fileProblem(e) == reasonOverwritten {
		f.shutDown(reasonOverwritten)
		return nil
	}
	have := e.Identity()
	if have.Generation == noted && f.config.Alone {
		return nil
	}
	err := f.config.DB.RaiseFactsMark(ctx, store.FactsMark{ID: have.ID, Generation: have.Generation})
	if errors.Is(err, store.ErrFactsMoved) {
		f.shutDown(reasonMoved)
		return nil
	}
	if err != nil {
		return err
	}
	f.mu.Lock()
	if f.engine == e {
		f.recorded = have.Generation
	}
	f.mu.Unlock()
	return nil
}

// How long a job that needs facts is postponed if this node has none. If nodes
// share the store, another one may have facts and run the job sooner.
const (
	waitAlone     = time.Minute
	waitOther     = 5 * time.Second
	waitReplacing = time.Second
)

// JobDelay returns how long a job that needs facts is postponed, 0 if this node
// has facts.
func (f *File) JobDelay() time.Duration {
	switch why := f.problem(); {
	case why == "" || why == reasonDamaged:
		return 0
	case why == reasonReplacing:
		return waitReplacing
	case f.config.Alone:
		return waitAlone
	}
	return waitOther
}
