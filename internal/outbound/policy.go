package outbound

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"code.dny.dev/ssrf"
)

// ErrForbidden is returned if the policy does not allow a URL or its address.
var ErrForbidden = errors.New("address not allowed")

// Policy limits the targets of a client. The zero Policy is the one that
// Guarded(nil) returns.
type Policy struct {
	// Origins are the operator's exceptions, such as http://localhost:11434. No
	// other rule applies to them.
	Origins []string
	// Prefixes are addresses that the operator allows although they are not
	// public.
	Prefixes []netip.Prefix
	// Denied are further forbidden addresses, such as the server's own.
	Denied []netip.Prefix
	// Ports are the allowed ports of users' URLs, 443 and 8443 if empty.
	Ports   []uint16
	trusted bool
}

// Guarded returns the policy for URLs that users set: https to a host name,
// port 443 or 8443, at a public address. The exceptions are the operator's.
func Guarded(origins []string, prefixes ...netip.Prefix) Policy {
	return Policy{Origins: origins, Prefixes: prefixes}
}

// Trusted returns the policy for URLs that the operator set: http or https to
// every address, except for those that serve the machine's cloud credentials.
func Trusted(prefixes ...netip.Prefix) Policy { return Policy{Prefixes: prefixes, trusted: true} }

var (
	// notPublic are addresses that registries list as public but are not: the
	// agent in every virtual machine of Azure.
	notPublic = []netip.Prefix{netip.MustParsePrefix("168.63.129.16/32")}
	// metadataPrefixes are where clouds serve the machine's credentials.
	metadataPrefixes = append([]netip.Prefix{
		netip.MustParsePrefix("169.254.0.0/16"), netip.MustParsePrefix("fe80::/10"), netip.MustParsePrefix("100.100.100.200/32"),
		netip.MustParsePrefix("fd00:ec2::/32"), netip.MustParsePrefix("fd20:ce::/32"),
	}, notPublic...)
)

// Check returns an error if a URL is not allowed, for code that stores URLs.
// The addresses of its host are checked at each connection.
func (p Policy) Check(raw string) error {
	u, err := url.Parse(raw)
	if err != nil {
		return fmt.Errorf("%w: this is not a URL", ErrForbidden)
	}
	return p.check(u)
}

func (p Policy) check(u *url.URL) error {
	host, port := u.Hostname(), portOf(u)
	switch {
	case u.Scheme != "https" && u.Scheme != "http" || u.Opaque != "" || host == "" || port == 0:
		return fmt.Errorf("%w: only https URLs with a host are", ErrForbidden)
	case u.User != nil:
		return fmt.Errorf("%w: a URL must not hold a name or password", ErrForbidden)
	case p.trusted || p.isAllowedOrigin(u.Scheme, net.JoinHostPort(host, strconv.Itoa(int(port)))):
		return nil
	case u.Scheme != "https":
		return fmt.Errorf("%w: use https, or have the operator of the server allow %s", ErrForbidden, u.Scheme+"://"+u.Host)
	case !isHostName(host):
		return fmt.Errorf("%w: use a host name, not an IP address", ErrForbidden)
	case !slices.Contains(p.ports(), port):
		return fmt.Errorf("%w: port %d is not among %v", ErrForbidden, port, p.ports())
	}
	return nil
}

func (p Policy) ports() []uint16 {
	if len(p.Ports) == 0 {
		return []uint16{443, 8443}
	}
	return p.Ports
}

func portOf(u *url.URL) uint16 {
	switch {
	case u.Port() != "":
		n, err := strconv.ParseUint(u.Port(), 10, 16)
		if err != nil {
			return 0
		}
		return uint16(n)
	case u.Scheme == "http":
		return 80
	}
	return 443
}

// isHostName reports whether a host is a name. It rejects all spellings that
// resolvers accept as an address: 127.1, 0x7f000001, 2130706433, 017700000001.
func isHostName(host string) bool {
	if strings.ContainsAny(host, ":%[]") {
		return false
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	last := host[strings.LastIndex(host, ".")+1:]
	return strings.Trim(last, "0123456789") != "" && !strings.HasPrefix(last, "0x")
}

// isAllowedOrigin reports whether the operator allowed a host and port for the
// scheme, or for any scheme if it is empty.
func (p Policy) isAllowedOrigin(scheme, address string) bool {
	return slices.ContainsFunc(p.Origins, func(origin string) bool {
		u, err := url.Parse(origin)
		return err == nil && (scheme == "" || scheme == u.Scheme) &&
			strings.EqualFold(address, net.JoinHostPort(u.Hostname(), strconv.Itoa(int(portOf(u)))))
	})
}

// checkOrigins returns an error for an invalid origin.
func (p Policy) checkOrigins() error {
	for _, origin := range p.Origins {
		u, err := url.Parse(origin)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || portOf(u) == 0 ||
			strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
			return fmt.Errorf("allowed origin %q: write scheme, host and port only, such as http://localhost:11434", origin)
		}
	}
	return nil
}

// dialControl checks every resolved address before the dialer connects, so that
// a name that resolves to another address after Check is still refused.
type dialControl = func(network, address string, _ syscall.RawConn) error

func (p Policy) dialControl() dialControl {
	if p.trusted {
		return p.trustedDialControl
	}
	v4, v6 := splitByFamily(p.Prefixes)
	denied4, denied6 := splitByFamily(append(slices.Clone(notPublic), p.Denied...))
	guard := ssrf.New(ssrf.WithPorts(p.ports()...), ssrf.WithAllowedV4Prefixes(v4...), ssrf.WithAllowedV6Prefixes(v6...),
		ssrf.WithDeniedV4Prefixes(denied4...), ssrf.WithDeniedV6Prefixes(denied6...))
	return func(network, address string, conn syscall.RawConn) error {
		if err := guard.Safe(network, address, conn); err != nil {
			return fmt.Errorf("%w: %w", ErrForbidden, err)
		}
		return nil
	}
}

func (p Policy) trustedDialControl(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrForbidden, err)
	}
	ip := to.Addr().Unmap().WithZone("")
	has := func(list []netip.Prefix) bool {
		return slices.ContainsFunc(list, func(p netip.Prefix) bool { return p.Contains(ip) })
	}
	if !has(p.Prefixes) && (has(metadataPrefixes) || has(p.Denied)) {
		return fmt.Errorf("%w: %s may hold credentials of the machine", ErrForbidden, ip)
	}
	return nil
}

func splitByFamily(prefixes []netip.Prefix) (v4, v6 []netip.Prefix) {
	for _, p := range prefixes {
		if p.Addr().Is4() {
			v4 = append(v4, p)
		} else {
			v6 = append(v6, p)
		}
	}
	return v4, v6
}
