package clickhouse

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"fanfare/internal/fact"
	"fanfare/internal/metrics/numbers"
	"fanfare/internal/metrics/pgtables"
)

// version is the version of the tables.
const version = 1

// pgSchema is the schema of the tables in PostgreSQL, so that they never mix with
// those of facts that PostgreSQL itself stores.
const pgSchema = "fanfare_clickhouse"

// slotTables create the tables that list which facts count.
//   - metrics_slot: the slot of each day of a source that has facts, and their
//     number.
//   - metrics_pending: writes that have begun. Their slots are known before any
//     fact is inserted, so that facts of a failed write can be found.
//   - metrics_dead: slots that no longer count, and since when.
//   - metrics_gone: numbers below which no slot counts, after all facts were
//     replaced, and since when.
//   - metrics_pair: a random id that the database of ClickHouse has too.
var slotTables = []string{
	`CREATE TABLE IF NOT EXISTS metrics_slot (workspace int4 NOT NULL, family int2 NOT NULL, day int4 NOT NULL, source int4 NOT NULL, slot int8 NOT NULL, n int4 NOT NULL,
		PRIMARY KEY (workspace, family, day, source))`,
	`CREATE TABLE IF NOT EXISTS metrics_pending (write int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY, started int8 NOT NULL)`,
	`CREATE TABLE IF NOT EXISTS metrics_dead (workspace int4 NOT NULL, family int2 NOT NULL, slot int8 NOT NULL, died int8 NOT NULL, PRIMARY KEY (workspace, slot))`,
	`CREATE TABLE IF NOT EXISTS metrics_gone (below int8 PRIMARY KEY, died int8 NOT NULL)`,
	`CREATE TABLE IF NOT EXISTS metrics_pair (id text NOT NULL)`,
}

// createPostgres creates the missing tables in PostgreSQL.
func createPostgres(ctx context.Context, tx pgx.Tx, newID string) error {
	if err := pgtables.LockSchema(ctx, tx); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, "CREATE SCHEMA IF NOT EXISTS "+pgSchema); err != nil {
		return err
	}
	return pgtables.Create(ctx, tx, version, newID, slices.Concat(slotTables, pgtables.Isolate("metrics_slot"), pgtables.Isolate("metrics_dead"))...)
}

// readSharedID returns the id that both databases have, and whether PostgreSQL
// lists any facts.
func readSharedID(ctx context.Context, tx pgx.Tx) (id string, used bool, err error) {
	err = tx.QueryRow(ctx, "SELECT id FROM metrics_pair").Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		id = strings.ToLower(rand.Text())
		_, err = tx.Exec(ctx, "INSERT INTO metrics_pair (id) VALUES ($1)", id)
	}
	if err != nil {
		return "", false, err
	}
	known, err := pgtables.ListWorkspaces(ctx, tx)
	return id, len(known) > 0, err
}

func tableOf(f fact.Family) string { return "facts_" + f.String() }

// definitions are the statements that create the tables of a server or, if
// cluster is set, of all servers of a cluster: there a table is replicated within
// a shard, and a Distributed table finds the shard of a workspace.
func definitions(a address) (list []string) {
	for f := range fact.Families {
		list = append(list, define(a, tableOf(fact.Family(f)), factColumns(), "workspace, day, source, slot, campaign, creative", "PARTITION BY toYYYYMM(toDate32(day)) ", "workspace")...)
	}
	return append(list, define(a, "facts_pair", "id String", "id", "", "0")...)
}

func factColumns() string {
	columns := []string{"workspace UInt32", "slot UInt64", "day Int32"}
	for _, k := range numbers.KeyColumns[1:] {
		columns = append(columns, k+" UInt32")
	}
	for _, m := range fact.Measures {
		columns = append(columns, m+" Int64")
	}
	return strings.Join(append(columns, "known UInt32", "import UInt32"), ", ")
}

func define(a address, table, columns, order, partition, shard string) []string {
	if a.cluster == "" {
		return []string{fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s (%s) ENGINE = MergeTree %sORDER BY (%s)", table, columns, partition, order)}
	}
	return []string{
		fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s ON CLUSTER %s (%s) ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/%s/%s', '{replica}') %sORDER BY (%s)",
			storedTable(a, table), a.cluster, columns, a.database, table, partition, order),
		fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s ON CLUSTER %s (%s) ENGINE = Distributed(%[2]s, %[4]s, %[5]s, %[6]s)",
			table, a.cluster, columns, a.database, storedTable(a, table), shard),
	}
}

// storedTable is the table that has the facts of one server.
func storedTable(a address, table string) string {
	if a.cluster == "" {
		return table
	}
	return table + "_stored"
}

// createTables creates the missing tables in ClickHouse. It refuses a server that
// belongs to another database of PostgreSQL, or that lost its facts.
func (c *client) createTables(ctx context.Context, sharedID string, used bool) error {
	for _, text := range definitions(c.address) {
		if err := c.define(ctx, text); err != nil {
			return err
		}
	}
	body, err := c.query(ctx, "SELECT DISTINCT id FROM facts_pair FORMAT TabSeparated", nil)
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	text, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	found := strings.Fields(string(text))
	switch {
	case slices.Equal(found, []string{sharedID}):
		return nil
	case len(found) > 0:
		return fmt.Errorf("the database %s of ClickHouse belongs to another database of PostgreSQL: name another one", c.database)
	case used:
		return fmt.Errorf("the database %s of ClickHouse is empty, and PostgreSQL knows facts of it: name the database that has them, or restore it", c.database)
	}
	return c.insert(ctx, "INSERT INTO facts_pair (id) FORMAT TabSeparated", []byte(sharedID+"\n"))
}
