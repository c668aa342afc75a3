package store

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
)

// Tables returns the columns and the key of each registered table, for tests.
func Tables() (columns, keys map[string][]string) {
	columns, keys = map[string][]string{}, map[string][]string{}
	for _, t := range tables {
		columns[t.name], keys[t.name] = columnNames(t.columns), t.key
	}
	return columns, keys
}

// StepsFrom returns migrations with these texts, for tests. They expand, unless
// the first line says otherwise.
func StepsFrom(texts ...string) (steps []migration) {
	for i, text := range texts {
		steps = append(steps, step(fmt.Sprintf("%04d", i+1), "test", text))
	}
	return steps
}

func step(version, name, text string) migration {
	if !strings.HasPrefix(text, "-- kind: ") {
		text = "-- kind: expand\n" + text
	}
	m, err := newMigration(version, version+"_"+name, text)
	if err != nil {
		panic(err)
	}
	return m
}

// FutureSteps returns the real migrations of an engine and one of a later
// release, for tests.
func FutureSteps(engine, text string) ([]migration, error) {
	list, err := migrations(engine)
	return append(list, step("9000", "future", text)), err
}

// ReadMigration reports whether a file is a valid migration, for tests.
func ReadMigration(file string) error {
	_, err := newMigration("0001", "0001_test", file)
	return err
}

// MigrateTo is Migrate with other steps, for tests.
func MigrateTo(ctx context.Context, e Engine, steps []migration) ([]string, error) {
	return migrate(ctx, e, steps, func() time.Time { return time.UnixMilli(1) }, false)
}

// ContractTo is Contract with other steps, for tests.
func ContractTo(ctx context.Context, e Engine, steps []migration) ([]string, error) {
	return migrate(ctx, e, steps, func() time.Time { return time.UnixMilli(1) }, true)
}

// PendingOf returns the steps that a start would apply, of other steps, for tests.
func PendingOf(ctx context.Context, e Engine, steps []migration) ([]string, error) {
	p, err := findPending(ctx, e, steps)
	return p.Start, err
}

// WaitingOf returns the steps that wait for Contract, of other steps, for tests.
func WaitingOf(ctx context.Context, e Engine, steps []migration) ([]string, error) {
	p, err := findPending(ctx, e, steps)
	return p.Contract, err
}

// StepsUntil returns the real migrations up to a version, for tests.
func StepsUntil(engine, version string) (steps []migration, err error) {
	list, err := migrations(engine)
	for _, m := range list {
		if m.version <= version {
			steps = append(steps, m)
		}
	}
	return steps, err
}

// AuditOnly returns a change that writes only its audit entry, for benchmarks.
func AuditOnly(db *DB) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		return db.writeTx(ctx, func(tx Tx) error {
			return db.appendAudit(tx, auditRow{workspace: "wks_1", at: 1, entry: []byte("{}")})
		})
	}
}

// Checksum exports checksum for tests.
func Checksum(doc []byte) int64 { return checksum(doc) }

// MoveLockEnd is moveLockEnd.
func (db *DB) MoveLockEnd(ctx context.Context, name, holder string, end time.Time) (bool, error) {
	return db.moveLockEnd(ctx, name, holder, end)
}

// ExpandTexts returns the texts of all migrations that expand, for tests.
func ExpandTexts(t testing.TB) map[string]string {
	return eachMigration(t, func(m migration) (string, bool) { return m.text, m.kind == expand })
}

// MigrationSums returns the checksums of all migrations, for tests.
func MigrationSums(t testing.TB) map[string]string {
	return eachMigration(t, func(m migration) (string, bool) { return m.sum, true })
}

func eachMigration(t testing.TB, value func(migration) (string, bool)) map[string]string {
	t.Helper()
	values := map[string]string{}
	for engine := range dialect {
		list, err := migrations(engine)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range list {
			if v, ok := value(m); ok {
				values[m.name] = v
			}
		}
	}
	return values
}
