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

// ErrNewer says that the facts were written by a newer program.
var ErrNewer = errors.New("the facts are newer than this program")

// Identity tells one file of facts from another, and a file from an older copy
// of it.
type Identity struct {
	// ID is what Adopt gave the file, empty for none.
	ID string
	// Generation grows with every change of the facts.
	Generation int64
	// Noted is the highest generation that the store had noted when the file
	// was last written: a store that knows less is an older copy.
	Noted int64
	// Writer is the id that the file had when it was last written. It differs
	// from ID if the log beside the file was written for another file.
	Writer string
}

// Identity returns the identity of the file. It costs no query.
func (e *Engine) Identity() Identity {
	return Identity{*e.id.Load(), e.generation.Load(), e.noted.Load(), *e.writer.Load()}
}

// Note says which generation the store has noted. The next write keeps it.
func (e *Engine) Note(generation int64) {
	for {
		was := e.noted.Load()
		if was >= generation || e.noted.CompareAndSwap(was, generation) {
			return
		}
	}
}

// inChange commits what f changed, or undoes it. Every change also writes the id
// of the file and what the store has noted, so that the log says which file it
// belongs to.
func (e *Engine) inChange(ctx context.Context, c *conn, f func() error) error {
	return c.inTransaction(ctx, func() error {
		if err := f(); err != nil {
			return err
		}
		return e.keepNoted(ctx, c, *e.id.Load())
	})
}

// keepNoted writes a count behind the id, because DuckDB does not log an update
// that changes nothing.
func (e *Engine) keepNoted(ctx context.Context, c *conn, id string) error {
	e.kept++
	if _, err := c.exec(ctx, "UPDATE noted SET generation = ?, id = ?", e.noted.Load(), fmt.Sprintf("%s %d", id, e.kept)); err != nil {
		return fmt.Errorf("keep noted generation: %w", err)
	}
	return nil
}

// Adopt gives the file an id, in place of the one that it has. When Adopt
// returns nil the id is on disk, in the file itself and not in its log: a log
// that is written from now on has the id only as that of the writer, so that
// another file beside it keeps its own id and does not match.
func (e *Engine) Adopt(ctx context.Context, id string) error {
	err := e.alone(ctx, func(c *conn) error {
		err := c.inTransaction(ctx, func() error {
			if _, err := c.exec(ctx, "DELETE FROM identity"); err != nil {
				return err
			}
			if _, err := c.exec(ctx, "INSERT INTO identity VALUES (?)", id); err != nil {
				return err
			}
			return e.keepNoted(ctx, c, id)
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

// loadIdentity reads the identity. The generation of the file is the sum of
// those of its workspaces, which every write raises anyway.
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
		e.noted.Store(row[0].(int64))
		return nil
	}, "SELECT generation, coalesce(id, '') FROM noted"); err != nil {
		return fmt.Errorf("read noted generation: %w", err)
	}
	e.writer.Store(&writer)
	if !found {
		if _, err := c.exec(ctx, "INSERT INTO noted VALUES (0, '')"); err != nil {
			return fmt.Errorf("keep noted generation: %w", err)
		}
	}
	return nil
}

// Path returns the file of the facts of a folder.
func Path(dir string) string { return filepath.Join(dir, files[0]) }

// Exists reports whether a folder has facts.
func Exists(dir string) bool {
	_, err := os.Stat(Path(dir))
	return err == nil
}

// Retire puts the facts of a folder, which nobody may have open, under other
// names, and returns the name of the file; empty where there is none. It never
// replaces facts that were retired before.
func Retire(dir string) (kept string, err error) {
	list, err := datadir.Retire(dir, files...)
	if len(list) > 0 {
		kept = list[0].To
	}
	return kept, err
}

// Move moves the facts of a folder, which nobody may have open, into another one
// that has none.
func Move(from, to string) error {
	for _, name := range files {
		err := os.Rename(filepath.Join(from, name), filepath.Join(to, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("put the new facts into place: %w", err)
		}
	}
	return nil
}

// NoSpace reports whether an error says that the disk is full. The file is as it
// was before, and can be used on.
//
// Choice: DuckDB gives such an error no type of its own, so that the text of the
// operating system is what tells it from others.
func NoSpace(err error) bool {
	var failed *duckdb.Error
	if !errors.As(err, &failed) || failed.Type != duckdb.ErrorTypeIO && failed.Type != duckdb.ErrorTypeTransaction {
		return false
	}
	return strings.Contains(strings.ToLower(failed.Msg), strings.ToLower(syscall.ENOSPC.Error()))
}

// Damaged reports whether an error says that the file is corrupt, or that
// DuckDB will not go on with it until it is opened again.
func Damaged(err error) bool {
	var failed *duckdb.Error
	if !errors.As(err, &failed) {
		return false
	}
	switch failed.Type {
	case duckdb.ErrorTypeIO:
		// A file of a dump that cannot be written says nothing about the facts.
		return !strings.Contains(failed.Msg, `.parquet"`) && !NoSpace(err)
	case duckdb.ErrorTypeFatal, duckdb.ErrorTypeInternal, duckdb.ErrorTypeSerialization:
		return true
	default:
		return false
	}
}
