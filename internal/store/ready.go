package store

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"fanfare/internal/clock"
)

// readiness remembers whether writes fail.
type readiness struct {
	// failing is set by a write that the database refused, and cleared by a
	// probe that it accepted.
	failing atomic.Bool
	mu      sync.Mutex
	// probed is when the last probe was, and err what came of it.
	probed time.Time
	err    error
}

// probeEvery bounds how often a failing database is written to in order to see
// whether it works again: anybody may ask whether the node is ready.
const probeEvery = time.Second

// Ready reports whether the database takes reads and writes. While writes work
// it costs a transaction that changes nothing; after one has failed, a write.
func (db *DB) Ready(ctx context.Context) error {
	if !db.ready.failing.Load() {
		return translate(db.engine.Write(ctx, func(tx Tx) error {
			_, err := tx.Query(`SELECT name FROM setting WHERE name = $1`, probeSetting)
			return err
		}))
	}
	r := &db.ready
	r.mu.Lock()
	defer r.mu.Unlock()
	if now := db.now(); now.Sub(r.probed).Abs() >= probeEvery {
		r.probed = now
		r.err = translate(db.engine.Write(ctx, func(tx Tx) error {
			_, err := tx.Exec(upsertSetting, probeSetting, "", int64(clock.At(now)))
			return err
		}))
		if r.err == nil {
			r.failing.Store(false)
		}
	}
	return r.err
}

// probeSetting is what a probe writes.
const probeSetting = "ready"
