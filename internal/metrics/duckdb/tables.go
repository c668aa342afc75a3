package duckdb

import (
	"context"
	"database/sql/driver"
	"fmt"
	"strings"

	"fanfare/internal/fact"
	"fanfare/internal/metrics/numbers"
)

// version is the version of the tables. Raise it with a step in changeTables.
const version = 4

var (
	columns    = numbers.FactColumns
	columnList = strings.Join(columns, ", ")
)

// factColumns declares the columns of facts.
func factColumns() string {
	var b strings.Builder
	b.WriteString("workspace INTEGER NOT NULL")
	for _, k := range numbers.KeyColumns {
		b.WriteString(", " + k + " INTEGER NOT NULL")
	}
	for _, m := range fact.Measures {
		b.WriteString(", " + m + " BIGINT")
	}
	b.WriteString(", import INTEGER NOT NULL")
	return b.String()
}

// tables are the tables, in the order of a dump.
//   - format has the version of the tables.
//   - identity has the id that Adopt gave the file, if it has one.
//   - noted has the generation that the store had recorded at the last write,
//     and the id that the file had then.
//   - word: channels, countries and other values of fixed sets.
//   - entity: what exists on a platform, and the record it is linked to.
//     external is its key within the connection, part the variant of a
//     creative.
//   - record, tag: copies of records.
//   - import: writes that can be undone; one import may have several.
//   - cover: windows that such a write has emptied.
//   - replaced: facts that such a write has replaced; above is the write.
//   - part: the number of facts of a source in a month, and their first and
//     last day.
//   - rolled: months of a workspace that have sums of base facts: of the whole
//     month in base_month with all keys and in base_ad_month without audiences,
//     and of periods of five days in base_pentad and base_ad_pentad.
//   - layout: the number of rows that were added since a family was last
//     sorted.
var tables = []struct {
	name, columns string
	// derived tables are calculated from the others and are in no dump.
	derived bool
}{
	{"format", "version INTEGER NOT NULL", true},
	{"identity", "id VARCHAR NOT NULL", true},
	{"noted", "generation BIGINT NOT NULL, id VARCHAR", true},
	{"workspace", "key INTEGER NOT NULL, id VARCHAR NOT NULL, generation BIGINT NOT NULL, mirrored BIGINT NOT NULL", false},
	{"word", "code INTEGER NOT NULL, text VARCHAR NOT NULL", false},
	{"source", "key INTEGER NOT NULL, workspace INTEGER NOT NULL, connection VARCHAR NOT NULL, platform VARCHAR NOT NULL, account VARCHAR NOT NULL, currency VARCHAR NOT NULL, zone VARCHAR NOT NULL", false},
	{"entity", "key INTEGER NOT NULL, workspace INTEGER NOT NULL, connection VARCHAR NOT NULL, kind VARCHAR NOT NULL, external VARCHAR NOT NULL, name VARCHAR NOT NULL, record VARCHAR NOT NULL, part VARCHAR NOT NULL", false},
	{"record", "workspace INTEGER NOT NULL, id VARCHAR NOT NULL, kind VARCHAR NOT NULL, name VARCHAR NOT NULL, status VARCHAR NOT NULL, objective VARCHAR NOT NULL, type VARCHAR NOT NULL", false},
	{"tag", "workspace INTEGER NOT NULL, record VARCHAR NOT NULL, tag VARCHAR NOT NULL", false},
	{"import", "key INTEGER NOT NULL, workspace INTEGER NOT NULL, id VARCHAR NOT NULL, written BIGINT NOT NULL", false},
	{"cover", "import INTEGER NOT NULL, workspace INTEGER NOT NULL, family INTEGER NOT NULL, source INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL", false},
	{"replaced", factColumns() + ", family INTEGER NOT NULL, above INTEGER NOT NULL", false},
	{"base", factColumns(), false},
	{"geo", factColumns(), false},
	{"demographic", factColumns(), false},
	{"device", factColumns(), false},
	{"part", "workspace INTEGER NOT NULL, family INTEGER NOT NULL, source INTEGER NOT NULL, month INTEGER NOT NULL, n BIGINT NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL", true},
	{"rolled", "workspace INTEGER NOT NULL, month INTEGER NOT NULL", true},
	{"base_month", factColumns(), true},
	{"base_ad_month", factColumns(), true},
	{"base_pentad", factColumns(), true},
	{"base_ad_pentad", factColumns(), true},
	{"layout", "family INTEGER NOT NULL, loose BIGINT NOT NULL", true},
}

// makeTables creates missing tables and updates older ones.
func makeTables(ctx context.Context, c *conn) error {
	for _, t := range tables {
		if _, err := c.exec(ctx, "CREATE TABLE IF NOT EXISTS "+t.name+" ("+t.columns+")"); err != nil {
			return fmt.Errorf("create table %s: %w", t.name, err)
		}
	}
	found := int32(0)
	err := c.query(ctx, func(row []driver.Value) error { found = row[0].(int32); return nil }, "SELECT version FROM format")
	switch {
	case err != nil:
		return fmt.Errorf("read version: %w", err)
	case found > version:
		return fmt.Errorf("%w: they have shape %d and this program knows only %d; start the newer program", ErrNewer, found, version)
	case found == version:
		return nil
	case found > 0:
		return changeTables(ctx, c, found)
	}
	if err := writeVersion(ctx, c); err != nil {
		return err
	}
	for f := range fact.Families {
		if _, err := c.exec(ctx, "INSERT INTO layout VALUES (?, 0)", int32(f)); err != nil {
			return fmt.Errorf("store layout: %w", err)
		}
	}
	return nil
}

// writeVersion stores the version. It writes to the log even if the same version
// is stored already.
func writeVersion(ctx context.Context, c *conn) error {
	if _, err := c.exec(ctx, "DELETE FROM format"); err != nil {
		return fmt.Errorf("store version: %w", err)
	}
	if _, err := c.exec(ctx, "INSERT INTO format VALUES (?)", int32(version)); err != nil {
		return fmt.Errorf("store version: %w", err)
	}
	return nil
}

// changeTables updates tables of an older version.
func changeTables(ctx context.Context, c *conn, from int32) error {
	texts := []string{"ALTER TABLE noted ADD COLUMN IF NOT EXISTS id VARCHAR", fmt.Sprintf("UPDATE format SET version = %d", version)}
	if from < 3 {
		// Older versions had fewer kinds of sums: all are recalculated.
		texts = append(texts, "DELETE FROM rolled", "DELETE FROM base_month", "DELETE FROM base_ad_month")
	}
	for _, text := range texts {
		if _, err := c.exec(ctx, text); err != nil {
			return fmt.Errorf("bring the tables from version %d to %d: %w", from, version, err)
		}
	}
	return nil
}

// prefixed joins names, each after the prefix.
func prefixed(prefix string, names []string) string { return prefix + strings.Join(names, ", "+prefix) }

// wordDimensions are the dimensions whose values are words. Columns of facts have
// the same names.
var wordDimensions = []string{"channel", "country", "age_range", "gender", "device"}
