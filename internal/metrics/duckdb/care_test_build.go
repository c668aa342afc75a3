//go:build testclock

package duckdb

import (
	"os"
	"time"
)

// A binary for tests can be made to look after its file all the time, for
// little reason, so that a crash finds it doing so.
func init() {
	if every, err := time.ParseDuration(os.Getenv("FANFARE_FACTS_CARE")); err == nil {
		usual = care{every: every, unsaved: 3, loose: 300, rollFrom: 100}
	}
}
