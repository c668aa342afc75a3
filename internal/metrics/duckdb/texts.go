package duckdb

import (
	"context"
	"database/sql/driver"
	"fmt"
	"sync"
	"sync/atomic"

	"fanfare/internal/analytics"
	"fanfare/internal/metrics/numbers"
)

// maxCachedEntities is the number of entities of all workspaces whose texts are
// cached, at about 300 bytes each.
const maxCachedEntities = 300_000

// kindTexts has the texts of a workspace's entities of one kind. They are read
// when a query first needs them. A write that changes one, or adds an entity,
// replaces the kindTexts.
type kindTexts struct {
	// changed is the version in which a text was last changed. An added entity
	// changes no text.
	changed int64
	// ready is closed when the write that created it is visible or rolled back, nil
	// if no write did.
	ready <-chan struct{}

	loading sync.Mutex
	loaded  atomic.Pointer[entityList]
}

// entityList is never changed. Only campaigns have tags.
type entityList struct {
	entities []numbers.Entity
	tags     []string
}

// allTexts are the texts of each kind in numbers.Kinds.
type allTexts [len(numbers.Kinds)]*kindTexts

func newTexts() (t allTexts) {
	for kind := range t {
		t[kind] = &kindTexts{}
	}
	return t
}

// usedKinds are the kinds of entities that a plan needs the texts of.
type usedKinds [len(numbers.Kinds)]struct{ grouped, filtered bool }

func kindsOf(p *analytics.Plan) (used usedKinds) {
	for kind, name := range numbers.Kinds {
		used[kind].grouped, used[kind].filtered = numbers.GroupedBy(p, numbers.Column(name)), numbers.FilteredBy(p, numbers.Column(name))
	}
	return used
}

// waitForTexts waits for writes that change texts which a plan needs, so that its
// facts and texts are of one snapshot. It reports whether there was one.
func (w *workspace) waitForTexts(ctx context.Context, used usedKinds) (waited bool, err error) {
	for kind, t := range w.texts {
		if t.ready == nil || !used[kind].grouped && !used[kind].filtered {
			continue
		}
		select {
		case <-t.ready:
			continue
		default:
		}
		select {
		case <-t.ready:
			waited = true
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
	return waited, nil
}

// sameTexts reports whether the texts that a query used are still valid. An added
// entity matters to filters, and to groups if a fact has it.
func (w *workspace) sameTexts(now *workspace, used usedKinds, incomplete bool) bool {
	for kind := range used {
		was, is := w.texts[kind], now.texts[kind]
		switch {
		case was == is:
		case used[kind].filtered:
			return false
		case used[kind].grouped && (was.changed != is.changed || incomplete):
			return false
		}
	}
	return true
}

// textsFor returns the texts that a plan needs.
func (e *Engine) textsFor(ctx context.Context, w *workspace, words *words, used usedKinds) (*numbers.Texts, error) {
	t := &numbers.Texts{Words: words.text, Sources: w.sources}
	for kind := range used {
		if !used[kind].grouped && !used[kind].filtered {
			continue
		}
		list, err := e.entityTexts(ctx, w, kind)
		if err != nil {
			return nil, fmt.Errorf("read names: %w", err)
		}
		t.Entities[kind] = list.entities
		if kind == numbers.KindCampaign {
			t.Tags = list.tags
		}
	}
	return t, nil
}

func (e *Engine) entityTexts(ctx context.Context, w *workspace, kind int) (*entityList, error) {
	t := w.texts[kind]
	if list := t.loaded.Load(); list != nil {
		return list, nil
	}
	t.loading.Lock()
	defer t.loading.Unlock()
	if list := t.loaded.Load(); list != nil {
		return list, nil
	}
	var list *entityList
	err := e.pool.use(ctx, func(c *conn) error {
		return c.inTransaction(ctx, func() (err error) {
			list, err = loadEntities(ctx, c, w.key, kind)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	t.loaded.Store(list)
	e.dropTexts(w)
	return list, nil
}

// dropTexts drops the cached texts of all other workspaces if there are too many.
func (e *Engine) dropTexts(w *workspace) {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := 0
	for _, known := range e.known {
		if known == nil {
			continue
		}
		for _, t := range known.texts {
			if list := t.loaded.Load(); list != nil {
				n += len(list.entities)
			}
		}
	}
	if n <= e.maxCachedEntities {
		return
	}
	for _, known := range e.known {
		if known == nil || known.key == w.key {
			continue
		}
		for _, t := range known.texts {
			t.loaded.Store(nil)
		}
	}
}

// loadEntities reads the entities of a kind with their records.
func loadEntities(ctx context.Context, c *conn, workspace int32, kind int) (*entityList, error) {
	list, tags := &entityList{}, map[string][]int32{}
	if kind == numbers.KindCampaign {
		list.tags = []string{""}
		index := map[string]int32{}
		if err := c.query(ctx, func(row []driver.Value) error {
			record, tag := row[0].(string), row[1].(string)
			n, found := index[tag]
			if !found {
				n = int32(len(list.tags))
				index[tag] = n
				list.tags = append(list.tags, tag)
			}
			tags[record] = append(tags[record], n)
			return nil
		}, "SELECT record, tag FROM tag WHERE workspace = ? ORDER BY record, tag", workspace); err != nil {
			return nil, err
		}
		// An entity without a record has no tags.
		delete(tags, "")
	}
	err := c.query(ctx, func(row []driver.Value) error {
		text := func(i int) string { s, _ := row[i].(string); return s }
		list.entities = append(list.entities, numbers.Entity{
			Key: row[0].(int32), External: text(1), Name: text(2), Record: text(3), Variant: text(4),
			RecordName: text(5), Status: text(6), Objective: text(7), Type: text(8), Tags: tags[text(3)],
		})
		return nil
	}, `SELECT e.key, e.external, e.name, e.record, e.part, r.name, r.status, r.objective, r.type
		FROM entity e LEFT JOIN record r ON r.workspace = e.workspace AND r.id = e.record
		WHERE e.workspace = ? AND e.kind = ? ORDER BY e.key`, workspace, numbers.Kinds[kind])
	return list, err
}
