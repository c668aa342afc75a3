package storetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"fanfare/internal/store"
)

func engineCompareAndSet(t *testing.T, e store.Engine) {
	const clients, counters = 64, 200
	engineWrite(t, e, func(tx store.Tx) error {
		for i := range counters {
			if err := engineAdd(i, nil)(tx); err != nil {
				return err
			}
		}
		return nil
	})
	var group sync.WaitGroup
	for client := range clients {
		group.Go(func() {
			for i := range counters {
				if err := engineIncrement(t.Context(), e, (client/8*25+i)%counters); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	if got := engineInt(t, e, "SELECT count(*) FROM item WHERE n = $1", clients); got != counters {
		t.Errorf("got %d right counters want %d", got, counters)
	}
}

// engineIncrement adds one to a counter if it is still what it read before,
// and tries until it is.
func engineIncrement(ctx context.Context, e store.Engine, id int) error {
	for {
		r, err := e.Query(ctx, "SELECT n FROM item WHERE id = $1", id)
		if err != nil {
			return err
		}
		if !r.Next() {
			return fmt.Errorf("counter %d is missing", id)
		}
		was := r.Int()
		var changed int64
		err = e.Write(ctx, func(tx store.Tx) (err error) {
			changed, err = tx.Exec("UPDATE item SET n = $1 WHERE id = $2 AND n = $3", was+1, id, was)
			return err
		})
		if err != nil || changed == 1 {
			return err
		}
	}
}

func engineCanceledInLine(t *testing.T, e store.Engine) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	never := func(store.Tx) error { t.Error("a canceled write ran"); return nil }
	if err := e.Write(ctx, never); !errors.Is(err, context.Canceled) {
		t.Errorf("write: got %v want %v", err, context.Canceled)
	}
	if err := e.Snapshot(ctx, never); !errors.Is(err, context.Canceled) {
		t.Errorf("snapshot: got %v want %v", err, context.Canceled)
	}
	if _, err := e.Query(ctx, "SELECT 1"); !errors.Is(err, context.Canceled) {
		t.Errorf("query: got %v want %v", err, context.Canceled)
	}
}

func engineDeadline(t *testing.T, e store.Engine) {
	for _, test := range []struct {
		want error
		ctx  func() (context.Context, context.CancelFunc)
	}{
		{context.DeadlineExceeded, func() (context.Context, context.CancelFunc) {
			return context.WithTimeout(t.Context(), 50*time.Millisecond)
		}},
		{context.Canceled, func() (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(50*time.Millisecond, cancel)
			return ctx, cancel
		}},
	} {
		for name, run := range map[string]func(ctx context.Context) error{
			"query": func(ctx context.Context) error {
				_, err := e.Query(ctx, engineEndless)
				return err
			},
			"snapshot": func(ctx context.Context) error {
				return e.Snapshot(ctx, func(tx store.Tx) error {
					_, err := tx.Query(engineEndless)
					return err
				})
			},
		} {
			ctx, cancel := test.ctx()
			err := run(ctx) // it ends only if it is stopped
			cancel()
			if !errors.Is(err, test.want) || errors.Is(err, store.ErrUnavailable) {
				t.Errorf("%s: got %v want %v", name, err, test.want)
			}
		}
	}
	engineCount(t, e, 0)
}

func engineWriteDeadline(t *testing.T, e store.Engine) {
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	var group sync.WaitGroup
	for i := range 20 {
		group.Go(func() {
			if err := e.Write(t.Context(), engineAdd(i, nil)); err != nil {
				t.Errorf("write beside the stopped one: %v", err)
			}
		})
	}
	group.Go(func() {
		err := e.Write(ctx, func(tx store.Tx) error {
			if err := engineAdd(-1, nil)(tx); err != nil {
				return err
			}
			_, err := tx.Exec("INSERT INTO item (id, n) " + engineNumbers + "SELECT -i, i FROM n WHERE i < 0")
			return err
		})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v want %v", err, context.DeadlineExceeded)
		}
	})
	group.Wait()
	engineCount(t, e, 20)
}

// engineWatcher records the topics that it receives and whether the item was
// visible then.
type engineWatcher struct {
	t *testing.T
	e store.Engine
	sync.Mutex
	heard []string
}

func (w *engineWatcher) note(word string, topics []string) {
	seen := engineInt(w.t, w.e, "SELECT count(*) FROM item WHERE id = 1")
	w.Lock()
	defer w.Unlock()
	for _, topic := range topics {
		w.heard = append(w.heard, fmt.Sprint(word, " ", topic, " ", seen))
	}
}

func (w *engineWatcher) Committing(topics []string) { w.note("committing", topics) }
func (w *engineWatcher) Committed(topics []string)  { w.note("committed", topics) }

func engineWatch(t *testing.T, e store.Engine) {
	w := &engineWatcher{t: t, e: e}
	e.Watch(w)
	if err := e.Write(t.Context(), func(tx store.Tx) error {
		tx.Touch("failed")
		return errEngineTest
	}); !errors.Is(err, errEngineTest) {
		t.Fatal(err)
	}
	engineWrite(t, e, func(tx store.Tx) error {
		tx.Touch("a")
		tx.Touch("b")
		return engineAdd(1, "seen")(tx)
	})
	w.Lock()
	defer w.Unlock()
	got, want := strings.Join(w.heard, ", "), "committing a 0, committing b 0, committed a 1, committed b 1"
	if got != want {
		t.Errorf("got %s want %s", got, want)
	}
}

func engineSnapshot(t *testing.T, e store.Engine) {
	engineWrite(t, e, engineAdd(1, "before"))
	err := e.Snapshot(t.Context(), func(tx store.Tx) error {
		for i := 2; i < 5; i++ {
			engineWrite(t, e, engineAdd(i, nil))
			engineCount(t, e, int64(i))
			r, err := tx.Query("SELECT count(*) FROM item")
			if err != nil {
				return err
			}
			if r.Next(); r.Int() != 1 {
				return errors.New("the snapshot sees a later write")
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if err := e.Snapshot(t.Context(), engineAdd(9, nil)); err == nil {
		t.Error("a snapshot must not write")
	}
	if err := e.Snapshot(t.Context(), func(store.Tx) error { return errEngineTest }); !errors.Is(err, errEngineTest) {
		t.Errorf("got %v want its own error", err)
	}
	engineCount(t, e, 4)
}

func engineClaim(t *testing.T, e store.Engine) {
	const items, workers = 400, 8
	engineWrite(t, e, func(tx store.Tx) error {
		for i := range items {
			if err := engineAdd(i, nil)(tx); err != nil {
				return err
			}
		}
		return nil
	})
	claim := "UPDATE item SET n = n + 1 WHERE id IN (SELECT id FROM item WHERE n = 0 ORDER BY id LIMIT $1 " +
		e.Traits().ClaimLock + ") RETURNING id"
	var group sync.WaitGroup
	var mu sync.Mutex
	times := make(map[int64]int)
	for range workers {
		group.Go(func() {
			for {
				var ids []int64
				err := e.Write(t.Context(), func(tx store.Tx) error {
					ids = ids[:0]
					r, err := tx.Query(claim, 7)
					for err == nil && r.Next() {
						ids = append(ids, r.Int())
					}
					return err
				})
				if err != nil {
					t.Error(err)
					return
				}
				if len(ids) == 0 {
					return
				}
				mu.Lock()
				for _, id := range ids {
					times[id]++
				}
				mu.Unlock()
			}
		})
	}
	group.Wait()
	for id, n := range times {
		if n != 1 {
			t.Errorf("item %d was claimed %d times", id, n)
		}
	}
	if len(times) != items {
		t.Errorf("got %d claimed items want %d", len(times), items)
	}
}

func engineClose(t *testing.T, e store.Engine) {
	var group sync.WaitGroup
	running := make(chan struct{})
	finish := make(chan struct{})
	group.Go(func() {
		err := e.Write(t.Context(), func(tx store.Tx) error {
			close(running)
			<-finish
			return engineAdd(1, "late")(tx)
		})
		if err != nil {
			t.Errorf("running write: %v", err)
		}
	})
	<-running
	closed := make(chan error)
	go func() { closed <- e.Close() }()
	select {
	case <-closed:
		t.Error("closed while a transaction runs")
	case <-time.After(50 * time.Millisecond):
	}
	close(finish)
	group.Wait()
	if err := <-closed; err != nil {
		t.Errorf("close: %v", err)
	}
	if err := e.Write(t.Context(), engineAdd(2, nil)); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("write after close: got %v", err)
	}
	if _, err := e.Query(t.Context(), "SELECT 1"); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("query after close: got %v", err)
	}
	if err := e.Snapshot(t.Context(), func(store.Tx) error { return nil }); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("snapshot after close: got %v", err)
	}
	if err := e.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
}
