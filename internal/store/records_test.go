package store_test

import (
	"testing"

	"fanfare/internal/store"
	"fanfare/internal/store/pgtest"
	"fanfare/internal/store/postgres"
	"fanfare/internal/store/sqlitetest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// engines open an empty database each and close it when the test ends.
var engines = map[string]func(t *testing.T) store.Engine{
	"sqlite":   func(t *testing.T) store.Engine { return sqlitetest.Open(t) },
	"postgres": func(t *testing.T) store.Engine { return node(t, pgtest.URL(t)) },
}

// node returns one of several engines on a database.
func node(t *testing.T, url string) store.Engine {
	t.Helper()
	e, err := postgres.Open(t.Context(), url, postgres.Options{})
	return closing(t, e, err)
}

func closing(t *testing.T, e store.Engine, err error) store.Engine {
	t.Helper()
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

// each runs a test on both engines.
func each(t *testing.T, test func(t *testing.T, open func(t *testing.T) store.Engine)) {
	t.Helper()
	for name, open := range engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open)
		})
	}
}
