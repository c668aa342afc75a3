package datadir

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestOpenMakesAPrivateFolder(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a", "b c")
	for range 2 {
		d, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if d.Path() != path || d.Path("tls", "ca.pem") != filepath.Join(path, "tls", "ca.pem") {
			t.Errorf("got %s", d.Path())
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("got %v, %v", info.Mode(), err)
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, open := filepath.Join(dir, "file"), filepath.Join(dir, "open")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(open, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o770); err != nil {
		t.Fatal(err)
	}
	for path, says := range map[string]string{
		"": "give one with --data", file: "is a file", filepath.Join(file, "below"): "", open: "chmod go-w " + open,
		filepath.Join(dir, strings.Repeat("long", 100)): "choose another with --data",
	} {
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: got %v, want %q in it", path, err, says)
		}
	}
}

// TestUnsafeReasons uses the file system numbers of Linux.
func TestUnsafeReasons(t *testing.T) {
	t.Parallel()
	const ext4, tmpfs, nfs, cifs = 0xef53, 0x01021994, 0x6969, -0xacb2be
	for _, tt := range []struct {
		name string
		mode os.FileMode
		kind int64
		says []string
	}{
		{"private on a disk", 0o700, ext4, nil},
		{"readable on a disk", 0o755, ext4, nil},
		{"in memory", 0o700, tmpfs, nil},
		{"unknown", 0o700, 0, nil},
		{"writable by the group", 0o720, ext4, []string{"mode 0720"}},
		{"writable by all", 0o702, ext4, []string{"chmod go-w /data"}},
		{"NFS", 0o700, nfs, []string{"is on NFS"}},
		{"CIFS as a negative number", 0o700, cifs, []string{"is on CIFS"}},
		{"both", 0o777, nfs, []string{"chmod go-w", "choose a local disk with --data, or use --store postgres://"}},
	} {
		got := unsafeReasons("/data", tt.mode, tt.kind)
		if len(got) != len(tt.says) {
			t.Errorf("%s: got %v want %d faults", tt.name, got, len(tt.says))
			continue
		}
		for i, text := range tt.says {
			if !strings.Contains(got[i].Error(), text) {
				t.Errorf("%s: got %v, want %q in it", tt.name, got[i], text)
			}
		}
	}
}

func TestLock(t *testing.T) {
	t.Parallel()
	path := t.TempDir()
	var dirs [2]*Dir
	for i := range dirs {
		var err error
		if dirs[i], err = Open(path); err != nil {
			t.Fatal(err)
		}
	}
	for i := range dirs {
		mine, other := dirs[i], dirs[1-i]
		if err := mine.Lock(); err != nil {
			t.Fatal(err)
		}
		err := other.Lock()
		if !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), "held by process "+strconv.Itoa(os.Getpid())+";") {
			t.Errorf("got %v", err)
		}
		other.Unlock() // without having the lock
		if err := other.Lock(); !errors.Is(err, ErrLocked) {
			t.Errorf("got %v after an unlock by somebody else", err)
		}
		mine.Unlock()
		mine.Unlock()
	}
	if info, err := os.Stat(filepath.Join(path, "lock")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v", info.Mode(), err)
	}
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	if err := dirs[0].Lock(); err == nil || errors.Is(err, ErrLocked) {
		t.Errorf("got %v for a folder that is gone", err)
	}
}

func TestFree(t *testing.T) {
	t.Parallel()
	d, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if free, share, err := d.Free(); err != nil || free == 0 || share <= 0 || share > 1 {
		t.Errorf("got %d, %g, %v", free, share, err)
	}
	if err := os.RemoveAll(d.Path()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := d.Free(); err == nil {
		t.Error("got no error for a folder that is gone")
	}
}

// TestRetire checks that files that are renamed together get the same suffix,
// and that no file is replaced.
func TestRetire(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if list, err := Retire(dir, "a", "b"); err != nil || list != nil {
		t.Errorf("got %v, %v where no file exists", list, err)
	}
	put("b.old", "first")
	put("a", "a")
	put("b", "b")
	list, err := Retire(dir, "a", "b", "c")
	want := []Retired{{filepath.Join(dir, "a"), filepath.Join(dir, "a.old.2")}, {filepath.Join(dir, "b"), filepath.Join(dir, "b.old.2")}}
	if err != nil || !slices.Equal(list, want) {
		t.Errorf("got %v, %v want %v", list, err, want)
	}
	for name, text := range map[string]string{"b.old": "first", "a.old.2": "a", "b.old.2": "b"} {
		if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(b) != text {
			t.Errorf("%s is %q, %v", name, b, err)
		}
	}
}
