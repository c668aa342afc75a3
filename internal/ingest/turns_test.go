package ingest_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"fanfare/internal/fact"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/ingest"
	"fanfare/internal/record"
)

// heldFacts are facts whose writes end when the test ends, except those of one
// workspace.
type heldFacts struct {
	facts
	free ident.ID
	end  chan struct{}
}

func (h heldFacts) Write(ctx context.Context, b *fact.Batch) error {
	if b.Workspace != h.free {
		<-h.end
	}
	return h.facts.Write(ctx, b)
}

func causeOf(workspace ident.ID) record.Cause {
	c := cause
	c.Workspace = workspace
	return c
}

// TestFeedsTakeTurns checks that one workspace never uses all places of calls
// that send rows, that too many of its calls are refused, and that a call
// without a place gets a time to retry.
func TestFeedsTakeTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newFakeDeps(t)
		end := make(chan struct{})
		s := ingest.New(ingest.Deps{
			Facts: heldFacts{facts{w}, "wks_one", end}, Sources: w, Records: w, Imports: imports{w}, Files: files{w}, Parquet: parquet{w}, Now: w.clock, Random: w,
		})
		send := func(workspace ident.ID) error {
			_, err := s.Ingest(t.Context(), causeOf(workspace), ingest.Feed{Body: []byte(oneRow), Defaults: home})
			return err
		}
		flood := func(workspace ident.ID, n int) {
			for range n {
				go func() {
					if err := send(workspace); err != nil && !fault.Is(err, fault.Unavailable) {
						t.Errorf("%s: %v", workspace, err)
					}
				}()
				synctest.Wait()
			}
		}
		flood("wks_many", 32)
		if err := send("wks_many"); !fault.Is(err, fault.RateLimitExceeded) {
			t.Errorf("got %v want rate_limit_exceeded", err)
		}
		if err := send("wks_one"); err != nil {
			t.Errorf("beside one busy workspace: got %v want success", err)
		}
		flood("wks_more", 1)
		if err := send("wks_one"); !fault.Is(err, fault.Unavailable) {
			t.Errorf("without a place: got %v want unavailable", err)
		}
		close(end)
		synctest.Wait()
		if err := send("wks_one"); err != nil {
			t.Errorf("afterwards: got %v want success", err)
		}
	})
}

// TestSmallFeeds wants a call with few rows not to wait for calls with many, also
// if these have all places.
func TestSmallFeeds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newFakeDeps(t)
		end := make(chan struct{})
		s := ingest.New(ingest.Deps{
			Facts: heldFacts{facts{w}, "wks_one", end}, Sources: w, Records: w, Imports: imports{w}, Files: files{w}, Parquet: parquet{w}, Now: w.clock, Random: w,
		})
		large := []byte(oneRow + strings.Repeat(" ", 1<<20))
		send := func(workspace ident.ID, body []byte) error {
			_, err := s.Ingest(t.Context(), causeOf(workspace), ingest.Feed{Body: body, Defaults: home})
			return err
		}
		for _, workspace := range []ident.ID{"wks_many", "wks_more"} {
			for range 32 {
				go func() {
					if err := send(workspace, large); err != nil && !fault.Is(err, fault.Unavailable) {
						t.Errorf("%s: %v", workspace, err)
					}
				}()
				synctest.Wait()
			}
		}
		if err := send("wks_one", []byte(oneRow)); err != nil {
			t.Errorf("few rows: got %v want success", err)
		}
		if err := send("wks_one", large); !fault.Is(err, fault.Unavailable) {
			t.Errorf("many rows: got %v want unavailable", err)
		}
		close(end)
		synctest.Wait()
	})
}

// TestFilesTakeTurns checks that a small file does not wait for a large one of
// another workspace, and that a large one gets a time to retry.
func TestFilesTakeTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newFakeDeps(t)
		end := make(chan struct{})
		w.parquet = func(_ []byte, each func([]string, [][]string) error) error {
			<-end
			return each([]string{"date", "clicks"}, [][]string{{"2026-11-14", "1"}})
		}
		large := ingest.Upload{Name: "large.parquet", Bytes: []byte("PAR1 a bPAR1"), Defaults: home}
		go func() {
			if _, err := w.Upload(t.Context(), causeOf("wks_many"), large); err != nil {
				t.Errorf("the first large file: %v", err)
			}
		}()
		synctest.Wait()
		if _, err := w.Upload(t.Context(), causeOf("wks_one"), ingest.Upload{Name: "small.csv", Bytes: []byte("date,clicks\n2026-11-14,1\n"), Defaults: home}); err != nil {
			t.Errorf("a small file: got %v want success", err)
		}
		if _, err := w.Upload(t.Context(), causeOf("wks_one"), large); !fault.Is(err, fault.Unavailable) {
			t.Errorf("a large file: got %v want unavailable", err)
		}
		close(end)
		synctest.Wait()
	})
}
