package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"fanfare/internal/store"
)

// openFile is an open file of the database, as it was when it was opened.
type openFile struct {
	path string
	info fs.FileInfo
	fix  string
}

// noteFiles records which files are open. SQLite creates the log when the
// journal mode is set, and keeps it until the last connection closes.
func (e *Engine) noteFiles() error {
	e.files = []openFile{
		{path: e.path, fix: "put the same file back with mv, which needs no restart; or stop the server, move the other files " + e.path + "* away and run `fanfare backup restore`"},
		{path: e.path + "-wal", fix: "put the same file back with mv; or stop the server with SIGTERM, not SIGKILL, which writes all changes to the database file, and start it again"},
	}
	for i := range e.files {
		info, err := os.Stat(e.files[i].path)
		if err != nil {
			return err
		}
		e.files[i].info = info
	}
	return nil
}

// displaced returns store.ErrDisplaced if a file was removed or replaced since
// it was opened: what is written then is lost when the file is closed. It costs
// one system call per file (BenchmarkDisplaced).
func (e *Engine) displaced() error {
	for _, f := range e.files {
		now, err := os.Stat(f.path)
		if err == nil && os.SameFile(now, f.info) || err != nil && !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		return fmt.Errorf("%w: %s: %s", store.ErrDisplaced, f.path, f.fix)
	}
	return nil
}
