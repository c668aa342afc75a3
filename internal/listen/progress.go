package listen

import (
	"context"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// Progress is the state of the requests of a connection. It decides whether the
// connection can be closed to make room for a new one.
//
// Choice: the whole state is one number that changes by compare-and-swap. A
// connection is closed only in the state in which it was selected, so that no
// request begins its work while its connection is being closed, and no request
// waits for a lock.
type Progress struct{ state atomic.Int64 }

// progressState is, from the lowest bit: whether a request runs, whether one of
// the requests has a verified caller, how many are being worked on (10 bits),
// and since when a request has run or none has, in milliseconds by the clock of
// places. A connection that was closed to make room has the state 0.
type progressState int64

const (
	stateRuns     progressState = 1
	stateVerified progressState = 2
	oneWorking    progressState = 4
	allWorking    progressState = 1023 * oneWorking
	sinceShift                  = 12
)

func (s progressState) since() int64 { return int64(s) >> sinceShift }

// changeState applies next to the state. It returns false if the connection was
// closed to make room.
func (p *Progress) changeState(next func(progressState) progressState) bool {
	for {
		old := p.state.Load()
		if old == 0 {
			return false
		}
		if p.state.CompareAndSwap(old, int64(next(progressState(old)))) {
			return true
		}
	}
}

// StartWork records that the server works on a request with a valid key or
// session and does not wait for the client. The connection stays open until
// StopWork, and counts as verified until it has no request. If it was closed
// just before, StartWork panics with http.ErrAbortHandler: the request must not
// run, because its response would be lost.
func (p *Progress) StartWork() {
	if !p.changeState(func(s progressState) progressState { return s + oneWorking | stateVerified }) {
		panic(http.ErrAbortHandler)
	}
}

// StopWork ends StartWork.
func (p *Progress) StopWork() {
	p.changeState(func(s progressState) progressState { return s - oneWorking })
}

func (p *Progress) verified() bool {
	return p != nil && progressState(p.state.Load())&stateVerified != 0
}

// beginRequest records that the connection has a request from now on,
// endRequest that it has none. An HTTP/2 client can cancel a request that is
// still being worked on.
func (p *Progress) beginRequest(now int64) bool {
	return p.changeState(func(s progressState) progressState { return progressState(now)<<sinceShift | s&allWorking | stateRuns })
}

func (p *Progress) endRequest(now int64) {
	p.changeState(func(s progressState) progressState { return progressState(now)<<sinceShift | s&allWorking })
}

// rank is the order in which connections are closed to make room.
type rank int

const (
	rankIdle      rank = iota // between two requests
	rankAnonymous             // new, or with requests that no verified caller sent
	rankJustIdle              // idle for less than minIdle, or still writes
	rankVerified              // waits for a verified caller's body or for it to read
	rankNever                 // the server works on a verified caller's request
)

const (
	// minIdle is how long a connection is just idle: net/http calls an HTTP/2
	// connection idle just before it sends the last bytes of a response.
	minIdle = 100 * time.Millisecond
	// newTime is how long a connection without a request is new. It can be in
	// its handshake, so that it is not closed before older ones with requests. On
	// a machine with ten times as much work as cores, 2 s were too short.
	newTime = 5 * time.Second
)

// rankAt returns the rank of a connection in this state.
func (s progressState) rankAt(now int64) rank {
	idle := time.Duration(now-s.since()) * time.Millisecond
	switch runs := s&stateRuns != 0; {
	case s == 0 || s&allWorking != 0:
		return rankNever
	case !runs && idle < minIdle:
		return rankJustIdle
	case runs && s&stateVerified != 0:
		return rankVerified
	case runs || idle < newTime:
		return rankAnonymous
	}
	return rankIdle
}

type progressKey struct{}

// ProgressOf returns the progress of the connection of a request, nil if the
// request did not come through a Listener.
func ProgressOf(ctx context.Context) *Progress {
	p, _ := ctx.Value(progressKey{}).(*Progress)
	return p
}

// withProgress is the ConnContext hook of the servers.
func withProgress(ctx context.Context, nc net.Conn) context.Context {
	return context.WithValue(ctx, progressKey{}, &countedConn(nc).progress)
}
