package store

import (
	"context"
	"fmt"
	"strings"

	"fanfare/internal/ident"
	"fanfare/internal/ingest"
	"fanfare/internal/record"
)

// Imports stores the records of imports, not their files.
type Imports struct {
	records[ingest.Import, *ingest.Import]
}

var _ ingest.ImportStore = (*Imports)(nil)

// Imports returns the store of imports.
func (db *DB) Imports() *Imports {
	return &Imports{records[ingest.Import, *ingest.Import]{db, importTable}}
}

var importTable = newRecords[ingest.Import](table{
	name:  "import",
	shape: 1,
	columns: []column{
		index("status", func(i *ingest.Import) any { return string(i.Status) }),
		index("name", func(i *ingest.Import) any { return strings.ToLower(i.File.Name) }),
		index("source", func(i *ingest.Import) any { return i.Source }),
		index("sha256", func(i *ingest.Import) any { return i.File.SHA256 }),
	},
	sorts: map[string]sorting{
		"created_at": {column: "created_at"},
		"updated_at": {column: "updated_at"},
		"name":       {column: "name", text: true},
	},
	filters: map[string]string{
		"source": ` AND source IN (%s)`,
		"q":      ` AND name LIKE %s ESCAPE '\'`,
	},
})

// Save inserts a new record, or updates one that is unchanged since it was
// loaded.
func (s *Imports) Save(ctx context.Context, i *ingest.Import, save record.Save) (record.Doc, error) {
	r, err := importTable.row(i.ID, &i.Common, i)
	if err != nil {
		return record.Doc{}, err
	}
	return s.db.save(ctx, recordWrite{table: importTable, row: r, common: &i.Common, save: save})
}

const selectSame = `SELECT id FROM import WHERE workspace_id = $1 AND sha256 = $2 AND source = $3 AND status = 'committed' ORDER BY created_at DESC, id DESC LIMIT 1`

// Same returns the newest committed import of the same file to a source, empty
// if none exists.
func (s *Imports) Same(ctx context.Context, workspace ident.ID, source, sum string) (ident.ID, error) {
	rows, err := s.db.engine.Query(Within(ctx, workspace), selectSame, string(workspace), sum, source)
	if err != nil {
		return "", toFault(fmt.Errorf("find imports of the same file: %w", err))
	}
	if !rows.Next() {
		return "", nil
	}
	return ident.ID(rows.Text()), nil
}
