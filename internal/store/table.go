package store

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/record"
)

// table is the SQL of one resource: get, list, insert and update-if-unchanged.
// A resource declares only its own columns, sorts and filters.
type table struct {
	name string
	// shape is the version of the document layout. reshape converts a document
	// of an older shape when it is read; Reshape rewrites it in the background.
	shape   int64
	reshape func(doc []byte) ([]byte, error)
	// columns are the resource's own columns, besides those of all tables.
	columns []string
	// sorts are the columns that lists may be sorted by.
	sorts map[string]sorting
	// filters are SQL conditions. %s is replaced by the values, %w by the
	// workspace.
	filters map[string]string
	// hidden is the status that lists omit unless the query asks for it. If
	// empty, lists omit none.
	hidden string
	// log reports that rows are written once. They have no status, version, rev
	// or shape.
	log bool

	get, insert, update string
}

type sorting struct {
	column string
	text   bool
	// null reports that the column may be null. Such rows come last.
	null bool
}

// row holds the values of a record to be written.
type row struct {
	workspace, id ident.ID
	stamp         record.Stamp
	status        string
	created       int64
	updated       int64
	columns       []any
	doc           []byte
}

// archived is the status that most tables hide.
const archived = "archived"

// tables lists all tables of documents.
var tables []*table

// newTable completes the declaration of a table and registers it.
func newTable(t table) *table {
	written := append([]string{"version", "rev", "shape", "status", "updated_at"}, append(slices.Clone(t.columns), "doc", "checksum")...)
	set := make([]string, len(written))
	for i, c := range written {
		set[i] = fmt.Sprintf("%s = $%d", c, i+1)
	}
	all := append([]string{"workspace_id", "id", "created_at"}, written...)
	n := len(written)
	t.get = `SELECT ` + t.selected() + ` FROM ` + t.name + ` WHERE workspace_id = $1 AND id = $2`
	t.insert = fmt.Sprintf(`INSERT INTO %s (%s) VALUES (%s)`, t.name, strings.Join(all, ", "), numbered(1, len(all)))
	t.update = fmt.Sprintf(`UPDATE %s SET %s WHERE workspace_id = $%d AND id = $%d AND version = $%d AND rev = $%d`,
		t.name, strings.Join(set, ", "), n+1, n+2, n+3, n+4)
	tables = append(tables, &t)
	return &t
}

// selected returns the columns that read expects.
func (t *table) selected() string {
	if t.log {
		return fmt.Sprintf("id, 1, 0, %d, doc, checksum", t.shape)
	}
	return "id, version, rev, shape, doc, checksum"
}

// numbered returns n placeholders from $from on.
func numbered(from, n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "$%d", from+i)
	}
	return b.String()
}

func (t *table) topic(workspace, id ident.ID) string {
	return t.name + "/" + string(workspace) + "/" + string(id)
}

// doc reads one record as the API returns it.
func (t *table) doc(ctx context.Context, e Engine, workspace, id ident.ID) (record.Doc, error) {
	rows, err := e.Query(ctx, t.get, string(workspace), string(id))
	if err != nil {
		return record.Doc{}, fmt.Errorf("read %s %s: %w", t.name, id, err)
	}
	if !rows.Next() {
		return record.Doc{}, fault.Missing()
	}
	_, d, err := t.read(rows)
	return d, err
}

// read reads a row of the selected columns. The id is valid as long as rows.
func (t *table) read(rows *Rows) (id []byte, d record.Doc, err error) {
	id = rows.Bytes()
	d.Stamp = record.Stamp{Version: rows.Int(), Rev: rows.Int()}
	shape := rows.Int()
	if d.JSON, err = document(rows, t.name, id); err != nil || shape == t.shape {
		return id, d, err
	}
	if d.JSON, err = t.reshape(d.JSON); err != nil {
		err = fmt.Errorf("bring %s %s from shape %d to %d: %w", t.name, id, shape, t.shape, err)
	}
	return id, d, err
}

// add inserts a record.
func (t *table) add(tx Tx, r row) error {
	args := append([]any{string(r.workspace), string(r.id), r.created}, t.written(r)...)
	if _, err := tx.Exec(t.insert, args...); err != nil {
		return fmt.Errorf("insert %s: %w", t.name, err)
	}
	tx.Touch(t.topic(r.workspace, r.id))
	return nil
}

// written returns the values that an update sets, in the order of newTable.
func (t *table) written(r row) []any {
	args := []any{r.stamp.Version, r.stamp.Rev, t.shape, r.status, r.updated}
	return append(append(args, r.columns...), r.doc, checksum(r.doc))
}

// change updates a record if its stamp is still was, and reports whether it
// was.
func (t *table) change(tx Tx, r row, was record.Stamp) (bool, error) {
	args := append(t.written(r), string(r.workspace), string(r.id), was.Version, was.Rev)
	n, err := tx.Exec(t.update, args...)
	if err != nil {
		return false, fmt.Errorf("update %s: %w", t.name, err)
	}
	tx.Touch(t.topic(r.workspace, r.id))
	return n == 1, nil
}
