package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync/atomic"

	"fanfare/internal/store"
)

// damage records that the file is corrupt. Reads still work. Writes are
// refused, because they could spread the damage.
type damage struct {
	first atomic.Pointer[error]
	// mark is a file that makes the next Open check the database again.
	mark string
}

// recordDamage remembers the first error that says that the file is corrupt.
func (d *damage) recordDamage(err error) {
	if d.first.CompareAndSwap(nil, &err) {
		// Without the mark the next process finds the damage when it reads it.
		_ = os.WriteFile(d.mark, []byte(err.Error()+"\n"), 0o600)
	}
}

func (d *damage) found() error {
	if err := d.first.Load(); err != nil {
		return *err
	}
	return nil
}

// unclean reports whether a database needs a check before it is used: the last
// connection that closes a file removes the log.
func unclean(path string) bool {
	for _, name := range []string{path + "-wal", path + "-damaged"} {
		if _, err := os.Stat(name); err == nil {
			return true
		}
	}
	return false
}

// Check implements store.Engine. It reads every page; a thorough check takes
// about three times as long. Damage that it finds makes the engine
// refuse writes.
func (e *Engine) Check(ctx context.Context, thorough bool) error {
	check := "PRAGMA quick_check"
	if thorough {
		check = "PRAGMA integrity_check"
	}
	var faults []string
	err := e.Snapshot(ctx, func(tx store.Tx) error {
		rows, err := tx.Query(check)
		if err != nil {
			return err
		}
		for faults = nil; rows.Next(); {
			faults = append(faults, strings.Split(rows.Text(), "\n")...)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("check the database file: %w", err)
	}
	if len(faults) == 1 && faults[0] == "ok" {
		if err := os.Remove(e.damage.mark); err != nil && !errors.Is(err, fs.ErrNotExist) && e.damage.found() == nil {
			return fmt.Errorf("check the database file: %w", err)
		}
		return e.damage.found()
	}
	const shown = 3
	err = fmt.Errorf("%w: %d faults, the first of them: %s", store.ErrDamaged, len(faults), strings.Join(faults[:min(shown, len(faults))], "; "))
	e.damage.recordDamage(err)
	return err
}
