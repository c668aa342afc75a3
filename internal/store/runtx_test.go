package store_test

import (
	"errors"
	"strings"
	"testing"

	"fanfare/internal/store"
)

// failingTx is a transaction whose statements fail with err, if it is set.
type failingTx struct {
	store.Tx
	err error
}

func (t *failingTx) Script(string) error { return t.err }

// TestRunTx checks which error a transaction ends with, and that it cannot be
// used afterwards.
func TestRunTx(t *testing.T) {
	t.Parallel()
	own, statement := errors.New("own"), errors.New("statement")
	for name, tt := range map[string]struct {
		failed error
		fn     func(store.Tx) error
		want   string
	}{
		"success":              {nil, func(store.Tx) error { return nil }, ""},
		"own error":            {nil, func(store.Tx) error { return own }, "own"},
		"hidden statement":     {statement, func(tx store.Tx) error { _ = tx.Script(""); return nil }, "statement"},
		"own after statement":  {statement, func(store.Tx) error { return own }, "own"},
		"panic":                {nil, func(store.Tx) error { panic("bug") }, "panic in transaction: bug"},
		"panic with statement": {statement, func(store.Tx) error { panic("bug") }, "panic in transaction: bug"},
	} {
		tx := &failingTx{err: tt.failed}
		err := store.RunTx(tx, &tx.err, tt.fn)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.HasPrefix(err.Error(), tt.want)) {
			t.Errorf("%s: got %v want %q", name, err, tt.want)
		}
		if err := tx.Script(""); err == nil || !strings.Contains(err.Error(), "after its end") {
			t.Errorf("%s: a later statement got %v want an error", name, err)
		}
	}
}
