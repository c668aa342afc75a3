package sandbox

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
)

// microsoftPost sends a call to the played API and decodes the answer.
func microsoftPost(t *testing.T, s *Server, token, path string, header http.Header, body any) (int, map[string]any) {
	t.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://sandbox/microsoft"+path, bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if header != nil {
		req.Header = header.Clone()
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := s.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]any{}
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return resp.StatusCode, out
}

// errorCode returns the code of an answer, -1 for none.
func errorCode(answer map[string]any) int {
	for _, name := range []string{"Errors", "OperationErrors"} {
		if list, ok := answer[name].([]any); ok && len(list) > 0 {
			if first, ok := list[0].(map[string]any); ok {
				if code, ok := first["Code"].(float64); ok {
					return int(code)
				}
			}
		}
	}
	return -1
}

// TestMicrosoftReports checks which reports are refused and with which code, and
// that every column of the SDK is answered.
func TestMicrosoftReports(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, Options{})
	granted, err := s.Grant(s.Own())
	if err != nil {
		t.Fatal(err)
	}
	token := granted[MicrosoftAds].AccessToken
	a, _ := s.Account(granted[MicrosoftAds].AccountID)
	header := http.Header{}
	header.Set("DeveloperToken", "token")
	header.Set("CustomerId", microsoftCustomerID(a))
	header.Set("CustomerAccountId", a.ID)
	year, month, day := (s.Today(a) - 1).Calendar()
	request := func(kind string, columns ...string) map[string]any {
		at := map[string]int{"Day": day, "Month": int(month), "Year": year}
		return map[string]any{"ReportRequest": map[string]any{
			"Type": kind, "Columns": columns, "Aggregation": "Daily", "FormatVersion": "2.0", "Scope": map[string]any{"AccountIds": []string{a.ID}},
			"Time": map[string]any{"CustomDateRangeStart": at, "CustomDateRangeEnd": at},
		}}
	}
	const path = "/Reporting/v13/GenerateReport/Submit"
	for kind, columns := range microsoftColumns {
		status, answer := microsoftPost(t, s, token, path, header, request(kind, columns...))
		if status != http.StatusOK || answer["ReportRequestId"] == nil {
			t.Errorf("%s with all columns: got %d %v", kind, status, answer)
		}
	}
	const campaigns = "CampaignPerformanceReportRequest"
	none := header.Clone()
	none.Del("DeveloperToken")
	other := header.Clone()
	other.Set("CustomerId", "1")
	for name, tt := range map[string]struct {
		header http.Header
		body   any
		want   int
	}{
		"unknown column":    {header, request(campaigns, "TimePeriod", "Clicks", "Nonsense"), microsoftNullRequest},
		"column of another": {header, request("AgeGenderAudienceReportRequest", "VideoViews"), microsoftNullRequest},
		"unknown report":    {header, request("NonsenseReportRequest", "Clicks"), 2002},
		"no column":         {header, request(campaigns), 2014},
		"no metric":         {header, request(campaigns, "TimePeriod"), 2017},
		"column twice":      {header, request(campaigns, "Clicks", "Clicks"), 2016},
		"no developer":      {none, request(campaigns, "Clicks"), microsoftNoHeader},
		"other customer":    {other, request(campaigns, "Clicks"), microsoftForbidden},
	} {
		if status, answer := microsoftPost(t, s, token, path, tt.header, tt.body); status != http.StatusBadRequest || errorCode(answer) != tt.want {
			t.Errorf("%s: got %d %v want code %d", name, status, answer, tt.want)
		}
	}
	if _, answer := microsoftPost(t, s, "nonsense", path, header, request(campaigns, "Clicks")); errorCode(answer) != microsoftBadToken {
		t.Errorf("got %v want code %d", answer, microsoftBadToken)
	}
}

// TestMicrosoftSummary checks that a report without TimePeriod is a summary, and
// that format 1.0 has separators of thousands.
func TestMicrosoftSummary(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, Options{})
	granted, err := s.Grant(s.Own())
	if err != nil {
		t.Fatal(err)
	}
	a, _ := s.Account(granted[MicrosoftAds].AccountID)
	c := newTestCall(s, MicrosoftAds)
	today := s.Today(a)
	r := &microsoftReport{account: a, first: today - 9, last: today}
	r.Type, r.Aggregation, r.Columns = "AccountPerformanceReportRequest", "Daily", []string{"AccountId", "Revenue"}
	if lines := c.reportLines(r); len(lines) != 1 || !strings.Contains(lines[0][1], ",") {
		t.Errorf("got %v want one line with a separator of thousands", lines)
	}
	r.Columns, r.FormatVersion = []string{"TimePeriod", "Revenue"}, "2.0"
	if lines := c.reportLines(r); len(lines) != 10 || strings.Contains(lines[0][1], ",") {
		t.Errorf("got %v want a line for each day", lines)
	}
}

// TestMicrosoftZones checks that every time zone exists, and that an account has
// one of them whatever its account set has.
func TestMicrosoftZones(t *testing.T) {
	t.Parallel()
	if len(microsoftZones) != 75 {
		t.Errorf("got %d zones want 75", len(microsoftZones))
	}
	for _, pair := range microsoftZones {
		name, iana, _ := strings.Cut(pair, "=")
		zone, err := time.LoadLocation(iana)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		i := slices.IndexFunc(microsoftZones, func(p string) bool { return strings.HasSuffix(p, "="+iana) })
		if got, as := microsoftZone(zone); got != strings.TrimSuffix(microsoftZones[i], "="+iana) || as != zone {
			t.Errorf("%s: got %s", pair, got)
		}
	}
	for _, other := range []string{"UTC", "Europe/Vienna", "Asia/Kolkata", "Pacific/Chatham"} {
		zone, err := time.LoadLocation(other)
		if err != nil {
			t.Fatal(err)
		}
		if name, as := microsoftZone(zone); name == "" || as == nil || other != "Pacific/Chatham" && !sameClock(as, zone) {
			t.Errorf("%s: got %s, %v", other, name, as)
		}
	}
}
