package damage_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

// importRow imports a file with one row and returns the id of the import.
func (s *testServer) importRow(source, spend string) string {
	s.t.Helper()
	file := filepath.Join(s.t.TempDir(), source+".csv")
	if err := os.WriteFile(file, []byte("date,channel,campaign_name,spend\n2026-10-25,email,Upload,"+spend+"\n"), 0o600); err != nil {
		s.t.Fatal(err)
	}
	out := s.server.Run("import", file, "--source", source, "--yes", "--json")
	var made struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal([]byte(out.Out), &made); err != nil || out.Code != 0 {
		s.t.Fatalf("import: %v %+v", err, out)
	}
	return made.ID
}

// purge deletes a connection of own data with its facts.
func (s *testServer) purge(name string) {
	s.t.Helper()
	_, body := s.call(http.MethodGet, "/v1/connections?limit=100", "")
	var list struct {
		Data []struct {
			ID   string `json:"id"`
			Name string `json:"name"`
		} `json:"data"`
	}
	if err := json.Unmarshal([]byte(body), &list); err != nil {
		s.t.Fatal(err)
	}
	for _, c := range list.Data {
		if c.Name == name {
			if status, body := s.server.Call(s.key, http.MethodDelete, "/v1/connections/"+c.ID+"?purge=true", ""); status != http.StatusOK {
				s.t.Fatalf("purge: %d %s", status, body)
			}
			return
		}
	}
	s.t.Fatalf("no connection %s in %s", name, body)
}

// TestDrillDeletedStaysDeleted restores facts from before an import was undone
// and a connection was purged: from a backup and from the file that `facts
// reset` has kept, with a server and without. Nothing of it comes back, and
// everything else does.
func TestDrillDeletedStaysDeleted(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	s.sendExtra("3000.5")
	undone, kept := s.importRow("undone", "500.5"), s.importRow("kept", "70.75")
	backup := filepath.Join(t.TempDir(), "backup")
	if out := s.server.Run("backup", "create", backup); out.Code != 0 {
		t.Fatalf("%+v", out)
	}
	// The reset is the mistake, so that the kept file has all that is deleted
	// afterwards.
	if out := s.server.Run("facts", "reset"); out.Code != 0 || !contains(out.Out, "facts.duckdb.old", "fanfare facts restore") {
		t.Fatalf("facts reset: %+v", out)
	}
	s.purge("extra")
	if out := s.server.Run("import", "undo", undone); out.Code != 0 {
		t.Fatalf("undo: %+v", out)
	}
	check := func(from string) {
		t.Helper()
		status, body := s.query()
		if status != http.StatusOK || spendIn(body) != "2075.75" { // 20 × 100.25 and 70.75
			t.Errorf("%s: %d %s, want spend 2075.75", from, status, body)
		}
		s.mustContain(body, `"code":"data_lost"`) // what came after it
		if _, body := s.call(http.MethodGet, "/v1/imports/"+undone, ""); memberOf(body, "status") != "undone" {
			t.Errorf("%s: the import that was undone is %s", from, body)
		}
		if _, body := s.call(http.MethodGet, "/v1/imports/"+kept, ""); memberOf(body, "status") != "committed" {
			t.Errorf("%s: the other import is %s", from, body)
		}
	}
	old := filepath.Join(s.data, "facts.duckdb.old")
	for _, from := range []string{old, backup} {
		out := s.server.Run("facts", "restore", from)
		if out.Code != 0 {
			t.Fatalf("facts restore %s: %+v", from, out)
		}
		s.mustContain(out.Out, "1 imports that were undone and 1 connections that were purged")
		check(from)
		s.server.Stop()
		if out := s.server.Run("facts", "restore", from); out.Code != 0 {
			t.Fatalf("without a server: facts restore %s: %+v", from, out)
		}
		s.start()
		check(from + " without a server")
	}
	if v := s.inspect(); v.ready != http.StatusOK || v.refused > 0 || v.doctor.Code != 0 || v.backup.Code != 0 {
		t.Errorf("afterwards: %+v", v)
	}
	s.refuseKept(old)
	s.server.Stop()
}

// refuseKept restores files that are not kept facts of this installation. That
// changes nothing.
func (s *testServer) refuseKept(old string) {
	s.t.Helper()
	other := newTestServer(s.t)
	if out := other.server.Run("facts", "reset"); out.Code != 0 {
		s.t.Fatalf("facts reset: %+v", out)
	}
	other.server.Stop()
	whole, err := os.ReadFile(old)
	if err != nil {
		s.t.Fatal(err)
	}
	half := filepath.Join(s.t.TempDir(), "half")
	if err := os.WriteFile(half, whole[:len(whole)/2], 0o600); err != nil {
		s.t.Fatal(err)
	}
	_, before := s.query()
	for file, says := range map[string]string{
		filepath.Join(other.data, "facts.duckdb.old"): "belongs to another installation",
		half: "the facts stay as they were",
	} {
		out := s.server.Run("facts", "restore", file)
		if out.Code == 0 {
			s.t.Errorf("%s: %+v, want an error", file, out)
		}
		s.mustContain(out.Errors, says)
	}
	if _, after := s.query(); dataOf(after) != dataOf(before) || strings.Contains(after, "unavailable") {
		s.t.Errorf("after restores that were refused: %s\nbefore: %s", after, before)
	}
}
