package duckdb

import (
	"archive/tar"
	"context"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"fanfare/internal/fact"
	"fanfare/internal/ident"
)

// A dump is a tar of Parquet files, one per table, and at its end the manifest,
// without which it is not whole. Days are numbers of days since 1970; ids,
// words and entities are in tables of their own, as they are in the file.
// Choice: the tables as they are instead of rows with all their texts, because
// any engine can read them as well and they take a tenth of the room.
const manifestName = "manifest.json"

// manifest tells what a dump has to have.
type manifest struct {
	Version int              `json:"version"`
	Rows    map[string]int64 `json:"rows"`
}

// Dump writes one state of all facts, also while others write.
func (e *Engine) Dump(ctx context.Context, w io.Writer) error {
	m := manifest{Version: version, Rows: map[string]int64{}}
	out := tar.NewWriter(w)
	err := e.pool.use(ctx, func(c *conn) error {
		return c.inTransaction(ctx, func() error {
			for _, t := range tables {
				if t.derived {
					continue
				}
				n, err := e.dumpTable(ctx, c, t.name, out)
				if err != nil {
					return fmt.Errorf("table %s: %w", t.name, err)
				}
				m.Rows[t.name] = n
			}
			return nil
		})
	})
	if err != nil {
		return fmt.Errorf("dump facts: %w", err)
	}
	text, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("dump facts: %w", err)
	}
	if err := out.WriteHeader(&tar.Header{Name: manifestName, Mode: 0o600, Size: int64(len(text))}); err != nil {
		return fmt.Errorf("dump facts: %w", err)
	}
	if _, err := out.Write(text); err != nil {
		return fmt.Errorf("dump facts: %w", err)
	}
	if err := out.Close(); err != nil {
		return fmt.Errorf("dump facts: %w", err)
	}
	return nil
}

func (e *Engine) dumpTable(ctx context.Context, c *conn, table string, out *tar.Writer) (rows int64, err error) {
	name, err := e.spoolFile()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.Remove(name)) }()
	if rows, err = c.exec(ctx, "COPY "+table+" TO "+quote(name)+" (FORMAT parquet, COMPRESSION zstd)"); err != nil {
		return 0, err
	}
	f, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if err := out.WriteHeader(&tar.Header{Name: table + ".parquet", Mode: 0o600, Size: info.Size()}); err != nil {
		return 0, err
	}
	_, err = io.Copy(out, reader{ctx, f})
	return rows, err
}

// spoolFile makes an empty file that statements may read and write.
func (e *Engine) spoolFile() (string, error) {
	f, err := os.CreateTemp(e.spool, "*.parquet")
	if err != nil {
		return "", fmt.Errorf("make spool file: %w", err)
	}
	return f.Name(), f.Close()
}

// sweepSpool removes what a crash has left.
func (e *Engine) sweepSpool() error {
	left, err := os.ReadDir(e.spool)
	if err != nil {
		return fmt.Errorf("sweep spool: %w", err)
	}
	for _, f := range left {
		if err := os.Remove(filepath.Join(e.spool, f.Name())); err != nil {
			return fmt.Errorf("sweep spool: %w", err)
		}
	}
	return nil
}

// reader stops reading when its context ends.
type reader struct {
	ctx context.Context
	r   io.Reader
}

func (r reader) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(b)
}

var errNotEmpty = errors.New("there are facts already: fill only an empty engine")

// Fill reads a dump into an empty engine.
func (e *Engine) Fill(ctx context.Context, r io.Reader) error {
	err := e.alone(ctx, func(c *conn) error {
		if e.next.workspace != 1 {
			return errNotEmpty
		}
		if err := c.inTransaction(ctx, func() error { return e.fill(ctx, c, tar.NewReader(reader{ctx, r})) }); err != nil {
			return err
		}
		e.mu.Lock()
		e.known = map[ident.ID]*workspace{}
		e.mu.Unlock()
		e.unsaved += e.care.unsaved
		return e.loadCommon(ctx, c)
	})
	if err != nil {
		return fmt.Errorf("fill facts: %w", err)
	}
	return nil
}

func (e *Engine) fill(ctx context.Context, c *conn, in *tar.Reader) error {
	rows := map[string]int64{}
	for _, t := range tables {
		if t.derived {
			continue
		}
		n, err := e.fillTable(ctx, c, t.name, in)
		if err != nil {
			return fmt.Errorf("table %s: %w", t.name, err)
		}
		rows[t.name] = n
	}
	if err := checkManifest(in, rows); err != nil {
		return err
	}
	for f, table := range fact.Families {
		if _, err := c.exec(ctx, "UPDATE layout SET loose = ? WHERE family = ?", rows[table], int32(f)); err != nil {
			return err
		}
	}
	var workspaces []int32
	if err := c.query(ctx, func(row []driver.Value) error { workspaces = append(workspaces, row[0].(int32)); return nil }, "SELECT key FROM workspace"); err != nil {
		return err
	}
	for _, w := range workspaces {
		for f := range fact.Families {
			if _, err := c.exec(ctx, countParts(fact.Family(f), ""), w); err != nil {
				return fmt.Errorf("count facts: %w", err)
			}
		}
	}
	return nil
}

func (e *Engine) fillTable(ctx context.Context, c *conn, table string, in *tar.Reader) (rows int64, err error) {
	if err := nextEntry(in, table+".parquet"); err != nil {
		return 0, err
	}
	name, err := e.spoolFile()
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

// checkManifest sees that everything came that was sent.
func checkManifest(in *tar.Reader, rows map[string]int64) error {
	if err := nextEntry(in, manifestName); err != nil {
		return err
	}
	var m manifest
	if err := json.NewDecoder(in).Decode(&m); err != nil {
		return fmt.Errorf("read manifest: %w", err)
	}
	if m.Version != version {
		return fmt.Errorf("the dump has shape %d and this program reads %d: use the program that wrote it", m.Version, version)
	}
	for table, n := range rows {
		if m.Rows[table] != n {
			return fmt.Errorf("table %s has %d rows and should have %d: the dump is damaged", table, n, m.Rows[table])
		}
	}
	return nil
}
