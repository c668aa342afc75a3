//go:build testclock

package main

import (
	"os"
	"time"
)

// testBuild says that this binary is for tests only: its clock can be moved.
const testBuild = true

// offset comes from the environment, so that a test can start a server in
// another time.
var offset = func() time.Duration {
	d, err := time.ParseDuration(os.Getenv("FANFARE_CLOCK_OFFSET"))
	if err != nil {
		return 0
	}
	return d
}()

func now() time.Time { return time.Now().Add(offset) }
