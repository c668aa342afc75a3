//go:build !testclock

package main

import "time"

// testBuild says that this binary is for tests only.
const testBuild = false

// now is where time enters the program.
func now() time.Time { return time.Now() }
