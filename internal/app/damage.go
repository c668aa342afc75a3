package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/store"
)

// lostChanges is the number of acknowledged changes that the database lacks, and when
// that was found.
type lostChanges struct {
	changes int64
	found   clock.Instant
}

// lossShown is how long a loss is reported.
// Choice: only the operator knows when a loss has been repaired, and a month is
// long enough for every client to see it.
const lossShown = 30 * 24 * time.Hour

func (l lostChanges) message(now time.Time) string {
	if l.changes == 0 || now.Sub(l.found.Time()) >= lossShown {
		return ""
	}
	return fmt.Sprintf("%d acknowledged changes were missing from the database on %s: compare with a backup, or make them again", l.changes, l.found.Time().UTC().Format(time.DateOnly))
}

// LostChanges returns a message about acknowledged changes that the database
// lost, empty if none were found missing in the last 30 days.
func LostChanges(ctx context.Context, db *store.DB, now time.Time) (string, error) {
	changes, found, err := db.LostChanges(ctx)
	return lostChanges{changes, found}.message(now), err
}

// changesLost returns the message of LostChanges for API responses.
func (a *App) changesLost() string {
	if text := a.lost.message(a.config.Now()); text != "" {
		return "Records may be missing or older than they were: " + text + "."
	}
	return ""
}

// countChanges compares a local database file with the count of acknowledged
// changes, and logs a loss.
func (a *App) countChanges(ctx context.Context) (err error) {
	if a.Engine.Traits().Exclusive && a.config.Store != "" {
		lost, err := a.DB.CountChanges(ctx, Witness(a.config.Store))
		if lost > 0 {
			a.config.Log.ErrorContext(ctx, "acknowledged changes are missing from the database: its log was damaged, or an older copy of the file is in its place; compare with a backup", "changes", lost)
		}
		if err != nil {
			a.config.Log.ErrorContext(ctx, "acknowledged changes are not counted", "error", err)
		}
	}
	a.lost.changes, a.lost.found, err = a.DB.LostChanges(ctx)
	return err
}

// Witness returns the path of the file that counts the acknowledged changes of
// a database file.
func Witness(path string) string { return path + "-audit" }

// checkAtOnce is the largest size of a database file that is checked thoroughly
// before use. A thorough check compares indexes with tables. It takes about
// three seconds per gigabyte in the page cache, so 0.2 s here.
const checkAtOnce = 64 << 20

// checkStore checks the database file before use. A small file is checked
// thoroughly at every start. A large one is checked quickly after an unclean
// shutdown, and thoroughly in the background. With a damaged file the server
// starts, so that records can be read, but it is not ready and refuses changes.
func (a *App) checkStore(ctx context.Context) error {
	info, err := os.Stat(a.config.Store)
	small := err == nil && info.Size() <= checkAtOnce
	a.unchecked = !small
	if !small && !a.Engine.Traits().Unclean {
		return nil
	}
	return a.check(ctx, small)
}

// checkThoroughly runs the check that checkStore postponed.
func (a *App) checkThoroughly(ctx context.Context) {
	if !a.unchecked {
		return
	}
	if err := a.check(ctx, true); err != nil && ctx.Err() == nil {
		a.config.Log.ErrorContext(ctx, "database file cannot be checked", "error", err)
	}
}

func (a *App) check(ctx context.Context, thorough bool) error {
	start := a.config.Now()
	err := a.Engine.Check(ctx, thorough)
	switch {
	case errors.Is(err, store.ErrDamaged):
		a.config.Log.ErrorContext(ctx, "database file is damaged: the server is not ready and refuses changes; see `fanfare doctor`, and restore the last good backup with `fanfare backup restore`", "error", err)
	case err != nil:
		return err
	case a.Engine.Traits().Unclean:
		a.config.Log.InfoContext(ctx, "database file checked after an unclean shutdown", "result", "ok", "took", a.config.Now().Sub(start))
	}
	return nil
}

// watchEvery is how often watchStore runs.
const watchEvery = time.Second

// watchStore logs once that the database file was removed or replaced, also if
// no request needs it, and once that it is back.
func (a *App) watchStore(ctx context.Context) error {
	if !a.Engine.Traits().Exclusive {
		return nil
	}
	err := a.DB.Ready(ctx)
	displaced := errors.Is(err, store.ErrDisplaced)
	switch {
	case displaced && !a.displaced:
		a.config.Log.ErrorContext(ctx, "database file removed or replaced: the server is not ready and refuses changes", "error", errors.Unwrap(err))
	case a.displaced && err == nil:
		a.config.Log.InfoContext(ctx, "database file is back: the server is ready")
	}
	a.displaced = displaced || a.displaced && err != nil
	return nil
}
