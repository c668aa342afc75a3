package listen

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
	"time"
)

// The PROXY protocol, version 2: what a balancer that passes TLS through sends
// first, so that the address of the client is known.
// See https://www.haproxy.org/download/3.2/doc/proxy-protocol.txt.
const (
	proxySignature  = "\r\n\r\n\x00\r\nQUIT\n"
	proxyHeaderSize = len(proxySignature) + 4

	proxyLocal = 0x20 // version 2: a connection of the balancer itself
	proxyOther = 0x21 // version 2: a connection of a client
	proxyTCP4  = 0x11
	proxyTCP6  = 0x21

	// maxProxyHeader limits addresses and extensions.
	maxProxyHeader = 1 << 10
)

var errProxyHeader = errors.New("no PROXY protocol header of version 2: let the balancer send it (haproxy: send-proxy-v2), or start without --proxy-protocol")

// admitBalanced reads the address of the client from a connection of a balancer
// and admits the connection.
//
// Choice: a balancer must send the header on every connection. If it were
// optional, a client of a balancer without this setting could invent one.
func (l *Listener) admitBalanced(c net.Conn) {
	// This fails only on a closed connection.
	_ = c.SetReadDeadline(time.Now().Add(headerTimeout)) //nolint:forbidigo // sockets know only the machine's own time
	client, err := readProxyHeader(c)
	if err != nil {
		// A balancer that only checks the port sends nothing.
		if !errors.Is(err, io.EOF) {
			l.clientLog.warn("connection of the balancer refused", "peer", c.RemoteAddr().String(), "error", err)
		}
		_ = c.Close()
		return
	}
	_ = c.SetReadDeadline(time.Time{})
	l.admitConn(c, client)
}

// readProxyHeader reads a header, and no byte more. The address is nil for a
// connection of the balancer itself, such as a health check.
func readProxyHeader(r io.Reader) (client net.Addr, err error) {
	var head [proxyHeaderSize]byte
	if _, err := io.ReadFull(r, head[:1]); err != nil {
		return nil, err
	}
	if head[0] != proxySignature[0] {
		return nil, errProxyHeader
	}
	if _, err := io.ReadFull(r, head[1:]); err != nil {
		return nil, errors.Join(errProxyHeader, err)
	}
	kind, family, size := head[len(proxySignature)], head[len(proxySignature)+1], int(binary.BigEndian.Uint16(head[len(proxySignature)+2:]))
	if string(head[:len(proxySignature)]) != proxySignature || kind != proxyLocal && kind != proxyOther || size > maxProxyHeader {
		return nil, errProxyHeader
	}
	rest := make([]byte, size)
	if _, err := io.ReadFull(r, rest); err != nil {
		return nil, errors.Join(errProxyHeader, err)
	}
	if kind == proxyLocal {
		return nil, nil
	}
	// The addresses of client and server, then their ports.
	length := map[byte]int{proxyTCP4: 4, proxyTCP6: 16}[family]
	if length == 0 || size < 2*length+4 {
		return nil, errors.New("the PROXY protocol header names no TCP address")
	}
	addr, _ := netip.AddrFromSlice(rest[:length])
	return net.TCPAddrFromAddrPort(netip.AddrPortFrom(addr.Unmap(), binary.BigEndian.Uint16(rest[2*length:]))), nil
}
