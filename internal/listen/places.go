package listen

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// places has the open connections, with a cap in total and one per network.
type places struct {
	max, maxPerIP int
	exempt        func(netip.Addr) bool // from the cap per network
	now           func() time.Time
	start         time.Time

	mu       sync.Mutex
	all      []*conn
	networks map[netip.Prefix]*networkConns
}

// networkConns are the connections of one network.
type networkConns struct{ conns []*conn }

func newPlaces(maxConns, maxPerIP int, exempt func(netip.Addr) bool, now func() time.Time) *places {
	return &places{max: maxConns, maxPerIP: maxPerIP, exempt: exempt, now: now, start: now(), networks: make(map[netip.Prefix]*networkConns)}
}

// clock returns the milliseconds since start, at least 1.
func (p *places) clock() int64 { return max(1, p.now().Sub(p.start).Milliseconds()) }

// admitConn reserves a place for c until c is closed. If a cap is reached, it
// closes another connection to make room. It returns false only if the server
// works on requests of verified callers on all connections. It never waits for
// a client.
//
// Choice: a connection that is idle, or whose request waits for its client, costs
// the client nothing. A cap that refuses new connections would let a few networks
// keep all others out. A client whose connection was closed opens another one.
// Trusted clients and reserved places are not needed: the caller of a new
// connection is unknown, so it must be accepted first.
func (p *places) admitConn(c *conn) bool {
	peer := peerOf(c.RemoteAddr().String())
	c.network, c.exempt = networkOf(peer), p.exempt(peer)
	c.progress.state.Store(p.clock() << sinceShift)
	for {
		added, victim, state := p.add(c)
		if added || victim == nil {
			return added
		}
		if victim.progress.state.CompareAndSwap(int64(state), 0) {
			_ = victim.Close()
		}
	}
}

// add reserves a place for c. If a cap is reached, it returns the connection to
// close first, nil if there is none. The cap per network may be exceeded by
// requests that the server works on; other limits bound their number.
func (p *places) add(c *conn) (added bool, victim *conn, state progressState) {
	p.mu.Lock()
	defer p.mu.Unlock()
	own := p.networks[c.network]
	if !c.exempt && own != nil && len(own.conns) >= p.maxPerIP {
		victim, state = p.firstToClose(own.conns)
	}
	if victim == nil && len(p.all) >= p.max {
		if victim, state = p.firstToClose(p.all); victim == nil {
			return false, nil, 0
		}
	}
	if victim != nil {
		return false, victim, state
	}
	if own == nil {
		own = &networkConns{}
		p.networks[c.network] = own
	}
	c.siblings = own
	own.conns = append(own.conns, c)
	c.index = len(p.all)
	p.all = append(p.all, c)
	return true, nil, 0
}

// remove frees the place of c.
func (p *places) remove(c *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := len(p.all) - 1
	p.all[c.index] = p.all[last]
	p.all[c.index].index = c.index
	p.all[last] = nil
	p.all = p.all[:last]
	own := c.siblings
	i := slices.Index(own.conns, c)
	if own.conns = slices.Delete(own.conns, i, i+1); len(own.conns) == 0 {
		delete(p.networks, c.network)
	}
}

// firstToClose returns the connection to close for a new one, with its state, nil
// if there is none. Those that are just idle or have a verified caller come last.
// Among the others, those of the network with the most connections come first, of
// these the idle ones, and then the one that has been so for the longest time.
// Networks without a cap come last. The caller must hold mu.
func (p *places) firstToClose(conns []*conn) (first *conn, state progressState) {
	now := p.clock()
	var best, key closeKey
	for _, c := range conns {
		s := progressState(c.progress.state.Load())
		switch key.rank = s.rankAt(now); {
		case key.rank == rankNever:
			continue
		case s&stateRuns == 0 && c.writing.Load() > 0:
			key.rank = rankJustIdle
		}
		key.since, key.others = s.since(), 0
		if !c.exempt {
			key.others = len(c.siblings.conns)
		}
		if first == nil || key.before(best) {
			first, state, best = c, s, key
		}
	}
	return first, state
}

// closeKey orders connections by which to close first.
type closeKey struct {
	rank   rank
	others int
	since  int64
}

func (a closeKey) before(b closeKey) bool {
	switch {
	case a.rank != b.rank && max(a.rank, b.rank) > rankAnonymous:
		return a.rank < b.rank
	case a.others != b.others:
		return a.others > b.others
	case a.rank != b.rank:
		return a.rank < b.rank
	}
	return a.since < b.since
}

// track is the ConnState hook of the servers. A connection is idle until its
// first request has a whole header, and between requests.
func (p *places) track(nc net.Conn, state http.ConnState) {
	c := countedConn(nc)
	switch state {
	case http.StateActive:
		if !c.progress.beginRequest(p.clock()) {
			// The header arrived while the connection was being closed. The
			// request must not run, because its response would be lost.
			// net/http recovers from this panic.
			panic(http.ErrAbortHandler)
		}
	case http.StateIdle:
		c.progress.endRequest(p.clock())
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

// networkOf returns the unit of the cap per network. An IPv6 client has a whole
// /56, so a cap per single address would be ineffective.
//
// Choice: it repeats ratelimit.Network, because this package imports no other
// package of this module.
func networkOf(a netip.Addr) netip.Prefix {
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
