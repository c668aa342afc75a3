// Package storefile checks the database file of a server that stores its records
// in SQLite: for damage, for acknowledged changes that are missing, and for a
// file that was removed, replaced or overwritten.
package storefile

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/store"
)

// missingShown is how long missing changes are reported.
// Choice: only the operator knows when a loss has been repaired, and a month is
// long enough for every client to see it.
const missingShown = 30 * 24 * time.Hour

// message says which acknowledged changes may be missing, and is empty if none
// were found missing in the last 30 days.
func message(m store.MissingChanges, now time.Time) string {
	var list []string
	recent := func(at clock.Instant) bool { return at != 0 && now.Sub(at.Time()) < missingShown }
	day := func(at clock.Instant) string { return at.Time().UTC().Format(time.DateOnly) }
	if m.Lost > 0 && recent(m.LostAt) {
		list = append(list, fmt.Sprintf("%d acknowledged changes were missing from the database on %s: compare with a backup, or make them again", m.Lost, day(m.LostAt)))
	}
	if recent(m.UncountedAt) {
		list = append(list, fmt.Sprintf("the file fanfare.db-audit, which counts the acknowledged changes, was missing or damaged on %s, so that nobody knows whether changes were missing from the database: compare with a backup", day(m.UncountedAt)))
	}
	return strings.Join(list, "; ")
}

// ExamineChanges says whether acknowledged changes are missing from a database,
// as far as its count of changes shows that; ok reports that none are. It changes
// nothing. path is the database file.
func ExamineChanges(ctx context.Context, db *store.DB, path string, now time.Time) (text string, ok bool, err error) {
	m, err := db.MissingChanges(ctx)
	if err != nil {
		return "", false, err
	}
	found, err := db.ExamineCount(ctx, ChangeCounter(path))
	switch {
	case err != nil:
		return "", false, err
	case found.Lost > 0:
		return fmt.Sprintf("%d acknowledged changes are missing from the database, by the count in fanfare.db-audit: its log was damaged, or an older copy of the file is in its place; compare with a backup, or put the right file back before the next start", found.Lost), false, nil
	case found.UncountedAt != 0:
		return "the file fanfare.db-audit, which counts the acknowledged changes, is missing or damaged, so it is unknown whether changes are missing from the database: compare with a backup", false, nil
	}
	if text := message(m, now); text != "" {
		return text, false, nil
	}
	return "none are missing, by the count in fanfare.db-audit; this check cannot detect that both files were replaced by older copies of the same time", true, nil
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

	missing store.MissingChanges
	// unchecked reports that the thorough check is still to run, displaced that
	// Watch has logged a displaced file.
	unchecked, displaced bool
	// refusal is the fault that answers every request, nil for none.
	refusal atomic.Pointer[error]
}

// Open checks the file before use and compares it with the count of acknowledged
// changes.
func (g *Guard) Open(ctx context.Context) error {
	if err := g.checkFirst(ctx); err != nil {
		return err
	}
	return g.checkLostChanges(ctx)
}

// ChangesLost says which acknowledged changes the database lost or may have
// lost, empty if nothing was found in the last 30 days.
func (g *Guard) ChangesLost() string {
	if text := message(g.missing, g.Now()); text != "" {
		return "Records may be missing or older than they were: " + text + "."
	}
	return ""
}

// checkLostChanges compares a local database file with the count of acknowledged
// changes, and logs a loss.
func (g *Guard) checkLostChanges(ctx context.Context) (err error) {
	if g.Engine.Traits().Exclusive && g.Path != "" {
		found, err := g.DB.CountChanges(ctx, ChangeCounter(g.Path))
		if found.Lost > 0 {
			g.Log.ErrorContext(ctx, "acknowledged changes are missing from the database: its log was damaged, or an older copy of the file is in its place; compare with a backup", "changes", found.Lost)
		}
		if found.UncountedAt != 0 {
			g.Log.ErrorContext(ctx, "the count of acknowledged changes was missing or damaged: if the database is an older copy or has lost changes, nothing else shows it; compare with a backup. The count begins anew", "file", ChangeCounter(g.Path))
		}
		if err != nil {
			g.Log.ErrorContext(ctx, "acknowledged changes not counted: a loss of changes would not be detected", "fix", "let the server's user read and write "+ChangeCounter(g.Path)+", then restart the server", "error", err)
		}
	}
	g.missing, err = g.DB.MissingChanges(ctx)
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
		g.Log.ErrorContext(ctx, "database file check failed: run `fanfare doctor`", "error", err)
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

// Refusal returns the fault that answers every request after the database file
// was overwritten, also those that need nothing from it.
func (g *Guard) Refusal() error {
	if err := g.refusal.Load(); err != nil {
		return *err
	}
	return nil
}

// Watch logs once that the database file was removed, replaced or overwritten,
// also if no request needs it, and once that a removed or replaced one is back.
func (g *Guard) Watch(ctx context.Context) error {
	if !g.Engine.Traits().Exclusive {
		return nil
	}
	err := g.DB.Ready(ctx)
	displaced := errors.Is(err, store.ErrDisplaced)
	switch {
	case errors.Is(err, store.ErrOverwritten):
		if g.refusal.Swap(&err) == nil {
			g.Log.ErrorContext(ctx, "another program has overwritten the database file: the server is not ready and refuses everything", "error", errors.Unwrap(err))
		}
	case displaced && !g.displaced:
		g.Log.ErrorContext(ctx, "database file removed or replaced: the server is not ready and refuses changes", "error", errors.Unwrap(err))
	case g.displaced && err == nil:
		g.Log.InfoContext(ctx, "database file is back: the server is ready")
	}
	g.displaced = displaced || g.displaced && err != nil
	return nil
}
