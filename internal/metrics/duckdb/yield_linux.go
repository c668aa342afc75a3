package duckdb

import "syscall"

// lower is how much nicer than the program the threads are that give way: they
// get a tenth of what others get who want as much, and all that nobody wants.
const lower = 10

// giveWay lowers the priority of the calling thread and of those that it
// starts. Where that is forbidden all are equal.
func giveWay() {
	// The kernel answers with 20 less the priority that it is asked to set.
	if inverse, err := syscall.Getpriority(syscall.PRIO_PROCESS, 0); err == nil {
		_ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, 20-inverse+lower)
	}
}
