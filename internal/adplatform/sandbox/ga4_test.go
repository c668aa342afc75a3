package sandbox

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
)

func TestGA4Reports(t *testing.T) {
	t.Parallel()
	s, err := New(Options{Seed: 7, Now: func() time.Time { return time.Date(2026, 10, 20, 12, 0, 0, 0, time.UTC) }})
	if err != nil {
		t.Fatal(err)
	}
	granted, err := s.Grant(s.Own())
	if err != nil {
		t.Fatal(err)
	}
	const metrics = `"metrics":[{"name":"keyEvents"}]`
	const days = `"dateRanges":[{"startDate":"3daysAgo","endDate":"yesterday"}]`
	for _, test := range []struct {
		body   string
		status int
		// rows is -1 for any number above 0.
		rows, count int
	}{
		{`{"dimensions":[{"name":"date"}],` + metrics + `,` + days + `}`, 200, 3, 3},
		{`{"dimensions":[{"name":"date"}],` + metrics + `,` + days + `,"limit":"2"}`, 200, 2, 3},
		{`{"dimensions":[{"name":"date"}],` + metrics + `,` + days + `,"limit":2,"offset":2}`, 200, 1, 3},
		{`{"dimensions":[{"name":"date"}],` + metrics + `,` + days + `,"offset":9}`, 200, 0, 3},
		{`{` + metrics + `,` + days + `}`, 200, 1, 1},
		{`{"dimensions":[{"name":"audienceName"}],` + metrics + `,` + days + `}`, 200, -1, -1},
		{`{"dimensions":[{"name":"countryId"}],"metrics":[{"name":"advertiserAdCost"}],"dateRanges":[{"startDate":"2026-10-01","endDate":"today"}]}`, 200, -1, -1},
		{`{"dimensions":[{"name":"countryId"},{"name":"deviceCategory"}],` + metrics + `,` + days + `}`, 200, -1, -1},
		{`{"dimensions":[{"name":"campaign"}],` + metrics + `,` + days + `}`, 400, 0, 0},
		{`{"metrics":[{"name":"clicks"}],` + days + `}`, 400, 0, 0},
		{`{` + metrics + `,"dateRanges":[{"startDate":"2026-10-02","endDate":"2026-10-01"}]}`, 400, 0, 0},
		{`{` + metrics + `,"dateRanges":[{"startDate":"soon","endDate":"today"}]}`, 400, 0, 0},
		{`{` + metrics + `}`, 400, 0, 0},
		{`{` + metrics + `,` + days + `,"limit":250001}`, 400, 0, 0},
		{`{` + metrics + `,` + days + `,"unknown":1}`, 400, 0, 0},
	} {
		req, err := http.NewRequestWithContext(context.Background(), http.MethodPost,
			"https://analyticsdata.googleapis.com/v1beta/properties/"+granted[GA4].AccountID+":runReport", strings.NewReader(test.body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+granted[GA4].AccessToken)
		resp, err := s.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		var answer struct {
			Rows     []any `json:"rows"`
			RowCount int   `json:"rowCount"`
		}
		if err != nil || json.Unmarshal(b, &answer) != nil {
			t.Fatalf("%s: got %s, %v", test.body, b, err)
		}
		fits := len(answer.Rows) == test.rows && answer.RowCount == test.count || test.rows < 0 && len(answer.Rows) > 1
		if resp.StatusCode != test.status || !fits {
			t.Errorf("%s: got %d, %d of %d rows want %d, %d of %d", test.body, resp.StatusCode, len(answer.Rows), answer.RowCount, test.status, test.rows, test.count)
		}
	}
}
