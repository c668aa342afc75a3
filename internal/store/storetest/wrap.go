package storetest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"testing"

	"fanfare/internal/store"
)

// Wrapped is an engine whose calls a test can observe, fail or repeat. Set the
// fields before use.
type Wrapped struct {
	store.Engine
	// Statement is called before each statement. If it returns an error, the
	// statement fails with it and is not run. inside reports that the statement
	// is part of a transaction that writes.
	Statement func(query string, inside bool) error
	// Twice runs each transaction an extra time first and discards the result,
	// as an engine may.
	Twice bool
}

// errInVain ends the run of a transaction that does not count.
var errInVain = errors.New("this run does not count")

// Query implements store.Engine.
func (w *Wrapped) Query(ctx context.Context, query string, args ...any) (*store.Rows, error) {
	if err := w.see(query, false); err != nil {
		return nil, err
	}
	return w.Engine.Query(ctx, query, args...)
}

// Write implements store.Engine.
func (w *Wrapped) Write(ctx context.Context, fn func(store.Tx) error) error {
	return w.write(ctx, w.Engine.Write, fn)
}

// WriteAsync implements store.Engine.
func (w *Wrapped) WriteAsync(ctx context.Context, fn func(store.Tx) error) error {
	return w.write(ctx, w.Engine.WriteAsync, fn)
}

func (w *Wrapped) write(ctx context.Context, write func(context.Context, func(store.Tx) error) error, fn func(store.Tx) error) error {
	inside := func(tx store.Tx) error { return fn(wrappedTx{tx, w, true}) }
	if w.Twice {
		err := write(ctx, func(tx store.Tx) error {
			if err := inside(tx); err != nil {
				return err
			}
			return errInVain
		})
		if !errors.Is(err, errInVain) {
			return err
		}
	}
	return write(ctx, inside)
}

// Snapshot implements store.Engine.
func (w *Wrapped) Snapshot(ctx context.Context, fn func(store.Tx) error) error {
	return w.Engine.Snapshot(ctx, func(tx store.Tx) error { return fn(wrappedTx{tx, w, false}) })
}

func (w *Wrapped) see(query string, inside bool) error {
	if w.Statement == nil {
		return nil
	}
	return w.Statement(query, inside)
}

type wrappedTx struct {
	store.Tx
	w      *Wrapped
	inside bool
}

func (t wrappedTx) Exec(query string, args ...any) (int64, error) {
	if err := t.w.see(query, t.inside); err != nil {
		return 0, err
	}
	return t.Tx.Exec(query, args...)
}

func (t wrappedTx) Query(query string, args ...any) (*store.Rows, error) {
	if err := t.w.see(query, t.inside); err != nil {
		return nil, err
	}
	return t.Tx.Query(query, args...)
}

func (t wrappedTx) Script(text string) error {
	if err := t.w.see(text, t.inside); err != nil {
		return err
	}
	return t.Tx.Script(text)
}

// columnsOf has each engine's query for its tables and columns.
var columnsOf = map[string]string{
	"sqlite": `SELECT m.name, c.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' ORDER BY m.name, c.cid`,
	"postgres": `SELECT c.table_name::text, c.column_name::text FROM information_schema.columns c
		WHERE c.table_schema = current_schema() ORDER BY c.table_name::text, c.ordinal_position`,
}

// Columns returns the columns of every table of the schema as the engine
// itself lists them, without the table of migrations.
func Columns(tx store.Tx, engine string) (map[string][]string, error) {
	rows, err := tx.Query(columnsOf[engine])
	if err != nil {
		return nil, err
	}
	tables := map[string][]string{}
	for rows.Next() {
		table, column := rows.Text(), rows.Text()
		if table != "schema_migration" {
			tables[table] = append(tables[table], column)
		}
	}
	return tables, nil
}

// Sum is the number of rows of a table and a checksum of their values that does
// not depend on their order.
type Sum struct {
	Rows int
	Hash [sha256.Size]byte
}

// Sums reads all tables. Two states are equal exactly if their sums are, on any
// engine.
func Sums(tx store.Tx, engine string) (map[string]Sum, error) {
	tables, err := Columns(tx, engine)
	if err != nil {
		return nil, err
	}
	sums := map[string]Sum{}
	for table, columns := range tables {
		rows, err := tx.Query(`SELECT ` + strings.Join(columns, ", ") + ` FROM ` + table)
		if err != nil {
			return nil, err
		}
		var s Sum
		for ; rows.Next(); s.Rows++ {
			h := sha256.New()
			for range columns {
				fmt.Fprintf(h, "%#v\n", rows.Value())
			}
			for i, b := range h.Sum(nil) {
				s.Hash[i] ^= b
			}
		}
		sums[table] = s
	}
	return sums, nil
}

// State is Sums of an engine at this moment.
func State(t testing.TB, e store.Engine) map[string]Sum {
	t.Helper()
	var sums map[string]Sum
	err := e.Snapshot(store.Across(context.Background()), func(tx store.Tx) (err error) {
		sums, err = Sums(tx, e.Traits().Name)
		return err
	})
	if err != nil {
		t.Fatalf("read the whole store: %v", err)
	}
	return sums
}
