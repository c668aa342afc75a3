package listen

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// protocol is the protocol that the first bytes of a connection announce.
type protocol int

const (
	protocolHTTP1 protocol = iota // or anything else: the HTTP/1.1 server refuses it
	protocolHTTP2
	protocolTLS
)

const (
	tlsRecord = 0x16  // content type of a TLS handshake record
	preface   = "PRI" // no HTTP/1.1 method starts like this (RFC 9113, 3.4)
)

// conn is a connection that counts toward the caps. Close releases its place
// exactly once.
type conn struct {
	net.Conn
	client  net.Addr // named by a balancer, else nil
	ahead   []byte   // read while sniffing, not yet delivered
	release func()
	once    sync.Once

	// network is the unit of the cap per network, and siblings are the
	// connections of that network; exempt ones have no such cap. index is the
	// position in places.all.
	network  netip.Prefix
	siblings *networkConns
	exempt   bool
	index    int
	// progress is what the requests of the connection do.
	progress Progress
	// writing is the number of writes in progress.
	writing atomic.Int32

	// stalled reports that a write exceeded the read allowance.
	stalled   atomic.Bool
	mu        sync.Mutex
	allowance readAllowance
	// until is the server's write deadline, if any; deadline is the one in
	// effect.
	until, deadline time.Time
}

// maxPiece is how many bytes a client must read before the stall time restarts:
// the size of a TLS record.
const maxPiece = 16 << 10

// Write fails if the client has used up its read allowance.
func (c *conn) Write(p []byte) (n int, err error) {
	c.writing.Add(1)
	defer c.writing.Add(-1)
	for {
		piece := p[:min(len(p), maxPiece)]
		begin, err := c.extend()
		if err != nil {
			return n, err
		}
		m, err := c.Conn.Write(piece)
		n += m
		c.mu.Lock()
		c.allowance.spend(time.Since(begin), m, c.progress.verified())
		c.mu.Unlock()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			// Nothing more is sent to this client, not even a TLS close.
			c.stalled.Store(true)
		}
		if p = p[len(piece):]; err != nil || len(p) == 0 {
			return n, err
		}
	}
}

// extend moves the write deadline and returns the time. It does not move it by
// less than a part of the stall time, because small responses follow each other
// quickly.
func (c *conn) extend() (now time.Time, err error) {
	if c.stalled.Load() {
		return now, os.ErrDeadlineExceeded
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now = time.Now() //nolint:forbidigo // sockets know only the machine's own time
	want := c.limit(now)
	if more := want.Sub(c.deadline); more >= 0 && more < c.allowance.stall/16 {
		return now, nil
	}
	c.deadline = want
	return now, c.Conn.SetWriteDeadline(want)
}

// limit returns the earlier of both deadlines for a write that starts now.
func (c *conn) limit(now time.Time) time.Time {
	if end := now.Add(c.allowance.remaining(c.progress.verified())); c.until.IsZero() || end.Before(c.until) {
		return end
	}
	return c.until
}

// SetWriteDeadline implements net.Conn. The deadline is never later
// than the read allowance.
func (c *conn) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.until = t
	c.deadline = c.limit(time.Now()) //nolint:forbidigo // sockets know only the machine's own time
	return c.Conn.SetWriteDeadline(c.deadline)
}

// SetDeadline implements net.Conn.
func (c *conn) SetDeadline(t time.Time) error {
	if err := c.SetReadDeadline(t); err != nil {
		return err
	}
	return c.SetWriteDeadline(t)
}

// sniff waits for the first bytes and returns their protocol, without consuming
// them. It reads no more than necessary: one byte for TLS.
func (c *conn) sniff() (protocol, error) {
	var buf [len(preface)]byte
	for n := 0; ; {
		m, err := c.Conn.Read(buf[n:])
		n += m
		c.ahead = buf[:n]
		switch {
		case n > 0 && buf[0] == tlsRecord:
			return protocolTLS, nil
		case n == len(preface) && string(buf[:n]) == preface:
			return protocolHTTP2, nil
		case n > 0 && !strings.HasPrefix(preface, string(buf[:n])):
			return protocolHTTP1, nil
		case err != nil:
			return protocolHTTP1, err
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

// RemoteAddr returns the address of the client, also behind a balancer.
func (c *conn) RemoteAddr() net.Addr {
	if c.client != nil {
		return c.client
	}
	return c.Conn.RemoteAddr()
}

// CloseWrite lets net/http end its response before it closes, so that a client
// that still sends a body reads the refusal instead of a reset.
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

// peerOf returns the address in host:port, the zero Addr if it has none.
func peerOf(hostPort string) netip.Addr {
	ap, err := netip.ParseAddrPort(hostPort)
	if err != nil {
		return netip.Addr{}
	}
	return ap.Addr().Unmap().WithZone("")
}

// queue is a net.Listener whose connections come from put.
type queue struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func newQueue() *queue {
	return &queue{conns: make(chan net.Conn), done: make(chan struct{})}
}

// put delivers c, or closes it after the queue was closed.
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
