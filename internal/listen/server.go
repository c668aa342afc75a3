package listen

import (
	"context"
	"crypto/tls"
	"errors"
	"log"
	"net"
	"net/http"
	"time"
)

// The size limit of headers is 16 KiB (protocol H5). net/http adds to
// MaxHeaderBytes: 4096 bytes for HTTP/1.1 and ten fields of 32 bytes for
// HTTP/2. So each protocol has its own server.
const (
	headerBlock    = 16 << 10
	headerHTTP1    = headerBlock - 4096
	headerHTTP2    = headerBlock - 320
	headerTimeout  = 5 * time.Second
	idleTimeout    = 120 * time.Second
	refusalTimeout = 5 * time.Second
)

// serverPair serves one handler: a server for HTTP/1.1 and one for HTTP/2.
type serverPair struct{ http1, http2 *protocolServer }

// protocolServer is one HTTP server and the queue of its connections.
type protocolServer struct {
	queue  *queue
	server *http.Server
}

func (l *Listener) newServerPair(h http.Handler, stall time.Duration) *serverPair {
	var http1, http2 http.Protocols
	http1.SetHTTP1(true)
	http2.SetHTTP2(true)
	http2.SetUnencryptedHTTP2(true)
	return &serverPair{
		http1: l.newProtocolServer(limitBodyRead(h, l.now), &http1, headerHTTP1),
		http2: l.newProtocolServer(limitStalledStreams(h, stall), &http2, headerHTTP2),
	}
}

func (l *Listener) newProtocolServer(h http.Handler, protocols *http.Protocols, maxHeader int) *protocolServer {
	return &protocolServer{queue: newQueue(), server: &http.Server{
		Handler:           h,
		Protocols:         protocols,
		MaxHeaderBytes:    maxHeader,
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		ConnState:         l.places.track,
		ConnContext:       withProgress,
		ErrorLog:          log.New(l.clientLog, "", 0),
		// The handler answers OPTIONS *, like every other request.
		DisableGeneralOptionsHandler: true,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: 100,
			MaxReadFrameSize:     64 << 10,
			WriteByteTimeout:     10 * time.Second,
			SendPingTimeout:      30 * time.Second,
		},
	}}
}

// limitBodyRead limits the time after a response that was sent before the body was
// read. net/http then reads the body, so that the client sees the response and
// not a reset, but without a deadline: a client that never sends the body would
// keep its connection forever. HTTP/2 resets the stream instead.
func limitBodyRead(h http.Handler, now func() time.Time) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.TransferEncoding) > 0 {
			// A request with a Content-Length and a Transfer-Encoding must be
			// the last one on its connection (RFC 9112, 6.1).
			// Choice: every other chunked request is the last one too, because
			// net/http does not distinguish them.
			w.Header().Set("Connection", "close")
		}
		h.ServeHTTP(w, r)
		if r.Body != http.NoBody {
			// This fails only on a closed connection.
			_ = http.NewResponseController(w).SetReadDeadline(now().Add(refusalTimeout))
		}
	})
}

// limitStalledStreams cancels HTTP/2 responses when the client has used up its
// read allowance. The connection's own deadline does not detect them:
// a client can read other responses, or only pings, and leave a stream without a
// window.
func limitStalledStreams(h http.Handler, stall time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := &progressWriter{ResponseWriter: w, control: http.NewResponseController(w), progress: ProgressOf(r.Context()), allowance: newReadAllowance(stall)}
		h.ServeHTTP(s, r)
		// The server sends the data left in its own buffer after this.
		s.extend()
	})
}

// progressWriter is a ResponseWriter that cancels a response which the client reads
// too slowly. A handler may take any time between writes.
type progressWriter struct {
	http.ResponseWriter
	control   *http.ResponseController
	progress  *Progress
	allowance readAllowance
	// written is the number of bytes written.
	written int
}

// Unwrap lets a ResponseController reach the connection.
func (s *progressWriter) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// buffered is how many bytes net/http accepts before it waits for the client.
const buffered = 4 << 10

func (s *progressWriter) Write(p []byte) (n int, err error) {
	if s.written += len(p); s.written <= buffered {
		return s.ResponseWriter.Write(p)
	}
	defer func() { _ = s.control.SetWriteDeadline(time.Time{}) }()
	for {
		piece := p[:min(len(p), maxPiece)]
		begin := s.extend()
		m, err := s.ResponseWriter.Write(piece)
		n += m
		s.allowance.spend(time.Since(begin), m, s.progress.verified())
		if p = p[len(piece):]; err != nil || len(p) == 0 {
			return n, err
		}
	}
}

// Flush implements http.Flusher.
func (s *progressWriter) Flush() {
	s.extend()
	_ = s.control.Flush()
	_ = s.control.SetWriteDeadline(time.Time{})
}

// extend renews the deadline for the next piece and returns the time. It fails
// only on a closed stream.
func (s *progressWriter) extend() time.Time {
	now := time.Now() //nolint:forbidigo // sockets know only the machine's own time
	_ = s.control.SetWriteDeadline(now.Add(s.allowance.remaining(s.progress.verified())))
	return now
}

// withShortTimeouts sets a short deadline for the whole exchange, for servers
// that only refuse requests.
func (p *serverPair) withShortTimeouts() *serverPair {
	for _, r := range []*protocolServer{p.http1, p.http2} {
		r.server.ReadTimeout = refusalTimeout
		r.server.WriteTimeout = refusalTimeout
		r.server.IdleTimeout = refusalTimeout
	}
	return p
}

// passConn passes c to the server of its protocol.
func (p *serverPair) passConn(c net.Conn, http2 bool) {
	if http2 {
		p.http2.queue.put(c)
		return
	}
	p.http1.queue.put(strict(c))
}

// serve ends when the queue is closed; it cannot fail otherwise.
func (r *protocolServer) serve() { _ = r.server.Serve(r.queue) }

// shutdown waits for requests in flight until ctx ends, then closes their
// connections.
func (r *protocolServer) shutdown(ctx context.Context) error {
	_ = r.queue.Close()
	err := r.server.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, r.server.Close())
	}
	return err
}

// tlsConfig implements the policy of protocol S6: TLS 1.2 or newer and only
// authenticated encryption. Go's default still offers CBC suites in TLS 1.2.
func tlsConfig(get func(*tls.ClientHelloInfo) (*tls.Certificate, error), now func() time.Time) *tls.Config {
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		NextProtos:     []string{"h2", "http/1.1"},
		GetCertificate: get,
		Time:           now,
		CipherSuites: []uint16{
			tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
			tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
			tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
			tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
			tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
			tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
		},
	}
}
