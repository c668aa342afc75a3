//go:build testclock

package main

import (
	"os"
	"time"
)

// testBuild reports that this binary is for tests only: its clock can be moved.
const testBuild = true

// Both are environment variables, so that a test can start a server at another
// time: moved shifts it together with the database, skew makes it wrong.
var (
	moved = duration("FANFARE_CLOCK_OFFSET")
	skew  = duration("FANFARE_CLOCK_SKEW")
)

func duration(name string) time.Duration {
	d, err := time.ParseDuration(os.Getenv(name))
	if err != nil {
		return 0
	}
	return d
}

func now() time.Time { return time.Now().Add(moved + skew) }
