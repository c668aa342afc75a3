package pgtest

import (
	"testing"

	"github.com/jackc/pgx/v5"
)

// Expand changes a schema with tables of metrics, and of records if it has some, as
// a later release may: all tables have a further column, and the metrics a later
// version. Partitions get the column with their table.
func Expand(t testing.TB, database, schema string) {
	t.Helper()
	ctx := t.Context()
	c, err := pgx.Connect(ctx, database)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(ctx) }()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	rows, err := c.Query(ctx, "SELECT relname::text FROM pg_class WHERE relnamespace = $1::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition", schema)
	must(err)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	must(err)
	if len(tables) == 0 {
		t.Fatalf("schema %s has no tables", schema)
	}
	for _, table := range tables {
		_, err = c.Exec(ctx, "ALTER TABLE "+schema+"."+table+" ADD COLUMN future int4 NOT NULL DEFAULT 7")
		must(err)
	}
	_, err = c.Exec(ctx, "UPDATE "+schema+".metrics_format SET version = version + 1")
	must(err)
}
