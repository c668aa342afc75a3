package main

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"fanfare/internal/connection"
	"fanfare/test/program"
)

var sandboxAt = regexp.MustCompile(`at (http://127\.0\.0\.1:[0-9]+)\n`)

// TestSandbox starts the sandbox, gets tokens as its output describes, and
// stops it.
func TestSandbox(t *testing.T) {
	t.Parallel()
	s := program.Launch(t, program.Options{Command: "sandbox", Args: []string{"--listen", "127.0.0.1:0", "--seed", "42", "--currency", "EUR"}})
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	var url string
	for end := time.Now().Add(time.Minute); url == ""; <-tick.C {
		if found := sandboxAt.FindStringSubmatch(s.Out.String()); found != nil && strings.Contains(s.Out.String(), "Stop with") {
			url = found[1]
		}
		if s.Ended() || time.Now().After(end) {
			t.Fatalf("the sandbox is not there: %s%s", s.Out, s.Log)
		}
	}
	wants(t, s.Out.String(), "seed 42", "PLATFORM", url+"/meta", url+"/_sandbox/grants")
	resp, err := http.Post(url+"/_sandbox/grants", "application/json", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var opened struct {
		Data map[string]struct {
			AccountID string `json:"account_id"`
		} `json:"data"`
	}
	if err := json.UnmarshalRead(resp.Body, &opened); err != nil || len(opened.Data) != len(connection.Played) {
		t.Fatalf("got %v (%v) want access to all platforms", opened, err)
	}
	for platform, access := range opened.Data {
		wants(t, s.Out.String(), platform, access.AccountID)
	}
	http.DefaultClient.CloseIdleConnections()
	s.Stop()
}

// TestSandboxRefuses checks invalid ways to start the sandbox.
func TestSandboxRefuses(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for _, tt := range []struct {
		code int
		says string
		args []string
	}{
		{2, "--listen-anywhere", []string{"--listen", "0.0.0.0:0"}},
		{2, "plain HTTP", []string{"--listen", "192.0.2.1:80"}},
		{2, "loopback", []string{"--listen", ":8787"}},
		{2, "takes no argument", []string{"now"}},
		{78, "ISO 4217", []string{"--listen", "127.0.0.1:0", "--currency", "XXXX"}},
		{78, "IANA", []string{"--listen", "127.0.0.1:0", "--timezone", "Mars"}},
		{78, "scale", []string{"--listen", "127.0.0.1:0", "--scale", "100001"}},
	} {
		wants(t, p.run(tt.code, append([]string{"sandbox"}, tt.args...)...).Errors, tt.says)
	}
}
