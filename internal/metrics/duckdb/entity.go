package duckdb

import (
	"context"
	"database/sql/driver"
	"fmt"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
)

// kinds are those of entities, by small numbers while a batch is read.
var kinds = []string{fact.KindCampaign, fact.KindCreative, fact.KindAudience}

const (
	kindCampaign = iota
	kindCreative
	kindAudience
)

type entityKey struct {
	connection int32
	kind       int32
	external   string
}

// seen are the entities that a batch names, numbered from 1.
type seen struct {
	connections map[string]int32
	ids         []string
	index       map[entityKey]int32
	list        []entity
}

type entity struct {
	entityKey
	key                int32
	name, record, part string
	// linked says that record and part hold even where they are empty.
	linked bool
}

func (s *seen) connection(id string) int32 {
	n, there := s.connections[id]
	if !there {
		n = int32(len(s.ids))
		s.connections[id] = n
		s.ids = append(s.ids, id)
	}
	return n
}

// add notes an entity. A later name or link of the same one wins, an empty one
// says nothing.
func (s *seen) add(connection, kind int32, e *fact.Entity) int32 {
	if !e.IsSet() {
		return 0
	}
	k := entityKey{connection, kind, e.Key()}
	n, there := s.index[k]
	if !there {
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
		known.part = string(e.VariantID)
	}
	return n
}

// link notes which record an entity is.
func (s *seen) link(l *fact.Link) {
	for kind, name := range kinds {
		if name != l.Kind {
			continue
		}
		if n := s.add(s.connection(string(l.Connection)), int32(kind), &l.Entity); n > 0 {
			e := &s.list[n-1]
			e.record, e.part, e.linked = string(l.Entity.Record), string(l.Entity.VariantID), true
		}
	}
}

// entities finds the file's numbers for those of a batch, and brings names and
// links up to date.
func (t *change) entities(ctx context.Context, s *seen) ([]int32, error) {
	numbers := make([]int32, len(s.list)+1)
	if len(s.list) == 0 {
		return numbers, nil
	}
	if err := t.c.scratch(ctx, "seen", "n INTEGER, connection VARCHAR, kind VARCHAR, external VARCHAR"); err != nil {
		return nil, err
	}
	err := t.c.appendTo(ctx, "temp", "seen", len(s.list), 4, func(i int, row []driver.Value) {
		e := &s.list[i]
		row[0], row[1], row[2], row[3] = int32(i+1), s.ids[e.connection], kinds[e.kind], e.external
	})
	if err != nil {
		return nil, err
	}
	same := make([]bool, len(numbers))
	var old []int32
	err = t.c.query(ctx, func(row []driver.Value) error {
		n, key, name, record, part := row[0].(int32), row[1].(int32), row[2].(string), row[3].(string), row[4].(string)
		e := &s.list[n-1]
		e.key = key
		if e.name == "" {
			e.name = name
		}
		if e.record == "" && !e.linked {
			e.record = record
		}
		if e.part == "" && !e.linked {
			e.part = part
		}
		if same[n] = e.name == name && e.record == record && e.part == part; !same[n] {
			old = append(old, key)
		}
		return nil
	}, `SELECT s.n, e.key, e.name, e.record, e.part FROM temp.seen s JOIN entity e
		ON e.workspace = ? AND e.connection = s.connection AND e.kind = s.kind AND e.external = s.external`, t.w.key)
	if err != nil {
		return nil, err
	}
	if len(old) > 0 {
		t.w.texts, t.shifts = nil, true
		if _, err := t.c.exec(ctx, "DELETE FROM entity WHERE workspace = ? AND key IN (SELECT unnest(?::INTEGER[]))", t.w.key, old); err != nil {
			return nil, err
		}
	}
	var changed []*entity
	for i := range s.list {
		e := &s.list[i]
		if e.key == 0 {
			e.key = t.e.next.entity
			t.e.next.entity++
		}
		numbers[i+1] = e.key
		if !same[i+1] {
			changed = append(changed, e)
		}
	}
	return numbers, t.c.appendTo(ctx, "", "entity", len(changed), 8, func(i int, row []driver.Value) {
		e := changed[i]
		row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7] = e.key, t.w.key, s.ids[e.connection], kinds[e.kind], e.external, e.name, e.record, e.part
	})
}

// Mirror notes how records look now. Tags that a record has no more are gone.
func (e *Engine) Mirror(ctx context.Context, id ident.ID, records []fact.Record, through clock.Instant) error {
	err := e.write(ctx, id, 0, func(t *change) error {
		t.w.mirrored = through
		// The last of several with one id is the one that counts.
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
		if t.same = len(ids) == 0; t.same {
			return nil
		}
		t.w.texts, t.shifts = nil, true
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
