package guard_test

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// launchCampaign creates an active campaign and returns its path.
func (s *drillServer) launchCampaign(key string) string {
	s.t.Helper()
	res, text, err := s.Try(s.Client(), key, http.MethodPost, "/v1/campaigns", `{"name":"Active"}`)
	if err != nil || res.StatusCode != http.StatusCreated {
		s.t.Fatalf("got %v %s want 201", err, text)
	}
	at := res.Header.Get("Location")
	if status, text := s.Call(key, http.MethodPost, at+"/launch", ""); status != http.StatusOK {
		s.t.Fatalf("got %d %s want 200", status, text)
	}
	return at
}

// beginCampaign sends a part of a request that creates a campaign, and returns
// when the server has found the key and waits for the body. finish sends the
// rest.
func (s *drillServer) beginCampaign(key string) (finish func()) {
	s.t.Helper()
	c := s.dial()
	const first, rest = `{"name":`, `"Slow"}`
	if _, err := fmt.Fprintf(c, "POST /v1/campaigns HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAuthorization: Bearer %s\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n", key, len(first+rest)); err != nil {
		s.t.Fatal(err)
	}
	in := bufio.NewReader(c)
	if res, err := http.ReadResponse(in, nil); err != nil || res.StatusCode != http.StatusContinue {
		s.t.Fatalf("got %+v, %v want 100", res, err)
	}
	if _, err := io.WriteString(c, first); err != nil {
		s.t.Fatal(err)
	}
	return func() {
		s.t.Helper()
		if _, err := io.WriteString(c, rest); err != nil {
			s.t.Fatal(err)
		}
		res, err := http.ReadResponse(in, nil)
		if err != nil {
			s.t.Fatalf("got %v want an answer", err)
		}
		_ = res.Body.Close()
		if res.StatusCode != http.StatusCreated {
			s.t.Errorf("got %d want 201", res.StatusCode)
		}
	}
}

// holdConnections keeps connections on which text was sent and nothing is read,
// until the test ends. It opens another one when one is closed, and returns when
// so many have been opened.
func (s *drillServer) holdConnections(most int, text string) {
	s.t.Helper()
	stop, opened := make(chan struct{}), make(chan struct{}, 100*most)
	var wg sync.WaitGroup
	for range most {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					s.holdConnection(text, stop, opened)
				}
			}
		})
	}
	s.t.Cleanup(func() {
		close(stop)
		wg.Wait()
	})
	for range most {
		<-opened
	}
}

// holdConnection keeps a connection until the server closes it or stop is
// closed.
func (s *drillServer) holdConnection(text string, stop <-chan struct{}, opened chan<- struct{}) {
	raw, err := net.Dial("tcp", s.Host)
	if err != nil {
		return
	}
	defer func() { _ = raw.Close() }()
	_ = raw.(*net.TCPConn).SetReadBuffer(4 << 10)
	config := s.Transport().TLSClientConfig
	config.NextProtos, config.ServerName = []string{"http/1.1"}, "localhost"
	c := tls.Client(raw, config)
	if _, err := io.WriteString(c, text); err != nil {
		return
	}
	select {
	case opened <- struct{}{}:
	default:
	}
	for tick := time.Tick(500 * time.Millisecond); ; {
		select {
		case <-stop:
			return
		case <-tick:
			// Nothing is read, so that only a write shows the end. It is a part
			// of a body that has not ended, or of a request that has not begun.
			if _, err := io.WriteString(c, " "); err != nil {
				return
			}
		}
	}
}

// stalledRequest is a request of which one byte of the body arrives.
func stalledRequest(path, key string) string {
	return "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAuthorization: Bearer " + key + "\r\nContent-Length: 60000\r\n\r\n{"
}

// TestDrillHeldConnections fills the server with connections that block: bodies
// that do not arrive and responses that no client reads. Every pause of a
// caller with a key is served over a new connection, and so are all other
// requests. A connection with a key whose body is still arriving is not closed
// for them.
func TestDrillHeldConnections(t *testing.T) {
	t.Parallel()
	const most = 100
	s := startDrillServer(t, "", "--max-connections", strconv.Itoa(most))
	key, hostile := s.createWorkspace("Acme"), s.createWorkspace("Hostile")
	pauses := 10
	if fullDrill {
		pauses = 200
	}
	var active []string
	for range 3 * pauses {
		active = append(active, s.launchCampaign(key))
	}
	for name, text := range map[string]string{
		"bodies without a key":    stalledRequest("/console/api/session", ""),
		"bodies with a key":       stalledRequest("/v1/campaigns", hostile),
		"responses without a key": strings.Repeat("GET /openapi/v1.json HTTP/1.1\r\nHost: localhost\r\n\r\n", 30),
	} {
		t.Run(name, func(t *testing.T) {
			s := &drillServer{s.Server, t}
			finish := s.beginCampaign(key)
			s.holdConnections(most+20, text)
			finish()
			for range pauses {
				at := active[0]
				active = active[1:]
				for _, call := range []struct{ method, path string }{{http.MethodPost, at + "/pause"}, {http.MethodGet, at}, {http.MethodDelete, at}} {
					client := &http.Client{Transport: s.Transport(), Timeout: time.Minute}
					res, text, err := s.Try(client, key, call.method, call.path, "")
					if err != nil || res.StatusCode != http.StatusOK {
						t.Errorf("%s: got %v %s want 200", call.method, err, text)
					}
					client.CloseIdleConnections()
				}
			}
		})
	}
	s.Stop()
}

// TestDrillStalledBodiesTakeNoPlaces stalls bodies of several tenants with keys
// on a node that works on few requests at once. Other tenants are served, and
// the tenants themselves can pause.
func TestDrillStalledBodiesTakeNoPlaces(t *testing.T) {
	t.Parallel()
	s := startDrillServer(t, "", "--max-in-flight", "8")
	key := s.createWorkspace("Acme")
	at := s.launchCampaign(key)
	for i := range 5 {
		hostile := s.createWorkspace(fmt.Sprintf("Hostile%d", i))
		own := s.launchCampaign(hostile)
		s.holdConnections(20, stalledRequest("/v1/campaigns", hostile))
		waitUntil(t, "the tenant's own requests to be refused", func() bool {
			status, _ := s.Call(hostile, http.MethodGet, own, "")
			return status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable
		})
		for range 5 {
			if status, text := s.Call(key, http.MethodGet, at, ""); status != http.StatusOK {
				t.Errorf("with %d tenants: got %d %s want 200", i+1, status, text)
			}
		}
		if status, text := s.Call(hostile, http.MethodPost, own+"/pause", ""); status != http.StatusOK {
			t.Errorf("pause of tenant %d: got %d %s want 200", i, status, text)
		}
	}
	if status, text := s.Call(key, http.MethodPost, at+"/pause", "{}"); status != http.StatusOK {
		t.Errorf("got %d %s want 200", status, text)
	}
}
