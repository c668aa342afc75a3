package duckdb

import "golang.org/x/sys/unix"

const (
	// lower is how much nicer than the program the threads are that give way:
	// they get a fiftieth of what others get who want as much, and all that
	// nobody wants.
	// Choice: at 15 and less the kernel often lets them go on until its next
	// tick although another thread has woken up, because that one has just had
	// more than its share of a core that nobody else wanted.
	lower = 17
	// turn is how long such a thread would like to go on at once, in
	// nanoseconds. A kernel that knows wishes lets a thread with a shorter one
	// interrupt it as soon as it has something to do, instead of at the next
	// tick; an older one takes no notice.
	turn = 100_000_000
)

// giveWay lowers the priority of the calling thread and of those that it
// starts. Where that is forbidden all are equal.
func giveWay() {
	attr, err := unix.SchedGetAttr(0, 0)
	if err != nil {
		return
	}
	attr.Nice += lower
	attr.Runtime = turn
	_ = unix.SchedSetAttr(0, attr, 0)
}
