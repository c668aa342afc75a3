package listen

import (
	"net"
	"net/netip"
	"strings"
	"sync"
)

// speech is what the first bytes of a connection announce.
type speech int

const (
	speaksHTTP1 speech = iota // or anything else: the HTTP/1.1 server refuses it
	speaksHTTP2
	speaksTLS
)

const (
	tlsRecord = 0x16  // content type of a TLS handshake record
	preface   = "PRI" // no HTTP/1.1 method starts like this (RFC 9113, 3.4)
)

// conn is a connection that holds a place under the caps. Close gives the
// place back exactly once.
type conn struct {
	net.Conn
	ahead   []byte // read while sniffing, not yet delivered
	release func()
	once    sync.Once
}

// sniff waits for the first bytes and says what they are, without consuming
// them. It reads as little as the answer needs: one byte for TLS.
func (c *conn) sniff() (speech, error) {
	var buf [len(preface)]byte
	for n := 0; ; {
		m, err := c.Conn.Read(buf[n:])
		n += m
		c.ahead = buf[:n]
		switch {
		case n > 0 && buf[0] == tlsRecord:
			return speaksTLS, nil
		case n == len(preface) && string(buf[:n]) == preface:
			return speaksHTTP2, nil
		case n > 0 && !strings.HasPrefix(preface, string(buf[:n])):
			return speaksHTTP1, nil
		case err != nil:
			return speaksHTTP1, err
		}
	}
}

func (c *conn) Read(p []byte) (int, error) {
	if len(c.ahead) > 0 {
		n := copy(p, c.ahead)
		c.ahead = c.ahead[n:]
		return n, nil
	}
	return c.Conn.Read(p)
}

// CloseWrite lets net/http end its answer before it closes, so that a client
// still sending a body reads the refusal instead of a reset.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

func (c *conn) Close() error {
	err := c.Conn.Close()
	c.once.Do(c.release)
	return err
}

// places counts open connections, in all and per address.
type places struct {
	max, maxPerIP int
	exempt        func(netip.Addr) bool // from the cap per address

	mu    sync.Mutex
	total int
	perIP map[netip.Prefix]int
}

func newPlaces(maxConns, maxPerIP int, exempt func(netip.Addr) bool) *places {
	return &places{max: maxConns, maxPerIP: maxPerIP, exempt: exempt, perIP: make(map[netip.Prefix]int)}
}

// take reserves a place for peer; release gives it back. It never blocks.
func (p *places) take(peer netip.Addr) (release func(), ok bool) {
	capped := !p.exempt(peer)
	key := network(peer)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.total >= p.max || capped && p.perIP[key] >= p.maxPerIP {
		return nil, false
	}
	p.total++
	if capped {
		p.perIP[key]++
	}
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.total--
		if !capped {
			return
		}
		if p.perIP[key]--; p.perIP[key] == 0 {
			delete(p.perIP, key)
		}
	}, true
}

// network is the unit of the cap per address. An IPv6 client owns its whole
// /64, so single addresses there would count nothing.
func network(a netip.Addr) netip.Prefix {
	bits := 32
	if a.Is6() {
		bits = 64
	}
	p, err := a.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return p
}

// peerOf reads the address out of host:port; the zero Addr when there is none.
func peerOf(hostPort string) netip.Addr {
	ap, err := netip.ParseAddrPort(hostPort)
	if err != nil {
		return netip.Addr{}
	}
	return ap.Addr().Unmap().WithZone("")
}

// queue is a net.Listener fed by hand.
type queue struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func newQueue() *queue {
	return &queue{conns: make(chan net.Conn), done: make(chan struct{})}
}

// put delivers c, or closes it when nobody accepts any more.
func (q *queue) put(c net.Conn) {
	select {
	case q.conns <- c:
	case <-q.done:
		_ = c.Close()
	}
}

func (q *queue) Accept() (net.Conn, error) {
	select {
	case c := <-q.conns:
		return c, nil
	case <-q.done:
		return nil, net.ErrClosed
	}
}

func (q *queue) Close() error {
	q.once.Do(func() { close(q.done) })
	return nil
}

// Addr is required by net.Listener; net/http only shows it to handlers.
func (q *queue) Addr() net.Addr { return &net.TCPAddr{} }
