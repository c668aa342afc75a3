package outbound

import "net/netip"

// Dials asks the dialer's hook about an address without connecting to it.
func (p Policy) Dials(to netip.AddrPort) error {
	network := "tcp6"
	if to.Addr().Is4() {
		network = "tcp4"
	}
	return p.control()(network, to.String(), nil)
}
