package datadir

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestWritten compares a file with what it was, after everything that can happen
// to it.
func TestWritten(t *testing.T) {
	t.Parallel()
	before, later := time.Unix(1e9, 0), time.Unix(2e9, 0)
	for _, tt := range []struct {
		name, content string
		at            time.Time
		// same, holds and touched are the wanted results of the methods.
		same, holds, touched bool
	}{
		{"nothing happened", "headbody", before, true, true, true},
		{"another time", "headbody", later, false, true, true},
		{"an earlier time", "headbody", time.Unix(5e8, 0), false, true, true},
		{"another part", "HEADbody", later, false, false, false},
		{"shorter", "headbod", later, false, true, false},
		{"longer at the same time", "headbody+", before, false, true, false},
		{"empty", "", later, false, false, false},
	} {
		path := filepath.Join(t.TempDir(), "file")
		put := func(content string, at time.Time) {
			t.Helper()
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(path, at, at); err != nil {
				t.Fatal(err)
			}
		}
		put("headbody", before)
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		w, err := ReadWritten(f, Part{Length: 4}, Part{Offset: 100, Length: 4})
		if err != nil || string(w.Content()) != "head" {
			t.Fatalf("%s: read %q, %v", tt.name, w.Content(), err)
		}
		put(tt.content, tt.at)
		info, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		touched := w.Touched(info, f)
		if w.Unchanged(f) != tt.same || w.Same(info) != tt.same || w.SameContent(f) != tt.holds || (touched != nil) != tt.touched {
			t.Errorf("%s: unchanged %v, same %v, holds %v, touched %v", tt.name, w.Unchanged(f), w.Same(info), w.SameContent(f), touched != nil)
		}
		if touched != nil && !touched.Unchanged(f) {
			t.Errorf("%s: the new time is not known", tt.name)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		if !w.Unchanged(f) || !w.SameContent(f) {
			t.Errorf("%s: a file that cannot be read is said to be another one", tt.name)
		}
	}
}
