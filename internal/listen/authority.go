package listen

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/publicsuffix"
)

// Files of the local authority inside Config.Dir.
const (
	authorityFile    = "ca.pem"
	authorityKeyFile = "ca-key.pem"
	leafFile         = "leaf.pem"
	leafKeyFile      = "leaf-key.pem"
)

const (
	day           = 24 * time.Hour
	authorityLife = 2 * 365 * day
	leafLife      = 397 * day // the longest that browsers accept
	renewBefore   = 30 * day
	retryAfter    = time.Minute
	clockSlack    = time.Hour // certificates start this early, for clocks that lag
)

// authority is the local certificate authority of auto mode and the one
// certificate that it signs. It is constrained to this machine's own names, so
// that a client that trusts it never accepts it for another site. Both
// certificates are renewed during handshakes.
type authority struct {
	dir  string
	host string // machine name, empty when it cannot be in a certificate
	now  func() time.Time
	log  *slog.Logger

	mu      sync.Mutex
	root    *x509.Certificate
	rootKey *ecdsa.PrivateKey
	leaf    *tls.Certificate
	retryAt time.Time
}

// openAuthority loads the authority in dir or creates one.
func openAuthority(dir, host string, now func() time.Time, log *slog.Logger) (*authority, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make certificate folder: %w", err)
	}
	a := &authority{dir: dir, host: host, now: now, log: log}
	if err := a.load(); err != nil {
		return nil, err
	}
	if err := a.renew(now()); err != nil {
		return nil, err
	}
	return a, nil
}

// machineName returns the name of this machine in the local network.
//
// Choice: a name that is a public suffix is omitted, because a laptop called
// "dev" must not get an authority over all of .dev.
func machineName() string {
	name, err := os.Hostname()
	if err != nil {
		return ""
	}
	return usableHost(name)
}

func usableHost(name string) string {
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	if !validHost(name) || name == "localhost" {
		return ""
	}
	if suffix, public := publicsuffix.PublicSuffix(name); public && suffix == name {
		return ""
	}
	return name
}

// certificate implements tls.Config.GetCertificate. If a renewal fails (for
// example on a full disk), it logs the error and retries a minute later. Until
// then it returns the old certificate.
func (a *authority) certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	if a.due(a.leaf.Leaf, now) && !now.Before(a.retryAt) {
		if err := a.renew(now); err != nil {
			a.retryAt = now.Add(retryAfter)
			a.log.Error("local certificate not renewed", "error", err, "expires", a.leaf.Leaf.NotAfter)
		}
	}
	return a.leaf, nil
}

func (a *authority) identity() (file, fingerprint string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return filepath.Join(a.dir, authorityFile), fingerprintOf(a.root)
}

// fingerprintOf returns the SHA-256 of the certificate in openssl's notation.
func fingerprintOf(c *x509.Certificate) string {
	sum := sha256.Sum256(c.Raw)
	return strings.ReplaceAll(fmt.Sprintf("% X", sum[:]), " ", ":")
}

func (a *authority) due(c *x509.Certificate, now time.Time) bool {
	return c == nil || now.Before(c.NotBefore) || now.After(c.NotAfter.Add(-renewBefore))
}

// load reads the files. It leaves missing or damaged files for renew to
// replace. Unreadable files are an error, because replacing them would silently
// end the trust installed for them.
func (a *authority) load() error {
	root, key, err := readKeyPair(a.dir, authorityFile, authorityKeyFile)
	switch {
	case err == nil:
		a.root, a.rootKey = root, key
	case errors.Is(err, errDamaged):
		a.log.Warn("local certificate authority damaged: a new one is created; install it with `fanfare trust`", "error", err)
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("read local authority: %w", err)
	}
	leaf, leafKey, err := readKeyPair(a.dir, leafFile, leafKeyFile)
	switch {
	case err == nil && a.root != nil && leaf.CheckSignatureFrom(a.root) == nil && slices.Equal(leaf.DNSNames, a.names()):
		a.leaf = &tls.Certificate{Certificate: [][]byte{leaf.Raw}, PrivateKey: leafKey, Leaf: leaf}
	case err != nil && !errors.Is(err, errDamaged) && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("read local certificate: %w", err)
	}
	return nil
}

// names returns the DNS names for the leaf certificate.
//
// Choice: a machine that was renamed after the authority was created keeps the
// authority. Replacing it would end the trust installed for it, and localhost
// still works.
func (a *authority) names() []string {
	names := []string{"localhost"}
	if a.host != "" && slices.Contains(a.root.PermittedDNSDomains, a.host) {
		names = append(names, a.host)
	}
	return names
}

// renew replaces certificates that are missing or about to expire.
func (a *authority) renew(now time.Time) error {
	if a.due(a.root, now) {
		if err := a.makeRoot(now); err != nil {
			return fmt.Errorf("make local authority: %w", err)
		}
	}
	if a.leaf == nil || a.due(a.leaf.Leaf, now) {
		if err := a.makeLeaf(now); err != nil {
			return fmt.Errorf("make local certificate: %w", err)
		}
	}
	return nil
}

func (a *authority) makeRoot(now time.Time) error {
	permitted := []string{"localhost"}
	if a.host != "" {
		permitted = append(permitted, a.host)
	}
	start := now.Add(-clockSlack)
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: "Fanfare local authority", Organization: permitted[len(permitted)-1:]},
		NotBefore:             start,
		NotAfter:              start.Add(authorityLife),
		IsCA:                  true,
		BasicConstraintsValid: true,
		MaxPathLenZero:        true,
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
		// Name constraints only restrict the kinds of names that they mention.
		// The key usage prevents certificates for mail or code signing.
		ExtKeyUsage:                 []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		PermittedDNSDomainsCritical: true,
		PermittedDNSDomains:         permitted,
		PermittedIPRanges:           loopbackRanges(),
	}
	key, der, err := sign(template, template, nil)
	if err != nil {
		return err
	}
	root, err := x509.ParseCertificate(der)
	if err != nil {
		return err
	}
	if err := writeKeyPair(a.dir, authorityFile, authorityKeyFile, der, key); err != nil {
		return err
	}
	if a.root != nil {
		a.log.Warn("local certificate authority replaced because the old one expires: install it with `fanfare trust`",
			"file", filepath.Join(a.dir, authorityFile), "fingerprint", fingerprintOf(root))
	}
	a.root, a.rootKey, a.leaf = root, key, nil
	return nil
}

func (a *authority) makeLeaf(now time.Time) error {
	start := now.Add(-clockSlack)
	end := start.Add(leafLife)
	if end.After(a.root.NotAfter) {
		end = a.root.NotAfter
	}
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: "localhost"},
		NotBefore:             start,
		NotAfter:              end,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:              a.names(),
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1).To4(), net.IPv6loopback},
	}
	key, der, err := sign(template, a.root, a.rootKey)
	if err != nil {
		return err
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return err
	}
	if err := writeKeyPair(a.dir, leafFile, leafKeyFile, der, key); err != nil {
		return err
	}
	a.leaf = &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
	return nil
}

// sign creates a key and its certificate. A nil parentKey means self-signed.
func sign(template, parent *x509.Certificate, parentKey *ecdsa.PrivateKey) (*ecdsa.PrivateKey, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	if parentKey == nil {
		parentKey = key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, parentKey)
	return key, der, err
}

func loopbackRanges() []*net.IPNet {
	return []*net.IPNet{
		{IP: net.IPv4(127, 0, 0, 0).To4(), Mask: net.CIDRMask(8, 32)},
		{IP: net.IPv6loopback, Mask: net.CIDRMask(128, 128)},
	}
}

var errDamaged = errors.New("not a certificate with its key")

func readKeyPair(dir, certName, keyName string) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	certPEM, err := os.ReadFile(filepath.Join(dir, certName))
	if err != nil {
		return nil, nil, err
	}
	keyPEM, err := os.ReadFile(filepath.Join(dir, keyName))
	if err != nil {
		return nil, nil, err
	}
	both, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w: %w", certName, errDamaged, err)
	}
	key, ok := both.PrivateKey.(*ecdsa.PrivateKey)
	if !ok {
		return nil, nil, fmt.Errorf("%s: %w", keyName, errDamaged)
	}
	return both.Leaf, key, nil
}

// writeKeyPair writes the key first: a crash in between leaves a pair that
// does not match, which load replaces.
func writeKeyPair(dir, certName, keyName string, der []byte, key *ecdsa.PrivateKey) error {
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})
	if err := writeFile(filepath.Join(dir, keyName), keyPEM, 0o600); err != nil {
		return err
	}
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return writeFile(filepath.Join(dir, certName), certPEM, 0o644)
}

// writeFile replaces a file atomically: readers see the old or the new content,
// also after a crash.
func writeFile(name string, content []byte, mode fs.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
