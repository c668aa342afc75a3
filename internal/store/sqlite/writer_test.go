package sqlite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"fanfare/internal/store"
)

const testSchema = `CREATE TABLE item (id BIGINT PRIMARY KEY, doc TEXT);
CREATE TABLE part (item BIGINT NOT NULL REFERENCES item (id) DEFERRABLE INITIALLY DEFERRED);`

func openItems(t *testing.T, opt Options) *Engine {
	t.Helper()
	e := open(t, filepath.Join(t.TempDir(), "records.db"), opt)
	if err := e.Write(t.Context(), func(tx store.Tx) error { return tx.Script(testSchema) }); err != nil {
		t.Fatal(err)
	}
	return e
}

func addItem(id int) func(store.Tx) error {
	return func(tx store.Tx) error {
		tx.Touch(fmt.Sprint(id))
		_, err := tx.Exec("INSERT INTO item (id, doc) VALUES ($1, $2)", id, "doc")
		return err
	}
}

func countItems(t *testing.T, e *Engine, query string, args ...any) int64 {
	t.Helper()
	r, err := e.Query(context.Background(), query, args...)
	if err != nil {
		t.Fatal(err)
	}
	r.Next()
	return r.Int()
}

// hold blocks the writer until the returned function is called.
func hold(t *testing.T, e *Engine) (release func()) {
	t.Helper()
	running, finish := make(chan struct{}), make(chan struct{})
	done := make(chan error)
	go func() {
		done <- e.Write(context.Background(), func(store.Tx) error {
			close(running)
			<-finish
			return nil
		})
	}()
	<-running
	return func() {
		close(finish)
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// line starts a write for each function and returns when all are in line, in
// this order.
func line(e *Engine, group *sync.WaitGroup, fns ...func()) {
	for _, fn := range fns {
		n := len(e.writer.queue)
		group.Go(fn)
		for len(e.writer.queue) == n {
			runtime.Gosched()
		}
	}
}

func TestCanceledInLine(t *testing.T) {
	t.Parallel()
	e := openItems(t, Options{})
	release := hold(t, e)
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	left := make(chan error)
	line(e, &group, func() {
		left <- e.Write(ctx, func(store.Tx) error { t.Error("ran after its caller left"); return nil })
	})
	cancel()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v want %v", err, context.Canceled)
	}
	release()
	group.Wait()
	if err := e.Write(t.Context(), addItem(1)); err != nil {
		t.Error(err)
	}
}

type batches struct{ committing, committed [][]string }

func (b *batches) Committing(topics []string) { b.committing = append(b.committing, topics) }
func (b *batches) Committed(topics []string)  { b.committed = append(b.committed, topics) }

func TestCommitTogether(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ max, want int }{{0, 1}, {10, 10}, {1, 100}} {
		e := openItems(t, Options{MaxBatch: test.max})
		b := &batches{}
		e.Watch(b)
		release := hold(t, e)
		var group sync.WaitGroup
		for i := range 100 {
			line(e, &group, func() {
				if err := e.Write(t.Context(), addItem(i)); err != nil {
					t.Error(err)
				}
			})
		}
		release()
		group.Wait()
		if len(b.committing) != test.want || len(b.committed) != test.want {
			t.Errorf("max %d: got %d and %d commits want %d", test.max, len(b.committing), len(b.committed), test.want)
		}
	}
}

// TestBatchFailures puts one bad write among good ones. The good ones must be
// stored and acknowledged, the bad one must not. If a goroutine ends, the
// others may fail, but no write may get a wrong result or wait forever.
func TestBatchFailures(t *testing.T) {
	t.Parallel()
	errBad := errors.New("bad")
	for _, test := range []struct {
		name string
		bad  func(tx store.Tx) error
	}{
		{"before it wrote", func(store.Tx) error { return errBad }},
		{"nothing changed", func(tx store.Tx) error {
			_, err := tx.Exec("UPDATE item SET doc = $1 WHERE id = $2", "x", -1)
			return errors.Join(err, errBad)
		}},
		{"after it wrote", func(tx store.Tx) error { return errors.Join(addItem(-1)(tx), errBad) }},
		{"unique", func(tx store.Tx) error { return errors.Join(addItem(-1)(tx), addItem(1)(tx)) }},
		{"schema", func(tx store.Tx) error {
			_, err := tx.Exec("CREATE TABLE extra (id BIGINT)")
			return errors.Join(err, errBad)
		}},
		{"panic", func(tx store.Tx) error { panic(addItem(-1)(tx)) }},
		{"deadline", func(tx store.Tx) error {
			_, err := tx.Exec(`INSERT INTO item (id) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
				SELECT -i FROM n`)
			return err
		}},
		{"refused by the commit", func(tx store.Tx) error {
			_, err := tx.Exec("INSERT INTO part (item) VALUES ($1)", -5)
			return err
		}},
		{"ends the goroutine", func(tx store.Tx) error { runtime.Goexit(); return addItem(-1)(tx) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e := openItems(t, Options{})
			for round := range 3 {
				base := round * 100
				release := hold(t, e)
				var group sync.WaitGroup
				outcome := make([]error, 20)
				var bad error
				for i := range outcome {
					if i == 10 {
						line(e, &group, func() {
							ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
							defer cancel()
							bad = e.Write(ctx, test.bad)
						})
					}
					line(e, &group, func() { outcome[i] = e.Write(t.Context(), addItem(base+i+1)) })
				}
				release()
				group.Wait()
				if bad == nil || errors.Is(bad, store.ErrUnavailable) {
					t.Errorf("round %d: the bad write got %v", round, bad)
				}
				for i, err := range outcome {
					if err != nil && test.name != "ends the goroutine" {
						t.Errorf("round %d: write %d got %v", round, i, err)
					}
					stored := countItems(t, e, "SELECT count(*) FROM item WHERE id = $1", base+i+1) == 1
					if stored != (err == nil) {
						t.Errorf("round %d: write %d got %v, stored: %v", round, i, err, stored)
					}
				}
			}
			if n := countItems(t, e, "SELECT count(*) FROM item WHERE id < $1", 0); n != 0 {
				t.Errorf("%d rows of the bad write are there", n)
			}
			if n := countItems(t, e, "SELECT count(*) FROM sqlite_schema WHERE name = $1", "extra"); n != 0 {
				t.Error("the bad write's table is there")
			}
		})
	}
}

func TestFullDisk(t *testing.T) {
	t.Parallel()
	e := openItems(t, Options{})
	allow := func(pages int) {
		if err := e.writer.conn.script(fmt.Sprint("PRAGMA max_page_count = ", pages)); err != nil {
			t.Fatal(err)
		}
	}
	allow(60)
	var stored int64
	for {
		err := e.Write(t.Context(), func(tx store.Tx) error {
			_, err := tx.Exec("INSERT INTO item (id, doc) VALUES ($1, $2)", stored, fmt.Sprintf("%5000d", 1))
			return err
		})
		if err != nil {
			if !errors.Is(err, store.ErrUnavailable) {
				t.Fatalf("got %v want %v", err, store.ErrUnavailable)
			}
			break
		}
		stored++
	}
	if got := countItems(t, e, "SELECT count(*) FROM item"); got != stored || stored == 0 {
		t.Errorf("got %d items want %d", got, stored)
	}
	allow(1_000_000)
	if err := e.Write(t.Context(), addItem(-1)); err != nil {
		t.Errorf("after there is space again: %v", err)
	}
}
