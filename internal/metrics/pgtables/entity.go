package pgtables

import (
	"context"

	"github.com/jackc/pgx/v5"

	"fanfare/internal/fact"
	"fanfare/internal/ident"
	"fanfare/internal/metrics/numbers"
)

// numberEntities returns the keys of a batch's entities by their number, and
// stores new names and links.
func (c *Change) numberEntities(ctx context.Context, s *numbers.BatchEntities) ([]int32, error) {
	keys := make([]int32, len(s.List)+1)
	if len(s.List) == 0 {
		return keys, nil
	}
	if err := c.findEntities(ctx, s); err != nil {
		return nil, err
	}
	var changed []numbers.BatchEntity
	for i := range s.List {
		e := &s.List[i]
		if e.Key == 0 {
			e.Key = c.nextEntity
			c.nextEntity++
		}
		keys[i+1] = e.Key
		if !e.Stored {
			changed = append(changed, *e)
		}
	}
	if len(changed) == 0 {
		return keys, nil
	}
	c.texts = true
	number, kind, texts := make([]int32, len(changed)), make([]int16, len(changed)), [5][][]byte{}
	for i := range changed {
		e := &changed[i]
		number[i], kind[i] = e.Key, int16(e.Kind)
		for j, text := range []string{e.Connection, e.External, e.Name, e.Record, e.Variant} {
			texts[j] = append(texts[j], []byte(text))
		}
	}
	_, err := c.Tx.Exec(ctx, `INSERT INTO metrics_entity (workspace, key, kind, connection, external, name, record, variant)
		SELECT $1, * FROM unnest($2::int4[], $3::int2[], $4::bytea[], $5::bytea[], $6::bytea[], $7::bytea[], $8::bytea[])
		ON CONFLICT (workspace, key) DO UPDATE SET name = excluded.name, record = excluded.record, variant = excluded.variant`,
		c.Workspace, number, kind, texts[0], texts[1], texts[2], texts[3], texts[4])
	return keys, err
}

// findEntities completes entities with the stored ones.
func (c *Change) findEntities(ctx context.Context, s *numbers.BatchEntities) error {
	connections, kinds, externals := make([][]byte, len(s.List)), make([]int16, len(s.List)), make([][]byte, len(s.List))
	for i := range s.List {
		connections[i], kinds[i], externals[i] = []byte(s.List[i].Connection), int16(s.List[i].Kind), []byte(s.List[i].External)
	}
	rows, err := c.Tx.Query(ctx, `SELECT s.n, e.key, e.name, e.record, e.variant
		FROM unnest($2::bytea[], $3::int2[], $4::bytea[]) WITH ORDINALITY AS s(connection, kind, external, n)
		JOIN metrics_entity e ON e.workspace = $1 AND e.kind = s.kind AND sha256(e.connection) = sha256(s.connection) AND sha256(e.external) = sha256(s.external)`,
		c.Workspace, connections, kinds, externals)
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

// Mirror stores copies of records and deletes old tags.
func (c *Change) Mirror(ctx context.Context, records []fact.Record) error {
	// The last of several records with one id counts.
	last := map[ident.ID]int{}
	for i, r := range records {
		last[r.ID] = i
	}
	var kept [6][][]byte
	var tagged, tags [][]byte
	for i := range records {
		r := &records[i]
		if last[r.ID] != i {
			continue
		}
		for j, text := range []string{string(r.ID), r.Kind, r.Name, r.Status, r.Objective, r.Type} {
			kept[j] = append(kept[j], []byte(text))
		}
		once := map[string]bool{"": true}
		for _, tag := range r.Tags {
			if !once[tag] {
				tagged, tags = append(tagged, []byte(r.ID)), append(tags, []byte(tag))
			}
			once[tag] = true
		}
	}
	if c.Unchanged = len(records) == 0; c.Unchanged {
		return nil
	}
	c.texts = true
	return c.mirror(ctx, kept, tagged, tags)
}

// mirror replaces records, given as columns, and their tags.
func (c *Change) mirror(ctx context.Context, records [6][][]byte, tagged, tags [][]byte) error {
	if _, err := c.Tx.Exec(ctx, `INSERT INTO metrics_record (workspace, id, kind, name, status, objective, type)
		SELECT $1, * FROM unnest($2::bytea[], $3::bytea[], $4::bytea[], $5::bytea[], $6::bytea[], $7::bytea[])
		ON CONFLICT (workspace, id) DO UPDATE SET kind = excluded.kind, name = excluded.name, status = excluded.status, objective = excluded.objective, type = excluded.type`,
		c.Workspace, records[0], records[1], records[2], records[3], records[4], records[5]); err != nil {
		return err
	}
	if _, err := c.Tx.Exec(ctx, "DELETE FROM metrics_tag WHERE workspace = $1 AND record = ANY($2)", c.Workspace, records[0]); err != nil {
		return err
	}
	_, err := c.Tx.Exec(ctx, "INSERT INTO metrics_tag (workspace, record, tag) SELECT $1, * FROM unnest($2::bytea[], $3::bytea[])", c.Workspace, tagged, tags)
	return err
}
