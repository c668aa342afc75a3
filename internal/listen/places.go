package listen

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// Values of conn.idle besides a time.
const (
	requestRuns = 0
	cutOff      = -1 // closed to make room for another connection
)

// minIdle is how long a connection must have been idle before it is closed to
// make room: net/http calls an HTTP/2 connection idle just before it sends the
// last bytes of a response.
const minIdle = 100 * time.Millisecond

// places holds the open connections, with a cap in total and one per address.
type places struct {
	max, maxPerIP int
	exempt        func(netip.Addr) bool // from the cap per address
	now           func() time.Time
	start         time.Time

	mu       sync.Mutex
	total    int
	networks map[netip.Prefix][]*conn
}

func newPlaces(maxConns, maxPerIP int, exempt func(netip.Addr) bool, now func() time.Time) *places {
	return &places{max: maxConns, maxPerIP: maxPerIP, exempt: exempt, now: now, start: now(), networks: make(map[netip.Prefix][]*conn)}
}

// clock returns the nanoseconds since start, at least 1.
func (p *places) clock() int64 { return max(1, int64(p.now().Sub(p.start))) }

// admit reserves a place for c until c is closed. If a cap is reached, it closes
// an idle connection to make room, and returns false if there is none. It never
// waits for a client.
// Choice: an idle connection costs its client nothing, so that a cap that
// refuses newcomers would let a few addresses keep all others out. A client
// whose idle connection was closed opens another one.
func (p *places) admit(c *conn) bool {
	peer := peerOf(c.RemoteAddr().String())
	c.network, c.exempt = network(peer), p.exempt(peer)
	c.idle.Store(p.clock())
	for !p.add(c) {
		idle, since := p.longestIdle(c)
		if idle == nil {
			return false
		}
		if idle.idle.CompareAndSwap(since, cutOff) {
			_ = idle.Close()
		}
	}
	return true
}

// add reserves a place for c unless a cap is reached.
func (p *places) add(c *conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.total >= p.max || p.networkFull(c) {
		return false
	}
	p.networks[c.network] = append(p.networks[c.network], c)
	p.total++
	return true
}

// remove frees the place of c.
func (p *places) remove(c *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.total--
	conns := p.networks[c.network]
	i := slices.Index(conns, c)
	if conns = slices.Delete(conns, i, i+1); len(conns) == 0 {
		delete(p.networks, c.network)
		return
	}
	p.networks[c.network] = conns
}

// networkFull reports whether the network of c has reached the cap per address.
// The caller must hold mu.
func (p *places) networkFull(c *conn) bool {
	return !c.exempt && len(p.networks[c.network]) >= p.maxPerIP
}

// longestIdle returns the idle connection to close for c, and since when it is
// idle: the oldest of c's own network if that is full, otherwise the oldest of
// the network with the most connections. Networks without a cap come last. It
// returns nil if no connection is idle.
func (p *places) longestIdle(c *conn) (oldest *conn, since int64) {
	latest := p.clock() - int64(minIdle)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.networkFull(c) {
		return oldestOf(p.networks[c.network], latest)
	}
	most := 0
	for _, conns := range p.networks {
		if len(conns) < most {
			continue
		}
		candidate, at := oldestOf(conns, latest)
		if candidate == nil {
			continue
		}
		n := len(conns)
		if candidate.exempt {
			n = 0
		}
		if oldest == nil || n > most || n == most && at < since {
			oldest, since, most = candidate, at, n
		}
	}
	return oldest, since
}

// oldestOf returns the connection that has been idle for the longest time, nil
// if none has been idle since latest.
func oldestOf(conns []*conn, latest int64) (oldest *conn, since int64) {
	for _, c := range conns {
		at := c.idle.Load()
		if at > requestRuns && at <= latest && (oldest == nil || at < since) && c.writing.Load() == 0 {
			oldest, since = c, at
		}
	}
	return oldest, since
}

// track is the ConnState hook of the servers. A connection is idle until its
// first request has a whole header, and between requests.
func (p *places) track(nc net.Conn, state http.ConnState) {
	c := countedConn(nc)
	switch state {
	case http.StateActive:
		if at := c.idle.Load(); at == cutOff || !c.idle.CompareAndSwap(at, requestRuns) {
			// The header arrived while the connection was being closed. The
			// request must not run, because its response would be lost.
			// net/http recovers from this panic.
			panic(http.ErrAbortHandler)
		}
	case http.StateIdle:
		c.idle.CompareAndSwap(requestRuns, p.clock())
	default:
	}
}

// countedConn returns the connection below TLS and below the check of headers.
func countedConn(nc net.Conn) *conn {
	for {
		if c, ok := nc.(*conn); ok {
			return c
		}
		nc = nc.(interface{ NetConn() net.Conn }).NetConn()
	}
}

// network returns the unit of the cap per address. An IPv6 client has a whole
// /56, so that a cap per single address would be ineffective.
func network(a netip.Addr) netip.Prefix {
	bits := 32
	if a.Is6() {
		bits = 56
	}
	p, err := a.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return p
}
