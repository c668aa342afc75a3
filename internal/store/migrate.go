package store

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"time"

	"fanfare/internal/clock"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// ErrNewer is returned if a newer program wrote the database.
var ErrNewer = errors.New("database schema is newer than this program")

type migration struct{ version, name, text, sum string }

// dialect translates two keywords of the migrations that SQL does not have: KEY
// is text that is compared byte by byte, CLUSTERED is a table stored in the
// order of its key.
var dialect = map[string]struct{ key, clustered string }{
	"sqlite":   {"TEXT", ") WITHOUT ROWID;"},
	"postgres": {`TEXT COLLATE "C"`, ");"},
}

var keyWord = regexp.MustCompile(`\bKEY\b( NOT NULL| UNIQUE)`)

func translateDDL(text, engine string) string {
	d := dialect[engine]
	return strings.ReplaceAll(keyWord.ReplaceAllString(text, d.key+"$1"), ") CLUSTERED;", d.clustered)
}

// migrations returns the scripts of an engine in order. A file whose name ends
// in .sqlite.sql or .postgres.sql is only for that engine.
func migrations(engine string) ([]migration, error) {
	files, err := fs.Glob(migrationFiles, "migrations/*.sql")
	if err != nil {
		return nil, fmt.Errorf("find migrations: %w", err)
	}
	slices.Sort(files)
	var list []migration
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(file, "migrations/"), ".sql")
		base, only, special := strings.Cut(name, ".")
		if special && only != engine {
			continue
		}
		b, err := migrationFiles.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("read migration: %w", err)
		}
		sum := sha256.Sum256(b)
		version, _, _ := strings.Cut(base, "_")
		list = append(list, migration{version, base, translateDDL(string(b), engine), hex.EncodeToString(sum[:])})
	}
	return list, nil
}

const createSchema = `CREATE TABLE IF NOT EXISTS schema_migration (version TEXT NOT NULL PRIMARY KEY, name TEXT NOT NULL, sum TEXT NOT NULL, applied_at BIGINT NOT NULL)`

// Migrate updates the schema to the version of this program. Each step is one
// transaction, so that no step is applied in part. Nodes that start together
// wait for each other. Migrate returns the names of the applied steps.
func Migrate(ctx context.Context, e Engine, now func() time.Time) ([]string, error) {
	list, err := migrations(e.Traits().Name)
	if err != nil {
		return nil, err
	}
	return migrate(ctx, e, list, now)
}

func migrate(ctx context.Context, e Engine, list []migration, now func() time.Time) ([]string, error) {
	if err := locked(ctx, e, func(tx Tx) error { return tx.Script(createSchema) }); err != nil {
		return nil, fmt.Errorf("prepare migrations: %w", err)
	}
	var done []string
	for _, m := range list {
		applied := false
		err := locked(ctx, e, func(tx Tx) error {
			applied = false
			known, err := appliedSteps(tx, list)
			if err != nil || known[m.version] {
				return err
			}
			if err := tx.Script(m.text); err != nil {
				return err
			}
			applied = true
			_, err = tx.Exec(`INSERT INTO schema_migration (version, name, sum, applied_at) VALUES ($1, $2, $3, $4)`, m.version, m.name, m.sum, int64(clock.At(now())))
			return err
		})
		if err != nil {
			return done, fmt.Errorf("migrate to %s: %w", m.name, err)
		}
		if applied {
			done = append(done, m.name)
		}
	}
	return done, nil
}

func locked(ctx context.Context, e Engine, fn func(Tx) error) error {
	return e.Write(Across(ctx), func(tx Tx) error {
		if lock := e.Traits().MigrationLock; lock != "" {
			if _, err := tx.Query(lock); err != nil {
				return fmt.Errorf("wait for other nodes: %w", err)
			}
		}
		return fn(tx)
	})
}

// appliedSteps returns the applied steps. It refuses a database with an unknown
// step or a step whose script differs from the applied one.
func appliedSteps(tx Tx, list []migration) (map[string]bool, error) {
	rows, err := tx.Query(`SELECT version, name, sum FROM schema_migration ORDER BY version`)
	if err != nil {
		return nil, fmt.Errorf("read migrations: %w", err)
	}
	known := map[string]bool{}
	for rows.Next() {
		version, name, sum := rows.Text(), rows.Text(), rows.Text()
		i := slices.IndexFunc(list, func(m migration) bool { return m.version == version })
		switch {
		case i < 0:
			return nil, fmt.Errorf("%w: it has step %s; start the program that made it, or a newer one", ErrNewer, name)
		case list[i].sum != sum:
			return nil, fmt.Errorf("step %s was changed after it was applied: the program's files are not the released ones", name)
		}
		known[version] = true
	}
	return known, nil
}

// findSchema finds the table of the applied steps, which a new database lacks.
var findSchema = map[string]string{
	"sqlite":   `SELECT name FROM sqlite_master WHERE type = 'table' AND name = $1`,
	"postgres": `SELECT CAST(tablename AS TEXT) FROM pg_tables WHERE schemaname = ANY (current_schemas(false)) AND tablename = $1`,
}

// Pending returns the names of the steps that Migrate would apply, or the error
// that it would return.
func Pending(ctx context.Context, e Engine) ([]string, error) {
	list, err := migrations(e.Traits().Name)
	if err != nil {
		return nil, err
	}
	return pending(ctx, e, list)
}

func pending(ctx context.Context, e Engine, list []migration) ([]string, error) {
	var names []string
	err := e.Snapshot(ctx, func(tx Tx) error {
		names = nil
		found, err := tx.Query(findSchema[e.Traits().Name], "schema_migration")
		if err != nil {
			return fmt.Errorf("look for migrations: %w", err)
		}
		known := map[string]bool{}
		if found.Next() {
			if known, err = appliedSteps(tx, list); err != nil {
				return err
			}
		}
		for _, m := range list {
			if !known[m.version] {
				names = append(names, m.name)
			}
		}
		return nil
	})
	return names, err
}
