package duckdb

import "runtime"

// apart runs f on a thread that gives way to all others, so that what takes
// long does not hold up what does not: a record is read in microseconds, and
// would wait for a scan's share of the core to be over. The thread ends with
// f, because its priority cannot be raised again; therefore f should do nothing
// that others wait for, such as reading a result, during which the thread has
// one of Go's processors and may hold up its collector.
func apart(f func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		giveWay()
		done <- f()
	}()
	return <-done
}
