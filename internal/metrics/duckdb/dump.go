package duckdb

import (
	"archive/tar"
	"bufio"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"fanfare/internal/fact"
	"fanfare/internal/ident"
	"fanfare/internal/metrics/dump"
	"fanfare/internal/metrics/numbers"
)

// Dump writes one snapshot of all facts. Writes can go on meanwhile.
func (e *Engine) Dump(ctx context.Context, w io.Writer) error {
	out, err := dump.NewWriter(w)
	if err != nil {
		return fmt.Errorf("dump facts: %w", err)
	}
	err = e.pool.use(ctx, func(c *conn) error {
		return c.inTransaction(ctx, func() error {
			tables := dump.Tables()
			for i := range tables {
				if err := dumpTable(ctx, c, &tables[i], out); err != nil {
					return fmt.Errorf("table %s: %w", tables[i].Name, err)
				}
			}
			return nil
		})
	})
	if err == nil {
		err = out.Close()
	}
	if err != nil {
		return fmt.Errorf("dump facts: %w", err)
	}
	return nil
}

// usedWords has the words that facts of a workspace use. In the file, words belong
// to all workspaces; in a dump, each workspace has its own.
var usedWords = func() string {
	var used []string
	for _, table := range append([]string{dump.Replaced}, fact.Families...) {
		for _, column := range wordDimensions {
			used = append(used, "SELECT DISTINCT workspace, "+column+" AS code FROM "+table)
		}
	}
	return "(SELECT u.workspace, w.code, w.text FROM (" + strings.Join(used, " UNION ") + ") u JOIN word w ON w.code = u.code)"
}()

// kindPositions is the position of an entity's kind, as SQL.
var kindPositions = func() string {
	var b strings.Builder
	for i, kind := range numbers.Kinds {
		fmt.Fprintf(&b, " WHEN '%s' THEN %d", kind, i)
	}
	return "CASE kind" + b.String() + " END"
}()

func dumpTable(ctx context.Context, c *conn, t *dump.Table, out *dump.Writer) error {
	if err := out.Table(t); err != nil {
		return err
	}
	from, list := t.Name, make([]string, len(t.Columns))
	for i, column := range t.Columns {
		list[i] = column
		switch {
		case t.Name == dump.Entities && column == "kind":
			list[i] = kindPositions
		case t.Name == dump.Entities && column == "variant":
			list[i] = "part"
		}
		if !t.Text(i) {
			list[i] += "::BIGINT"
		}
	}
	if t.Name == dump.Words {
		from = usedWords
	}
	order := t.Columns[0]
	if slices.Contains(t.Columns, "key") {
		order += ", key"
	}
	row := make([]dump.Value, len(list))
	return c.query(ctx, func(values []driver.Value) error {
		for i, v := range values {
			switch v := v.(type) {
			case nil:
				row[i] = dump.Value{Null: true}
			case int64:
				row[i] = dump.Value{Number: v}
			case string:
				row[i] = dump.Value{Text: []byte(v)}
			default:
				return fmt.Errorf("column %s has a %T", t.Columns[i], v)
			}
		}
		return out.Row(row)
	}, "SELECT "+strings.Join(list, ", ")+" FROM "+from+" ORDER BY "+order)
}

// spoolFile creates an empty file that statements may read and write.
func spoolFile(dir string) (string, error) {
	f, err := os.CreateTemp(dir, "*.parquet")
	if err != nil {
		return "", fmt.Errorf("create spool file: %w", err)
	}
	return f.Name(), f.Close()
}

// sweepSpool deletes spool files that a crash left.
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

var errNotEmpty = errors.New("there are facts already: fill only an empty engine")

// Fill reads a dump into an empty engine.
func (e *Engine) Fill(ctx context.Context, r io.Reader) error {
	err := e.withoutWriters(ctx, func(c *conn) error {
		if e.next.workspace != 1 {
			return errNotEmpty
		}
		if err := e.inChange(ctx, c, func() error { return e.fill(ctx, c, bufio.NewReader(dump.WithContext(ctx, r))) }); err != nil {
			return err
		}
		e.mu.Lock()
		e.known = map[ident.ID]*workspace{}
		e.mu.Unlock()
		e.unsaved += e.maintenance.unsaved
		return e.loadCommon(ctx, c)
	})
	if err != nil {
		return fmt.Errorf("fill facts: %w", err)
	}
	return nil
}

func (e *Engine) fill(ctx context.Context, c *conn, in *bufio.Reader) (err error) {
	var rows map[string]int64
	if dump.HasMagic(in) {
		rows, err = fillFrom(ctx, c, in)
	} else {
		rows, err = e.fillOld(ctx, c, tar.NewReader(in))
	}
	if err != nil {
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
