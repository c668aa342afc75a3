package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fanfare/test/program"
)

// TestTrust replaces the programs that would change this machine.
func TestTrust(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.serve()
	bin, record := t.TempDir(), filepath.Join(t.TempDir(), "record")
	for _, name := range []string{"install", "update-ca-certificates", "update-ca-trust", "security"} {
		script := "#!/bin/sh\necho " + name + " \"$@\" >> '" + record + "'\n"
		if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	p.env = append(p.env, "PATH="+bin+":"+os.Getenv("PATH"))
	res := program.Run(t, program.Build(t), t.TempDir(), append(p.env, "FANFARE_DATA="+p.data), "trust")
	authority := filepath.Join(p.data, "tls", "ca.pem")
	if res.Code != 0 {
		// This machine has no store of authorities.
		wants(t, res.Errors, "--cacert "+authority)
		return
	}
	wants(t, res.Out, "trusted "+authority)
	steps, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Split(strings.TrimSpace(string(steps)), "\n"); len(lines) == 0 || !strings.Contains(lines[0], authority) {
		t.Errorf("got %q", steps)
	}
	p.server.Stop()
}
