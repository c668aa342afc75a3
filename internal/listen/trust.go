package listen

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"runtime"
)

// Trust installs the local authority in caFile in the system's store, so that
// browsers and clients of this machine accept it. It refuses an authority that
// is not constrained to this machine's names. run executes one program, which
// needs administrator rights. Trust can be repeated without effect.
func Trust(caFile string, run func(name string, args ...string) error) error {
	if err := checkConstrained(caFile); err != nil {
		return err
	}
	steps, err := trustSteps(runtime.GOOS, caFile, exists)
	if err != nil {
		return err
	}
	for _, step := range steps {
		if err := run(step[0], step[1:]...); err != nil {
			return fmt.Errorf("trust %s: %s: %w (administrator rights are needed: try sudo)", caFile, step[0], err)
		}
	}
	return nil
}

func checkConstrained(caFile string) error {
	content, err := os.ReadFile(caFile)
	if err != nil {
		return fmt.Errorf("read local authority: %w", err)
	}
	block, _ := pem.Decode(content)
	if block == nil {
		return fmt.Errorf("%s holds no PEM certificate", caFile)
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return fmt.Errorf("read local authority: %w", err)
	}
	if !cert.IsCA || !cert.PermittedDNSDomainsCritical || len(cert.PermittedDNSDomains) == 0 || len(cert.PermittedIPRanges) == 0 {
		return fmt.Errorf("%s is not limited to this machine's names and is not installed: use the ca.pem made in tls.mode auto", caFile)
	}
	return nil
}

// linuxStores lists the folders of trusted authorities per distribution, each
// with the program that publishes them.
var linuxStores = []struct {
	dir, file string
	publish   []string
}{
	{"/usr/local/share/ca-certificates", "fanfare-local.crt", []string{"update-ca-certificates"}},
	{"/etc/pki/ca-trust/source/anchors", "fanfare-local.pem", []string{"update-ca-trust", "extract"}},
}

func trustSteps(goos, caFile string, has func(dir string) bool) ([][]string, error) {
	switch goos {
	case "darwin":
		return [][]string{{"security", "add-trusted-cert", "-d", "-r", "trustRoot", "-k", "/Library/Keychains/System.keychain", caFile}}, nil
	case "windows":
		return [][]string{{"certutil", "-addstore", "-f", "ROOT", caFile}}, nil
	case "linux":
		for _, s := range linuxStores {
			if has(s.dir) {
				return [][]string{{"install", "-m", "0644", caFile, s.dir + "/" + s.file}, s.publish}, nil
			}
		}
		return nil, errors.New("no certificate store found: install the package ca-certificates, or give clients the file with --cacert " + caFile)
	}
	return nil, fmt.Errorf("installing an authority on %s is not known: add %s to its certificate store by hand", goos, caFile)
}

func exists(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.IsDir()
}
