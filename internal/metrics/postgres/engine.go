// Package postgres stores facts in PostgreSQL, for any number of nodes. Fact
// tables have only numbers; package numbers translates between them and texts.
package postgres

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"fanfare/internal/analytics"
	"fanfare/internal/fairqueue"
	"fanfare/internal/ident"
	"fanfare/internal/metrics/pgtables"
	"fanfare/internal/pgdriver"
)

// Engine stores the facts of all workspaces. It implements metrics.Engine.
type Engine struct {
	// DB of Facts is the pool, or the transaction of Replace.
	pgtables.Database
	close func()
	now   func() time.Time
	// queries and writes are the queues of queries and writes.
	queries, writes *fairqueue.Queue
	// partitions has the names of partitions that exist.
	partitions sync.Map
	cache      *pgtables.Cache
	// minMonthFacts is the constant, or less in tests.
	minMonthFacts int64
}

// maxRunning is how many queries, maxWriting how many writes a node runs at once,
// maxQueries how many queries of one workspace run and wait.
const (
	maxRunning = 8
	maxWriting = 4
	maxQueries = 64
	// maxConns leaves connections for calls of State, which every request needs.
	maxConns = maxRunning + maxWriting + 4
)

// Options configures an engine.
type Options struct {
	Now func() time.Time
	// NewID is the id of the facts, if the database has none yet.
	NewID string
	// Founder finds whose workspaces share turns, nil for each on its own.
	Founder fairqueue.FounderOf
}

// Open connects to a database and creates missing tables.
func Open(ctx context.Context, url string, o Options) (*Engine, error) {
	config, err := pgdriver.ParseURL(url, maxConns)
	if err != nil {
		return nil, err
	}
	// Compiling a plan takes longer than it saves for sums by few columns.
	config.ConnConfig.RuntimeParams["jit"] = "off"
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	e := &Engine{
		Database: pgtables.Database{DB: pool}, now: o.Now, cache: pgtables.NewCache(), minMonthFacts: minMonthFacts,
		queries: fairqueue.New(fairqueue.Limits{Work: "queries", Running: maxRunning, PerWorkspace: maxQueries}, o.Founder),
		writes:  fairqueue.New(fairqueue.Limits{Work: "writes of facts", Running: maxWriting, PerWorkspace: maxQueries}, o.Founder),
	}
	if err = pgdriver.CheckRole(ctx, pool); err == nil {
		err = pgdriver.Transact(ctx, pool, func(tx pgx.Tx) error { return createTables(ctx, tx, o.NewID) })
	}
	if err != nil {
		pool.Close()
		return nil, fmt.Errorf("open metrics: %w", err)
	}
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	var hourly sync.WaitGroup
	hourly.Go(func() {
		pgtables.Hourly(background, "dropping empty partitions of metrics", func(ctx context.Context) error { return e.dropEmptyPartitions(ctx, pool) })
	})
	hourly.Go(func() { pgtables.Hourly(background, "summing months of metrics", e.SumMonths) })
	e.close = func() {
		stop()
		hourly.Wait()
		pool.Close()
	}
	return e, nil
}

// ReadID returns the id of the facts in a database, empty if it has none. It
// changes nothing.
func ReadID(ctx context.Context, url string) (id string, err error) {
	config, err := pgdriver.ParseURL(url, 1)
	if err != nil {
		return "", err
	}
	return pgtables.ReadID(ctx, config)
}

// Close stops work in the background and closes the connections.
func (e *Engine) Close() error {
	e.close()
	return nil
}

// State returns the coverage and generation of a workspace.
func (e *Engine) State(ctx context.Context, id ident.ID) (s analytics.State, err error) {
	err = pgtables.Snapshot(ctx, e.DB, id, func(tx pgx.Tx, w pgtables.Workspace) (err error) {
		s, err = e.cache.State(ctx, tx, id, w, "SELECT family, source, n, first, last FROM metrics_part WHERE workspace = $1")
		return err
	})
	if err != nil {
		return analytics.State{}, fmt.Errorf("read state of %s: %w", id, err)
	}
	return s, nil
}
