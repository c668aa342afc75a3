package damage_test

import (
	"bytes"
	"database/sql"
	"fmt"
	"image"
	"image/png"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fanfare/test/program"
)

// TestDrillDatabaseGone removes and replaces files of the database under a
// running server. From then on it acknowledges no change, is not ready, and
// names the file to put back. After the file is back, it works again.
func TestDrillDatabaseGone(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		replaced bool
	}{{"fanfare.db", false}, {"fanfare.db", true}, {"fanfare.db-wal", false}} {
		t.Run(fmt.Sprintf("%s, replaced %v", tt.name, tt.replaced), func(t *testing.T) {
			t.Parallel()
			s := newTestServer(t)
			file := filepath.Join(s.data, tt.name)
			if err := os.Rename(file, file+".away"); err != nil {
				t.Fatal(err)
			}
			if tt.replaced {
				s.copyFile(file+".away", file)
			}
			const says = "removed or replaced while the server runs"
			v := s.inspect()
			if v.ready != http.StatusServiceUnavailable || v.create != http.StatusServiceUnavailable || v.pause != http.StatusServiceUnavailable || v.refused > 0 || v.query != http.StatusOK {
				t.Errorf("saw %+v", v)
			}
			_, ready := s.call(http.MethodGet, "/readyz", "")
			for _, text := range []string{v.refusal, ready} {
				s.mustContain(text, says, "fanfare backup restore", "fanfare doctor")
			}
			if v.doctor.Code == 0 || v.backup.Code == 0 {
				t.Errorf("doctor ended with %d, backup with %d: %s", v.doctor.Code, v.backup.Code, v.backup.Out)
			}
			fix := file + ": put the same file back with mv"
			s.mustContain(v.doctor.Out, "FAIL  database file", "FAIL  ready", fix)
			s.await("a line in the log", func() bool {
				return contains(s.server.Log.String(), `database file removed or replaced: the server is not ready and refuses changes"`, fix)
			})
			if err := os.Rename(file+".away", file); err != nil {
				t.Fatal(err)
			}
			if v := s.inspect(); v.ready != http.StatusOK || v.create != http.StatusCreated || v.refused > 0 || v.doctor.Code != 0 || v.backup.Code != 0 {
				t.Errorf("with the file in its place: %+v", v)
			}
			s.await("another line in the log", func() bool { return contains(s.server.Log.String(), "database file is back") })
			s.server.Stop()
			s.start()
			if v := s.inspect(); v.refused > 0 || v.doctor.Code != 0 {
				t.Errorf("after a restart: %+v", v)
			}
			s.server.Stop()
		})
	}
}

// TestDrillDatabaseMissing removes the database of a stopped server. Neither the
// server nor a command creates an empty one beside the files that are left.
func TestDrillDatabaseMissing(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	backup := filepath.Join(t.TempDir(), "backup")
	if out := s.server.Run("backup", "create", backup); out.Code != 0 {
		t.Fatalf("%+v", out)
	}
	s.server.Stop()
	away := t.TempDir()
	file := filepath.Join(s.data, "fanfare.db")
	move := func(from, to string, names ...string) {
		t.Helper()
		for _, name := range names {
			if err := os.Rename(filepath.Join(from, name), filepath.Join(to, name)); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
		}
	}
	move(s.data, away, "fanfare.db", "fanfare.db-wal", "fanfare.db-shm")
	left := []string{"fanfare.db-audit", "facts.duckdb", "master.key"}
	for _, content := range []string{"none", "empty"} {
		if content == "empty" {
			if err := os.WriteFile(file, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		// Each of the files that are left is enough.
		for i := range left {
			others := slices.Concat(left[:i], left[i+1:])
			move(s.data, away, others...)
			s.server = program.Launch(t, program.Options{Data: s.data, Env: s.env})
			if code := s.server.Wait(); code != 78 {
				t.Errorf("%s: with %s alone the server ended with code %d", content, left[i], code)
			}
			s.mustContain(s.server.Log.String(), "the database "+file+" is missing", left[i]+" of an installation", "fanfare backup restore FILE --data "+s.data)
			move(away, s.data, others...)
		}
		for _, command := range [][]string{{"doctor"}, {"workspace", "create", "--name", "New", "--owner", "new@example.com"}, {"workspace", "list"}, {"migrate"}} {
			out := s.server.Run(command...)
			if out.Code != 78 {
				t.Errorf("%s: %v: %+v", content, command, out)
			}
			s.mustContain(out.Out+out.Errors, "the database "+file+" is missing", strings.Join(left, ", "))
		}
		if info, err := os.Stat(file); err == nil && (content == "none" || info.Size() > 0) {
			t.Errorf("%s: there is a database of %d bytes", content, info.Size())
		}
	}
	// A restore that fails changes nothing.
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(t.TempDir(), "bad")
	if err := os.WriteFile(bad, []byte("no backup"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := s.server.Run("backup", "restore", bad); out.Code == 0 {
		t.Errorf("restore of a bad backup: %+v", out)
	}
	if out := s.server.Run("doctor"); out.Code != 78 || !contains(out.Out, "is missing", strings.Join(left, ", ")) {
		t.Errorf("doctor after a failed restore: %+v", out)
	}
	// Nothing is left that a restore deletes.
	wal := file + "-wal"
	if err := os.WriteFile(wal, []byte("a log"), 0o600); err != nil {
		t.Fatal(err)
	}
	audit, err := os.ReadFile(file + "-audit")
	if err != nil {
		t.Fatal(err)
	}
	out := s.server.Run("backup", "restore", backup)
	if out.Code != 0 {
		t.Fatalf("restore: %+v", out)
	}
	for name, want := range map[string]string{wal: "a log", file + "-audit": string(audit)} {
		s.mustContain(out.Errors, name+" belonged to a previous database and is kept as "+name+".old")
		if b, err := os.ReadFile(name + ".old"); err != nil || string(b) != want {
			t.Errorf("%s.old is %q, %v", name, b, err)
		}
	}
	s.start()
	if v := s.inspect(); v.refused > 0 || v.doctor.Code != 0 || v.query != http.StatusOK {
		t.Errorf("after the restore: %+v", v)
	}
	s.server.Stop()
}

// TestDrillImport kills the server in the middle of the commit of a file. The
// next start finishes the commit without the caller.
func TestDrillImport(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	const tries, rows = 10, 60_000
	for try := 1; ; try++ {
		if try > tries {
			t.Fatalf("none of %d commits was interrupted", tries)
		}
		var file strings.Builder
		file.WriteString("date,channel,campaign_name,clicks,spend\n")
		for i := range rows {
			fmt.Fprintf(&file, "2026-09-%02d,email,Number %d of %d,1,1\n", i%28+1, i, try)
		}
		status, body := s.upload(fmt.Sprintf("/v1/imports?source=file-%d", try), "text/csv", file.String())
		if status != http.StatusCreated || memberOf(body, "status") != "ready" {
			t.Fatalf("upload: %d %.500s", status, body)
		}
		path := "/v1/imports/" + memberOf(body, "id")
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _, _ = s.server.Try(s.server.Client(), s.key, http.MethodPost, path+"/commit", "")
		}()
		state := func() string {
			_, body := s.call(http.MethodGet, path, "")
			return memberOf(body, "status")
		}
		s.await("the start of the commit", func() bool { return state() != "ready" })
		s.server.Kill()
		<-done
		if s.storedStatus(memberOf(body, "id")) == "committed" {
			s.start() // the commit was over before the kill
			continue
		}
		s.start()
		s.await("the end of the commit", func() bool { return state() == "committed" })
		status, body = s.call(http.MethodPost, "/v1/analytics/query", `{"metrics":["clicks"],"date_range":{"start_date":"2026-09-01","end_date":"2026-09-30"}}`)
		if status != http.StatusOK || !contains(body, fmt.Sprintf(`"clicks":%d}`, try*rows)) {
			t.Errorf("after the commit: %d %s, want %d clicks", status, body, try*rows)
		}
		break
	}
	s.server.Stop()
}

// storedStatus reads the status of an import from the files of a killed server.
func (s *testServer) storedStatus(id string) (status string) {
	s.t.Helper()
	db, err := sql.Open("sqlite3", filepath.Join(s.clone().data, "fanfare.db"))
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if err := db.QueryRowContext(s.t.Context(), "SELECT status FROM import WHERE id = ?", id).Scan(&status); err != nil {
		s.t.Fatal(err)
	}
	return status
}

// randomPNG returns a PNG of noise, which cannot be compressed.
func (s *testServer) randomPNG(side int) []byte {
	s.t.Helper()
	m := image.NewNRGBA(image.Rect(0, 0, side, side))
	for i := range m.Pix {
		m.Pix[i] = byte(s.r.IntN(256)) | byte(i%4/3*255) // opaque
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		s.t.Fatal(err)
	}
	return b.Bytes()
}

// TestDrillAssets damages and removes files of assets. No byte of a small one
// and not all of a large one is sent, doctor and a backup find it, and the next
// upload of the picture repairs it.
func TestDrillAssets(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	for _, tt := range []struct {
		name   string
		side   int
		damage func(file string)
		says   string
	}{
		{"small", 30, s.flipByte, "1 are damaged"},
		{"large", 1500, s.flipByte, "1 are damaged"}, // 6.8 MB
		{"missing", 31, func(file string) { _ = os.Remove(file) }, "1 of 3 are missing"},
	} {
		picture := string(s.randomPNG(tt.side))
		status, body := s.upload("/v1/assets", "image/png", picture)
		if status != http.StatusCreated {
			t.Fatalf("%s: %d %s", tt.name, status, body)
		}
		id := memberOf(body, "id")
		files, err := filepath.Glob(filepath.Join(s.data, "assets", "wks_*", "*", memberOf(body, "sha256")))
		if err != nil || len(files) != 1 {
			t.Fatalf("%s: found %v, %v", tt.name, files, err)
		}
		_, body = s.call(http.MethodPost, "/v1/assets/"+id+"/link", "")
		_, link, _ := strings.Cut(memberOf(body, "url"), s.server.Host)
		whole := func(path string) (int, string, error) {
			res, text, err := s.server.Try(s.server.Client(), s.key, http.MethodGet, path, "")
			if res == nil {
				return 0, "", err
			}
			return res.StatusCode, text, err
		}
		paths := []string{"/v1/assets/" + id, link}
		for _, path := range paths {
			if status, _, err := whole(path); status != http.StatusOK || err != nil {
				t.Fatalf("%s: %s: %d, %v", tt.name, path, status, err)
			}
		}
		tt.damage(files[0])
		for _, path := range paths {
			status, text, err := whole(path)
			if tt.name == "large" {
				if err == nil {
					t.Errorf("large: %s: %d and all %d bytes were sent", path, status, len(text))
				}
				continue
			}
			if status != http.StatusInternalServerError || err != nil {
				t.Errorf("%s: %s: %d, %v", tt.name, path, status, err)
			}
			s.mustContain(text, "internal_error", "Upload the file again", "fanfare doctor")
		}
		doctor, backup := s.server.Run("doctor"), s.server.Run("backup", "create", filepath.Join(t.TempDir(), "backup"))
		if doctor.Code == 0 || backup.Code == 0 {
			t.Errorf("%s: doctor ended with %d, backup with %d", tt.name, doctor.Code, backup.Code)
		}
		s.mustContain(doctor.Out, "FAIL  asset files", tt.says, filepath.Base(files[0]))
		s.mustContain(backup.Errors, filepath.Base(files[0]), "upload the picture again")
		s.server.Stop()
		if out := s.server.Run("doctor"); out.Code == 0 || !contains(out.Out, "FAIL  asset files", tt.says) {
			t.Errorf("%s: doctor without a server: %+v", tt.name, out)
		}
		s.start()
		if status, body := s.upload("/v1/assets", "image/png", picture); status != http.StatusCreated {
			t.Fatalf("%s: %d %s", tt.name, status, body)
		}
		if status, _, err := whole(paths[0]); status != http.StatusOK || err != nil {
			t.Errorf("%s: after the next upload: %d, %v", tt.name, status, err)
		}
	}
	if out := s.server.Run("backup", "create", filepath.Join(t.TempDir(), "backup")); out.Code != 0 {
		t.Errorf("backup of repaired assets: %+v", out)
	}
	s.mustContain(s.server.Run("doctor").Out, "3 match their hashes")
	s.server.Stop()
}

// flipByte changes one byte of a file.
func (s *testServer) flipByte(file string) {
	s.t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		s.t.Fatal(err)
	}
	b[s.r.IntN(len(b))] ^= byte(1 + s.r.IntN(255))
	if err := os.WriteFile(file, b, 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// upload sends a file.
func (s *testServer) upload(path, mediaType, body string) (int, string) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.server.URL+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.key)
	req.Header.Set("Content-Type", mediaType)
	res, err := s.server.Client().Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

// TestDrillRestoreInterrupted leaves a folder as a restore that was killed does.
// No server starts there with an empty database, and another restore works.
func TestDrillRestoreInterrupted(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	backup := filepath.Join(t.TempDir(), "backup")
	if out := s.server.Run("backup", "create", backup); out.Code != 0 {
		t.Fatalf("%+v", out)
	}
	s.server.Stop()
	restored := *s
	restored.data = t.TempDir()
	run := func(args ...string) program.Result {
		t.Helper()
		return program.Run(t, program.Build(t), t.TempDir(), []string{"FANFARE_DATA=" + restored.data}, args...)
	}
	if out := run("backup", "restore", backup); out.Code != 0 {
		t.Fatalf("%+v", out)
	}
	mark := filepath.Join(restored.data, "fanfare.db-restoring")
	if _, err := os.Stat(mark); !os.IsNotExist(err) {
		t.Errorf("after a restore: %s: got %v want that it does not exist", mark, err)
	}
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	restored.server = program.Launch(t, program.Options{Data: restored.data, Env: s.env})
	if code := restored.server.Wait(); code != 78 {
		t.Errorf("the server ended with code %d want 78", code)
	}
	s.mustContain(restored.server.Log.String(), "was interrupted", "fanfare backup restore")
	if out := run("doctor"); out.Code == 0 {
		t.Errorf("doctor: got %+v want a failure", out)
	}
	if out := run("backup", "restore", backup); out.Code != 0 {
		t.Fatalf("restore again: %+v", out)
	}
	restored.start()
	if v := restored.inspect(); v.ready != http.StatusOK || v.refused > 0 {
		t.Errorf("after the second restore: %+v", v)
	}
}
