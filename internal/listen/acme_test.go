package listen

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestACMECertificateByTLSALPN runs against a real ACME authority: account,
// order, validation on the listener's port, certificate, and a restart without
// the authority.
func TestACMECertificateByTLSALPN(t *testing.T) {
	t.Parallel()
	const domain = "api.fanfare.example"
	port := freePort(t)
	authority := startPebble(t, port)
	roots := authority.roots(t)
	cfg := Config{
		Addr: fmt.Sprintf("127.0.0.1:%d", port), Mode: ModeACME, Dir: filepath.Join(t.TempDir(), "tls"),
		Domains: []string{domain}, Email: "ops@fanfare.example",
		Directory: authority.directory, DirectoryRoots: authority.rootsFile,
	}
	j := &journal{}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the listener said:\n%s", j.all())
		}
	})
	begin := time.Now()
	l, err := Open(t.Context(), cfg, time.Now, j.logger())
	if err != nil {
		t.Fatal(err)
	}
	s := run(t, l, http.HandlerFunc(secureAnswer))
	if file, _ := s.Authority(); !s.Public() || file != "" {
		t.Errorf("public %v, authority %q, want a public certificate", s.Public(), file)
	}
	var leaf *x509.Certificate
	eventually(t, "certificate", func() (err error) {
		leaf, err = leafOf(t, s.Addr(), domain, roots)
		return err
	})
	t.Logf("certificate served after %v", time.Since(begin).Round(time.Millisecond))
	if !strings.Contains(leaf.Issuer.CommonName, "Pebble") {
		t.Errorf("issuer %q, want Pebble", leaf.Issuer.CommonName)
	}
	if !strings.Contains(strings.Join(j.all(), ""), "certificate obtained") {
		t.Errorf("log does not say that the certificate was obtained: %q", j.all())
	}
	if _, err := leafOf(t, s.Addr(), "", roots); err != nil {
		t.Errorf("client without server name: %v", err)
	}
	if _, err := leafOf(t, s.Addr(), "other.example", roots); err == nil {
		t.Error("handshake for a foreign name succeeded")
	}
	wantAnswers(t, s.Addr(), domain, roots)
	wantPrivate(t, cfg.Dir)

	if err := s.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	authority.stop()
	again := start(t, cfg, time.Now)
	eventually(t, "stored certificate", func() error {
		next, err := leafOf(t, again.Addr(), domain, roots)
		if err == nil && !next.Equal(leaf) {
			err = fmt.Errorf("another certificate: %v", next.SerialNumber)
		}
		return err
	})
}

func leafOf(t *testing.T, addr net.Addr, name string, roots *x509.CertPool) (*x509.Certificate, error) {
	t.Helper()
	c := tls.Client(dial(t, addr), &tls.Config{ServerName: name, RootCAs: roots, InsecureSkipVerify: name == ""})
	defer func() { _ = c.Close() }()
	if err := c.HandshakeContext(t.Context()); err != nil {
		return nil, err
	}
	return c.ConnectionState().PeerCertificates[0], nil
}

func wantAnswers(t *testing.T, addr net.Addr, domain string, roots *x509.CertPool) {
	t.Helper()
	for _, http2 := range []bool{false, true} {
		var speaks http.Protocols
		speaks.SetHTTP1(!http2)
		speaks.SetHTTP2(http2)
		tr := &http.Transport{Protocols: &speaks, TLSClientConfig: &tls.Config{ServerName: domain, RootCAs: roots}}
		_, body := get(t, &http.Client{Transport: tr}, "https://"+addr.String(), nil)
		if !strings.HasPrefix(body, "secure ") {
			t.Errorf("http2=%v: got %q", http2, body)
		}
		tr.CloseIdleConnections()
	}
	res, body := get(t, http.DefaultClient, "http://"+addr.String(), nil)
	if res.StatusCode != http.StatusForbidden {
		t.Errorf("S2 plain HTTP in acme mode: got %d %q", res.StatusCode, body)
	}
}

// wantPrivate checks that only the owner can read accounts and keys.
func wantPrivate(t *testing.T, dir string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v, want nothing for others", path, info.Mode().Perm())
		}
		files++
		return nil
	})
	if err != nil || files < 4 {
		t.Errorf("storage: %d entries, %v", files, err)
	}
}
