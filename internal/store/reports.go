package store

import (
	"context"
	"strings"

	"fanfare/internal/record"
	"fanfare/internal/report"
)

var savedViewTable = newRecords[report.View](table{
	name:   "saved_view",
	shape:  1,
	hidden: archived,
	columns: []column{
		index("status", func(v *report.View) any { return string(v.Status) }),
		index("name", func(v *report.View) any { return strings.ToLower(v.Name) }),
		index("kind", func(v *report.View) any { return v.Kind }),
		index("page", func(v *report.View) any { return v.Page }),
		index("visibility", func(v *report.View) any { return v.Visibility }),
		index("owner_id", func(v *report.View) any { return string(v.OwnerID) }),
	},
	sorts: reportSorts,
	filters: map[string]string{
		"kind":       ` AND kind IN (%s)`,
		"page":       ` AND page IN (%s)`,
		"visibility": ` AND visibility IN (%s)`,
		"visible":    visibleTo,
		"q":          ` AND name LIKE %s ESCAPE '\'`,
	},
})

var dashboardTable = newRecords[report.Dashboard](table{
	name:   "dashboard",
	shape:  1,
	hidden: archived,
	columns: []column{
		index("status", func(d *report.Dashboard) any { return string(d.Status) }),
		index("name", func(d *report.Dashboard) any { return strings.ToLower(d.Name) }),
		index("visibility", func(d *report.Dashboard) any { return d.Visibility }),
		index("owner_id", func(d *report.Dashboard) any { return string(d.OwnerID) }),
	},
	sorts: reportSorts,
	filters: map[string]string{
		"visibility": ` AND visibility IN (%s)`,
		"visible":    visibleTo,
		"q":          ` AND name LIKE %s ESCAPE '\'`,
	},
})

// visibleTo is the condition that a user may see a record.
const visibleTo = ` AND (visibility = 'shared' OR owner_id IN (%s))`

var reportSorts = map[string]sorting{
	"created_at": {column: "created_at"},
	"updated_at": {column: "updated_at"},
	"name":       {column: "name", text: true},
}

// SavedViews stores saved views and reports.
type SavedViews struct {
	records[report.View, *report.View]
}

// Dashboards stores dashboards.
type Dashboards struct {
	records[report.Dashboard, *report.Dashboard]
}

var (
	_ report.Store[report.View]      = (*SavedViews)(nil)
	_ report.Store[report.Dashboard] = (*Dashboards)(nil)
)

// SavedViews returns the store of saved views and reports.
func (db *DB) SavedViews() *SavedViews {
	return &SavedViews{records[report.View, *report.View]{db, savedViewTable}}
}

// Dashboards returns the store of dashboards.
func (db *DB) Dashboards() *Dashboards {
	return &Dashboards{records[report.Dashboard, *report.Dashboard]{db, dashboardTable}}
}

// Save inserts a new record, or updates one that is unchanged since it was
// loaded.
func (s *SavedViews) Save(ctx context.Context, v *report.View, save record.Save) (record.Doc, error) {
	r, err := savedViewTable.row(v.ID, &v.Common, v)
	if err != nil {
		return record.Doc{}, err
	}
	return s.db.save(ctx, recordWrite{table: savedViewTable, row: r, common: &v.Common, save: save})
}

// Save inserts a new record, or updates one that is unchanged since it was
// loaded.
func (s *Dashboards) Save(ctx context.Context, d *report.Dashboard, save record.Save) (record.Doc, error) {
	r, err := dashboardTable.row(d.ID, &d.Common, d)
	if err != nil {
		return record.Doc{}, err
	}
	return s.db.save(ctx, recordWrite{table: dashboardTable, row: r, common: &d.Common, save: save})
}
