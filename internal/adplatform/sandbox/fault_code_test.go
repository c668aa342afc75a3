package sandbox

import (
	"strings"
	"testing"
	"time"
)

// TestFaultCode checks the format of errors with a code on each platform, and
// which rules are refused.
func TestFaultCode(t *testing.T) {
	t.Parallel()
	s, err := New(Options{Seed: 7, Now: func() time.Time { return time.Date(2026, 10, 20, 12, 0, 0, 0, time.UTC) }})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		rule         string
		path         string
		status       int
		parts, lacks []string
	}{
		{`{"platform":"google_ads","fault":"code","code":"authorizationError/MISSING_TOS","message":"Sign."}`, "/google/v26/customers/1/campaigns:mutate", 403, []string{`"authorizationError":"MISSING_TOS"`, `"Sign."`, "GoogleAdsFailure"}, nil},
		{`{"platform":"google_ads","fault":"code","code":"invalid_grant/invalid_rapt"}`, "/google/token", 400, []string{`"error":"invalid_grant"`, `"error_subtype":"invalid_rapt"`}, nil},
		{`{"platform":"ga4","fault":"code","code":"PERMISSION_DENIED/SERVICE_DISABLED"}`, "/ga4/v1beta/accountSummaries", 403, []string{`"status":"PERMISSION_DENIED"`, `"reason":"SERVICE_DISABLED"`}, nil},
		{`{"platform":"meta_ads","fault":"code","code":"190/463"}`, "/meta/v26.0/me", 400, []string{`"code":190`, `"error_subcode":463`}, nil},
		{`{"platform":"tiktok_ads","fault":"code","code":"40001","message":"No."}`, "/tiktok/open_api/v1.3/campaign/get/", 200, []string{`"code":40001`, `"message":"No."`}, nil},
		{`{"platform":"tiktok_ads","fault":"code","code":"http/404"}`, "/tiktok/open_api/v1.3/campaign/get/", 404, nil, []string{"{"}},
		{`{"platform":"linkedin_ads","fault":"code","code":"401/65602"}`, "/linkedin/rest/adAccounts", 401, []string{`"serviceErrorCode":65602`}, []string{`"code"`}},
		{`{"platform":"linkedin_ads","fault":"code","code":"403/ACCESS_DENIED"}`, "/linkedin/rest/adAccounts", 403, []string{`"code":"ACCESS_DENIED"`}, nil},
		{`{"platform":"linkedin_ads","fault":"code","code":"400/invalid_grant"}`, "/linkedin/oauth/v2/accessToken", 400, []string{`"error":"invalid_grant"`}, nil},
	} {
		callControl(t, s, 200, "POST", "faults", test.rule, nil)
		status, text, err := sendRequest(t, s, "POST", "http://sandbox"+test.path, "")
		if err != nil || status != test.status {
			t.Errorf("%s: got %d %s (%v) want %d", test.rule, status, text, err, test.status)
		}
		for _, part := range test.parts {
			if !strings.Contains(text, part) {
				t.Errorf("%s: got %s want it with %s", test.rule, text, part)
			}
		}
		for _, part := range test.lacks {
			if strings.Contains(text, part) {
				t.Errorf("%s: got %s want it without %s", test.rule, text, part)
			}
		}
		s.faults.clear()
	}
	for _, rule := range []FaultRule{
		{Platform: MetaAds, Fault: FaultCode},
		{Platform: MetaAds, Fault: FaultThrottle, Code: "190"},
		{Fault: FaultCode, Code: "190"},
	} {
		if err := s.AddFault(rule); err == nil {
			t.Errorf("%+v: got no error, want it refused", rule)
		}
	}
}
