package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"

	"fanfare/internal/clock"
)

// changeCounter stores the number of acknowledged audit entries in a file
// beside the database. After a crash SQLite silently drops the damaged tail of
// its log; the counter shows how many changes were lost.
//
// Every audited commit writes the file, without a sync. The file survives the
// end of the process. After a power loss the file can be older: then a loss can
// be missed, but is never reported wrongly. The write costs one system call
// (BenchmarkChangeCounter), while the commit itself waits for the disk.
type changeCounter struct {
	mu    sync.Mutex
	file  *os.File
	total int64
}

// countingTx counts the audit entries of a transaction.
type countingTx struct {
	Tx
	entries int64
}

// add counts acknowledged entries.
func (w *changeCounter) add(n int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.total += n
	// If the write fails, a later loss may go unnoticed.
	_ = w.put()
}

// put overwrites the previous total at the same length.
func (w *changeCounter) put() error {
	_, err := w.file.WriteAt(fmt.Appendf(nil, "%020d\n", w.total), 0)
	return err
}

// CountChanges starts counting acknowledged changes in a file and compares the
// file's count with the database. lost is the number of acknowledged changes
// that the database lacks. Each loss is reported once.
func (db *DB) CountChanges(ctx context.Context, path string) (lost int64, err error) {
	rows, err := db.engine.Query(ctx, `SELECT seq FROM audit_head`)
	if err != nil {
		return 0, toFault(fmt.Errorf("count audit entries: %w", err))
	}
	w := &changeCounter{}
	for rows.Next() {
		w.total += rows.Int()
	}
	text, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return 0, fmt.Errorf("read the count of changes: %w", err)
	}
	// A file that a power loss truncated is ignored.
	if known, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil {
		lost = max(0, known-w.total)
	}
	if lost > 0 {
		now := int64(clock.At(db.now()))
		err := db.write(ctx, func(tx Tx) error {
			_, err := tx.Exec(upsertSetting, lostSetting, strconv.FormatInt(lost, 10), now)
			return err
		})
		if err != nil {
			return lost, err
		}
	}
	if w.file, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600); err != nil {
		return lost, fmt.Errorf("open the count of changes: %w", err)
	}
	if err := w.put(); err != nil {
		return lost, fmt.Errorf("write the count of changes: %w", err)
	}
	db.changes = w
	return lost, nil
}

// CloseChangeCounter syncs and closes the file.
func (db *DB) CloseChangeCounter() error {
	if db.changes == nil {
		return nil
	}
	return errors.Join(db.changes.file.Sync(), db.changes.file.Close())
}

// lostSetting is the setting with the last loss.
const lostSetting = "lost_changes"

// LostChanges returns the size of the last loss of acknowledged changes and
// when it was found; 0 if none was ever found.
func (db *DB) LostChanges(ctx context.Context) (lost int64, at clock.Instant, err error) {
	rows, err := db.engine.Query(ctx, `SELECT value, updated_at FROM setting WHERE name = $1`, lostSetting)
	if err != nil {
		return 0, 0, toFault(fmt.Errorf("read lost changes: %w", err))
	}
	if !rows.Next() {
		return 0, 0, nil
	}
	lost, err = strconv.ParseInt(rows.Text(), 10, 64)
	return lost, clock.Instant(rows.Int()), err
}
