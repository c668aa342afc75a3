package asset

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fanfare/internal/ident"
)

func newFolder(t *testing.T, now *time.Time) (*Folder, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "assets")
	f, err := OpenFolder(dir, func() time.Time { return *now }, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f, dir
}

func sumOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func content(t *testing.T, f *Folder, sum string) string {
	t.Helper()
	r, size, err := f.Open(home, sum)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r)
	if err = errors.Join(err, r.Close()); err != nil || int64(len(b)) != size {
		t.Fatalf("got %d bytes of %d, %v", len(b), size, err)
	}
	return string(b)
}

// TestFolder checks how a file is stored. TestConformance checks what it does.
func TestFolder(t *testing.T) {
	t.Parallel()
	now := noon
	f, dir := newFolder(t, &now)
	sum := sumOf("picture")
	for range 2 {
		if err := f.Put(home, sum, []byte("picture")); err != nil {
			t.Fatal(err)
		}
		now = now.Add(time.Hour)
	}
	info, err := os.Stat(filepath.Join(dir, string(home), sum[:2], sum))
	if err != nil || info.Mode().Perm() != 0o600 || !info.ModTime().Equal(noon.Add(time.Hour)) {
		t.Errorf("got %v, %v, %v", info.Mode(), info.ModTime(), err)
	}
	if list := files(t, dir); len(list) != 1 {
		t.Errorf("got %v", list)
	}
}

// TestFolderEscape tries to get out of the folder by links.
func TestFolderEscape(t *testing.T) {
	t.Parallel()
	now := noon
	f, dir := newFolder(t, &now)
	sum := sumOf("secret")
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, sum), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.MkdirAll(filepath.Join(dir, string(home)), 0o700), os.Symlink(outside, filepath.Join(dir, string(home), sum[:2]))); err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.Open(home, sum); err == nil {
		t.Error("got a file through a link that leads outside")
	}
	if err := f.Put(home, sum, []byte("secret")); err == nil {
		t.Error("got a file written through a link that leads outside")
	}
}

func TestFolderFails(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenFolder(file, time.Now, rand.Reader); err == nil || !strings.Contains(err.Error(), "--assets") {
		t.Errorf("got %v, want the fix in it", err)
	}
	now := noon
	f, dir := newFolder(t, &now)
	f.random = strings.NewReader("")
	if err := f.Put(home, sumOf("x"), []byte("x")); err == nil {
		t.Error("got a file with a name that is not its own")
	}
	if list := files(t, dir); len(list) != 0 {
		t.Errorf("got %v left", list)
	}
}

// TestListOldFiles lists files after crashes, and removes what they left.
func TestListOldFiles(t *testing.T) {
	t.Parallel()
	now := noon
	f, dir := newFolder(t, &now)
	old, young, left := sumOf("old"), sumOf("young"), sumOf("left")
	for text, sum := range map[string]string{"old": old, "young": young, "left": left} {
		if err := f.Put(home, sum, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	place := func(sum string) string { return filepath.Join(dir, string(home), sum[:2], sum) }
	// Files that a killed process has half written, or moved away.
	half := place(old) + putMark + "00"
	if err := errors.Join(os.WriteFile(half, []byte("ol"), 0o600), os.Chtimes(half, noon, noon), os.Rename(place(left), place(left)+awayMark+"00"),
		os.WriteFile(filepath.Join(dir, "README"), nil, 0o600), os.Chtimes(filepath.Join(dir, "README"), noon, noon)); err != nil {
		t.Fatal(err)
	}
	now = now.Add(48 * time.Hour)
	if err := f.Touch(home, young); err != nil {
		t.Fatal(err)
	}
	before := now.Add(-24 * time.Hour)
	seen := func() map[string]bool {
		t.Helper()
		found := map[string]bool{}
		err := f.Old(context.Background(), before, func(w ident.ID, sum string) error { found[string(w)+sum] = true; return nil })
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	seen()
	got := seen()
	if len(got) != 2 || !got[string(home)+old] || !got[string(home)+left] {
		t.Errorf("got %v want old and left", got)
	}
	if _, err := os.Stat(half); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the half written file: got %v", err)
	}
	for _, sum := range []string{old, young} {
		if err := f.Remove(home, sum, before); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := f.Open(home, old); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the removed file: got %v", err)
	}
	if content(t, f, young) != "young" || content(t, f, left) != "left" {
		t.Error("the others have changed")
	}
}
