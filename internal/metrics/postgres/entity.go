package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
)

// kinds are the kinds of entities by number.
var kinds = []string{fact.KindCampaign, fact.KindCreative, fact.KindAudience}

const (
	kindCampaign = iota
	kindCreative
	kindAudience
)

type entityKey struct {
	connection string
	kind       int16
	external   string
}

type entity struct {
	entityKey
	key                   int32
	name, record, variant string
	// linked means that record and variant apply even if they are empty.
	linked bool
	// stored means that the database has all of it.
	stored bool
}

// entities are those that a batch names, numbered from 1.
type entities struct {
	index map[entityKey]int32
	list  []entity
}

func newEntities() *entities { return &entities{index: map[entityKey]int32{}} }

// add returns the number of an entity, 0 if the row has none. A later name or
// record replaces an earlier one unless it is empty.
func (s *entities) add(connection string, kind int16, e *fact.Entity) int32 {
	if !e.IsSet() {
		return 0
	}
	k := entityKey{connection, kind, e.Key()}
	n, found := s.index[k]
	if !found {
		s.list = append(s.list, entity{entityKey: k})
		n = int32(len(s.list))
		s.index[k] = n
	}
	known := &s.list[n-1]
	if e.Name != "" {
		known.name = e.Name
	}
	if e.Record != "" {
		known.record = string(e.Record)
	}
	if e.VariantID != "" {
		known.variant = string(e.VariantID)
	}
	return n
}

// link sets or removes the record of an entity.
func (s *entities) link(l *fact.Link) {
	for kind, name := range kinds {
		if name != l.Kind {
			continue
		}
		if n := s.add(string(l.Connection), int16(kind), &l.Entity); n > 0 {
			e := &s.list[n-1]
			e.record, e.variant, e.linked = string(l.Entity.Record), string(l.Entity.VariantID), true
		}
	}
}

// numberEntities returns the keys of a batch's entities by their number, and
// stores new names and links.
func (c *change) numberEntities(ctx context.Context, s *entities) ([]int32, error) {
	keys := make([]int32, len(s.list)+1)
	if len(s.list) == 0 {
		return keys, nil
	}
	if err := c.findEntities(ctx, s); err != nil {
		return nil, err
	}
	var changed [][]any
	for i := range s.list {
		e := &s.list[i]
		if e.key == 0 {
			e.key = c.nextEntity
			c.nextEntity++
		}
		keys[i+1] = e.key
		if !e.stored {
			changed = append(changed, []any{c.workspace, e.key, []byte(e.connection), e.kind, []byte(e.external), []byte(e.name), []byte(e.record), []byte(e.variant)})
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
func (c *change) findEntities(ctx context.Context, s *entities) error {
	connections, kinds, externals := make([][]byte, len(s.list)), make([]int16, len(s.list)), make([][]byte, len(s.list))
	for i := range s.list {
		connections[i], kinds[i], externals[i] = []byte(s.list[i].connection), s.list[i].kind, []byte(s.list[i].external)
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
		e := &s.list[n-1]
		e.key = key
		if e.name == "" {
			e.name = string(name)
		}
		if e.record == "" && !e.linked {
			e.record = string(record)
		}
		if e.variant == "" && !e.linked {
			e.variant = string(variant)
		}
		e.stored = e.name == string(name) && e.record == string(record) && e.variant == string(variant)
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
