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

// table declares one table of the schema. newTable registers it and derives the
// statements that name all its columns. Backup, restore, the check of documents
// and Reshape read the registered declarations; a test compares them with the
// schema.
type table struct {
	name string
	// key lists the columns of the primary key.
	key []string
	// columns lists all columns. For a table of records, the declaration lists
	// only the record's own columns.
	columns []column
	// parents are the tables that foreign keys refer to. They are registered
	// first, so that a restore fills them first.
	parents []*table
	// doc is the column with the document, whose checksum is in the column
	// checksum. It is empty if the table has no documents.
	doc string
	// copies are the columns that repeat a text of the document under the same
	// name. An empty column stands for null. A column that differs is damage.
	copies []string
	// lines reports that a document is several JSON values, one per line.
	lines bool
	// transient reports that a backup leaves the table empty.
	transient bool

	// shape is the version of the document layout, 0 if the layout has no
	// version. A document of an older shape is converted when it is read;
	// Reshape rewrites it in the background.
	shape int64
	// log reports that rows are written once. They have no status, version, rev
	// or shape.
	log bool
	// sorts are the columns that lists may be sorted by.
	sorts map[string]sorting
	// filters are SQL conditions. %s is replaced by the values, %w by the
	// workspace.
	filters map[string]string
	// hidden is the status that lists omit unless the query asks for it. If
	// empty, lists omit none.
	hidden string

	// own has the columns of a record besides those of all records, and zero
	// returns an empty record to decode a document into.
	own  []column
	zero func() any

	get, insert, update, rewrite string
}

// column is one column of a table.
type column struct {
	name string
	// value returns the value for a record. It is nil if the statement's caller
	// passes the value.
	value func(record any) any
	// private reports that the value is stored as JSON beside the document and
	// cannot be computed from it.
	private bool
}

// names declares columns whose values are passed by the statement's caller.
func names(list ...string) []column {
	columns := make([]column, len(list))
	for i, name := range list {
		columns[i].name = name
	}
	return columns
}

// index declares a column that lists filter or sort by. Its value is computed
// from the record, so that Reshape fills the column in old rows.
func index[T any](name string, value func(*T) any) column {
	return column{name: name, value: func(v any) any { return value(v.(*T)) }}
}

// private declares a column with a part of the record that the API never
// returns. It is stored as JSON, empty for nil.
func private[T any](name string, value func(*T) any) column {
	c := index(name, value)
	c.private = true
	return c
}

type sorting struct {
	column string
	text   bool
	// null reports that the column may be null. Such rows come last.
	null bool
}

// row has the values of a record to write.
type row struct {
	workspace, id ident.ID
	stamp         record.Stamp
	created       int64
	updated       int64
	columns       []any
	doc           []byte
}

// archived is the status that most tables hide.
const archived = "archived"

// tables lists all tables, parents first.
var tables []*table

// newTable completes the declaration of a table and registers it.
func newTable(t table) *table {
	all := columnNames(t.columns)
	t.insert = fmt.Sprintf(`INSERT INTO %s (%s) VALUES (%s)`, t.name, strings.Join(all, ", "), numbered(1, len(all)))
	if t.shape > 0 {
		t.get = `SELECT ` + t.selected() + ` FROM ` + t.name + ` WHERE workspace_id = $1 AND id = $2`
	}
	tables = append(tables, &t)
	return &t
}

// workspaceID is the key of most tables.
var workspaceID = []string{"workspace_id", "id"}

// newRecords is newTable for records of type T: it adds the columns that all
// records have.
func newRecords[T any](t table) *table {
	t.own, t.zero, t.key, t.doc = t.columns, func() any { return new(T) }, workspaceID, "doc"
	t.columns = slices.Concat(names("workspace_id", "id", "created_at", "version", "rev", "shape", "updated_at"), t.own, names("doc", "checksum"))
	written := columnNames(t.columns)[3:]
	n := len(written)
	t.update = fmt.Sprintf(`UPDATE %s SET %s WHERE workspace_id = $%d AND id = $%d AND version = $%d AND rev = $%d`,
		t.name, assigned(written), n+1, n+2, n+3, n+4)
	computed := columnNames(t.indexes())
	n = len(computed) + 3
	t.rewrite = fmt.Sprintf(`UPDATE %s SET %s WHERE workspace_id = $%d AND id = $%d AND version = $%d AND rev = $%d AND shape < $%d`,
		t.name, assigned(slices.Concat([]string{"shape"}, computed, []string{"doc", "checksum"})), n+1, n+2, n+3, n+4, n+5)
	return newTable(t)
}

// indexes returns the own columns whose values are computed from the document.
func (t *table) indexes() []column {
	return slices.DeleteFunc(slices.Clone(t.own), func(c column) bool { return c.private })
}

func columnNames(columns []column) []string {
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = c.name
	}
	return list
}

// assigned returns assignments of placeholders from $1 on.
func assigned(columns []string) string {
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = fmt.Sprintf("%s = $%d", c, i+1)
	}
	return strings.Join(list, ", ")
}

// upsert returns the statement that inserts a row, or replaces the row with the
// same values in the columns of a unique index.
func (t *table) upsert(unique ...string) string {
	var set []string
	for _, c := range t.columns {
		if !slices.Contains(unique, c.name) {
			set = append(set, c.name+" = excluded."+c.name)
		}
	}
	return fmt.Sprintf("%s ON CONFLICT (%s) DO UPDATE SET %s", t.insert, strings.Join(unique, ", "), strings.Join(set, ", "))
}

// insertRows returns the statement that inserts n rows.
func (t *table) insertRows(n int) string {
	width := len(t.columns)
	var b strings.Builder
	b.WriteString(t.insert)
	for i := 1; i < n; i++ {
		b.WriteString(", (" + numbered(width*i+1, width) + ")")
	}
	return b.String()
}

// all returns all columns for a SELECT that uses an alias for the table.
func (t *table) all(alias string) string {
	return alias + "." + strings.Join(columnNames(t.columns), ", "+alias+".")
}

// tableNamed returns a registered table, nil if the schema has none of the name.
func tableNamed(name string) *table {
	for _, t := range tables {
		if t.name == name {
			return t
		}
	}
	return nil
}

// selected returns the columns that readRecord reads.
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

// notFound returns the fault for a record that a query did not find. In a damaged
// database it may exist.
func notFound(e Engine) error {
	if damage := e.Traits().Damage; damage != nil {
		return toFault(damage)
	}
	return fault.Missing()
}

// readDoc reads one record as the API returns it.
func (t *table) readDoc(ctx context.Context, e Engine, workspace, id ident.ID) (record.Doc, error) {
	rows, err := e.Query(Within(ctx, workspace), t.get, string(workspace), string(id))
	if err != nil {
		return record.Doc{}, fmt.Errorf("read %s %s: %w", t.name, id, err)
	}
	if !rows.Next() {
		return record.Doc{}, notFound(e)
	}
	_, d, err := t.readRecord(rows)
	return d, err
}

// readRecord reads a row of the selected columns. The id is valid as long as
// rows.
func (t *table) readRecord(rows *Rows) (id []byte, d record.Doc, err error) {
	id = rows.Bytes()
	d.Stamp = record.Stamp{Version: rows.Int(), Rev: rows.Int()}
	shape := rows.Int()
	if d.JSON, err = readDocument(rows, t, id); err != nil || shape == t.shape {
		return id, d, err
	}
	if d.JSON, err = t.reshape(d.JSON); err != nil {
		err = fmt.Errorf("bring %s %s from shape %d to %d: %w", t.name, id, shape, t.shape, err)
	}
	return id, d, err
}

// reshape decodes a document of an older shape into the current type, so that
// new members get their zero value, and encodes it again.
func (t *table) reshape(doc []byte) ([]byte, error) {
	v := t.zero()
	if err := decode(doc, v); err != nil {
		return nil, err
	}
	return encode(v)
}

// indexValues returns the values of the index columns for a document.
func (t *table) indexValues(doc []byte) ([]any, error) {
	v := t.zero()
	if err := decode(doc, v); err != nil {
		return nil, err
	}
	list := []any{}
	for _, c := range t.indexes() {
		list = append(list, c.value(v))
	}
	return list, nil
}

// row returns the row of a record.
func (t *table) row(id ident.ID, c *record.Common, v any) (row, error) {
	return t.rowOf(row{workspace: c.WorkspaceID, id: id, stamp: c.Stamp(), created: int64(c.CreatedAt), updated: int64(c.UpdatedAt)}, v)
}

// rowOf adds the values of a record's own columns and its document to a row.
func (t *table) rowOf(r row, v any) (row, error) {
	for _, c := range t.own {
		value := c.value(v)
		if c.private {
			text := []byte{}
			if value != nil {
				var err error
				if text, err = encode(value); err != nil {
					return r, err
				}
			}
			value = text
		}
		r.columns = append(r.columns, value)
	}
	var err error
	r.doc, err = encode(v)
	return r, err
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

// written returns the values that an update sets, in the order of newRecords.
func (t *table) written(r row) []any {
	args := []any{r.stamp.Version, r.stamp.Rev, t.shape, r.updated}
	return append(append(args, r.columns...), r.doc, checksum(r.doc))
}

// updateRecord updates a record if its stamp is still was, and reports whether
// it was.
func (t *table) updateRecord(tx Tx, r row, was record.Stamp) (bool, error) {
	args := append(t.written(r), string(r.workspace), string(r.id), was.Version, was.Rev)
	n, err := tx.Exec(t.update, args...)
	if err != nil {
		return false, fmt.Errorf("update %s: %w", t.name, err)
	}
	tx.Touch(t.topic(r.workspace, r.id))
	return n == 1, nil
}
