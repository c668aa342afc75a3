package sqlite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"fanfare/internal/store"
)

const (
	queueLength = 1024
	// checkpointFrames is the length of the write-ahead log, 16 MiB of pages,
	// from which the writer moves it to the file.
	checkpointFrames = 4096
	// readersPause is the longest that all reads wait for a checkpoint to
	// begin.
	readersPause = 20 * time.Millisecond
	// carefulBatches bounds what a workload of failing writes can lose by
	// batches that are written twice.
	carefulBatches = 64
)

// The states of a request. Either its caller or the writer moves it out of
// waiting: the caller to cancel it, the writer to run it.
const (
	waiting = iota
	taken
	left
)

type request struct {
	ctx   context.Context
	fn    func(store.Tx) error
	state atomic.Int32
	// outcome is sent exactly once for a request that was taken.
	outcome chan error
	err     error
	topics  []string
	// urgent requests may use the reserve; again says that this one does.
	urgent, again bool
}

// writer is the only goroutine that writes. It commits all waiting requests in
// one transaction.
type writer struct {
	engine   *Engine
	conn     *conn
	watchers []store.Watcher
	queue    chan *request
	// requests are those that can be used again.
	requests sync.Pool
	gate     sync.RWMutex
	stopped  bool
	done     chan struct{}
	maxBatch int
	// batch has the requests of the open transaction. apart has those that are
	// written one by one after it. None has an outcome yet.
	batch, apart []*request
	// careful is the number of further batches that use savepoints.
	careful int
	// checkpointAt is the length of the log that starts the next checkpoint.
	checkpointAt int
	reserve      *reserve
	owned        owned
}

func newWriter(e *Engine, c *conn, maxBatch int, r *reserve) *writer {
	w := &writer{
		engine: e, conn: c, maxBatch: maxBatch, checkpointAt: checkpointFrames, reserve: r,
		queue: make(chan *request, queueLength), done: make(chan struct{}), owned: owned{restarts: true, logLacksID: true},
		requests: sync.Pool{New: func() any { return &request{outcome: make(chan error, 1)} }},
	}
	go w.loop()
	return w
}

func (w *writer) writeTx(ctx context.Context, fn func(store.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r := w.requests.Get().(*request)
	r.ctx, r.fn, r.urgent = ctx, fn, store.Urgent(ctx)
	r.state.Store(waiting)
	if err := w.enqueue(ctx, r); err != nil {
		w.recycle(r)
		return err
	}
	select {
	case err := <-r.outcome:
		w.recycle(r)
		return err
	case <-ctx.Done():
	}
	if r.state.CompareAndSwap(waiting, left) {
		return ctx.Err()
	}
	err := <-r.outcome
	w.recycle(r)
	return err
}

func (w *writer) enqueue(ctx context.Context, r *request) error {
	w.gate.RLock()
	defer w.gate.RUnlock()
	if w.stopped {
		return errClosed
	}
	select {
	case w.queue <- r:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (w *writer) recycle(r *request) {
	r.ctx, r.fn, r.err, r.topics, r.urgent, r.again = nil, nil, nil, nil, false, false
	w.requests.Put(r)
}

// stop returns when all waiting requests are written.
func (w *writer) stop() {
	w.gate.Lock()
	w.stopped = true
	close(w.queue)
	w.gate.Unlock()
	<-w.done
}

func (w *writer) loop() {
	ended := false
	defer func() {
		if ended {
			close(w.done)
			return
		}
		// A function ended the goroutine (runtime.Goexit, as t.FailNow does):
		// the other callers must not wait for ever.
		w.conn.ctx = nil
		w.batch, w.apart = append(w.batch, w.apart...), nil
		w.fail(errors.New("sqlite: a transaction ended the writing goroutine"))
		go w.loop()
	}()
	for first := range w.queue {
		w.gather(first)
		w.writeBatch()
		w.tidy()
	}
	ended = true
}

// gather fills the batch with the waiting requests.
func (w *writer) gather(first *request) {
	w.addToBatch(first)
	for len(w.batch) < w.maxBatch {
		select {
		case r, ok := <-w.queue:
			if !ok {
				return
			}
			w.addToBatch(r)
		default:
			return
		}
	}
}

func (w *writer) addToBatch(r *request) {
	if r.state.CompareAndSwap(waiting, taken) {
		w.batch = append(w.batch, r)
	}
}

// writeBatch writes the batch and sends every request its outcome. A savepoint
// for each request costs a quarter of the rate, so the writer uses none until a
// request fails that has already written. Then it rolls the batch back and
// writes it again with savepoints, like the next batches. If that fails too, it
// writes the requests one by one.
func (w *writer) writeBatch() {
	if w.save(); len(w.batch) == 0 {
		return
	}
	careful := w.careful > 0
	if careful {
		w.careful--
	}
	if !w.attempt(careful) {
		w.careful = carefulBatches
		if careful || !w.attempt(true) {
			w.apart = slices.Clone(w.batch)
		}
	}
	for len(w.apart) > 0 {
		w.batch = append(w.batch[:0], w.apart[0])
		w.apart = w.apart[1:]
		w.attempt(false)
	}
}

// errReserved is returned for a request that is not urgent while the reserve is
// used up.
var errReserved = fmt.Errorf("%w: the disk is full; what is left is for stopping campaigns", store.ErrUnavailable)

// save reserves the rest of a full disk for urgent requests.
func (w *writer) save() {
	if !w.reserve.spent || w.reserve.refill() {
		return
	}
	w.batch = slices.DeleteFunc(w.batch, func(r *request) bool {
		if !r.urgent {
			r.outcome <- errReserved
		}
		return !r.urgent
	})
}

// rescue queues the urgent requests of a batch that found the disk full, to be
// written one by one in the space of the reserve. It returns the others.
func (w *writer) rescue() (others []*request) {
	var urgent []*request
	for _, r := range w.batch {
		if r.urgent && !r.again {
			urgent = append(urgent, r)
		} else {
			others = append(others, r)
		}
	}
	if len(urgent) == 0 || !w.reserve.spent && !w.reserve.release() {
		return w.batch
	}
	w.checkpoint()
	for _, r := range urgent {
		r.again = true
	}
	w.apart = append(urgent, w.apart...)
	return others
}

// attempt writes the batch in one transaction and sends the outcomes. It returns
// false, without a write and without an outcome, if the failure of one request
// affects the others. That cannot happen with a batch of one.
func (w *writer) attempt(savepoints bool) bool {
	defer func() { _ = w.noteLog() }() // the engine remembers the error
	if err := w.beginTx(); err != nil {
		w.fail(err)
		return true
	}
	alone := len(w.batch) == 1
	for _, r := range w.batch {
		clean := w.apply(r, savepoints && !alone)
		if clean {
			continue
		}
		if alone {
			w.fail(r.err)
			return true
		}
		w.rollback()
		return false
	}
	return w.commit(alone)
}

// apply runs one request. It returns false if the request failed and its changes
// are still in the transaction, or if the transaction has ended.
func (w *writer) apply(r *request, savepoint bool) (clean bool) {
	if r.err = r.ctx.Err(); r.err != nil {
		return true
	}
	if savepoint {
		if _, r.err = w.conn.exec("SAVEPOINT request"); r.err != nil {
			return false
		}
	}
	t := &tx{c: w.conn}
	w.conn.ctx, w.conn.wrote = r.ctx, false
	r.err = store.RunTx(t, &t.err, r.fn)
	w.conn.ctx = nil
	r.topics = t.topics
	if r.err != nil && !w.conn.inTransaction() {
		return false
	}
	if !savepoint {
		return r.err == nil || !w.conn.wrote
	}
	if r.err != nil {
		if _, err := w.conn.exec("ROLLBACK TO request"); err != nil {
			return false
		}
	}
	if _, err := w.conn.exec("RELEASE request"); err != nil {
		r.err = err
		return false
	}
	return true
}

func (w *writer) commit(alone bool) bool {
	if err := errors.Join(w.engine.intact(), w.engine.displaced()); err != nil {
		w.fail(err)
		return true
	}
	topics := w.topics()
	if len(topics) > 0 {
		for _, o := range w.watchers {
			o.Committing(topics)
		}
	}
	_, err := w.conn.exec("COMMIT")
	if err != nil {
		w.rollback()
	} else {
		err = w.noteLog()
	}
	w.engine.seq.Add(1)
	if len(topics) > 0 {
		for _, o := range w.watchers {
			o.Committed(topics)
		}
	}
	var code *codeError
	if errors.As(err, &code) && code.primaryCode() == codeConstraint {
		if alone {
			w.fail(err)
		}
		return alone
	}
	if err != nil {
		if !errors.Is(err, store.ErrUnavailable) {
			err = fmt.Errorf("%w: %w", store.ErrUnavailable, err)
		}
		// On a full disk, a checkpoint helps, because the log can then be
		// reused.
		w.checkpointAt = 0
		w.fail(err)
		return true
	}
	for _, r := range w.batch {
		r.outcome <- r.err
	}
	w.batch = w.batch[:0]
	return true
}

// topics returns the topics of the requests that succeeded.
func (w *writer) topics() []string {
	var topics []string
	for _, r := range w.batch {
		if r.err == nil {
			topics = append(topics, r.topics...)
		}
	}
	return topics
}

// fail rolls back and sends every request of the batch the same error, even to a
// request that failed before: another one, now rolled back, may be the cause. On
// a full disk, urgent requests are written again instead.
func (w *writer) fail(err error) {
	w.rollback()
	told := w.batch
	if full(err) {
		told = w.rescue()
	}
	for _, r := range told {
		r.outcome <- err
	}
	w.batch = w.batch[:0]
}

func (w *writer) rollback() {
	if w.conn.inTransaction() {
		_, _ = w.conn.exec("ROLLBACK") // if it fails the next BEGIN says so
	}
}

// tidy does work that no request waits for: it ends the transactions of idle
// readers and shortens the log.
func (w *writer) tidy() {
	w.engine.readers.letGo(w.engine.seq.Load())
	if w.reserve.spent {
		w.checkpointAt = 0
	}
	frames := w.conn.walFrames()
	if frames < checkpointFrames && w.checkpointAt > 0 {
		w.checkpointAt = checkpointFrames
	}
	if frames < w.checkpointAt {
		return
	}
	w.checkpointAt = frames + checkpointFrames
	w.checkpoint()
	w.reserve.restore()
	// Only readers that begin after the checkpoint read without the log, so
	// that the next commit can restart it.
	w.engine.readers.letGo(w.engine.seq.Add(1))
	if frames > 2*checkpointFrames && w.engine.snapshots.Load() == 0 {
		w.checkpointAlone()
	}
}

// checkpointAlone pauses all readers for a checkpoint. Under constant load some
// reader is always active, so that the log would never restart and would grow.
// The pause is short, because most pages are already in the file.
func (w *writer) checkpointAlone() {
	if w.engine.readers.pause(readersPause) {
		w.checkpoint()
	}
	w.engine.readers.resume()
}
