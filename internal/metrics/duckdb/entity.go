package duckdb

import (
	"context"
	"database/sql/driver"
	"fmt"
	"slices"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
	"fanfare/internal/metrics/numbers"
)

// entities returns the keys of a batch's entities and updates names and links.
func (t *change) entities(ctx context.Context, s *numbers.BatchEntities) ([]int32, error) {
	keys := make([]int32, len(s.List)+1)
	if len(s.List) == 0 {
		return keys, nil
	}
	if err := t.c.temporaryTable(ctx, "seen", "n INTEGER, connection VARCHAR, kind VARCHAR, external VARCHAR"); err != nil {
		return nil, err
	}
	err := t.c.appendTo(ctx, "temp", "seen", len(s.List), 4, func(i int, row []driver.Value) {
		e := &s.List[i]
		row[0], row[1], row[2], row[3] = int32(i+1), e.Connection, numbers.Kinds[e.Kind], e.External
	})
	if err != nil {
		return nil, err
	}
	var old []int32
	err = t.c.query(ctx, func(row []driver.Value) error {
		n, key, name, record, part := row[0].(int32), row[1].(int32), row[2].(string), row[3].(string), row[4].(string)
		e := &s.List[n-1]
		if e.Merge(key, name, record, part); !e.Stored {
			old = append(old, key)
			t.changedTexts[e.Kind] = true
		}
		return nil
	}, `SELECT s.n, e.key, e.name, e.record, e.part FROM temp.seen s JOIN entity e
		ON e.workspace = ? AND e.connection = s.connection AND e.kind = s.kind AND e.external = s.external`, t.w.key)
	if err != nil {
		return nil, err
	}
	if len(old) > 0 {
		if _, err := t.c.exec(ctx, "DELETE FROM entity WHERE workspace = ? AND key IN (SELECT unnest(?::INTEGER[]))", t.w.key, old); err != nil {
			return nil, err
		}
	}
	var changed []*numbers.BatchEntity
	for i := range s.List {
		e := &s.List[i]
		if e.Key == 0 {
			e.Key = t.e.next.entity
			t.e.next.entity++
			t.addedTexts[e.Kind] = true
		}
		keys[i+1] = e.Key
		if !e.Stored {
			changed = append(changed, e)
		}
	}
	return keys, t.c.appendTo(ctx, "", "entity", len(changed), 8, func(i int, row []driver.Value) {
		e := changed[i]
		row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7] = e.Key, t.w.key, e.Connection, numbers.Kinds[e.Kind], e.External, e.Name, e.Record, e.Variant
	})
}

// Mirror stores copies of records and removes old tags.
func (e *Engine) Mirror(ctx context.Context, id ident.ID, records []fact.Record, through clock.Instant) error {
	err := e.changeWorkspace(ctx, id, 0, func(t *change) error {
		t.w.mirrored = through
		// Of several records with one id the last one counts.
		index := map[ident.ID]int{}
		for i, r := range records {
			index[r.ID] = i
		}
		var ids []string
		var kept []*fact.Record
		var tags [][2]string
		for i := range records {
			r := &records[i]
			if index[r.ID] != i {
				continue
			}
			ids, kept = append(ids, string(r.ID)), append(kept, r)
			once := map[string]bool{}
			for _, tag := range r.Tags {
				if tag != "" && !once[tag] {
					tags = append(tags, [2]string{string(r.ID), tag})
				}
				once[tag] = true
			}
		}
		if t.unchanged = len(ids) == 0; t.unchanged {
			return nil
		}
		for kind, name := range numbers.Kinds {
			t.changedTexts[kind] = slices.ContainsFunc(kept, func(r *fact.Record) bool { return r.Kind == name })
		}
		for _, text := range []string{
			"DELETE FROM record WHERE workspace = ? AND id IN (SELECT unnest(?::VARCHAR[]))",
			"DELETE FROM tag WHERE workspace = ? AND record IN (SELECT unnest(?::VARCHAR[]))",
		} {
			if _, err := t.c.exec(ctx, text, t.w.key, ids); err != nil {
				return err
			}
		}
		if err := t.c.appendTo(ctx, "", "record", len(kept), 7, func(i int, row []driver.Value) {
			r := kept[i]
			row[0], row[1], row[2], row[3], row[4], row[5], row[6] = t.w.key, string(r.ID), r.Kind, r.Name, r.Status, r.Objective, r.Type
		}); err != nil {
			return err
		}
		return t.c.appendTo(ctx, "", "tag", len(tags), 3, func(i int, row []driver.Value) {
			row[0], row[1], row[2] = t.w.key, tags[i][0], tags[i][1]
		})
	})
	if err != nil {
		return fmt.Errorf("mirror records: %w", err)
	}
	return nil
}
