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

// witness keeps, in a file beside the database, how many entries of the audit
// log were acknowledged. SQLite drops the tail of a log that is damaged after a
// crash, and says nothing; the witness knows how many changes that were.
//
// The file is written with every commit that is audited and not synced: it
// survives the end of the process, and after a loss of power it is at worst
// older, which misses a loss and never reports one that was none. It costs one
// call to the system (BenchmarkWitness), where the commit itself waits for the
// disk.
type witness struct {
	mu    sync.Mutex
	file  *os.File
	total int64
}

// witnessed counts the audit entries of a transaction.
type witnessed struct {
	Tx
	entries int64
}

// add counts acknowledged entries.
func (w *witness) add(n int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.total += n
	// What cannot be written is at worst not noticed later.
	_ = w.put()
}

// put writes the total over the one before, at the same length.
func (w *witness) put() error {
	_, err := w.file.WriteAt(fmt.Appendf(nil, "%020d\n", w.total), 0)
	return err
}

// Witness begins to count acknowledged changes in a file, and compares what the
// file says with what the database has: lost is how many acknowledged changes
// are not in it. They are counted once.
func (db *DB) Witness(ctx context.Context, path string) (lost int64, err error) {
	rows, err := db.engine.Query(ctx, `SELECT seq FROM audit_head`)
	if err != nil {
		return 0, translate(fmt.Errorf("count audit entries: %w", err))
	}
	w := &witness{}
	for rows.Next() {
		w.total += rows.Int()
	}
	text, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return 0, fmt.Errorf("read the count of changes: %w", err)
	}
	// A file that was cut short by a loss of power knows nothing.
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
	db.witness = w
	return lost, nil
}

// CloseWitness ends the count of changes.
func (db *DB) CloseWitness() error {
	if db.witness == nil {
		return nil
	}
	return errors.Join(db.witness.file.Sync(), db.witness.file.Close())
}

// lostSetting remembers the last loss.
const lostSetting = "lost_changes"

// LostChanges returns how many acknowledged changes were found missing the last
// time that any were, and when that was found; 0 for never.
func (db *DB) LostChanges(ctx context.Context) (lost int64, at clock.Instant, err error) {
	rows, err := db.engine.Query(ctx, `SELECT value, updated_at FROM setting WHERE name = $1`, lostSetting)
	if err != nil {
		return 0, 0, translate(fmt.Errorf("read lost changes: %w", err))
	}
	if !rows.Next() {
		return 0, 0, nil
	}
	lost, err = strconv.ParseInt(rows.Text(), 10, 64)
	return lost, clock.Instant(rows.Int()), err
}
