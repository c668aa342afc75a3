package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"fanfare/api"
	"fanfare/internal/account"
	"fanfare/test/program"
)

// TestCommands runs every command on a data folder without a server and on one
// with a running server.
func TestCommands(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"alone", "beside a server"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			if mode != "alone" {
				p.serve()
			}
			w := p.accounts()
			p.keys(w)
			p.maintenance()
			if mode == "alone" {
				p.serve()
			}
			if status, body := p.server.Call(w.APIKey, http.MethodGet, "/v1/me", ""); status != http.StatusOK {
				t.Errorf("got %d for the first key: %s", status, body)
			}
			p.server.Stop()
		})
	}
}

// accounts runs the commands for workspaces and users.
func (p *testInstall) accounts() madeWorkspace {
	p.Helper()
	w, other := p.workspace(), p.workspace()
	if !strings.HasPrefix(w.WorkspaceID, "wks_") || !strings.HasPrefix(w.UserID, "usr_") || !account.WellFormed(w.APIKey) {
		p.Errorf("got %+v", w)
	}
	if w.WorkspaceID == other.WorkspaceID || w.APIKey == other.APIKey || w.UserID != other.UserID {
		p.Errorf("got %+v and %+v, want two workspaces of one user", w, other)
	}
	text := p.run(0, "workspace", "create", "--name", "Globex", "--owner", "hank@example.com", "--currency", "EUR", "--timezone", "Europe/Berlin").Out
	if !regexp.MustCompile(`(?s)Workspace +wks_\w{26}\nOwner +hank@example\.com \(usr_\w{26}\)\nAPI key +fanf_\w{36}\n`).MatchString(text) {
		p.Errorf("got %q", text)
	}

	var list []account.Workspace
	p.read(&list, "workspace", "list", "--json")
	if len(list) != 3 || list[0].Plan != account.Growth || list[0].Currency != "USD" || list[0].Timezone != "UTC" ||
		list[2].Plan != account.Starter || list[2].Currency != "EUR" || list[2].Timezone != "Europe/Berlin" {
		p.Errorf("got %+v", list)
	}
	wants(p.T, p.run(0, "workspace", "list").Out, "ID", "STATE", w.WorkspaceID, "Globex", "Europe/Berlin", "open")

	var one account.Workspace
	p.read(&one, "workspace", "set-plan", "--workspace", w.WorkspaceID, "--plan", "enterprise")
	if one.Plan != account.Enterprise {
		p.Errorf("got plan %s", one.Plan)
	}
	p.read(&one, "workspace", "suspend", "--workspace", w.WorkspaceID)
	if !one.Suspended {
		p.Error("the workspace is not suspended")
	}
	p.read(&one, "workspace", "suspend", "--workspace", w.WorkspaceID, "--reopen")
	if one.Suspended {
		p.Error("the workspace is still suspended")
	}

	user := func(args ...string) account.Member {
		p.Helper()
		var m account.Member
		p.read(&m, append([]string{"user", args[0], "--workspace", w.WorkspaceID, "--email"}, args[1:]...)...)
		return m
	}
	if m := user("create", "vera@example.com"); m.Role != account.Viewer || m.Service {
		p.Errorf("got %+v", m)
	}
	if m := user("create", "bot@example.com", "--role", "editor", "--service"); m.Role != account.Editor || !m.Service {
		p.Errorf("got %+v", m)
	}
	p.run(6, "user", "create", "--workspace", w.WorkspaceID, "--email", "vera@example.com")
	if m := user("set-role", "vera@example.com", "--role", "admin"); m.Role != account.Admin {
		p.Errorf("got %+v", m)
	}
	if m := user("remove", "bot@example.com"); m.InactiveAt == nil {
		p.Errorf("got %+v", m)
	}
	p.run(6, "user", "remove", "--workspace", w.WorkspaceID, "--email", "ada@example.com")
	p.run(5, "user", "remove", "--workspace", w.WorkspaceID, "--email", "nobody@example.com")
	var members []account.Member
	p.read(&members, "user", "list", "--workspace", w.WorkspaceID, "--json")
	if len(members) != 3 {
		p.Errorf("got %+v", members)
	}
	wants(p.T, p.run(0, "user", "list", "--workspace", w.WorkspaceID).Out, "EMAIL", "ada@example.com", "owner", "vera@example.com", "admin")
	return w
}

// keys runs the commands for keys.
func (p *testInstall) keys(w madeWorkspace) {
	p.Helper()
	args := func(name string, more ...string) []string {
		return append([]string{"key", name, "--workspace", w.WorkspaceID}, more...)
	}
	var k, next madeKey
	p.read(&k, args("create", "--user", "ada@example.com", "--name", "CRM", "--json")...)
	if !strings.HasPrefix(k.ID, "key_") || !account.WellFormed(k.APIKey) {
		p.Errorf("got %+v", k)
	}
	text := p.run(0, args("create", "--user", "vera@example.com", "--name", "Forever", "--expires", "0", "--scope", "campaigns:read", "--ip", "127.0.0.0/8")...).Out
	wants(p.T, text, "key_", "fanf_", "shown only once")
	p.read(&next, args("rotate", k.ID, "--overlap", "1h", "--json")...)
	if next.ID == k.ID || next.APIKey == k.APIKey {
		p.Errorf("got the same key %+v", next)
	}
	var revoked account.Key
	p.read(&revoked, args("revoke", next.ID)...)
	if revoked.RevokedAt == nil || revoked.Reason != "by_operator" {
		p.Errorf("got %+v", revoked)
	}
	p.run(6, args("rotate", next.ID)...)
	p.run(5, args("revoke", "key_01m7eed1vefw9bs159p71gx00q")...)
	var list []account.Key
	p.read(&list, args("list", "--json")...)
	if len(list) != 4 {
		p.Fatalf("got %d keys", len(list))
	}
	for _, k := range list {
		forever := k.Name == "First key" || k.Name == "Forever"
		if (k.ExpiresAt == nil) != forever {
			p.Errorf("key %s expires at %v", k.Name, k.ExpiresAt)
		}
		if k.Name == "Forever" && (len(k.Scopes) != 1 || k.Scopes["campaigns"] != account.Read || len(k.Addresses) != 1) {
			p.Errorf("got %+v", k)
		}
	}
	shown := p.run(0, args("list")...).Out
	wants(p.T, shown, "NAME", "First key", "CRM", "never", "fanf_…"+k.APIKey[len(k.APIKey)-4:])
	if strings.Contains(shown, k.APIKey) {
		p.Error("the list shows a whole key")
	}
}

// maintenance runs the maintenance commands of the store.
func (p *testInstall) maintenance() {
	p.Helper()
	wants(p.T, p.run(0, "migrate").Out, "up to date")
	wants(p.T, p.run(0, "migrate", "--contract").Out, "up to date")
	wants(p.T, p.run(0, "audit", "verify").Out, "entries in 3 chains")
	var report struct {
		Chains  int   `json:"chains"`
		Entries int   `json:"entries"`
		Faults  []any `json:"faults"`
	}
	p.read(&report, "audit", "verify", "--json")
	if report.Chains != 3 || report.Entries == 0 || len(report.Faults) != 0 {
		p.Errorf("got %+v", report)
	}
	if got := p.run(0, "openapi").Out; got != string(api.YAML) {
		p.Error("openapi prints another contract")
	}
	if got := p.run(0, "version").Out; got != "fanfare dev\n" {
		p.Errorf("got %q", got)
	}
	p.run(0, "doctor")
}

// TestControlSocket checks that other users cannot use the socket, and that it
// is removed with the server.
func TestControlSocket(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	// This path is longer than a socket address may be.
	p.data = filepath.Join(p.data, strings.Repeat("long/", 30))
	s := p.serve()
	socket := filepath.Join(p.data, socketName)
	info, err := os.Stat(socket)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("got mode %o", info.Mode().Perm())
	}
	p.workspace()
	s.Stop()
	if _, err := os.Stat(socket); !os.IsNotExist(err) {
		t.Errorf("the socket is still there: %v", err)
	}
	// A killed server's leftovers must not prevent a start.
	p.serve().Kill()
	if _, err := os.Stat(socket); err != nil {
		t.Errorf("a killed server took its socket along: %v", err)
	}
	p.workspace()
	p.serve().Stop()
}

// TestFilesArePrivate checks that other users can read only the public
// certificates.
func TestFilesArePrivate(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	if err := os.MkdirAll(p.data, 0o755); err != nil {
		t.Fatal(err)
	}
	s := p.serve()
	p.workspace()
	err := filepath.WalkDir(p.data, func(path string, d os.DirEntry, err error) error {
		if err != nil || path == p.data {
			return err
		}
		info, err := d.Info()
		public := strings.HasSuffix(path, ".pem") && !strings.HasSuffix(path, "key.pem")
		if err == nil && info.Mode().Perm()&0o077 != 0 && !public {
			t.Errorf("%s has mode %o", path, info.Mode().Perm())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Stop()
}

// TestCommandsMeet runs commands concurrently, first without a server and then
// while a server starts. They must wait for each other.
func TestCommandsMeet(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for range 2 {
		var wg sync.WaitGroup
		for i := range 4 {
			wg.Go(func() {
				res := program.Run(t, program.Build(t), p.TempDir(), []string{"FANFARE_DATA=" + p.data},
					"workspace", "create", "--name", fmt.Sprint("W", i), "--owner", "ada@example.com", "--json")
				if res.Code != 0 {
					t.Errorf("got code %d: %s", res.Code, res.Errors)
				}
			})
		}
		wg.Wait()
		if p.server == nil {
			p.server = program.Launch(t, program.Options{Data: p.data})
		}
	}
	var list []account.Workspace
	p.read(&list, "workspace", "list", "--json")
	if len(list) != 8 {
		t.Errorf("got %d workspaces want 8", len(list))
	}
	if p.server.Ended() {
		t.Errorf("the server gave up with code %d", p.server.Wait())
	}
}
