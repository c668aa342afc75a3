//go:build testclock

package main

import (
	"os"
	"time"
)

// testBuild says that this binary is for tests only: its clock can be moved.
const testBuild = true

// Both come from the environment, so that a test can start a server in another
// time: moved together with the database, or wrong by skew.
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
