package store_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"fanfare/internal/analytics"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/store/sqlitetest"
	"fanfare/internal/store/storetest"
)

// TestResultsInParts wants a long result to be written and deleted in several
// transactions, so that other writes come in between, and one that is written in
// part not to be read.
func TestResultsInParts(t *testing.T) {
	t.Parallel()
	e := &storetest.Wrapped{Engine: sqlitetest.Open(t)}
	w := storetest.NewFixture(t, e)
	full := errors.New("no disk")
	failAt := func(statement string, n int) {
		e.Statement = func(query string, _ bool) error {
			if strings.HasPrefix(query, statement) {
				if n--; n < 0 {
					return full
				}
			}
			return nil
		}
	}
	k := &analytics.StoredResult{ID: "res_1", Hash: "hash", Meta: []byte(`{"n":1}`), ExpiresAt: w.Now().Add(time.Minute)}
	for i := range 10_000 {
		k.Rows = append(k.Rows, fmt.Appendf(nil, `{"row":%d}`, i))
	}
	failAt("INSERT INTO result_rows", 19)
	if err := w.DB.Results().Save(t.Context(), w.Workspace, k); !errors.Is(err, full) {
		t.Fatalf("got %v want %v", err, full)
	}
	w.Count(16, `SELECT count(*) FROM result_rows`)
	if _, _, _, err := w.DB.Results().Page(t.Context(), w.Workspace, k.ID, 0, 10); !fault.Is(err, fault.NotFound) {
		t.Errorf("a part of a result: got %v want not_found", err)
	}
	w.Clock.Advance(time.Minute)
	failAt("DELETE FROM result_rows", 1)
	if _, err := w.DB.Prune(t.Context()); !errors.Is(err, full) {
		t.Fatalf("got %v want %v", err, full)
	}
	w.Count(8, `SELECT count(*) FROM result_rows`)
	e.Statement = nil
	if n, err := w.DB.Prune(t.Context()); err != nil || n != 8 {
		t.Errorf("got %d, %v want the other 8", n, err)
	}
}

// TestResultsAreBounded stores more results than a workspace may have. The oldest
// are deleted, and those of another workspace are not.
func TestResultsAreBounded(t *testing.T) {
	t.Parallel()
	w := storetest.NewFixture(t, sqlitetest.Open(t))
	save := func(workspace ident.ID, id ident.ID) {
		t.Helper()
		k := &analytics.StoredResult{ID: id, Hash: "hash", Meta: []byte(`{}`), ExpiresAt: w.Now().Add(time.Hour), Rows: slices.Repeat([][]byte{[]byte(`{}`)}, 100_000)}
		if err := w.DB.Results().Save(t.Context(), workspace, k); err != nil {
			t.Fatal(err)
		}
		w.Clock.Advance(time.Second)
	}
	page := func(workspace ident.ID, id ident.ID) error {
		_, _, _, err := w.DB.Results().Page(t.Context(), workspace, id, 99_990, 10)
		return err
	}
	save("wks_other", "res_other")
	for i := range 12 {
		save(w.Workspace, ident.ID(fmt.Sprintf("res_%d", i)))
	}
	for i := range 12 {
		if err := page(w.Workspace, ident.ID(fmt.Sprintf("res_%d", i))); fault.Is(err, fault.NotFound) != (i < 2) || err != nil && i >= 2 {
			t.Errorf("result %d of 12: got %v", i, err)
		}
	}
	if err := page("wks_other", "res_other"); err != nil {
		t.Errorf("another workspace: got %v", err)
	}
	w.Count(2200, `SELECT count(*) FROM result_rows`)
}
