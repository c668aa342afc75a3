package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"

	"fanfare/internal/fault"
	"fanfare/internal/fresh"
	"fanfare/internal/record"
)

// DB is the record store over one engine.
type DB struct {
	engine Engine
	now    func() time.Time
	random io.Reader
	docs   *fresh.Cache[string, record.Doc]
	ready  readiness
	// facts, if set, returns the id and the generation of the facts file.
	// recorded is the last mark that a committed transaction stored.
	facts    func() (FactsMark, bool)
	recorded atomic.Pointer[FactsMark]
	// changes, if set, counts acknowledged changes in a file outside the
	// database.
	changes *changeCounter
	locks   locks

	// hooks guards the lists: on a shared engine, notifications can arrive
	// during registration.
	hooks  sync.RWMutex
	onAuth []func()
	onJob  []func()
}

// Topics that are sent to every node.
const (
	topicAuth = TopicBroadcast + "auth"
	topicJob  = TopicBroadcast + "job"
	topicAll  = TopicBroadcast + "all"
)

// New creates the store. cached is the number of records that it may cache. On
// a shared engine it caches none, because other nodes write to the database and
// a cached record could be outdated.
func New(e Engine, cached int, now func() time.Time, random io.Reader) *DB {
	db := &DB{engine: e, now: now, random: random}
	if e.Traits().Exclusive && cached > 0 {
		db.docs = fresh.New[string, record.Doc](cached, 0, now)
	}
	e.Watch(db)
	return db
}

// OnAuth registers a function that runs after accounts changed on any node.
func (db *DB) OnAuth(f func()) { db.register(&db.onAuth, f) }

// OnJob registers a function that runs when new background jobs may exist.
func (db *DB) OnJob(f func()) { db.register(&db.onJob, f) }

func (db *DB) register(list *[]func(), f func()) {
	db.hooks.Lock()
	defer db.hooks.Unlock()
	*list = append(*list, f)
}

// Committing implements Watcher.
func (db *DB) Committing(topics []string) {
	if db.docs == nil {
		return
	}
	for _, topic := range topics {
		if !strings.HasPrefix(topic, TopicBroadcast) {
			db.docs.Committing(topic)
		}
	}
}

// Committed implements Watcher.
func (db *DB) Committed(topics []string) {
	auth, jobs := false, false
	for _, topic := range topics {
		switch topic {
		case topicAuth:
			auth = true
		case topicJob:
			jobs = true
		case topicAll:
			auth, jobs = true, true
		default:
			if db.docs != nil {
				db.docs.Committed(topic)
			}
		}
	}
	if auth {
		db.call(&db.onAuth)
	}
	if jobs {
		db.call(&db.onJob)
	}
}

func (db *DB) call(list *[]func()) {
	db.hooks.RLock()
	defer db.hooks.RUnlock()
	for _, f := range *list {
		f()
	}
}

// Skew returns how far the database's clock is ahead of this process's clock.
func (db *DB) Skew(ctx context.Context) (time.Duration, error) {
	q := db.engine.Traits().Clock
	if q == "" {
		return 0, nil
	}
	rows, err := db.engine.Query(ctx, q)
	if err != nil {
		return 0, fmt.Errorf("read database clock: %w", err)
	}
	rows.Next()
	return time.UnixMicro(rows.Int()).Sub(db.now()), nil
}

// writeTx runs a transaction and maps database errors to faults.
func (db *DB) writeTx(ctx context.Context, fn func(Tx) error) error {
	var entries int64
	var recorded *FactsMark
	err := db.engine.Write(ctx, func(tx Tx) error {
		w := &countingTx{Tx: tx}
		err := fn(w)
		entries = w.entries
		if err == nil {
			recorded, err = db.recordFactsMark(tx)
		}
		return err
	})
	if err == nil && entries > 0 && db.changes != nil {
		db.changes.add(entries)
	}
	if err == nil && recorded != nil {
		db.recorded.Store(recorded)
	}
	if errors.Is(err, ErrUnavailable) {
		db.ready.failing.Store(true)
	}
	return toFault(err)
}

// writeAsync runs a transaction that a crash may undo within its last second.
func (db *DB) writeAsync(ctx context.Context, fn func(Tx) error) error {
	err := db.engine.WriteAsync(ctx, fn)
	if errors.Is(err, ErrUnavailable) {
		db.ready.failing.Store(true)
	}
	return toFault(err)
}

// toFault maps database errors to faults, by type and never by text.
func toFault(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.As(err, new(*fault.Error)):
		return err
	case errors.Is(err, context.DeadlineExceeded):
		return fault.New(fault.Timeout, "The request took too long and was stopped; nothing was changed. Try again.").Because(err)
	case errors.Is(err, ErrOverwritten):
		f := fault.New(fault.Unavailable, "Another program has overwritten the database file of this server; everything is refused, because nothing in it can be trusted. The operator stops the server, moves the database files away and restores the last good backup with `fanfare backup restore`; `fanfare doctor` names the file.").Because(err)
		f.RetryAfter = time.Minute
		return f
	case errors.Is(err, ErrDamaged):
		f := fault.New(fault.Unavailable, "The database file of this server is damaged; changes are refused so that the damage does not spread, and so are lists, which may lack records. The operator finds what is damaged with `fanfare doctor` and restores the last good backup with `fanfare backup restore`.").Because(err)
		f.RetryAfter = time.Minute
		return f
	case errors.Is(err, ErrDisplaced):
		f := fault.New(fault.Unavailable, "The database file of this server was removed or replaced while the server runs; changes are refused because they would be lost. The operator puts the same file back with `mv`, which needs no restart, or stops the server and restores the last good backup with `fanfare backup restore`; `fanfare doctor` names the file.").Because(err)
		f.RetryAfter = time.Minute
		return f
	case errors.Is(err, ErrFactsMoved):
		return fault.New(fault.Unavailable, "Another node has taken over the metrics. Send the request there.").Because(err)
	case errors.Is(err, ErrUnavailable):
		f := fault.New(fault.Unavailable, "The service cannot reach its storage at the moment. Try again shortly.").Because(err)
		f.RetryAfter = time.Second
		return f
	}
	return err
}

func encode(v any) ([]byte, error) {
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("encode record: %w", err)
	}
	return b, nil
}

func decode(b []byte, v any) error {
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("decode record: %w", err)
	}
	return nil
}
