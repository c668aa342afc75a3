package analytics

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
)

// TestFactsChangeBetweenPlans checks that all parts of an answer see the same
// facts.
func TestFactsChangeBetweenPlans(t *testing.T) {
	t.Parallel()
	m := smallFacts(t)
	written := make(chan struct{})
	var once sync.Once
	m.after = func(p *Plan) {
		if p.Granularity == Day {
			once.Do(func() {
				m.generation++
				m.rows = append(slices.Clone(m.rows), m.rows[0])
				close(written)
			})
		}
	}
	m.before = func(_ context.Context, p *Plan) error {
		if p.Granularity == Whole {
			<-written
		}
		return nil
	}
	got := runQuery(t, m, october(Query{Metrics: []string{"impressions", "reach"}, Granularity: new("day")}))
	var sum int64
	for _, r := range got.Data {
		n, err := r.Metrics["impressions"].Int64()
		if err != nil {
			t.Fatal(err)
		}
		sum += n
	}
	if total, err := got.Meta.Totals.Metrics["impressions"].Int64(); err != nil || total != 2650 || sum != total {
		t.Errorf("got %d in rows and %d in totals, %v want 2650 in both", sum, total, err)
	}
}

func cursorCode(err error) string {
	var f *fault.Error
	if !errors.As(err, &f) || f.Code != fault.InvalidCursor || len(f.Details) != 1 || f.Details[0].Field != "cursor" {
		return fmt.Sprint(err)
	}
	return f.Details[0].Code
}

func TestCursors(t *testing.T) {
	t.Parallel()
	m := smallFacts(t)
	s := m.service()
	query := october(Query{Metrics: []string{"clicks"}, Granularity: new("day"), Limit: new(int64(3))})
	first, err := s.run(t.Context(), wks, query)
	if err != nil || first.Next() == "" {
		t.Fatalf("got %v, %q want a cursor", err, first.Next())
	}
	cursor := new(first.Next())
	bare, err := s.run(t.Context(), wks, &Query{Cursor: cursor, Limit: new(int64(4))})
	if err != nil || bare.Next() != "" || len(bare.rows) != 4 {
		t.Fatalf("got %v, %d rows want the other 4", err, len(bare.rows))
	}
	again := *query
	again.Limit, again.Cursor = new(int64(2)), cursor
	if same, err := s.run(t.Context(), wks, &again); err != nil || len(same.rows) != 2 {
		t.Errorf("the same query with another limit: got %v", err)
	}
	other := *query
	other.Metrics, other.Cursor = []string{"spend"}, cursor
	if _, err := s.run(t.Context(), wks, &other); cursorCode(err) != "cursor_query_mismatch" {
		t.Errorf("another query: got %v", err)
	}
	foreign := Workspace{ID: ident.Make(ident.Workspace, noon, 99), Timezone: "UTC", Currency: "EUR"}
	if _, err := s.run(t.Context(), foreign, &Query{Cursor: cursor}); cursorCode(err) != "cursor_malformed" {
		t.Errorf("another workspace: got %v", err)
	}
	if _, err := s.Report(t.Context(), wks, &Params{Kind: KindCampaigns, Cursor: cursor}); cursorCode(err) != "cursor_malformed" {
		t.Errorf("another operation: got %v", err)
	}
	for _, broken := range []string{"", "x", *cursor + "00", s.Seal(wks.ID, []byte("\nres_1\n-1\nx"))} {
		if _, err := s.run(t.Context(), wks, &Query{Cursor: &broken}); cursorCode(err) == "" || !fault.Is(err, fault.InvalidCursor) && broken != *cursor+"00" {
			t.Errorf("%q: got %v want invalid_cursor", broken, err)
		}
	}
	if _, err := s.run(t.Context(), wks, &Query{Cursor: cursor, Limit: new(int64(0))}); !fault.Is(err, fault.ValidationFailed) {
		t.Errorf("limit 0: got %v want validation_failed", err)
	}
	m.now = m.now.Add(resultTTL)
	if _, err := s.run(t.Context(), wks, &Query{Cursor: cursor}); cursorCode(err) != "cursor_expired" {
		t.Errorf("expired: got %v", err)
	}
	if k := m.stored[first.storedID(t, s)]; k.ExpiresAt != clock.At(noon.Add(15*time.Minute)) || len(k.Rows) != 7 {
		t.Errorf("got %+v want 7 rows for 15 minutes", k)
	}
}

// storedID is the id of the result behind an answer's cursor.
func (a *Answer) storedID(t *testing.T, s *Service) ident.ID {
	t.Helper()
	plain, _ := s.Open(wks.ID, a.next)
	mark, ok := parseCursorState(plain)
	if !ok {
		t.Fatalf("got %q want a bookmark", plain)
	}
	return mark.id
}

// TestCatchUpForRecords wants the mirror of records to be updated for queries
// that use records, and only for them: the update waits for writes of others.
func TestCatchUpForRecords(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		caughtUp := 0
		s := smallFacts(t).service()
		s.Catchup = func(context.Context, ident.ID) error { caughtUp++; return nil }
		campaigns := &Filter{Field: "campaign_status", Op: string(Equal), Values: []Scalar{{Text: "active"}}}
		for _, tt := range []struct {
			query Query
			want  int
		}{
			{Query{Metrics: []string{"spend"}}, 0},
			{Query{Metrics: []string{"spend"}, Dimensions: []string{"channel", "connection_id"}}, 0},
			{Query{Metrics: []string{"spend"}, Dimensions: []string{"creative_id"}}, 1},
			{Query{Metrics: []string{"spend"}, Dimensions: []string{"tag"}}, 1},
			{Query{Metrics: []string{"spend"}, Filters: &Filter{Not: campaigns}}, 1},
		} {
			caughtUp = 0
			if _, err := s.run(t.Context(), wks, october(tt.query)); err != nil || caughtUp != tt.want {
				t.Errorf("%+v: got %d updates, %v want %d", tt.query, caughtUp, err, tt.want)
			}
		}
		s.Catchup = func(ctx context.Context, _ ident.ID) error {
			<-ctx.Done()
			return ctx.Err()
		}
		if _, err := s.run(t.Context(), wks, october(Query{Metrics: []string{"spend"}, Dimensions: []string{"campaign_id"}})); !fault.Is(err, fault.Unavailable) {
			t.Errorf("behind a write that does not end: got %v want unavailable", err)
		}
	})
}
