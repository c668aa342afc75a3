package sandbox_test

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"fanfare/internal/adplatform/sandbox"
)

// platformClient is a sandbox with access to its account on a platform.
type platformClient struct {
	*sandbox.Server
	sandbox.AccountTokens
}

func newPlatformClient(t *testing.T, platform string) platformClient {
	t.Helper()
	server, err := sandbox.New(sandbox.Options{Seed: 7, Now: func() time.Time { return time.Date(2026, 10, 20, 12, 0, 0, 0, time.UTC) }})
	if err != nil {
		t.Fatal(err)
	}
	granted, err := server.Grant(server.Own())
	if err != nil {
		t.Fatal(err)
	}
	return platformClient{server, granted[platform]}
}

// ask sends a request and decodes the JSON answer.
func (o platformClient) ask(t *testing.T, method, to string, header http.Header, body string, out any) (status int) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, to, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = header
	resp, err := o.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if len(answer) > 0 {
		if err := json.Unmarshal(answer, out); err != nil {
			t.Fatalf("%s: got %s: %v", to, answer, err)
		}
	}
	return resp.StatusCode
}

// TestTikTokRefuses checks that invalid calls are refused as TikTok does, with
// status 200.
func TestTikTokRefuses(t *testing.T) {
	t.Parallel()
	o := newPlatformClient(t, sandbox.TikTokAds)
	report := func(change ...string) string {
		query := url.Values{
			"advertiser_id": {o.AccountID}, "report_type": {"BASIC"}, "data_level": {"AUCTION_CAMPAIGN"}, "dimensions": {`["campaign_id","stat_time_day"]`},
			"metrics": {`["spend"]`}, "start_date": {"2026-09-01"}, "end_date": {"2026-09-30"}, "page_size": {"1000"},
		}
		for i := 0; i < len(change); i += 2 {
			query.Set(change[i], change[i+1])
		}
		return "report/integrated/get/?" + query.Encode()
	}
	byCountry := []string{"report_type", "AUDIENCE", "data_level", "AUCTION_ADGROUP", "dimensions", `["adgroup_id","country_code","stat_time_day"]`, "metrics"}
	for name, test := range map[string]struct {
		token, path string
		want        int
	}{
		"nothing":              {o.AccessToken, report(), 0},
		"groups":               {o.AccessToken, report("data_level", "AUCTION_ADGROUP", "dimensions", `["stat_time_day","adgroup_id"]`), 0},
		"audience":             {o.AccessToken, report(append(byCountry, `["spend"]`)...), 0},
		"no token":             {"", report(), 40104},
		"bad token":            {"sbx.x", report(), 40105},
		"another's account":    {o.AccessToken, report("advertiser_id", "1"), 40001},
		"31 days":              {o.AccessToken, report("end_date", "2026-10-01"), 40002},
		"backwards":            {o.AccessToken, report("end_date", "2026-08-31"), 40002},
		"no day":               {o.AccessToken, report("dimensions", `["campaign_id"]`, "end_date", "2026-10-31"), 0},
		"audience by campaign": {o.AccessToken, report("report_type", "AUDIENCE", "dimensions", `["campaign_id","age","stat_time_day"]`), 0},
		"ratios":               {o.AccessToken, report("metrics", `["ctr","cost_per_complete_payment","complete_payment_roas","total_complete_payment_rate"]`), 0},
		"sorted":               {o.AccessToken, report("order_field", "spend", "enable_total_metrics", "true"), 0},
		"two breakdowns":       {o.AccessToken, report("report_type", "AUDIENCE", "dimensions", `["campaign_id","age","platform"]`), 40002},
		"reservations":         {o.AccessToken, report("service_type", "RESERVATION", "data_level", "RESERVATION_CAMPAIGN"), 40002},
		"unknown filter":       {o.AccessToken, report("filtering", `[{"field_name":"x","filter_type":"IN","filter_value":"[]"}]`), 40002},
		"lifetime by day":      {o.AccessToken, report("query_lifetime", "true"), 40002},
		"wrong level":          {o.AccessToken, report("data_level", "AUCTION_AD"), 40002},
		"unknown metric":       {o.AccessToken, report("metrics", `["money"]`), 40002},
		"no list":              {o.AccessToken, report("metrics", `spend`), 40002},
		"value by country":     {o.AccessToken, report(append(byCountry, `["total_purchase_value"]`)...), 40002},
		"too large a page":     {o.AccessToken, report("page_size", "1001"), 40002},
		"page 0":               {o.AccessToken, report("page", "0"), 40002},
		"unknown field":        {o.AccessToken, "campaign/get/?fields=%5B%22x%22%5D&advertiser_id=" + o.AccountID, 40002},
		"accounts of no app":   {o.AccessToken, "oauth2/advertiser/get/", 40002},
	} {
		header := http.Header{}
		if test.token != "" {
			header.Set("Access-Token", test.token)
		}
		var answer struct {
			Code      int    `json:"code"`
			Message   string `json:"message"`
			RequestID string `json:"request_id"`
		}
		status := o.ask(t, http.MethodGet, "https://business-api.tiktok.com/open_api/v1.3/"+test.path, header, "", &answer)
		if status != http.StatusOK || answer.Code != test.want || answer.Message == "" || answer.RequestID == "" {
			t.Errorf("%s: got %d %+v want 200 and %d", name, status, answer, test.want)
		}
	}
}
