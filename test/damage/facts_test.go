package damage_test

import (
	"bytes"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fanfare/internal/store/pgtest"
	"fanfare/test/program"
)

// copyFile copies a file. It removes the copy if the file does not exist.
func (s *testServer) copyFile(from, to string) {
	s.t.Helper()
	b, err := os.ReadFile(from)
	if os.IsNotExist(err) {
		_ = os.Remove(to)
		return
	}
	if err == nil {
		err = os.WriteFile(to, b, 0o600)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// clone copies the whole data folder, which no server uses.
func (s *testServer) clone() *testServer {
	s.t.Helper()
	c := *s
	c.campaigns, c.active = maps.Clone(s.campaigns), slices.Clone(s.active)
	c.data = filepath.Join(s.t.TempDir(), "data")
	if out, err := exec.Command("cp", "-a", s.data, c.data).CombinedOutput(); err != nil {
		s.t.Fatalf("%v: %s", err, out)
	}
	return &c
}

// sendExtra sends data of another source, for a day without other data.
func (s *testServer) sendExtra(spend string) {
	s.t.Helper()
	s.hasExtra = true
	status, text := s.server.Call(s.key, http.MethodPost, "/v1/ingest/metrics?source=extra", `[{"date":"2026-10-30","channel":"email","campaign_name":"Extra","clicks":1,"spend":`+spend+`}]`)
	if status != http.StatusOK {
		s.t.Fatalf("ingest: %d %s", status, text)
	}
}

// copyFacts copies the facts of a data folder that no server uses.
func (s *testServer) copyFacts(from, to string) {
	s.t.Helper()
	if err := os.MkdirAll(to, 0o700); err != nil {
		s.t.Fatal(err)
	}
	for _, name := range []string{"facts.duckdb", "facts.duckdb.wal"} {
		s.copyFile(filepath.Join(from, name), filepath.Join(to, name))
	}
}

// TestDrillFacts removes or replaces the facts. Then metrics are unavailable,
// and everything else works.
func TestDrillFacts(t *testing.T) {
	t.Parallel()
	file := "facts.duckdb"
	for _, tt := range []struct {
		name string
		make func(s *testServer)
		says string
		// heals says that the log may have all that the file has lost, or that
		// the damage may be where nothing is read.
		heals bool
	}{
		{"missing", func(s *testServer) {
			for _, name := range []string{file, file + ".wal"} {
				_ = os.Remove(filepath.Join(s.data, name))
			}
		}, "is missing", false},
		{"older", func(s *testServer) {
			old := t.TempDir()
			s.copyFacts(s.data, old)
			s.start()
			s.ingest("200.5")
			_, body := s.query()
			s.spend = spendIn(body)
			s.server.Stop()
			s.copyFacts(old, s.data)
		}, "does not belong to the database", false},
		{"older after a crash", func(s *testServer) {
			old := t.TempDir()
			s.copyFacts(s.data, old)
			s.start()
			s.ingest("200.5")
			_, body := s.query()
			s.spend = spendIn(body)
			s.server.Kill() // right after the acknowledgement
			s.copyFacts(old, s.data)
		}, "does not belong to the database", false},
		{"older beside a newer log", func(s *testServer) {
			old := t.TempDir()
			s.copyFacts(s.data, old)
			s.start()
			s.ingest("200.5")
			s.server.Stop() // what is lost is in the file
			s.start()
			s.sendExtra("3000.5") // what is left is in the log
			s.server.Kill()
			s.copyFile(filepath.Join(old, file), filepath.Join(s.data, file))
		}, "the file of the facts", false},
		{"file of a copied folder", func(s *testServer) {
			clone := s.clone()
			clone.start()
			for range 5 {
				clone.sendExtra("7000")
			}
			clone.server.Stop()
			s.start() // this folder lives on too
			s.server.Stop()
			s.copyFacts(clone.data, s.data)
		}, "does not belong to the database", false},
		{"older database", func(s *testServer) {
			old := s.clone()
			s.start()
			s.sendExtra("3000.5")
			s.server.Stop()
			for _, name := range []string{"fanfare.db", "fanfare.db-wal", "fanfare.db-audit"} {
				s.copyFile(filepath.Join(old.data, name), filepath.Join(s.data, name))
			}
		}, "does not belong to the database", false},
		{"end of the log", func(s *testServer) {
			s.start()
			s.ingest("200.5")
			wal := filepath.Join(s.data, file+".wal")
			before, err := os.ReadFile(wal)
			if err != nil {
				t.Fatal(err)
			}
			s.sendExtra("3000.5")
			s.server.Kill() // right after the acknowledgement
			if err := os.Truncate(wal, int64(len(before))); err != nil {
				t.Fatal(err)
			}
		}, "is an older copy", false},
		{"log", func(s *testServer) {
			s.start()
			for _, spend := range []string{"200.5", "300", "400.25"} {
				s.ingest(spend)
			}
			_, body := s.query()
			s.spend = spendIn(body)
			s.server.Kill()
			s.edit(file+".wal", func(b []byte) []byte {
				at := len(b)/4 + s.r.IntN(len(b)/2)
				for i := range 16 {
					b[at+i] ^= 0x5a
				}
				return b
			})
		}, "the file of the facts", true},
		{"foreign", func(s *testServer) {
			other := newTestServer(s.t)
			for range 5 {
				other.ingest("7")
			}
			other.server.Stop()
			s.copyFacts(other.data, s.data)
		}, "does not belong to the database", false},
		{"empty", func(s *testServer) {
			_ = os.Remove(filepath.Join(s.data, file+".wal"))
			s.edit(file, func([]byte) []byte { return nil })
		}, "cannot be opened", false},
		{"truncated", func(s *testServer) {
			s.edit(file, func(b []byte) []byte { return b[:len(b)/2/4096*4096] })
		}, "cannot be", true},
		{"header", func(s *testServer) {
			s.edit(file, func(b []byte) []byte {
				for i := range 64 {
					b[i+s.r.IntN(4)] ^= byte(1 + s.r.IntN(255))
				}
				return b
			})
		}, "cannot be opened", false},
		{"blocks", func(s *testServer) {
			s.edit(file, func(b []byte) []byte {
				for at := 12 << 10; at < len(b); at += 256 << 10 {
					for i := range 16 {
						b[at+64+i] ^= 0x5a
					}
				}
				return b
			})
		}, "cannot be", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for range rounds() {
				s := newTestServer(t)
				s.server.Stop()
				first := s.spend
				tt.make(s)
				s.startAnyway()
				v := s.inspect()
				if tt.heals && v.query == http.StatusOK { // look has compared it
					s.server.Stop()
					continue
				}
				if v.ready != http.StatusOK || v.create != http.StatusCreated || v.pause != http.StatusOK || v.refused > 0 || v.query != http.StatusServiceUnavailable {
					t.Errorf("saw %+v", v)
				}
				s.mustContain(v.answer, tt.says, "fanfare facts reset", "fanfare facts restore")
				s.mustContain(s.server.Log.String(), tt.says, "fanfare facts reset --data "+s.data)
				for _, path := range []string{"/readyz", "/v1/connections"} {
					_, body := s.call(http.MethodGet, path, "")
					s.mustContain(body, `"warnings":[{"code":"facts_unavailable"`, tt.says, "fanfare facts reset")
				}
				if v.doctor.Code == 0 || v.backup.Code == 0 {
					t.Errorf("doctor ended with %d, backup with %d: %s", v.doctor.Code, v.backup.Code, v.backup.Out)
				}
				s.mustContain(v.doctor.Out, "FAIL  facts", tt.says, "fanfare facts reset --data "+s.data)
				s.mustContain(v.backup.Errors, tt.says, "fanfare facts reset")
				if status, body := s.call(http.MethodPost, "/v1/ingest/metrics?source=newsletter", `[{"date":"2026-10-01","channel":"email","clicks":1}]`); status != http.StatusServiceUnavailable {
					t.Errorf("ingest: %d %s", status, body)
				}
				s.server.Stop()
				if out := s.server.Run("doctor"); out.Code == 0 {
					if !tt.heals {
						t.Errorf("doctor without a server: %+v", out)
					}
					s.start()
					s.inspect()
					s.server.Stop()
				}
				s.reset(first)
			}
		})
	}
}

// reset accepts the loss. Then answers say that they are incomplete until the
// data was sent again; first is the expected total before that.
func (s *testServer) reset(first string) {
	s.t.Helper()
	s.start()
	out := s.server.Run("facts", "reset")
	if out.Code != 0 {
		s.t.Fatalf("facts reset: %+v", out)
	}
	s.mustContain(out.Out, "Send the data of these connections again", "con_")
	status, body := s.query()
	if status != http.StatusOK {
		s.t.Errorf("after the reset: %d %s", status, body)
	}
	s.mustContain(body, `"code":"data_lost"`)
	_, body = s.call(http.MethodGet, "/v1/connections", "")
	s.mustContain(body, `"code":"data_lost"`, `"last_success_at":null`, "Send all data that matters again, then set data_lost_at to null with PATCH /v1/connections/{id}.")
	doctor, backup := s.server.Run("doctor"), s.server.Run("backup", "create", filepath.Join(s.t.TempDir(), "backup"))
	if doctor.Code != 0 || backup.Code != 0 {
		s.t.Errorf("doctor ended with %d, backup with %d: %s", doctor.Code, backup.Code, backup.Errors)
	}
	s.mustContain(doctor.Out, "warn  connections", "have lost data (con_")
	s.mustContain(backup.Errors, "warning: the backup is complete, but", "have lost data (con_")
	s.ingest("100.25")
	if s.hasExtra {
		s.sendExtra("0")
	}
	if status, body := s.query(); status != http.StatusOK || spendIn(body) != first || !contains(body, "data_lost") {
		s.t.Errorf("before the sender says that all was sent again: %d %s", status, body)
	}
	for id := range strings.FieldsSeq(out.Out) {
		if strings.HasPrefix(id, "con_") {
			if status, body := s.call(http.MethodPatch, "/v1/connections/"+id, `{"data_lost_at":null}`); status != http.StatusOK {
				s.t.Errorf("end the loss of %s: %d %s", id, status, body)
			}
		}
	}
	if status, body := s.query(); status != http.StatusOK || spendIn(body) != first || contains(body, "data_lost") {
		s.t.Errorf("after the data was sent again: %d %s", status, body)
	}
	s.server.Stop()
	s.start()
	if status, body := s.query(); status != http.StatusOK {
		s.t.Errorf("after another start: %d %s", status, body)
	}
	s.server.Stop()
}

// TestDrillFactsRestore restores lost facts from a backup.
func TestDrillFactsRestore(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	backup := filepath.Join(t.TempDir(), "backup")
	if out := s.server.Run("backup", "create", backup); out.Code != 0 {
		t.Fatalf("%+v", out)
	}
	// A restore from a missing or damaged backup leaves everything unchanged.
	text, err := os.ReadFile(backup)
	if err != nil {
		t.Fatal(err)
	}
	other := newTestServer(t)
	foreign := filepath.Join(t.TempDir(), "foreign")
	if out := other.server.Run("backup", "create", foreign); out.Code != 0 {
		t.Fatalf("%+v", out)
	}
	other.server.Stop()
	theirs, err := os.ReadFile(foreign)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"none": nil, "half": text[:len(text)/2], "flipped": flipBit(text), "of another installation": theirs} {
		bad := filepath.Join(t.TempDir(), name)
		if content != nil {
			if err := os.WriteFile(bad, content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		out := s.server.Run("facts", "restore", bad)
		if out.Code == 0 {
			t.Errorf("%s: %+v, want an error", name, out)
		}
		if strings.Contains(name, "another") {
			s.mustContain(out.Errors, "is a backup of another installation", "Choose a backup of this installation")
		}
		status, body := s.query()
		if status != http.StatusOK || spendIn(body) != s.spend || strings.Contains(body, "data_lost") {
			t.Errorf("%s: after a failed restore: %d %s, want spend %s and nothing lost", name, status, body, s.spend)
		}
	}
	s.server.Stop()
	_ = os.Remove(filepath.Join(s.data, "facts.duckdb"))
	_ = os.Remove(filepath.Join(s.data, "facts.duckdb.wal"))
	s.start()
	if out := s.server.Run("facts", "restore", backup); out.Code != 0 {
		t.Fatalf("facts restore: %+v", out)
	}
	status, body := s.query()
	if status != http.StatusOK || spendIn(body) != s.spend {
		t.Errorf("after the restore: %d %s, want spend %s", status, body, s.spend)
	}
	s.mustContain(body, `"code":"data_lost"`) // what came after the backup
	s.server.Stop()
	// A restore of everything is whole at once.
	whole := &testServer{t: t, r: s.r, key: s.key, env: s.env, data: filepath.Join(t.TempDir(), "data"), campaigns: s.campaigns, active: s.active, spend: s.spend}
	if out := program.Run(t, program.Build(t), t.TempDir(), []string{"FANFARE_DATA=" + whole.data}, "backup", "restore", backup); out.Code != 0 {
		t.Fatalf("restore: %+v", out)
	}
	whole.start()
	if v := whole.inspect(); v.query != http.StatusOK || v.doctor.Code != 0 || v.backup.Code != 0 || v.refused > 0 {
		t.Errorf("a restored server: %+v", v)
	}
	whole.server.Stop()
	// Where the folder has other facts, a restore keeps them and says so.
	for _, name := range []string{"fanfare.db", "fanfare.db-wal", "fanfare.db-shm"} {
		_ = os.Remove(filepath.Join(whole.data, name))
	}
	facts := filepath.Join(whole.data, "facts.duckdb")
	before, err := os.ReadFile(facts)
	if err != nil {
		t.Fatal(err)
	}
	out := program.Run(t, program.Build(t), t.TempDir(), []string{"FANFARE_DATA=" + whole.data}, "backup", "restore", backup)
	if out.Code != 0 {
		t.Fatalf("restore: %+v", out)
	}
	s.mustContain(out.Errors, "warning: "+whole.data+" had metrics", "kept in "+facts+".old", "send your own data again")
	if kept, err := os.ReadFile(facts + ".old"); err != nil || !bytes.Equal(kept, before) {
		t.Errorf("the facts of before were not kept: %v", err)
	}
	whole.start()
	if status, body := whole.query(); status != http.StatusOK || spendIn(body) != whole.spend {
		t.Errorf("after another restore: %d %s", status, body)
	}
	whole.server.Stop()
}

// flipBit returns a copy with one bit changed in the middle.
func flipBit(b []byte) []byte {
	c := bytes.Clone(b)
	c[len(c)/2] ^= 1
	return c
}

// TestDrillFactsGone removes the file of a running server, and puts it back.
func TestDrillFactsGone(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	file := filepath.Join(s.data, "facts.duckdb")
	if err := os.Rename(file, file+".away"); err != nil {
		t.Fatal(err)
	}
	const says = "was removed or replaced while the server runs"
	v := s.inspect()
	if v.ready != http.StatusOK || v.create != http.StatusCreated || v.pause != http.StatusOK || v.refused > 0 || v.query != http.StatusServiceUnavailable || v.doctor.Code == 0 || v.backup.Code == 0 {
		t.Errorf("saw %+v", v)
	}
	_, ready := s.call(http.MethodGet, "/readyz", "")
	for _, text := range []string{v.answer, v.doctor.Out, v.backup.Errors, ready} {
		s.mustContain(text, says)
	}
	if err := os.Rename(file+".away", file); err != nil {
		t.Fatal(err)
	}
	if v := s.inspect(); v.query != http.StatusOK || v.doctor.Code != 0 || v.backup.Code != 0 {
		t.Errorf("with the file in its place: %+v", v)
	}
	s.server.Stop()
}

// TestDrillFactsResync loses the facts of a platform, which the server syncs
// again.
func TestDrillFactsResync(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	status, body := s.call(http.MethodPost, "/v1/connections", `{"platform":"sandbox","name":"Trying out","config":{"seed":7}}`)
	if status != http.StatusCreated {
		t.Fatalf("%d %s", status, body)
	}
	connection := "/v1/connections/" + memberOf(body, "id")
	day := time.Now().UTC().AddDate(0, 0, -30).Format(time.DateOnly)
	ask := func() (int, string) {
		return s.server.Call(s.key, http.MethodPost, "/v1/analytics/query", `{"metrics":["impressions"],"date_range":{"start_date":"`+day+`","end_date":"`+day+`"}}`)
	}
	settled := func() bool {
		_, body := s.call(http.MethodGet, connection, "")
		return contains(body, `"state":"idle"`, `"status_reason":null`) && !contains(body, `"last_success_at":null`)
	}
	s.await("the first sync", settled)
	_, before := ask()
	s.server.Stop()
	_ = os.Remove(filepath.Join(s.data, "facts.duckdb"))
	_ = os.Remove(filepath.Join(s.data, "facts.duckdb.wal"))
	s.startAnyway()
	if status, body := ask(); status != http.StatusServiceUnavailable {
		t.Errorf("without facts: %d %s", status, body)
	}
	if out := s.server.Run("facts", "reset"); out.Code != 0 {
		t.Fatalf("facts reset: %+v", out)
	}
	s.await("the sync after the loss", settled)
	if _, after := ask(); dataOf(after) != dataOf(before) || dataOf(before) == "" {
		t.Errorf("after the loss: %s\nbefore: %s", after, before)
	}
	s.server.Stop()
}

// TestDrillFactsNodes starts a second node on a database whose facts are on the
// first one.
func TestDrillFactsNodes(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, "FANFARE_STORE="+pgtest.URL(t), "FANFARE_METRICS=duckdb", "FANFARE_MASTER_KEY="+filepath.Join(t.TempDir(), "master.key"))
	second := &testServer{t: t, r: s.r, key: s.key, env: s.env, data: filepath.Join(t.TempDir(), "data")}
	second.start()
	status, body := second.query()
	if status != http.StatusServiceUnavailable {
		t.Errorf("the second node answers %d %s", status, body)
	}
	s.mustContain(body, "on another node", "fanfare facts reset")
	if status, body := s.query(); status != http.StatusOK || spendIn(body) != s.spend {
		t.Errorf("the first node answers %d %s", status, body)
	}
	// The second one takes over, and the first one knows.
	if out := second.server.Run("facts", "reset"); out.Code != 0 {
		t.Fatalf("facts reset: %+v", out)
	}
	if status, body := second.query(); status != http.StatusOK || !contains(body, "data_lost") {
		t.Errorf("the second node answers %d %s", status, body)
	}
	s.await("the first node to notice", func() bool {
		status, _ := s.query()
		return status == http.StatusServiceUnavailable
	})
	s.server.Stop()
	second.server.Stop()
}
