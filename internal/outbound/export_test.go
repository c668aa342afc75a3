package outbound

import "net/netip"

// CheckDial runs the dialer's check of an address without connecting.
func (p Policy) CheckDial(to netip.AddrPort) error {
	network := "tcp6"
	if to.Addr().Is4() {
		network = "tcp4"
	}
	return p.dialControl()(network, to.String(), nil)
}
