package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"fanfare/test/program"
)

// TestUsage checks the errors of invalid command lines.
func TestUsage(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		line string
		code int
		says []string
	}{
		{"--help", 0, nil},
		{"serve --help", 0, nil},
		{"--version", 0, nil},
		{"srve", 2, []string{"unknown command", "did you mean serve?"}},
		{"wrokspace list", 2, []string{"did you mean workspace?"}},
		{"frobnicate", 2, []string{"unknown command", "--help"}},
		{"workspace crate", 2, []string{"did you mean create?"}},
		{"workspace setplan", 2, []string{"did you mean set-plan?"}},
		{"key rvoke", 2, []string{"did you mean revoke?"}},
		{"backup vrify x", 2, []string{"did you mean verify?"}},
		{"audit verfy", 2, []string{"did you mean verify?"}},
		{"serve --lisen 127.0.0.1:0", 2, []string{"--lisen", "did you mean --listen?"}},
		{"workspace create --nam x", 2, []string{"did you mean --name?"}},
		{"key create --workspce x", 2, []string{"did you mean --workspace?"}},
		{"serve --frobnicate", 2, []string{"unknown flag", "serve --help"}},
		{"serve --max-connections many", 2, []string{"max-connections"}},
		{"serve now", 2, []string{"takes no argument"}},
		{"workspace create --plan growth", 2, []string{"name", "owner"}},
		{"workspace set-plan --workspace x", 2, []string{"plan"}},
		{"workspace suspend", 2, []string{"workspace"}},
		{"user create --workspace x", 2, []string{"email"}},
		{"user set-role --workspace x --email a@example.com", 2, []string{"role"}},
		{"key create --workspace x --user a@example.com", 2, []string{"name"}},
		{"key revoke --workspace x", 2, []string{"KEY_ID"}},
		{"key rotate --workspace x a b", 2, []string{"KEY_ID"}},
		{"backup create", 2, []string{"FILE"}},
		{"key create --workspace x --user a --name n --scope campaigns", 2, []string{"family:read"}},
		{"key create --workspace x --user a --name n --ip here", 2, []string{"CIDR"}},
		{"key create --workspace x --user a --name n --expires -1h", 2, []string{"--expires"}},
		{"key create --workspace x --user a --name n --expires 10ms", 2, []string{"--expires"}},
		{"key create --workspace x --user a --name n --expires soon", 2, []string{"expires"}},
		{"key rotate --workspace x key_x --overlap -1h", 2, []string{"--overlap"}},
		{"workspace create --name W --owner nobody", 2, []string{"owner must be an e-mail address"}},
		{"workspace create --name W --owner a@example.com --plan big --currency XXXX", 2, []string{"starter, growth, enterprise", "ISO 4217"}},
		{"user create --workspace wks_x --email nobody", 2, []string{"e-mail"}},
		{"user list --workspace wks_x", 5, []string{"no workspace wks_x"}},
		{"key list --workspace wks_x", 5, []string{"no workspace wks_x"}},
		{"facts reset", 78, []string{"no database in", "--data", "fanfare serve"}},
		{"facts restore some.backup", 78, []string{"no database in", "--data"}},
		{"backup create some.backup", 78, []string{"no database in", "--data"}},
		{"audit verify", 78, []string{"no database in", "--data"}},
		{"key list --workspace wks_y", 78, []string{"no database in", "--data"}},
		{"backup verify nothing.backup", 5, []string{"nothing.backup"}},
		{"trust", 1, []string{"fanfare serve"}},
		{"workspace list --store mysql://me:secret@db/x", 78, []string{"postgres://"}},
		{"workspace list --store postgres://me:secret@127.0.0.1:1/x", 75, []string{"start the database, or correct --store"}},
		{"migrate --store postgres://me:secret@127.0.0.1:1/x", 75, []string{"start the database, or correct --store"}},
		{"serve --store postgres://me:secret@127.0.0.1:1/x", 75, []string{"start the database, or correct --store"}},
		{"migrate-store", 2, []string{"--to-store", "--to-data"}},
		{"migrate-store --to-stor x", 2, []string{"did you mean --to-store?"}},
		{"migrate-store --to-data x", 78, []string{"no database in", "--data"}},
		{"migrate-store --to-store mysql://me:secret@db/x", 78, []string{"destination", "postgres://"}},
		{"migrate-store --to-data x --to-metrics clickhouse+https://me:secret@db/x", 78, []string{"destination", "need records in PostgreSQL"}},
		{"serve --data", 2, []string{"data"}},
	} {
		t.Run(tt.line, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			if strings.Contains(tt.line, "wks_x") {
				p.run(0, "migrate") // makes a database without a workspace
			}
			res := p.run(tt.code, strings.Fields(tt.line)...)
			wants(t, res.Errors, tt.says...)
			if tt.code == 0 && (res.Out == "" || res.Errors != "") {
				t.Errorf("got %q on the output and %q on the error stream", res.Out, res.Errors)
			}
			if tt.code != 0 && res.Out != "" {
				t.Errorf("got %q on the output", res.Out)
			}
			if strings.Contains(res.Errors, "secret") {
				t.Errorf("the password is shown: %q", res.Errors)
			}
			for line := range strings.Lines(res.Errors) {
				if !strings.HasPrefix(line, "fanfare: ") {
					t.Errorf("got the line %q", line)
				}
			}
		})
	}
}

// TestSettings checks the sources of settings with the real program. Package
// config tests the values.
func TestSettings(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	file := write("other.yaml", "data: "+filepath.Join(dir, "from-file")+"\n")
	write("fanfare.yaml", "data: from-default-file\n")
	wrong := write("wrong.yaml", "lisen: 127.0.0.1:0\nlog_level: loud\nmax_connections: many\ntls-mode: auto\n")
	run := func(env []string, args ...string) program.Result {
		t.Helper()
		return program.Run(t, program.Build(t), dir, env, args...)
	}
	for _, tt := range []struct {
		want string
		env  []string
		args []string
	}{
		{"from-default-file", nil, nil},
		{"from-file", nil, []string{"--config", file}},
		{"from-file", []string{"FANFARE_CONFIG=" + file}, nil},
		{"from-env", []string{"FANFARE_DATA=from-env"}, []string{"--config", file}},
		{"from-flag", []string{"FANFARE_DATA=from-env"}, []string{"--config", file, "--data", "from-flag"}},
	} {
		res := run(tt.env, append([]string{"workspace", "create", "--name", "W", "--owner", "a@example.com"}, tt.args...)...)
		if _, err := os.Stat(filepath.Join(dir, tt.want)); res.Code != 0 || err != nil {
			t.Errorf("%s: got code %d, %v: %s", tt.want, res.Code, err, res.Errors)
		}
	}

	res := run(nil, "serve", "--config", wrong)
	if res.Code != exitConfig {
		t.Errorf("got code %d", res.Code)
	}
	wants(t, res.Errors, `unknown key "lisen": did you mean listen?`, `unknown key "tls-mode": did you mean tls_mode?`,
		`"many" is not a valid value for max-connections`, `log-level "loud"`)
	if res := run(nil, "workspace", "list", "--config", "missing.yaml"); res.Code != exitConfig {
		t.Errorf("got code %d for a missing file", res.Code)
	}

	res = run([]string{"FANFARE_LISEN=x", "FANFARE_NAME=Other", "FANFARE_JSON=true", "FANFARE_KEY=x"}, "workspace", "list", "--data", "from-flag")
	if res.Code != 0 || !strings.HasPrefix(res.Out, "ID") {
		t.Errorf("got code %d: %q", res.Code, res.Out)
	}
	wants(t, res.Errors, "warning: unknown environment variable FANFARE_LISEN: did you mean FANFARE_LISTEN?", "FANFARE_NAME", "FANFARE_JSON")
	if strings.Contains(res.Errors, "FANFARE_KEY") {
		t.Errorf("got a warning of the variable that the documentation uses: %s", res.Errors)
	}
}

func TestShellQuote(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"/a/b-c_1.pem": "/a/b-c_1.pem", "/a b/ca.pem": "'/a b/ca.pem'", "/it's": `'/it'\''s'`, "/$HOME": "'/$HOME'",
	} {
		if got := shellQuote(in); got != want {
			t.Errorf("got %s want %s", got, want)
		}
	}
}

// TestPermissionFix sees that a refused file is named with the commands that
// help, also inside other errors.
func TestPermissionFix(t *testing.T) {
	t.Parallel()
	denied := fmt.Errorf("open SQLite: %w", &fs.PathError{Op: "open", Path: "/data/fanfare.db", Err: syscall.EACCES})
	text := explain(configError{denied})
	for _, want := range []string{"permission denied\n", fmt.Sprintf("chown -R %d /data/fanfare.db", os.Getuid()), "chmod u+rwX /data/fanfare.db"} {
		if !strings.Contains(text, want) {
			t.Errorf("got %q want %q in it", text, want)
		}
	}
	if text := explain(&fs.PathError{Op: "open", Path: "/data", Err: syscall.ENOENT}); strings.Contains(text, "chown") {
		t.Errorf("got %q for a missing file", text)
	}
}
