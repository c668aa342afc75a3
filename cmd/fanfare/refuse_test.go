package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fanfare/internal/store"
	"fanfare/internal/store/sqlite"
	"fanfare/test/program"
)

// refusal is an invalid configuration: how to create it, and the expected
// error, which ends with the fix.
type refusal struct {
	name string
	// make creates the problem in the folder and returns flags.
	make func(t *testing.T, p *testInstall) []string
	says []string
}

func flags(args ...string) func(*testing.T, *testInstall) []string {
	return func(*testing.T, *testInstall) []string { return args }
}

// refusals lists the configurations that prevent a start, with their numbers in
// the threat model if they have one.
var refusals = []refusal{
	{"1 no proxy is named", flags("--listen", "0.0.0.0:1", "--tls-mode", "proxy"), []string{"trusts no proxy", "trusted_proxies"}},
	{"2 expired certificate", certificate(-48*time.Hour, -24*time.Hour, 0o600, false), []string{"expired on", "renew it"}},
	{"2 certificate of tomorrow", certificate(24*time.Hour, 48*time.Hour, 0o600, false), []string{"not valid before", "check the clock"}},
	{"2 another key", certificate(-time.Hour, time.Hour, 0o600, true), []string{"do not belong together", "give a matching pair"}},
	{"2 open key", certificate(-time.Hour, time.Hour, 0o644, false), []string{"can be read by others", "chmod 600"}},
	{"2 open key of the authority", func(t *testing.T, p *testInstall) []string {
		p.serve().Stop()
		chmod(t, filepath.Join(p.data, "tls", "ca-key.pem"), 0o644)
		return nil
	}, []string{"ca-key.pem can be read by others", "chmod 600"}},
	{"2 no certificate", flags("--tls-mode", "file"), []string{"needs two files", "set the certificate file"}},
	{"4 open folder", func(t *testing.T, p *testInstall) []string {
		if err := os.MkdirAll(p.data, 0o700); err != nil {
			t.Fatal(err)
		}
		chmod(t, p.data, 0o777)
		return nil
	}, []string{"can be written by others (mode 0777)", "chmod go-w"}},
	{"4 folder in use", func(_ *testing.T, p *testInstall) []string {
		p.serve()
		return nil
	}, []string{"in use", "held by process", "stop it first", "--data"}},
	{"4 folder is a file", func(t *testing.T, p *testInstall) []string {
		if err := os.WriteFile(p.data, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		return nil
	}, []string{"is a file", "--data"}},
	{"5 schema of the future", newerSchema, []string{"newer than this program", "9999_future", "start the program that made it"}},
	{"5 schema of somebody else", func(t *testing.T, p *testInstall) []string {
		p.run(0, "migrate")
		change(t, p, `UPDATE schema_migration SET sum = 'other'`)
		return nil
	}, []string{"was changed after it was applied", "not the released ones"}},
	{"8 everybody is a proxy", flags("--tls-mode", "proxy", "--trusted-proxies", "0.0.0.0/0"), []string{"0.0.0.0/0", "list only the proxies' own networks"}},
	{"8 everybody is a proxy, in two halves", flags("--tls-mode", "proxy", "--trusted-proxies", "0.0.0.0/1,128.0.0.0/1"), []string{"0.0.0.0/1", "128.0.0.0/1"}},
	{"9 no limits in public", flags("--listen", "0.0.0.0:1", "--limits", "growth=0/0"), []string{"plan growth has no limit per minute", "--limits"}},
	{"10 every origin", flags("--cors-origins", "*"), []string{"cors-origins is *", "name the origins"}},
	{"10 no origin", flags("--cors-origins", "http://app.example.com"), []string{`"http://app.example.com" is not an origin`, "https://app.example.com"}},
	{"11 profiles in public", flags("--admin-listen", "0.0.0.0:1"), []string{"admin-listen 0.0.0.0:1", "use 127.0.0.1"}},
	{"11 profiles in clear text", flags("--admin-listen", "127.0.0.1:1", "--tls-mode", "proxy", "--trusted-proxies", "127.0.0.1"), []string{"needs a certificate", "leave it out"}},
	{"13 test build in public", flags("--listen", "0.0.0.0:1"), []string{"built with test tags", "use a release build"}},
	{"15 unknown key", func(t *testing.T, _ *testInstall) []string {
		file := filepath.Join(t.TempDir(), "settings.yaml")
		if err := os.WriteFile(file, []byte("lisen: 127.0.0.1:0\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return []string{"--config", file}
	}, []string{`unknown key "lisen"`, "did you mean listen?"}},
	{"unknown mode", flags("--tls-mode", "files"), []string{`"files" is unknown`, `did you mean "file"?`}},
	{"no domain", flags("--tls-mode", "acme"), []string{"no domain", "name at least one"}},
	{"no address", flags("--listen", "8443"), []string{`"8443" is not host:port`, "127.0.0.1:8443"}},
	{"wrong limits", flags("--limits", "groth=1/2,starter=5,enterprise=a/b"), []string{
		"did you mean growth?", "starter=minute/day", `"a" in "enterprise=a/b" is not a whole number`,
	}},
	{"wrong proxies", flags("--tls-mode", "proxy", "--trusted-proxies", "here,there"), []string{`"here"`, `"there"`, "10.0.0.0/8"}},
	{"wrong policy", flags("--plaintext-key-policy", "ignore"), []string{`"ignore"`, "revoke or warn"}},
	{"wrong log", flags("--log-level", "loud", "--log-format", "xml"), []string{`log-level "loud"`, "use debug, info, warn or error", `log-format "xml"`, "use text, json or auto"}},
	{"wrong store", flags("--store", "mysql://me:secret@db/x"), []string{"mysql://me:xxxxx@db/x", "postgres://"}},
	{"a file for assets", func(t *testing.T, _ *testInstall) []string {
		file := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		return []string{"--assets", file}
	}, []string{"with --assets"}},
	{"no past", flags("--history-days", "30"), []string{"history-days 30", "use 90 to 1096"}},
	{"no requests", flags("--max-in-flight", "0"), []string{"max-in-flight 0", "use 1 or more"}},
	{"negative drain delay", flags("--drain-delay", "-1s"), []string{"drain-delay -1s", "use 0s or more"}},
	{"negative connections", flags("--max-connections", "-1"), []string{"negative", "0 for the default"}},
	{"port in use", func(t *testing.T, _ *testInstall) []string {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = ln.Close() })
		return []string{"--listen", ln.Addr().String()}
	}, []string{"address already in use", "choose another port with --listen"}},
	{"no folder", flags("--data", ""), []string{"the data folder has no name", "--data"}},
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, f := range refusals {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			res := p.run(exitConfig, append([]string{"serve"}, f.make(t, p)...)...)
			wants(t, res.Errors, f.says...)
			for line := range strings.Lines(res.Errors) {
				if strings.Contains(line, "secret") || !strings.HasPrefix(line, "fanfare: ") && !strings.HasPrefix(line, `{"time"`) {
					t.Errorf("got the line %q", line)
				}
			}
		})
	}
}

// TestRefusalsTogether checks that all errors are reported at once.
func TestRefusalsTogether(t *testing.T) {
	t.Parallel()
	for _, names := range [][]string{
		{"2 open key", "4 open folder", "10 every origin", "11 profiles in public", "15 unknown key", "wrong limits", "wrong policy", "wrong log", "no requests"},
		{"1 no proxy is named", "9 no limits in public", "10 no origin", "13 test build in public", "11 profiles in public"},
		{"5 schema of the future", "10 every origin", "2 no certificate"},
		{"4 folder in use", "8 everybody is a proxy", "10 every origin"},
	} {
		p := newPlace(t)
		args, says := []string{"serve"}, []string(nil)
		for _, name := range names {
			for _, f := range refusals {
				if f.name == name {
					args = append(args, f.make(t, p)...)
					says = append(says, f.says...)
				}
			}
		}
		wants(t, p.run(exitConfig, args...).Errors, says...)
	}
}

// TestClockBeforeBuild runs a program whose build date is in the future, which
// means that the clock is wrong.
func TestClockBeforeBuild(t *testing.T) {
	t.Parallel()
	binary := program.Build(t, "-ldflags", "-X main.buildDate=2099-01-01T00:00:00Z")
	for _, command := range []string{"serve", "doctor"} {
		res := program.Run(t, binary, t.TempDir(), []string{"FANFARE_LISTEN=127.0.0.1:0", "FANFARE_CORS_ORIGINS=*"}, command)
		if res.Code != exitConfig {
			t.Errorf("%s: got code %d", command, res.Code)
		}
		wants(t, res.Out+res.Errors, "before the build date of this program (2099-01-01T00:00:00Z)", "synchronize it with NTP", "cors-origins is *")
	}
	if res := program.Run(t, binary, t.TempDir(), nil, "version"); res.Out != "fanfare dev 2099-01-01T00:00:00Z\n" {
		t.Errorf("got %q", res.Out)
	}
}

// TestWarnings checks warnings about problems under load; the server starts.
func TestWarnings(t *testing.T) {
	t.Parallel()
	script := filepath.Join(t.TempDir(), "fanfare")
	text := "#!/bin/sh\nulimit -n 512\nexec '" + program.Build(t) + "' \"$@\"\n"
	if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), script, "version").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s := program.Start(t, program.Options{Binary: script, Env: []string{"FANFARE_NONSENSE=1"}})
	wants(t, s.Log.String(), "open-file limit of 512 is below what 10000 connections need", "ulimit -n 10200", "unknown environment variable FANFARE_NONSENSE")
	s.Stop()
	for _, tt := range []struct {
		free  uint64
		share float64
		low   bool
	}{{1 << 40, 0.5, false}, {1 << 40, 0.04, true}, {499 << 20, 0.5, true}, {500 << 20, 0.05, false}} {
		if got := lowDisk(tt.free, tt.share); got != tt.low {
			t.Errorf("%d bytes, %g: got %v", tt.free, tt.share, got)
		}
	}
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// certificate returns a function that creates a certificate and key with a
// validity relative to now, a mode of the key file, or another pair's key.
func certificate(from, until time.Duration, mode os.FileMode, other bool) func(*testing.T, *testInstall) []string {
	return func(t *testing.T, _ *testInstall) []string {
		t.Helper()
		now := time.Now()
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		template := &x509.Certificate{
			SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: "localhost"}, DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
			NotBefore: now.Add(from), NotAfter: now.Add(until),
		}
		cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
		if err != nil {
			t.Fatal(err)
		}
		if other {
			if key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
				t.Fatal(err)
			}
		}
		secret, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
		for file, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: cert}, keyFile: {Type: "PRIVATE KEY", Bytes: secret}} {
			if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		chmod(t, keyFile, mode)
		return []string{"--tls-mode", "file", "--tls-cert", certFile, "--tls-key", keyFile}
	}
}

// newerSchema creates a database with a migration of a newer program.
func newerSchema(t *testing.T, p *testInstall) []string {
	t.Helper()
	p.run(0, "migrate")
	change(t, p, `INSERT INTO schema_migration (version, name, sum, applied_at) VALUES ('9999', '9999_future', '', 0)`)
	return nil
}

// change runs a statement on the folder's database.
func change(t *testing.T, p *testInstall, statement string) {
	t.Helper()
	e, err := sqlite.Open(filepath.Join(p.data, "fanfare.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = e.Write(store.Across(t.Context()), func(tx store.Tx) error { return tx.Script(statement) })
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}
