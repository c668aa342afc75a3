package duckdb

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"fanfare/internal/ident"
)

// IsFile reports whether a file is one of facts, by its first bytes.
func IsFile(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	head := make([]byte, 12)
	_, err = io.ReadFull(f, head)
	return err == nil && string(head[8:]) == "DUCK"
}

// Workspaces returns the workspaces that have facts or had them.
func (e *Engine) Workspaces(ctx context.Context) (ids []ident.ID, err error) {
	err = e.pool.use(ctx, func(c *conn) error {
		return c.query(ctx, func(row []driver.Value) error { ids = append(ids, ident.ID(row[0].(string))); return nil }, "SELECT id FROM workspace ORDER BY key")
	})
	if err != nil {
		return nil, fmt.Errorf("list workspaces: %w", err)
	}
	return ids, nil
}

// DumpFile passes a dump of a facts file that nobody has open, such as one that
// Retire has renamed, to fill. It reads a copy in the folder dir, so that the file
// stays as it is. accept refuses the file by the workspaces that it has.
func DumpFile(ctx context.Context, path, dir string, o Options, accept func(workspaces []ident.ID) error, fill func(io.Reader) error) error {
	return dumpFrom(ctx, dir, o, fill, func(dir string) error {
		for i, source := range []string{path, logOf(path)} {
			if err := copyFile(source, filepath.Join(dir, files[i])); err != nil && (i == 0 || !errors.Is(err, fs.ErrNotExist)) {
				return fmt.Errorf("copy facts: %w", err)
			}
		}
		return nil
	}, func(from *Engine) error {
		workspaces, err := from.Workspaces(ctx)
		if err != nil {
			return err
		}
		return accept(workspaces)
	})
}

// DumpOld passes the facts of an older program's dump to fill, as a dump of the
// present format. It uses the folder dir meanwhile.
func DumpOld(ctx context.Context, old io.Reader, dir string, o Options, fill func(io.Reader) error) error {
	return dumpFrom(ctx, dir, o, fill, func(string) error { return nil }, func(from *Engine) error { return from.Fill(ctx, old) })
}

// dumpFrom passes a dump of temporary facts to fill. put brings files into their
// folder, ready uses the facts before they are dumped.
func dumpFrom(ctx context.Context, dir string, o Options, fill func(io.Reader) error, put func(dir string) error, ready func(*Engine) error) (err error) {
	if dir, err = os.MkdirTemp(dir, "facts-*"); err != nil {
		return fmt.Errorf("copy facts: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := put(dir); err != nil {
		return err
	}
	o.Untended = true
	from, err := Open(ctx, dir, o)
	if err != nil {
		return err
	}
	return errors.Join(from.pass(ctx, fill, ready), from.Close()) //nolint:contextcheck // closing is not canceled
}

// pass passes a dump to fill, when ready has used the facts.
func (e *Engine) pass(ctx context.Context, fill func(io.Reader) error, ready func(*Engine) error) error {
	if err := ready(e); err != nil {
		return err
	}
	r, w := io.Pipe()
	dumped := make(chan struct{})
	go func() {
		defer close(dumped)
		_ = w.CloseWithError(e.Dump(ctx, w))
	}()
	err := fill(r)
	_ = r.Close()
	<-dumped
	return err
}

// logOf returns the path of the log of a facts file: Retire gives both the same
// suffix.
func logOf(path string) string {
	if suffix, ok := strings.CutPrefix(filepath.Base(path), files[0]); ok {
		return filepath.Join(filepath.Dir(path), files[1]+suffix)
	}
	return path + ".wal"
}

func copyFile(from, to string) (err error) {
	r, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	w, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, r)
	return errors.Join(err, w.Close())
}
