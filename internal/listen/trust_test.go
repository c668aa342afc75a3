package listen

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestS9TrustSteps(t *testing.T) {
	t.Parallel()
	only := func(dir string) func(string) bool { return func(d string) bool { return d == dir } }
	for _, tt := range []struct {
		name, goos string
		has        func(string) bool
		want       [][]string
		fault      string
	}{
		{"Debian", "linux", only("/usr/local/share/ca-certificates"), [][]string{
			{"install", "-m", "0644", "ca.pem", "/usr/local/share/ca-certificates/fanfare-local.crt"}, {"update-ca-certificates"},
		}, ""},
		{"Fedora", "linux", only("/etc/pki/ca-trust/source/anchors"), [][]string{
			{"install", "-m", "0644", "ca.pem", "/etc/pki/ca-trust/source/anchors/fanfare-local.pem"}, {"update-ca-trust", "extract"},
		}, ""},
		{"bare Linux", "linux", only("/"), nil, "--cacert ca.pem"},
		{"macOS", "darwin", nil, [][]string{{"security", "add-trusted-cert", "-d", "-r", "trustRoot", "-k", "/Library/Keychains/System.keychain", "ca.pem"}}, ""},
		{"Windows", "windows", nil, [][]string{{"certutil", "-addstore", "-f", "ROOT", "ca.pem"}}, ""},
		{"Plan 9", "plan9", nil, nil, "by hand"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := trustSteps(tt.goos, "ca.pem", tt.has)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if (err == nil) != (tt.fault == "") || err != nil && !strings.Contains(err.Error(), tt.fault) {
				t.Errorf("got %v want %q", err, tt.fault)
			}
		})
	}
}

func TestS9TrustRefusesAnUnlimitedAuthority(t *testing.T) {
	t.Parallel()
	never := func(string, ...string) error { t.Error("a program was run"); return nil }
	dir := t.TempDir()
	cert, key := issue(t, dir, "anything", ecKey(t), time.Now(), time.Now().Add(day))
	for _, file := range []string{cert, key, dir + "/missing"} {
		if err := Trust(file, never); err == nil {
			t.Errorf("%s: got nil want an error", file)
		}
	}
}

func TestS9TrustRunsAndReports(t *testing.T) {
	t.Parallel()
	if _, err := trustSteps("linux", "", exists); err != nil {
		t.Skip("this machine has no certificate store")
	}
	a, _ := newAuthority(t, t.TempDir(), "", newClock())
	file, _ := a.identity()
	var ran []string
	note := func(name string, _ ...string) error { ran = append(ran, name); return nil }
	if err := Trust(file, note); err != nil || len(ran) == 0 {
		t.Errorf("got %v after %q", err, ran)
	}
	denied := errors.New("permission denied")
	if err := Trust(file, func(string, ...string) error { return denied }); !errors.Is(err, denied) || !strings.Contains(err.Error(), "sudo") {
		t.Errorf("got %v want the cause and the fix", err)
	}
}
