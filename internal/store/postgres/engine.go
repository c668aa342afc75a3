// Package postgres is the engine for several nodes that share one database.
// Each transaction has its own commit. Broadcast topics reach the other nodes
// as notifications that are sent with the commit. This package does not know
// the tables; package store has the records.
package postgres

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgxpool"

	"fanfare/internal/pgdriver"
	"fanfare/internal/secret"
	"fanfare/internal/store"
)

// Options configures an engine. The zero value is right for a server.
type Options struct {
	// MaxConns is the largest number of connections, by default 16 or
	// pool_max_conns of the URL.
	MaxConns int
	// Exclusive refuses a database that another process has open with this
	// package, and lets no other open it until Close.
	Exclusive bool
}

const (
	defaultConns = 16
	// commitWait is how long the response to a commit may take, even if the
	// caller has left: without it the outcome is unknown.
	commitWait = 15 * time.Second

	// setScope names the workspace of a transaction for row-level security.
	setScope = "SELECT set_config('fanfare.workspace', $1, true)"

	// migrationLock uses a number that nothing else in the database uses.
	migrationLock = "SELECT pg_advisory_xact_lock(6442019531157043553)"
	clock         = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint"
)

// The statements that begin a transaction.
var (
	beginWrite    = []string{"begin"}
	beginAsync    = []string{"begin", "set local synchronous_commit = off"}
	beginSnapshot = []string{"begin read only isolation level repeatable read"}
)

// IsURL reports whether a store setting names a PostgreSQL database.
func IsURL(setting string) bool {
	return strings.HasPrefix(setting, "postgres://") || strings.HasPrefix(setting, "postgresql://")
}

// Engine implements store.Engine on a PostgreSQL database.
type Engine struct {
	pool     *pgxpool.Pool
	watchers atomic.Pointer[[]store.Watcher]
	watching sync.Mutex
	stop     context.CancelFunc
	stopped  chan struct{}
	closing  sync.Once
}

var _ store.Engine = (*Engine)(nil)

// Open connects to the database at url and starts to listen to other nodes. Its
// errors name the address without the password.
func Open(ctx context.Context, url string, opt Options) (*Engine, error) {
	e, err := openEngine(ctx, url, opt)
	if err != nil {
		return nil, fmt.Errorf("open PostgreSQL at %s: %w", secret.RedactURL(url), err)
	}
	return e, nil
}

func openEngine(ctx context.Context, url string, opt Options) (*Engine, error) {
	config, err := pgdriver.ParseURL(url, defaultConns)
	if err != nil {
		return nil, err
	}
	if opt.MaxConns > 0 {
		config.MaxConns = int32(opt.MaxConns)
	}
	listen := config.ConnConfig.Copy()
	// The listener waits without a statement that could be canceled.
	listen.BuildContextWatcherHandler = func(c *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.DeadlineContextWatcherHandler{Conn: c.Conn()}
	}
	e := &Engine{stopped: make(chan struct{})}
	e.watchers.Store(new([]store.Watcher))
	if e.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, err
	}
	if err := pgdriver.CheckRole(ctx, e.pool); err != nil {
		e.pool.Close()
		return nil, classify(ctx, err, pgdriver.Lost(err))
	}
	l := &listener{config: listen, use: useShared, tell: e.committed}
	if opt.Exclusive {
		l.use = useAlone
	}
	if err := l.connect(ctx); err != nil {
		e.pool.Close()
		if pgdriver.LockTimeout(err) {
			return nil, store.ErrInUse
		}
		return nil, classify(ctx, err, true)
	}
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	e.stop = stop
	go func() {
		defer close(e.stopped)
		l.runLoop(background)
	}()
	return e, nil
}

// Query implements store.Engine.
func (e *Engine) Query(ctx context.Context, query string, args ...any) (*store.Rows, error) {
	c, err := e.acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer c.Release()
	r, err := queryInScope(ctx, c.Conn(), query, args)
	return r, classify(ctx, err, c.Conn().IsClosed())
}

// Write implements store.Engine. Until ctx ends, it runs fn again if the
// database aborted the transaction in favor of another.
func (e *Engine) Write(ctx context.Context, fn func(tx store.Tx) error) error {
	return e.writeTx(ctx, beginWrite, fn)
}

// WriteAsync implements store.Engine.
func (e *Engine) WriteAsync(ctx context.Context, fn func(tx store.Tx) error) error {
	return e.writeTx(ctx, beginAsync, fn)
}

// Snapshot implements store.Engine.
func (e *Engine) Snapshot(ctx context.Context, fn func(tx store.Tx) error) error {
	c, err := e.acquire(ctx)
	if err != nil {
		return err
	}
	defer c.Release()
	// The first statement after BEGIN chooses the snapshot; it sets the scope.
	if err := begin(ctx, c.Conn(), beginSnapshot); err != nil {
		return classify(ctx, err, c.Conn().IsClosed())
	}
	t := &tx{ctx: ctx, c: c.Conn()}
	err = store.RunTx(t, &t.err, fn)
	undo(ctx, c)
	return err
}

// Check implements store.Engine. It does nothing, because the server checks its
// files.
func (e *Engine) Check(context.Context, bool) error { return nil }

// Watch implements store.Engine.
func (e *Engine) Watch(w store.Watcher) {
	e.watching.Lock()
	defer e.watching.Unlock()
	all := append([]store.Watcher{w}, *e.watchers.Load()...)
	e.watchers.Store(&all)
}

// Traits implements store.Engine.
func (e *Engine) Traits() store.Traits {
	return store.Traits{
		Name: "postgres", ClaimLock: "FOR UPDATE SKIP LOCKED", RowLock: "FOR UPDATE", MigrationLock: migrationLock, Clock: clock,
	}
}

// Close stops listening and waits until all connections are returned.
func (e *Engine) Close() error {
	e.closing.Do(func() {
		e.stop()
		<-e.stopped
		e.pool.Close()
	})
	return nil
}

func (e *Engine) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c, err := e.pool.Acquire(ctx)
	return c, classify(ctx, err, true)
}

func (e *Engine) writeTx(ctx context.Context, statements []string, fn func(store.Tx) error) error {
	for try := 1; ; try++ {
		again, err := e.attempt(ctx, statements, fn)
		if !again {
			return err
		}
		if !pause(ctx, time.Millisecond<<min(try, 6)) {
			return ctx.Err()
		}
	}
}

// pause waits for a random time up to the limit, so that two transactions in
// conflict do not conflict again. It returns false if ctx ended.
func pause(ctx context.Context, limit time.Duration) bool {
	timer := time.NewTimer(rand.N(limit))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// attempt runs the transaction once. It reports whether to retry: only if
// nothing of the transaction can remain.
func (e *Engine) attempt(ctx context.Context, statements []string, fn func(store.Tx) error) (again bool, err error) {
	c, err := e.acquire(ctx)
	if err != nil {
		return false, err
	}
	defer c.Release()
	if err := begin(ctx, c.Conn(), statements); err != nil {
		return false, classify(ctx, err, c.Conn().IsClosed())
	}
	t := &tx{ctx: ctx, c: c.Conn()}
	err = store.RunTx(t, &t.err, fn)
	if err == nil {
		err = t.notify()
	}
	if err != nil {
		undo(ctx, c)
		return pgdriver.Aborted(t.cause), err
	}
	e.committing(t.topics)
	defer e.committed(t.topics)
	err = commit(ctx, c)
	return pgdriver.Aborted(err), err
}

// begin begins a transaction in the scope of ctx, in one round trip.
func begin(ctx context.Context, c *pgx.Conn, statements []string) error {
	var b pgx.Batch
	for _, text := range statements {
		b.Queue(text)
	}
	b.Queue(setScope, store.Scope(ctx))
	return c.SendBatch(ctx, &b).Close()
}

// commit reports as unavailable whatever leaves the outcome open.
func commit(ctx context.Context, c *pgxpool.Conn) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitWait)
	defer cancel()
	replicated := pgdriver.WatchCommit(c.Conn())
	tag, err := c.Exec(ctx, "commit")
	if err == nil {
		err = replicated()
	}
	if err == nil && tag.String() != "COMMIT" {
		return fmt.Errorf("postgres: commit ended in %s", tag)
	}
	if err == nil || pgdriver.Aborted(err) {
		return err
	}
	if pgdriver.Constraint(err) {
		return classify(ctx, err, false)
	}
	return fmt.Errorf("%w: the outcome of a commit is not known: %w", store.ErrUnavailable, err)
}

// undo rolls back. When that fails the connection is dropped by its release,
// and the transaction with it.
func undo(ctx context.Context, c *pgxpool.Conn) {
	if c.Conn().IsClosed() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), pgdriver.RollbackWait)
	defer cancel()
	_, _ = c.Exec(ctx, "rollback")
}

func (e *Engine) committing(topics []string) {
	if len(topics) > 0 {
		for _, w := range *e.watchers.Load() {
			w.Committing(topics)
		}
	}
}

func (e *Engine) committed(topics []string) {
	if len(topics) > 0 {
		for _, w := range *e.watchers.Load() {
			w.Committed(topics)
		}
	}
}
