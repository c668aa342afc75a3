package testdir

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestSweep(t *testing.T) {
	t.Parallel()
	const prefix = "fanfare-test-"
	root := t.TempDir()
	old, used := filepath.Join(root, prefix+"old"), filepath.Join(root, prefix+"used")
	for _, dir := range []string{old, used} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	unlock, err := occupy(used)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	long := time.Now().Add(-time.Hour)
	for _, dir := range []string{old, used} {
		if err := os.WriteFile(filepath.Join(dir, "log"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(dir, long, long); err != nil {
			t.Fatal(err)
		}
	}
	sweep(root, prefix)
	if _, err := os.Stat(old); !os.IsNotExist(err) {
		t.Errorf("the abandoned folder is still there: %v", err)
	}
	if _, err := os.Stat(used); err != nil {
		t.Errorf("the used folder is gone: %v", err)
	}
}
