// Package sqlite is the engine for one node: one file, several connections that
// read and one that writes. Writes that wait at the same time are committed
// together, so that 64 clients share one sync of the disk. This package does
// not know the tables; package store has the records.
package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"

	"fanfare/internal/store"
)

// Options configures an engine. The zero value is right for a server.
type Options struct {
	// Readers is the number of read connections, by default two per processor
	// and at least four.
	Readers int
	// MaxBatch is the largest number of transactions in one commit, by default
	// 256. With 1 each transaction has its own commit.
	MaxBatch int
	// MapBytes is how much of the file is read through memory mapping, by
	// default almost 2 GiB; negative for none.
	MapBytes int64
	// Reserve is the disk space reserved for urgent writes, by default none.
	Reserve int64
}

// Reading through the mapping takes a third less time than through read calls
// (BenchmarkList20). It is memory of the page cache, which the system takes
// back when it needs it. Its cost: a bad sector under a mapped page ends the
// process instead of failing one request. SQLite takes no more than this.
const mapBytes = 0x7fff0000

const pragmas = `
PRAGMA foreign_keys = ON;
PRAGMA temp_store = MEMORY;
PRAGMA trusted_schema = OFF;
PRAGMA mmap_size = %d;
PRAGMA cache_size = -%d;`

// The writer checkpoints the write-ahead log when no write waits, so that no
// commit includes a checkpoint. The fullfsync settings are for macOS, where a
// plain sync does not reach the disk.
const writerPragmas = `
PRAGMA synchronous = FULL;
PRAGMA fullfsync = ON;
PRAGMA checkpoint_fullfsync = ON;
PRAGMA journal_size_limit = 67108864;`

const (
	readerCacheKiB = 8 << 10
	writerCacheKiB = 32 << 10
)

// Engine implements store.Engine on a SQLite file.
type Engine struct {
	path    string
	pragmas string
	readers readers
	writer  *writer
	// seq rises with every commit, before the commit is reported. A reader at
	// the current seq sees all commits.
	seq     atomic.Uint64
	damage  damage
	unclean bool
	// main is the database file, log its write-ahead log.
	main, log *openFile
	pageSize  int64
	// overwritten is the error if another program has written to one of the
	// files.
	overwritten atomic.Pointer[error]
	// snapshots is the number of running snapshots; running waits for them.
	snapshots atomic.Int64
	running   sync.WaitGroup
	mu        sync.Mutex
	closed    bool
}

var _ store.Engine = (*Engine)(nil)

// Open opens the database file at path. If the file is missing, Open creates
// it, readable only by its owner. The caller must ensure that no other process
// writes to the file: readers would see such changes only after the next write
// here. Errors name the path, and for a damaged file how to restore it.
func Open(path string, opt Options) (*Engine, error) {
	e, err := openEngine(path, opt)
	switch {
	case errors.Is(err, store.ErrDamaged):
		return nil, fmt.Errorf("open SQLite at %s: %w: move the files %s* away and restore the last good backup with `fanfare backup restore`", path, err, path)
	case err != nil:
		return nil, fmt.Errorf("open SQLite at %s: %w", path, err)
	}
	return e, nil
}

func openEngine(path string, opt Options) (*Engine, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if opt.Readers <= 0 {
		opt.Readers = max(4, 2*runtime.GOMAXPROCS(0))
	}
	if opt.MaxBatch <= 0 {
		opt.MaxBatch = 256
	}
	if opt.MapBytes == 0 {
		opt.MapBytes = mapBytes
	}
	if err := private(path); err != nil {
		return nil, err
	}
	e := &Engine{damage: damage{mark: path + "-damaged"}, unclean: unclean(path), path: path, pragmas: fmt.Sprintf(pragmas, max(opt.MapBytes, 0), readerCacheKiB)}
	e.seq.Store(1)
	c, err := connectWriter(path, fmt.Sprintf(pragmas, max(opt.MapBytes, 0), writerCacheKiB)+writerPragmas)
	if err != nil {
		return nil, err
	}
	for range opt.Readers {
		r, err := connect(path, false, e.pragmas)
		if err != nil {
			e.readers.close()
			c.close()
			return nil, err
		}
		r.damage = &e.damage
		e.readers.idle = append(e.readers.idle, r)
	}
	c.damage = &e.damage
	if err := e.openFiles(c); err != nil {
		c.keepLog()
		e.readers.close()
		c.close()
		e.closeFiles()
		return nil, err
	}
	e.writer = newWriter(e, c, opt.MaxBatch, openReserve(path+"-reserve", opt.Reserve))
	return e, nil
}

// private creates the file if it is missing and removes the access of other
// users. SQLite gives the files beside it the same mode.
func private(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(f.Chmod(0o600), f.Close())
}

func connectWriter(path, pragmas string) (*conn, error) {
	c, err := connect(path, true, pragmas)
	if err != nil {
		return nil, err
	}
	r, err := c.query("PRAGMA journal_mode = WAL")
	if err == nil && r.Next() {
		if mode := r.Text(); mode != "wal" {
			err = fmt.Errorf("sqlite: journal mode is %s, want wal", mode)
		}
	}
	if err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// Query implements store.Engine.
func (e *Engine) Query(ctx context.Context, query string, args ...any) (*store.Rows, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	// Reading a mapped page that a shorter file does not have ends the process.
	if err := e.intact(); err != nil {
		return nil, err
	}
	c, err := e.readers.acquire(ctx)
	if err != nil {
		return nil, err
	}
	r, err := c.readRows(ctx, e.seq.Load(), query, args)
	if c.seq != 0 && c.seq != e.seq.Load() {
		c.letGo()
	}
	e.readers.release(c)
	if err := e.intact(); err != nil {
		return nil, err
	}
	return r, err
}

// Write implements store.Engine. fn runs in the engine's own goroutine while
// all other writes wait, so it must be quick and must not call Write itself.
func (e *Engine) Write(ctx context.Context, fn func(tx store.Tx) error) error {
	if err := e.damage.found(); err != nil {
		return errors.Join(e.intact(), err)
	}
	return e.writer.writeTx(ctx, fn)
}

// WriteAsync implements store.Engine. It is Write, because concurrent writes
// already share one wait for the disk.
func (e *Engine) WriteAsync(ctx context.Context, fn func(tx store.Tx) error) error {
	return e.Write(ctx, fn)
}

// Snapshot implements store.Engine on a separate connection, so that a long
// snapshot does not block other readers. While it runs, the write-ahead log
// only grows.
func (e *Engine) Snapshot(ctx context.Context, fn func(tx store.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return errClosed
	}
	e.running.Add(1)
	e.mu.Unlock()
	defer e.running.Done()
	e.snapshots.Add(1)
	defer e.snapshots.Add(-1)
	c, err := connect(e.path, false, e.pragmas)
	if err == nil {
		defer c.close()
	}
	// The path may lead to another file than the one that is open.
	if moved := errors.Join(e.displaced(), e.intact()); moved != nil {
		return moved
	}
	if err != nil {
		return err
	}
	c.ctx, c.damage = ctx, &e.damage
	// The first read chooses the snapshot, not BEGIN.
	if err := c.script("BEGIN; SELECT max(rowid) FROM sqlite_schema"); err != nil {
		return err
	}
	t := &tx{c: c}
	err = store.RunTx(t, &t.err, fn)
	if err := e.intact(); err != nil {
		return err
	}
	return err
}

// Watch implements store.Engine.
func (e *Engine) Watch(w store.Watcher) { e.writer.watchers = append(e.writer.watchers, w) }

// Traits implements store.Engine.
func (e *Engine) Traits() store.Traits {
	return store.Traits{Name: "sqlite", Exclusive: true, Unclean: e.unclean, Damage: e.damage.found()}
}

// Close refuses new work, commits waiting writes, waits for running reads and
// snapshots, empties the write-ahead log and closes the file. Closing twice
// does nothing.
func (e *Engine) Close() error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil
	}
	e.closed = true
	e.mu.Unlock()
	e.writer.stop()
	e.running.Wait()
	e.readers.close()
	defer e.closeFiles()
	err := e.writer.emptyLog()
	e.writer.conn.close()
	return err
}
