package outbound

import "net/netip"

// CheckDial asks the dialer's hook about an address without connecting to it.
func (p Policy) CheckDial(to netip.AddrPort) error {
	network := "tcp6"
	if to.Addr().Is4() {
		network = "tcp4"
	}
	return p.dialControl()(network, to.String(), nil)
}
