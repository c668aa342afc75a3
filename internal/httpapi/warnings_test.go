package httpapi_test

import (
	"strings"
	"testing"

	"fanfare/internal/account"
	"fanfare/internal/app"
	"fanfare/internal/fanfaretest"
)

// TestWarningsHeader reads every page of a result in every format: each has the
// codes of the warnings, and formats without meta the cursor.
func TestWarningsHeader(t *testing.T) {
	t.Parallel()
	w := fanfaretest.New(t, nil, func(c *app.Config) { c.CORSOrigins = []string{"https://app.example"} })
	c := w.Tenant(account.Growth)
	c.Do("POST", "/v1/ingest/metrics?source=won&currency=KRW", `[{"date":"2026-11-11","clicks":1,"spend":5},{"date":"2026-11-12","clicks":1,"spend":5}]`).Want(200)
	c.Do("POST", "/v1/ingest/metrics?source=tokyo&timezone=Asia/Tokyo", `[{"date":"2026-11-11","clicks":1,"spend":5}]`).Want(200)
	const want = "missing_rate, mixed_timezones"
	for _, accept := range []string{"application/json", "text/csv", "application/x-ndjson"} {
		query := map[string]any{"metrics": []string{"spend"}, "granularity": "day", "date_range": map[string]string{"start_date": "2026-11-11", "end_date": "2026-11-13"}, "limit": 1}
		for page := 1; page <= 3; page++ {
			res := c.Do("POST", "/v1/analytics/query", query, "Accept: "+accept, "Origin: https://app.example").Want(200)
			if got := res.Header.Get("X-Warnings"); got != want {
				t.Errorf("%s, page %d: got X-Warnings %q want %q", accept, page, got, want)
			}
			exposed := res.Header.Get("Access-Control-Expose-Headers")
			if !strings.Contains(exposed, "X-Warnings") || !strings.Contains(exposed, "X-Next-Cursor") {
				t.Errorf("got exposed headers %q", exposed)
			}
			cursor := res.Header.Get("X-Next-Cursor")
			if accept == "application/json" && res.List().NextCursor != nil {
				cursor = *res.List().NextCursor
			}
			if query["cursor"] = cursor; (cursor == "") != (page == 3) {
				t.Fatalf("%s, page %d: got cursor %q", accept, page, cursor)
			}
		}
	}
}
