// Package clickhouse stores facts in ClickHouse, for any number of nodes and very
// many facts. PostgreSQL stores everything else: the texts of numbers, what the
// undo of imports needs, and which facts count. A fact is inserted under a slot, a
// number that is used once, and counts from the moment a transaction of PostgreSQL
// lists the slot. So a write becomes visible in one step, however many tables and
// months it changes. One that fails leaves only rows that no query reads.
//
// Statements for a cluster are parsed in tests; none has run on a cluster.
package clickhouse

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"fanfare/internal/analytics"
	"fanfare/internal/clock"
	"fanfare/internal/fairqueue"
	"fanfare/internal/ident"
	"fanfare/internal/metrics/pgtables"
	"fanfare/internal/pgdriver"
)

// Engine stores the facts of all workspaces. It implements metrics.Engine.
type Engine struct {
	// DB of Facts is the pool, or the transaction of Replace.
	pgtables.Database
	pool  *pgxpool.Pool
	facts *client
	now   func() time.Time
	cache *pgtables.Cache
	// queries and writes are the queues of queries and writes.
	queries, writes *fairqueue.Queue

	stop  context.CancelFunc
	clean sync.WaitGroup
}

// maxRunning is how many queries, maxWriting how many writes a node runs at once,
// maxQueries how many queries of one workspace run and wait.
const (
	maxRunning = 8
	maxWriting = 4
	maxQueries = 64
	// maxConns leaves connections for calls of State, which every request needs,
	// and for the numbers of writes.
	maxConns = maxRunning + 2*maxWriting + 4
)

// Options configures an engine.
type Options struct {
	// Postgres is the URL of the PostgreSQL database that belongs to the facts.
	Postgres string
	Now      func() time.Time
	// NewID is the id of the facts, if there are none yet.
	NewID string
	// Founder finds whose workspaces share turns, nil for each on its own.
	Founder fairqueue.FounderOf
}

// Open connects to ClickHouse at a URL such as
// clickhouse+https://user:password@host:8443/database, and to PostgreSQL, and
// creates missing tables. With ?cluster=name in the URL the tables are those of a
// cluster.
func Open(ctx context.Context, url string, o Options) (*Engine, error) {
	e, err := open(ctx, url, o)
	if err != nil {
		return nil, fmt.Errorf("open metrics: %w", err)
	}
	return e, nil
}

func open(ctx context.Context, url string, o Options) (*Engine, error) {
	a, err := parseAddress(url)
	if err != nil {
		return nil, err
	}
	facts, err := newClient(a)
	if err != nil {
		return nil, err
	}
	config, err := parsePostgres(o.Postgres, maxConns)
	if err != nil {
		return nil, err
	}
	// The number of a write must be on disk before its facts are.
	config.ConnConfig.RuntimeParams["synchronous_commit"] = "on"
	// A write waits for ClickHouse within its transaction.
	config.ConnConfig.RuntimeParams["idle_in_transaction_session_timeout"] = "0"
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	e := &Engine{
		Database: pgtables.Database{DB: pool}, pool: pool, facts: facts, now: o.Now, cache: pgtables.NewCache(),
		queries: fairqueue.New(fairqueue.Limits{Work: "queries", Running: maxRunning, PerWorkspace: maxQueries}, o.Founder),
		writes:  fairqueue.New(fairqueue.Limits{Work: "writes of facts", Running: maxWriting, PerWorkspace: maxQueries}, o.Founder),
	}
	if err = pgdriver.CheckRole(ctx, pool); err == nil {
		err = e.create(ctx, o.NewID)
	}
	if err != nil {
		pool.Close()
		return nil, err
	}
	var cleaning context.Context
	cleaning, e.stop = context.WithCancel(context.WithoutCancel(ctx))
	e.clean.Go(func() { pgtables.Hourly(cleaning, "clickhouse cleaning", e.Clean) })
	return e, nil
}

func (e *Engine) create(ctx context.Context, newID string) error {
	err := pgdriver.Transact(ctx, e.DB, func(tx pgx.Tx) (err error) {
		if err := createPostgres(ctx, tx, newID); err != nil {
			return err
		}
		sharedID, used, err := readSharedID(ctx, tx)
		if err != nil {
			return err
		}
		return e.facts.createTables(ctx, sharedID, used)
	})
	return pgtables.ToFault(ctx, err)
}

// parsePostgres returns the configuration of connections to PostgreSQL.
func parsePostgres(url string, conns int) (*pgxpool.Config, error) {
	config, err := pgdriver.ParseURL(url, conns)
	if err != nil {
		return nil, err
	}
	config.ConnConfig.RuntimeParams["search_path"] = pgSchema
	return config, nil
}

// ReadID returns the id of the facts that a PostgreSQL database lists, empty if it
// has none. It changes nothing.
func ReadID(ctx context.Context, postgresURL string) (string, error) {
	config, err := parsePostgres(postgresURL, 1)
	if err != nil {
		return "", err
	}
	return pgtables.ReadID(ctx, config)
}

// Close ends the cleaning and closes the connections.
func (e *Engine) Close() error {
	e.stop()
	e.clean.Wait()
	e.pool.Close()
	return nil
}

// Begin waits for the turn of a request. All requests share the same places,
// because the server divides its cores itself.
func (e *Engine) Begin(ctx context.Context, id ident.ID, wait time.Duration, _ ...*analytics.Plan) (turn context.Context, end func(), err error) {
	end, err = e.queries.Take(ctx, id, wait)
	return ctx, end, err
}

// State returns the coverage and generation of a workspace.
func (e *Engine) State(ctx context.Context, id ident.ID) (s analytics.State, err error) {
	err = pgtables.Snapshot(ctx, e.DB, id, func(tx pgx.Tx, w pgtables.Workspace) (err error) {
		s, err = e.cache.State(ctx, tx, id, w, "SELECT family, source, sum(n), min(day), max(day) FROM metrics_slot WHERE workspace = $1 GROUP BY family, source")
		return err
	})
	if err != nil {
		return analytics.State{}, fmt.Errorf("read state of %s: %w", id, err)
	}
	return s, nil
}

// slot is a slot that counts: the place of the facts of a day of a source.
type slot struct {
	source int32
	day    clock.Date
	number int64
	n      int
}

// readSlots reads the slots that a query of source, day, slot and n returns.
func readSlots(ctx context.Context, tx pgx.Tx, text string, args ...any) (list []slot, err error) {
	rows, err := tx.Query(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	var s slot
	var day, n int32
	_, err = pgx.ForEachRow(rows, []any{&s.source, &day, &s.number, &n}, func() error {
		s.day, s.n = clock.Date(day), int(n)
		list = append(list, s)
		return nil
	})
	return list, err
}

func countFacts(list []slot) (n int) {
	for i := range list {
		n += list[i].n
	}
	return n
}

func slotNumbers(list []slot) []int64 {
	out := make([]int64, len(list))
	for i := range list {
		out[i] = list[i].number
	}
	return out
}
