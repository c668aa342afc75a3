package sqlite

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync/atomic"

	"fanfare/internal/datadir"
	"fanfare/internal/store"
)

// openFile is an open file of the database.
type openFile struct {
	path string
	// file stays open until SQLite has closed its own: closing it earlier would
	// release the locks of this process.
	file *os.File
	info fs.FileInfo
	// written is the file as this engine last wrote it, nil while it may be
	// writing. In WAL mode SQLite writes to the database file only in
	// checkpoints, and to the log only in transactions that write. The writer
	// does both.
	written atomic.Pointer[datadir.Written]
	// back and restore are the fixes if the file is displaced or overwritten.
	back, restore string
}

// Parts of the files that every write changes: the header of the database has
// the checkpoint id, the header of the log its salts, and the header of a frame of the
// log the checksum of everything before it.
const (
	headerBytes        = 100
	checkpointIDOffset = 60
	logHeaderBytes     = 32
	frameHeaderBytes   = 24
)

// openFiles opens the files that SQLite has open. SQLite creates the log when
// the journal mode is set, and keeps it until the last connection closes.
func (e *Engine) openFiles(c *conn) error {
	rows, err := c.query("PRAGMA page_size")
	if err != nil {
		return err
	}
	rows.Next()
	e.pageSize = rows.Int()
	e.main = &openFile{
		path: e.path, back: "put the same file back with mv, which needs no restart; or stop the server, move the other files " + e.path + "* away and run `fanfare backup restore`",
		restore: "stop the server, move the files " + e.path + "* away and run `fanfare backup restore`",
	}
	e.log = &openFile{
		path: e.path + "-wal", back: "put the same file back with mv; or stop the server with SIGTERM, not SIGKILL, which writes all changes to the database file, and start it again",
		restore: "stop the server, move the files " + e.path + "* away and run `fanfare backup restore`; or, without a backup, move only " + e.path + "-wal away and start the server, which says how many changes are then missing",
	}
	for _, f := range []*openFile{e.main, e.log} {
		if f.file, err = os.Open(f.path); err != nil {
			return err
		}
		if f.info, err = f.file.Stat(); err != nil {
			return err
		}
	}
	e.main.recordWritten(datadir.Part{Length: headerBytes})
	e.log.recordWritten(datadir.Part{Length: logHeaderBytes})
	return e.matchLog(c)
}

func (e *Engine) closeFiles() {
	for _, f := range []*openFile{e.main, e.log} {
		if f != nil && f.file != nil {
			f.written.Store(nil)
			_ = f.file.Close()
		}
	}
}

// recordWritten records the file after a write. A file that cannot be read is
// not compared until the next write.
func (f *openFile) recordWritten(parts ...datadir.Part) {
	w, err := datadir.ReadWritten(f.file, parts...)
	if err != nil {
		w = nil
	}
	f.written.Store(w)
}

// overwritten reports whether another program has written to the file.
func (f *openFile) overwritten() bool {
	w := f.written.Load()
	if w == nil {
		return false
	}
	if w.Unchanged(f.file) {
		return false
	}
	now, err := f.file.Stat()
	if err != nil {
		return false
	}
	if touched := w.Touched(now, f.file); touched != nil {
		f.written.CompareAndSwap(w, touched)
		return false
	}
	return f.written.Load() == w // else this engine has written meanwhile
}

// displaced returns store.ErrDisplaced if a file was removed or replaced since
// it was opened. Later writes would be lost when the file is closed. It costs
// one system call per file (BenchmarkFiles).
func (e *Engine) displaced() error {
	for _, f := range []*openFile{e.main, e.log} {
		now, err := os.Stat(f.path)
		if err == nil && os.SameFile(now, f.info) || err != nil && !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		return fmt.Errorf("%w: %s: %s", store.ErrDisplaced, f.path, f.back)
	}
	return nil
}

// intact returns store.ErrOverwritten if another program has written to the
// files since they were opened. SQLite then reads other data than was stored,
// and pages of both states may be in memory, so the error stays until the
// engine is opened again. A reader calls it after it has read. It costs one
// system call per file (BenchmarkFiles).
func (e *Engine) intact() error {
	if err := e.overwritten.Load(); err != nil {
		return *err
	}
	for _, f := range []*openFile{e.main, e.log} {
		if f.overwritten() {
			return e.noteOverwritten(f)
		}
	}
	return nil
}

func (e *Engine) noteOverwritten(f *openFile) error {
	err := fmt.Errorf("%w: %s: %s", store.ErrOverwritten, f.path, f.restore)
	e.overwritten.CompareAndSwap(nil, &err)
	return *e.overwritten.Load()
}

// The checkpoint id is a random number in the header of the database that every
// checkpoint changes. The log has the id of the database file that it
// continues (setting application_id) and the one that the next checkpoint
// writes (setting user_version). So a file beside the log of another one, or of
// another state of it, is recognized when it is opened.

// checkpointID returns the id in the database file itself.
func (f *openFile) checkpointID() int32 {
	var b [4]byte
	if _, err := f.file.ReadAt(b[:], checkpointIDOffset); err != nil {
		return 0 // a new file
	}
	return int32(binary.BigEndian.Uint32(b[:]))
}

// matchLog returns store.ErrOverwritten if the log does not belong to the
// database file.
func (e *Engine) matchLog(c *conn) error {
	have := e.main.checkpointID()
	for _, setting := range []string{"PRAGMA user_version", "PRAGMA application_id"} {
		rows, err := c.query(setting)
		if err != nil {
			return err
		}
		if rows.Next() && int32(rows.Int()) == have {
			return nil
		}
	}
	return fmt.Errorf("%w: %s does not belong to %s: one of the two is an older copy or comes from another folder; put the right file back, or %s", store.ErrOverwritten, e.log.path, e.path, e.log.restore)
}
