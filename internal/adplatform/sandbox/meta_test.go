package sandbox_test

import (
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"fanfare/internal/adplatform/sandbox"
)

// metaClient is a sandbox with access to its Meta account.
type metaClient struct {
	server *sandbox.Server
	access sandbox.AccountTokens
}

func newMetaClient(t *testing.T) metaClient {
	t.Helper()
	server, err := sandbox.New(sandbox.Options{Seed: 3, Now: func() time.Time { return time.Date(2026, 10, 20, 12, 0, 0, 0, time.UTC) }})
	if err != nil {
		t.Fatal(err)
	}
	opened, err := server.Grant(server.Own())
	if err != nil {
		t.Fatal(err)
	}
	return metaClient{server, opened[sandbox.MetaAds]}
}

// metaAnswer has all members of answers that tests read.
type metaAnswer struct {
	Data    []map[string]any  `json:"data"`
	Summary map[string]string `json:"summary"`
	Paging  struct {
		Next string `json:"next"`
	} `json:"paging"`
	Error struct {
		Code    int `json:"code"`
		Subcode int `json:"error_subcode"`
	} `json:"error"`
}

// ask sends a call; a body is JSON.
func (w metaClient) ask(t *testing.T, method, path string, query url.Values, body string) (status int, answer metaAnswer) {
	t.Helper()
	if !strings.HasPrefix(path, "http") {
		path = "https://graph.facebook.com" + strings.ReplaceAll(path, "ACCOUNT", "act_"+w.access.AccountID) + "?" + query.Encode()
	}
	req, err := http.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+w.access.AccessToken)
	resp, err := w.server.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &answer); err != nil && resp.StatusCode != http.StatusFound {
		t.Fatalf("%s: %v in %s", path, err, text)
	}
	return resp.StatusCode, answer
}

// metaTestParams returns valid parameters of a report with changes: pairs of a
// name and a value.
func metaTestParams(changes ...string) url.Values {
	q := url.Values{
		"level": {"campaign"}, "time_increment": {"1"}, "time_range": {`{"since":"2026-10-01","until":"2026-10-10"}`},
		"fields": {"campaign_id,impressions,spend"}, "limit": {"5000"},
	}
	for i := 0; i < len(changes); i += 2 {
		q.Set(changes[i], changes[i+1])
	}
	return q
}

func TestMetaRefusals(t *testing.T) {
	t.Parallel()
	w := newMetaClient(t)
	const insights = "/v26.0/ACCOUNT/insights"
	for _, test := range []struct {
		name, method, path string
		query              url.Values
		body               string
		code, subcode      int
	}{
		{"another field", "GET", insights, metaTestParams("fields", "campaign_id,likes"), "", 100, 0},
		{"another summary", "GET", insights, metaTestParams("summary", `["likes"]`), "", 100, 0},
		{"another level", "GET", insights, metaTestParams("level", "pixel"), "", 100, 0},
		{"another breakdown", "GET", insights, metaTestParams("breakdowns", "planet"), "", 100, 0},
		{"breakdowns that exclude each other", "GET", insights, metaTestParams("breakdowns", "country,age"), "", 100, 0},
		{"another filter", "GET", insights, metaTestParams("filtering", `[{"field":"campaign.color","operator":"IN","value":["RED"]}]`), "", 100, 0},
		{"a status that ad sets do not have", "GET", insights, metaTestParams("filtering", `[{"field":"adset.effective_status","operator":"IN","value":["DISAPPROVED"]}]`), "", 100, 0},
		{"a list of deleted objects", "GET", "/v26.0/ACCOUNT/ads", url.Values{"effective_status": {`["DELETED"]`}}, "", 100, 1487561},
		{"a proof that is none", "GET", "/v26.0/ACCOUNT/ads", url.Values{"appsecret_proof": {"x"}}, "", 100, 0},
		{"another preset", "GET", insights, url.Values{"date_preset": {"next_week"}}, "", 100, 0},
		{"another window", "GET", insights, metaTestParams("action_attribution_windows", `["90d_view"]`), "", 100, 0},
		{"too many days in a row", "GET", insights, metaTestParams("time_increment", "91"), "", 100, 0},
		{"no days", "GET", insights, metaTestParams("time_range", ""), "", 100, 0},
		{"days backwards", "GET", insights, metaTestParams("time_range", `{"since":"2026-10-02","until":"2026-10-01"}`), "", 100, 0},
		{"too long ago", "GET", insights, metaTestParams("time_range", `{"since":"2023-09-19","until":"2026-10-01"}`), "", 3018, 0},
		{"no page", "GET", insights, metaTestParams("limit", "0"), "", 100, 0},
		{"a long page", "GET", insights, metaTestParams("limit", "5001"), "", 100, 0},
		{"another cursor", "GET", insights, metaTestParams("after", "??"), "", 100, 0},
		{"a cursor of a list", "GET", insights, metaTestParams("after", "MQ"), "", 100, 0},
		{"a cursor of a report", "GET", "/v26.0/ACCOUNT/ads", url.Values{"after": {"MjAyNi0xMC0wMSAw"}}, "", 100, 0},
		{"an old version", "GET", "/v19.0/ACCOUNT/ads", nil, "", 2635, 0},
		{"no version", "GET", "/ACCOUNT/ads", nil, "", 2635, 0},
		{"another account", "GET", "/v26.0/act_1/ads", nil, "", 100, 33},
		{"another edge", "GET", "/v26.0/ACCOUNT/pixels", nil, "", 100, 33},
		{"another method", "DELETE", "/v26.0/ACCOUNT", nil, "", 100, 33},
		{"no campaign", "POST", "/v26.0/404", nil, `{"status":"PAUSED"}`, 100, 33},
		{"no JSON", "POST", insights, nil, `{`, 100, 0},
		{"a token that is none", "GET", "/v26.0/me/adaccounts", url.Values{"access_token": {"x"}}, "", 190, 0},
		{"no app", "GET", "/v26.0/oauth/access_token", url.Values{"code": {"x"}}, "", 101, 0},
		{"no way back", "GET", "/v26.0/oauth/access_token", url.Values{"client_id": {"1"}, "client_secret": {"2"}, "code": {"x"}}, "", 191, 0},
		{"a code that is none", "GET", "/v26.0/oauth/access_token", url.Values{"client_id": {"1"}, "client_secret": {"2"}, "redirect_uri": {"https://a.test"}, "code": {"x"}}, "", 100, 36009},
		{"nowhere to go", "GET", "/v26.0/dialog/oauth", url.Values{"client_id": {"1"}, "redirect_uri": {"/a"}}, "", 100, 0},
	} {
		status, got := w.ask(t, test.method, test.path, test.query, test.body)
		if status < 400 || got.Error.Code != test.code || got.Error.Subcode != test.subcode {
			t.Errorf("%s: got %d with %+v want code %d/%d", test.name, status, got.Error, test.code, test.subcode)
		}
	}
}

// TestMetaLevelsAndPages checks that every level of a report has the same
// totals, and that pages add up to the whole.
func TestMetaLevelsAndPages(t *testing.T) {
	t.Parallel()
	w := newMetaClient(t)
	want := ""
	for _, level := range []string{"account", "campaign", "adset"} {
		for _, breakdowns := range []string{"", "country", "age,gender", `["gender","age"]`, "impression_device"} {
			query := metaTestParams("level", level, "breakdowns", breakdowns, "summary", "impressions", "limit", "97")
			if level == "adset" {
				query.Set("filtering", `[{"field":"adset.effective_status","operator":"IN","value":["ACTIVE","ARCHIVED","CAMPAIGN_PAUSED","DELETED","IN_PROCESS","PAUSED","WITH_ISSUES"]}]`)
			}
			sum, pages := int64(0), 0
			for path := "/v26.0/ACCOUNT/insights"; path != ""; pages++ {
				status, got := w.ask(t, http.MethodGet, path, query, "")
				if status != http.StatusOK {
					t.Fatalf("%s by %q: got %d %+v", level, breakdowns, status, got.Error)
				}
				for _, row := range got.Data {
					text, _ := row["impressions"].(string)
					count, err := strconv.ParseInt(text, 10, 64)
					if err != nil {
						t.Fatal(err)
					}
					sum += count
				}
				if want == "" {
					want = got.Summary["impressions"]
				}
				if got.Summary["impressions"] != want {
					t.Errorf("%s by %q: got total %v want %s", level, breakdowns, got.Summary, want)
				}
				path = got.Paging.Next
			}
			if total := strconv.FormatInt(sum, 10); total != want {
				t.Errorf("%s by %q: got %s in %d pages want %s", level, breakdowns, total, pages, want)
			}
		}
	}
}
