package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
	"fanfare/internal/metrics/numbers"
)

// change is a write to one workspace. It holds the lock on the workspace's row,
// which puts the writes of a workspace in order.
type change struct {
	tx                                 pgx.Tx
	workspace                          int32
	nextSource, nextEntity, nextImport int32
	sources                            []numbers.Source
	words                              map[string]int32
	// touched has the months whose facts are counted again.
	touched map[part]bool
	// unchanged means that every answer stays the same, texts that numbers stand
	// for other texts.
	unchanged, texts bool
}

// part is a month of a family of a source.
type part struct {
	family fact.Family
	source int32
	month  clock.Date
}

// write runs f in a transaction, as the only writer of the workspace. When it
// returns nil, the change is on disk and visible.
func (e *Engine) write(ctx context.Context, id ident.ID, mirrored *clock.Instant, f func(c *change) error) error {
	err := pgx.BeginFunc(ctx, e.pool, func(tx pgx.Tx) error {
		c := &change{tx: tx, words: map[string]int32{"": 0}, touched: map[part]bool{}}
		if err := c.lock(ctx, id); err != nil {
			return err
		}
		if err := f(c); err != nil {
			return err
		}
		if err := c.count(ctx); err != nil {
			return fmt.Errorf("count facts: %w", err)
		}
		_, err := tx.Exec(ctx, `UPDATE metrics_workspace SET generation = generation + $2, texts = texts + $3, mirrored = coalesce($4, mirrored),
			next_source = $5, next_entity = $6, next_import = $7 WHERE key = $1`,
			c.workspace, increment(!c.unchanged), increment(c.texts), (*int64)(mirrored), c.nextSource, c.nextEntity, c.nextImport)
		return err
	})
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

func increment(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}

// lock locks the workspace and reads its sources.
func (c *change) lock(ctx context.Context, id ident.ID) (err error) {
	if _, err := c.tx.Exec(ctx, "INSERT INTO metrics_workspace (id) VALUES ($1) ON CONFLICT DO NOTHING", []byte(id)); err != nil {
		return err
	}
	if err := c.tx.QueryRow(ctx, "SELECT key, next_source, next_entity, next_import FROM metrics_workspace WHERE id = $1 FOR UPDATE", []byte(id)).
		Scan(&c.workspace, &c.nextSource, &c.nextEntity, &c.nextImport); err != nil {
		return err
	}
	c.sources, err = loadSources(ctx, c.tx, c.workspace)
	return err
}

// Write writes a batch, all of it or nothing.
func (e *Engine) Write(ctx context.Context, b *fact.Batch) error {
	if err := check(b); err != nil {
		return fmt.Errorf("write facts: %w", err)
	}
	for f := range fact.Families {
		months := map[clock.Date]bool{}
		for i := range b.Rows {
			if int(b.Rows[i].Family) == f {
				months[b.Rows[i].Date.FirstOfMonth()] = true
			}
		}
		if err := e.createPartitions(ctx, fact.Families[f], monthsOf(months)); err != nil {
			return fmt.Errorf("write facts: %w", err)
		}
	}
	err := e.write(ctx, b.Workspace, nil, func(c *change) error { return c.batch(ctx, b, clock.At(e.now())) })
	if err != nil {
		return fmt.Errorf("write facts: %w", err)
	}
	return nil
}

func (c *change) batch(ctx context.Context, b *fact.Batch, now clock.Instant) error {
	var imported int32
	if b.Import != "" {
		imported = c.nextImport
		c.nextImport++
		if _, err := c.tx.Exec(ctx, "INSERT INTO metrics_import VALUES ($1, $2, $3, $4)", c.workspace, imported, []byte(b.Import), int64(now)); err != nil {
			return fmt.Errorf("insert import: %w", err)
		}
	}
	rows, err := c.number(ctx, b)
	if err != nil {
		return err
	}
	for _, w := range b.Replace {
		if err := c.empty(ctx, w, imported); err != nil {
			return fmt.Errorf("empty window: %w", err)
		}
	}
	for f, list := range rows {
		if len(list) == 0 {
			continue
		}
		if len(b.Replace) == 0 {
			if err := c.removeSame(ctx, fact.Family(f), list, imported); err != nil {
				return fmt.Errorf("replace facts: %w", err)
			}
		}
		if err := c.copy(ctx, tableOf(fact.Families[f]), list, imported); err != nil {
			return fmt.Errorf("insert facts: %w", err)
		}
	}
	return nil
}

// check refuses a batch that is not consistent, or whose days have no table.
func check(b *fact.Batch) error {
	if err := b.Check(); err != nil {
		return err
	}
	for i := range b.Rows {
		if d := b.Rows[i].Date; d < firstDay || d > lastDay {
			return fmt.Errorf("row %d: %s is not between %s and %s", i, d, firstDay, lastDay)
		}
	}
	return nil
}

// row is a fact with numbers in place of texts.
type row struct {
	*fact.Row
	source, channel, campaign, creative, audience, country, age, gender, device int32
}

// number returns the rows by family, with the numbers of everything they name.
func (c *change) number(ctx context.Context, b *fact.Batch) ([][]row, error) {
	for _, w := range b.Replace {
		if _, err := c.source(ctx, w.Source); err != nil {
			return nil, err
		}
	}
	if err := c.numberWords(ctx, b); err != nil {
		return nil, fmt.Errorf("insert words: %w", err)
	}
	rows, seen := make([][]row, len(fact.Families)), numbers.NewBatchEntities()
	for i := range b.Rows {
		r := &b.Rows[i]
		source, err := c.source(ctx, r.Source)
		if err != nil {
			return nil, err
		}
		connection := string(r.Source.Connection)
		rows[r.Family] = append(rows[r.Family], row{
			Row: r, source: source,
			// Until entities have numbers, these are positions in seen.
			campaign: seen.Add(connection, numbers.KindCampaign, &r.Campaign), creative: seen.Add(connection, numbers.KindCreative, &r.Creative), audience: seen.Add(connection, numbers.KindAudience, &r.Audience),
			channel: c.words[r.Channel], country: c.words[r.Country], age: c.words[r.AgeRange], gender: c.words[r.Gender], device: c.words[r.Device],
		})
		c.touched[part{r.Family, source, r.Date.FirstOfMonth()}] = true
	}
	for i := range b.Links {
		seen.Link(&b.Links[i])
	}
	keys, err := c.numberEntities(ctx, seen)
	if err != nil {
		return nil, fmt.Errorf("insert entities: %w", err)
	}
	for _, list := range rows {
		for i := range list {
			r := &list[i]
			r.campaign, r.creative, r.audience = keys[r.campaign], keys[r.creative], keys[r.audience]
		}
		// Facts of one day side by side make queries of few days read less.
		slices.SortStableFunc(list, func(a, b row) int { return int(a.Date) - int(b.Date) })
	}
	return rows, nil
}

// numberWords finds the numbers of words and adds new ones.
func (c *change) numberWords(ctx context.Context, b *fact.Batch) error {
	if err := each(ctx, c.tx, func(code int32, text []byte) error { c.words[string(text)] = code; return nil }, "SELECT code, text FROM metrics_word WHERE workspace = $1", c.workspace); err != nil {
		return err
	}
	for i := range b.Rows {
		r := &b.Rows[i]
		for _, text := range []string{r.Channel, r.Country, r.AgeRange, r.Gender, r.Device} {
			if _, found := c.words[text]; found {
				continue
			}
			code := int32(len(c.words))
			c.words[text], c.texts = code, true
			if _, err := c.tx.Exec(ctx, "INSERT INTO metrics_word VALUES ($1, $2, $3)", c.workspace, code, []byte(text)); err != nil {
				return err
			}
		}
	}
	return nil
}

// source returns the number of a source and stores what the batch says of it.
func (c *change) source(ctx context.Context, s *fact.Source) (int32, error) {
	if s == nil {
		return 0, errors.New("a row or window names no source")
	}
	i := slices.IndexFunc(c.sources, func(known numbers.Source) bool { return known.Connection == s.Connection && known.Account == s.Account })
	if i >= 0 && c.sources[i].Source == *s {
		return c.sources[i].Key, nil
	}
	if i < 0 {
		i = len(c.sources)
		c.sources = append(c.sources, numbers.Source{Key: c.nextSource})
		c.nextSource++
	}
	c.sources[i].Source, c.texts = *s, true
	_, err := c.tx.Exec(ctx, `INSERT INTO metrics_source VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (workspace, key) DO UPDATE SET platform = excluded.platform, currency = excluded.currency, zone = excluded.zone`,
		c.workspace, c.sources[i].Key, []byte(s.Connection), []byte(s.Platform), []byte(s.Account), []byte(s.Currency), []byte(s.Zone))
	if err != nil {
		return 0, fmt.Errorf("insert source: %w", err)
	}
	return c.sources[i].Key, nil
}

// empty deletes the facts of a window. An import keeps what it deletes; what
// other writes delete cannot come back.
func (c *change) empty(ctx context.Context, w fact.Window, imported int32) error {
	source, err := c.source(ctx, w.Source)
	if err != nil {
		return err
	}
	if imported == 0 {
		_, err = c.tx.Exec(ctx, "DELETE FROM metrics_replaced WHERE workspace = $1 AND source = $2 AND day BETWEEN $3 AND $4 AND family = $5",
			c.workspace, source, int32(w.First), int32(w.Last), int16(w.Family))
	} else {
		_, err = c.tx.Exec(ctx, "INSERT INTO metrics_cover VALUES ($1, $2, $3, $4, $5, $6)", c.workspace, imported, int16(w.Family), source, int32(w.First), int32(w.Last))
	}
	if err != nil {
		return err
	}
	return c.remove(ctx, w.Family, imported, "", "f.workspace = $1 AND f.source = $2 AND f.day BETWEEN $3 AND $4", c.workspace, source, int32(w.First), int32(w.Last))
}

// remove deletes facts, keeps them for an import, and marks their months.
func (c *change) remove(ctx context.Context, f fact.Family, imported int32, using, where string, args ...any) error {
	table := tableOf(f.String())
	keep := fmt.Sprintf("WITH gone AS (DELETE FROM %s f %s WHERE %s RETURNING f.*)", table, using, where)
	if imported != 0 {
		keep += fmt.Sprintf(", kept AS (INSERT INTO metrics_replaced SELECT %s, %d, %d FROM gone)", factList, f, imported)
	}
	return each(ctx, c.tx, func(source, day int32) error {
		c.touched[part{f, source, clock.Date(day).FirstOfMonth()}] = true
		return nil
	}, keep+" SELECT DISTINCT source, day FROM gone", args...)
}

// removeSame deletes the facts that have the keys of rows.
func (c *change) removeSame(ctx context.Context, f fact.Family, rows []row, imported int32) error {
	for _, text := range []string{
		"CREATE TEMP TABLE IF NOT EXISTS metrics_staged (" + factDefinition() + ") ON COMMIT DROP",
		"TRUNCATE metrics_staged",
	} {
		if _, err := c.tx.Exec(ctx, text); err != nil {
			return err
		}
	}
	if err := c.copy(ctx, "metrics_staged", rows, imported); err != nil {
		return err
	}
	// Without statistics PostgreSQL compares every fact with every row.
	if _, err := c.tx.Exec(ctx, "ANALYZE metrics_staged"); err != nil {
		return err
	}
	first, last := int32(rows[0].Date), int32(rows[len(rows)-1].Date)
	return c.remove(ctx, f, imported, "USING metrics_staged s", "f.workspace = $1 AND f.day BETWEEN $2 AND $3 AND "+numbers.SameKey("f", "s"), c.workspace, first, last)
}

// copy inserts rows into a table of facts.
func (c *change) copy(ctx context.Context, table string, rows []row, imported int32) error {
	_, err := c.tx.CopyFrom(ctx, pgx.Identifier{table}, numbers.FactColumns, pgx.CopyFromSlice(len(rows), func(i int) ([]any, error) {
		r := &rows[i]
		out := append(make([]any, 0, len(numbers.FactColumns)), c.workspace, int32(r.Date), r.source, r.channel, r.campaign, r.creative, r.audience, r.country, r.age, r.gender, r.device)
		for m := range fact.Measure(fact.NumMeasures) {
			if v, known := r.Values.Get(m); known {
				out = append(out, v)
			} else {
				out = append(out, nil)
			}
		}
		return append(out, imported), nil
	}))
	return err
}

// count counts the facts of touched months.
func (c *change) count(ctx context.Context) error {
	for p := range c.touched {
		if _, err := c.tx.Exec(ctx, "DELETE FROM metrics_part WHERE workspace = $1 AND family = $2 AND source = $3 AND month = $4", c.workspace, int16(p.family), p.source, int32(p.month)); err != nil {
			return err
		}
		if _, err := c.tx.Exec(ctx, `INSERT INTO metrics_part SELECT $1, $2, $3, $4, count(*), min(day), max(day)
			FROM `+tableOf(p.family.String())+` WHERE workspace = $1 AND source = $3 AND day BETWEEN $4 AND $5 HAVING count(*) > 0`,
			c.workspace, int16(p.family), p.source, int32(p.month), int32(p.month.NextMonth()-1)); err != nil {
			return err
		}
	}
	return nil
}
