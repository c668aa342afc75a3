// Package postgres stores facts in PostgreSQL, for any number of nodes. Fact
// tables have only numbers; package numbers translates between them and texts.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"fanfare/internal/analytics"
	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/fairqueue"
	"fanfare/internal/ident"
	"fanfare/internal/metrics/numbers"
	"fanfare/internal/money"
)

// Engine stores the facts of all workspaces. It implements metrics.Engine.
type Engine struct {
	pool *pgxpool.Pool
	now  func() time.Time
	// queries are the requests that run and wait.
	queries *fairqueue.Queue
	// partitions has the names of tables of months that exist.
	partitions sync.Map

	mu sync.Mutex
	// texts and states are what was read last of each workspace. A query compares
	// their version with the database, so that other nodes need not announce
	// changes.
	texts  map[ident.ID]*versionedTexts
	states map[ident.ID]analytics.State
}

type versionedTexts struct {
	version int64
	numbers.Texts
}

// maxRunning is how many requests for metrics a node runs at once, maxQueries how
// many of one workspace run and wait.
const (
	maxRunning = 8
	maxQueries = 64
)

// Open connects to a database and creates missing tables.
func Open(ctx context.Context, url string, now func() time.Time) (*Engine, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	// Compiling a plan takes longer than it saves for sums by few columns.
	config.ConnConfig.RuntimeParams["jit"] = "off"
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	queries := fairqueue.New(fairqueue.Limits{Work: "queries", Running: maxRunning, PerWorkspace: maxQueries})
	e := &Engine{pool: pool, now: now, queries: queries, texts: map[ident.ID]*versionedTexts{}, states: map[ident.ID]analytics.State{}}
	if err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error { return createTables(ctx, tx) }); err != nil {
		pool.Close()
		return nil, fmt.Errorf("open metrics: %w", err)
	}
	return e, nil
}

// Close closes the connections.
func (e *Engine) Close() error {
	e.pool.Close()
	return nil
}

// snapshot runs f in a transaction that sees one unchanging state.
func (e *Engine) snapshot(ctx context.Context, f func(tx pgx.Tx) error) error {
	return pgx.BeginTxFunc(ctx, e.pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, f)
}

// workspaceRow is the row of a workspace.
type workspaceRow struct {
	key        int32
	generation int64
	mirrored   clock.Instant
	texts      int64
}

// readWorkspace reads the row of a workspace. Its key is 0 if there is none.
func readWorkspace(ctx context.Context, tx pgx.Tx, id ident.ID) (w workspaceRow, err error) {
	err = tx.QueryRow(ctx, "SELECT key, generation, mirrored, texts FROM metrics_workspace WHERE id = $1", []byte(id)).Scan(&w.key, &w.generation, (*int64)(&w.mirrored), &w.texts)
	if errors.Is(err, pgx.ErrNoRows) {
		return workspaceRow{}, nil
	}
	return w, err
}

// readTexts returns the texts of a workspace as the transaction sees them.
func (e *Engine) readTexts(ctx context.Context, tx pgx.Tx, id ident.ID, w workspaceRow) (*numbers.Texts, error) {
	e.mu.Lock()
	known := e.texts[id]
	e.mu.Unlock()
	if known != nil && known.version == w.texts {
		return &known.Texts, nil
	}
	t := &versionedTexts{version: w.texts}
	if err := loadTexts(ctx, tx, w.key, &t.Texts); err != nil {
		return nil, fmt.Errorf("read texts: %w", err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if known := e.texts[id]; known == nil || known.version < t.version {
		e.texts[id] = t
	}
	return &t.Texts, nil
}

func loadTexts(ctx context.Context, tx pgx.Tx, workspace int32, t *numbers.Texts) error {
	t.Words, t.Tags = []string{""}, []string{""}
	if err := each(ctx, tx, func(code int32, text []byte) error {
		if int(code) != len(t.Words) {
			return fmt.Errorf("word %d is out of order", code)
		}
		t.Words = append(t.Words, string(text))
		return nil
	}, "SELECT code, text FROM metrics_word WHERE workspace = $1 ORDER BY code", workspace); err != nil {
		return err
	}
	sources, err := loadSources(ctx, tx, workspace)
	if err != nil {
		return err
	}
	t.Sources = sources
	tags, err := loadTags(ctx, tx, workspace, t)
	if err != nil {
		return err
	}
	rows, err := tx.Query(ctx, `SELECT e.key, e.kind, e.external, e.name, e.record, e.variant,
		coalesce(r.name, ''), coalesce(r.status, ''), coalesce(r.objective, ''), coalesce(r.type, '')
		FROM metrics_entity e LEFT JOIN metrics_record r ON r.workspace = e.workspace AND r.id = e.record
		WHERE e.workspace = $1 ORDER BY e.key`, workspace)
	if err != nil {
		return err
	}
	var key int32
	var kind int16
	var text [8][]byte
	_, err = pgx.ForEachRow(rows, []any{&key, &kind, &text[0], &text[1], &text[2], &text[3], &text[4], &text[5], &text[6], &text[7]}, func() error {
		t.Entities = append(t.Entities, numbers.Entity{
			Key: key, Kind: numbers.Kinds[kind], External: string(text[0]), Name: string(text[1]), Record: string(text[2]), Variant: string(text[3]),
			RecordName: string(text[4]), Status: string(text[5]), Objective: string(text[6]), Type: string(text[7]), Tags: tags[string(text[2])],
		})
		return nil
	})
	return err
}

func loadSources(ctx context.Context, tx pgx.Tx, workspace int32) (list []numbers.Source, err error) {
	rows, err := tx.Query(ctx, "SELECT key, connection, platform, account, currency, zone FROM metrics_source WHERE workspace = $1 ORDER BY key", workspace)
	if err != nil {
		return nil, err
	}
	var key int32
	var connection, platform, account, currency, zone []byte
	_, err = pgx.ForEachRow(rows, []any{&key, &connection, &platform, &account, &currency, &zone}, func() error {
		list = append(list, numbers.Source{Key: key, Source: fact.Source{
			Connection: ident.ID(connection), Platform: string(platform), Account: string(account), Currency: money.Currency(currency), Zone: string(zone),
		}})
		return nil
	})
	return list, err
}

// loadTags sets the tags of a workspace and returns their numbers by record.
func loadTags(ctx context.Context, tx pgx.Tx, workspace int32, t *numbers.Texts) (map[string][]int32, error) {
	index, byRecord := map[string]int32{}, map[string][]int32{}
	err := each(ctx, tx, func(record, tag []byte) error {
		n, found := index[string(tag)]
		if !found {
			n = int32(len(t.Tags))
			index[string(tag)] = n
			t.Tags = append(t.Tags, string(tag))
		}
		byRecord[string(record)] = append(byRecord[string(record)], n)
		return nil
	}, "SELECT record, tag FROM metrics_tag WHERE workspace = $1 ORDER BY record, tag", workspace)
	// An entity without a record has no tags.
	delete(byRecord, "")
	return byRecord, err
}

// each reads rows of two columns.
func each[A, B any](ctx context.Context, tx pgx.Tx, f func(A, B) error, text string, args ...any) error {
	rows, err := tx.Query(ctx, text, args...)
	if err != nil {
		return err
	}
	var a A
	var b B
	_, err = pgx.ForEachRow(rows, []any{&a, &b}, func() error { return f(a, b) })
	return err
}

// State returns what is stored of a workspace.
func (e *Engine) State(ctx context.Context, id ident.ID) (s analytics.State, err error) {
	err = e.snapshot(ctx, func(tx pgx.Tx) error {
		w, err := readWorkspace(ctx, tx, id)
		if err != nil || w.key == 0 {
			return err
		}
		e.mu.Lock()
		known, found := e.states[id]
		e.mu.Unlock()
		if found && known.Generation == w.generation && known.Mirrored == w.mirrored {
			s = known
			return nil
		}
		s = analytics.State{Generation: w.generation, Mirrored: w.mirrored}
		sources, err := loadSources(ctx, tx, w.key)
		if err != nil {
			return err
		}
		if s.Sources, err = coverage(ctx, tx, w.key, sources); err != nil {
			return err
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.states[id].Generation <= s.Generation {
			e.states[id] = s
		}
		return nil
	})
	if err != nil {
		return analytics.State{}, fmt.Errorf("read state of %s: %w", id, err)
	}
	s.Sources = slices.Clone(s.Sources)
	return s, nil
}

// coverage sums up the parts of each source. Sources without facts are left out.
func coverage(ctx context.Context, tx pgx.Tx, workspace int32, sources []numbers.Source) ([]fact.Coverage, error) {
	rows, err := tx.Query(ctx, "SELECT family, source, n, first, last FROM metrics_part WHERE workspace = $1", workspace)
	if err != nil {
		return nil, err
	}
	bySource := map[int32]*fact.Coverage{}
	var family int16
	var source, first, last int32
	var n int64
	if _, err := pgx.ForEachRow(rows, []any{&family, &source, &n, &first, &last}, func() error {
		c := bySource[source]
		if c == nil {
			c = &fact.Coverage{First: clock.Date(first), Last: clock.Date(last)}
			bySource[source] = c
		}
		c.First, c.Last = min(c.First, clock.Date(first)), max(c.Last, clock.Date(last))
		c.Families[family].Add(n, clock.Date(first), clock.Date(last))
		return nil
	}); err != nil {
		return nil, err
	}
	var list []fact.Coverage
	for _, s := range sources {
		if c := bySource[s.Key]; c != nil {
			c.Source = s.Source
			list = append(list, *c)
		}
	}
	return list, nil
}

// monthsOf returns the months of a set of days, sorted.
func monthsOf(days map[clock.Date]bool) []clock.Date { return slices.Sorted(maps.Keys(days)) }
