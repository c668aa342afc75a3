package storetest

import (
	"fmt"
	"strings"
	"testing"

	"fanfare/internal/ident"
	"fanfare/internal/page"
)

// recordsListLarge lists records that are too large for one page. Each page
// ends before page.MaxBytes, and together they are the whole list. A record
// that is larger than that has its own page.
func recordsListLarge(t *testing.T, w *Fixture) {
	const most = 40
	ranking := map[ident.ID]int64{}
	for i := range most {
		c := w.Draft(fmt.Sprintf("Large %02d", i))
		c.Metadata["note"] = strings.Repeat("x", 100<<10)
		switch {
		case i == 20:
			c.Metadata["note"] = strings.Repeat("x", page.MaxBytes)
		case i%2 == 0:
			start := w.Now()
			c.Schedule.StartAt = &start
			ranking[c.ID] = int64(i)
		}
		w.Insert(c)
	}
	for _, sort := range []string{"name", "start_at", page.ByRanking} {
		q := page.Query{Limit: 100, Sort: sort, Ranking: ranking}
		seen, pages := map[string]bool{}, 0
		for ; q.After != nil || pages == 0; pages++ {
			p, err := w.DB.Campaigns().List(t.Context(), w.Workspace, q)
			w.must(err)
			size := 0
			for _, d := range p.Docs {
				size += len(d.JSON)
				seen[docName(t, d)] = true
			}
			if len(p.Docs) == 0 || size > page.MaxBytes && len(p.Docs) > 1 {
				t.Fatalf("%s: got a page of %d records with %d bytes", sort, len(p.Docs), size)
			}
			q.After = p.Next
		}
		if len(seen) != most || pages > 8 {
			t.Errorf("%s: got %d records on %d pages want %d on at most 8", sort, len(seen), pages, most)
		}
	}
}
