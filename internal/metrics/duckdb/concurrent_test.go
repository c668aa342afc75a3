package duckdb_test

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"testing"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/metrics/duckdb"
)

// balance is the sum of all clicks of batchTogether, always.
const balance = 1000

// batchTogether spreads the same clicks over other days, channels and sources.
func batchTogether(i int) *fact.Batch {
	b := &fact.Batch{Workspace: "wks_1"}
	b.Replace = []fact.Window{{Source: source, First: first, Last: first + 364}}
	n := i%7 + 2
	for k := range n {
		r := fact.Row{Source: source, Date: first + clock.Date((i*31+k*40)%365), Channel: "channel " + string(rune('a'+(i+k)%23))}
		share := int64(balance / n)
		if k == 0 {
			share += int64(balance % n)
		}
		r.Values.Set(fact.Clicks, share)
		b.Rows = append(b.Rows, r)
	}
	return b
}

// TestConcurrentReadsAndWrites writes, queries, dumps and sorts concurrently.
// Each query sees exactly one whole batch.
func TestConcurrentReadsAndWrites(t *testing.T) {
	t.Parallel()
	e := openFiles(t, t.TempDir())
	e.SumFrom(1)
	write(t, e, batchTogether(0))
	ctx, stop := context.WithCancel(t.Context())
	var group sync.WaitGroup
	for range 3 {
		group.Go(func() {
			for ctx.Err() == nil {
				if got := clicks(t, e); got != balance {
					t.Errorf("clicks: got %d want %d", got, balance)
				}
			}
		})
	}
	group.Go(func() {
		for ctx.Err() == nil {
			if err := e.Maintain(ctx); err != nil && !errors.Is(err, context.Canceled) {
				t.Errorf("maintain: %v", err)
			}
		}
	})
	group.Go(func() {
		for ctx.Err() == nil {
			dumpIsWhole(t, e)
		}
	})
	for i := range 15 {
		write(t, e, batchTogether(i+1))
	}
	stop()
	group.Wait()
}

func dumpIsWhole(t *testing.T, e *duckdb.Engine) {
	t.Helper()
	var dump bytes.Buffer
	if err := e.Dump(context.Background(), &dump); err != nil {
		t.Errorf("dump: %v", err)
		return
	}
	to := openFiles(t, t.TempDir())
	if err := to.Fill(context.Background(), &dump); err != nil {
		t.Errorf("fill: %v", err)
		return
	}
	if got := clicks(t, to); got != balance {
		t.Errorf("clicks of the dump: got %d want %d", got, balance)
	}
}
