package guard_test

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

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

// TestDrillAnonymous calls everything that needs no key and no session. The
// growth of the data folder must not depend on the number of calls.
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
	call := func(i int, method, path, body string, want ...int) {
		res, text, err := s.Try(s.Client(), "", method, path, body)
		if err != nil {
			t.Error(err)
			return
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
	run := func(n int) {
		var next atomic.Int64
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				for i := int(next.Add(1)); i <= n; i = int(next.Add(1)) {
					call(i, "POST", "/console/api/session/passkey/begin", "{}", 200, 429)
					if i%20 == 0 {
						o := others[i/20%len(others)]
						call(i, o.method, fill(o.path, i), fill(o.body, i), o.want...)
					}
				}
			})
		}
		group.Wait()
	}
	run(20 * len(others))
	before := folderSize(t, s.Data)
	run(challenges)
	grown := folderSize(t, s.Data) - before
	t.Logf("anonymous_calls %d, data folder %d bytes before, %d more after", challenges+challenges/20, before, grown)
	if grown > 256<<10 {
		t.Errorf("got %d bytes more in the data folder want at most 256 KiB, however many calls", grown)
	}
}
