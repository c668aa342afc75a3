package duckdb

import (
	"context"
	"database/sql/driver"
	"fmt"
	"maps"
	"sync"

	"fanfare/internal/analytics"
)

// maxCachedNames is the number of entities of all workspaces whose names are
// cached, at about 200 bytes each.
const maxCachedNames = 300_000

// dictionary caches the names of a workspace's entities, because reading them is
// the slowest part of a query. A write that changes names starts a new one.
type dictionary struct {
	mu    sync.RWMutex
	known map[int32]analytics.Value
}

func newDictionary() *dictionary {
	return &dictionary{known: map[int32]analytics.Value{0: {Null: true}}}
}

// find sets the values of cached entities and returns the others.
func (d *dictionary) find(entities []int32, values []analytics.Value) (missing []int32) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	for i, key := range entities {
		v, there := d.known[key]
		if !there {
			missing, v.Null = append(missing, key), true
		}
		values[i] = v
	}
	return missing
}

func (d *dictionary) add(values map[int32]analytics.Value) {
	d.mu.Lock()
	defer d.mu.Unlock()
	maps.Copy(d.known, values)
}

// entityValues returns the values of entities.
func (e *Engine) entityValues(ctx context.Context, w *workspace, entities []int32) ([]analytics.Value, error) {
	values := make([]analytics.Value, len(entities))
	missing := w.texts.find(entities, values)
	if len(missing) == 0 {
		return values, nil
	}
	found := make(map[int32]analytics.Value, len(missing))
	err := e.pool.use(ctx, func(c *conn) error {
		return c.query(ctx, func(row []driver.Value) error {
			var v analytics.Value
			v.ID, _ = row[1].(string)
			if v.Null = v.ID == ""; v.Null {
				v.External, _ = row[2].(string)
			}
			v.Label, _ = row[3].(string)
			found[row[0].(int32)] = v
			return nil
		}, "SELECT key, id, external, name FROM described WHERE workspace = ? AND key IN (SELECT unnest(?::INTEGER[]))", w.key, missing)
	})
	if err != nil {
		return nil, fmt.Errorf("read names: %w", err)
	}
	for i, key := range entities {
		if v, there := found[key]; there {
			values[i] = v
		}
	}
	e.cacheNames(w, found)
	return values, nil
}

// cacheNames adds found names. Above maxCachedNames it first empties all caches.
func (e *Engine) cacheNames(w *workspace, found map[int32]analytics.Value) {
	if n := e.cachedNames.Add(int64(len(found))); n > maxCachedNames {
		e.mu.Lock()
		for _, known := range e.known {
			if known != nil && known.texts != nil {
				known.texts.clear()
			}
		}
		e.mu.Unlock()
		e.cachedNames.Store(int64(len(found)))
	}
	w.texts.add(found)
}

func (d *dictionary) clear() {
	d.mu.Lock()
	defer d.mu.Unlock()
	clear(d.known)
	d.known[0] = analytics.Value{Null: true}
}
