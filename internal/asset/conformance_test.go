package asset_test

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"testing"
	"time"

	"fanfare/internal/asset"
	"fanfare/internal/asset/filestest"
)

// TestConformance checks that a folder does what every implementation must do.
func TestConformance(t *testing.T) {
	t.Parallel()
	filestest.Run(t, func(t *testing.T, now func() time.Time) filestest.Storage {
		t.Helper()
		dir := t.TempDir()
		f, err := asset.OpenFolder(dir, now, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		return filestest.Storage{Files: f, Replace: func(t *testing.T, sum string, b []byte) {
			t.Helper()
			if err := os.WriteFile(filepath.Join(dir, string(filestest.Home), sum[:2], sum), b, 0o600); err != nil {
				t.Fatal(err)
			}
		}}
	})
}
