package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
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

// StepsFrom returns migrations with these texts, for tests.
func StepsFrom(texts ...string) (steps []migration) {
	for i, text := range texts {
		sum := sha256.Sum256([]byte(text))
		version := fmt.Sprintf("%04d", i+1)
		steps = append(steps, migration{version, version + "_test", text, hex.EncodeToString(sum[:])})
	}
	return steps
}

// MigrateTo is Migrate with other steps, for tests.
func MigrateTo(ctx context.Context, e Engine, steps []migration) ([]string, error) {
	return migrate(ctx, e, steps, func() time.Time { return time.UnixMilli(1) })
}

// PendingOf is Pending with other steps, for tests.
func PendingOf(ctx context.Context, e Engine, steps []migration) ([]string, error) {
	return pending(ctx, e, steps)
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
