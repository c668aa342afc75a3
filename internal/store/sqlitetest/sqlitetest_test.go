package sqlitetest_test

import (
	"testing"

	"fanfare/internal/store"
	"fanfare/internal/store/sqlitetest"
	"fanfare/internal/store/storetest"
)

// TestEngine checks that a database in memory does what every engine must do, so
// that slices can be tested on it alone. The tests of store run
// storetest.Records on it.
func TestEngine(t *testing.T) {
	t.Parallel()
	storetest.Engine(t, func(t *testing.T) store.Engine { return sqlitetest.Open(t) })
}
