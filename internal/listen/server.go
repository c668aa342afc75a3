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

// The header block promise is 16 KiB (protocol H5). net/http adds its own
// slack to MaxHeaderBytes, 4096 bytes for HTTP/1.1 and ten fields of 32 bytes
// for HTTP/2, which is why the two protocols get a server each.
const (
	headerBlock    = 16 << 10
	headerHTTP1    = headerBlock - 4096
	headerHTTP2    = headerBlock - 320
	headerTimeout  = 5 * time.Second
	idleTimeout    = 120 * time.Second
	refusalTimeout = 5 * time.Second
)

// door is the way to one handler: a server for HTTP/1.1 and one for HTTP/2.
type door struct{ one, two *room }

// room is one HTTP server and the queue that feeds it.
type room struct {
	queue  *queue
	server *http.Server
}

func newDoor(h http.Handler, noise *quiet, now func() time.Time, stall time.Duration) *door {
	var http1, http2 http.Protocols
	http1.SetHTTP1(true)
	http2.SetHTTP2(true)
	http2.SetUnencryptedHTTP2(true)
	return &door{
		one: newRoom(impatient(h, now), &http1, headerHTTP1, noise),
		two: newRoom(rolling(h, stall), &http2, headerHTTP2, noise),
	}
}

func newRoom(h http.Handler, speaks *http.Protocols, maxHeader int, noise *quiet) *room {
	return &room{queue: newQueue(), server: &http.Server{
		Handler:           h,
		Protocols:         speaks,
		MaxHeaderBytes:    maxHeader,
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		ErrorLog:          log.New(noise, "", 0),
		// OPTIONS * is the handler's to answer, like every other request.
		DisableGeneralOptionsHandler: true,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: 100,
			MaxReadFrameSize:     64 << 10,
			WriteByteTimeout:     10 * time.Second,
			SendPingTimeout:      30 * time.Second,
		},
	}}
}

// impatient bounds what follows an answer given before the body was read.
// net/http then reads on, so that the client sees the answer and not a reset,
// but without a deadline: a client that never sends the announced body would
// hold its connection for good. HTTP/2 resets the stream instead.
func impatient(h http.Handler, now func() time.Time) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.TransferEncoding) > 0 {
			// A request with a Content-Length and a Transfer-Encoding must be
			// the last one on its connection (RFC 9112, 6.1).
			// Choice: so is every other one in chunks, because net/http does
			// not tell them apart.
			w.Header().Set("Connection", "close")
		}
		h.ServeHTTP(w, r)
		if r.Body != http.NoBody {
			// It fails only on a connection that is gone.
			_ = http.NewResponseController(w).SetReadDeadline(now().Add(refusalTimeout))
		}
	})
}

// rolling gives up on answers over HTTP/2 of which the client takes nothing for
// stall. The connection's own deadline does not see those: a client may take
// other answers, or nothing but pings, and leave a stream without a window.
func rolling(h http.Handler, stall time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := &steady{ResponseWriter: w, control: http.NewResponseController(w), stall: stall}
		h.ServeHTTP(s, r)
		// What is still in the server's own buffer goes out after this.
		s.extend()
	})
}

// steady is a ResponseWriter whose writes have to make progress. A handler may
// take its time between them.
type steady struct {
	http.ResponseWriter
	control *http.ResponseController
	stall   time.Duration
	// written is how many bytes there were.
	written int
}

// Unwrap lets a ResponseController reach the connection.
func (s *steady) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// buffered is how many bytes net/http takes before it waits for the client.
const buffered = 4 << 10

func (s *steady) Write(p []byte) (n int, err error) {
	if s.written += len(p); s.written <= buffered {
		return s.ResponseWriter.Write(p)
	}
	defer func() { _ = s.control.SetWriteDeadline(time.Time{}) }()
	for {
		piece := p[:min(len(p), maxPiece)]
		s.extend()
		m, err := s.ResponseWriter.Write(piece)
		n += m
		if p = p[len(piece):]; err != nil || len(p) == 0 {
			return n, err
		}
	}
}

// Flush implements http.Flusher.
func (s *steady) Flush() {
	s.extend()
	_ = s.control.Flush()
	_ = s.control.SetWriteDeadline(time.Time{})
}

// extend gives the client time for the next piece. It fails only on a stream
// that is gone.
func (s *steady) extend() {
	_ = s.control.SetWriteDeadline(time.Now().Add(s.stall)) //nolint:forbidigo // sockets know only the machine's own time
}

// hurry gives the whole exchange a short deadline, for a door that only says
// no.
func (d *door) hurry() *door {
	for _, r := range []*room{d.one, d.two} {
		r.server.ReadTimeout = refusalTimeout
		r.server.WriteTimeout = refusalTimeout
		r.server.IdleTimeout = refusalTimeout
	}
	return d
}

// admit passes c to the server of its protocol.
func (d *door) admit(c net.Conn, http2 bool) {
	if http2 {
		d.two.queue.put(c)
		return
	}
	d.one.queue.put(c)
}

// serve ends when the queue is closed; there is no other way for it to fail.
func (r *room) serve() { _ = r.server.Serve(r.queue) }

// shutdown waits for requests in flight until ctx ends, then cuts them.
func (r *room) shutdown(ctx context.Context) error {
	_ = r.queue.Close()
	err := r.server.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, r.server.Close())
	}
	return err
}

// tlsConfig is the policy of protocol S6: TLS 1.2 or newer and authenticated
// encryption only. Go's own default still offers CBC suites in TLS 1.2.
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
