//go:build testclock

package duckdb

import (
	"os"
	"time"
)

// With FANFARE_FACTS_CARE, a test binary maintains its file very often, so that
// crash tests interrupt maintenance.
func init() {
	if every, err := time.ParseDuration(os.Getenv("FANFARE_FACTS_CARE")); err == nil {
		defaultMaintenance = maintenanceLimits{every: every, unsaved: 3, unsorted: 300, sumFrom: 100}
	}
}
