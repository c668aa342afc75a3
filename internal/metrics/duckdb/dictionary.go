package duckdb

import (
	"context"
	"database/sql/driver"
	"fmt"
	"maps"
	"sync"

	"fanfare/internal/analytics"
)

// maxTold is how many entities of all workspaces are remembered: about 200
// bytes each.
const maxTold = 300_000

// dictionary remembers what entities of a workspace are called. Texts are what
// takes longest to find and to read of a group, and the same ones are asked for
// again and again. It holds from one change of texts to the next, which begins
// another.
type dictionary struct {
	mu    sync.RWMutex
	known map[int32]analytics.Value
}

func newDictionary() *dictionary {
	return &dictionary{known: map[int32]analytics.Value{0: {Null: true}}}
}

// find fills in the values of entities that it knows and returns the others.
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

// note remembers values.
func (d *dictionary) note(values map[int32]analytics.Value) {
	d.mu.Lock()
	defer d.mu.Unlock()
	maps.Copy(d.known, values)
}

// tell returns the values of entities.
func (e *Engine) tell(ctx context.Context, w *workspace, entities []int32) ([]analytics.Value, error) {
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
	e.remember(w, found)
	return values, nil
}

// remember notes what was found. When that is too much of all workspaces, it
// begins again with this.
func (e *Engine) remember(w *workspace, found map[int32]analytics.Value) {
	if told := e.told.Add(int64(len(found))); told > maxTold {
		e.mu.Lock()
		for _, known := range e.known {
			if known != nil && known.texts != nil {
				known.texts.forget()
			}
		}
		e.mu.Unlock()
		e.told.Store(int64(len(found)))
	}
	w.texts.note(found)
}

func (d *dictionary) forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	clear(d.known)
	d.known[0] = analytics.Value{Null: true}
}
