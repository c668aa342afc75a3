package backup_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fanfare/internal/asset"
	"fanfare/internal/backup"
	"fanfare/internal/ident"
	"fanfare/internal/store"
	"fanfare/internal/store/storetest"
)

// folder returns an empty folder for files.
func folder(t *testing.T) *asset.Folder {
	t.Helper()
	f, err := asset.OpenFolder(t.TempDir(), time.Now, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// sameFiles checks that every asset of a restored store is readable with its
// original bytes.
func sameFiles(t *testing.T, w *storetest.Fixture, e store.Engine, files *asset.Folder) {
	t.Helper()
	rows, err := e.Query(store.Across(t.Context()), `SELECT sha256 FROM asset WHERE workspace_id = $1`, string(w.Workspace))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for ; rows.Next(); n++ {
		sum := rows.Text()
		var texts [2][]byte
		for i, f := range []*asset.Folder{w.Files, files} {
			r, _, err := f.Open(w.Workspace, sum)
			if err != nil {
				t.Fatal(err)
			}
			if texts[i], err = io.ReadAll(r); err != nil {
				t.Fatal(err)
			}
			_ = r.Close()
		}
		if !bytes.Equal(texts[0], texts[1]) {
			t.Errorf("got %q want %q", texts[1], texts[0])
		}
	}
	if n == 0 {
		t.Error("the store has no assets, so that nothing was tested")
	}
}

// entry is a part of a backup.
type entry struct {
	name string
	body []byte
}

// remade unpacks a backup, applies change and packs it as Create does, with a
// correct hash.
func remade(t *testing.T, path string, change func([]entry) []entry) string {
	t.Helper()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const mark = "fanfare-backup-1"
	z, err := gzip.NewReader(bytes.NewReader(whole[:len(whole)-sha256.Size-len(mark)]))
	if err != nil {
		t.Fatal(err)
	}
	var entries []entry
	for in := tar.NewReader(z); ; {
		head, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, entry{head.Name, b})
	}
	var out bytes.Buffer
	packed := gzip.NewWriter(&out)
	archive := tar.NewWriter(packed)
	for _, e := range change(entries) {
		if err := archive.WriteHeader(&tar.Header{Name: e.name, Mode: 0o600, Size: int64(len(e.body))}); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Write(e.body); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(archive.Close(), packed.Close()); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(out.Bytes())
	made := filepath.Join(t.TempDir(), "remade")
	if err := os.WriteFile(made, append(append(out.Bytes(), sum[:]...), mark...), 0o600); err != nil {
		t.Fatal(err)
	}
	return made
}

// isFile reports whether an entry is the file of an asset.
func isFile(e entry) bool { return strings.HasPrefix(e.name, "asset-files/") }

// TestAssetFilesMatchRows checks that the files in a backup are those that its
// rows refer to, each with its own bytes, even if the hash of the whole is
// correct.
func TestAssetFilesMatchRows(t *testing.T) {
	t.Parallel()
	path := small(t)
	if _, err := backup.Verify(remade(t, path, func(list []entry) []entry { return list }), quiet); err != nil {
		t.Fatalf("unchanged: %v", err)
	}
	each := func(f func(entry) []entry) func([]entry) []entry {
		return func(list []entry) (out []entry) {
			for _, e := range list {
				if isFile(e) {
					out = append(out, f(e)...)
				} else {
					out = append(out, e)
				}
			}
			return out
		}
	}
	for name, change := range map[string]func([]entry) []entry{
		"changed": each(func(e entry) []entry { return []entry{{e.name, append([]byte("x"), e.body...)}} }),
		"missing": each(func(entry) []entry { return nil }),
		"twice":   each(func(e entry) []entry { return []entry{e, e} }),
		"unknown": each(func(e entry) []entry { return []entry{e, {e.name[:len(e.name)-2] + "00", e.body}} }),
		"of another workspace": each(func(e entry) []entry {
			return []entry{{strings.Replace(e.name, "wks_0", "wks_1", 1), e.body}}
		}),
	} {
		changed := remade(t, path, change)
		if _, err := backup.Verify(changed, quiet); !errors.Is(err, backup.ErrDamaged) {
			t.Errorf("%s: got %v want %v", name, err, backup.ErrDamaged)
		}
		e := empty(t, "sqlite")
		if _, err := backup.Restore(t.Context(), backup.Parts{Store: e, Files: folder(t)}, changed, quiet); !errors.Is(err, backup.ErrDamaged) {
			t.Errorf("restoring %s: got %v want %v", name, err, backup.ErrDamaged)
		}
		nothing(t, e)
	}
}

// TestOldFormat restores backups of the formats without assets and without
// facts.
func TestOldFormat(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "backup")
	w := storetest.NewFixture(t, engines["sqlite"](t))
	w.Insert(w.Draft("Old"))
	if _, err := backup.Create(t.Context(), backup.Parts{Store: w.Raw, Files: w.Files}, path, manifest, quiet); err != nil {
		t.Fatal(err)
	}
	as := func(format string) string {
		return remade(t, path, func(list []entry) []entry {
			list[0].body = bytes.Replace(list[0].body, []byte(`"format":3`), []byte(`"format":`+format), 1)
			return list
		})
	}
	for format, engine := range map[string]string{"1": "postgres", "2": "sqlite"} {
		s, err := backup.Restore(t.Context(), backup.Parts{Store: empty(t, engine), Files: folder(t)}, as(format), quiet)
		if err != nil || s.Rows["campaign"] != 1 || s.Assets != 0 || s.Facts != 0 {
			t.Errorf("format %s: got %+v, %v", format, s, err)
		}
	}
	for _, format := range []string{"0", "4"} {
		if _, err := backup.Verify(as(format), quiet); err == nil || !strings.Contains(err.Error(), "reads 1 to 3") {
			t.Errorf("format %s: got %v", format, err)
		}
	}
}

// TestLostFile checks that a backup fails, with the fix in the error, if it
// could not be restored completely.
func TestLostFile(t *testing.T) {
	t.Parallel()
	w := storetest.NewFixture(t, engines["sqlite"](t))
	a := w.Keep("lost")
	path := filepath.Join(t.TempDir(), "backup")
	create := func() error {
		_, err := backup.Create(t.Context(), backup.Parts{Store: w.Raw, Files: w.Files}, path, manifest, quiet)
		return err
	}
	if err := w.Files.Remove(w.Workspace, a.SHA256, w.Clock.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if err := create(); err == nil || !strings.Contains(err.Error(), "upload the picture again") {
		t.Errorf("lost: got %v", err)
	}
	if err := w.Files.Put(w.Workspace, a.SHA256, []byte("something else")); err != nil {
		t.Fatal(err)
	}
	if err := create(); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("damaged: got %v", err)
	}
	w.Keep("lost")
	if err := create(); err != nil {
		t.Errorf("after it was uploaded again: %v", err)
	}
}

// sweeping sweeps assets between the snapshot and the copying of files.
type sweeping struct {
	*asset.Folder
	before func()
}

func (s *sweeping) Open(workspace ident.ID, sum string) (io.ReadCloser, int64, error) {
	s.before()
	return s.Folder.Open(workspace, sum)
}

// TestSweptMeanwhile sweeps the records of a snapshot before their files are
// copied. The files must still exist.
func TestSweptMeanwhile(t *testing.T) {
	t.Parallel()
	w := storetest.NewFixture(t, engines["sqlite"](t))
	w.Keep("one")
	w.Keep("two")
	w.Clock.Advance(8 * 24 * time.Hour)
	files := &sweeping{w.Files, func() {
		if err := w.Assets.Sweep(t.Context()); err != nil {
			t.Error(err)
		}
		w.Clock.Advance(10 * time.Hour)
		w.Count(0, `SELECT count(*) FROM asset`)
	}}
	s, err := backup.Create(t.Context(), backup.Parts{Store: w.Raw, Files: files}, filepath.Join(t.TempDir(), "backup"), manifest, quiet)
	if err != nil || s.Assets != 2 {
		t.Errorf("got %+v, %v", s, err)
	}
}
