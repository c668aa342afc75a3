package store_test

import (
	"crypto/rand"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"fanfare/internal/ident"
	"fanfare/internal/search"
	"fanfare/internal/store"
	"fanfare/internal/store/sqlite"
)

// BenchmarkSearch searches a workspace with 100,000 campaigns, for a word of one
// of them, for a word of all, for two words of all, and for nothing.
func BenchmarkSearch(b *testing.B) {
	e, err := sqlite.Open(filepath.Join(b.TempDir(), "records.db"), sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	if _, err := store.Migrate(b.Context(), e, time.Now); err != nil {
		b.Fatal(err)
	}
	db, workspace := store.New(e, 0, time.Now, rand.Reader), ident.ID("wks_bench")
	const many = 100_000
	for at := 0; at < many; at += 1000 {
		err := e.Write(store.Across(b.Context()), func(tx store.Tx) error {
			for i := at; i < at+1000; i++ {
				name := fmt.Sprintf("bulk campaign %d", i)
				id := fmt.Sprintf("cmp_%026d", i)
				if _, err := tx.Exec(`INSERT INTO campaign (workspace_id, id, version, rev, shape, status, created_at, updated_at, name, delivery_status, doc) VALUES ($1, $2, 1, 0, 3, 'active', $3, $4, $5, 'delivering', '{}')`, string(workspace), id, i, i, name); err != nil {
					return err
				}
				for _, word := range search.Words(name) {
					if _, err := tx.Exec(`INSERT INTO word (workspace_id, kind, word, record_id) VALUES ($1, 'cmp', $2, $3)`, string(workspace), word, id); err != nil {
						return err
					}
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	for _, text := range []string{"49999", "campaign", "camp bul", "winter"} {
		b.Run(text, func(b *testing.B) {
			for b.Loop() {
				if _, err := db.Index().Candidates(b.Context(), workspace, search.Campaign, text, search.Words(text)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
