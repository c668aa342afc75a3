package damage_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestDrillOwnWrites runs everything concurrently that writes to the files of a
// running server or reads them as a whole. The server never takes its own
// writes for those of another program.
func TestDrillOwnWrites(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	backups := t.TempDir()
	var group sync.WaitGroup
	want := func(what string, status, wanted int, body string) {
		if status != wanted {
			t.Errorf("%s: %d %.300s", what, status, body)
		}
	}
	long := strings.Repeat("A long description. ", 400)
	times := 20 * rounds()
	for n := range 4 {
		group.Go(func() {
			for i := range times {
				status, body := s.server.Call(s.key, http.MethodPost, "/v1/campaigns", fmt.Sprintf(`{"name":"Campaign %d of %d","description":%q}`, i, n, long[:2000]))
				want("create", status, http.StatusCreated, body)
				status, body = s.server.Call(s.key, http.MethodGet, "/v1/campaigns?limit=100", "")
				want("list", status, http.StatusOK, body)
			}
		})
	}
	group.Go(func() {
		for i := range times {
			status, body := s.server.Call(s.key, http.MethodPost, fmt.Sprintf("/v1/ingest/metrics?source=own-%d", i%3), fmt.Sprintf(`[{"date":"2026-09-%02d","channel":"email","clicks":%d}]`, i%28+1, i))
			want("ingest", status, http.StatusOK, body)
			status, body = s.query()
			want("query", status, http.StatusOK, body)
		}
	})
	group.Go(func() {
		for i := range max(2, times/10) {
			for _, command := range [][]string{{"doctor"}, {"backup", "create", filepath.Join(backups, fmt.Sprint(i))}} {
				if out := s.server.Run(command...); out.Code != 0 {
					t.Errorf("%v: %+v", command, out)
				}
			}
		}
	})
	group.Wait()
	if v := s.inspect(); v.ready != http.StatusOK || v.query != http.StatusOK || v.refused > 0 || v.doctor.Code != 0 {
		t.Errorf("afterwards: %+v", v)
	}
	if log := s.server.Log.String(); strings.Contains(log, "overwritten") {
		t.Errorf("a false alarm:\n%s", log)
	}
	s.server.Stop()
	s.start()
	s.inspect()
	s.server.Stop()
}
