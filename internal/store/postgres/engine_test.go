package postgres

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fanfare/internal/store"
	"fanfare/internal/store/pgtest"
	"fanfare/internal/store/storetest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func open(t testing.TB, url string) *Engine {
	t.Helper()
	e, err := Open(t.Context(), url, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return e
}

func TestEngine(t *testing.T) {
	t.Parallel()
	storetest.Engine(t, func(t *testing.T) store.Engine { return open(t, pgtest.URL(t)) })
}

func write(t *testing.T, e *Engine, fn func(store.Tx) error) {
	t.Helper()
	if err := e.Write(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

func script(text string) func(store.Tx) error {
	return func(tx store.Tx) error { return tx.Script(text) }
}

func number(t *testing.T, e *Engine, query string, args ...any) int64 {
	t.Helper()
	r, err := e.Query(t.Context(), query, args...)
	if err != nil {
		t.Fatal(err)
	}
	r.Next()
	return r.Int()
}

func TestTypes(t *testing.T) {
	t.Parallel()
	e := open(t, pgtest.URL(t))
	r, err := e.Query(t.Context(), `SELECT (-2)::int2, (-4)::int4, (-8)::int8, true, 't'::text, 'v'::varchar(5),
		'\x00ff'::bytea, NULL::int2, pg_notify('other', '')`)
	if err != nil {
		t.Fatal(err)
	}
	r.Next()
	var got []any
	for range r.Columns() {
		got = append(got, r.Value())
	}
	want := []any{int64(-2), int64(-4), int64(-8), int64(1), "t", "v", "\x00\xff", nil, nil}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for query, name := range map[string]string{
		"SELECT sum(x) FROM (VALUES (1::bigint)) AS t (x)": "numeric",
		"SELECT 1.5::float8": "float8",
		"SELECT now()":       "timestamptz",
		"SELECT '{}'::jsonb": "jsonb",
	} {
		if _, err := e.Query(t.Context(), query); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v, want the type's name %s", query, err, name)
		}
	}
}

func TestTraits(t *testing.T) {
	t.Parallel()
	e := open(t, pgtest.URL(t))
	now := time.UnixMicro(number(t, e, e.Traits().Clock))
	if apart := time.Since(now).Abs(); apart > time.Minute {
		t.Errorf("the database's clock is %v away", apart)
	}
	write(t, e, func(tx store.Tx) error {
		if _, err := tx.Exec(e.Traits().MigrationLock); err != nil {
			return err
		}
		_, err := tx.Query(e.Traits().MigrationLock)
		return err
	})
}

func TestWriteAsync(t *testing.T) {
	t.Parallel()
	e := open(t, pgtest.URL(t)+"&synchronous_commit=on")
	setting := func(tx store.Tx) (mode string, err error) {
		r, err := tx.Query("SELECT current_setting('synchronous_commit')")
		if err == nil && r.Next() {
			mode = r.Text()
		}
		return mode, err
	}
	for range 3 {
		var async, durable string
		err := e.WriteAsync(t.Context(), func(tx store.Tx) (err error) { async, err = setting(tx); return err })
		if err != nil {
			t.Fatal(err)
		}
		write(t, e, func(tx store.Tx) (err error) { durable, err = setting(tx); return err })
		if async != "off" || durable != "on" {
			t.Errorf("got synchronous_commit %s and %s, want off and on", async, durable)
		}
	}
}

// TestGivesWay lets two transactions lock two rows in opposite order.
func TestGivesWay(t *testing.T) {
	t.Parallel()
	e := open(t, pgtest.URL(t))
	write(t, e, script("CREATE TABLE item (id BIGINT PRIMARY KEY, n BIGINT); INSERT INTO item VALUES (1, 0), (2, 0)"))
	var group sync.WaitGroup
	var runs, held atomic.Int32
	both, done := make(chan struct{}), make(chan struct{}, 2)
	for first := range 2 {
		group.Go(func() {
			err := e.Write(t.Context(), func(tx store.Tx) error {
				if runs.Add(1) > 2 {
					<-done // who was sent back does not meet the other again
				}
				if _, err := tx.Exec("UPDATE item SET n = n + 1 WHERE id = $1", 1+first); err != nil {
					return err
				}
				if held.Add(1) == 2 {
					close(both)
				}
				<-both
				_, err := tx.Exec("UPDATE item SET n = n + 1 WHERE id = $1", 2-first)
				return err
			})
			if err != nil {
				t.Error(err)
			}
			done <- struct{}{}
		})
	}
	group.Wait()
	if runs.Load() != 3 {
		t.Errorf("got %d runs want 3", runs.Load())
	}
	if n := number(t, e, "SELECT count(*) FROM item WHERE n = $1", 2); n != 2 {
		t.Errorf("got %d right rows want 2", n)
	}
}

// TestGivesWayUntilTheEnd never succeeds, and must end with the context.
func TestGivesWayUntilTheEnd(t *testing.T) {
	t.Parallel()
	e := open(t, pgtest.URL(t))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	const most = 3
	runs := 0
	err := e.Write(ctx, func(tx store.Tx) error {
		if runs++; runs == most {
			defer cancel()
		}
		return tx.Script("DO $$ BEGIN RAISE EXCEPTION 'again' USING ERRCODE = '40001'; END $$")
	})
	if !errors.Is(err, context.Canceled) || runs != most {
		t.Errorf("got %v after %d runs want %v after %d", err, runs, context.Canceled, most)
	}
}

// TestCommitRefused and TestCommitUnknown make a commit fail with a deferred
// trigger.
func TestCommitRefused(t *testing.T) {
	t.Parallel()
	e := open(t, pgtest.URL(t))
	write(t, e, script("CREATE TABLE item (id BIGINT UNIQUE DEFERRABLE INITIALLY DEFERRED); INSERT INTO item VALUES (1)"))
	w := &topicRecorder{}
	e.Watch(w)
	err := e.Write(t.Context(), func(tx store.Tx) error {
		tx.Touch("item")
		_, err := tx.Exec("INSERT INTO item VALUES ($1)", 1)
		return err
	})
	if _, ok := errors.AsType[*store.UniqueError](err); !ok {
		t.Errorf("got %v, want a UniqueError", err)
	}
	if got := w.all(); got != "-item +item" {
		t.Errorf("watcher heard %q", got)
	}
}

func TestCommitUnknown(t *testing.T) {
	t.Parallel()
	e := open(t, pgtest.URL(t))
	write(t, e, script(`CREATE TABLE item (id BIGINT);
		CREATE FUNCTION cut() RETURNS trigger LANGUAGE plpgsql AS
			$$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$;
		CREATE CONSTRAINT TRIGGER cut AFTER INSERT ON item DEFERRABLE INITIALLY DEFERRED
			FOR EACH ROW EXECUTE FUNCTION cut()`))
	runs := 0
	err := e.Write(t.Context(), func(tx store.Tx) error {
		runs++
		_, err := tx.Exec("INSERT INTO item VALUES ($1)", 1)
		return err
	})
	if !errors.Is(err, store.ErrUnavailable) || runs != 1 {
		t.Errorf("got %v after %d runs", err, runs)
	}
	if n := number(t, e, "SELECT count(*) FROM item"); n != 0 {
		t.Errorf("got %d rows want 0", n)
	}
}

// TestCancelKeepsConnection has one connection, which must survive a caller
// who leaves in the middle of a statement.
func TestCancelKeepsConnection(t *testing.T) {
	t.Parallel()
	e, err := Open(t.Context(), pgtest.URL(t), Options{MaxConns: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	before := number(t, e, "SELECT pg_backend_pid()")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := e.Query(ctx, "SELECT 1 FROM pg_sleep(60)"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v want %v", err, context.DeadlineExceeded)
	}
	if after := number(t, e, "SELECT pg_backend_pid()"); after != before {
		t.Errorf("the connection was replaced")
	}
}

func TestServerDown(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "fanfare-pg-")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	server, err := pgtest.Start(dir, true)
	if err != nil {
		t.Fatal(err)
	}
	url, err := server.CreateDatabase("down")
	if err != nil {
		t.Fatal(err)
	}
	e := open(t, url)
	w := &topicRecorder{}
	e.Watch(w)
	write(t, e, script("CREATE TABLE item (id BIGINT)"))
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := e.Query(t.Context(), "SELECT 1"); !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("query: got %v want %v", err, store.ErrUnavailable)
		}
		if err := e.Write(t.Context(), script("DELETE FROM item")); !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("write: got %v want %v", err, store.ErrUnavailable)
		}
	}
	if _, err := Open(t.Context(), server.URL(""), Options{}); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("open: got %v want %v", err, store.ErrUnavailable)
	}
	if server, err = pgtest.Start(dir, true); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Stop() }()
	write(t, e, script("INSERT INTO item VALUES (1)"))
	w.wait(t, "+!all")
}

// TestOpenError checks that an error names the address without the password.
func TestOpenError(t *testing.T) {
	t.Parallel()
	for setting, want := range map[string]string{
		"postgres://fanfare:hunter2@127.0.0.1:1/records": "open PostgreSQL at postgres://fanfare:xxxxx@127.0.0.1:1/records: ",
		"postgres://fanfare:hunter2@[::1/records":        "open PostgreSQL at postgres://fanfare:xxxxx@[::1/records: ",
		"postgres://fanfare:hun#ter2@[::1/records":       "open PostgreSQL at (unreadable URL): ",
	} {
		if _, err := Open(t.Context(), setting, Options{}); err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("got %v want %s", err, want)
		}
	}
}

// TestSuperuser checks that a role which row-level security does not bind is
// refused.
func TestSuperuser(t *testing.T) {
	t.Parallel()
	_, err := Open(t.Context(), pgtest.SuperuserURL(t, pgtest.URL(t)), Options{})
	if err == nil || !strings.Contains(err.Error(), "CREATE ROLE fanfare") {
		t.Errorf("got %v want a refusal that names the fix", err)
	}
}
