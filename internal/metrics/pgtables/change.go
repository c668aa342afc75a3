package pgtables

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

// Change is a write to one workspace. It locks the row of the workspace, which
// orders the writes of a workspace.
type Change struct {
	Tx        pgx.Tx
	Workspace int32
	// Unchanged means that every query returns the same as before.
	Unchanged bool

	nextSource, nextEntity, nextImport int32
	sources                            []numbers.Source
	words                              map[string]int32
	// texts means that the texts behind numbers changed.
	texts bool
}

// Lock begins a change in a transaction: it waits for other writers of the
// workspace and reads its sources.
func Lock(ctx context.Context, tx pgx.Tx, id ident.ID) (*Change, error) {
	w, err := EnterWorkspace(ctx, tx, id, "FOR UPDATE")
	if err == nil && w.Key == 0 {
		if _, err := tx.Exec(ctx, "INSERT INTO metrics_workspace (id, generation, texts) SELECT $1, begin, begin FROM metrics_format ON CONFLICT DO NOTHING", []byte(id)); err != nil {
			return nil, err
		}
		w, err = EnterWorkspace(ctx, tx, id, "FOR UPDATE")
	}
	if err != nil {
		return nil, err
	}
	c := &Change{Tx: tx, Workspace: w.Key, nextSource: w.nextSource, nextEntity: w.nextEntity, nextImport: w.nextImport, words: map[string]int32{"": 0}}
	c.sources, err = LoadSources(ctx, tx, c.Workspace)
	return c, err
}

// Finish stores the versions and numbers of a change, as its last statement.
func (c *Change) Finish(ctx context.Context, mirrored *clock.Instant) error {
	_, err := c.Tx.Exec(ctx, `UPDATE metrics_workspace SET generation = generation + $2, texts = texts + $3, mirrored = coalesce($4, mirrored),
		next_source = $5, next_entity = $6, next_import = $7 WHERE key = $1`,
		c.Workspace, increment(!c.Unchanged), increment(c.texts), (*int64)(mirrored), c.nextSource, c.nextEntity, c.nextImport)
	return err
}

func increment(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}

// Row is a fact with numbers in place of texts.
type Row struct {
	*fact.Row
	Source, Channel, Campaign, Creative, Audience, Country, Age, Gender, Device int32
}

// Keys returns the values of numbers.KeyColumns.
func (r *Row) Keys() [10]int32 {
	return [...]int32{int32(r.Date), r.Source, r.Channel, r.Campaign, r.Creative, r.Audience, r.Country, r.Age, r.Gender, r.Device}
}

// NumberRows returns the rows by family, with numbers for sources, words and
// entities. It stores new ones.
func (c *Change) NumberRows(ctx context.Context, b *fact.Batch) ([][]Row, error) {
	for _, w := range b.Replace {
		if _, err := c.Source(ctx, w.Source); err != nil {
			return nil, err
		}
	}
	if err := c.numberWords(ctx, b); err != nil {
		return nil, fmt.Errorf("insert words: %w", err)
	}
	rows, seen := make([][]Row, len(fact.Families)), numbers.NewBatchEntities()
	for i := range b.Rows {
		r := &b.Rows[i]
		source, err := c.Source(ctx, r.Source)
		if err != nil {
			return nil, err
		}
		connection := string(r.Source.Connection)
		rows[r.Family] = append(rows[r.Family], Row{
			Row: r, Source: source,
			// Until entities have numbers, these are positions in seen.
			Campaign: seen.Add(connection, numbers.KindCampaign, &r.Campaign), Creative: seen.Add(connection, numbers.KindCreative, &r.Creative), Audience: seen.Add(connection, numbers.KindAudience, &r.Audience),
			Channel: c.words[r.Channel], Country: c.words[r.Country], Age: c.words[r.AgeRange], Gender: c.words[r.Gender], Device: c.words[r.Device],
		})
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
			r.Campaign, r.Creative, r.Audience = keys[r.Campaign], keys[r.Creative], keys[r.Audience]
		}
		// Sort by day, so that queries of few days read less.
		slices.SortStableFunc(list, func(a, b Row) int { return int(a.Date) - int(b.Date) })
	}
	return rows, nil
}

// numberWords finds the numbers of words and adds new ones.
func (c *Change) numberWords(ctx context.Context, b *fact.Batch) error {
	next := int32(1)
	if err := EachPair(ctx, c.Tx, func(code int32, text []byte) error {
		c.words[string(text)], next = code, max(next, code+1)
		return nil
	}, "SELECT code, text FROM metrics_word WHERE workspace = $1", c.Workspace); err != nil {
		return err
	}
	for i := range b.Rows {
		r := &b.Rows[i]
		for _, text := range []string{r.Channel, r.Country, r.AgeRange, r.Gender, r.Device} {
			if _, found := c.words[text]; found {
				continue
			}
			code := next
			next++
			c.words[text], c.texts = code, true
			if _, err := c.Tx.Exec(ctx, "INSERT INTO metrics_word (workspace, code, text) VALUES ($1, $2, $3)", c.Workspace, code, []byte(text)); err != nil {
				return err
			}
		}
	}
	return nil
}

// Source returns the number of a source and stores its currency and zone.
func (c *Change) Source(ctx context.Context, s *fact.Source) (int32, error) {
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
	_, err := c.Tx.Exec(ctx, `INSERT INTO metrics_source (workspace, key, connection, platform, account, currency, zone) VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (workspace, key) DO UPDATE SET platform = excluded.platform, currency = excluded.currency, zone = excluded.zone`,
		c.Workspace, c.sources[i].Key, []byte(s.Connection), []byte(s.Platform), []byte(s.Account), []byte(s.Currency), []byte(s.Zone))
	if err != nil {
		return 0, fmt.Errorf("insert source: %w", err)
	}
	return c.sources[i].Key, nil
}
