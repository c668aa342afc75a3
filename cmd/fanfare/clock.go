//go:build !testclock

package main

import "time"

// testBuild says that this binary is for tests only.
const testBuild = false

// moved is how far a test has moved the clock on purpose.
const moved = time.Duration(0)

// now is where time enters the program.
func now() time.Time { return time.Now() }
