package listen

import (
	"cmp"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/caddyserver/certmagic"
)

// Values of Config.Mode: the source of TLS.
const (
	ModeAuto  = "auto"  // a local authority, created on the first run
	ModeFile  = "file"  // the operator's certificate and key
	ModeACME  = "acme"  // a certificate from an ACME authority
	ModeProxy = "proxy" // a trusted proxy terminates TLS
)

var modes = []string{ModeAuto, ModeFile, ModeACME, ModeProxy}

const (
	defaultMaxConns      = 10_000
	defaultMaxConnsPerIP = 200
	defaultWriteTimeout  = 30 * time.Second
)

// Config configures the address and the source of TLS. Zero caps select the
// defaults: 10,000 connections and 200 per address.
type Config struct {
	Addr string // host:port
	Mode string

	CertFile, KeyFile string // file mode, PEM

	Domains        []string // acme mode
	Email          string   // acme mode, for the account; may be empty
	Directory      string   // acme mode; empty means Let's Encrypt
	DirectoryRoots string   // acme mode; PEM file trusted for the directory alone

	TrustedProxies []netip.Prefix // proxy mode, or with ProxyProtocol
	// ProxyProtocol says that trusted proxies pass TLS through and begin each
	// connection with the address of its client.
	ProxyProtocol bool

	Dir string // of the local authority and ACME storage, 0700

	MaxConns, MaxConnsPerIP int

	// WriteTimeout is how long a client may read nothing of a response before
	// its connection is closed; 0 means 30 s.
	WriteTimeout time.Duration
}

func (c Config) withDefaults() Config {
	c.MaxConns = cmp.Or(c.MaxConns, defaultMaxConns)
	c.MaxConnsPerIP = cmp.Or(c.MaxConnsPerIP, defaultMaxConnsPerIP)
	c.WriteTimeout = cmp.Or(c.WriteTimeout, defaultWriteTimeout)
	c.Directory = cmp.Or(c.Directory, certmagic.LetsEncryptProductionCA)
	proxies := make([]netip.Prefix, 0, len(c.TrustedProxies))
	for _, p := range c.TrustedProxies {
		proxies = append(proxies, unmapped(p))
	}
	c.TrustedProxies = proxies
	return c
}

// trusts reports whether a is a trusted proxy. Outside proxy mode no address
// is.
func (c Config) trusts(a netip.Addr) bool {
	return c.Mode == ModeProxy && slices.ContainsFunc(c.TrustedProxies, func(p netip.Prefix) bool { return p.Contains(a) })
}

// balances reports whether a is a balancer that passes TLS through.
func (c Config) balances(a netip.Addr) bool {
	return c.ProxyProtocol && slices.ContainsFunc(c.TrustedProxies, func(p netip.Prefix) bool { return p.Contains(a) })
}

// Check returns an error with its fix for every insecure or invalid setting. It
// reads files and changes nothing. If the list is empty, Open can only fail for
// reasons outside the settings, such as a port in use.
func (c Config) Check(now time.Time) []error {
	faults := c.checkAddr()
	if c.MaxConns < 0 || c.MaxConnsPerIP < 0 {
		faults = append(faults, errors.New("connection caps are negative: use a positive number, or 0 for the default"))
	}
	if c.WriteTimeout < 0 {
		faults = append(faults, errors.New("the write timeout is negative: use a positive duration such as 30s, or 0 for the default"))
	}
	switch {
	case c.ProxyProtocol && c.Mode == ModeProxy:
		faults = append(faults, errors.New("proxy-protocol is for balancers that pass TLS through, and tls.mode proxy for those that do not: leave out one of them"))
	case c.ProxyProtocol:
		faults = append(faults, c.checkProxies()...)
	}
	switch c.Mode {
	case ModeAuto:
		faults = append(faults, checkDir(c.Dir)...)
		if !exists(c.Dir) {
			break
		}
		for _, name := range []string{authorityKeyFile, leafKeyFile} {
			if err := checkPrivate(filepath.Join(c.Dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				faults = append(faults, err)
			}
		}
	case ModeFile:
		_, errs := readCertFiles(c.CertFile, c.KeyFile, now)
		faults = append(faults, errs...)
	case ModeACME:
		faults = append(faults, checkDir(c.Dir)...)
		faults = append(faults, c.checkACME()...)
	case ModeProxy:
		faults = append(faults, c.checkProxies()...)
	default:
		faults = append(faults, fmt.Errorf("tls.mode %q is unknown, did you mean %q? Use one of %s",
			c.Mode, nearest(c.Mode, modes), strings.Join(modes, ", ")))
	}
	return faults
}

func (c Config) checkAddr() []error {
	_, port, err := net.SplitHostPort(c.Addr)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return []error{fmt.Errorf("listen address %q is not host:port: use for example 127.0.0.1:8443", c.Addr)}
	}
	return nil
}

func (c Config) checkACME() []error {
	var faults []error
	if len(c.Domains) == 0 {
		faults = append(faults, errors.New("acme mode has no domain: name at least one that points to this machine"))
	}
	public := c.Directory == "" || c.Directory == certmagic.LetsEncryptProductionCA
	for _, d := range c.Domains {
		switch {
		case strings.HasPrefix(d, "*"):
			faults = append(faults, fmt.Errorf("domain %q is a wildcard, which needs DNS validation: name each host", d))
		case !validHost(d):
			faults = append(faults, fmt.Errorf("domain %q is not a host name: give the bare name, without scheme, port or path", d))
		case public && !certmagic.SubjectQualifiesForPublicCert(d):
			faults = append(faults, fmt.Errorf("domain %q cannot get a public certificate: use a public name, tls.mode auto, or a private ACME directory", d))
		}
	}
	if c.Email != "" && !strings.Contains(c.Email, "@") {
		faults = append(faults, fmt.Errorf("ACME e-mail %q is not an address: correct it or leave it empty", c.Email))
	}
	if u, err := url.Parse(c.Directory); c.Directory != "" && (err != nil || u.Scheme != "https" || u.Host == "") {
		faults = append(faults, fmt.Errorf("ACME directory %q is not an https URL: correct it or leave it empty for Let's Encrypt", c.Directory))
	}
	if c.DirectoryRoots != "" {
		if _, err := readRoots(c.DirectoryRoots); err != nil {
			faults = append(faults, err)
		}
	}
	return faults
}

func (c Config) checkProxies() []error {
	if len(c.TrustedProxies) == 0 {
		return []error{errors.New("the server trusts no proxy: list the proxies' networks in trusted_proxies, for example 10.0.0.5/32")}
	}
	var faults []error
	for _, p := range c.TrustedProxies {
		// Choice: the widest private networks are 10.0.0.0/8 and fc00::/7. A
		// wider network includes public addresses, and two halves are as wide
		// as the whole.
		narrowest, q := 8, unmapped(p)
		if q.Addr().Is6() {
			narrowest = 7
		}
		switch {
		case !q.IsValid():
			faults = append(faults, errors.New("trusted_proxies holds an empty network: write it as address/bits"))
		case q.Bits() < narrowest:
			faults = append(faults, fmt.Errorf("trusted_proxies %s lets strangers claim HTTPS: list only the proxies' own networks, for example 10.0.0.5/32", p))
		}
	}
	return faults
}

// unmapped converts an IPv4 network in IPv6 notation to IPv4, the form in which
// peers are compared.
func unmapped(p netip.Prefix) netip.Prefix {
	if p.Addr().Is4In6() && p.Bits() >= 96 {
		return netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96).Masked()
	}
	return p.Masked()
}

// checkDir checks that only the owner can change a folder. The folder may not
// exist yet.
func checkDir(dir string) []error {
	if dir == "" {
		return []error{errors.New("no folder for certificates: set the data folder")}
	}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return []error{fmt.Errorf("certificate folder: %w", err)}
	case !info.IsDir():
		return []error{fmt.Errorf("certificate folder %s is a file: remove it or choose another folder", dir)}
	case hasModeBits && info.Mode().Perm()&0o022 != 0:
		return []error{fmt.Errorf("certificate folder %s can be changed by others: run chmod 700 %[1]s", dir)}
	}
	return nil
}

// hasModeBits is false on systems whose access lists are not part of the file
// mode.
const hasModeBits = runtime.GOOS != "windows"

// checkPrivate checks that other users cannot access a key file.
//
// Choice: group read access is allowed, because distributions share keys with
// servers that way on purpose.
func checkPrivate(file string) error {
	info, err := os.Stat(file)
	if err != nil {
		return fmt.Errorf("key file: %w", err)
	}
	if hasModeBits && info.Mode().Perm()&0o037 != 0 {
		return fmt.Errorf("key file %s can be read by others: run chmod 600 %[1]s", file)
	}
	return nil
}

func readRoots(file string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("roots of the ACME directory: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("roots of the ACME directory: %s holds no PEM certificate", file)
	}
	return pool, nil
}

// validHost accepts names of letters, digits and hyphens, as certificates do.
func validHost(name string) bool {
	if name == "" || len(name) > 253 {
		return false
	}
	if _, err := netip.ParseAddr(name); err == nil {
		return false
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for _, r := range label {
			if r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') {
				return false
			}
		}
	}
	return true
}

// nearest returns the choice with the fewest single-letter edits from word.
//
// Choice: it repeats package nearest, because this package imports no other
// package of this module. It always returns a choice, however far.
func nearest(word string, choices []string) string {
	return slices.MinFunc(choices, func(a, b string) int {
		return cmp.Compare(distance(strings.ToLower(word), a), distance(strings.ToLower(word), b))
	})
}

func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			edit := diagonal
			if a[i] != b[j] {
				edit = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], edit
		}
	}
	return row[len(b)]
}
