package main

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fanfare/internal/signin"
)

// TestPeople invites and resets users with and without a server.
func TestPeople(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	w := p.workspace()
	link := func(args ...string) string {
		var l signin.Link
		p.read(&l, append(args, "--json")...)
		u, err := url.Parse(l.URL)
		if err != nil || u.Scheme != "https" || u.Path != "/link" || len(u.Fragment) != 43 || l.ExpiresAt == 0 {
			t.Errorf("%v: got %+v, %v", args, l, err)
		}
		return u.Fragment
	}
	links := map[string]bool{}
	ask := func() {
		links[link("user", "invite", "--workspace", w.WorkspaceID, "--email", "new@example.com", "--role", "editor")] = true
		links[link("user", "reset", "--email", "ada@example.com")] = true
		links[link("user", "reset", "--email", "ada@example.com", "--second-step")] = true
	}
	ask()
	p.serve()
	ask()
	if len(links) != 6 {
		t.Errorf("got %d different links want 6", len(links))
	}
	wants(t, p.server.Log.String(), "no one can sign in yet", "/setup#")
	wants(t, p.run(0, "user", "reset", "--email", "ada@example.com").Out, "Link", "/link#", "once")
	p.run(5, "user", "reset", "--email", "nobody@example.com")
	p.run(5, "user", "invite", "--workspace", "wks_unknown", "--email", "new@example.com")
	p.run(2, "user", "invite", "--workspace", w.WorkspaceID, "--email", "new", "--role", "emperor")
	p.server.Stop()
}

// TestPeopleSettings checks that all errors are reported at once, without
// secrets.
func TestPeopleSettings(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "secret")
	if err := os.WriteFile(file, []byte("s3cret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		set  func(c *cli)
		want []string
	}{
		{"nothing", func(*cli) {}, nil},
		{"all", func(c *cli) {
			c.settings.SMTPURL, c.settings.SMTPFrom = "smtp://user:p4ss@mail.example.com", "fanfare@example.com"
			c.settings.OIDCIssuer, c.settings.OIDCClientID, c.settings.OIDCSecretFile = "https://id.example.com", "fanfare", file
		}, nil},
		{"both wrong", func(c *cli) {
			c.settings.SMTPURL, c.settings.OIDCIssuer, c.settings.OIDCClientID, c.settings.OIDCSecretFile = "smtp://user:p4ss@mail.example.com", "http://id.example.com", "fanfare", file
		}, []string{"smtp-from", "oidc-issuer"}},
		{"halves", func(c *cli) { c.settings.SMTPFrom, c.settings.OIDCName = "fanfare@example.com", "Example" }, []string{"smtp-url", "oidc-issuer"}},
		{"no file", func(c *cli) {
			c.settings.OIDCIssuer, c.settings.OIDCClientID, c.settings.OIDCSecretFile = "https://id.example.com", "fanfare", file+"x"
		}, []string{"oidc-client-secret-file"}},
	} {
		c := &cli{}
		tt.set(c)
		people, err := c.people()
		if (err == nil) != (tt.want == nil) {
			t.Errorf("%s: got %v want %v", tt.name, err, tt.want)
		}
		if err != nil {
			wants(t, err.Error(), tt.want...)
			if strings.Contains(err.Error(), "p4ss") {
				t.Errorf("%s: got the password in %v", tt.name, err)
			}
		}
		if tt.name == "all" && people.OIDC.ClientSecret.Reveal() != "s3cret" {
			t.Errorf("got another secret")
		}
	}
}
