package listen

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func newAuthority(t *testing.T, dir, host string, c *clock) (*authority, *journal) {
	t.Helper()
	j := &journal{}
	a, err := openAuthority(dir, host, c.now, j.logger())
	if err != nil {
		t.Fatal(err)
	}
	return a, j
}

// handshake returns the leaf certificate that a client gets now.
func (a *authority) handshake(t *testing.T) *x509.Certificate {
	t.Helper()
	c, err := a.certificate(nil)
	if err != nil {
		t.Fatal(err)
	}
	return c.Leaf
}

func TestS9LocalAuthorityAndLeaf(t *testing.T) {
	t.Parallel()
	c, dir := newClock(), filepath.Join(t.TempDir(), "tls")
	a, _ := newAuthority(t, dir, "studio.local", c)

	root, leaf := a.root, a.handshake(t)
	if !root.IsCA || root.MaxPathLen != 0 || !root.MaxPathLenZero || !root.PermittedDNSDomainsCritical {
		t.Errorf("authority: CA %v, path length %d, critical %v, want a critical constraint and path length 0", root.IsCA, root.MaxPathLen, root.PermittedDNSDomainsCritical)
	}
	if got := root.NotAfter.Sub(root.NotBefore); got != 730*day {
		t.Errorf("authority lives %v want 2 years", got)
	}
	if got := leaf.NotAfter.Sub(leaf.NotBefore); got != 397*day {
		t.Errorf("leaf lives %v want 397 days", got)
	}
	if k, ok := root.PublicKey.(*ecdsa.PublicKey); !ok || k.Curve != elliptic.P256() {
		t.Errorf("authority key %T, want P-256", root.PublicKey)
	}
	pool := x509.NewCertPool()
	pool.AddCert(root)
	for _, name := range []string{"localhost", "127.0.0.1", "::1", "studio.local"} {
		if _, err := leaf.Verify(x509.VerifyOptions{Roots: pool, DNSName: name, CurrentTime: c.now()}); err != nil {
			t.Errorf("leaf for %s: %v", name, err)
		}
	}
	for name, want := range map[string]os.FileMode{authorityFile: 0o644, authorityKeyFile: 0o600, leafFile: 0o644, leafKeyFile: 0o600} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: mode %v, %v, want %v", name, info.Mode().Perm(), err, want)
		}
	}
	if info, _ := os.Stat(dir); info.Mode().Perm() != 0o700 {
		t.Errorf("folder mode %v want 0700", info.Mode().Perm())
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.pem.*")); len(left) > 0 {
		t.Errorf("temporary files left: %v", left)
	}

	again, _ := newAuthority(t, dir, "studio.local", c)
	if !again.root.Equal(root) || !again.handshake(t).Equal(leaf) {
		t.Error("a second start made new certificates, want the same")
	}
	file, fingerprint := again.identity()
	raw, err := hex.DecodeString(strings.ReplaceAll(fingerprint, ":", ""))
	if err != nil || len(raw) != 32 || file != filepath.Join(dir, authorityFile) {
		t.Errorf("identity %q %q, want the file and 32 bytes in hex", file, fingerprint)
	}
}

func TestS9NameConstraintsHold(t *testing.T) {
	t.Parallel()
	c := newClock()
	a, _ := newAuthority(t, t.TempDir(), "studio", c)
	pool := x509.NewCertPool()
	pool.AddCert(a.root)
	for _, tt := range []struct {
		name string
		dns  []string
		ips  []net.IP
		ask  string
		want bool
	}{
		{"localhost", []string{"localhost"}, nil, "localhost", true},
		{"machine name", []string{"studio"}, nil, "studio", true},
		{"loopback network", nil, []net.IP{net.IPv4(127, 4, 5, 6)}, "127.4.5.6", true},
		{"another site", []string{"example.com"}, nil, "example.com", false},
		{"another site beside localhost", []string{"localhost", "example.com"}, nil, "localhost", false},
		{"name that only ends alike", []string{"notlocalhost"}, nil, "notlocalhost", false},
		{"private address", nil, []net.IP{net.IPv4(192, 168, 0, 1)}, "192.168.0.1", false},
		{"other IPv6 address", nil, []net.IP{net.ParseIP("2001:db8::1")}, "2001:db8::1", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			template := &x509.Certificate{
				SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "x"},
				NotBefore: c.now(), NotAfter: c.now().Add(day),
				ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
				DNSNames:    tt.dns, IPAddresses: tt.ips,
			}
			_, der, err := sign(template, a.root, a.rootKey)
			if err != nil {
				t.Fatal(err)
			}
			leaf, err := x509.ParseCertificate(der)
			if err != nil {
				t.Fatal(err)
			}
			_, err = leaf.Verify(x509.VerifyOptions{Roots: pool, DNSName: tt.ask, CurrentTime: c.now()})
			if got := err == nil; got != tt.want {
				t.Errorf("accepted %v (%v), want %v", got, err, tt.want)
			}
		})
	}
}

func TestS9LeafRenewsItself(t *testing.T) {
	t.Parallel()
	c, dir := newClock(), t.TempDir()
	a, _ := newAuthority(t, dir, "", c)
	root, first := a.root, a.handshake(t)

	c.add(366 * day)
	if !a.handshake(t).Equal(first) {
		t.Error("renewed with 31 days left, want at 30")
	}
	c.add(day + time.Hour)
	second := a.handshake(t)
	if second.Equal(first) || !a.root.Equal(root) {
		t.Error("with 30 days left: want a new leaf from the same authority")
	}
	if second.NotAfter.After(root.NotAfter) {
		t.Errorf("leaf ends %v after its authority %v", second.NotAfter, root.NotAfter)
	}
	if again, _ := newAuthority(t, dir, "", c); !again.handshake(t).Equal(second) {
		t.Error("the renewed leaf was not written")
	}
}

func TestS9AuthorityRenewsItself(t *testing.T) {
	t.Parallel()
	c, dir := newClock(), t.TempDir()
	a, j := newAuthority(t, dir, "", c)
	root := a.root
	c.add(701 * day)
	leaf := a.handshake(t)
	if a.root.Equal(root) || leaf.CheckSignatureFrom(a.root) != nil {
		t.Error("authority near its end: want a new one and a leaf from it")
	}
	if log := strings.Join(j.all(), ""); !strings.Contains(log, "fanfare trust") || !strings.Contains(log, fingerprintOf(a.root)) {
		t.Errorf("log %q does not name the new authority", log)
	}
	c.add(5 * 365 * day)
	if now := c.now(); !a.handshake(t).NotAfter.After(now) {
		t.Error("a certificate that ended long ago is still served")
	}
}

func TestS9FailedRenewalKeepsServing(t *testing.T) {
	t.Parallel()
	c, dir := newClock(), filepath.Join(t.TempDir(), "tls")
	a, j := newAuthority(t, dir, "", c)
	first := a.handshake(t)
	c.add(380 * day)
	if err := os.Rename(dir, dir+"-away"); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if !a.handshake(t).Equal(first) {
			t.Fatal("want the old leaf while the folder is gone")
		}
	}
	if n := len(j.all()); n != 1 {
		t.Errorf("%d log lines want 1: the retry waits a minute", n)
	}
	if err := os.Rename(dir+"-away", dir); err != nil {
		t.Fatal(err)
	}
	c.add(retryAfter)
	if a.handshake(t).Equal(first) {
		t.Error("want a new leaf once the folder is back")
	}
}

func TestS9DamagedAndForeignFiles(t *testing.T) {
	t.Parallel()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name     string
		spoil    func(t *testing.T, dir string, c *clock)
		sameRoot bool
		sameLeaf bool
	}{
		{"leaf missing", func(t *testing.T, dir string, _ *clock) { t.Helper(); must(t, os.Remove(filepath.Join(dir, leafFile))) }, true, false},
		{"leaf garbled", func(t *testing.T, dir string, _ *clock) {
			t.Helper()
			write(t, filepath.Join(dir, leafFile), []byte("x"), 0o644)
		}, true, false},
		{"leaf of another authority", func(t *testing.T, dir string, c *clock) {
			t.Helper()
			cert, keyFile := issue(t, t.TempDir(), "x", key, c.now(), c.now().Add(day))
			must(t, os.Rename(cert, filepath.Join(dir, leafFile)))
			must(t, os.Rename(keyFile, filepath.Join(dir, leafKeyFile)))
		}, true, false},
		{"crash between the authority's key and certificate", func(t *testing.T, dir string, c *clock) {
			t.Helper()
			_, keyFile := issue(t, t.TempDir(), "x", key, c.now(), c.now().Add(day))
			must(t, os.Rename(keyFile, filepath.Join(dir, authorityKeyFile)))
		}, false, false},
		{"authority missing", func(t *testing.T, dir string, _ *clock) {
			t.Helper()
			must(t, os.Remove(filepath.Join(dir, authorityFile)))
		}, false, false},
		{"clock before the first day", func(_ *testing.T, _ string, c *clock) { c.add(-2 * day) }, false, false},
		{"nothing", func(*testing.T, string, *clock) {}, true, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, dir := newClock(), t.TempDir()
			a, _ := newAuthority(t, dir, "", c)
			tt.spoil(t, dir, c)
			b, _ := newAuthority(t, dir, "", c)
			if got := b.root.Equal(a.root); got != tt.sameRoot {
				t.Errorf("same authority %v want %v", got, tt.sameRoot)
			}
			if got := b.handshake(t).Equal(a.handshake(t)); got != tt.sameLeaf {
				t.Errorf("same leaf %v want %v", got, tt.sameLeaf)
			}
			if err := b.handshake(t).CheckSignatureFrom(b.root); err != nil {
				t.Errorf("leaf is not from the authority: %v", err)
			}
		})
	}
}

// Reading a folder instead of a file returns an error that is neither missing
// nor damaged, like missing permissions, also for root.
func TestS9UnreadableAuthorityIsNotReplaced(t *testing.T) {
	t.Parallel()
	for _, name := range []string{authorityKeyFile, leafKeyFile} {
		dir := t.TempDir()
		c := newClock()
		newAuthority(t, dir, "", c)
		before, _ := os.ReadFile(filepath.Join(dir, authorityFile))
		must(t, os.Remove(filepath.Join(dir, name)))
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		if _, err := openAuthority(dir, "", c.now, silence()); err == nil {
			t.Errorf("%s unreadable: got nil want an error", name)
		}
		if after, _ := os.ReadFile(filepath.Join(dir, authorityFile)); !bytes.Equal(before, after) {
			t.Errorf("%s unreadable: the authority was replaced", name)
		}
	}
}

func TestS9RenamedMachineKeepsItsAuthority(t *testing.T) {
	t.Parallel()
	c, dir := newClock(), t.TempDir()
	a, _ := newAuthority(t, dir, "before", c)
	b, _ := newAuthority(t, dir, "after", c)
	if !b.root.Equal(a.root) {
		t.Error("a new machine name replaced the authority, which ends the trust in it")
	}
	if got := strings.Join(b.handshake(t).DNSNames, ","); got != "localhost" {
		t.Errorf("leaf names %q want localhost: the authority may not sign the new name", got)
	}
}

func TestS9MachineNamesThatMayBeSigned(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"vm": "vm", "Studio.Local": "studio.local", "web1.example.com": "web1.example.com", "box7.": "box7",
		"dev": "", "com": "", "co.uk": "", "localhost": "", "my_host": "", "": "", "10.0.0.1": "", "-x": "",
	} {
		if got := usableHost(name); got != want {
			t.Errorf("%q: got %q want %q", name, got, want)
		}
	}
	if name := machineName(); name != usableHost(name) {
		t.Errorf("machine name %q is not usable", name)
	}
}

func TestS7PublicAndAuthority(t *testing.T) {
	t.Parallel()
	s := start(t, autoConfig(t), time.Now)
	file, fingerprint := s.Authority()
	if s.Public() || file == "" || len(fingerprint) != 32*3-1 {
		t.Errorf("auto mode: public %v, %q %q", s.Public(), file, fingerprint)
	}
	cert, key := issue(t, t.TempDir(), "x", rsaKey(t, 2048), time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
	f := start(t, Config{Addr: "127.0.0.1:0", Mode: ModeFile, CertFile: cert, KeyFile: key}, time.Now)
	if file, fingerprint := f.Authority(); !f.Public() || file != "" || fingerprint != "" {
		t.Errorf("file mode: public %v, %q %q", f.Public(), file, fingerprint)
	}
	c := tls.Client(dial(t, s.Addr()), &tls.Config{RootCAs: s.roots(t), ServerName: "localhost"})
	if err := c.HandshakeContext(t.Context()); err != nil || fingerprintOf(s.authority.root) != fingerprint {
		t.Errorf("handshake %v, fingerprint %s", err, fingerprint)
	}
}
