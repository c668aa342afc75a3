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

// IsFile reports whether a file is a facts file, by its first bytes.
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

// DumpFile dumps a closed facts file, such as one that Retire has renamed, into
// fill. It reads a copy in the folder dir, so that the file stays as it is.
// accept can refuse the file by its workspaces.
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

// DumpOld converts the dump of an older program to the present format and passes
// it to fill. It uses the folder dir meanwhile.
func DumpOld(ctx context.Context, old io.Reader, dir string, o Options, fill func(io.Reader) error) error {
	return dumpFrom(ctx, dir, o, fill, func(string) error { return nil }, func(from *Engine) error { return from.Fill(ctx, old) })
}

// dumpFrom opens temporary facts and dumps them into fill. copyInto copies files
// into their folder; before is called before the dump.
func dumpFrom(ctx context.Context, dir string, o Options, fill func(io.Reader) error, copyInto func(dir string) error, before func(*Engine) error) (err error) {
	if dir, err = os.MkdirTemp(dir, "facts-*"); err != nil {
		return fmt.Errorf("copy facts: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := copyInto(dir); err != nil {
		return err
	}
	o.NoMaintenance = true
	from, err := Open(ctx, dir, o)
	if err != nil {
		return err
	}
	return errors.Join(from.dumpTo(ctx, fill, before), from.Close()) //nolint:contextcheck // closing is not canceled
}

// dumpTo calls before, then dumps the facts into fill.
func (e *Engine) dumpTo(ctx context.Context, fill func(io.Reader) error, before func(*Engine) error) error {
	if err := before(e); err != nil {
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

// logOf returns the path of the log of a facts file. Retire gives both the same
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
