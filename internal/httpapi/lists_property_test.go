package httpapi_test

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"fanfare/internal/account"
	"fanfare/internal/fanfaretest"
	"fanfare/internal/httpapi"
)

// walk reads a list page by page and returns the ids in order.
func walk(c *fanfaretest.Client, query string, limit int) []string {
	ids := []string{}
	next := fmt.Sprintf("?limit=%d&%s", limit, query)
	for {
		l := c.Do("GET", "/v1/campaigns"+next, nil).Want(200).List()
		for _, rec := range l.Data {
			ids = append(ids, rec["id"].(string))
		}
		if l.HasMore != (l.NextCursor != nil) || l.HasMore && len(l.Data) != limit {
			c.Service.T.Errorf("%s: got %d of %d items, has_more %v and next_cursor %v", query, len(l.Data), limit, l.HasMore, l.NextCursor)
		}
		if !l.HasMore {
			return ids
		}
		next = fmt.Sprintf("?limit=%d&cursor=%s", limit, *l.NextCursor)
	}
}

// sortKey returns the sort value of a record, "" for none.
func sortKey(rec map[string]any, sort string) string {
	var v any
	switch sort {
	case "start_at", "end_at":
		v = rec["schedule"].(map[string]any)[sort]
	case "spend":
		if sum, ok := rec["spend_to_date"].(map[string]any); ok {
			v = sum["amount"]
		}
	case "delivery_status":
		v = rec["delivery"].(map[string]any)["status"]
	case "name":
		v = strings.ToLower(rec["name"].(string))
	default:
		v = rec[sort]
	}
	s, _ := v.(string)
	return s
}

// ordered returns the whole list in the order of L2: by the sort value and then
// the id, both in the given order, with records without a value last in either.
func ordered(recs []map[string]any, sort string, desc bool) []string {
	recs = slices.Clone(recs)
	slices.SortFunc(recs, func(a, b map[string]any) int {
		x, y := sortKey(a, sort), sortKey(b, sort)
		switch {
		case x == "" && y != "":
			return 1
		case x != "" && y == "":
			return -1
		}
		c := cmp.Or(strings.Compare(x, y), strings.Compare(a["id"].(string), b["id"].(string)))
		if desc {
			return -c
		}
		return c
	})
	ids := make([]string, len(recs))
	for i, rec := range recs {
		ids[i] = rec["id"].(string)
	}
	return ids
}

// draft creates a random campaign and applies some actions.
func draft(rt *rapid.T, c *fanfaretest.Tenant) {
	moment := rapid.SampledFrom([]string{"2027-01-01T00:00:00Z", "2027-01-01T00:00:00.001Z", "2028-06-01T00:00:00Z"})
	schedule := map[string]any{}
	if rapid.Bool().Draw(rt, "has start") {
		schedule["start_at"] = moment.Draw(rt, "start")
	}
	if rapid.Bool().Draw(rt, "has end") {
		schedule["end_at"] = "2029" + moment.Draw(rt, "end")[4:]
	}
	name := rapid.SampledFrom([]string{"a", "A", "aa", "B", "ä", "Ä", "~", "z", "😀", "a b"}).Draw(rt, "name")
	id := create(c, map[string]any{"name": name, "schedule": schedule})
	for _, step := range rapid.SampledFrom([][]string{nil, {"launch"}, {"launch", "pause"}, {"archive"}}).Draw(rt, "steps") {
		if step == "archive" {
			c.Do("DELETE", "/v1/campaigns/"+id, nil).Want(200)
			continue
		}
		c.Do("POST", "/v1/campaigns/"+id+"/"+step, nil).Want(200)
	}
	if rapid.Bool().Draw(rt, "time passes") {
		c.Service.Clock.Advance(time.Millisecond)
	}
}

// TestL2PagesMakeTheWholeList checks for every sort and order that the pages
// together are the sorted list, for any data and page size.
func TestL2PagesMakeTheWholeList(t *testing.T) {
	t.Parallel()
	fanfaretest.Each(t, func(t *testing.T, w *fanfaretest.Service) {
		rapid.Check(t, func(rt *rapid.T) {
			c := w.Tenant(account.Enterprise)
			for range rapid.IntRange(0, 9).Draw(rt, "campaigns") {
				draft(rt, c)
			}
			all := c.Do("GET", "/v1/campaigns?limit=100&status=all", nil).Want(200).List().Data
			limit := rapid.IntRange(1, 5).Draw(rt, "limit")
			for _, sort := range httpapi.CampaignSorts {
				for _, order := range []string{"asc", "desc"} {
					query := url.Values{"sort": {sort}, "order": {order}, "status": {"all"}}.Encode()
					want := ordered(all, sort, order == "desc")
					if diff := gocmp.Diff(want, walk(c.Client, query, limit)); diff != "" {
						rt.Errorf("%s, %d a page: ids differ (-want +got):\n%s", query, limit, diff)
					}
				}
			}
			// The tenant is over; so is its minute.
			w.Clock.Advance(time.Minute)
		})
	})
}

// TestL3StableUnderWrites reads page by page while other callers insert, edit
// and archive: sorted by an immutable field, every record that existed at the
// start comes exactly once.
func TestL3StableUnderWrites(t *testing.T) {
	t.Parallel()
	for name, open := range fanfaretest.Engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := fanfaretest.New(t, open(t), ample)
			c := w.Tenant(account.Growth)
			var kept, spare []string
			for i := range 40 {
				id := create(c, map[string]any{"name": fmt.Sprint(i)})
				if i%4 == 0 {
					spare = append(spare, id)
				} else {
					kept = append(kept, id)
				}
				if i%3 == 0 {
					w.Clock.Advance(time.Millisecond)
				}
			}
			ctx, stop := context.WithCancel(t.Context())
			var wg sync.WaitGroup
			wg.Go(func() {
				for i := 0; ctx.Err() == nil; i++ {
					w.Clock.Advance(time.Millisecond)
					create(c, map[string]any{"name": fmt.Sprintf("new %d", i)})
					if i < len(spare) {
						c.Do("DELETE", "/v1/campaigns/"+spare[i], nil).Want(200)
					}
					c.Do("PATCH", "/v1/campaigns/"+kept[i%len(kept)], map[string]any{"name": fmt.Sprintf("edited %d", i)}).Want(200)
				}
			})
			for _, query := range []string{"", "order=asc", "status=all", "sort=created_at&order=asc&status=all"} {
				times := map[string]int{}
				for _, id := range walk(c.Client, query, 3) {
					times[id]++
				}
				for id, n := range times {
					if n > 1 {
						t.Errorf("%q: got %s %d times, want once", query, id, n)
					}
				}
				for _, id := range kept {
					if times[id] != 1 {
						t.Errorf("%q: got %s %d times, want once: it was there all the time", query, id, times[id])
					}
				}
				if strings.Contains(query, "status=all") {
					for _, id := range spare {
						if times[id] != 1 {
							t.Errorf("%q: got %s %d times, want once: archived is there too", query, id, times[id])
						}
					}
				}
			}
			stop()
			wg.Wait()
		})
	}
}
