package damage_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
)

// TestDrillDatabaseGone removes and replaces files of the database under a
// running server. From then on it acknowledges no change, it is not ready, and
// it says which file to put back. With the file in its place it goes on.
func TestDrillDatabaseGone(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		replaced bool
	}{{"fanfare.db", false}, {"fanfare.db", true}, {"fanfare.db-wal", false}} {
		t.Run(fmt.Sprintf("%s, replaced %v", tt.name, tt.replaced), func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			file := filepath.Join(s.data, tt.name)
			if err := os.Rename(file, file+".away"); err != nil {
				t.Fatal(err)
			}
			if tt.replaced {
				s.copyFile(file+".away", file)
			}
			const says = "removed or replaced while the server runs"
			v := s.look()
			if v.ready != http.StatusServiceUnavailable || v.create != http.StatusServiceUnavailable || v.pause != http.StatusServiceUnavailable || v.refused > 0 || v.query != http.StatusOK {
				t.Errorf("saw %+v", v)
			}
			_, ready := s.call(http.MethodGet, "/readyz", "")
			for _, text := range []string{v.refusal, ready} {
				s.wants(text, says, "fanfare backup restore", "fanfare doctor")
			}
			if v.doctor.Code == 0 || v.backup.Code == 0 {
				t.Errorf("doctor ended with %d, backup with %d: %s", v.doctor.Code, v.backup.Code, v.backup.Out)
			}
			fix := file + ": put the same file back with mv"
			s.wants(v.doctor.Out, "FAIL  database file", "FAIL  ready", fix)
			s.await("a line in the log", func() bool {
				return contains(s.server.Log.String(), `database file removed or replaced: the server is not ready and refuses changes"`, fix)
			})
			if err := os.Rename(file+".away", file); err != nil {
				t.Fatal(err)
			}
			if v := s.look(); v.ready != http.StatusOK || v.create != http.StatusCreated || v.refused > 0 || v.doctor.Code != 0 || v.backup.Code != 0 {
				t.Errorf("with the file in its place: %+v", v)
			}
			s.await("another line in the log", func() bool { return contains(s.server.Log.String(), "database file is back") })
			s.server.Stop()
			s.start()
			if v := s.look(); v.refused > 0 || v.doctor.Code != 0 {
				t.Errorf("after a restart: %+v", v)
			}
			s.server.Stop()
		})
	}
}
