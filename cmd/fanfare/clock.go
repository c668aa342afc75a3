//go:build !testclock

package main

import "time"

// testBuild reports that this binary is for tests only.
const testBuild = false

// moved is the clock offset that a test has set.
const moved = time.Duration(0)

// now returns the time. It is the program's only clock.
func now() time.Time { return time.Now() }
