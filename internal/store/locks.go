package store

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"sync"
	"time"

	"fanfare/internal/clock"
)

// locks has the names that this node holds or waits for in the database. The
// channel is closed at the end.
type locks struct {
	mu   sync.Mutex
	held map[string]chan struct{}
}

var lockTable = newTable(table{
	name: "worker_lock", key: []string{"name"}, columns: names("name", "holder", "ends_at"), transient: true,
})

// takeLock takes a lock that is free, or whose holder did not extend it in
// time.
var takeLock = lockTable.insert + `
ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, ends_at = excluded.ends_at WHERE worker_lock.ends_at <= $4`

const (
	// lockTime is how long a lock lasts after its node has ended. A node that
	// works extends its locks three times in it.
	lockTime = 30 * time.Second
	// lockRetry is how often a node tries to take a lock of another node.
	lockRetry = 100 * time.Millisecond
	// unlockTime limits the release of a lock.
	unlockTime = 5 * time.Second
)

// Lock waits until no other worker, on this node or another, has the lock of
// this name. The context that it returns ends with ctx, or when the lock could
// not be extended in time. Call unlock at the end.
func (db *DB) Lock(ctx context.Context, name string) (held context.Context, unlock func(), err error) {
	free, err := db.locks.takeName(ctx, name)
	if err != nil {
		return nil, nil, fmt.Errorf("lock %s: %w", name, err)
	}
	held, cancel := context.WithCancel(ctx)
	if db.engine.Traits().Exclusive {
		return held, func() { cancel(); free() }, nil
	}
	holder, err := db.lockShared(ctx, name)
	if err != nil {
		cancel()
		free()
		return nil, nil, fmt.Errorf("lock %s: %w", name, err)
	}
	extended := make(chan struct{})
	go func() {
		defer close(extended)
		db.extendLock(held, cancel, name, holder)
	}()
	return held, func() {
		cancel()
		<-extended
		db.unlockShared(ctx, name, holder)
		free()
	}, nil
}

// takeName waits for a name on this node. The returned function frees it.
func (l *locks) takeName(ctx context.Context, name string) (free func(), err error) {
	for {
		l.mu.Lock()
		other, taken := l.held[name]
		if !taken {
			if l.held == nil {
				l.held = map[string]chan struct{}{}
			}
			done := make(chan struct{})
			l.held[name] = done
			l.mu.Unlock()
			return func() {
				l.mu.Lock()
				defer l.mu.Unlock()
				delete(l.held, name)
				close(done)
			}, nil
		}
		l.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// lockShared waits for a lock in the database and returns the name of its holder.
func (db *DB) lockShared(ctx context.Context, name string) (holder string, err error) {
	id := make([]byte, 16)
	if _, err := io.ReadFull(db.random, id); err != nil {
		return "", fmt.Errorf("name the holder: %w", err)
	}
	holder = hex.EncodeToString(id)
	retry := time.NewTicker(lockRetry)
	defer retry.Stop()
	for {
		taken := int64(0)
		err := db.writeTx(ctx, func(tx Tx) (err error) {
			now := clock.At(db.now())
			taken, err = tx.Exec(takeLock, name, holder, int64(now.Add(lockTime)), int64(now))
			return err
		})
		if err != nil || taken > 0 {
			return holder, err
		}
		select {
		case <-retry.C:
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

// extendLock extends a lock until ctx ends, and ends ctx if it cannot.
func (db *DB) extendLock(ctx context.Context, lost func(), name, holder string) {
	tick := time.NewTicker(lockTime / 3)
	defer tick.Stop()
	for ends := db.now().Add(lockTime); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := db.now()
		held, err := db.moveLockEnd(ctx, name, holder, now.Add(lockTime))
		switch {
		case err == nil && held:
			ends = now.Add(lockTime)
		case err == nil, !db.now().Add(lockTime / 3).Before(ends):
			lost()
			return
		}
	}
}

// moveLockEnd sets the end of a lock, and reports whether the holder has it.
func (db *DB) moveLockEnd(ctx context.Context, name, holder string, end time.Time) (held bool, err error) {
	err = db.writeTx(ctx, func(tx Tx) error {
		n, err := tx.Exec(`UPDATE worker_lock SET ends_at = $1 WHERE name = $2 AND holder = $3`, int64(clock.At(end)), name, holder)
		held = n > 0
		return err
	})
	return held, err
}

// unlockShared removes a lock. If it fails, the lock ends by itself.
func (db *DB) unlockShared(ctx context.Context, name, holder string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), unlockTime)
	defer cancel()
	_ = db.writeAsync(ctx, func(tx Tx) error {
		_, err := tx.Exec(`DELETE FROM worker_lock WHERE name = $1 AND holder = $2`, name, holder)
		return err
	})
}
