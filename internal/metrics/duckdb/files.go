package duckdb

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"

	"fanfare/internal/datadir"
)

var (
	// ErrDisplaced means that the file was removed or replaced since it was
	// opened. Later writes are lost when the file is closed.
	ErrDisplaced = errors.New("the file of the facts was removed or replaced")
	// ErrOverwritten means that another program has written to the file, or to
	// its log, since it was opened. Results may be wrong. It stays until the
	// engine is closed.
	ErrOverwritten = errors.New("another program has overwritten the file of the facts")
)

// A DuckDB file begins with a header that has a random id and never changes. Two
// more headers follow; each checkpoint overwrites the older one with the next
// number.
const (
	headerBytes = 4096
	numberAt    = 8
	// logTail is the number of bytes compared at the end of the log. They have
	// rows and checksums of the last write.
	logTail = 4096
)

// written describes the files after a write of this engine.
type written struct {
	// changes is the change count of the engine after that write.
	changes int64
	main    *datadir.Written
	// log is nil if the file has none.
	log *datadir.Written
}

// checkpointOf returns the number of the last checkpoint in the headers of a file.
func checkpointOf(headers []byte) (n uint64) {
	for at := headerBytes + numberAt; at+8 <= len(headers); at += headerBytes {
		n = max(n, binary.LittleEndian.Uint64(headers[at:]))
	}
	return n
}

// follows reports whether a file can have these headers after it had the previous
// ones.
func follows(headers, previous []byte) bool {
	if len(headers) < headerBytes || len(previous) < headerBytes {
		return len(headers) == len(previous)
	}
	return bytes.Equal(headers[:headerBytes], previous[:headerBytes]) && checkpointOf(headers) >= checkpointOf(previous)
}

// readFiles reads the files. No write may run.
func (e *Engine) readFiles() (w written, err error) {
	if w.main, err = datadir.ReadWritten(e.file, datadir.Part{Length: 3 * headerBytes}); err != nil {
		return w, err
	}
	log, err := os.Open(e.path + ".wal")
	if errors.Is(err, fs.ErrNotExist) {
		return w, nil
	}
	if err != nil {
		return w, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	info, err := log.Stat()
	if err != nil {
		return w, err
	}
	tail := min(info.Size(), logTail)
	w.log, err = datadir.ReadWritten(log, datadir.Part{Offset: info.Size() - tail, Length: int(tail)})
	return w, err
}

// recordFiles compares the files with the state before the write and stores the
// new state. A write without a checkpoint only appends to the log, so it finds
// writes of another program.
func (e *Engine) recordFiles(changes int64) {
	now, err := e.readFiles()
	if err != nil {
		e.written.Store(nil) // not compared until the next write
		return
	}
	if before := e.written.Load(); before != nil {
		checkpointed := checkpointOf(now.main.Content()) > checkpointOf(before.main.Content())
		if !follows(now.main.Content(), before.main.Content()) || !checkpointed && before.log != nil && !e.logUnchanged(before.log) {
			e.overwritten.Store(true)
		}
	}
	now.changes = changes
	e.written.Store(&now)
}

// logUnchanged reports whether the log still has the bytes of the last write.
func (e *Engine) logUnchanged(was *datadir.Written) bool {
	log, err := os.Open(e.path + ".wal")
	if err != nil {
		return true // CheckFiles reports it
	}
	defer func() { _ = log.Close() }()
	return was.SameContent(log)
}

// CheckFiles returns ErrDisplaced or ErrOverwritten, nil if the files are as this
// engine left them. Call it after every read. It costs two system calls
// (BenchmarkFiles). During a write it reads the headers of the file.
func (e *Engine) CheckFiles() error {
	if e.overwritten.Load() {
		return ErrOverwritten
	}
	// Load written before Stat; a write in between raises changes.
	was := e.written.Load()
	now, err := os.Stat(e.path)
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(now, e.info):
		return ErrDisplaced
	case err != nil:
		return nil //nolint:nilerr // a path that cannot be examined says nothing about the file
	}
	if was == nil {
		return nil
	}
	if was.changes != e.changes.Load() {
		headers, err := datadir.ReadWritten(e.file, datadir.Part{Length: 3 * headerBytes})
		if err == nil && !follows(headers.Content(), was.main.Content()) {
			e.overwritten.Store(true)
			return ErrOverwritten
		}
		return nil
	}
	err = e.compare(was, now)
	if was.changes != e.changes.Load() {
		return nil // a write has begun meanwhile
	}
	if errors.Is(err, ErrOverwritten) {
		e.overwritten.Store(true)
	}
	return err
}

// compare compares the files with their state after the last write.
func (e *Engine) compare(was *written, now os.FileInfo) error {
	next := *was
	if !was.main.Same(now) {
		if next.main = was.main.Touched(now, e.file); next.main == nil {
			return ErrOverwritten
		}
	}
	path := e.path + ".wal"
	now, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if was.log != nil {
			return ErrDisplaced
		}
	case err != nil:
	case was.log == nil:
		return ErrOverwritten
	case !os.SameFile(now, was.log.Info()):
		return ErrDisplaced
	case !was.log.Same(now):
		log, err := os.Open(path)
		if err != nil {
			return nil
		}
		defer func() { _ = log.Close() }()
		if next.log = was.log.Touched(now, log); next.log == nil {
			return ErrOverwritten
		}
	}
	if next != *was {
		e.written.CompareAndSwap(was, &next)
	}
	return nil
}

// checkpointBeforeClose moves the log into the file. DuckDB does not do it here,
// because it would also do so to a file that another program has overwritten.
func (e *Engine) checkpointBeforeClose() {
	ctx := context.Background()
	// If it fails, the log stays for the next start.
	_ = e.pool.use(ctx, func(c *conn) error {
		_, err := c.exec(ctx, "CHECKPOINT")
		return err
	})
}
