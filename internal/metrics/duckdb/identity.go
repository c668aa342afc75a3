package duckdb

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"fanfare/internal/datadir"
)

// ErrNewer means that a newer program wrote the facts.
var ErrNewer = errors.New("the facts are newer than this program")

// Identity distinguishes facts files, and a file from an older copy of it.
type Identity struct {
	// ID is the id that Adopt gave the file, empty for none.
	ID string
	// Generation grows with every change of the facts.
	Generation int64
	// RecordedGeneration is the highest generation that the store had recorded at
	// the last write of the file. A store with a lower one is an older copy.
	RecordedGeneration int64
	// Writer is the id that the file had when it was last written. It differs
	// from ID if the log beside the file was written for another file.
	Writer string
}

// Identity returns the identity of the file. It costs no query.
func (e *Engine) Identity() Identity {
	return Identity{*e.id.Load(), e.generation.Load(), e.recorded.Load(), *e.writer.Load()}
}

// SetRecorded sets the generation that the store has recorded. The next write
// stores it.
func (e *Engine) SetRecorded(generation int64) {
	for {
		was := e.recorded.Load()
		if was >= generation || e.recorded.CompareAndSwap(was, generation) {
			return
		}
	}
}

// inChange commits the changes of f, or rolls back if f fails. Every change also
// writes the id of the file and the recorded generation, so that the log names
// its file.
func (e *Engine) inChange(ctx context.Context, c *conn, f func() error) error {
	return c.inTransaction(ctx, func() error {
		if err := f(); err != nil {
			return err
		}
		return e.writeRecorded(ctx, c, *e.id.Load())
	})
}

// writeRecorded writes the recorded generation, and a count after the id, because
// DuckDB does not log an update that changes nothing.
func (e *Engine) writeRecorded(ctx context.Context, c *conn, id string) error {
	e.recordedWrites++
	if _, err := c.exec(ctx, "UPDATE noted SET generation = ?, id = ?", e.recorded.Load(), fmt.Sprintf("%s %d", id, e.recordedWrites)); err != nil {
		return fmt.Errorf("write recorded generation: %w", err)
	}
	return nil
}

// Adopt replaces the id of the file. When it returns nil, the id is on disk, in
// the file itself and not in its log. A later log has the id only as that of the
// writer, so another file beside it keeps its own id and does not match.
func (e *Engine) Adopt(ctx context.Context, id string) error {
	err := e.withoutWriters(ctx, func(c *conn) error {
		err := c.inTransaction(ctx, func() error {
			if _, err := c.exec(ctx, "DELETE FROM identity"); err != nil {
				return err
			}
			if _, err := c.exec(ctx, "INSERT INTO identity VALUES (?)", id); err != nil {
				return err
			}
			return e.writeRecorded(ctx, c, id)
		})
		if err != nil {
			return err
		}
		e.id.Store(&id)
		e.writer.Store(&id)
		if _, err := c.exec(ctx, "CHECKPOINT"); err != nil {
			return fmt.Errorf("checkpoint: %w", err)
		}
		e.unsaved = 0
		return nil
	})
	if err != nil {
		return fmt.Errorf("adopt facts: %w", err)
	}
	return nil
}

// loadIdentity reads the identity. The generation of the file is the sum of the
// generations of its workspaces.
func (e *Engine) loadIdentity(ctx context.Context, c *conn) error {
	id := ""
	if err := c.query(ctx, func(row []driver.Value) error { id = row[0].(string); return nil }, "SELECT id FROM identity"); err != nil {
		return fmt.Errorf("read identity: %w", err)
	}
	e.id.Store(&id)
	err := c.query(ctx, func(row []driver.Value) error { e.generation.Store(row[0].(int64)); return nil },
		"SELECT CAST(coalesce(sum(generation), 0) AS BIGINT) FROM workspace")
	if err != nil {
		return fmt.Errorf("read generation: %w", err)
	}
	found, writer := false, ""
	if err := c.query(ctx, func(row []driver.Value) error {
		found = true
		writer, _, _ = strings.Cut(row[1].(string), " ")
		e.recorded.Store(row[0].(int64))
		return nil
	}, "SELECT generation, coalesce(id, '') FROM noted"); err != nil {
		return fmt.Errorf("read recorded generation: %w", err)
	}
	e.writer.Store(&writer)
	if !found {
		if _, err := c.exec(ctx, "INSERT INTO noted VALUES (0, '')"); err != nil {
			return fmt.Errorf("write recorded generation: %w", err)
		}
	}
	return nil
}

// Path returns the path of the facts file of a folder.
func Path(dir string) string { return filepath.Join(dir, files[0]) }

// Denied returns the file or folder of the facts that this process may not read
// and write, empty if it may use all that are there.
func Denied(dir string) string {
	for _, name := range files {
		file, err := os.OpenFile(filepath.Join(dir, name), os.O_RDWR, 0)
		if errors.Is(err, fs.ErrPermission) {
			return filepath.Join(dir, name)
		}
		if err == nil {
			_ = file.Close()
		}
	}
	if err := useSpool(filepath.Join(dir, spoolDir)); errors.Is(err, fs.ErrPermission) {
		return filepath.Join(dir, spoolDir)
	}
	return ""
}

// useSpool returns an error if the folder cannot be listed or written.
func useSpool(spool string) error {
	if _, err := os.ReadDir(spool); err != nil {
		return fmt.Errorf("use spool: %w", err)
	}
	name, err := spoolFile(spool)
	if err != nil {
		return err
	}
	return os.Remove(name)
}

// Exists reports whether a folder has facts.
func Exists(dir string) bool {
	_, err := os.Stat(Path(dir))
	return err == nil
}

// Retire renames the facts file of a folder, which must be closed. It returns the
// new name, empty if the folder has no facts. It never replaces a file that was
// retired before.
func Retire(dir string) (kept string, err error) {
	list, err := datadir.Retire(dir, files...)
	if len(list) > 0 {
		kept = list[0].To
	}
	return kept, err
}

// Move moves the facts of a folder, which must be closed, into one without facts.
func Move(from, to string) error {
	for _, name := range files {
		err := os.Rename(filepath.Join(from, name), filepath.Join(to, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("put the new facts into place: %w", err)
		}
	}
	return nil
}

// Copy copies the facts of a folder, which must be closed, into one without facts.
func Copy(from, to string) error {
	for _, name := range files {
		err := copyFile(filepath.Join(from, name), filepath.Join(to, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("copy facts: %w", err)
		}
	}
	return nil
}

// Remove deletes the facts of a folder, which must be closed.
func Remove(dir string) error {
	for _, name := range files {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove facts: %w", err)
		}
	}
	return nil
}

// NoSpace reports whether an error means that the disk is full. The file is as it
// was before, and stays usable.
//
// Choice: DuckDB has no type for such errors, so the text of the operating system
// is compared.
func NoSpace(err error) bool {
	var failed *duckdb.Error
	if !errors.As(err, &failed) || failed.Type != duckdb.ErrorTypeIO && failed.Type != duckdb.ErrorTypeTransaction {
		return false
	}
	return strings.Contains(strings.ToLower(failed.Msg), strings.ToLower(syscall.ENOSPC.Error()))
}

// Damaged reports whether an error means that the file is corrupt, or that DuckDB
// refuses to use it until it is opened again.
func Damaged(err error) bool {
	var failed *duckdb.Error
	if !errors.As(err, &failed) {
		return false
	}
	switch failed.Type {
	case duckdb.ErrorTypeIO:
		// A dump file that cannot be written is no damage of the facts.
		return !strings.Contains(failed.Msg, `.parquet"`) && !NoSpace(err)
	case duckdb.ErrorTypeFatal, duckdb.ErrorTypeInternal, duckdb.ErrorTypeSerialization:
		return true
	default:
		return false
	}
}
