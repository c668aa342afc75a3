package listen

import (
	"net/netip"
	"os"
	"path/filepath"
	"testing"
)

func prefixes(list ...string) []netip.Prefix {
	var out []netip.Prefix
	for _, s := range list {
		out = append(out, netip.MustParsePrefix(s))
	}
	return out
}

func TestCheckNamesEveryFault(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	write(t, file, []byte("no certificate"), 0o600)
	open := filepath.Join(dir, "open")
	if err := os.Mkdir(open, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(open, authorityKeyFile), nil, 0o644)
	write(t, filepath.Join(open, leafKeyFile), nil, 0o606)
	if err := os.Chmod(open, 0o777); err != nil {
		t.Fatal(err)
	}
	const addr = "127.0.0.1:8443"
	for _, tt := range []struct {
		name string
		cfg  Config
		want []string
	}{
		{"auto", Config{Addr: addr, Mode: ModeAuto, Dir: filepath.Join(dir, "new")}, nil},
		{"auto beyond loopback is TLS and fine", Config{Addr: ":8443", Mode: ModeAuto, Dir: dir}, nil},
		{"address", Config{Addr: "8443", Mode: ModeAuto, Dir: dir}, []string{"host:port"}},
		{"port", Config{Addr: "localhost:https!", Mode: ModeAuto, Dir: dir}, []string{"host:port"}},
		{"caps", Config{Addr: addr, Mode: ModeAuto, Dir: dir, MaxConns: -1}, []string{"negative"}},
		{"no folder", Config{Addr: addr, Mode: ModeAuto}, []string{"data folder"}},
		{"folder is a file", Config{Addr: addr, Mode: ModeAuto, Dir: file}, []string{"is a file"}},
		{"folder and keys open to others", Config{Addr: addr, Mode: ModeAuto, Dir: open}, []string{"chmod 700", "chmod 600", "chmod 600"}},
		{"no mode", Config{Addr: addr}, []string{"auto, file, acme, proxy"}},
		{"misspelt", Config{Addr: addr, Mode: "flie"}, []string{`did you mean "file"?`}},
		{"misspelt too", Config{Addr: addr, Mode: "PROXI"}, []string{`did you mean "proxy"?`}},
		{"acme", Config{Addr: ":443", Mode: ModeACME, Dir: dir, Domains: []string{"api.example.com"}, Email: "ops@example.com"}, nil},
		{"acme without anything", Config{Addr: ":443", Mode: ModeACME}, []string{"data folder", "no domain"}},
		{
			"acme domains",
			Config{Addr: ":443", Mode: ModeACME, Dir: dir, Domains: []string{"*.example.com", "https://a.example.com", "10.0.0.1", "", "host.internal", "localhost"}},
			[]string{"wildcard", "bare name", "bare name", "bare name", "public name", "public name"},
		},
		{
			"acme private directory",
			Config{Addr: ":443", Mode: ModeACME, Dir: dir, Domains: []string{"host.internal"}, Directory: "https://ca.internal/dir"},
			nil,
		},
		{
			"acme account and directory",
			Config{Addr: ":443", Mode: ModeACME, Dir: dir, Domains: []string{"a.example.com"}, Email: "ops", Directory: "http://ca.internal/dir", DirectoryRoots: file},
			[]string{"e-mail", "https URL", "no PEM certificate"},
		},
		{"acme roots missing", Config{Addr: ":443", Mode: ModeACME, Dir: dir, Domains: []string{"a.example.com"}, DirectoryRoots: file + "x"}, []string{"roots of the ACME directory"}},
		{"S8 proxy", Config{Addr: "0.0.0.0:80", Mode: ModeProxy, TrustedProxies: prefixes("10.0.0.0/8", "fc00::/7", "::1/128", "192.0.2.1/32")}, nil},
		{"S8 proxy with an empty list", Config{Addr: "0.0.0.0:80", Mode: ModeProxy}, []string{"trusts no proxy"}},
		{
			"S8 proxy trusting everybody",
			Config{Addr: addr, Mode: ModeProxy, TrustedProxies: prefixes("0.0.0.0/0", "::/0", "0.0.0.0/1", "::ffff:0:0/96", "2000::/3")},
			[]string{"0.0.0.0/0", "::/0", "0.0.0.0/1", "::ffff:0.0.0.0/96", "2000::/3"},
		},
		{"S8 proxy with a hole in the list", Config{Addr: addr, Mode: ModeProxy, TrustedProxies: []netip.Prefix{{}}}, []string{"empty network"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			wantFaults(t, tt.cfg.Check(newClock().now()), tt.want)
		})
	}
}

func TestCheckChangesNothing(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "tls")
	Config{Addr: "127.0.0.1:0", Mode: ModeAuto, Dir: dir}.Check(newClock().now())
	if _, err := os.Stat(dir); err == nil {
		t.Error("Check made the folder")
	}
}
