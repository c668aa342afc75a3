package store_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"fanfare/internal/analytics"
	"fanfare/internal/fault"
	"fanfare/internal/store/sqlitetest"
	"fanfare/internal/store/storetest"
)

// TestResultsInParts wants a long result to be written and deleted in several
// transactions, so that other writes come in between, and one that is written in
// part not to be read.
func TestResultsInParts(t *testing.T) {
	t.Parallel()
	e := &storetest.Wrapped{Engine: sqlitetest.Open(t)}
	w := storetest.NewWorld(t, e)
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
