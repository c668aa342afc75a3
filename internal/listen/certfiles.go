package listen

import (
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// certFilesCheck is the shortest time between two checks of the files by
// handshakes.
const certFilesCheck = 30 * time.Second

// certFiles is a certificate and its key in two files that the operator replaces.
// A change of the files takes effect without a restart. An invalid change is
// logged and the old certificate stays in use.
type certFiles struct {
	certFile, keyFile string
	now               func() time.Time
	log               *slog.Logger

	mu      sync.Mutex
	current *tls.Certificate
	seen    [2]fileVersion
	checked time.Time
}

// fileVersion distinguishes two versions of a file.
type fileVersion struct {
	modified time.Time
	size     int64
}

func openCertFiles(certFile, keyFile string, now func() time.Time, log *slog.Logger) (*certFiles, error) {
	p := &certFiles{certFile: certFile, keyFile: keyFile, now: now, log: log, checked: now()}
	p.seen = p.versions()
	cert, faults := readCertFiles(certFile, keyFile, now())
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	p.current = cert
	return p, nil
}

// certificate implements tls.Config.GetCertificate.
func (p *certFiles) certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	// A clock that was set back must not stop the checks, so both directions
	// count.
	if age := p.now().Sub(p.checked); age >= certFilesCheck || age < 0 {
		p.checked = p.now()
		p.reload()
	}
	return p.current, nil
}

// reload reads the files if one changed. It reads the versions before the files,
// so that the next check sees a change in between. Half of a change, the new
// certificate with the old key, fails and is read again when the other file
// arrives.
func (p *certFiles) reload() {
	versions := p.versions()
	if versions == p.seen {
		return
	}
	p.seen = versions
	cert, faults := readCertFiles(p.certFile, p.keyFile, p.now())
	if len(faults) > 0 {
		p.log.Error("certificate files changed but cannot be used, the old certificate stays",
			"error", errors.Join(faults...), "old_expires", p.current.Leaf.NotAfter)
		return
	}
	p.current = cert
	p.log.Info("certificate reloaded", "file", p.certFile, "expires", cert.Leaf.NotAfter)
}

func (p *certFiles) versions() (s [2]fileVersion) {
	for i, name := range []string{p.certFile, p.keyFile} {
		if info, err := os.Stat(name); err == nil {
			s[i] = fileVersion{info.ModTime(), info.Size()}
		}
	}
	return s
}

// readCertFiles loads both files and returns everything that is wrong with them.
func readCertFiles(certFile, keyFile string, now time.Time) (*tls.Certificate, []error) {
	if certFile == "" || keyFile == "" {
		return nil, []error{errors.New("tls.mode file needs two files: set the certificate file and the key file")}
	}
	var faults []error
	certPEM, err := os.ReadFile(certFile)
	if err != nil {
		faults = append(faults, fmt.Errorf("certificate file: %w", err))
	}
	keyPEM, err := os.ReadFile(keyFile)
	if err != nil {
		faults = append(faults, fmt.Errorf("key file: %w", err))
	} else if err := checkPrivate(keyFile); err != nil {
		faults = append(faults, err)
	}
	if certPEM == nil || keyPEM == nil {
		return nil, faults
	}
	cert, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		return nil, append(faults, fmt.Errorf("certificate %s and key %s do not belong together (%w): give a matching pair", certFile, keyFile, err))
	}
	return &cert, append(faults, checkLeaf(&cert, certFile, now)...)
}

func checkLeaf(cert *tls.Certificate, file string, now time.Time) []error {
	var faults []error
	leaf := cert.Leaf
	if now.After(leaf.NotAfter) {
		faults = append(faults, fmt.Errorf("certificate %s expired on %s: renew it", file, leaf.NotAfter.Format(time.DateOnly)))
	}
	if now.Before(leaf.NotBefore) {
		faults = append(faults, fmt.Errorf("certificate %s is not valid before %s: check the clock of this machine",
			file, leaf.NotBefore.UTC().Format(time.RFC3339)))
	}
	switch key := leaf.PublicKey.(type) {
	case *rsa.PublicKey:
		if key.N.BitLen() < 2048 {
			faults = append(faults, fmt.Errorf("certificate %s has an RSA key of %d bits: use 2048 or more, or ECDSA P-256", file, key.N.BitLen()))
		}
	case *ecdsa.PublicKey:
		if key.Curve.Params().BitSize < 256 {
			faults = append(faults, fmt.Errorf("certificate %s has a weak elliptic curve: use P-256", file))
		}
	}
	return faults
}
