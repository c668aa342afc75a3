package store_test

import (
	"crypto/rand"
	"path/filepath"
	"testing"

	"fanfare/internal/store"
	"fanfare/internal/store/sqlite"
	"fanfare/internal/store/storetest"
)

// BenchmarkRead reads a record from the file, with and without a checksum.
// Without one, the document is validated as JSON instead.
func BenchmarkRead(b *testing.B) {
	for name, statement := range map[string]string{"checksum": "", "none": "UPDATE campaign SET checksum = NULL"} {
		b.Run(name, func(b *testing.B) {
			e, err := sqlite.Open(filepath.Join(b.TempDir(), "fanfare.db"), sqlite.Options{})
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { _ = e.Close() })
			if _, err := store.Migrate(b.Context(), e, now); err != nil {
				b.Fatal(err)
			}
			db := store.New(e, 0, now, rand.Reader)
			ids, err := storetest.Fill(b.Context(), e, "wks_1", storetest.Model(), 1000, 1000, now(), rand.Reader)
			if err != nil {
				b.Fatal(err)
			}
			if err := e.Write(store.Across(b.Context()), func(tx store.Tx) error { return tx.Script(statement) }); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := db.Campaigns().Doc(b.Context(), "wks_1", ids[0]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkChecksum measures the checksum of a record alone.
func BenchmarkChecksum(b *testing.B) {
	doc := storetest.Model().JSON
	b.SetBytes(int64(len(doc)))
	for b.Loop() {
		store.Checksum(doc)
	}
}
