package seal_test

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"fanfare/internal/seal"
	"fanfare/internal/secret"
)

func TestCreate(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "keyring")
	r, created, err := seal.OpenOrCreate(path, rand.Reader)
	if err != nil || !created {
		t.Fatalf("got %v, %v want a new keyring", created, err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode(); got != 0o600 {
		t.Errorf("mode: got %v want 0600", got)
	}
	again, created, err := seal.OpenOrCreate(path, rand.Reader)
	if err != nil || created || again.Active() != r.Active() {
		t.Errorf("second time: got created %v, %v want the same keyring", created, err)
	}
	if _, err := again.Add(); err != nil {
		t.Fatal(err)
	}
	if info, err = os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("mode after a change: got %v, %v want 0600", info.Mode(), err)
	}
	reread, err := seal.Read(path, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(reread.IDs(), " "), strings.Join(again.IDs(), " "); got != want || len(reread.IDs()) != 2 || !reread.Has(r.Active()) {
		t.Errorf("keys on disk: got %s want %s", got, want)
	}
	left, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(left) != 1 {
		t.Errorf("files: got %v, %v want only the keyring", left, err)
	}
}

// TestConcurrentCreate runs many first starts on one file.
func TestConcurrentCreate(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "keyring")
	var (
		wg     sync.WaitGroup
		mu     sync.Mutex
		made   int
		active = map[string]bool{}
	)
	for range 16 {
		wg.Go(func() {
			r, created, err := seal.OpenOrCreate(path, rand.Reader)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
				return
			}
			if created {
				made++
			}
			active[r.Active()] = true
		})
	}
	wg.Wait()
	if made != 1 || len(active) != 1 {
		t.Errorf("got %d keyrings with %d keys want one with one", made, len(active))
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	whole := newFile(t)
	text, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	r, err := seal.Read(whole, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	id := r.Active()
	key := func(b []byte) string {
		return `{"active":"` + id + `","keys":{"` + id + `":"` + base64.StdEncoding.EncodeToString(b) + `"}}`
	}
	good := make([]byte, 32)
	if _, err := rand.Read(good); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, text string
		mode       os.FileMode
		want       string
	}{
		{"readable by the group", string(text), 0o640, "chmod 600"},
		{"readable by others", string(text), 0o604, "chmod 600"},
		{"writable by others", string(text), 0o602, "chmod 600"},
		{"empty", "", 0o600, "malformed"},
		{"not JSON", "hello", 0o600, "malformed"},
		{"cut", string(text[:len(text)/2]), 0o600, "malformed"},
		{"two texts", string(text) + string(text), 0o600, "malformed"},
		{"unknown member", strings.Replace(string(text), "{", `{"x":1,`, 1), 0o600, "malformed"},
		{"huge", string(text) + strings.Repeat(" ", 64<<10), 0o600, "malformed"},
		{"no keys", `{"active":"` + id + `","keys":{}}`, 0o600, "missing"},
		{"other active", strings.Replace(string(text), id, "0000000000000000", 1), 0o600, "missing"},
		{"short key", key(good[:31]), 0o600, "31 bytes"},
		{"long key", key(append(good[:32:32], 1)), 0o600, "33 bytes"},
		{"zeros", key(make([]byte, 32)), 0o600, "not random"},
		{"one byte", key(bytes.Repeat([]byte{7}, 32)), 0o600, "not random"},
		{"repeated half", key(append(good[:16:16], good[:16]...)), 0o600, "not random"},
		{"few letters", key([]byte(strings.Repeat("password", 4))), 0o600, "not random"},
		{"another key under the id", key(good), 0o600, "its id"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "keyring")
			if err := os.WriteFile(path, []byte(test.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, test.mode); err != nil {
				t.Fatal(err)
			}
			_, err := seal.Read(path, rand.Reader)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v want an error with %q", err, test.want)
			}
			if _, _, err := seal.OpenOrCreate(path, rand.Reader); err == nil {
				t.Error("a bad keyring was taken or replaced by OpenOrCreate")
			}
			if left, err := os.ReadFile(path); err != nil || string(left) != test.text {
				t.Errorf("the refused file was changed: %v", err)
			}
		})
	}
	if _, err := seal.Read(t.TempDir(), rand.Reader); err == nil {
		t.Error("a folder: got nothing want an error")
	}
}

func newFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "keyring")
	if _, _, err := seal.OpenOrCreate(path, rand.Reader); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestBadRandomness(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "keyring")
	if _, _, err := seal.OpenOrCreate(path, bytes.NewReader(make([]byte, 100))); err == nil {
		t.Error("a key of zeros was taken")
	}
	if _, _, err := seal.OpenOrCreate(path, iotest.ErrReader(os.ErrClosed)); err == nil {
		t.Error("a key was made without randomness")
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("got %v want no file", err)
	}
	r, err := seal.Read(newFile(t), iotest.ErrReader(os.ErrClosed))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Seal(testContext, secret.New("x")); err == nil {
		t.Error("a secret was sealed without randomness")
	}
	if _, err := r.Add(); err == nil {
		t.Error("a key was added without randomness")
	}
}
