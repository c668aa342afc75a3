package sqlite

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"fanfare/internal/store"
)

const (
	benchRecords = 100_000
	benchSchema  = `
CREATE TABLE record (workspace TEXT NOT NULL, id TEXT NOT NULL, status TEXT NOT NULL, created_at BIGINT NOT NULL,
	version BIGINT NOT NULL, doc TEXT NOT NULL, PRIMARY KEY (workspace, id));
CREATE INDEX record_created ON record (workspace, created_at DESC, id DESC);
CREATE TABLE outbox (id BIGINT PRIMARY KEY, workspace TEXT NOT NULL, body TEXT NOT NULL);`
	benchInsert = "INSERT INTO record (workspace, id, status, created_at, version, doc) VALUES ($1, $2, $3, $4, $5, $6)"
	benchOutbox = "INSERT INTO outbox (id, workspace, body) VALUES ($1, $2, $3)"
	benchGet    = "SELECT doc FROM record WHERE workspace = $1 AND id = $2"
	benchList   = "SELECT doc, id, created_at FROM record WHERE workspace = $1 AND (created_at, id) < ($2, $3)" +
		" ORDER BY created_at DESC, id DESC LIMIT $4"
)

var benchDoc = strings.Repeat("d", 733)

func benchID(n int) string { return fmt.Sprintf("cmp_%022d", n) }

func benchEngine(b *testing.B, opt Options, records int) *Engine {
	b.Helper()
	e := open(b, filepath.Join(b.TempDir(), "records.db"), opt)
	err := e.Write(b.Context(), func(tx store.Tx) error {
		if err := tx.Script(benchSchema); err != nil {
			return err
		}
		for i := range records {
			if _, err := tx.Exec(benchInsert, "ws_1", benchID(i), "active", int64(i), 1, benchDoc); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return e
}

func benchReads(b *testing.B, query string, rows int, args func() []any) {
	e := benchEngine(b, Options{}, benchRecords)
	for _, clients := range []int{1, 32} {
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
			b.ReportAllocs()
			benchParallel(b, clients, func(ctx context.Context) error {
				r, err := e.Query(ctx, query, args()...)
				if err != nil {
					return err
				}
				n := 0
				for r.Next() {
					r.Bytes()
					if r.Columns() > 1 {
						r.Bytes()
						r.Int()
					}
					n++
				}
				if n != rows {
					return fmt.Errorf("got %d rows want %d", n, rows)
				}
				return nil
			})
		})
	}
}

// benchParallel spreads b.N calls over the clients, under a context that can
// be canceled, as requests have.
func benchParallel(b *testing.B, clients int, call func(ctx context.Context) error) {
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	var left atomic.Int64
	left.Store(int64(b.N))
	var group sync.WaitGroup
	b.ResetTimer()
	for range clients {
		group.Go(func() {
			for left.Add(-1) >= 0 {
				if err := call(ctx); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "op/s")
}

// BenchmarkGet reads one document of 733 bytes, any of 100,000.
func BenchmarkGet(b *testing.B) {
	benchReads(b, benchGet, 1, func() []any { return []any{"ws_1", benchID(rand.IntN(benchRecords))} })
}

// BenchmarkList20 reads 20 documents from any depth of a list of 100,000.
func BenchmarkList20(b *testing.B) {
	benchReads(b, benchList, 20, func() []any {
		n := 20 + rand.IntN(benchRecords-20)
		return []any{"ws_1", int64(n), benchID(n), 20}
	})
}

func benchWrites(b *testing.B, opt Options, clients int) {
	e := benchEngine(b, opt, 1000)
	var last atomic.Int64
	last.Store(1000)
	benchParallel(b, clients, func(ctx context.Context) error {
		n := last.Add(1)
		id := benchID(int(n))
		return e.Write(ctx, func(tx store.Tx) error {
			if _, err := tx.Exec(benchInsert, "ws_1", id, "draft", n, 1, benchDoc); err != nil {
				return err
			}
			_, err := tx.Exec(benchOutbox, n, "ws_1", `{"type":"campaign.created"}`)
			return err
		})
	})
}

// BenchmarkWriteGroup64 commits a record and an event for each of 64 clients,
// durably, together.
func BenchmarkWriteGroup64(b *testing.B) { benchWrites(b, Options{}, 64) }

// BenchmarkWriteSingle64 is the same with a commit for each.
func BenchmarkWriteSingle64(b *testing.B) { benchWrites(b, Options{MaxBatch: 1}, 64) }

// BenchmarkWriteSingle is one client alone.
func BenchmarkWriteSingle(b *testing.B) { benchWrites(b, Options{}, 1) }

// BenchmarkSyncFloor is the least a lone durable commit can cost: 16 KiB, what
// SQLite's log takes for one, appended and synced.
func BenchmarkSyncFloor(b *testing.B) {
	f, err := os.Create(filepath.Join(b.TempDir(), "log"))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	page := make([]byte, 16<<10)
	for b.Loop() {
		if _, err := f.Write(page); err != nil {
			b.Fatal(err)
		}
		if err := datasync(f); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "op/s")
}
