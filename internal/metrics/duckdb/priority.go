package duckdb

import "runtime"

// withLowPriority runs f on a thread of low priority, so that a long scan does
// not delay reads of records, which take microseconds. The thread ends with f,
// because its priority cannot be raised again. f must not read results: while a
// thread runs Go code at low priority, the garbage collector may wait for it.
func withLowPriority(f func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		lowerPriority()
		done <- f()
	}()
	return <-done
}
