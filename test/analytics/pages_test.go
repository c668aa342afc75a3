package analytics_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestDrillPages reads pages while data is written: all pages together are one
// answer, as of the first page.
func TestDrillPages(t *testing.T) {
	t.Parallel()
	g := newTestWorkspace(t, seededRand(t))
	s := &dataStates{list: []*referenceData{g.clone()}}
	stop := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() { g.keepWriting(s, stop) })
	// The writer uses the random source now, so queries are fixed.
	rounds := queriesPerLaw() / 2
	for i := range rounds {
		q := &testQuery{
			Metrics: []string{"spend", "clicks", "ctr"}, Dimensions: [][]string{{"campaign_name", "channel"}, {"account_id", "weekday"}, {"campaign_id", "creative_id"}}[i%3],
			DateRange: &period{Preset: "last_90_days"}, Currency: "EUR", Limit: 1 + i%7,
		}
		rows, from, to := g.readPages(q, s)
		if !slices.ContainsFunc(s.between(from, to), func(b *referenceData) bool { return len(rowDifferences(q, rows, b.evaluate(q).rows)) == 0 }) {
			b := s.between(from, to)
			body, _ := json.Marshal(q)
			t.Errorf("%s: got rows of none of %d states; against the last:\n  %s", body, len(b), strings.Join(rowDifferences(q, rows, b[len(b)-1].evaluate(q).rows), "\n  "))
		}
	}
	close(stop)
	writer.Wait()
	t.Logf("%d answers in pages during %d writes", rounds, len(s.list))
}

// dataStates are the successive states of the workspace.
type dataStates struct {
	mu   sync.Mutex
	list []*referenceData
	// committed is how many of them are certainly stored.
	committed int
}

func (s *dataStates) begin(b *referenceData) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, b)
}

func (s *dataStates) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.committed = len(s.list) - 1
}

// bounds returns the last state that is certainly stored and the last that may
// be.
func (s *dataStates) bounds() (sure, maybe int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.committed, len(s.list) - 1
}

func (s *dataStates) between(from, to int) []*referenceData {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.list[from : to+1])
}

// keepWriting replaces whole weeks of one source until stop is closed.
func (g *testWorkspace) keepWriting(s *dataStates, stop chan struct{}) {
	f := &g.feeds[0]
	for {
		select {
		case <-stop:
			return
		default:
		}
		first := g.today - day(7+g.r.IntN(30))
		days := span{first, first + 6}
		rows := g.randomRows(f, 40, func() day { return days.first + day(g.r.IntN(7)) })
		next := g.clone()
		next.replaceRows(f.id, f.account, days, rows)
		s.begin(next)
		g.post(f, rows, fmt.Sprintf("&mode=replace&start_date=%s&end_date=%s", days.first, days.last))
		*g.referenceData = *next
		s.end()
	}
}

// readPages reads all pages, and returns the states that the first may have.
func (g *testWorkspace) readPages(q *testQuery, s *dataStates) (rows []queryReplyRow, from, to int) {
	g.t.Helper()
	from, _ = s.bounds()
	page := readReply(g.t, g.sendQuery(q).Want(200).Body)
	_, to = s.bounds()
	for {
		if page.HasMore != (page.NextCursor != nil) || page.HasMore && len(page.Data) != q.Limit {
			g.t.Errorf("page of %d: got %d rows, has_more %v", q.Limit, len(page.Data), page.HasMore)
		}
		rows = append(rows, page.Data...)
		if page.NextCursor == nil {
			return rows, from, to
		}
		more := *q
		more.Cursor = *page.NextCursor
		page = readReply(g.t, g.sendQuery(&more).Want(200).Body)
	}
}

// TestCursors checks valid and invalid uses of cursors.
func TestCursors(t *testing.T) {
	t.Parallel()
	w := startService(t)
	c := w.Tenant("enterprise")
	c.Do("POST", "/v1/ingest/metrics", `[{"date":"2026-11-01","channel":"search","clicks":3},{"date":"2026-11-01","channel":"email","clicks":2},{"date":"2026-11-01","channel":"sms","clicks":1}]`).Want(200)
	const body = `{"metrics":["clicks"],"dimensions":["channel"],"limit":1%s}`
	first := readReply(t, c.Do("POST", "/v1/analytics/query", fmt.Sprintf(body, "")).Want(200).Body)
	if first.NextCursor == nil {
		t.Fatal("got no cursor, want one")
	}
	cursor := `,"cursor":"` + *first.NextCursor + `"`
	second := readReply(t, c.Do("POST", "/v1/analytics/query", fmt.Sprintf(body, cursor)).Want(200).Body)
	if got := *second.Data[0].Dimensions["channel"]; got != "email" {
		t.Errorf("second page: got %s want email", got)
	}
	all := readReply(t, c.Do("POST", "/v1/analytics/query", fmt.Sprintf(`{"metrics":["clicks"],"dimensions":["channel"],"limit":10%s}`, cursor)).Want(200).Body)
	if len(all.Data) != 2 || all.HasMore {
		t.Errorf("a longer second page: got %d rows, %v want 2 and no more", len(all.Data), all.HasMore)
	}
	for name, bad := range map[string]string{
		"another query":    `{"metrics":["clicks"],"dimensions":["weekday"],"limit":1` + cursor + `}`,
		"another filter":   `{"metrics":["clicks"],"dimensions":["channel"],"filters":{"field":"channel","op":"ne","values":["sms"]},"limit":1` + cursor + `}`,
		"no cursor":        `{"metrics":["clicks"],"dimensions":["channel"],"limit":1,"cursor":"abc"}`,
		"half of a cursor": `{"metrics":["clicks"],"dimensions":["channel"],"limit":1` + strings.Replace(cursor, (*first.NextCursor)[:9], "", 1) + `}`,
	} {
		if e := c.Do("POST", "/v1/analytics/query", bad).WantError(400, "invalid_cursor"); len(e.Details) != 1 || e.Details[0].Field != "cursor" {
			t.Errorf("%s: got %+v want the cursor named", name, e.Details)
		}
	}
	w.Tenant("enterprise").Do("POST", "/v1/analytics/query", fmt.Sprintf(body, cursor)).WantError(400, "invalid_cursor")
	w.Clock.Advance(16 * time.Minute)
	c.Do("POST", "/v1/analytics/query", fmt.Sprintf(body, cursor)).WantError(400, "invalid_cursor")
}
