//go:build !equalpriorities

package duckdb

import "golang.org/x/sys/unix"

// niceness is the niceness of threads that scan. Where other threads want the
// same core they get about a fiftieth of it, else all of it.
const niceness = 17

// lowerPriority lowers the priority of the calling thread and of threads that it
// starts. If that is forbidden, all threads keep the same priority.
func lowerPriority() {
	_ = unix.Setpriority(unix.PRIO_PROCESS, 0, niceness)
}
