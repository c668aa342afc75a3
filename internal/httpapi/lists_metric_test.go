package httpapi_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fanfare/internal/account"
	"fanfare/internal/fanfaretest"
)

// TestSortByMetric sorts all campaigns by a metric of a period; campaigns
// without a value are last in both orders.
func TestSortByMetric(t *testing.T) {
	t.Parallel()
	fanfaretest.Each(t, func(t *testing.T, w *fanfaretest.Service) {
		c := w.Tenant(account.Growth)
		day := func(ago int) string { return w.Clock.Now().AddDate(0, 0, -ago).Format(time.DateOnly) }
		var ids []string
		for i, facts := range []string{
			`"spend":10,"revenue":5`, `"spend":20,"revenue":60`, `"spend":30,"revenue":90`, `"spend":0,"revenue":0`, "", `"spend":1,"revenue":100`,
		} {
			id := create(c, map[string]any{"name": fmt.Sprint(i), "tags": []string{fmt.Sprint(i % 2)}})
			ids = append(ids, id)
			w.Clock.Advance(time.Millisecond)
			ago := 2
			if i == 5 {
				ago = 50
			}
			if facts != "" {
				c.Do("POST", "/v1/ingest/metrics?source=shop", fmt.Sprintf(`[{"date":%q,"campaign_id":%q,%s}]`, day(ago), id, facts)).Want(200)
			}
		}
		order := func(places ...int) []string {
			list := make([]string, len(places))
			for i, place := range places {
				list[i] = ids[place]
			}
			return list
		}
		for query, want := range map[string][]string{
			"sort=metric&metric=roas&order=asc":                              order(0, 1, 2, 3, 4, 5),
			"sort=metric&metric=roas&order=desc":                             order(2, 1, 0, 5, 4, 3),
			"sort=metric&metric=roas":                                        order(2, 1, 0, 5, 4, 3),
			"sort=metric":                                                    order(2, 1, 0, 3, 5, 4),
			"sort=metric&metric=spend&order=asc":                             order(3, 0, 1, 2, 4, 5),
			"sort=metric&metric=roas&order=asc&metric_start_date=" + day(60): order(0, 1, 2, 5, 3, 4),
			"sort=metric&metric=roas&metric_start_date=" + day(60) + "&metric_end_date=" + day(40): order(5, 4, 3, 2, 1, 0),
			"sort=metric&metric=roas&tag=1":            order(1, 5, 3),
			"sort=metric&metric=roas&q=3":              order(3),
			"sort=metric&metric=impressions&order=asc": order(0, 1, 2, 3, 4, 5),
		} {
			for _, limit := range []int{1, 2, 4, 100} {
				if diff := cmp.Diff(want, walk(c.Client, query, limit)); diff != "" {
					t.Errorf("%s, %d a page: ids differ (-want +got):\n%s", query, limit, diff)
				}
			}
		}
		// The order equals that of the report.
		report := c.Do("GET", "/v1/analytics/campaigns?sort=roas&order=asc&metrics=roas", nil).Want(200).List().Data
		for i, id := range order(0, 1, 2) {
			if got := report[i]["campaign"].(map[string]any)["id"]; got != id {
				t.Errorf("place %d: the report has %v, the list %s", i, got, id)
			}
		}
	})
}

func TestSortByMetricRefuses(t *testing.T) {
	t.Parallel()
	c := newTenant(t)
	three(c)
	for query, want := range map[string][]string{
		"sort=metric&metric=rose":                                             {"metric"},
		"sort=name&metric_end_date=november":                                  {"metric_end_date"},
		"sort=metric&metric_start_date=yesterday&metric=":                     {"metric", "metric_start_date"},
		"sort=metric&metric_end_date=2026-11-01T00:00:00Z&limit=500":          {"limit", "metric_end_date"},
		"sort=metric&metric_start_date=2026-11-02&metric_end_date=2026-11-01": {"metric_start_date"},
		"sort=metric&metric_start_date=1999-11-02&metric_end_date=2001-01-01": {"metric_start_date"},
	} {
		e := c.Do("GET", "/v1/campaigns?"+query, nil).WantError(400, "invalid_parameter")
		var fields []string
		for _, d := range e.Details {
			fields = append(fields, d.Field)
		}
		slices.Sort(fields)
		if diff := cmp.Diff(want, fields); diff != "" {
			t.Errorf("%s: fields differ (-want +got):\n%s", query, diff)
		}
	}
	c.Do("GET", "/v1/campaigns?sort=metric&metric_start_date=2020-01-01", nil).WantError(422, "query_too_broad")
	next := *c.Do("GET", "/v1/campaigns?sort=metric&metric=roas&limit=1", nil).Want(200).List().NextCursor
	e := c.Do("GET", "/v1/campaigns?sort=metric&metric=cpa&cursor="+next, nil).WantError(400, "invalid_cursor")
	if e.Details[0].Code != "cursor_query_mismatch" || e.Details[0].Field != "metric" {
		t.Errorf("got %+v want a mismatch of metric", e.Details)
	}
	narrow := c.As(account.Owner, func(o *account.KeyOptions) { o.Scopes = account.Scopes{"campaigns": account.Read} })
	narrow.Do("GET", "/v1/campaigns?sort=name", nil).Want(200)
	narrow.Do("GET", "/v1/campaigns?sort=metric", nil).WantError(403, "insufficient_scope")
	narrow.Do("GET", "/v1/campaigns?cursor="+next, nil).WantError(403, "insufficient_scope")
}
