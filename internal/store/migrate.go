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

// ErrNewer is returned if a newer program changed the database in a way that
// this one cannot work with.
var ErrNewer = errors.New("database schema is newer than this program")

// The kinds of steps. The first line of a migration names its kind.
const (
	// expand adds what the previous release can work with without knowing it:
	// tables, columns that may be omitted, indexes. A start applies it.
	expand = "expand"
	// contract removes or tightens what the previous release may use. It waits
	// until the operator says that no node runs that release any more.
	contract = "contract"
)

// A migration is one step. The first line of its file, with the kind, is not part
// of text and sum: steps that were applied before steps had kinds keep their sum.
type migration struct{ version, name, kind, text, sum string }

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
		version, _, _ := strings.Cut(base, "_")
		m, err := newMigration(version, base, string(b))
		if err != nil {
			return nil, err
		}
		m.text = translateDDL(m.text, engine)
		list = append(list, m)
	}
	return list, nil
}

// newMigration reads a migration file.
func newMigration(version, name, file string) (migration, error) {
	head, text, _ := strings.Cut(file, "\n")
	kind := strings.TrimPrefix(head, "-- kind: ")
	if kind != expand && kind != contract {
		return migration{}, fmt.Errorf("migration %s must begin with the line \"-- kind: expand\" or \"-- kind: contract\"", name)
	}
	sum := sha256.Sum256([]byte(text))
	return migration{version, name, kind, text, hex.EncodeToString(sum[:])}, nil
}

const (
	createSchema = `CREATE TABLE IF NOT EXISTS schema_migration (version TEXT NOT NULL PRIMARY KEY, name TEXT NOT NULL, sum TEXT NOT NULL, applied_at BIGINT NOT NULL, kind TEXT NOT NULL DEFAULT '')`
	// addKind adds the kind to the table of a program that had none. The kind of
	// steps that such a program applied is empty.
	addKind = `ALTER TABLE schema_migration ADD COLUMN kind TEXT NOT NULL DEFAULT ''`
)

// Migrate updates the schema for this program. Each step is one transaction, so
// that no step is applied in part. Nodes that start together wait for each other.
// Migrate returns the names of the applied steps.
//
// It leaves out contract steps on a database that other nodes may use. Contract
// applies them. A step that expands works before and after all contract steps
// before it, so that it need not wait for them.
func Migrate(ctx context.Context, e Engine, now func() time.Time) ([]string, error) {
	return migrateTo(ctx, e, now, false)
}

// Contract is Migrate with all contract steps. Nodes of an older program cannot
// work afterwards.
func Contract(ctx context.Context, e Engine, now func() time.Time) ([]string, error) {
	return migrateTo(ctx, e, now, true)
}

func migrateTo(ctx context.Context, e Engine, now func() time.Time, whole bool) ([]string, error) {
	list, err := migrations(e.Traits().Name)
	if err != nil {
		return nil, err
	}
	return migrate(ctx, e, list, now, whole)
}

func migrate(ctx context.Context, e Engine, list []migration, now func() time.Time, whole bool) ([]string, error) {
	err := locked(ctx, e, func(tx Tx) error {
		if err := tx.Script(createSchema); err != nil {
			return err
		}
		if found, err := exists(tx, findKind[e.Traits().Name]); err != nil || found {
			return err
		}
		return tx.Script(addKind)
	})
	if err != nil {
		return nil, fmt.Errorf("prepare migrations: %w", err)
	}
	var done []string
	for _, m := range list {
		applied := false
		err := locked(ctx, e, func(tx Tx) error {
			applied = false
			left, err := pendingSteps(tx, e.Traits(), list)
			if err != nil || !slices.Contains(left.steps(whole), m.name) {
				return err
			}
			if err := tx.Script(m.text); err != nil {
				return err
			}
			applied = true
			_, err = tx.Exec(`INSERT INTO schema_migration (version, name, sum, applied_at, kind) VALUES ($1, $2, $3, $4, $5)`, m.version, m.name, m.sum, int64(clock.At(now())), m.kind)
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

// appliedSteps returns the applied steps. It refuses a database with a step whose
// script differs from the applied one, and with an unknown step that does not
// only expand.
func appliedSteps(tx Tx, engine string, list []migration) (map[string]bool, error) {
	hasKind, err := exists(tx, findKind[engine])
	if err != nil {
		return nil, fmt.Errorf("look for kinds of migrations: %w", err)
	}
	column := "kind"
	if !hasKind {
		column = "''"
	}
	rows, err := tx.Query(`SELECT version, name, sum, ` + column + ` FROM schema_migration ORDER BY version`)
	if err != nil {
		return nil, fmt.Errorf("read migrations: %w", err)
	}
	known := map[string]bool{}
	for rows.Next() {
		version, name, sum, kind := rows.Text(), rows.Text(), rows.Text(), rows.Text()
		i := slices.IndexFunc(list, func(m migration) bool { return m.version == version })
		switch {
		case i < 0 && kind == expand:
			continue
		case i < 0:
			return nil, fmt.Errorf("%w: it has step %s, after which older programs cannot use it; start the program that made it, or a newer one", ErrNewer, name)
		case list[i].sum != sum:
			return nil, fmt.Errorf("step %s was changed after it was applied: the program's files are not the released ones", name)
		}
		known[version] = true
	}
	return known, nil
}

// The queries that find the table of the applied steps, which a new database
// lacks, its column of kinds, which an old one lacks, and the table that has a row
// once a program has started, which matters where several can.
var (
	findSchema = map[string]string{
		"sqlite":   `SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'schema_migration'`,
		"postgres": `SELECT CAST(tablename AS TEXT) FROM pg_tables WHERE schemaname = ANY (current_schemas(false)) AND tablename = 'schema_migration'`,
	}
	findKind = map[string]string{
		"sqlite":   `SELECT name FROM pragma_table_info('schema_migration') WHERE name = 'kind'`,
		"postgres": `SELECT CAST(column_name AS TEXT) FROM information_schema.columns WHERE table_schema = ANY (current_schemas(false)) AND table_name = 'schema_migration' AND column_name = 'kind'`,
	}
	findSetting = map[string]string{
		"postgres": `SELECT CAST(tablename AS TEXT) FROM pg_tables WHERE schemaname = ANY (current_schemas(false)) AND tablename = 'setting'`,
	}
)

// exists reports whether a query finds a row.
func exists(tx Tx, query string) (bool, error) {
	rows, err := tx.Query(query)
	if err != nil {
		return false, err
	}
	return rows.Next(), nil
}

// unused reports whether no program has started on the database: each stores
// settings when it starts.
func unused(tx Tx, engine string) (bool, error) {
	found, err := exists(tx, findSetting[engine])
	if err != nil || !found {
		return true, err
	}
	used, err := exists(tx, `SELECT name FROM setting LIMIT 1`)
	return !used, err
}

// Pending are the steps that a database lacks.
type Pending struct {
	// Start has the names of the steps that the next start applies, Contract of
	// those that wait until the operator applies them.
	Start, Contract []string
}

// steps returns the steps to apply, with or without those that wait.
func (p Pending) steps(whole bool) []string {
	if whole {
		return slices.Concat(p.Start, p.Contract)
	}
	return p.Start
}

// pendingSteps returns the steps of a list that are not applied.
func pendingSteps(tx Tx, engine Traits, list []migration) (p Pending, err error) {
	known, err := appliedSteps(tx, engine.Name, list)
	if err != nil {
		return p, err
	}
	alone := engine.Exclusive
	if !alone {
		if alone, err = unused(tx, engine.Name); err != nil {
			return p, fmt.Errorf("look for settings: %w", err)
		}
	}
	for _, m := range list {
		switch {
		case known[m.version]:
		case m.kind == contract && !alone:
			p.Contract = append(p.Contract, m.name)
		default:
			p.Start = append(p.Start, m.name)
		}
	}
	return p, nil
}

// FindPending returns the steps that are not applied, or the error that Migrate
// would return.
func FindPending(ctx context.Context, e Engine) (Pending, error) {
	list, err := migrations(e.Traits().Name)
	if err != nil {
		return Pending{}, err
	}
	return findPending(ctx, e, list)
}

func findPending(ctx context.Context, e Engine, list []migration) (p Pending, err error) {
	err = e.Snapshot(ctx, func(tx Tx) error {
		p = Pending{}
		found, err := exists(tx, findSchema[e.Traits().Name])
		switch {
		case err != nil:
			return fmt.Errorf("look for migrations: %w", err)
		case found:
			p, err = pendingSteps(tx, e.Traits(), list)
			return err
		}
		for _, m := range list {
			p.Start = append(p.Start, m.name)
		}
		return nil
	})
	return p, err
}
