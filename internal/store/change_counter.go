package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
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
	path  string
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

// put overwrites the previous total at the same length.
func (w *changeCounter) put() error {
	_, err := w.file.WriteAt([]byte(countText(w.total)), 0)
	return err
}

// countText is the content of the file: the total and its checksum.
func countText(total int64) string {
	digits := fmt.Sprintf("%020d", total)
	return fmt.Sprintf("%s %08x\n", digits, checksum([]byte(digits)))
}

// readCount reads a total and reports whether the file has one. Files of earlier
// versions have no checksum.
func readCount(path string) (total int64, ok bool, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrPermission) {
		// The file may have a total: nothing is known to be missing.
		return 0, false, fmt.Errorf("read the count of changes: %w", err)
	}
	if err != nil {
		return 0, false, nil //nolint:nilerr // a file that is missing or damaged has no total
	}
	digits, _, _ := strings.Cut(strings.TrimSuffix(string(text), "\n"), " ")
	total, err = strconv.ParseInt(digits, 10, 64)
	return total, err == nil && (string(text) == countText(total) || string(text) == fmt.Sprintf("%020d\n", total)), nil
}

// Settings of the counter.
const (
	// lostSetting is how many acknowledged changes the database lacked at the
	// last loss.
	lostSetting = "lost_changes"
	// uncountedSetting is the last time that the count file was missing or
	// unreadable.
	uncountedSetting = "uncounted_changes"
	// countedSetting says that there is a file. A restore removes it, because
	// the file belongs to another database.
	countedSetting = "counted_changes"
	// fedSetting has the number of acknowledged facts of own data.
	fedSetting = "fed_changes"
)

// MissingChanges has the losses of a database that the count of changes shows.
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
	w := &changeCounter{path: path}
	found, counted, err := db.compareCount(ctx, w)
	switch {
	case err != nil:
	case found.Lost > 0:
		err = db.putSetting(ctx, lostSetting, strconv.FormatInt(found.Lost, 10))
	case found.UncountedAt != 0:
		err = db.putSetting(ctx, uncountedSetting, "")
	}
	if err != nil {
		return found, err
	}
	if err := w.open(); err != nil {
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

// ExamineCount returns the losses that a start would find, and changes nothing.
// In a server, which has the count in memory, it compares the file with that.
func (db *DB) ExamineCount(ctx context.Context, path string) (found MissingChanges, err error) {
	if w := db.changes; w != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		total, ok, err := readCount(w.path)
		if err == nil && (!ok || total != w.total) {
			found.UncountedAt = clock.At(db.now())
		}
		return found, err
	}
	found, _, err = db.compareCount(ctx, &changeCounter{path: path})
	return found, err
}

// compareCount compares the database, whose changes it counts in w, with the
// file. counted reports whether changes were counted in a file before.
func (db *DB) compareCount(ctx context.Context, w *changeCounter) (found MissingChanges, counted bool, err error) {
	if counted, err = db.countStored(ctx, w); err != nil {
		return found, counted, err
	}
	now := clock.At(db.now())
	switch known, ok, err := readCount(w.path); {
	case err != nil:
		return found, counted, err
	case ok && known > w.total:
		found = MissingChanges{Lost: known - w.total, LostAt: now}
	case !ok && counted && w.total > 0:
		found.UncountedAt = now
	}
	return found, counted, nil
}

// countStored counts the changes that the database has, and reports whether they
// were counted in a file before.
func (db *DB) countStored(ctx context.Context, w *changeCounter) (counted bool, err error) {
	rows, err := db.engine.Query(Across(ctx), `SELECT seq FROM audit_head`)
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
func (w *changeCounter) open() (err error) {
	if w.file, err = os.OpenFile(w.path, os.O_WRONLY|os.O_CREATE, 0o600); err != nil {
		return fmt.Errorf("open the count of changes: %w", err)
	}
	err = errors.Join(w.put(), w.file.Truncate(int64(len(countText(w.total)))), w.file.Sync())
	if dir, opening := os.Open(filepath.Dir(w.path)); opening == nil {
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

// CloseChangeCounter writes, syncs and closes the file.
func (db *DB) CloseChangeCounter() error {
	w := db.changes
	if w == nil {
		return nil
	}
	return errors.Join(w.put(), w.file.Sync(), w.file.Close())
}

// MissingChanges returns the losses that the count of changes showed at all
// starts of the server.
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
