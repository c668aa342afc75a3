package store

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"fanfare/internal/clock"
)

// readiness records whether writes fail.
type readiness struct {
	// failing is set if the database refuses a write, and cleared if a probe
	// succeeds.
	failing atomic.Bool
	mu      sync.Mutex
	// probed is the time of the last probe, err its result.
	probed time.Time
	err    error
}

// probeEvery limits how often a probe writes to a failing database, because any
// client can call the readiness check.
const probeEvery = time.Second

// Ready reports whether the database accepts reads and writes. While writes
// work, it runs a transaction that changes nothing; after a write failed, it
// runs a write.
func (db *DB) Ready(ctx context.Context) error {
	if !db.ready.failing.Load() {
		return toFault(db.engine.Write(ctx, func(tx Tx) error {
			_, err := tx.Query(`SELECT name FROM setting WHERE name = $1`, probeSetting)
			return err
		}))
	}
	r := &db.ready
	r.mu.Lock()
	defer r.mu.Unlock()
	if now := db.now(); now.Sub(r.probed).Abs() >= probeEvery {
		r.probed = now
		r.err = toFault(db.engine.Write(ctx, func(tx Tx) error {
			_, err := tx.Exec(upsertSetting, probeSetting, "", int64(clock.At(now)))
			return err
		}))
		if r.err == nil {
			r.failing.Store(false)
		}
	}
	return r.err
}

// probeSetting is the name of the setting that a probe writes.
const probeSetting = "ready"
