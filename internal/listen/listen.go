// Package listen opens the server's only port. It offers TLS in four modes and
// refuses everything else. It handles certificates and connections, never
// routes or API keys. Requests over TLS, or through a trusted proxy, go to one
// handler. All others go to a second handler that can only refuse them.
package listen

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// handshakeTimeout limits the time from accept to the end of the TLS handshake.
// One timer covers both, so that a slow client cannot use it twice.
const handshakeTimeout = 5 * time.Second

// PlainHandler responds to a request that did not arrive over TLS. The
// connection is closed after the response. mayRevoke allows it to revoke a
// valid key in the request: false for loopback peers and in proxy mode.
type PlainHandler func(w http.ResponseWriter, r *http.Request, mayRevoke bool)

// Listener is the open port. Its methods may be called from several
// goroutines.
type Listener struct {
	cfg       Config
	now       func() time.Time
	clientLog *rateLimitedLog
	base      net.Listener
	places    *places
	tls       *tls.Config // nil in proxy mode
	authority *authority  // auto mode only
	managed   *managed    // acme mode only

	mu         sync.Mutex
	secure     *serverPair
	plain      *serverPair    // nil in proxy mode
	conns      map[*conn]bool // every open connection; true once it has sent bytes
	handshakes sync.WaitGroup
	stop       chan struct{} // closed when Shutdown begins
	finished   chan struct{} // closed when Shutdown ends
}

// Open checks cfg, prepares the certificate and opens the port. Connections
// wait in the kernel until Serve. In acme mode the certificate is obtained in
// the background after Serve starts; until then handshakes fail. Canceling ctx
// stops certificate work, not the listener: call Shutdown for that.
func Open(ctx context.Context, cfg Config, now func() time.Time, log *slog.Logger) (*Listener, error) {
	if faults := cfg.Check(now()); len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	var lc net.ListenConfig
	base, err := lc.Listen(ctx, "tcp", cfg.Addr)
	if err != nil {
		return nil, fmt.Errorf("open port %s: %w", cfg.Addr, err)
	}
	l, err := open(ctx, base, cfg, now, log)
	if err != nil {
		return nil, errors.Join(err, base.Close())
	}
	return l, nil
}

// open is Open on an existing listener.
func open(ctx context.Context, base net.Listener, cfg Config, now func() time.Time, log *slog.Logger) (*Listener, error) {
	cfg = cfg.withDefaults()
	l := &Listener{
		cfg:       cfg,
		now:       now,
		clientLog: newRateLimitedLog(log, now),
		base:      base,
		conns:     make(map[*conn]bool),
		stop:      make(chan struct{}),
		finished:  make(chan struct{}),
	}
	l.places = newPlaces(cfg.MaxConns, cfg.MaxConnsPerIP, func(a netip.Addr) bool {
		// Choice: trusted proxies are exempt like loopback, because they
		// forward many clients from few addresses.
		return a.IsLoopback() || cfg.trusts(a)
	}, now)
	switch cfg.Mode {
	case ModeAuto:
		a, err := openAuthority(cfg.Dir, machineName(), now, log)
		if err != nil {
			return nil, err
		}
		l.authority = a
		l.tls = tlsConfig(a.certificate, now)
	case ModeFile:
		p, err := openCertFiles(cfg.CertFile, cfg.KeyFile, now, log)
		if err != nil {
			return nil, err
		}
		l.tls = tlsConfig(p.certificate, now)
	case ModeACME:
		m, err := manage(ctx, cfg, base.Addr(), l.clientLog, log)
		if err != nil {
			return nil, err
		}
		l.managed = m
		l.tls = tlsConfig(m.certificate, now)
		l.tls.NextProtos = append(l.tls.NextProtos, challengeProtocol)
	}
	return l, nil
}

// Addr returns the address in use. It differs from the setting if that has port
// 0.
func (l *Listener) Addr() net.Addr { return l.base.Addr() }

// Public reports that the certificate is not from the local authority, so that
// HSTS may be sent to hosts that are neither localhost nor an IP address.
func (l *Listener) Public() bool { return l.cfg.Mode != ModeAuto }

// TLSConfig returns the TLS configuration, for another listener with the same
// security. It is nil in proxy mode.
func (l *Listener) TLSConfig() *tls.Config {
	if l.tls == nil {
		return nil
	}
	return l.tls.Clone()
}

// Authority returns the file of the local authority and its SHA-256 fingerprint
// as openssl prints it. Both are empty outside auto mode.
func (l *Listener) Authority() (file, fingerprint string) {
	if l.authority == nil {
		return "", ""
	}
	return l.authority.identity()
}

// Serve serves connections until Shutdown has finished; then it returns nil. It
// returns an error if the port fails. It can be called once.
func (l *Listener) Serve(secure http.Handler, plain PlainHandler) error {
	if err := l.startServers(secure, plain); err != nil {
		return err
	}
	if err := l.accept(); err != nil {
		expired, cancel := context.WithCancel(context.Background())
		cancel()
		return errors.Join(err, ignoreCanceled(l.Shutdown(expired)))
	}
	<-l.finished
	return nil
}

func (l *Listener) startServers(secure http.Handler, plain PlainHandler) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.secure != nil {
		return errors.New("serve was called twice on one listener")
	}
	if l.cfg.Mode == ModeProxy {
		l.secure = l.newServerPair(&forwarding{cfg: l.cfg, secure: secure, plain: plain, clientLog: l.clientLog}, l.cfg.WriteTimeout)
	} else {
		l.secure = l.newServerPair(secure, l.cfg.WriteTimeout)
		l.plain = l.newServerPair(refusal(plain), refusalTimeout).withShortTimeouts()
	}
	if l.stopping() {
		return nil
	}
	for _, r := range l.servers() {
		go r.serve()
	}
	if l.managed != nil {
		l.managed.begin()
	}
	return nil
}

// refusal returns the handler of requests without TLS: plain answers, then the
// connection is closed.
func refusal(plain PlainHandler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close")
		plain(w, r, !peerOf(r.RemoteAddr).IsLoopback())
	})
}

// accept accepts connections until Shutdown. It closes those for which no place
// is free and starts a goroutine for each other one. Errors other than a closed
// listener are temporary (no free file descriptor, a client that hung up early),
// so it waits and retries.
func (l *Listener) accept() error {
	var pause time.Duration
	for {
		c, err := l.base.Accept()
		switch {
		case err == nil:
			pause = 0
			if l.cfg.balances(peerOf(c.RemoteAddr().String())) {
				go l.admitBalanced(c)
				continue
			}
			l.admitConn(c, nil)
		case l.stopping():
			return nil
		case errors.Is(err, net.ErrClosed):
			return fmt.Errorf("accept on %s: %w", l.base.Addr(), err)
		default:
			pause = min(max(2*pause, 5*time.Millisecond), time.Second)
			l.clientLog.warn("connection not accepted", "error", err)
			select {
			case <-time.After(pause):
			case <-l.stop:
				return nil
			}
		}
	}
}

// admitConn reserves a place for c, or closes c if none is free. client is the
// address that a balancer has named, nil if there is none.
func (l *Listener) admitConn(c net.Conn, client net.Addr) {
	counted := &conn{Conn: c, client: client, allowance: newReadAllowance(l.cfg.WriteTimeout)}
	counted.release = func() {
		l.places.remove(counted)
		l.mu.Lock()
		delete(l.conns, counted)
		l.mu.Unlock()
	}
	if !l.places.admitConn(counted) {
		l.clientLog.warn("connection closed, too many are open", "peer", counted.RemoteAddr().String())
		_ = c.Close()
		return
	}
	if !l.register(counted) {
		_ = counted.Close()
		return
	}
	go l.detectProtocol(counted)
}

// register adds a connection before its handshake. It returns false once Shutdown
// has begun.
func (l *Listener) register(c *conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopping() {
		return false
	}
	l.conns[c] = false
	l.handshakes.Add(1)
	return true
}

// detectProtocol detects the protocol of c and passes c to the server for it.
func (l *Listener) detectProtocol(c *conn) {
	defer l.handshakes.Done()
	late := time.AfterFunc(handshakeTimeout, func() { _ = c.Close() })
	defer late.Stop()

	kind, err := c.sniff()
	if err != nil {
		_ = c.Close()
		return
	}
	l.mu.Lock()
	if _, open := l.conns[c]; open {
		l.conns[c] = true
	}
	l.mu.Unlock()
	switch {
	case l.tls == nil:
		l.secure.passConn(c, kind == protocolHTTP2)
	case kind == protocolTLS:
		l.handshake(c)
	default:
		l.plain.passConn(c, kind == protocolHTTP2)
	}
}

// handshake completes the TLS handshake and passes c to the server of the
// negotiated protocol. A timer closes c, which ends a handshake that hangs.
func (l *Listener) handshake(c *conn) {
	tc := tls.Server(c, l.tls)
	if err := tc.HandshakeContext(context.Background()); err != nil {
		l.clientLog.debug("TLS handshake failed", "peer", c.RemoteAddr().String(), "error", err)
		_ = tc.Close()
		return
	}
	switch tc.ConnectionState().NegotiatedProtocol {
	case "h2":
		l.secure.passConn(tc, true)
	case "http/1.1", "":
		l.secure.passConn(tc, false)
	default:
		// The challenge of an ACME authority ends with the handshake.
		_ = tc.Close()
	}
}

// Shutdown stops accepting connections, lets handshakes and requests in flight
// finish, and closes the remaining connections. If ctx ends first, it closes
// everything at once and returns ctx's error.
func (l *Listener) Shutdown(ctx context.Context) error {
	if !l.beginStop() {
		select {
		case <-l.finished:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	defer close(l.finished)
	err := l.base.Close()
	if errors.Is(err, net.ErrClosed) {
		err = nil
	}
	if l.managed != nil {
		l.managed.stop()
	}
	// A connection that has sent nothing has no request.
	l.closeConns(func(hasSent bool) bool { return !hasSent })
	// This closes the TCP connections, because a TLS close waits seconds for
	// each client that does not read.
	defer context.AfterFunc(ctx, func() { l.closeConns(func(bool) bool { return true }) })()

	handshaken := make(chan struct{})
	go func() {
		l.handshakes.Wait()
		close(handshaken)
	}()
	select {
	case <-handshaken:
	case <-ctx.Done():
	}
	l.waitForConnections(ctx)
	l.mu.Lock()
	servers := l.servers()
	l.mu.Unlock()
	var wg sync.WaitGroup
	errs := make([]error, len(servers))
	for i, r := range servers {
		wg.Go(func() { errs[i] = r.shutdown(ctx) })
	}
	wg.Wait()
	if ctx.Err() != nil {
		return errors.Join(err, ctx.Err())
	}
	return errors.Join(append(errs, err)...)
}

// Limits of waitForConnections.
const (
	connectionsTimeout = 500 * time.Millisecond
	connectionsCheck   = 5 * time.Millisecond
)

// waitForConnections waits briefly for connections to end. net/http considers an
// HTTP/2 connection idle from its first bytes, and would close it before the
// request that follows them.
func (l *Listener) waitForConnections(ctx context.Context) {
	late, again := time.NewTimer(connectionsTimeout), time.NewTicker(connectionsCheck)
	defer late.Stop()
	defer again.Stop()
	for l.openConns() > 0 {
		select {
		case <-ctx.Done():
			return
		case <-late.C:
			return
		case <-again.C:
		}
	}
}

func (l *Listener) openConns() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.conns)
}

// closeConns closes the connections that which selects. hasSent is true for a
// connection that has sent bytes.
func (l *Listener) closeConns(which func(hasSent bool) bool) {
	l.mu.Lock()
	var picked []*conn
	for c, hasSent := range l.conns {
		if which(hasSent) {
			picked = append(picked, c)
		}
	}
	l.mu.Unlock()
	for _, c := range picked {
		_ = c.Close()
	}
}

// beginStop closes stop and reports whether this call is the first.
func (l *Listener) beginStop() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopping() {
		return false
	}
	close(l.stop)
	return true
}

func (l *Listener) stopping() bool {
	select {
	case <-l.stop:
		return true
	default:
		return false
	}
}

// servers returns every server that Serve has created. The caller must hold mu.
func (l *Listener) servers() []*protocolServer {
	var all []*protocolServer
	for _, p := range []*serverPair{l.secure, l.plain} {
		if p != nil {
			all = append(all, p.http1, p.http2)
		}
	}
	return all
}

func ignoreCanceled(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}
