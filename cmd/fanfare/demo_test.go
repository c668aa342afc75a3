package main

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"fanfare/internal/campaign"
	"fanfare/test/program"
)

var curlLine = regexp.MustCompile(`(?m)^curl .*https://.*$`)

// welcome waits for the example call that the demo prints.
func welcome(t *testing.T, s *program.Server) string {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); <-tick.C {
		if s.Ended() {
			t.Fatalf("the demo ended with code %d", s.Wait())
		}
		// The last line shows that the output is complete.
		if strings.Contains(s.Out.String(), "Ctrl-C") {
			break
		}
	}
	lines := curlLine.FindAllString(s.Out.String(), -1)
	if len(lines) != 1 {
		t.Fatalf("got %d lines to paste: %s", len(lines), s.Out)
	}
	return lines[0]
}

// paste runs a line in a shell and returns the number of results.
func paste(t *testing.T, line string) int {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "sh", "-c", line).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", line, err, out)
	}
	var list struct {
		Data []struct {
			Name string `json:"name"`
		} `json:"data"`
	}
	if err := json.Unmarshal(out, &list); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return len(list.Data)
}

// delivers checks that every running linked campaign of the demo delivers on
// all its channels.
func delivers(t *testing.T, line string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "sh", "-c", line).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", line, err, out)
	}
	var list struct {
		Data []campaign.Campaign `json:"data"`
	}
	if err := json.Unmarshal(out, &list); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	delivering := 0
	for _, c := range list.Data {
		if len(c.ExternalRefs) == 0 {
			continue
		}
		if c.Delivery.Status == campaign.Delivering {
			delivering++
		}
		for _, issue := range c.Delivery.Issues {
			if issue.Code == "not_linked" || issue.Code == "no_connection" {
				t.Errorf("%s is linked and %s: %s", c.Name, c.Delivery.Status, issue.Message)
			}
		}
	}
	if delivering < 5 {
		t.Errorf("got %d campaigns that deliver, want at least 5", delivering)
	}
}

// demoSignIn signs in twice with the password that the demo prints.
func demoSignIn(t *testing.T, s *program.Server) string {
	t.Helper()
	found := regexp.MustCompile(`(?m)^Sign in  (https://\S+) as demo@example.com, password (\S+)$`).FindStringSubmatch(s.Out.String())
	if found == nil {
		t.Fatalf("got no sign-in: %s", s.Out)
	}
	for range 2 {
		if got := tryPassword(t, s, found[2]); !strings.Contains(got, `"signed_in"`) {
			t.Fatalf("got %s want a session", got)
		}
	}
	return found[2]
}

// tryPassword returns the response of the console's sign-in to a password.
func tryPassword(t *testing.T, s *program.Server, password string) string {
	t.Helper()
	origin := regexp.MustCompile(`https://\S+/link#`).FindString(s.Out.String())
	body := `{"email":"demo@example.com","password":"` + password + `"}`
	out, err := exec.CommandContext(t.Context(), "curl", "-sS", "--cacert", filepath.Join(s.Data, "tls", "ca.pem"), "-H", "Content-Type: application/json", "-d", body,
		strings.TrimSuffix(origin, "/link#")+"/console/api/session").CombinedOutput()
	if err != nil {
		t.Fatalf("sign in: %v: %s", err, out)
	}
	return string(out)
}

func TestDemo(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Fatal("this test pastes a call to curl, which is missing: run `make setup`")
	}
	data := filepath.Join(t.TempDir(), "a folder's data")
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := ln.Addr().String()
	_ = ln.Close()

	s := program.Launch(t, program.Options{Command: "demo", Data: data, Env: []string{"FANFARE_LISTEN=" + address}})
	first := welcome(t, s)
	wants(t, first, "https://"+address+"/v1/campaigns", "fanf_")
	if n := paste(t, first); n < 10 {
		t.Errorf("got %d campaigns", n)
	}
	delivers(t, strings.Replace(first, "/v1/campaigns", "'/v1/campaigns?status=active&limit=100'", 1))
	password := demoSignIn(t, s)
	if got := tryPassword(t, s, "not the password"); !strings.Contains(got, "wrong_credentials") {
		t.Errorf("got %s for a wrong password", got)
	}
	s.Stop()

	s = program.Launch(t, program.Options{Command: "demo", Data: data, ClockOffset: 24 * time.Hour})
	second := welcome(t, s)
	if next := demoSignIn(t, s); next != password {
		t.Errorf("the second start shows the password %s, want %s as before", next, password)
	}
	if n := paste(t, second); n < 10 {
		t.Errorf("got %d campaigns at the second start", n)
	}
	key := regexp.MustCompile(`fanf_\w+`)
	if key.FindString(first) == key.FindString(second) {
		t.Error("the second start shows the key of the first")
	}
	out, err := exec.CommandContext(t.Context(), "sh", "-c", strings.Replace(second, key.FindString(second), key.FindString(first), 1)).Output()
	if err != nil || !strings.Contains(string(out), "api_key_revoked") {
		t.Errorf("the key of the first start is answered %s, %v", out, err)
	}
	if res := program.Run(t, program.Build(t), t.TempDir(), []string{"FANFARE_DATA=" + data}, "workspace", "list"); strings.Count(res.Out, "wks_") != 1 {
		t.Errorf("got %s", res.Out)
	}
	s.Stop()
}

// TestDemoFolder checks that the demo uses its own folder by default.
func TestDemoFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := program.Launch(t, program.Options{Command: "demo", DefaultData: true, Dir: dir})
	wants(t, welcome(t, s), filepath.Join(dir, "fanfare-demo", "tls", "ca.pem"))
	s.Stop()
	if _, err := os.Stat(filepath.Join(dir, "fanfare-data")); !os.IsNotExist(err) {
		t.Errorf("the demo made the server's folder: %v", err)
	}
}
