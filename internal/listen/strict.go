package listen

import (
	"bytes"
	"crypto/tls"
	"errors"
	"math"
	"net"
	"strconv"
)

// strictConn refuses header lines of HTTP/1.1 that servers and proxies read in
// different ways: lines that end in LF without CR, and lines that continue the
// one before (RFC 9112, 2.2 and 5.2). net/http accepts both, so that a proxy in
// front could see other headers than this server. It follows the requests of a
// connection up to the first with a Transfer-Encoding, which is the last one.
type strictConn struct {
	net.Conn
	// line is the part of the current header line that came with earlier reads.
	line []byte
	// inHeader is true between a request line and the end of its header.
	inHeader bool
	// length is the length of the body by the header so far; body is how much
	// of the current body is still to come.
	length, body int64
	refused      bool
}

// errHeaderLine makes net/http answer 400 and close the connection.
var errHeaderLine = errors.New("header line ends without CR or continues the line before")

// strict returns c with checked header lines.
func strict(c net.Conn) net.Conn {
	s := &strictConn{Conn: c}
	if tc, ok := c.(*tls.Conn); ok {
		return &strictTLSConn{s, tc}
	}
	return s
}

// strictTLSConn is a strictConn whose TLS state net/http can read.
type strictTLSConn struct {
	*strictConn
	tls *tls.Conn
}

// ConnectionState lets net/http set the TLS field of requests.
func (s *strictTLSConn) ConnectionState() tls.ConnectionState { return s.tls.ConnectionState() }

// NetConn returns the connection below.
func (s *strictConn) NetConn() net.Conn { return s.Conn }

// CloseWrite implements what net/http uses to end a response before it closes.
func (s *strictConn) CloseWrite() error {
	if half, ok := s.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// Read delivers the bytes before a refused line, and then an error.
func (s *strictConn) Read(p []byte) (int, error) {
	if s.refused {
		return 0, errHeaderLine
	}
	n, err := s.Conn.Read(p)
	if good := s.check(p[:n]); good < n {
		s.refused = true
		if n, err = good, nil; n == 0 {
			err = errHeaderLine
		}
	}
	return n, err
}

// check returns how many of the next bytes of the connection may be delivered.
func (s *strictConn) check(p []byte) int {
	for i := 0; i < len(p); {
		if s.body > 0 {
			n := min(s.body, int64(len(p)-i))
			s.body -= n
			i += int(n)
			continue
		}
		if len(s.line) == 0 && s.inHeader && (p[i] == ' ' || p[i] == '\t') {
			return i
		}
		n := bytes.IndexByte(p[i:], '\n')
		if n < 0 {
			s.line = append(s.line, p[i:]...)
			return len(p)
		}
		line := p[i : i+n]
		if len(s.line) > 0 {
			line, s.line = append(s.line, line...), nil
		}
		// Some clients send a line end after a body. net/http skips it.
		if !bytes.HasSuffix(line, []byte("\r")) && (s.inHeader || len(line) > 0) {
			return i + n
		}
		s.parseLine(bytes.TrimSuffix(line, []byte("\r")))
		i += n + 1
	}
	return len(p)
}

// parseLine parses a whole line of a header.
func (s *strictConn) parseLine(line []byte) {
	switch {
	case len(line) == 0 && s.inHeader:
		s.body, s.length, s.inHeader = s.length, 0, false
	case len(line) == 0:
	case !s.inHeader:
		s.inHeader = true
	default:
		name, value, _ := bytes.Cut(line, []byte(":"))
		if bytes.EqualFold(name, []byte("Transfer-Encoding")) {
			s.length = math.MaxInt64
		}
		if bytes.EqualFold(name, []byte("Content-Length")) {
			n, err := strconv.ParseUint(string(bytes.TrimSpace(value)), 10, 63)
			if err != nil {
				n = math.MaxInt64 // net/http refuses it
			}
			s.length = max(s.length, int64(n))
		}
	}
}
