package duckdb

import (
	"archive/tar"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// manifestName is the last file of a dump of older programs: a tar of Parquet
// files, one per table, and the manifest, without which the dump is not complete.
const manifestName = "manifest.json"

// oldVersion is the version of such a dump.
const oldVersion = 3

// manifest lists the tables and rows of an old dump.
type manifest struct {
	Version int              `json:"version"`
	Rows    map[string]int64 `json:"rows"`
}

// fillOld reads an old dump. It returns the number of rows by table.
func (e *Engine) fillOld(ctx context.Context, c *conn, in *tar.Reader) (map[string]int64, error) {
	rows := map[string]int64{}
	for _, t := range tables {
		if t.derived {
			continue
		}
		n, err := e.fillTable(ctx, c, t.name, in)
		if err != nil {
			return nil, fmt.Errorf("table %s: %w", t.name, err)
		}
		rows[t.name] = n
	}
	return rows, checkManifest(in, rows)
}

func (e *Engine) fillTable(ctx context.Context, c *conn, table string, in *tar.Reader) (rows int64, err error) {
	if err := nextEntry(in, table+".parquet"); err != nil {
		return 0, err
	}
	name, err := spoolFile(e.spool)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.Remove(name)) }()
	f, err := os.OpenFile(name, os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	if _, err := io.Copy(f, in); err != nil {
		return 0, errors.Join(err, f.Close())
	}
	if err := f.Close(); err != nil {
		return 0, err
	}
	return c.exec(ctx, "INSERT INTO "+table+" BY NAME SELECT * FROM read_parquet("+quote(name)+")")
}

func nextEntry(in *tar.Reader, name string) error {
	h, err := in.Next()
	switch {
	case errors.Is(err, io.EOF):
		return fmt.Errorf("the dump ends before %s: %w", name, io.ErrUnexpectedEOF)
	case err != nil:
		return err
	case h.Name != name:
		return fmt.Errorf("the dump has %q where %s belongs", h.Name, name)
	}
	return nil
}

// checkManifest checks that all rows were read.
func checkManifest(in *tar.Reader, rows map[string]int64) error {
	if err := nextEntry(in, manifestName); err != nil {
		return err
	}
	var m manifest
	if err := json.NewDecoder(in).Decode(&m); err != nil {
		return fmt.Errorf("read manifest: %w", err)
	}
	if m.Version != oldVersion {
		return fmt.Errorf("the dump has shape %d and this program reads %d: use the program that wrote it", m.Version, oldVersion)
	}
	for table, n := range rows {
		if m.Rows[table] != n {
			return fmt.Errorf("table %s has %d rows and should have %d: the dump is damaged", table, n, m.Rows[table])
		}
	}
	return nil
}
