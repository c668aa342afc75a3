// Package storefile checks the database file of a server that stores its records
// in SQLite: for damage, for acknowledged changes that are missing, and for a
// file that was removed or replaced.
package storefile

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/store"
)

// lostChanges is the number of acknowledged changes that the database lacks, and
// when that was found.
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

// Guard checks the database file of a server. With another engine than SQLite it
// does nothing.
type Guard struct {
	// Path is the database file, empty in tests.
	Path   string
	Engine store.Engine
	DB     *store.DB
	Now    func() time.Time
	Log    *slog.Logger

	lost lostChanges
	// unchecked reports that the thorough check is still to run, displaced that
	// Watch has logged a displaced file.
	unchecked, displaced bool
}

// Open checks the file before use and compares it with the count of acknowledged
// changes.
func (g *Guard) Open(ctx context.Context) error {
	if err := g.checkFirst(ctx); err != nil {
		return err
	}
	return g.countChanges(ctx)
}

// ChangesLost returns the message of LostChanges for API responses.
func (g *Guard) ChangesLost() string {
	if text := g.lost.message(g.Now()); text != "" {
		return "Records may be missing or older than they were: " + text + "."
	}
	return ""
}

// countChanges compares a local database file with the count of acknowledged
// changes, and logs a loss.
func (g *Guard) countChanges(ctx context.Context) (err error) {
	if g.Engine.Traits().Exclusive && g.Path != "" {
		lost, err := g.DB.CountChanges(ctx, ChangeCounter(g.Path))
		if lost > 0 {
			g.Log.ErrorContext(ctx, "acknowledged changes are missing from the database: its log was damaged, or an older copy of the file is in its place; compare with a backup", "changes", lost)
		}
		if err != nil {
			g.Log.ErrorContext(ctx, "acknowledged changes are not counted", "error", err)
		}
	}
	g.lost.changes, g.lost.found, err = g.DB.LostChanges(ctx)
	return err
}

// ChangeCounter returns the path of the file that counts the acknowledged changes of
// a database file.
func ChangeCounter(path string) string { return path + "-audit" }

// checkAtOnce is the largest size of a database file that is checked thoroughly
// before use. A thorough check compares indexes with tables. It takes about
// three seconds per gigabyte in the page cache, so 0.2 s here.
const checkAtOnce = 64 << 20

// checkFirst checks the file before use. A small file is checked
// thoroughly at every start. A large one is checked quickly after an unclean
// shutdown, and thoroughly in the background. With a damaged file the server
// starts, so that records can be read, but it is not ready and refuses changes.
func (g *Guard) checkFirst(ctx context.Context) error {
	info, err := os.Stat(g.Path)
	small := err == nil && info.Size() <= checkAtOnce
	g.unchecked = !small
	if !small && !g.Engine.Traits().Unclean {
		return nil
	}
	return g.check(ctx, small)
}

// CheckThoroughly runs the check that Open postponed.
func (g *Guard) CheckThoroughly(ctx context.Context) {
	if !g.unchecked {
		return
	}
	if err := g.check(ctx, true); err != nil && ctx.Err() == nil {
		g.Log.ErrorContext(ctx, "database file cannot be checked", "error", err)
	}
}

func (g *Guard) check(ctx context.Context, thorough bool) error {
	start := g.Now()
	err := g.Engine.Check(ctx, thorough)
	switch {
	case errors.Is(err, store.ErrDamaged):
		g.Log.ErrorContext(ctx, "database file is damaged: the server is not ready and refuses changes; see `fanfare doctor`, and restore the last good backup with `fanfare backup restore`", "error", err)
	case err != nil:
		return err
	case g.Engine.Traits().Unclean:
		g.Log.InfoContext(ctx, "database file checked after an unclean shutdown", "result", "ok", "took", g.Now().Sub(start))
	}
	return nil
}

// WatchEvery is how often Watch runs.
const WatchEvery = time.Second

// Watch logs once that the database file was removed or replaced, also if
// no request needs it, and once that it is back.
func (g *Guard) Watch(ctx context.Context) error {
	if !g.Engine.Traits().Exclusive {
		return nil
	}
	err := g.DB.Ready(ctx)
	displaced := errors.Is(err, store.ErrDisplaced)
	switch {
	case displaced && !g.displaced:
		g.Log.ErrorContext(ctx, "database file removed or replaced: the server is not ready and refuses changes", "error", errors.Unwrap(err))
	case g.displaced && err == nil:
		g.Log.InfoContext(ctx, "database file is back: the server is ready")
	}
	g.displaced = displaced || g.displaced && err != nil
	return nil
}
