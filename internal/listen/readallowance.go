package listen

import "time"

// minReadRate is how many bytes per second a client must read of responses to
// requests that no verified caller sent.
//
// Choice: 8 KiB, because a slow mobile connection is faster, and because it
// ends a client that reads just enough not to be idle after about the stall
// time instead of hours.
const minReadRate = 8 << 10

// readAllowance is how long the server still waits for a client that reads
// slowly. Only the time in which the server waits counts. A verified caller has
// the stall time for every piece, and any time for the whole response. Every
// other client has the stall time in total, and gets more for each byte that it
// reads, by minReadRate.
type readAllowance struct{ stall, left time.Duration }

func newReadAllowance(stall time.Duration) readAllowance { return readAllowance{stall, stall} }

// remaining returns how long the next write may take.
func (a *readAllowance) remaining(verified bool) time.Duration {
	if verified {
		return a.stall
	}
	return a.left
}

// spend subtracts the time that the server waited for the client to read n
// bytes.
func (a *readAllowance) spend(waited time.Duration, n int, verified bool) {
	if verified {
		a.left = a.stall
		return
	}
	a.left = min(a.stall, max(0, a.left-waited)+time.Duration(n)*time.Second/minReadRate)
}
