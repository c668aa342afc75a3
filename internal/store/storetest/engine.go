// Package storetest contains the test suites that every engine must pass. The
// tests of each engine run them.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"fanfare/internal/store"
)

// engineNumbers are more numbers than either engine counts in a test's time.
const engineNumbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000000000) "

const engineEndless = engineNumbers + "SELECT count(*) FROM n"

var errEngineTest = errors.New("wanted failure")

// Engine checks the promises of store.Engine. open returns a new engine on an
// empty database and closes it when the test ends.
func Engine(t *testing.T, open func(t *testing.T) store.Engine) {
	t.Helper()
	for _, test := range []struct {
		name string
		run  func(t *testing.T, e store.Engine)
	}{
		{"values", engineValues},
		{"rows", engineRows},
		{"bad statements", engineBadStatements},
		{"unique", engineUnique},
		{"failure undoes its own", engineFailure},
		{"panic", enginePanic},
		{"swallowed error", engineSwallowed},
		{"compare and set", engineCompareAndSet},
		{"canceled before its turn", engineCanceledInLine},
		{"deadline stops a read", engineDeadline},
		{"deadline stops a write", engineWriteDeadline},
		{"watch", engineWatch},
		{"snapshot", engineSnapshot},
		{"claim", engineClaim},
		{"close waits", engineClose},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e := open(t)
			engineWrite(t, e, func(tx store.Tx) error {
				return tx.Script(`CREATE TABLE item (id BIGINT PRIMARY KEY, n BIGINT NOT NULL, word TEXT, doc TEXT, flag BOOLEAN);
					CREATE UNIQUE INDEX item_word ON item (word);`)
			})
			test.run(t, e)
		})
	}
}

func engineWrite(t *testing.T, e store.Engine, fn func(store.Tx) error) {
	t.Helper()
	if err := e.Write(t.Context(), fn); err != nil {
		t.Fatalf("write: %v", err)
	}
}

func engineAdd(id int, word any) func(store.Tx) error {
	return func(tx store.Tx) error {
		_, err := tx.Exec("INSERT INTO item (id, n, word) VALUES ($1, $2, $3)", id, 0, word)
		return err
	}
}

// engineInt returns the one integer that the query gives.
func engineInt(t *testing.T, e store.Engine, query string, args ...any) int64 {
	t.Helper()
	r, err := e.Query(store.Across(context.Background()), query, args...)
	if err != nil {
		t.Fatalf("query: %v", err)
	}
	if !r.Next() {
		t.Fatalf("no row from %s", query)
	}
	return r.Int()
}

func engineCount(t *testing.T, e store.Engine, want int64) {
	t.Helper()
	if got := engineInt(t, e, "SELECT count(*) FROM item"); got != want {
		t.Fatalf("got %d items, want %d", got, want)
	}
}

func engineValues(t *testing.T, e store.Engine) {
	large := strings.Repeat("0123456789abcdef", 1<<16)
	for i, v := range []struct {
		n    any
		doc  any
		flag any
		text string
		null bool
	}{
		{n: 0, doc: "plain", flag: true, text: "plain"},
		{n: int64(-9223372036854775808), doc: "", flag: false, text: ""},
		{n: int64(9223372036854775807), doc: nil, flag: nil, null: true},
		{n: 1794713133567134689, doc: "žluťoučký 😀 عربي \u200d", flag: true, text: "žluťoučký 😀 عربي \u200d"},
		{n: -1, doc: []byte(`{"a":"b"}`), flag: false, text: `{"a":"b"}`},
		{n: 1, doc: []byte(nil), flag: false, null: true},
		{n: 2, doc: large, flag: true, text: large},
		{n: 3, doc: "123", flag: true, text: "123"},
	} {
		engineWrite(t, e, func(tx store.Tx) error {
			n, err := tx.Exec("INSERT INTO item (id, n, doc, flag) VALUES ($1, $2, $3, $4)", i, v.n, v.doc, v.flag)
			if err == nil && n != 1 {
				err = fmt.Errorf("%d rows changed, want 1", n)
			}
			return err
		})
		r, err := e.Query(t.Context(), "SELECT n, doc, flag FROM item WHERE id = $1", i)
		if err != nil {
			t.Fatal(err)
		}
		if !r.Next() {
			t.Fatalf("item %d is missing", i)
		}
		if got := fmt.Sprint(r.Int()); got != fmt.Sprint(v.n) {
			t.Errorf("item %d: got n %s want %v", i, got, v.n)
		}
		doc := r.Bytes()
		if string(doc) != v.text || (doc == nil) != v.null {
			t.Errorf("item %d: got doc of %d bytes (nil: %v) want %d bytes (nil: %v)", i, len(doc), doc == nil, len(v.text), v.null)
		}
		flag, ok := r.IntOrNull()
		if ok != (v.flag != nil) || (flag != 0) != (v.flag == true) {
			t.Errorf("item %d: got flag %d, %v want %v", i, flag, ok, v.flag)
		}
		if r.Next() {
			t.Errorf("item %d: a second row", i)
		}
	}
	// Text that was written from bytes is the same text to a comparison.
	if got := engineInt(t, e, "SELECT count(*) FROM item WHERE doc = $1", `{"a":"b"}`); got != 1 {
		t.Errorf("got %d items by text, want 1", got)
	}
}

func engineRows(t *testing.T, e store.Engine) {
	engineWrite(t, e, func(tx store.Tx) error {
		for i := range 1000 {
			if err := engineAdd(i, fmt.Sprintf("word-%04d", i))(tx); err != nil {
				return err
			}
		}
		return nil
	})
	r, err := e.Query(t.Context(), "SELECT id, word, n FROM item WHERE (word, id) < ($1, $2) ORDER BY word DESC, id DESC LIMIT $3",
		"word-0900", 900, 500)
	if err != nil {
		t.Fatal(err)
	}
	if r.Columns() != 3 {
		t.Fatalf("got %d columns want 3", r.Columns())
	}
	next := int64(899)
	for r.Next() {
		id, word, _ := r.Int(), r.Text(), r.Int()
		if id != next || word != fmt.Sprintf("word-%04d", next) {
			t.Fatalf("got %d %s want %d", id, word, next)
		}
		next--
	}
	if next != 399 {
		t.Fatalf("rows ended before %d, want 399", next)
	}
	engineWrite(t, e, func(tx store.Tx) error {
		n, err := tx.Exec("UPDATE item SET n = n + $1 WHERE id < $2", 5, 10)
		if err == nil && n != 10 {
			err = fmt.Errorf("%d rows changed, want 10", n)
		}
		if err != nil {
			return err
		}
		r, err := tx.Query("UPDATE item SET n = n + $1 WHERE id = $2 RETURNING n", 1, 3)
		if err != nil {
			return err
		}
		if !r.Next() || r.Int() != 6 || r.Next() {
			return errors.New("returning: want one row with 6")
		}
		n, err = tx.Exec("UPDATE item SET n = 0 WHERE id = $1", -1)
		if err == nil && n != 0 {
			err = fmt.Errorf("%d rows changed, want 0", n)
		}
		return err
	})
	r, err = e.Query(t.Context(), "SELECT id FROM item WHERE id < $1", 0)
	if err != nil || r.Columns() != 1 || r.Next() {
		t.Fatalf("empty result: %v", err)
	}
}

func engineBadStatements(t *testing.T, e store.Engine) {
	for _, bad := range []struct {
		query string
		args  []any
	}{
		{"SELECT nothing FROM nowhere", nil},
		{"SELECT id FROM item WHERE id = $1", nil},
		{"SELECT id FROM item WHERE id = $1", []any{1, 2}},
		{"SELECT id FROM item WHERE id = $1", []any{struct{}{}}},
		{"SELECT 1; SELECT 2", nil},
		{"SELECT CAST(id AS DOUBLE PRECISION) FROM item", nil},
	} {
		engineWrite(t, e, func(tx store.Tx) error {
			_, err := tx.Exec("INSERT INTO item (id, n) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING", 1, 1)
			return err
		})
		_, err := e.Query(t.Context(), bad.query, bad.args...)
		if err == nil || errors.Is(err, store.ErrUnavailable) {
			t.Errorf("%s with %d arguments: got %v, want an error of the statement", bad.query, len(bad.args), err)
		}
	}
	engineCount(t, e, 1)
}

func engineUnique(t *testing.T, e store.Engine) {
	engineWrite(t, e, engineAdd(1, "taken"))
	for _, again := range []func(store.Tx) error{engineAdd(1, "free"), engineAdd(3, "taken")} {
		err := e.Write(t.Context(), func(tx store.Tx) error {
			if err := engineAdd(2, "rides along")(tx); err != nil {
				return err
			}
			return again(tx)
		})
		if _, ok := errors.AsType[*store.UniqueError](err); !ok {
			t.Fatalf("got %v, want a UniqueError", err)
		}
		engineCount(t, e, 1)
	}
}

func engineFailure(t *testing.T, e store.Engine) {
	var group sync.WaitGroup
	outcome := make([]error, 200)
	for i := range outcome {
		group.Go(func() {
			outcome[i] = e.Write(t.Context(), func(tx store.Tx) error {
				if err := engineAdd(i, fmt.Sprint(i))(tx); err != nil {
					return err
				}
				if i%3 == 0 {
					return errEngineTest
				}
				return nil
			})
		})
	}
	group.Wait()
	var want int64
	for i, err := range outcome {
		if i%3 == 0 {
			if !errors.Is(err, errEngineTest) {
				t.Errorf("write %d: got %v, want its own error", i, err)
			}
			continue
		}
		want++
		if err != nil {
			t.Errorf("write %d: %v", i, err)
		}
		if got := engineInt(t, e, "SELECT count(*) FROM item WHERE id = $1", i); got != 1 {
			t.Errorf("item %d is missing", i)
		}
	}
	engineCount(t, e, want)
}

func enginePanic(t *testing.T, e store.Engine) {
	var group sync.WaitGroup
	for i := range 50 {
		group.Go(func() {
			err := e.Write(t.Context(), func(tx store.Tx) error {
				if err := engineAdd(i, fmt.Sprint(i))(tx); err != nil {
					return err
				}
				if i%2 == 0 {
					panic(fmt.Sprint("lost marbles ", i))
				}
				return nil
			})
			if i%2 == 0 && (err == nil || !strings.Contains(err.Error(), fmt.Sprint("lost marbles ", i))) {
				t.Errorf("write %d: got %v, want the panic's value", i, err)
			}
			if i%2 == 1 && err != nil {
				t.Errorf("write %d: %v", i, err)
			}
		})
	}
	group.Wait()
	engineCount(t, e, 25)
	err := e.Snapshot(t.Context(), func(store.Tx) error { panic("again") })
	if err == nil || !strings.Contains(err.Error(), "again") {
		t.Errorf("snapshot: got %v, want the panic's value", err)
	}
}

func engineSwallowed(t *testing.T, e store.Engine) {
	engineWrite(t, e, engineAdd(1, "taken"))
	var kept store.Tx
	err := e.Write(t.Context(), func(tx store.Tx) error {
		kept = tx
		_ = engineAdd(2, "taken")(tx)
		if err := engineAdd(3, "free")(tx); err == nil {
			t.Error("a statement after a failed one must fail")
		}
		return nil
	})
	if _, ok := errors.AsType[*store.UniqueError](err); !ok {
		t.Errorf("got %v, want the statement's UniqueError", err)
	}
	if _, err := kept.Exec("DELETE FROM item"); err == nil {
		t.Error("a transaction must not work after its end")
	}
	engineCount(t, e, 1)
}
