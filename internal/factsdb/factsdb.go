// Package factsdb opens the facts of a database that any number of nodes share,
// and checks that they belong to the store.
package factsdb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"

	"fanfare/internal/fairqueue"
	"fanfare/internal/ident"
	"fanfare/internal/metrics"
	"fanfare/internal/metrics/clickhouse"
	"fanfare/internal/metrics/postgres"
	"fanfare/internal/secret"
	"fanfare/internal/store"
)

// Config has the address of the facts and the store that they belong to.
type Config struct {
	// URL is the address of the database, PostgreSQL or ClickHouse. Postgres is
	// the database of the store, in which the engine of ClickHouse stores
	// everything but the facts.
	URL, Postgres string
	DB            *store.DB
	// Dir is the folder for temporary files.
	Dir string
	// Replacing accepts facts of another store, because they are about to be
	// replaced.
	Replacing bool
	// Founder finds whose workspaces share turns, nil for each on its own.
	Founder fairqueue.FounderOf
	Now     func() time.Time
	Random  io.Reader
	Log     *slog.Logger
}

// Database has the facts that all nodes share.
type Database struct {
	engine
	config Config

	mu sync.Mutex
	// checked is when the facts were last checked to be those of the store.
	checked time.Time
}

// engine is an engine of shared facts.
type engine interface {
	metrics.ReplaceableEngine
	// CurrentID returns the id of the facts.
	CurrentID(ctx context.Context) (string, error)
	SetID(ctx context.Context, id string) error
	// replace replaces all facts with those that fill writes into an empty
	// engine.
	replace(ctx context.Context, id string, fill func(metrics.ReplaceableEngine) error) error
}

type postgresEngine struct{ *postgres.Engine }

func (e postgresEngine) replace(ctx context.Context, id string, fill func(metrics.ReplaceableEngine) error) error {
	return e.Replace(ctx, id, func(next *postgres.Engine) error { return fill(next) })
}

type clickhouseEngine struct{ *clickhouse.Engine }

func (e clickhouseEngine) replace(ctx context.Context, id string, fill func(metrics.ReplaceableEngine) error) error {
	return e.Replace(ctx, id, func(next *clickhouse.Engine) error { return fill(next) })
}

func (c Config) inClickHouse() bool { return strings.HasPrefix(c.URL, "clickhouse+") }

// open opens the engine that the URL names.
func (c Config) open(ctx context.Context) (engine, error) {
	if c.inClickHouse() {
		e, err := clickhouse.Open(ctx, c.URL, clickhouse.Options{Postgres: c.Postgres, Founder: c.Founder, Now: c.Now, NewID: c.newID()})
		return clickhouseEngine{e}, err
	}
	e, err := postgres.Open(ctx, c.URL, postgres.Options{Founder: c.Founder, Now: c.Now, NewID: c.newID()})
	return postgresEngine{e}, err
}

// readID returns the id of the facts, empty if there are none.
func (c Config) readID(ctx context.Context) (string, error) {
	if c.inClickHouse() {
		return clickhouse.ReadID(ctx, c.Postgres)
	}
	return postgres.ReadID(ctx, c.URL)
}

// Open opens the facts that belong to the store, and no others.
func Open(ctx context.Context, c Config) (*Database, error) {
	e, err := c.open(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: start the database, or correct --metrics", secret.RedactURL(c.URL), err)
	}
	d := &Database{engine: e, config: c}
	if c.Replacing {
		return d, nil
	}
	if err := d.claim(ctx); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return d, nil
}

func (c Config) newID() string {
	return string(ident.New(ident.Facts, c.Now(), c.Random)) + store.SharedFacts
}

// restoring is the prefix of the id of facts that a restore has not completed.
const restoring = "restoring-"

// claim makes the facts those of a store that has none yet. It returns an error
// if the store has others.
func (d *Database) claim(ctx context.Context) error {
	db := d.config.DB
	id, err := d.CurrentID(ctx)
	if err != nil {
		return err
	}
	for {
		mark, err := db.FactsMark(ctx)
		if err != nil {
			return err
		}
		if err := d.config.checkID(id, mark); err != nil || mark.ID == id {
			return err
		}
		expected, err := db.HasSynced(ctx)
		if err != nil {
			return err
		}
		workspaces, err := d.Workspaces(ctx)
		if err != nil {
			return err
		}
		if expected && len(workspaces) == 0 {
			return errors.New(d.config.foreign("there are no metrics, although the database of this installation had some"))
		}
		// Another node may be claiming them at the same moment.
		err = db.ChangeFactsMark(ctx, mark, store.FactsMark{ID: id})
		if !errors.Is(err, store.ErrFactsMoved) {
			return err
		}
	}
}

// checkID returns why facts with this id are not those of a store with the mark.
func (c Config) checkID(id string, mark store.FactsMark) error {
	switch {
	case strings.HasPrefix(id, restoring):
		return fmt.Errorf("%s: a restore was interrupted: run `fanfare backup restore` again, into an empty database of the store", secret.RedactURL(c.URL))
	case mark.ID != "" && mark.ID != id:
		return errors.New(c.foreign("the metrics of this installation are in another place"))
	}
	return nil
}

// foreign describes facts that do not belong to the store.
func (c Config) foreign(why string) string {
	return fmt.Sprintf("%s: %s: start with the --metrics that was used before (`--metrics duckdb` is the file in the data folder), bring them here from a backup with `fanfare facts restore BACKUP`, or accept the loss with `fanfare facts reset`, which reads them again from the platforms", secret.RedactURL(c.URL), why)
}
