package listen

import "time"

// minReadRate is how many bytes per second a client must read of responses to
// requests that no verified caller sent.
//
// Choice: 8 KiB, because a slow mobile connection is faster, and because it ends
// a client that reads just enough not to be idle after about the stall time
// instead of hours.
const minReadRate = 8 << 10

// patience is how long the server waits for a client that reads slowly. Only the
// time in which the server waits counts. A verified caller has the stall time
// for every piece and may take any time for the whole. Every other client has
// the stall time in all, and gets more for what it reads, by minReadRate.
type patience struct{ stall, left time.Duration }

func newPatience(stall time.Duration) patience { return patience{stall, stall} }

// remaining returns how long the next write may take.
func (p *patience) remaining(verified bool) time.Duration {
	if verified {
		return p.stall
	}
	return p.left
}

// spend notes that the server waited for the client to read n bytes.
func (p *patience) spend(waited time.Duration, n int, verified bool) {
	if verified {
		p.left = p.stall
		return
	}
	p.left = min(p.stall, max(0, p.left-waited)+time.Duration(n)*time.Second/minReadRate)
}
