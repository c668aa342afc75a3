package sandbox

import (
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
)

// answerClient sends calls to a platform with the tokens of the sandbox's own
// account set.
type answerClient struct {
	*Server
	platform string
	tokens   AccountTokens
	// account is that of the tokens.
	account *Account
}

func newAnswerClient(t *testing.T, platform string, o Options) answerClient {
	t.Helper()
	o.Seed, o.Now = 7, func() time.Time { return time.Date(2026, 10, 20, 12, 0, 0, 0, time.UTC) }
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	granted, err := s.Grant(s.Own())
	if err != nil {
		t.Fatal(err)
	}
	account, ok := s.Account(granted[platform].AccountID)
	if !ok {
		t.Fatal("got no account, want that of the tokens")
	}
	return answerClient{s, platform, granted[platform], account}
}

// turnOn turns a switch on.
func (c answerClient) turnOn(t *testing.T, name, value string) {
	t.Helper()
	if err := c.TurnOn(BehaviorRule{Platform: c.platform, Switch: name, Value: value}); err != nil {
		t.Fatal(err)
	}
}

// send sends a call, as JSON unless the body is a form, and returns the raw
// answer.
func (c answerClient) send(t *testing.T, method, to, body string) (status int, header http.Header, answer string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, to, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+c.tokens.AccessToken)
	req.Header.Set("Access-Token", c.tokens.AccessToken)
	req.Header.Set("Linkedin-Version", "202610")
	req.Header.Set("X-Restli-Protocol-Version", "2.0.0")
	req.Header.Set("Content-Type", "application/json")
	if strings.Contains(body, "grant_type=") {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(b)
}

// objects sends a call and returns the objects of a list in the answer. Members
// in the path to the list are separated by dots.
func (c answerClient) objects(t *testing.T, method, to, body, path string) (list []map[string]any) {
	t.Helper()
	_, _, answer := c.send(t, method, to, body)
	var whole any
	if err := json.Unmarshal([]byte(answer), &whole); err != nil {
		t.Fatalf("got %s: %v", answer, err)
	}
	for name := range strings.SplitSeq(path, ".") {
		object, _ := whole.(map[string]any)
		whole = object[name]
	}
	elements, ok := whole.([]any)
	if !ok {
		t.Fatalf("got %s, want a list %s", answer, path)
	}
	for _, element := range elements {
		object, _ := element.(map[string]any)
		list = append(list, object)
	}
	return list
}

// gaql runs a query of Google Ads.
func (c answerClient) gaql(t *testing.T, query string) []map[string]any {
	t.Helper()
	body, err := json.Marshal(map[string]string{"query": query})
	if err != nil {
		t.Fatal(err)
	}
	return c.objects(t, http.MethodPost, "https://googleads.googleapis.com/v26/customers/"+c.tokens.AccountID+"/googleAds:search", string(body), "results")
}

// at returns a member of nested objects, nil if there is none.
func at(object map[string]any, path string) any {
	var value any = object
	for name := range strings.SplitSeq(path, ".") {
		members, _ := value.(map[string]any)
		value = members[name]
	}
	return value
}

// TestGoogleAdIDsOfAdGroups checks that two ads of different ad groups can have
// the same id, and that their rows stay separate.
func TestGoogleAdIDsOfAdGroups(t *testing.T) {
	t.Parallel()
	c := newAnswerClient(t, GoogleAds, Options{})
	const query = "SELECT ad_group.id, ad_group_ad.ad.id, metrics.cost_micros FROM ad_group_ad WHERE segments.date DURING LAST_7_DAYS"
	before := c.gaql(t, query)
	c.turnOn(t, googleSharedAdID, "")
	groups := map[any]map[any]bool{}
	after := c.gaql(t, query)
	for _, row := range after {
		id := at(row, "adGroupAd.ad.id")
		if groups[id] == nil {
			groups[id] = map[any]bool{}
		}
		groups[id][at(row, "adGroup.id")] = true
	}
	shared := groups[c.account.Campaigns[0].Groups[0].Ads[0].ID]
	if len(after) != len(before) || len(shared) != 2 || len(groups) != len(before)-1 {
		t.Errorf("got %d rows, %d before, %d ids, one in %d ad groups, want as many rows and one id in 2", len(after), len(before), len(groups), len(shared))
	}
}

// TestGoogleDoubleFormats checks that doubles have exponents or 17 digits, and
// that rounding to millionths gives the same numbers.
func TestGoogleDoubleFormats(t *testing.T) {
	t.Parallel()
	for format, want := range map[string]string{"exponent": "1.2345678E+07", "long": "12345678.000000002", "": "12345678"} {
		if got := string(formatGoogleDouble(12_345_678_000_000, format)); got != want {
			t.Errorf("%q: got %s want %s", format, got, want)
		}
	}
	if got := string(formatGoogleDouble(0, "exponent")); got != "0" {
		t.Errorf("got %s want 0", got)
	}
	c := newAnswerClient(t, GoogleAds, Options{})
	body := `{"query":"SELECT metrics.conversions FROM customer WHERE segments.date DURING LAST_7_DAYS"}`
	to := "https://googleads.googleapis.com/v26/customers/" + c.tokens.AccountID + "/googleAds:search"
	c.turnOn(t, googleDoubleFormat, "exponent")
	if _, _, answer := c.send(t, http.MethodPost, to, body); !strings.Contains(answer, "E") || !strings.Contains(answer, `"conversions":`) {
		t.Errorf("got %s, want a number with an exponent", answer)
	}
}

// TestGoogleTokenErrors checks the errors of a refresh: those that pass, and the
// one that wants the person to sign in again.
func TestGoogleTokenErrors(t *testing.T) {
	t.Parallel()
	c := newAnswerClient(t, GoogleAds, Options{})
	form := url.Values{"client_id": {"1"}, "client_secret": {"1"}, "grant_type": {"refresh_token"}, "refresh_token": {*c.tokens.RefreshToken}}.Encode()
	for value, want := range map[string][2]string{
		"internal_failure": {"internal_failure", ""}, "temporarily_unavailable": {"temporarily_unavailable", ""},
		"invalid_rapt": {"invalid_grant", "invalid_rapt"}, "rapt_required": {"invalid_grant", "rapt_required"},
	} {
		c.turnOn(t, googleTokenError, value)
		status, _, answer := c.send(t, http.MethodPost, "https://oauth2.googleapis.com/token", form)
		var got struct {
			Error   string `json:"error"`
			Subtype string `json:"error_subtype"`
		}
		if err := json.Unmarshal([]byte(answer), &got); err != nil || status != http.StatusBadRequest || got.Error != want[0] || got.Subtype != want[1] {
			t.Errorf("%s: got %d %s, %v", value, status, answer, err)
		}
	}
	c.TurnAllOff()
	if status, _, answer := c.send(t, http.MethodPost, "https://oauth2.googleapis.com/token", form); status != http.StatusOK {
		t.Errorf("got %d %s, want a token after the errors", status, answer)
	}
}

// TestGoogleTotalBudget checks that a campaign with a total budget has no amount
// per day.
func TestGoogleTotalBudget(t *testing.T) {
	t.Parallel()
	c := newAnswerClient(t, GoogleAds, Options{})
	c.turnOn(t, googleTotalBudget, "")
	rows := c.gaql(t, "SELECT campaign.id, campaign_budget.amount_micros, campaign_budget.total_amount_micros, campaign_budget.period FROM campaign")
	for i, want := range []string{"CUSTOM_PERIOD", "DAILY"} {
		daily, total := at(rows[i], "campaignBudget.amountMicros") != nil, at(rows[i], "campaignBudget.totalAmountMicros") != nil
		if got := at(rows[i], "campaignBudget.period"); got != want || daily != (want == "DAILY") || total == daily {
			t.Errorf("got %v, want the period %s and its amount only", rows[i], want)
		}
	}
}

// TestGA4OmitsDefaults checks that members with the default value are absent, and
// that the texts of metrics stay.
func TestGA4OmitsDefaults(t *testing.T) {
	t.Parallel()
	c := newAnswerClient(t, GA4, Options{})
	c.turnOn(t, ga4OmitDefaults, "")
	to := "https://analyticsdata.googleapis.com/v1beta/properties/" + c.tokens.AccountID + ":runReport"
	report := func(days string) string {
		_, _, answer := c.send(t, http.MethodPost, to, `{"dimensions":[{"name":"date"}],"metrics":[{"name":"keyEvents"},{"name":"refundAmount"}],"returnPropertyQuota":true,"dateRanges":[`+days+`]}`)
		return answer
	}
	empty := report(`{"startDate":"2020-01-01","endDate":"2020-01-02"}`)
	full := report(`{"startDate":"2026-10-01","endDate":"2026-10-02"}`)
	for _, name := range []string{`"rows"`, `"rowCount"`, `"consumed":0`} {
		if strings.Contains(empty, name) {
			t.Errorf("got %s, want no %s", empty, name)
		}
	}
	if !strings.Contains(full, `"rowCount":2`) || !strings.Contains(full, `{"value":"0"}`) {
		t.Errorf("got %s, want 2 rows with a metric of 0", full)
	}
}

// TestGA4RowOrder checks that pages without an order overlap, and that those with
// one do not.
func TestGA4RowOrder(t *testing.T) {
	t.Parallel()
	c := newAnswerClient(t, GA4, Options{})
	c.turnOn(t, ga4RowOrder, "")
	to := "https://analyticsdata.googleapis.com/v1beta/properties/" + c.tokens.AccountID + ":runReport"
	read := func(order string) (distinct int) {
		seen := map[string]bool{}
		for _, offset := range []string{"0", "15"} {
			for _, row := range c.objects(t, http.MethodPost, to, `{"dimensions":[{"name":"date"}],"metrics":[{"name":"keyEvents"}],"limit":15,"offset":`+offset+
				`,"dateRanges":[{"startDate":"2026-09-01","endDate":"2026-09-30"}]`+order+`}`, "rows") {
				text, err := json.Marshal(row, json.Deterministic(true))
				if err != nil {
					t.Fatal(err)
				}
				seen[string(text)] = true
			}
		}
		return len(seen)
	}
	if got := read(""); got >= 30 {
		t.Errorf("got %d rows without an order, want fewer than 30", got)
	}
	if got := read(`,"orderBys":[{"dimension":{"dimensionName":"date"}}]`); got != 30 {
		t.Errorf("got %d rows with an order, want 30", got)
	}
}

// TestGA4AccountWithoutProperties checks that the summary of such an account has
// no list of properties.
func TestGA4AccountWithoutProperties(t *testing.T) {
	t.Parallel()
	c := newAnswerClient(t, GA4, Options{})
	c.turnOn(t, ga4EmptyAccount, "")
	list := c.objects(t, http.MethodGet, "https://analyticsadmin.googleapis.com/v1beta/accountSummaries", "", "accountSummaries")
	lacking := slices.IndexFunc(list, func(summary map[string]any) bool { return summary["propertySummaries"] == nil })
	if len(list) != 2 || lacking != 0 {
		t.Errorf("got %v, want an account without properties and one with them", list)
	}
}
