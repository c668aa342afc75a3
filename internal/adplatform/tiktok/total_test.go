package tiktok_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"fanfare/internal/connection"
	"fanfare/internal/fact"
)

// TestTotalDiffers checks that rows that do not add up to TikTok's total are
// kept, with a note of the difference. A cent by rounding is none.
func TestTotalDiffers(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		total  string
		number int
		want   string
	}{
		{"12.34", 1, "exact"},
		{"12.35", 1, "exact"},
		{"20.00", 1, "missing 7660000"},
		{"10.00", 1, "missing -2340000"},
		{"-", 1, "exact"},
		{"", 1, "exact"},
		// The spend shows that nothing is missing.
		{"12.34", 2, "exact"},
		{"20.00", 2, "refused"},
		{"-", 2, "refused"},
		{"", 2, "refused"},
	} {
		c := clientOf(t, func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.URL.RawQuery, "TT_SHOP") {
				fmt.Fprint(w, `{"code":0,"data":{"list":[],"page_info":{}}}`)
				return
			}
			fmt.Fprintf(w, `{"code":0,"data":{"list":[{"dimensions":{"campaign_id":"1","stat_time_day":"2026-10-01 00:00:00"},"metrics":{"spend":"12.34"}}],`+
				`"total_metrics":{"spend":%q},"page_info":{"total_number":%d,"total_page":1}}}`, test.total, test.number)
		})
		got := "exact"
		q := connection.Report{Level: connection.LevelCampaign, Note: func(n connection.Note) {
			if n.Code == connection.NoteTotalDiffers && n.Measure == fact.Spend {
				got = fmt.Sprint("missing ", *n.Amount)
			}
		}}
		rows := 0
		err := c.Report(t.Context(), connection.Credentials{}, q, func(some []fact.Row) error {
			rows += len(some)
			return nil
		})
		if connection.ClassOf(err) == connection.PagesDisagree {
			got = "refused"
		}
		if got != test.want || (rows == 1) != (got != "refused") {
			t.Errorf("%q of %d: got %s and %d rows (%v) want %s", test.total, test.number, got, rows, err, test.want)
		}
	}
}
