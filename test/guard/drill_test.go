package guard_test

import (
	"bufio"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"fanfare/internal/store/pgtest"
	"fanfare/test/program"
)

func TestMain(m *testing.M) { pgtest.Main(m, program.Clean) }

// timedRequest is one request with the caller's times before and after it; the
// server's own time is in between.
type timedRequest struct {
	sent, answered time.Time
	status         int
	retryAfter     time.Duration
}

// TestDrillSeventySeconds is R1 on the real program, over HTTPS and with the
// real clock: with eight concurrent callers each window admits exactly its
// limit, and a new one opens a minute after the first request of the last. The
// short form has one window, the long one the boundary between two.
func TestDrillSeventySeconds(t *testing.T) {
	t.Parallel()
	length, windows := 3*time.Second, 1
	if fullDrill {
		length, windows = 70*time.Second, 2
	}
	const perMinute = 5
	s := program.Start(t, program.Options{Args: []string{"--limits", "starter=5/100"}})
	made := s.Run("workspace", "create", "--name", "Drill", "--plan", "starter", "--owner", "ada@example.com", "--json")
	var out struct {
		APIKey string `json:"api_key"`
	}
	if err := json.Unmarshal([]byte(made.Out), &out); err != nil || made.Code != 0 {
		t.Fatalf("got %+v, %v", made, err)
	}
	checkPlainRefused(t, s.Host, out.APIKey)
	var mu sync.Mutex
	var shots []timedRequest
	var wg sync.WaitGroup
	end := time.Now().Add(length)
	for range 8 {
		wg.Go(func() {
			client := s.Client()
			for time.Now().Before(end) {
				sent := time.Now()
				res, text, err := s.Try(client, out.APIKey, http.MethodGet, "/v1/me", "")
				if err != nil {
					t.Error(err)
					return
				}
				wait, _ := strconv.Atoi(res.Header.Get("Retry-After"))
				if res.StatusCode != http.StatusOK && (res.StatusCode != http.StatusTooManyRequests || wait < 1 || wait > 60) {
					t.Errorf("got %d, Retry-After %d: %s", res.StatusCode, wait, text)
					return
				}
				if got := res.Header.Get("Strict-Transport-Security"); got != "" {
					t.Errorf("got HSTS %q from the local authority on an address (S7)", got)
				}
				mu.Lock()
				shots = append(shots, timedRequest{sent, time.Now(), res.StatusCode, time.Duration(wait) * time.Second})
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	var admitted []timedRequest
	refused := 0
	for _, x := range shots {
		if x.status == http.StatusOK {
			admitted = append(admitted, x)
		} else {
			refused++
		}
	}
	if len(admitted) != perMinute*windows {
		t.Fatalf("got %d admitted in %v, want %d", len(admitted), length, perMinute*windows)
	}
	slices.SortFunc(admitted, func(a, b timedRequest) int { return a.answered.Compare(b.answered) })
	for i := perMinute; i < len(admitted); i++ {
		// By the server's time, each is at least a minute after the first of
		// the previous window.
		first := admitted[i-i%perMinute-perMinute]
		if gap := admitted[i].answered.Sub(first.sent); gap < time.Minute {
			t.Errorf("got request %d admitted %v after the window opened, want at least a minute", i+1, gap)
		}
	}
	t.Logf("real_limit %d requests in %v, %d admitted, %d refused, 0 too many", len(shots), length, len(admitted), refused)
}

// checkPlainRefused sends a key in plain text to the port: from this machine it
// is refused but not revoked (S2, S4).
func checkPlainRefused(t *testing.T, host, key string) {
	t.Helper()
	c, err := net.Dial("tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if _, err := c.Write([]byte("GET /v1/me HTTP/1.1\r\nHost: " + host + "\r\nAuthorization: Bearer " + key + "\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var body strings.Builder
	if err := res.Write(&body); err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != http.StatusForbidden || !res.Close || !strings.Contains(body.String(), `"https_required"`) || !strings.Contains(body.String(), `"key_revoked":false`) {
		t.Errorf("got %s, want 403 https_required and the connection closed", body.String())
	}
}
