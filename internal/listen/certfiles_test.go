package listen

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func ecKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestFileModeReloads(t *testing.T) {
	t.Parallel()
	c, dir, j := newClock(), t.TempDir(), &journal{}
	from, until := c.now().Add(-day), c.now().Add(90*day)
	certFile, keyFile := issue(t, dir, "one", ecKey(t), from, until)
	p, err := openCertFiles(certFile, keyFile, c.now, j.logger())
	if err != nil {
		t.Fatal(err)
	}
	stamp := time.Now()
	touch := func() {
		stamp = stamp.Add(time.Second)
		for _, file := range []string{certFile, keyFile} {
			if err := os.Chtimes(file, stamp, stamp); err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
		}
	}
	serves := func(want string) {
		t.Helper()
		cert, err := p.certificate(nil)
		if err != nil || cert.Leaf.Subject.CommonName != want {
			t.Errorf("serves %v, %v, want %s", cert.Leaf.Subject, err, want)
		}
	}
	serves("one")

	issue(t, dir, "two", ecKey(t), from, until)
	touch()
	c.add(certFilesCheck - time.Second)
	serves("one")
	c.add(time.Second)
	serves("two")

	for name, spoil := range map[string]func(){
		"garbled":       func() { write(t, certFile, []byte("x"), 0o644) },
		"gone":          func() { must(t, os.Remove(certFile)) },
		"expired":       func() { issue(t, dir, "old", ecKey(t), from.Add(-day), from) },
		"world-visible": func() { issue(t, dir, "open", ecKey(t), from, until); must(t, os.Chmod(keyFile, 0o644)) },
		"half replaced": func() {
			cert, _ := issue(t, t.TempDir(), "half", ecKey(t), from, until)
			must(t, os.Rename(cert, certFile))
		},
	} {
		before := len(j.all())
		spoil()
		touch()
		c.add(certFilesCheck)
		serves("two")
		c.add(certFilesCheck)
		serves("two")
		if got := len(j.all()) - before; got != 1 {
			t.Errorf("%s: %d log lines want 1", name, got)
		}
	}
	issue(t, dir, "three", ecKey(t), from, until)
	touch()
	c.add(-time.Hour)
	serves("three")
}

func TestRefusesWeakCertificateFiles(t *testing.T) {
	t.Parallel()
	now := newClock().now()
	from, until := now.Add(-day), now.Add(day)
	for _, tt := range []struct {
		name  string
		files func(t *testing.T, dir string) (cert, key string)
		want  []string // in order, one fault each
	}{
		{"good", func(t *testing.T, dir string) (string, string) {
			t.Helper()
			return issue(t, dir, "x", ecKey(t), from, until)
		}, nil},
		{"group may read the key", func(t *testing.T, dir string) (string, string) {
			t.Helper()
			c, k := issue(t, dir, "x", ecKey(t), from, until)
			must(t, os.Chmod(k, 0o640))
			return c, k
		}, nil},
		{"not set", func(*testing.T, string) (string, string) { return "", "" }, []string{"needs two files"}},
		{"missing", func(_ *testing.T, dir string) (string, string) {
			return filepath.Join(dir, "c"), filepath.Join(dir, "k")
		}, []string{"certificate file", "key file"}},
		{"expired and readable by others", func(t *testing.T, dir string) (string, string) {
			t.Helper()
			c, k := issue(t, dir, "x", ecKey(t), from.Add(-day), from)
			must(t, os.Chmod(k, 0o604))
			return c, k
		}, []string{"chmod 600", "expired on 2026-11-14"}},
		{"not yet valid", func(t *testing.T, dir string) (string, string) {
			t.Helper()
			return issue(t, dir, "x", ecKey(t), until, until.Add(day))
		}, []string{"not valid before 2026-11-16T12:00:00Z"}},
		{"key of another certificate", func(t *testing.T, dir string) (string, string) {
			t.Helper()
			c, _ := issue(t, dir, "x", ecKey(t), from, until)
			_, k := issue(t, t.TempDir(), "y", ecKey(t), from, until)
			return c, k
		}, []string{"do not belong together"}},
		{"weak RSA", func(t *testing.T, dir string) (string, string) {
			t.Helper()
			return issue(t, dir, "x", rsaKey(t, 1024), from, until)
		}, []string{"1024 bits"}},
		{"weak curve", func(t *testing.T, dir string) (string, string) {
			t.Helper()
			k, err := ecdsa.GenerateKey(elliptic.P224(), rand.Reader)
			if err != nil {
				t.Fatal(err)
			}
			return issue(t, dir, "x", k, from, until)
		}, []string{"use P-256"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cert, key := tt.files(t, t.TempDir())
			cfg := Config{Addr: "127.0.0.1:0", Mode: ModeFile, CertFile: cert, KeyFile: key}
			wantFaults(t, cfg.Check(now), tt.want)
			if l, err := Open(t.Context(), cfg, func() time.Time { return now }, silence()); (err == nil) != (tt.want == nil) {
				t.Errorf("Open: %v, want it to agree with Check", err)
			} else if err == nil {
				must(t, l.Shutdown(t.Context()))
			}
		})
	}
}

func wantFaults(t *testing.T, got []error, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got %d faults %v, want %d %q", len(got), got, len(want), want)
	}
	for i, err := range got {
		if !strings.Contains(err.Error(), want[i]) || strings.Contains(err.Error(), "\n") {
			t.Errorf("got %q, want one line with %q", err, want[i])
		}
	}
}
