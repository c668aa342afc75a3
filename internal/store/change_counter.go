package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"fanfare/internal/clock"
)

// changeCounter stores the number of acknowledged changes in a file beside the
// database: audit entries, and facts of own data, which have none. After a crash
// SQLite silently drops the damaged tail of its log; the counter shows how many
// changes were lost.
//
// Every counted commit writes the file, without a sync. The file survives the
// end of the process. After a power loss the file can be older: then a loss can
// be missed, but is never reported wrongly. The write costs one system call
// (BenchmarkChangeCounter), while the commit itself waits for the disk.
type changeCounter struct {
	mu    sync.Mutex
	file  *os.File
	total int64
}

// countingTx counts the changes of a transaction.
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

// countBytes is the length of the file.
const countBytes = 21

// put overwrites the previous total at the same length.
func (w *changeCounter) put() error {
	_, err := w.file.WriteAt(fmt.Appendf(nil, "%020d\n", w.total), 0)
	return err
}

// Settings of the counter.
const (
	// lostSetting has the last loss.
	lostSetting = "lost_changes"
	// uncountedSetting has the last time that the file was missing.
	uncountedSetting = "uncounted_changes"
	// countedSetting says that there is a file. A restore removes it, because
	// the file belongs to another database.
	countedSetting = "counted_changes"
	// fedSetting has the number of acknowledged facts of own data.
	fedSetting = "fed_changes"
)

// MissingChanges is what the count of changes shows about a database.
type MissingChanges struct {
	// Lost is the number of acknowledged changes that the database lacked at
	// LostAt, 0 if none was ever lost.
	Lost   int64
	LostAt clock.Instant
	// UncountedAt is when the count was missing or unreadable, so that changes
	// may be lost; 0 if it never was.
	UncountedAt clock.Instant
}

// CountChanges starts counting acknowledged changes in a file and compares the
// file's count with the database. It returns what this comparison found; each
// loss is found once.
func (db *DB) CountChanges(ctx context.Context, path string) (found MissingChanges, err error) {
	w := &changeCounter{}
	counted, err := db.countStored(ctx, w)
	if err != nil {
		return found, err
	}
	now := clock.At(db.now())
	text, err := os.ReadFile(path)
	known, noCount := int64(0), err
	if err == nil {
		known, noCount = strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	}
	switch {
	case noCount == nil && known > w.total:
		found = MissingChanges{Lost: known - w.total, LostAt: now}
		err = db.putSetting(ctx, lostSetting, strconv.FormatInt(found.Lost, 10))
	case noCount != nil && counted && w.total > 0:
		found.UncountedAt = now
		err = db.putSetting(ctx, uncountedSetting, "")
	default:
		err = nil
	}
	if err != nil {
		return found, err
	}
	if err := w.open(path); err != nil {
		return found, err
	}
	if !counted {
		if err := db.putSetting(ctx, countedSetting, ""); err != nil {
			return found, errors.Join(err, w.file.Close())
		}
	}
	db.changes = w
	return found, nil
}

// countStored counts the changes that the database has, and reports whether they
// were counted in a file before.
func (db *DB) countStored(ctx context.Context, w *changeCounter) (counted bool, err error) {
	rows, err := db.engine.Query(ctx, `SELECT seq FROM audit_head`)
	if err != nil {
		return false, toFault(fmt.Errorf("count audit entries: %w", err))
	}
	for rows.Next() {
		w.total += rows.Int()
	}
	if fed, _, there, err := db.setting(ctx, fedSetting); err != nil {
		return false, err
	} else if there {
		n, err := strconv.ParseInt(fed, 10, 64)
		if err != nil {
			return false, fmt.Errorf("count facts of own data: %w", err)
		}
		w.total += n
	}
	_, _, counted, err = db.setting(ctx, countedSetting)
	return counted, err
}

// open opens or creates the file and writes the total. It syncs the file and its
// folder, so that later only the total can be older after a power loss.
func (w *changeCounter) open(path string) (err error) {
	if w.file, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600); err != nil {
		return fmt.Errorf("open the count of changes: %w", err)
	}
	err = errors.Join(w.put(), w.file.Truncate(countBytes), w.file.Sync())
	if dir, opening := os.Open(filepath.Dir(path)); opening == nil {
		err = errors.Join(err, dir.Sync(), dir.Close())
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write the count of changes: %w", err), w.file.Close())
	}
	return nil
}

// countFed counts acknowledged facts of own data in the transaction that
// acknowledges them. Facts of platforms are read again and need no count.
func (db *DB) countFed(tx Tx) error {
	if !db.engine.Traits().Exclusive {
		return nil // no file counts the changes of several nodes
	}
	rows, err := tx.Query(`SELECT value FROM setting WHERE name = $1`, fedSetting)
	if err != nil {
		return fmt.Errorf("count facts of own data: %w", err)
	}
	n := int64(0)
	if rows.Next() {
		if n, err = strconv.ParseInt(rows.Text(), 10, 64); err != nil {
			return fmt.Errorf("count facts of own data: %w", err)
		}
	}
	if _, err := tx.Exec(upsertSetting, fedSetting, strconv.FormatInt(n+1, 10), int64(clock.At(db.now()))); err != nil {
		return fmt.Errorf("count facts of own data: %w", err)
	}
	if w, ok := tx.(*countingTx); ok {
		w.entries++
	}
	return nil
}

// CloseChangeCounter syncs and closes the file.
func (db *DB) CloseChangeCounter() error {
	if db.changes == nil {
		return nil
	}
	return errors.Join(db.changes.file.Sync(), db.changes.file.Close())
}

// MissingChanges returns what was found at the starts so far.
func (db *DB) MissingChanges(ctx context.Context) (m MissingChanges, err error) {
	text, at, there, err := db.setting(ctx, lostSetting)
	if err == nil && there {
		m.LostAt = at
		m.Lost, err = strconv.ParseInt(text, 10, 64)
	}
	if err != nil {
		return m, fmt.Errorf("read lost changes: %w", err)
	}
	_, m.UncountedAt, _, err = db.setting(ctx, uncountedSetting)
	return m, err
}
