package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"fanfare/internal/asset/s3"
	"fanfare/internal/assetfiles"
	"fanfare/internal/backup"
	"fanfare/internal/datadir"
	"fanfare/internal/factsdb"
	"fanfare/internal/factsfile"
	"fanfare/internal/metrics/duckdb"
	"fanfare/internal/store"
)

// Files beside the database. SQLite removes or replaces the first three when it
// creates a database; the others belong to the previous one.
var besideDatabase = []string{databaseFile + "-wal", databaseFile + "-shm", databaseFile + "-journal", databaseFile + "-audit", databaseFile + "-damaged"}

// restoreMark is a file that exists while a restore creates a database. After a
// restore that was killed, the database beside it is empty or incomplete.
const restoreMark = databaseFile + "-restoring"

// interrupted returns an error if a restore was killed before it was done.
func interrupted(dir *datadir.Dir) error {
	if _, err := os.Stat(dir.Path(restoreMark)); err == nil {
		return fmt.Errorf("a restore of %s was interrupted: run `fanfare backup restore` again, which starts over", dir.Path(databaseFile))
	}
	return nil
}

// restore fills an empty store, the facts and the files of assets from a
// backup. It keeps files of a previous database under other names. If it fails,
// it leaves no new database and restores these names.
func (c *cli) restore(cmd *cobra.Command, dir *datadir.Dir, file string) (s backup.Summary, err error) {
	kept, fresh, err := c.makeRoom(dir)
	if err != nil {
		return s, configError{err}
	}
	defer func() {
		if fresh && err != nil {
			err = errors.Join(err, undoRestore(dir, kept))
		}
	}()
	e, err := c.openEngine(cmd.Context(), dir)
	if err != nil {
		return s, err
	}
	s, again, err := c.fill(cmd, dir, e, file)
	if err = errors.Join(err, e.Close()); err != nil {
		return s, err
	}
	if fresh {
		if err := os.Remove(dir.Path(restoreMark)); err != nil {
			return s, err
		}
	}
	for _, r := range append(kept, again...) {
		fmt.Fprintf(cmd.ErrOrStderr(), "warning: %s belonged to a previous database and is kept as %s. Delete it if you do not need that database.\n", r.From, r.To)
	}
	return s, nil
}

// makeRoom keeps the files of a previous database under other names. fresh
// reports that the data folder has no database.
func (c *cli) makeRoom(dir *datadir.Dir) (kept []datadir.Retired, fresh bool, err error) {
	if c.settings.Store != "" {
		return nil, false, nil
	}
	if interrupted(dir) != nil {
		if err := undoRestore(dir, nil); err != nil {
			return nil, false, err
		}
	}
	if there, err := hasDatabase(dir); there || err != nil {
		return nil, false, err
	}
	if kept, err = datadir.Retire(dir.Path(), besideDatabase...); err != nil {
		return kept, true, err
	}
	return kept, true, os.WriteFile(dir.Path(restoreMark), nil, 0o600)
}

// undoRestore removes the database that a failed restore created.
func undoRestore(dir *datadir.Dir, kept []datadir.Retired) error {
	var faults []error
	for _, name := range append([]string{databaseFile, databaseFile + "-reserve", restoreMark}, besideDatabase...) {
		if err := os.Remove(dir.Path(name)); !errors.Is(err, os.ErrNotExist) {
			faults = append(faults, err)
		}
	}
	for _, r := range kept {
		faults = append(faults, os.Rename(r.To, r.From))
	}
	return errors.Join(faults...)
}

// checkFiles returns an error if the bucket of assets cannot be used.
func (c *cli) checkFiles(ctx context.Context, dir *datadir.Dir) error {
	err := assetfiles.Check(ctx, c.assetsSetting(dir), now, rand.Reader)
	if _, refused := errors.AsType[*s3.RefusedError](err); refused {
		return configError{err}
	}
	return err
}

// fill fills an open store. kept is what it has renamed in a data folder that
// had an empty database.
func (c *cli) fill(cmd *cobra.Command, dir *datadir.Dir, e store.Engine, file string) (s backup.Summary, kept []datadir.Retired, err error) {
	if err := c.checkFiles(cmd.Context(), dir); err != nil {
		return s, nil, err
	}
	files, err := assetfiles.Open(c.assetsSetting(dir), "", now, rand.Reader)
	if err != nil {
		return s, nil, configError{err}
	}
	defer func() { err = errors.Join(err, files.Close()) }()
	if _, err = store.Migrate(cmd.Context(), e, now); err != nil {
		return s, nil, err
	}
	if err := store.Empty(cmd.Context(), e); err != nil {
		return s, nil, err
	}
	// The count of changes belongs to a previous database.
	if kept, err = datadir.Retire(dir.Path(), databaseFile+"-audit"); err != nil {
		return s, kept, configError{err}
	}
	db := store.New(e, 0, now, rand.Reader)
	var facts restoredFacts = &restoredFile{dir: dir.Path(), config: factsConfig(dir, e, db), warnings: cmd.ErrOrStderr()}
	if url := c.settings.MetricsURL(); url != "" {
		facts = &restoredDatabase{config: c.sharedFacts(url, dir, db)}
	}
	defer func() { err = errors.Join(err, facts.close()) }()
	if s, err = backup.Restore(cmd.Context(), backup.Parts{Store: e, Files: files, Facts: facts}, file, bar(cmd.ErrOrStderr(), "backup.restore")); err != nil {
		return s, kept, err
	}
	return s, kept, facts.finish(cmd.Context())
}

// restoredFacts are facts that a restore creates after the backup has been
// verified.
type restoredFacts interface {
	backup.Facts
	// finish makes them the facts of the restored store. Backups of older formats
	// have no facts.
	finish(ctx context.Context) error
	close() error
}

// restoredFile is restoredFacts in the data folder.
type restoredFile struct {
	dir      string
	config   factsfile.Config
	warnings io.Writer
	engine   *duckdb.Engine
}

// createFile creates an empty facts file. It keeps an existing one under
// another name.
func (f *restoredFile) createFile(ctx context.Context) error {
	kept, err := duckdb.Retire(f.dir)
	if err != nil {
		return configError{err}
	}
	if info, err := os.Stat(kept); kept != "" && err == nil {
		fmt.Fprintf(f.warnings, "warning: %s had metrics, last written %s. They are no longer used and are kept in %s. Metrics newer than the backup are synced again from the platforms; send your own data again.\n", f.dir, info.ModTime().UTC().Format(time.RFC3339), kept)
	}
	f.engine, err = duckdb.Open(ctx, f.dir, duckdb.Options{Now: now, Log: quietLog})
	if err != nil {
		return configError{err}
	}
	return nil
}

// Fill implements backup.Facts.
func (f *restoredFile) Fill(ctx context.Context, r io.Reader) error {
	if err := f.createFile(ctx); err != nil {
		return err
	}
	return f.engine.Fill(ctx, r)
}

// Dump implements backup.Facts.
func (f *restoredFile) Dump(ctx context.Context, w io.Writer) error { return f.engine.Dump(ctx, w) }

func (f *restoredFile) finish(ctx context.Context) error {
	if f.engine == nil {
		return f.createFile(ctx)
	}
	return factsfile.Claim(ctx, f.config, f.engine)
}

func (f *restoredFile) close() error {
	if f.engine == nil {
		return nil
	}
	return f.engine.Close()
}

// restoredDatabase is restoredFacts in a database that nodes share.
type restoredDatabase struct {
	config   factsdb.Config
	database *factsdb.Database
}

// Fill implements backup.Facts.
func (f *restoredDatabase) Fill(ctx context.Context, r io.Reader) (err error) {
	if f.database, err = factsdb.Open(ctx, f.config); err != nil {
		return configError{err}
	}
	return f.database.Restore(ctx, r)
}

// Dump implements backup.Facts.
func (f *restoredDatabase) Dump(ctx context.Context, w io.Writer) error {
	return f.database.Dump(ctx, w)
}

func (f *restoredDatabase) finish(ctx context.Context) error {
	if f.database == nil {
		if err := f.Fill(ctx, nil); err != nil {
			return err
		}
	}
	return f.database.Claim(ctx)
}

func (f *restoredDatabase) close() error {
	if f.database == nil {
		return nil
	}
	return f.database.Close()
}
