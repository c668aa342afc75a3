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
	// ErrDisplaced says that the file was removed or replaced since it was
	// opened: what is written then is lost when the file is closed.
	ErrDisplaced = errors.New("the file of the facts was removed or replaced")
	// ErrOverwritten says that another program has written to the file, or to
	// its log, since it was opened: what is read then may not be what was
	// stored. It stays until the engine is closed.
	ErrOverwritten = errors.New("another program has overwritten the file of the facts")
)

// A file of DuckDB begins with a header that has a random id of the file and
// never changes, and two headers of which every checkpoint replaces the older
// one by one with the next number.
const (
	headerBytes = 4096
	numberAt    = 8
	// logTail is how much of the end of the log is compared. It has rows and
	// checksums of the last write.
	logTail = 4096
)

// written is the files as this engine has left them.
type written struct {
	// changes is that of the engine when nobody had written since.
	changes int64
	main    *datadir.Written
	// log is nil where there is none.
	log *datadir.Written
}

// checkpointOf returns the number of the last checkpoint in the headers of a file.
func checkpointOf(headers []byte) (n uint64) {
	for at := headerBytes + numberAt; at+8 <= len(headers); at += headerBytes {
		n = max(n, binary.LittleEndian.Uint64(headers[at:]))
	}
	return n
}

// follows reports whether headers can be those of a file after it had those of
// before.
func follows(headers, before []byte) bool {
	if len(headers) < headerBytes || len(before) < headerBytes {
		return len(headers) == len(before)
	}
	return bytes.Equal(headers[:headerBytes], before[:headerBytes]) && checkpointOf(headers) >= checkpointOf(before)
}

// readFiles reads the files while nobody writes.
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

// noteFiles records the files after a write, which began with those of before.
// It finds out whether another program has written to them meanwhile: a write
// without a checkpoint only appends to the log.
func (e *Engine) noteFiles(changes int64) {
	now, err := e.readFiles()
	if err != nil {
		e.written.Store(nil) // they are not compared until the next write
		return
	}
	if before := e.written.Load(); before != nil {
		checkpointed := checkpointOf(now.main.Content()) > checkpointOf(before.main.Content())
		if !follows(now.main.Content(), before.main.Content()) || !checkpointed && before.log != nil && !e.logHolds(before.log) {
			e.overwritten.Store(true)
		}
	}
	now.changes = changes
	e.written.Store(&now)
}

// logHolds reports whether the log has the bytes that it had.
func (e *Engine) logHolds(was *datadir.Written) bool {
	log, err := os.Open(e.path + ".wal")
	if err != nil {
		return true // CheckFiles tells
	}
	defer func() { _ = log.Close() }()
	return was.Holds(log)
}

// CheckFiles returns ErrDisplaced or ErrOverwritten, nil if the files are as
// this engine has left them. Whoever reads calls it afterwards. It costs two
// calls to the system (BenchmarkFiles), and reads the headers of the file while
// a write is under way.
func (e *Engine) CheckFiles() error {
	if e.overwritten.Load() {
		return ErrOverwritten
	}
	// What was written is loaded before the file is looked at: a write in between
	// raises changes, so that an earlier look is never compared with a later write.
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

// compare compares the files with what they were after the last write.
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

// saveLast moves the log into the file before it is closed. DuckDB itself does not
// do that here, because it would do so to a file that another program has
// overwritten.
func (e *Engine) saveLast() {
	ctx := context.Background()
	// Where it fails, the log is kept for the next start.
	_ = e.pool.use(ctx, func(c *conn) error {
		_, err := c.exec(ctx, "CHECKPOINT")
		return err
	})
}
