// Package duckdb stores facts in one DuckDB file. It is an engine of package
// metrics. It stores rows and returns sums; it does not check callers.
//
// Facts have only small integers, which group fastest; texts are in other tables.
// A scan skips blocks of other days and workspaces.
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

// Options limits the engine.
type Options struct {
	// Threads is how many cores queries may use, 0 for all.
	Threads int
	// MemoryMB bounds the memory of queries, 0 for 40 % of the machine's or
	// of the container's.
	MemoryMB int
	// FactsOnly ignores sums, for benchmarks.
	FactsOnly bool
	// NoMaintenance is for facts that are not in use yet, whose undo data must
	// stay.
	NoMaintenance bool
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
	maintenance maintenanceLimits
	now         func() time.Time
	log         *slog.Logger

	pool *pool
	// light and heavy are the queues of small and large queries. Small queries
	// never wait for large ones.
	light, heavy *fairqueue.Queue
	heavyFrom    int64

	// writes is the queue of writes. One runs at a time, because two would fail on
	// each other's rows. It guards next, writtenMonths, recordedWrites and unsaved.
	writes *fairqueue.Queue
	next   nextKeys
	// writtenMonths has the months that were written since the last maintenance.
	writtenMonths map[month]bool
	// recordedWrites is the number of calls of writeRecorded.
	recordedWrites int
	// unsaved is the number of writes since the last checkpoint.
	unsaved int
	// changes is odd during a write; equal even values mean that nothing changed.
	changes atomic.Int64

	// file is the file that was opened. It stays open until DuckDB has closed
	// its own: closing it earlier would release the lock of this process.
	file *os.File
	info os.FileInfo
	// written describes the files after our last write. overwritten means that
	// another program has written to them since.
	written     atomic.Pointer[written]
	overwritten atomic.Bool
	// id is the identity of the file. generation is the number of changes of its
	// facts since the file was created.
	id         atomic.Pointer[string]
	generation atomic.Int64
	recorded   atomic.Int64
	writer     atomic.Pointer[string]

	words atomic.Pointer[words]
	mu    sync.Mutex
	known map[ident.ID]*workspace
	// lastVersion is the last version of a workspace that was assigned.
	lastVersion int64
	// maxCachedEntities limits the cached texts of all workspaces.
	maxCachedEntities int

	stop func()
	done chan struct{}
}

// nextKeys has the next key of each table.
type nextKeys struct{ workspace, source, entity, imported int32 }

// openFiles has the files that this process has open. DuckDB locks out other
// processes, but opens the same file twice in one.
var openFiles sync.Map

// Open opens the facts of a folder, or creates them. SQL can access only the file
// and the spool.
func Open(ctx context.Context, dir string, o Options) (*Engine, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open facts: %w", err)
	}
	e := &Engine{
		path: filepath.Join(dir, "facts.duckdb"), spool: filepath.Join(dir, spoolDir), threads: o.Threads, memoryMB: o.MemoryMB, factsOnly: o.FactsOnly, maintenance: defaultMaintenance, heavyFrom: heavyFrom, maxCachedEntities: maxCachedEntities, now: o.Now, log: o.Log,
		writtenMonths: map[month]bool{}, known: map[ident.ID]*workspace{}, done: make(chan struct{}),
	}
	if e.threads == 0 {
		e.threads = runtime.NumCPU()
	}
	// More large queries than cores finish no sooner and need more memory.
	e.heavy = fairqueue.New(fairqueue.Limits{Work: "large queries", Running: max(e.threads, 2), PerWorkspace: maxHeavy}, o.Founder)
	e.light = fairqueue.New(fairqueue.Limits{Work: "queries", Running: 2 * e.threads, PerWorkspace: maxLight}, o.Founder)
	e.writes = fairqueue.New(fairqueue.Limits{Work: "writes of metrics", Running: 1, PerWorkspace: maxWrites}, o.Founder)
	if strings.Contains(e.path, "?") {
		return nil, fmt.Errorf("open facts: %s has a question mark in it, which the driver takes for the end of the path: choose another folder", e.path)
	}
	if err := os.MkdirAll(e.spool, 0o700); err != nil {
		return nil, fmt.Errorf("create spool: %w", err)
	}
	if err := useSpool(e.spool); err != nil {
		return nil, err
	}
	if _, taken := openFiles.LoadOrStore(e.path, true); taken {
		return nil, fmt.Errorf("open facts: %s is already open in this process: close it first", e.path)
	}
	// Threads of DuckDB inherit the priority of the thread that opens it.
	if err := withLowPriority(func() error { return e.openDatabase(ctx) }); err != nil {
		openFiles.Delete(e.path)
		return nil, fmt.Errorf("open facts in %s: %w", dir, err)
	}
	maintaining, stop := context.WithCancel(context.WithoutCancel(ctx))
	if e.stop = stop; o.NoMaintenance {
		close(e.done)
		return e, nil
	}
	go e.maintainLoop(maintaining)
	return e, nil
}

// How many requests for metrics and how many writes of a workspace may run and
// wait.
const (
	maxLight  = 64
	maxHeavy  = 16
	maxWrites = 32
)

// files are the names of the files of facts.
var files = []string{"facts.duckdb", "facts.duckdb.wal"}

// spoolDir is the folder beside them for temporary files.
const spoolDir = "spool"

// openOptions makes the log of new files name its file. DuckDB then refuses to
// open a file with the log of a later or another one.
const openOptions = "?storage_compatibility_version=v1.4.0"

func (e *Engine) openDatabase(ctx context.Context) error {
	_, err := os.Stat(e.path + ".wal")
	logged := err == nil
	var locked sync.Once
	connector, err := duckdb.NewConnector(e.path+openOptions, func(c driver.ExecerContext) (err error) {
		locked.Do(func() { err = restrict(ctx, c, e.spool, e.threads, e.memoryMB) })
		return err
	})
	if err != nil {
		return err
	}
	e.pool = newPool(connector)
	err = e.pool.use(ctx, func(c *conn) error {
		// No other process has the file open, so files in the spool are ours.
		if err := e.sweepSpool(); err != nil {
			return err
		}
		if err := c.inTransaction(ctx, func() error {
			if err := makeTables(ctx, c); err != nil || !logged {
				return err
			}
			// After a crash the log can end within a transaction. DuckDB cuts that
			// end off in its first write. Here this is before recordFiles, which
			// would take it for a write of another program.
			return writeVersion(ctx, c)
		}); err != nil {
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
	e.recordFiles(e.changes.Load())
	return nil
}

// disabledOptimizers are parts of the optimizer that do not help here: statements
// join small tables to facts in the best order and repeat no part. They take up
// to a tenth of the time of a small query.
const disabledOptimizers = "join_order,common_subplan"

// restrict sets the limits of a database and locks them. All connections share
// these settings, so it runs once.
func restrict(ctx context.Context, c driver.ExecerContext, spool string, threads, memoryMB int) error {
	if memoryMB == 0 {
		var err error
		if memoryMB, err = defaultMemory(ctx, c.(driver.QueryerContext)); err != nil {
			return err
		}
	}
	_, err := c.ExecContext(ctx, fmt.Sprintf(`PRAGMA disable_checkpoint_on_shutdown; SET threads = %d; SET memory_limit = '%dMB';
		SET autoinstall_known_extensions = false; SET autoload_known_extensions = false;
		SET preserve_insertion_order = true; SET disabled_optimizers = '%s';
		SET allowed_directories = [%s]; SET enable_external_access = false; SET lock_configuration = true`,
		threads, memoryMB, disabledOptimizers, quote(spool)), nil)
	if err != nil {
		return fmt.Errorf("lock settings: %w", err)
	}
	return nil
}

// defaultMemory returns half of DuckDB's default, which is 80 % of the memory of
// the machine or container.
func defaultMemory(ctx context.Context, c driver.QueryerContext) (int, error) {
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

// quote returns a text as an SQL literal, for statements that take no parameters.
// It is never used for text of a caller.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// Close waits for running queries and writes, then closes the file.
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
		e.checkpointBeforeClose()
	}
	err = e.pool.close()
	_ = e.file.Close()
	openFiles.Delete(e.path)
	if err != nil {
		return fmt.Errorf("close facts: %w", err)
	}
	return nil
}
