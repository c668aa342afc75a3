package sandbox_test

import (
	"net/http"
	"strings"
	"testing"

	"fanfare/internal/adplatform/sandbox"
)

// TestLinkedInRefuses checks that invalid calls are refused as LinkedIn does:
// escaped parentheses, no version, pivots that cannot be combined.
func TestLinkedInRefuses(t *testing.T) {
	t.Parallel()
	o := newPlatformClient(t, sandbox.LinkedInAds)
	account, _ := o.Account(o.AccountID)
	campaign := "urn%3Ali%3AsponsoredCampaign%3A" + account.Campaigns[0].ID
	const days = "&timeGranularity=(value:DAILY)&dateRange=(start:(year:2026,month:9,day:1),end:(year:2026,month:9,day:2))"
	analytics := "adAnalytics?q=analytics&pivot=(value:CAMPAIGN)" + days + "&campaigns=List(" + campaign + ")"
	path := "adAccounts/" + o.AccountID + "/adCampaigns/" + account.Campaigns[0].ID
	for name, test := range map[string]struct {
		method, path, body string
		// header is a header with another value.
		header, value string
		status        int
		code          string
	}{
		"nothing":            {path: analytics, status: 200},
		"short words":        {path: strings.NewReplacer("(value:CAMPAIGN)", "CAMPAIGN", "(value:DAILY)", "DAILY").Replace(analytics), status: 200},
		"tunnelled":          {method: "POST", path: "adAnalytics", body: strings.TrimPrefix(analytics, "adAnalytics?"), header: "X-Http-Method-Override", value: "GET", status: 200},
		"no version":         {path: analytics, header: "Linkedin-Version", status: 400, code: "VERSION_MISSING"},
		"no such version":    {path: analytics, header: "Linkedin-Version", value: "202613", status: 426, code: "NONEXISTENT_VERSION"},
		"ended version":      {path: analytics, header: "Linkedin-Version", value: "202401", status: 426, code: "NONEXISTENT_VERSION"},
		"ended this month":   {path: analytics, header: "Linkedin-Version", value: "202510", status: 426, code: "NONEXISTENT_VERSION"},
		"living version":     {path: analytics, header: "Linkedin-Version", value: "202511", status: 200},
		"future version":     {path: analytics, header: "Linkedin-Version", value: "202611", status: 426, code: "NONEXISTENT_VERSION"},
		"no facet":           {path: "adAnalytics?q=analytics&pivot=(value:CAMPAIGN)" + days, status: 400, code: "ILLEGAL_ARGUMENT"},
		"old field":          {path: analytics + "&fields=approximateUniqueImpressions", status: 400, code: "ILLEGAL_ARGUMENT"},
		"sorted by anything": {path: analytics + "&sortBy=(field:NAME,order:ASCENDING)", status: 400, code: "ILLEGAL_ARGUMENT"},
		"no such state":      {path: "adAccounts/" + o.AccountID + "/creatives?q=criteria&intendedStatuses=List(COMPLETED)", status: 400, code: "ILLEGAL_ARGUMENT"},
		"no such parameter":  {path: analytics + "&dateRange.start.year=2026", status: 400, code: "QUERY_PARAM_NOT_ALLOWED"},
		"old protocol":       {path: analytics, header: "X-Restli-Protocol-Version", value: "1.0.0", status: 400, code: "ILLEGAL_ARGUMENT"},
		"no token":           {path: analytics, header: "Authorization", status: 401, code: "INVALID_ACCESS_TOKEN"},
		"escaped":            {path: strings.NewReplacer("(", "%28", ")", "%29").Replace(analytics), status: 400, code: "ILLEGAL_ARGUMENT"},
		"bare URN":           {path: strings.ReplaceAll(analytics, "%3A", ":"), status: 400, code: "ILLEGAL_ARGUMENT"},
		"members by two":     {path: "adAnalytics?q=statistics&pivots=List(CAMPAIGN,MEMBER_COUNTRY_V2)" + days + "&campaigns=List(" + campaign + ")", status: 400, code: "FIELD_INVALID"},
		"unknown pivot":      {path: strings.ReplaceAll(analytics, "CAMPAIGN)", "AGE)"), status: 400, code: "FIELD_INVALID"},
		"unknown field":      {path: analytics + "&fields=age", status: 400, code: "ILLEGAL_ARGUMENT"},
		"21 fields":          {path: analytics + "&fields=" + strings.Repeat("clicks,", 20) + "clicks", status: 400, code: "ILLEGAL_ARGUMENT"},
		"too long":           {path: analytics + "&x=" + strings.Repeat("1", 4096), status: 414, code: "URI_TOO_LONG"},
		"another's account":  {path: "adAccounts/1/adCampaigns?q=search", status: 403, code: "ACCESS_DENIED"},
		"no such campaign":   {path: path + "0", status: 404, code: "RESOURCE_NOT_FOUND"},
		"update, no method":  {method: "POST", path: path, body: `{"patch":{"$set":{"status":"PAUSED"}}}`, status: 400, code: "ILLEGAL_ARGUMENT"},
		"update":             {method: "POST", path: path, body: `{"patch":{"$set":{"status":"PAUSED"}}}`, header: "X-Restli-Method", value: "PARTIAL_UPDATE", status: 204},
		"update to anything": {method: "POST", path: path, body: `{"patch":{"$set":{"status":"ON"}}}`, header: "X-Restli-Method", value: "partial_update", status: 400, code: "ILLEGAL_ARGUMENT"},
	} {
		header := http.Header{"Authorization": {"Bearer " + o.AccessToken}, "Linkedin-Version": {"202610"}, "X-Restli-Protocol-Version": {"2.0.0"}}
		if test.header != "" {
			header.Set(test.header, test.value)
		}
		if test.method == "" {
			test.method = http.MethodGet
		}
		var answer struct {
			Code string `json:"code"`
		}
		status := o.ask(t, test.method, "https://api.linkedin.com/rest/"+test.path, header, test.body, &answer)
		if status != test.status || answer.Code != test.code {
			t.Errorf("%s: got %d %s want %d %s", name, status, answer.Code, test.status, test.code)
		}
	}
}

// linkedInReport is an answer with numbers.
type linkedInReport struct {
	Elements []map[string]any `json:"elements"`
}

// TestLinkedInReports checks that reports honor pivots, dates, filters and
// order, that all documented fields are answered, and that a report without
// access is empty.
func TestLinkedInReports(t *testing.T) {
	t.Parallel()
	o := newPlatformClient(t, sandbox.LinkedInAds)
	account, _ := o.Account(o.AccountID)
	header := http.Header{"Authorization": {"Bearer " + o.AccessToken}, "Linkedin-Version": {"202610"}, "X-Restli-Protocol-Version": {"2.0.0"}}
	read := func(query string) []map[string]any {
		var answer linkedInReport
		to := "https://api.linkedin.com/rest/adAnalytics?dateRange=(start:(year:2026,month:8,day:20),end:(year:2026,month:9,day:20))&" + query
		if status := o.ask(t, http.MethodGet, to, header, "", &answer); status != http.StatusOK {
			t.Errorf("%s: got %d %v want 200", query, status, answer)
		}
		return answer.Elements
	}
	impressions := func(elements []map[string]any) (sum float64) {
		for _, e := range elements {
			n, _ := e["impressions"].(float64)
			sum += n
		}
		return sum
	}
	of := "&accounts=List(urn%3Ali%3AsponsoredAccount%3A" + o.AccountID + ")"
	whole := impressions(read("q=analytics&pivot=ACCOUNT&timeGranularity=DAILY" + of))
	for query, count := range map[string]int{
		"q=analytics&pivot=ACCOUNT&timeGranularity=ALL":                                1,
		"q=analytics&pivot=COMPANY&timeGranularity=MONTHLY":                            2,
		"q=analytics&pivot=MEMBER_INDUSTRY&timeGranularity=ALL":                        4,
		"q=analytics&pivot=MEMBER_SENIORITY&timeGranularity=YEARLY":                    4,
		"q=statistics&pivots=List(CAMPAIGN_GROUP,CAMPAIGN)&timeGranularity=ALL":        len(account.Campaigns),
		"q=statistics&pivots=List(ACCOUNT,SERVING_LOCATION)&timeGranularity=ALL":       1,
		"q=analytics&pivot=ACCOUNT&timeGranularity=ALL&campaignType=SPONSORED_UPDATES": 1,
	} {
		if got := read(query + of); len(got) != count || impressions(got) != whole {
			t.Errorf("%s: got %d elements with %v impressions want %d with %v", query, len(got), impressions(got), count, whole)
		}
	}
	for _, query := range []string{
		"q=analytics&pivot=CARD_INDEX&timeGranularity=ALL" + of, "q=analytics&pivot=ACCOUNT&timeGranularity=ALL&campaignType=TEXT_AD" + of,
		"q=analytics&pivot=ACCOUNT&timeGranularity=ALL&accounts=List(urn%3Ali%3AsponsoredAccount%3A1)",
		"q=analytics&pivot=CAMPAIGN&timeGranularity=ALL&campaigns=List(urn%3Ali%3AsponsoredCampaign%3A1)",
	} {
		if got := read(query); len(got) != 0 {
			t.Errorf("%s: got %v want an empty report", query, got)
		}
	}
	sorted := read("q=analytics&pivot=CAMPAIGN&timeGranularity=ALL&sortBy=(field:IMPRESSIONS,order:DESCENDING)" + of)
	for i := 1; i < len(sorted); i++ {
		if impressions(sorted[i-1:i]) < impressions(sorted[i:i+1]) {
			t.Errorf("got %v want the most impressions first", sorted)
		}
	}
	one := read("q=analytics&pivot=ACCOUNT&timeGranularity=ALL&fields=dateRange,likes,landingPageClicks,clicks,costInUsd,averageDwellTime" + of)[0]
	if one["likes"] != 0.0 || one["landingPageClicks"] != one["clicks"] || one["costInUsd"] == nil || one["averageDwellTime"] != nil || one["impressions"] != nil {
		t.Errorf("got %v want only the fields that were asked for", one)
	}
}

// TestLinkedInFields checks that lists and objects have only the fields that a
// call asks for.
func TestLinkedInFields(t *testing.T) {
	t.Parallel()
	o := newPlatformClient(t, sandbox.LinkedInAds)
	header := http.Header{"Authorization": {"Bearer " + o.AccessToken}, "Linkedin-Version": {"202610"}, "X-Restli-Protocol-Version": {"2.0.0"}}
	var list linkedInReport
	o.ask(t, http.MethodGet, "https://api.linkedin.com/rest/adAccounts?q=search&fields=id,name", header, "", &list)
	if len(list.Elements) != 1 || len(list.Elements[0]) != 2 || list.Elements[0]["name"] == nil {
		t.Errorf("got %v want one account with id and name", list.Elements)
	}
	var one map[string]any
	o.ask(t, http.MethodGet, "https://api.linkedin.com/rest/adAccounts/"+o.AccountID+"?fields=status", header, "", &one)
	if len(one) != 1 || one["status"] != "ACTIVE" {
		t.Errorf("got %v want the status", one)
	}
}
