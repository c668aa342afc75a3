package store_test

import (
	"crypto/rand"
	"path/filepath"
	"testing"

	"fanfare/internal/store"
	"fanfare/internal/store/sqlite"
)

// BenchmarkChangeCounter measures an audited change with and without the
// counter file.
func BenchmarkChangeCounter(b *testing.B) {
	for name, count := range map[string]bool{"without": false, "with": true} {
		b.Run(name, func(b *testing.B) {
			e, err := sqlite.Open(filepath.Join(b.TempDir(), "fanfare.db"), sqlite.Options{})
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { _ = e.Close() })
			db := store.New(e, 0, now, rand.Reader)
			if _, err := store.Migrate(b.Context(), e, now); err != nil {
				b.Fatal(err)
			}
			if count {
				if _, err := db.CountChanges(b.Context(), filepath.Join(b.TempDir(), "witness")); err != nil {
					b.Fatal(err)
				}
			}
			change := store.AuditOnly(db)
			for b.Loop() {
				if err := change(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
