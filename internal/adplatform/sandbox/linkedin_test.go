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
