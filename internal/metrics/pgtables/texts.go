package pgtables

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/jackc/pgx/v5"

	"fanfare/internal/analytics"
	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
	"fanfare/internal/metrics/numbers"
	"fanfare/internal/money"
)

// DB starts transactions.
type DB interface {
	Begin(ctx context.Context) (pgx.Tx, error)
	BeginTx(ctx context.Context, o pgx.TxOptions) (pgx.Tx, error)
}

// Snapshot runs f in a transaction that reads one snapshot of a workspace, unless
// the workspace has no facts.
func Snapshot(ctx context.Context, db DB, id ident.ID, f func(tx pgx.Tx, w Workspace) error) error {
	err := pgx.BeginTxFunc(ctx, db, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		w, err := EnterWorkspace(ctx, tx, id, "")
		if err != nil || w.Key == 0 {
			return err
		}
		return f(tx, w)
	})
	return ToFault(ctx, err)
}

// Workspace is a row of metrics_workspace.
type Workspace struct {
	Key        int32
	Generation int64
	Mirrored   clock.Instant
	// Texts is a version that changes when the texts of numbers change.
	Texts                              int64
	nextSource, nextEntity, nextImport int32
}

// EnterWorkspace limits a transaction to a workspace and reads its row. The Key
// is 0 if the workspace has no row. lock is FOR UPDATE or empty.
func EnterWorkspace(ctx context.Context, tx pgx.Tx, id ident.ID, lock string) (w Workspace, err error) {
	var b pgx.Batch
	b.Queue("SELECT set_config('fanfare.metrics_id', encode($1, 'hex'), true)", []byte(id))
	b.Queue(`SELECT key, generation, mirrored, texts, next_source, next_entity, next_import, set_config('fanfare.metrics_key', key::text, true)
		FROM metrics_workspace WHERE id = $1 `+lock, []byte(id)).QueryRow(func(row pgx.Row) error {
		err := row.Scan(&w.Key, &w.Generation, (*int64)(&w.Mirrored), &w.Texts, &w.nextSource, &w.nextEntity, &w.nextImport, nil)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		return err
	})
	return w, tx.SendBatch(ctx, &b).Close()
}

// Cache has the last texts and state of each workspace. Each read compares the
// version with the database, so other nodes need not announce changes.
type Cache struct {
	mu     sync.Mutex
	texts  map[ident.ID]*versionedTexts
	states map[ident.ID]analytics.State
}

type versionedTexts struct {
	version int64
	numbers.Texts
}

// NewCache returns an empty cache.
func NewCache() *Cache {
	return &Cache{texts: map[ident.ID]*versionedTexts{}, states: map[ident.ID]analytics.State{}}
}

// Texts returns the texts of a workspace as the transaction sees them.
func (c *Cache) Texts(ctx context.Context, tx pgx.Tx, id ident.ID, w Workspace) (*numbers.Texts, error) {
	c.mu.Lock()
	known := c.texts[id]
	c.mu.Unlock()
	if known != nil && known.version == w.Texts {
		return &known.Texts, nil
	}
	t := &versionedTexts{version: w.Texts}
	if err := loadTexts(ctx, tx, w.Key, &t.Texts); err != nil {
		return nil, fmt.Errorf("read texts: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.texts[id]; known == nil || known.version < t.version {
		c.texts[id] = t
	}
	return &t.Texts, nil
}

func loadTexts(ctx context.Context, tx pgx.Tx, workspace int32, t *numbers.Texts) error {
	t.Words, t.Tags = []string{""}, []string{""}
	if err := EachPair(ctx, tx, func(code int32, text []byte) error {
		// Codes may have gaps.
		t.Words = append(t.Words, make([]string, int(code)+1-len(t.Words))...)
		t.Words[code] = string(text)
		return nil
	}, "SELECT code, text FROM metrics_word WHERE workspace = $1 ORDER BY code", workspace); err != nil {
		return err
	}
	sources, err := LoadSources(ctx, tx, workspace)
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
		t.Entities[kind] = append(t.Entities[kind], numbers.Entity{
			Key: key, External: string(text[0]), Name: string(text[1]), Record: string(text[2]), Variant: string(text[3]),
			RecordName: string(text[4]), Status: string(text[5]), Objective: string(text[6]), Type: string(text[7]), Tags: tags[string(text[2])],
		})
		return nil
	})
	return err
}

// LoadSources reads the sources of a workspace, by number.
func LoadSources(ctx context.Context, tx pgx.Tx, workspace int32) (list []numbers.Source, err error) {
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

// loadTags reads the tags of a workspace into t.Tags and returns, for each
// record, their indexes there.
func loadTags(ctx context.Context, tx pgx.Tx, workspace int32, t *numbers.Texts) (map[string][]int32, error) {
	index, byRecord := map[string]int32{}, map[string][]int32{}
	err := EachPair(ctx, tx, func(record, tag []byte) error {
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

// EachPair calls f with each row of a query with two columns.
func EachPair[A, B any](ctx context.Context, tx pgx.Tx, f func(A, B) error, text string, args ...any) error {
	rows, err := tx.Query(ctx, text, args...)
	if err != nil {
		return err
	}
	var a A
	var b B
	_, err = pgx.ForEachRow(rows, []any{&a, &b}, func() error { return f(a, b) })
	return err
}

// State returns the coverage and generation of a workspace, as the transaction
// sees it. parts is the query of its facts that coverage needs; its parameter is
// the workspace.
func (c *Cache) State(ctx context.Context, tx pgx.Tx, id ident.ID, w Workspace, parts string) (s analytics.State, err error) {
	c.mu.Lock()
	s, found := c.states[id]
	c.mu.Unlock()
	if !found || s.Generation != w.Generation || s.Mirrored != w.Mirrored {
		s = analytics.State{Generation: w.Generation, Mirrored: w.Mirrored}
		if s.Sources, err = coverage(ctx, tx, w.Key, parts); err != nil {
			return analytics.State{}, err
		}
		c.mu.Lock()
		if c.states[id].Generation <= s.Generation {
			c.states[id] = s
		}
		c.mu.Unlock()
	}
	s.Sources = slices.Clone(s.Sources)
	return s, nil
}

// coverage returns the days of each source that has facts. The query parts
// returns family, source, number of facts, first and last day.
func coverage(ctx context.Context, tx pgx.Tx, workspace int32, parts string) ([]fact.Coverage, error) {
	sources, err := LoadSources(ctx, tx, workspace)
	if err != nil {
		return nil, err
	}
	rows, err := tx.Query(ctx, parts, workspace)
	if err != nil {
		return nil, err
	}
	var family int16
	var p numbers.Part
	var list []numbers.Part
	var first, last int32
	if _, err := pgx.ForEachRow(rows, []any{&family, &p.Source, &p.Facts, &first, &last}, func() error {
		p.Family, p.First, p.Last = fact.Family(family), clock.Date(first), clock.Date(last)
		list = append(list, p)
		return nil
	}); err != nil {
		return nil, err
	}
	return numbers.Coverage(sources, slices.Values(list)), nil
}
