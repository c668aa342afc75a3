package guard_test

import (
	"io/fs"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fanfare/test/program"
)

// folderSize returns the total size of the files in a folder.
func folderSize(t *testing.T, dir string) (total int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			total += info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return total
}

// callsPerAddress is how many challenges an address asks for, fewer than the
// server allows per minute.
const callsPerAddress = 50

// clientFrom returns a client with the loopback address of a number.
func clientFrom(s *program.Server, n int) (*http.Client, func()) {
	transport := s.Transport()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 1, byte(n/250), byte(n%250+1))}}
	transport.DialContext = dialer.DialContext
	return &http.Client{Transport: transport, Timeout: time.Minute}, transport.CloseIdleConnections
}

// TestDrillAnonymous calls everything that needs no key and no session, from
// many addresses. The growth of the data folder must not depend on the number of
// calls.
func TestDrillAnonymous(t *testing.T) {
	t.Parallel()
	challenges := 2_000
	if fullDrill {
		challenges = 100_000
	}
	s := program.Start(t, program.Options{})
	if r := s.Run("workspace", "create", "--name", "Acme", "--owner", "ada@example.com", "--currency", "USD"); r.Code != 0 {
		t.Fatalf("got code %d: %s", r.Code, r.Errors)
	}
	var answered atomic.Int64
	call := func(client *http.Client, i int, method, path, body string, want ...int) {
		res, text, err := s.Try(client, "", method, path, body)
		if err != nil {
			t.Error(err)
			return
		}
		if res.StatusCode == http.StatusOK && body == "{}" {
			answered.Add(1)
		}
		if !slices.Contains(want, res.StatusCode) {
			t.Errorf("call %d: %s %s: got %d want one of %v: %s", i, method, path, res.StatusCode, want, text)
		}
	}
	others := []struct {
		method, path, body string
		want               []int
	}{
		{"POST", "/console/api/session", `{"email":"ada@example.com","password":"guess number %d"}`, []int{403, 429}},
		{"POST", "/console/api/session", `{"email":"nobody-%d@example.com","password":"guess"}`, []int{403, 429}},
		{"POST", "/console/api/session/totp", `{"ticket":"guess-%d","code":"000000"}`, []int{409}},
		{"POST", "/console/api/session/passkey", `{"ticket":"guess-%d","response":{}}`, []int{409}},
		{"POST", "/console/api/session/link", `{"token":"guess-%d"}`, []int{404}},
		{"POST", "/console/api/link/look", `{"token":"guess-%d"}`, []int{404}},
		{"POST", "/console/api/link", `{"token":"guess-%d","password":"correct horse battery"}`, []int{404}},
		{"POST", "/console/api/setup", `{"token":"guess-%d","email":"a@example.com","name":"A","password":"correct horse battery","workspace":{"name":"A","timezone":"UTC","currency":"USD"}}`, []int{404}},
		{"POST", "/console/api/reset", `{"email":"ada-%d@example.com"}`, []int{200}},
		{"POST", "/console/api/reset", `{"email":"ada@example.com"}`, []int{200}},
		{"GET", "/console/api/session", ``, []int{200}},
		{"DELETE", "/console/api/session", ``, []int{200}},
		{"GET", "/console/api/oidc/start", ``, []int{404}},
		{"GET", "/oauth/callback/google_ads?state=guess-%d&code=guess", ``, []int{400}},
		{"GET", "/v1/campaigns", ``, []int{401, 429}},
	}
	fill := func(text string, i int) string { return strings.ReplaceAll(text, "%d", strconv.Itoa(i)) }
	var address atomic.Int64
	// run asks for so many challenges, and for something else at every 20th.
	run := func(challenges int) {
		var next atomic.Int64
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				for {
					first := int(next.Add(callsPerAddress)) - callsPerAddress
					if first >= challenges {
						return
					}
					client, leave := clientFrom(s, int(address.Add(1)))
					for i := first; i < min(first+callsPerAddress, challenges); i++ {
						call(client, i, "POST", "/console/api/session/passkey/begin", "{}", 200)
						if i%20 == 0 {
							o := others[i/20%len(others)]
							call(client, i, o.method, fill(o.path, i), fill(o.body, i), o.want...)
						}
					}
					leave()
				}
			})
		}
		group.Wait()
	}
	run(20 * len(others))
	before := folderSize(t, s.Data)
	answered.Store(0)
	run(challenges)
	if n := answered.Load(); n != int64(challenges) {
		t.Errorf("got %d challenges want %d", n, challenges)
	}
	grown := folderSize(t, s.Data) - before
	t.Logf("anonymous_calls %d, data folder %d bytes before, %d more after", challenges+challenges/20, before, grown)
	if grown > 256<<10 {
		t.Errorf("got %d bytes more in the data folder want at most 256 KiB, however many calls", grown)
	}
}
