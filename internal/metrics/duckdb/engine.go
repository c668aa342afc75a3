// Package duckdb keeps facts in one DuckDB file. It is an engine of package
// metrics: rows in, sums out. It knows neither who asks nor what sums mean.
//
// Facts are narrow: every id and word is a small integer in them, because that
// is what groups fastest and what lets a scan skip the days and workspaces that
// nobody asked for. The texts are in tables beside them.
package duckdb

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"fanfare/internal/fairqueue"
	"fanfare/internal/ident"
	"fanfare/internal/metrics"
)

var _ metrics.Engine = (*Engine)(nil)

// Options say how much the engine may use.
type Options struct {
	// Threads is how many cores queries may use, 0 for all.
	Threads int
	// MemoryMB bounds the memory of queries, 0 for 40 % of the machine's or
	// of the container's.
	MemoryMB int
	// FactsOnly answers from the facts themselves also where months are
	// summed up, to see what that is worth.
	FactsOnly bool
	// Untended leaves the file as it is while it is open: it is for facts that
	// are not in use yet, of which nothing may be forgotten.
	Untended bool
	// Founder finds whose workspaces share turns, nil for each on its own.
	Founder fairqueue.FounderOf
	Now     func() time.Time
	Log     *slog.Logger
}

// Engine is an open file of facts.
type Engine struct {
	path, spool string
	threads     int
	memoryMB    int
	factsOnly   bool
	care        care
	now         func() time.Time
	log         *slog.Logger

	pool *pool
	// light and heavy are the queries that run and wait. They have places of
	// their own, so that small queries never wait for large ones.
	light, heavy *fairqueue.Queue
	heavyFrom    int64

	// writes are the changes of the file. One runs at a time: two at once would
	// fail on each other's rows. What follows is guarded by it.
	writes *fairqueue.Queue
	next   next
	fresh  map[month]bool
	// kept is how often keepNoted has run.
	kept int
	// unsaved is how many writes there were since the last checkpoint.
	unsaved int
	// changes counts the begin and the end of each change: it is odd while
	// anything may change, and two equal even counts have nothing new between
	// them.
	changes atomic.Int64

	// file is the file that was opened. It stays open until DuckDB has closed
	// its own: closing it earlier would release the lock of this process.
	file *os.File
	info os.FileInfo
	// written is the files after the last write, and overwritten says that
	// another program has written to them since.
	written     atomic.Pointer[written]
	overwritten atomic.Bool
	// id is the identity of the file, and generation counts the changes of its
	// facts ever since it began.
	id         atomic.Pointer[string]
	generation atomic.Int64
	noted      atomic.Int64
	writer     atomic.Pointer[string]

	words atomic.Pointer[words]
	mu    sync.Mutex
	known map[ident.ID]*workspace
	// epochs is the last epoch that was given.
	epochs int64
	// told is how many entities are remembered, of all workspaces.
	told atomic.Int64

	stop func()
	done chan struct{}
}

// next are the keys that are given out next.
type next struct{ workspace, source, entity, imported int32 }

// open are the files that this process has open. DuckDB keeps other processes
// out, but hands out the same file twice in one.
var open sync.Map

// Open opens the facts of a folder, or begins them. Nothing but the file
// itself and the folder spool beside it can be read or written through it
// afterwards, whatever a statement says.
func Open(ctx context.Context, dir string, o Options) (*Engine, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open facts: %w", err)
	}
	e := &Engine{
		path: filepath.Join(dir, "facts.duckdb"), spool: filepath.Join(dir, "spool"), threads: o.Threads, memoryMB: o.MemoryMB, factsOnly: o.FactsOnly, care: usual, heavyFrom: heavyFrom, now: o.Now, log: o.Log,
		fresh: map[month]bool{}, known: map[ident.ID]*workspace{}, done: make(chan struct{}),
	}
	if e.threads == 0 {
		e.threads = runtime.NumCPU()
	}
	// More heavy queries at once than cores take as long and need more memory.
	e.heavy = fairqueue.New(fairqueue.Limits{Work: "large queries", Running: max(e.threads, 2), PerWorkspace: maxHeavy}, o.Founder)
	e.light = fairqueue.New(fairqueue.Limits{Work: "queries", Running: 2 * e.threads, PerWorkspace: maxLight}, o.Founder)
	e.writes = fairqueue.New(fairqueue.Limits{Work: "writes of metrics", Running: 1, PerWorkspace: maxWrites}, o.Founder)
	if strings.Contains(e.path, "?") {
		return nil, fmt.Errorf("open facts: %s has a question mark in it, which the driver takes for the end of the path: choose another folder", e.path)
	}
	if err := os.MkdirAll(e.spool, 0o700); err != nil {
		return nil, fmt.Errorf("make spool: %w", err)
	}
	if _, taken := open.LoadOrStore(e.path, true); taken {
		return nil, fmt.Errorf("open facts: %s is already open in this process: close it first", e.path)
	}
	// The threads that DuckDB starts for queries are like the one that opens it.
	if err := withLowPriority(func() error { return e.begin(ctx) }); err != nil {
		open.Delete(e.path)
		return nil, fmt.Errorf("open facts in %s: %w", dir, err)
	}
	tending, stop := context.WithCancel(context.WithoutCancel(ctx))
	if e.stop = stop; o.Untended {
		close(e.done)
		return e, nil
	}
	go e.tendAlways(tending)
	return e, nil
}

// How many requests for metrics and how many writes a workspace may have running
// and waiting.
const (
	maxLight  = 64
	maxHeavy  = 16
	maxWrites = 32
)

// files are those of the facts in a folder.
var files = []string{"facts.duckdb", "facts.duckdb.wal"}

// format makes new files such that their log names the file that it belongs to:
// DuckDB then refuses to open a file with the log of a later or another one.
const format = "?storage_compatibility_version=v1.4.0"

func (e *Engine) begin(ctx context.Context) error {
	var locked sync.Once
	connector, err := duckdb.NewConnector(e.path+format, func(c driver.ExecerContext) (err error) {
		locked.Do(func() { err = confine(ctx, c, e.spool, e.threads, e.memoryMB) })
		return err
	})
	if err != nil {
		return err
	}
	e.pool = newPool(connector)
	err = e.pool.use(ctx, func(c *conn) error {
		// The file is ours alone now, and so is what lies in the spool.
		if err := e.sweepSpool(); err != nil {
			return err
		}
		if err := c.inTransaction(ctx, func() error { return makeTables(ctx, c) }); err != nil {
			return err
		}
		return e.loadCommon(ctx, c)
	})
	if err == nil {
		if e.file, err = os.Open(e.path); err == nil {
			e.info, err = e.file.Stat()
		}
	}
	if err != nil {
		return errors.Join(err, e.pool.close())
	}
	e.noteFiles(e.changes.Load())
	return nil
}

// useless are the parts of DuckDB's optimizer that find nothing in statements
// as those here: small tables are joined to facts in the order in which they
// are written, and nothing is said twice. Looking takes up to a tenth of a
// small query's time.
const useless = "join_order,common_subplan"

// confine sets the bounds of a database and locks them. Settings are common to
// all its connections, so it is done once.
func confine(ctx context.Context, c driver.ExecerContext, spool string, threads, memoryMB int) error {
	if memoryMB == 0 {
		var err error
		if memoryMB, err = allowance(ctx, c.(driver.QueryerContext)); err != nil {
			return err
		}
	}
	_, err := c.ExecContext(ctx, fmt.Sprintf(`PRAGMA disable_checkpoint_on_shutdown; SET threads = %d; SET memory_limit = '%dMB';
		SET autoinstall_known_extensions = false; SET autoload_known_extensions = false;
		SET preserve_insertion_order = true; SET disabled_optimizers = '%s';
		SET allowed_directories = [%s]; SET enable_external_access = false; SET lock_configuration = true`,
		threads, memoryMB, useless, quote(spool)), nil)
	if err != nil {
		return fmt.Errorf("lock settings: %w", err)
	}
	return nil
}

// allowance is half of what DuckDB would take: it knows the container's limit
// and takes 80 % of it.
func allowance(ctx context.Context, c driver.QueryerContext) (int, error) {
	rows, err := c.QueryContext(ctx, `SELECT current_setting('memory_limit')`, nil)
	if err != nil {
		return 0, fmt.Errorf("read memory limit: %w", err)
	}
	value := make([]driver.Value, 1)
	if err := errors.Join(rows.Next(value), rows.Close()); err != nil {
		return 0, fmt.Errorf("read memory limit: %w", err)
	}
	text, _ := value[0].(string)
	number, unit, _ := strings.Cut(text, " ")
	amount, err := strconv.ParseFloat(number, 64)
	scale := map[string]float64{"bytes": 1e-6, "KiB": 1.024e-3, "MiB": 1.048576, "GiB": 1073.741824, "TiB": 1099511.627776}[unit]
	if err != nil || scale == 0 {
		return 0, fmt.Errorf("read memory limit: %q has no known form: set the memory by hand", text)
	}
	return max(int(amount*scale/2), 64), nil
}

// quote writes a text as a literal, for the few statements that take no
// parameters. It is never used on what a caller sends.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// Close waits for what is running and closes the file.
func (e *Engine) Close() error {
	e.stop()
	<-e.done
	leave, err := e.writes.Take(context.Background(), "", 0)
	if err != nil {
		return fmt.Errorf("close facts: %w", err)
	}
	defer leave()
	intact := !errors.Is(e.CheckFiles(), ErrOverwritten)
	e.changes.Add(1)
	if intact {
		e.saveLast()
	}
	err = e.pool.close()
	_ = e.file.Close()
	open.Delete(e.path)
	if err != nil {
		return fmt.Errorf("close facts: %w", err)
	}
	return nil
}
