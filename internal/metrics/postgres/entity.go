package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
	"fanfare/internal/metrics/numbers"
)

// numberEntities returns the keys of a batch's entities by their number, and
// stores new names and links.
func (c *change) numberEntities(ctx context.Context, s *numbers.BatchEntities) ([]int32, error) {
	keys := make([]int32, len(s.List)+1)
	if len(s.List) == 0 {
		return keys, nil
	}
	if err := c.findEntities(ctx, s); err != nil {
		return nil, err
	}
	var changed [][]any
	for i := range s.List {
		e := &s.List[i]
		if e.Key == 0 {
			e.Key = c.nextEntity
			c.nextEntity++
		}
		keys[i+1] = e.Key
		if !e.Stored {
			changed = append(changed, []any{c.workspace, e.Key, []byte(e.Connection), int16(e.Kind), []byte(e.External), []byte(e.Name), []byte(e.Record), []byte(e.Variant)})
		}
	}
	if len(changed) == 0 {
		return keys, nil
	}
	c.texts = true
	old := make([]int32, len(changed))
	for i := range changed {
		old[i] = changed[i][1].(int32)
	}
	if _, err := c.tx.Exec(ctx, "DELETE FROM metrics_entity WHERE workspace = $1 AND key = ANY($2)", c.workspace, old); err != nil {
		return nil, err
	}
	_, err := c.tx.CopyFrom(ctx, pgx.Identifier{"metrics_entity"}, []string{"workspace", "key", "connection", "kind", "external", "name", "record", "variant"}, pgx.CopyFromRows(changed))
	return keys, err
}

// findEntities completes entities with what the database has of them.
func (c *change) findEntities(ctx context.Context, s *numbers.BatchEntities) error {
	connections, kinds, externals := make([][]byte, len(s.List)), make([]int16, len(s.List)), make([][]byte, len(s.List))
	for i := range s.List {
		connections[i], kinds[i], externals[i] = []byte(s.List[i].Connection), int16(s.List[i].Kind), []byte(s.List[i].External)
	}
	rows, err := c.tx.Query(ctx, `SELECT s.n, e.key, e.name, e.record, e.variant
		FROM unnest($2::bytea[], $3::int2[], $4::bytea[]) WITH ORDINALITY AS s(connection, kind, external, n)
		JOIN metrics_entity e ON e.workspace = $1 AND e.kind = s.kind AND sha256(e.connection) = sha256(s.connection) AND sha256(e.external) = sha256(s.external)`,
		c.workspace, connections, kinds, externals)
	if err != nil {
		return err
	}
	var n int64
	var key int32
	var name, record, variant []byte
	_, err = pgx.ForEachRow(rows, []any{&n, &key, &name, &record, &variant}, func() error {
		s.List[n-1].Merge(key, string(name), string(record), string(variant))
		return nil
	})
	return err
}

// Mirror stores how records look. Tags that a record has no longer are deleted.
func (e *Engine) Mirror(ctx context.Context, id ident.ID, records []fact.Record, through clock.Instant) error {
	err := e.write(ctx, id, &through, func(c *change) error {
		// The last of several records with one id counts.
		last := map[ident.ID]int{}
		for i, r := range records {
			last[r.ID] = i
		}
		var ids [][]byte
		var kept, tags [][]any
		for i := range records {
			r := &records[i]
			if last[r.ID] != i {
				continue
			}
			ids = append(ids, []byte(r.ID))
			kept = append(kept, []any{c.workspace, []byte(r.ID), []byte(r.Kind), []byte(r.Name), []byte(r.Status), []byte(r.Objective), []byte(r.Type)})
			once := map[string]bool{"": true}
			for _, tag := range r.Tags {
				if !once[tag] {
					tags = append(tags, []any{c.workspace, []byte(r.ID), []byte(tag)})
				}
				once[tag] = true
			}
		}
		if c.unchanged = len(ids) == 0; c.unchanged {
			return nil
		}
		c.texts = true
		for _, text := range []string{
			"DELETE FROM metrics_record WHERE workspace = $1 AND id = ANY($2)",
			"DELETE FROM metrics_tag WHERE workspace = $1 AND record = ANY($2)",
		} {
			if _, err := c.tx.Exec(ctx, text, c.workspace, ids); err != nil {
				return err
			}
		}
		if _, err := c.tx.CopyFrom(ctx, pgx.Identifier{"metrics_record"}, []string{"workspace", "id", "kind", "name", "status", "objective", "type"}, pgx.CopyFromRows(kept)); err != nil {
			return err
		}
		_, err := c.tx.CopyFrom(ctx, pgx.Identifier{"metrics_tag"}, []string{"workspace", "record", "tag"}, pgx.CopyFromRows(tags))
		return err
	})
	if err != nil {
		return fmt.Errorf("mirror records: %w", err)
	}
	return nil
}
