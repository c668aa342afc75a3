package main

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fanfare/internal/datadir"
)

// examined runs doctor and returns its findings by status.
func (p *testInstall) examined(code int, args ...string) map[string]string {
	p.Helper()
	var list []finding
	res := p.run(code, append([]string{"doctor", "--json"}, args...)...)
	if err := jsonLine(res.Out, &list); err != nil {
		p.Fatalf("%v: %s", err, res.Out)
	}
	found := map[string]string{}
	for _, f := range list {
		if f.Check == "" || f.Detail == "" {
			p.Errorf("got %+v", f)
		}
		found[f.Status] += f.Check + ": " + f.Detail + "\n"
	}
	for status := range found {
		if !slices.Contains([]string{good, warning, failure}, status) {
			p.Errorf("got status %q", status)
		}
	}
	if (found[failure] != "") != (code != 0) {
		p.Errorf("got code %d with the failures %q", code, found[failure])
	}
	return found
}

// TestDoctorFindsNothing checks that doctor reports no problem on a healthy
// installation, with and without a server.
func TestDoctorFindsNothing(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	wants(t, p.examined(0)[good], "settings:", "log:", "limits:", "security:", "clock:", "proxies:", "data folder:", "does not exist yet", "certificate:", "port:")
	if _, err := os.Stat(p.data); !os.IsNotExist(err) {
		t.Errorf("doctor made the folder: %v", err)
	}
	p.serve()
	p.workspace()
	found := p.examined(0)
	wants(t, found[good], "disk:", "authority:", "more days", "server: running", "control:", "closed to other users", "port:", "responds", "served:",
		"ready:", "assets:", "store: sqlite can be opened", "schema: up to date", "audit log: 1 entries are unchanged", "clock skew:")
	p.server.Stop()
	p.server = nil
	wants(t, p.examined(0)[good], "server: not running", "is free", "store: sqlite can be opened", "audit log: 1 entries are unchanged")
	text := p.run(0, "doctor").Out
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "ok    ") && !strings.HasPrefix(line, "warn  ") {
			t.Errorf("got the line %q", line)
		}
	}
}

// TestDoctorConnection checks a connection, with and without a server, and one
// that does not exist.
func TestDoctorConnection(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.serve()
	w := p.workspace()
	status, body := p.server.Call(w.APIKey, http.MethodPost, "/v1/connections", `{"platform":"sandbox","name":"Made up"}`)
	if status != http.StatusCreated {
		t.Fatalf("got %d %s", status, body)
	}
	_, id, _ := strings.Cut(body, `"id":"`)
	id = id[:30]
	for _, when := range []string{"with a server", "without one"} {
		out := p.run(0, "doctor", "--connection", id).Out
		t.Log(when)
		wants(t, out, "ok    credentials", "ok    report_base", "meta_ads account", "ok    quota")
		if p.server != nil {
			p.server.Stop()
			p.server = nil
		}
	}
	wants(t, p.run(5, "doctor", "--connection", "con_01h455vb4pex5vsknk084sn02q").Errors, "No workspace has a connection")
}

// TestDoctorFindsRefusals checks that doctor reports everything that would
// prevent a start.
func TestDoctorFindsRefusals(t *testing.T) {
	t.Parallel()
	for _, f := range refusals {
		if f.name == "4 folder in use" {
			continue // by the server that doctor then asks
		}
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			args := f.make(t, p)
			p.server = nil
			says := f.says
			if f.name == "port in use" {
				says = []string{"address already in use", "choose another address with --listen"}
			}
			wants(t, p.examined(exitConfig, args...)[failure], says...)
			wants(t, p.run(exitConfig, append([]string{"doctor"}, args...)...).Out, "FAIL  ")
		})
	}
}

func TestDoctorFinds(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		status string
		make   func(t *testing.T, p *testInstall) []string
		says   []string
	}{
		{"a folder that others can read", warning, func(t *testing.T, p *testInstall) []string {
			p.run(0, "migrate")
			chmod(t, p.data, 0o755)
			return nil
		}, []string{"data folder:", "can be read by other users (mode 0755)", "chmod 700"}},
		{"pictures that others can change", failure, func(t *testing.T, p *testInstall) []string {
			p.serve().Stop()
			chmod(t, filepath.Join(p.data, "assets"), 0o722)
			return nil
		}, []string{"assets:", "can be written by other users (mode 0722)", "chmod go-w"}},
		{"an unknown variable", warning, func(_ *testing.T, p *testInstall) []string {
			p.env = append(p.env, "FANFARE_LISEN=x")
			return nil
		}, []string{"environment:", "did you mean FANFARE_LISTEN?"}},
		{"too many connections", warning, func(_ *testing.T, p *testInstall) []string {
			p.run(0, "migrate")
			return []string{"--max-connections", "1000000000"}
		}, []string{"machine:", "open-file limit", "ulimit -n"}},
		{"a certificate that ends soon", warning, func(t *testing.T, p *testInstall) []string {
			p.run(0, "migrate")
			return certificate(-time.Hour, 100*time.Hour, 0o600, false)(t, p)
		}, []string{"certificate:", "4 more days", "renew it"}},
		{"an authority that is none", failure, func(t *testing.T, p *testInstall) []string {
			p.serve().Stop()
			if err := os.WriteFile(filepath.Join(p.data, "tls", "ca.pem"), []byte("nonsense"), 0o600); err != nil {
				t.Fatal(err)
			}
			return nil
		}, []string{"authority:", "contains no certificate", "delete it"}},
		{"another process", failure, func(t *testing.T, p *testInstall) []string {
			dir, err := datadir.Open(p.data)
			if err != nil {
				t.Fatal(err)
			}
			if err := dir.Lock(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(dir.Unlock)
			return nil
		}, []string{"lock:", "held by process", "stop it first"}},
		{"a database that is none", failure, func(t *testing.T, p *testInstall) []string {
			if err := os.MkdirAll(p.data, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(p.data, "fanfare.db"), []byte(strings.Repeat("nonsense ", 1000)), 0o600); err != nil {
				t.Fatal(err)
			}
			return nil
		}, []string{"store:", "restore a backup"}},
		{"a database with nothing in it", good, func(t *testing.T, p *testInstall) []string {
			if err := os.MkdirAll(p.data, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(p.data, "fanfare.db"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			return nil
		}, []string{"schema: the next start will apply 0001_foundation"}},
		{"a database that others can write", failure, func(t *testing.T, p *testInstall) []string {
			p.run(0, "migrate")
			chmod(t, filepath.Join(p.data, "fanfare.db"), 0o666)
			return nil
		}, []string{"store:", "can be written by other users (mode 0666)", "chmod 600"}},
		{"a changed audit log", failure, func(t *testing.T, p *testInstall) []string {
			p.workspace()
			change(t, p, `UPDATE audit SET at = at + 1 WHERE seq = 1`)
			return nil
		}, []string{"audit log:", "1 entries were changed", "fanfare audit verify"}},
		{"a changed audit log, beside a server", failure, func(t *testing.T, p *testInstall) []string {
			p.workspace()
			change(t, p, `UPDATE audit SET at = at + 1 WHERE seq = 1`)
			p.serve()
			return nil
		}, []string{"audit log:", "1 entries were changed", "fanfare audit verify"}},
		{"an open socket", failure, func(t *testing.T, p *testInstall) []string {
			p.serve()
			chmod(t, filepath.Join(p.data, socketName), 0o666)
			return nil
		}, []string{"control:", "other users can open", "(mode 0666)", "chmod 600"}},
		{"a server elsewhere", failure, func(_ *testing.T, p *testInstall) []string {
			p.serve()
			return []string{"--listen", "127.0.0.1:1"}
		}, []string{"port:", "does not respond", "set --listen to"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			args := tt.make(t, p)
			if p.server != nil && p.server.Ended() {
				p.server = nil
			}
			code := 0
			if tt.status == failure {
				code = exitConfig
			}
			wants(t, p.examined(code, args...)[tt.status], tt.says...)
		})
	}
}

// TestAuditVerify checks that the command reports where the log was tampered
// with.
func TestAuditVerify(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	w := p.workspace()
	p.run(0, "user", "create", "--workspace", w.WorkspaceID, "--email", "vera@example.com")
	change(t, p, `UPDATE audit SET at = at + 1 WHERE seq = 2`)
	res := p.run(1, "audit", "verify")
	wants(t, res.Out, "2 entries in 1 chains", w.WorkspaceID+" entry 2: entry or its place was changed")
	wants(t, res.Errors, "1 entries of the audit log")
	wants(t, p.run(1, "audit", "verify", "--json").Out, `"seq":2`)
}
