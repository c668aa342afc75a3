package damage_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// TestDrillFactsOverwritten writes the facts of another installation over those
// of a running server, in place as cp does. Metrics are then unavailable, and
// all else works.
func TestDrillFactsOverwritten(t *testing.T) {
	t.Parallel()
	s, other := newTestServer(t), newTestServer(t)
	other.ingest("7")
	other.server.Stop()
	s.copyFile(filepath.Join(other.data, "facts.duckdb"), filepath.Join(s.data, "facts.duckdb"))
	const says = "another program has overwritten the file of the facts"
	v := s.inspect()
	if v.ready != http.StatusOK || v.create != http.StatusCreated || v.refused > 0 || v.query != http.StatusServiceUnavailable || v.doctor.Code == 0 || v.backup.Code == 0 {
		t.Errorf("saw %+v", v)
	}
	_, ready := s.call(http.MethodGet, "/readyz", "")
	for _, text := range []string{v.answer, v.doctor.Out, v.backup.Errors, ready} {
		s.mustContain(text, says, "fanfare facts reset")
	}
	s.await("a line in the log", func() bool { return contains(s.server.Log.String(), says, "fanfare facts reset --data "+s.data) })
	if out := s.server.Run("facts", "reset"); out.Code != 0 {
		t.Fatalf("facts reset: %+v", out)
	}
	if status, body := s.query(); status != http.StatusOK || !contains(body, "data_lost") {
		t.Errorf("after the reset: %d %s", status, body)
	}
	s.server.Stop()
}

// TestDrillDatabaseOverwritten writes other files over those of the database of
// a running server, in place. Everything is refused from then on, also by the
// next start, which does not mix the files.
func TestDrillDatabaseOverwritten(t *testing.T) {
	t.Parallel()
	foreign := newTestServer(t)
	foreign.server.Stop()
	for _, tt := range []struct {
		name, file string
		// with returns the file that is copied over that of a running server.
		with func(s *testServer) string
	}{
		{"database of another installation", "fanfare.db", func(*testServer) string { return filepath.Join(foreign.data, "fanfare.db") }},
		{"older database", "fanfare.db", func(s *testServer) string {
			s.server.Stop()
			older := s.clone()
			for range 2 { // so that the older state is not the one of the last start
				s.start()
				s.create(1001)
				s.server.Stop()
			}
			s.start()
			s.create(1002)
			return filepath.Join(older.data, "fanfare.db")
		}},
		{"older log", "fanfare.db-wal", func(s *testServer) string {
			older := filepath.Join(t.TempDir(), "older")
			s.copyFile(filepath.Join(s.data, "fanfare.db-wal"), older)
			s.create(1001)
			return older
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newTestServer(t)
			s.copyFile(tt.with(s), filepath.Join(s.data, tt.file))
			res, body, err := s.server.Try(s.server.Client(), s.key, http.MethodGet, "/v1/campaigns", "")
			if err != nil {
				// The copy makes the file shorter for a moment. A background job that
				// reads it then ends the server, because the file is mapped.
				if code := s.server.Wait(); code != 2 {
					t.Errorf("the server ended with code %d, want 2", code)
				}
				s.checkNoWrongAnswers()
				return
			}
			if res.StatusCode != http.StatusServiceUnavailable {
				t.Errorf("a list: %d %s", res.StatusCode, body)
			}
			const says = "another program has overwritten the database file: the server is not ready and refuses everything"
			s.await("a line in the log", func() bool { return contains(s.server.Log.String(), says, tt.file+": stop the server") })
			v := s.inspect()
			if v.ready != http.StatusServiceUnavailable || v.create != http.StatusServiceUnavailable || v.pause != http.StatusServiceUnavailable ||
				v.query != http.StatusServiceUnavailable || v.readable > 0 || v.doctor.Code == 0 || v.backup.Code == 0 {
				t.Errorf("saw %+v", v)
			}
			for _, text := range []string{v.refusal, v.answer} {
				s.mustContain(text, "Another program has overwritten the database file", "fanfare backup restore")
			}
			s.mustContain(v.doctor.Out, "FAIL  database file", "FAIL  ready", tt.file+": stop the server")
			s.stopOverwritten(78)
			s.checkNoWrongAnswers()
		})
	}
}

// TestDrillIngestLost puts records and facts back to an older state that fits
// together. What was ingested since is missing, and every response says so.
func TestDrillIngestLost(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	s.server.Stop()
	older := s.clone()
	s.start()
	s.ingest("200.5")
	_, body := s.query()
	s.spend = spendIn(body)
	if res, _, err := s.server.Try(s.server.Client(), s.key, http.MethodGet, "/v1/me", ""); err != nil || res.Header.Get("X-Warnings") != "" {
		t.Errorf("before the loss: %v, X-Warnings %q", err, res.Header.Get("X-Warnings"))
	}
	s.server.Stop()
	for _, name := range []string{"fanfare.db", "fanfare.db-wal", "facts.duckdb", "facts.duckdb.wal"} {
		s.copyFile(filepath.Join(older.data, name), filepath.Join(s.data, name))
	}
	// Also before the next start.
	s.mustContain(s.server.Run("doctor").Out, "warn  changes", "1 acknowledged changes are missing from the database")
	s.start()
	status, body := s.query()
	if status != http.StatusOK || spendIn(body) == s.spend {
		t.Errorf("%d %s", status, body)
	}
	s.mustContain(body, `"code":"changes_lost"`, "1 acknowledged changes were missing")
	_, ready := s.call(http.MethodGet, "/readyz", "")
	s.mustContain(ready, `"code":"changes_lost"`)
	for _, path := range []string{
		"/v1/me", "/v1/campaigns", "/v1/campaigns/" + s.active[0], "/v1/campaigns/cmp_00000000000000000000000000", "/v1/audiences", "/v1/creative",
		"/v1/events", "/v1/imports", "/v1/rates", "/v1/connections", "/v1/analytics/overview",
	} {
		res, _, err := s.server.Try(s.server.Client(), s.key, http.MethodGet, path, "")
		if err != nil || !contains(res.Header.Get("X-Warnings"), "changes_lost") {
			t.Errorf("%s: %v, X-Warnings %q", path, err, res.Header.Get("X-Warnings"))
		}
	}
	s.server.Stop()
}

// TestDrillCount removes and damages the count of changes. It is then unknown
// whether changes are missing. That is reported and blocks nothing.
func TestDrillCount(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	count := filepath.Join(s.data, "fanfare.db-audit")
	for name, damage := range map[string]func() error{
		"removed":        func() error { return os.Remove(count) },
		"garbage":        func() error { return os.WriteFile(count, []byte(strings.Repeat("?", 40)), 0o600) },
		"another number": func() error { return changeByte(count, 5) },
	} {
		// A running server knows the count and writes it when it stops.
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		s.mustContain(s.server.Run("doctor").Out, "warn  changes", "is missing or damaged, so it is unknown")
		s.server.Stop()
		_ = damage() // a file that was removed is still gone
		out := s.server.Run("doctor")
		s.mustContain(out.Out, "warn  changes", "is missing or damaged, so it is unknown")
		if out.Code != 0 {
			t.Errorf("%s: %+v", name, out)
		}
		s.start()
		const says = "fanfare.db-audit, which counts the acknowledged changes, was missing or damaged"
		_, ready := s.call(http.MethodGet, "/readyz", "")
		s.mustContain(ready, `"code":"changes_lost"`, says)
		s.mustContain(s.server.Run("doctor").Out, "warn  changes", says)
		s.mustContain(s.server.Log.String(), "the count of acknowledged changes was missing or damaged", "compare with a backup")
		if v := s.inspect(); v.create != http.StatusCreated || v.refused > 0 || v.query != http.StatusOK {
			t.Errorf("%s: saw %+v", name, v)
		}
		s.server.Stop()
		s.start()
		if strings.Contains(s.server.Log.String(), "was missing or damaged") {
			t.Errorf("%s: it is told again:\n%s", name, s.server.Log)
		}
	}
	s.server.Stop()
}

// changeByte changes a digit of a file.
func changeByte(path string, at int) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	b[at] = '0' + (b[at]-'0'+1)%10
	return os.WriteFile(path, b, 0o600)
}

// stopOverwritten stops a server whose database file was overwritten. It ends
// with one of the codes.
func (s *testServer) stopOverwritten(codes ...int) {
	s.t.Helper()
	s.server.Signal(syscall.SIGTERM)
	if code := s.server.Wait(); !slices.Contains(codes, code) {
		s.t.Errorf("the server ended with code %d, want one of %v", code, codes)
	}
}

// TestDrillOverwrittenUnderLoad overwrites a file of the database while callers
// read and write. No response has data of the other file, and the next start
// does not mix the files.
func TestDrillOverwrittenUnderLoad(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"fanfare.db", "fanfare.db-wal"} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			for range rounds() {
				s := newTestServer(t)
				other := filepath.Join(t.TempDir(), "older")
				s.copyFile(filepath.Join(s.data, file), other)
				s.create(1001)
				if file == "fanfare.db" {
					s.server.Stop() // so that the copy is older than the file
					s.start()
				}
				refused := make(chan struct{})
				var once sync.Once
				var group sync.WaitGroup
				for n := range 4 {
					group.Go(func() {
						for i := 0; ; i++ {
							res, body, err := s.server.Try(s.server.Client(), s.key, http.MethodPost, "/v1/campaigns", fmt.Sprintf(`{"name":"Campaign %d of %d"}`, i, n))
							if err != nil || res.StatusCode == http.StatusServiceUnavailable {
								once.Do(func() { close(refused) })
								return
							}
							if res.StatusCode != http.StatusCreated {
								t.Errorf("create: %d %s", res.StatusCode, body)
							}
							for id, want := range s.campaigns {
								res, body, err := s.server.Try(s.server.Client(), s.key, http.MethodGet, "/v1/campaigns/"+id, "")
								if err == nil && res.StatusCode != http.StatusServiceUnavailable && (res.StatusCode != http.StatusOK || dataOf(body) != want) {
									t.Errorf("%s is %d %s", id, res.StatusCode, body)
								}
								break
							}
						}
					})
				}
				s.copyFile(other, filepath.Join(s.data, file))
				<-refused
				group.Wait()
				// A file that is shorter for a moment may end the server with 2.
				if !s.server.Ended() {
					s.stopOverwritten(78, 2)
				}
				s.checkNoWrongAnswers()
			}
		})
	}
}
