package httpapi_test

import (
	"fmt"
	"testing"
)

// TestVariantsTellTheirMetrics reads variants with the metrics of their linked
// ads page by page and checks that the cursor keeps include.
func TestVariantsTellTheirMetrics(t *testing.T) {
	t.Parallel()
	c := newTenant(t)
	variants := "/v1/creative/" + c.Do("POST", "/v1/creative/generate", `{"prompt":"Mountain tea, 20% off until Sunday, for students. Rated 4.8 by 2,000 customers. It brews in two minutes. Hand-picked in Nepal. Free delivery on every order.","variants":2}`).Want(201).ID() + "/variants"
	list := c.Do("GET", variants, nil).Want(200).List().Data
	if len(list) != 2 || list[0]["metrics"] != nil {
		t.Fatalf("got %v want two variants without metrics", list)
	}
	for i, v := range list {
		c.Do("POST", "/v1/ingest/metrics", fmt.Sprintf(`[{"date":"2026-11-14","creative_id":%q,"impressions":100,"clicks":%d}]`, v["id"], i+1)).Want(200)
	}
	next := "?limit=1&include=metrics"
	for i := range list {
		page := c.Do("GET", variants+next, nil).Want(200).List()
		metrics, _ := page.Data[0]["metrics"].(map[string]any)
		if metrics["impressions"] != 100.0 || metrics["clicks"] != float64(i+1) {
			t.Errorf("variant %d: got %v want 100 impressions and %d clicks", i, metrics, i+1)
		}
		if page.NextCursor != nil {
			next = "?limit=1&cursor=" + *page.NextCursor
		}
	}
}
