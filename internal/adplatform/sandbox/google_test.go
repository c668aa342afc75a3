package sandbox

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
)

// googleClient is a sandbox and the credentials of its Google account.
type googleClient struct {
	*Server
	token string
	id    string
}

func newGoogleClient(t *testing.T) googleClient {
	t.Helper()
	s, err := New(Options{Seed: 7, Now: func() time.Time { return time.Date(2026, 10, 20, 12, 0, 0, 0, time.UTC) }})
	if err != nil {
		t.Fatal(err)
	}
	granted, err := s.Grant(s.Own())
	if err != nil {
		t.Fatal(err)
	}
	return googleClient{s, granted[GoogleAds].AccessToken, granted[GoogleAds].AccountID}
}

// post sends a call and decodes the answer into out.
func (a googleClient) post(t *testing.T, path, body string, out any) {
	t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "https://googleads.googleapis.com/v26/customers/"+a.id+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+a.token)
	resp, err := a.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, out); err != nil {
		t.Fatalf("%s: %v", b, err)
	}
}

type googlePage struct {
	Results           []map[string]any `json:"results"`
	FieldMask         string           `json:"fieldMask"`
	NextPageToken     string           `json:"nextPageToken"`
	TotalResultsCount string           `json:"totalResultsCount"`
	Error             struct {
		Details []struct {
			Errors []struct {
				ErrorCode map[string]string `json:"errorCode"`
			} `json:"errors"`
		} `json:"details"`
	} `json:"error"`
}

func (a googleClient) search(t *testing.T, query, token string) googlePage {
	t.Helper()
	body, err := json.Marshal(map[string]any{"query": query, "pageToken": token, "searchSettings": map[string]bool{"returnTotalResultsCount": true}})
	if err != nil {
		t.Fatal(err)
	}
	var page googlePage
	a.post(t, "/googleAds:search", string(body), &page)
	return page
}

// code returns the error code of a refused query.
func (p googlePage) code() string {
	for _, d := range p.Error.Details {
		for _, e := range d.Errors {
			for kind, code := range e.ErrorCode {
				return kind + "." + code
			}
		}
	}
	return ""
}

func TestGAQL(t *testing.T) {
	t.Parallel()
	a := newGoogleClient(t)
	for _, test := range []struct {
		query string
		rows  int
		code  string
	}{
		{"SELECT campaign.id FROM campaign", 5, ""},
		{"select campaign.id\nfrom campaign where campaign.name = \"Brand Search\"", 1, ""},
		{"SELECT campaign.id FROM campaign WHERE campaign.name IN ('Brand Search', 'Nothing') AND campaign.status != PAUSED", 1, ""},
		{"SELECT campaign.id FROM campaign WHERE campaign.name NOT IN ('Brand Search')", 4, ""},
		{"SELECT campaign.id FROM campaign ORDER BY campaign.id DESC LIMIT 2", 2, ""},
		{"SELECT campaign.id, metrics.clicks FROM campaign WHERE segments.date BETWEEN '2026-10-01' AND '2026-10-05'", 5, ""},
		{"SELECT campaign.id, segments.date, metrics.clicks FROM campaign WHERE segments.date >= '2026-10-01' AND segments.date <= '2026-10-05'", 25, ""},
		{"SELECT segments.date, metrics.clicks FROM customer WHERE segments.date IN ('2026-10-01', '2026-10-03')", 2, ""},
		{"SELECT segments.date, metrics.clicks FROM customer WHERE segments.date = '2026-10-01' AND metrics.clicks > 0", 1, ""},
		{"SELECT segments.date, metrics.clicks FROM customer WHERE segments.date > '2026-10-17' AND segments.date < '2026-10-20'", 2, ""},
		{"SELECT segments.device, metrics.clicks FROM customer WHERE segments.date = '2026-10-01'", 4, ""},
		{"SELECT ad_group_criterion.gender.type, metrics.clicks FROM gender_view WHERE segments.date = '2026-10-01' AND campaign.name = 'Trail Talk: Video Teaser' ORDER BY metrics.clicks LIMIT 3", 3, ""},
		{"UPDATE campaign", 0, "queryError.EXPECTED_SELECT"},
		{"SELECT campaign.id WHERE campaign.id = 1", 0, "queryError.EXPECTED_FROM"},
		{"SELECT campaign.id FROM campaigns", 0, "queryError.BAD_RESOURCE_TYPE_IN_FROM_CLAUSE"},
		{"SELECT campaign.nme FROM campaign", 0, "queryError.UNRECOGNIZED_FIELD"},
		{"SELECT ad_group.id FROM campaign", 0, "queryError.PROHIBITED_RESOURCE_TYPE_IN_SELECT_CLAUSE"},
		{"SELECT metrics.clicks FROM user_list", 0, "queryError.PROHIBITED_METRIC_IN_SELECT_OR_WHERE_CLAUSE"},
		{"SELECT segments.device FROM geographic_view", 0, "queryError.PROHIBITED_SEGMENT_IN_SELECT_OR_WHERE_CLAUSE"},
		{"SELECT metrics.clicks FROM campaign WHERE segments.device = 'MOBILE'", 0, "queryError.EXPECTED_REFERENCED_FIELD_IN_SELECT_CLAUSE"},
		{"SELECT campaign.id FROM campaign WHERE campaign.name LIKE '%Max%'", 1, ""},
		{"SELECT campaign.id FROM campaign WHERE campaign.name NOT LIKE 'Brand_Search'", 4, ""},
		{"SELECT campaign.id FROM campaign WHERE campaign.name REGEXP_MATCH '.*(Search|Video).*'", 2, ""},
		{"SELECT campaign.id FROM campaign WHERE campaign.start_date_time IS NULL", 5, ""},
		{"SELECT campaign.id FROM campaign WHERE campaign.id IS NOT NULL PARAMETERS include_drafts=true", 5, ""},
		{"SELECT campaign.id, campaign_budget.amount_micros FROM campaign", 5, ""},
		{"SELECT campaign_budget.id, campaign_budget.amount_micros, campaign_budget.period FROM campaign_budget", 5, ""},
		{"SELECT asset_group.id, asset_group.name FROM asset_group", 1, ""},
		{"SELECT conversion_action.name, conversion_action.include_in_conversions_metric FROM conversion_action", 2, ""},
		{"SELECT asset_group.id, segments.date, metrics.clicks FROM asset_group WHERE segments.date DURING LAST_7_DAYS", 7, ""},
		{"SELECT segments.date, metrics.clicks FROM customer WHERE segments.date DURING LAST_30_DAYS", 30, ""},
		{"SELECT segments.month, metrics.clicks FROM customer WHERE segments.date DURING THIS_MONTH", 1, ""},
		{"SELECT segments.week, metrics.clicks FROM customer WHERE segments.date DURING LAST_14_DAYS", 3, ""},
		{"SELECT segments.conversion_action_name, metrics.all_conversions FROM customer WHERE segments.date DURING YESTERDAY", 2, ""},
		{"SELECT metrics.ctr, metrics.average_cpc, metrics.phone_calls, metrics.search_impression_share FROM customer WHERE segments.date DURING YESTERDAY", 1, ""},
		{"SELECT segments.product_item_id, metrics.clicks FROM campaign WHERE segments.date DURING YESTERDAY", 0, ""},
		{"SELECT segments.date, metrics.clicks FROM customer WHERE segments.date DURING LAST_YEAR", 0, "queryError.INVALID_VALUE_WITH_DURING_OPERATOR"},
		{"SELECT campaign.id FROM campaign WHERE campaign.name DURING TODAY", 0, "queryError.OPERATOR_FIELD_MISMATCH"},
		{"SELECT campaign.id FROM campaign WHERE campaign.name REGEXP_MATCH '('", 0, "queryError.INVALID_VALUE_WITH_LIKE_OPERATOR"},
		{"SELECT campaign.id FROM campaign PARAMETERS include=true", 0, "queryError.BAD_PARAMETER_NAME"},
		{"SELECT campaign.id, segments.date, metrics.clicks FROM campaign", 0, "queryError.EXPECTED_FILTERS_ON_DATE_RANGE"},
		{"SELECT segments.conversion_action_name, metrics.clicks FROM customer", 0, "queryError.PROHIBITED_SEGMENT_WITH_METRIC_IN_SELECT_OR_WHERE_CLAUSE"},
		{"SELECT segments.date, metrics.clicks FROM customer WHERE segments.date BETWEEN '2023-09-19' AND '2023-09-21'", 0, "dateRangeError.REQUESTED_DATE_GRANULARITY_NOT_SUPPORTED"},
		{"SELECT segments.month, metrics.clicks FROM customer WHERE segments.date BETWEEN '2023-08-01' AND '2023-08-31'", 0, ""},
		{"SELECT keyword_view.resource_name, campaign.name, metrics.clicks FROM keyword_view WHERE segments.date DURING YESTERDAY", 0, ""},
		{"SELECT campaign_criterion.criterion_id, campaign_criterion.location.geo_target_constant FROM campaign_criterion", 0, ""},
		{"SELECT label.id, label.name FROM label", 0, ""},
		{"SELECT label.id, metrics.clicks FROM label", 0, "queryError.PROHIBITED_METRIC_IN_SELECT_OR_WHERE_CLAUSE"},
		{"SELECT label.nosuch FROM label", 0, "queryError.UNRECOGNIZED_FIELD"},
		{"SELECT campaign.network_settings.target_google_search FROM campaign", 5, ""},
		{"SELECT metrics.nosuch FROM customer", 0, "queryError.UNRECOGNIZED_FIELD"},
		{"SELECT campaign.id FROM campaign WHERE campaign.id SOUNDS 'x'", 0, "queryError.BAD_OPERATOR"},
		{"SELECT campaign.id FROM campaign WHERE campaign.id IN 5", 0, "queryError.EXPECTED_LIST"},
		{"SELECT campaign.id FROM campaign LIMIT none", 0, "queryError.BAD_LIMIT_VALUE"},
		{"SELECT campaign.id FROM campaign; DROP", 0, "queryError.UNEXPECTED_INPUT"},
	} {
		page := a.search(t, test.query, "")
		if got := page.code(); got != test.code || len(page.Results) != test.rows {
			t.Errorf("%s: got %d rows, %q want %d, %q", test.query, len(page.Results), got, test.rows, test.code)
		}
	}
}

// FuzzGAQL checks that the parser does not panic and that parsed queries are
// complete.
func FuzzGAQL(f *testing.F) {
	for _, seed := range []string{"SELECT a FROM b WHERE c BETWEEN '1' AND '2' ORDER BY d DESC, e LIMIT 3", "SELECT", "SELECT a FROM b WHERE c IN ('x", "!=", "'"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q, failure := parseGAQL(text)
		if (q == nil) == (failure == nil) {
			t.Fatalf("got %v and %v want one of them", q, failure)
		}
		if q == nil {
			return
		}
		_, _ = q.validate()
		for _, c := range q.where {
			c.matches("1")
		}
	})
}

// TestGooglePages reads a report with several pages, with and without faults.
func TestGooglePages(t *testing.T) {
	t.Parallel()
	const query = "SELECT segments.date, campaign.id, segments.device, metrics.clicks FROM campaign WHERE segments.date >= '2024-11-01'"
	a := newGoogleClient(t)
	account, _ := a.Account(a.id)
	want := map[string]bool{}
	for r := range a.Rows(account, ByDevice, account.First, a.Today(account)) {
		want[r.Date.String()+r.Campaign.ID+googleDevices[r.Device]] = true
	}
	if len(want) <= googlePageRows || len(want) > 2*googlePageRows {
		t.Fatalf("got %d rows want two pages", len(want))
	}
	for _, test := range []struct {
		fault            string
		rows             int
		stable, repeated bool
	}{
		{"", len(want), true, false},
		{FaultDuplicatePage, googlePageRows, true, true},
		{FaultSkipPage, googlePageRows, true, false},
		{FaultDriftingTotal, len(want), false, false},
	} {
		if test.fault != "" {
			once := 1
			if err := a.AddFault(FaultRule{Fault: test.fault, Count: &once}); err != nil {
				t.Fatal(err)
			}
		}
		rows, totals, repeated := map[string]bool{}, map[string]bool{}, false
		for page := a.search(t, query, ""); ; page = a.search(t, query, page.NextPageToken) {
			totals[page.TotalResultsCount] = true
			for _, r := range page.Results {
				segments, campaign := r["segments"].(map[string]any), r["campaign"].(map[string]any)
				key := segments["date"].(string) + campaign["id"].(string) + segments["device"].(string)
				if !want[key] {
					t.Fatalf("%q: got %s want nothing of it", test.fault, key)
				}
				repeated = repeated || rows[key]
				rows[key] = true
			}
			if page.NextPageToken == "" {
				break
			}
		}
		if stable := len(totals) == 1; len(rows) != test.rows || stable != test.stable || repeated != test.repeated {
			t.Errorf("%q: got %d rows, totals %v, repeated %v want %d, stable %v, %v", test.fault, len(rows), totals, repeated, test.rows, test.stable, test.repeated)
		}
	}
}

func TestGoogleMutateRefusals(t *testing.T) {
	t.Parallel()
	a := newGoogleClient(t)
	account, _ := a.Account(a.id)
	name := "customers/" + a.id + "/campaigns/" + account.Campaigns[0].ID
	for body, want := range map[string]string{
		`{"operations":[{"updateMask":"status","update":{"resourceName":"` + name + `","status":"REMOVED"}}]}`:           "requestError.INVALID_ENUM_VALUE",
		`{"operations":[{"updateMask":"name","update":{"resourceName":"` + name + `","status":"PAUSED"}}]}`:              "fieldMaskError.INVALID_FIELD_MASK",
		`{"operations":[{"updateMask":"status","update":{"resourceName":"customers/1/campaigns/2","status":"PAUSED"}}]}`: "mutateError.RESOURCE_NOT_FOUND",
		`{"operation":[]}`: "requestError.UNKNOWN",
		`{"operations":[{"updateMask":"status","update":{"resourceName":"` + name + `","status":"PAUSED"}}],"validateOnly":true}`: "",
	} {
		var page googlePage
		a.post(t, "/campaigns:mutate", body, &page)
		if got := page.code(); got != want {
			t.Errorf("%s: got %q want %q", body, got, want)
		}
	}
	if page := a.search(t, "SELECT campaign.id FROM campaign WHERE campaign.status = 'PAUSED'", ""); len(page.Results) != 0 {
		t.Errorf("got %d paused campaigns want 0: nothing of it may have been done", len(page.Results))
	}
}

// TestGooglePartialFailure checks that a call that allows partial failure carries
// out what it can, and that another carries out nothing.
func TestGooglePartialFailure(t *testing.T) {
	t.Parallel()
	a := newGoogleClient(t)
	account, _ := a.Account(a.id)
	operation := func(campaign string) string {
		return `{"updateMask":"status","update":{"resourceName":"customers/` + a.id + `/campaigns/` + campaign + `","status":"PAUSED"}}`
	}
	both := `"operations":[` + operation(account.Campaigns[0].ID) + `,` + operation("1") + `]`
	var answer struct {
		PartialFailureError *struct {
			Code int `json:"code"`
		} `json:"partialFailureError"`
		Results []map[string]string `json:"results"`
	}
	a.post(t, "/campaigns:mutate", `{`+both+`}`, &answer)
	if runs, _ := a.Runs(a.id, account.Campaigns[0].ID); !runs || answer.Results != nil {
		t.Errorf("got %+v, runs %v want nothing carried out", answer, runs)
	}
	a.post(t, "/campaigns:mutate", `{`+both+`,"partialFailure":true}`, &answer)
	runs, _ := a.Runs(a.id, account.Campaigns[0].ID)
	if runs || answer.PartialFailureError == nil || answer.PartialFailureError.Code != 3 || len(answer.Results) != 2 || len(answer.Results[1]) != 0 {
		t.Errorf("got %+v, runs %v want the first change and an error for the second", answer, runs)
	}
}

// TestGoogleSummaryRow checks that the summary row is the sum of the rows.
func TestGoogleSummaryRow(t *testing.T) {
	t.Parallel()
	a := newGoogleClient(t)
	type chunk struct {
		Results []struct {
			Metrics struct {
				Clicks int64 `json:"clicks,string"`
			} `json:"metrics"`
		} `json:"results"`
		SummaryRow struct {
			Metrics struct {
				Clicks int64   `json:"clicks,string"`
				CTR    float64 `json:"ctr"`
			} `json:"metrics"`
		} `json:"summaryRow"`
	}
	for _, setting := range []string{"SUMMARY_ROW_WITH_RESULTS", summaryOnly} {
		var whole, only []chunk
		const query = "SELECT campaign.id, metrics.clicks, metrics.ctr FROM campaign WHERE segments.date DURING LAST_7_DAYS"
		a.post(t, "/googleAds:searchStream", `{"query":"`+query+`"}`, &whole)
		a.post(t, "/googleAds:searchStream", `{"query":"`+query+`","summaryRowSetting":"`+setting+`"}`, &only)
		clicks := int64(0)
		for _, r := range whole[0].Results {
			clicks += r.Metrics.Clicks
		}
		if got := only[0].SummaryRow.Metrics; got.Clicks != clicks || clicks == 0 || got.CTR <= 0 || got.CTR >= 1 || (len(only[0].Results) == 0) != (setting == summaryOnly) {
			t.Errorf("%s: got %+v and %d rows want %d clicks", setting, got, len(only[0].Results), clicks)
		}
	}
}

// TestGoogleOperations checks that operations are counted over 24 hours.
func TestGoogleOperations(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 10, 20, 12, 0, 0, 0, time.UTC)
	for level, quota := range googleDailyOperations {
		o := &googleOperations{}
		if _, ok := o.take(1, quota, now); !ok {
			t.Errorf("%s: got no quota for the first", level)
		}
		if _, ok := o.take(quota-1, quota, now.Add(time.Hour)); !ok {
			t.Errorf("%s: got no quota for %d", level, quota-1)
		}
		if wait, ok := o.take(1, quota, now.Add(2*time.Hour)); ok || wait != 22*time.Hour {
			t.Errorf("%s: got %v, %s want a wait until the first is a day old", level, ok, wait)
		}
		if wait, ok := o.take(2, quota, now.Add(2*time.Hour)); ok || wait != 23*time.Hour {
			t.Errorf("%s: got %v, %s want a wait until the second is a day old", level, ok, wait)
		}
		if _, ok := o.take(1, quota, now.Add(24*time.Hour)); !ok {
			t.Errorf("%s: got no quota after a day", level)
		}
	}
}

// TestGoogleLogin checks through which managers an account is reached.
func TestGoogleLogin(t *testing.T) {
	t.Parallel()
	top := &googleCustomer{account: &Account{ID: "1"}, manager: true, direct: true}
	other := &googleCustomer{account: &Account{ID: "2"}, manager: true, direct: true}
	below := &googleCustomer{account: &Account{ID: "3"}, manager: true, parents: []*googleCustomer{top}}
	client := &googleCustomer{account: &Account{ID: "4"}, parents: []*googleCustomer{below}}
	tree := googleTree{top, other, below, client}
	for login, want := range map[string]string{
		"": googleDenied.code, "1": "", "3": "", "2": googleWrongLogin.code, "9": googleWrongLogin.code,
	} {
		got := ""
		if _, failure := tree.open("4", login); failure != nil {
			got = failure.code
		}
		if got != want {
			t.Errorf("login %q: got %q want %q", login, got, want)
		}
	}
	levels := map[string]int64{}
	for _, r := range tree.below(top) {
		levels[r.account.ID] = r.level
	}
	if len(levels) != 3 || levels["3"] != 1 || levels["4"] != 2 {
		t.Errorf("got levels %v", levels)
	}
}

func TestGoogleConsentRefusals(t *testing.T) {
	t.Parallel()
	a := newGoogleClient(t)
	whole := url.Values{
		"response_type": {"code"}, "client_id": {"c"}, "redirect_uri": {"https://a.example/b"}, "scope": {"s"}, "access_type": {"offline"},
		"code_challenge": {"x"}, "code_challenge_method": {"S256"},
	}
	for _, missing := range []string{"", "response_type", "client_id", "redirect_uri", "scope", "access_type", "code_challenge", "code_challenge_method"} {
		q := url.Values{}
		for name, v := range whole {
			if name != missing {
				q[name] = v
			}
		}
		req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, "https://accounts.google.com/o/oauth2/v2/auth?"+q.Encode(), http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := a.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		want := http.StatusBadRequest
		if missing == "" {
			want = http.StatusFound
		}
		if resp.StatusCode != want {
			t.Errorf("without %q: got %d want %d", missing, resp.StatusCode, want)
		}
	}
}
