package sandbox

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
)

// sendRequest sends a request without a network and reads the answer until it
// ends.
func sendRequest(t *testing.T, s *Server, method, address, body string, header ...string) (status int, text string, err error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := s.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b), err
}

// callControl calls the sandbox's own operations, checks the status and decodes
// the data.
func callControl(t *testing.T, s *Server, want int, method, path, body string, data any) string {
	t.Helper()
	status, text, err := sendRequest(t, s, method, "http://sandbox"+controlPrefix+path, body)
	if err != nil || status != want {
		t.Fatalf("%s %s %s: got %d %s (%v) want %d", method, path, body, status, text, err, want)
	}
	if data != nil {
		if err := json.Unmarshal([]byte(text), &struct {
			Data any `json:"data"`
		}{data}, json.RejectUnknownMembers(true)); err != nil {
			t.Fatalf("%s %s: %v in %s", method, path, err, text)
		}
	}
	return text
}

// campaignsURL returns the URL of a list on any platform.
func campaignsURL(t *testing.T, s *Server, base string) string {
	t.Helper()
	opened, err := s.Grant(s.own)
	if err != nil {
		t.Fatal(err)
	}
	access := opened[MetaAds]
	return base + "/v26.0/act_" + access.AccountID + "/campaigns?fields=id,name&access_token=" + url.QueryEscape(access.AccessToken)
}

// TestAddresses checks that a platform is reached by host name and by prefix,
// with and without a network.
func TestAddresses(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, Options{Seed: 4})
	_, want, err := sendRequest(t, s, http.MethodGet, campaignsURL(t, s, "https://graph.facebook.com"), "")
	if err != nil || !strings.Contains(want, "Black Friday") {
		t.Fatalf("got %s (%v) want campaigns", want, err)
	}
	if _, got, err := sendRequest(t, s, http.MethodGet, campaignsURL(t, s, "http://sandbox:8787/meta"), ""); err != nil || got != want {
		t.Errorf("below the prefix: got %s (%v) want %s", got, err, want)
	}
	over := httptest.NewServer(s)
	defer over.Close()
	resp, err := over.Client().Get(campaignsURL(t, s, over.URL+"/meta"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if b, err := io.ReadAll(resp.Body); err != nil || string(b) != want {
		t.Errorf("over a network: got %s (%v) want %s", b, err, want)
	}
	for _, address := range []string{"http://sandbox/", "http://sandbox/metaphor/v26.0", "https://example.com/v26.0/me"} {
		if status, text, _ := sendRequest(t, s, http.MethodGet, address, ""); status != http.StatusNotFound || !strings.Contains(text, "/_sandbox/seed") {
			t.Errorf("%s: got %d %s want 404 and where platforms are", address, status, text)
		}
	}
}

// TestRouteKeepsQuery checks that the query reaches the platform unchanged.
func TestRouteKeepsQuery(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequest(http.MethodGet, "http://sandbox/linkedin/rest/a%2Fb?q=List(urn%3Ali%3A1)&x=(a:b)", nil)
	d, base, seen := route(r)
	if d.Platform() != LinkedInAds || base != "http://sandbox/linkedin" {
		t.Fatalf("got %s at %s", d.Platform(), base)
	}
	if seen.URL.EscapedPath() != "/rest/a%2Fb" || seen.URL.RawQuery != "q=List(urn%3Ali%3A1)&x=(a:b)" || r.URL.Path != "/linkedin/rest/a/b" {
		t.Errorf("got %s and %s", seen.URL.EscapedPath(), seen.URL.RawQuery)
	}
}

// TestFaults checks each common fault.
func TestFaults(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, Options{Seed: 4})
	address := campaignsURL(t, s, "http://sandbox/meta")
	_, whole, err := sendRequest(t, s, http.MethodGet, address, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		fault  string
		status int
		text   string
		broken bool
	}{
		{FaultThrottle, 400, "", false},
		{Fault500, 500, "Internal Server Error\n", false},
		{Fault503, 503, "Service Unavailable\n", false},
		{FaultReset, 200, whole[:len(whole)/2], true},
		{FaultTruncated, 200, whole[:len(whole)/2], false},
		{FaultWrongJSON, 200, `["unexpected"]`, false},
		{FaultExpiredToken, 400, "", false},
		{FaultRevokedToken, 400, "", false},
		{FaultVersionSunset, 400, "", false},
	} {
		callControl(t, s, 200, http.MethodPost, "faults", fmt.Sprintf(`{"fault":%q,"count":1}`, tt.fault), nil)
		status, text, err := sendRequest(t, s, http.MethodGet, address, "")
		if status != tt.status || tt.text != "" && text != tt.text || tt.broken != errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: got %d %q (%v) want %d %q", tt.fault, status, text, err, tt.status, tt.text)
		}
		log := s.Journal()
		if e := log[len(log)-1]; e.Fault != tt.fault || e.Status != tt.status {
			t.Errorf("%s: got %+v in the journal", tt.fault, e)
		}
		if status, text, err := sendRequest(t, s, http.MethodGet, address, ""); status != 200 || text != whole || err != nil {
			t.Errorf("after %s: got %d %q (%v) want all as before", tt.fault, status, text, err)
		}
	}
}

// TestResetOverNetwork closes a real connection.
func TestResetOverNetwork(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, Options{Seed: 4})
	over := httptest.NewServer(s)
	defer over.Close()
	if err := s.AddFault(FaultRule{Fault: FaultReset}); err != nil {
		t.Fatal(err)
	}
	resp, err := over.Client().Get(campaignsURL(t, s, over.URL+"/meta"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if b, err := io.ReadAll(resp.Body); !errors.Is(err, io.ErrUnexpectedEOF) || len(b) == 0 {
		t.Errorf("got %d bytes and %v want some and %v", len(b), err, io.ErrUnexpectedEOF)
	}
}

// TestSlowFault waits in synctest time.
func TestSlowFault(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newTestServer(t, Options{Seed: 4})
		if err := s.AddFault(FaultRule{Fault: FaultSlow, Seconds: 90}); err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		if status, _, err := sendRequest(t, s, http.MethodGet, campaignsURL(t, s, "http://sandbox/meta"), ""); status != 200 || err != nil || time.Since(begun) != 90*time.Second {
			t.Errorf("got %d (%v) after %s want 200 after 90 s", status, err, time.Since(begun))
		}
	})
}

// TestFaultRules selects calls by platform, path, count and probability.
func TestFaultRules(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, Options{Seed: 4})
	two := 2
	for _, r := range []FaultRule{{Fault: Fault500, Platform: MetaAds, Path: "/insights", Count: &two}, {Fault: Fault503, Platform: TikTokAds, Probability: 0.3}} {
		if err := s.AddFault(r); err != nil {
			t.Fatal(err)
		}
	}
	for i, tt := range []struct {
		platform, path string
		want           bool
	}{
		{MetaAds, "/v26.0/act_1/campaigns", false},
		{GoogleAds, "/v26.0/act_1/insights", false},
		{MetaAds, "/v26.0/act_1/insights", true},
		{MetaAds, "/v26.0/act_1/insights", true},
		{MetaAds, "/v26.0/act_1/insights", false},
	} {
		if got := s.faults.matchRule(Fault500, tt.platform, tt.path) != nil; got != tt.want {
			t.Errorf("call %d: got %v want %v", i, got, tt.want)
		}
	}
	hits := 0
	for range 1000 {
		if s.faults.matchRule(Fault503, TikTokAds, "/") != nil {
			hits++
		}
	}
	if hits < 240 || hits > 360 {
		t.Errorf("got %d of 1000 want about 300", hits)
	}
	once := 1
	if err := s.AddFault(FaultRule{Fault: FaultTooLarge, Count: &once}); err != nil {
		t.Fatal(err)
	}
	session := newTestCall(s, MetaAds)
	if first, again, next := session.Fault(FaultTooLarge), session.Fault(FaultTooLarge), newTestCall(s, MetaAds).Fault(FaultTooLarge); !first || !again || next {
		t.Errorf("got %v, asked again %v, and %v in the next call", first, again, next)
	}
	if left := s.faults.list(); len(left) != 1 || left[0].Fault != Fault503 {
		t.Errorf("got %+v want the rule that has no end", left)
	}
}

// TestFaultAll checks that a rule for all faults selects each of them, and that
// the result stays the same within a call.
func TestFaultAll(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, Options{Seed: 4})
	if err := s.AddFault(FaultRule{Fault: FaultAll}); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for range 1000 {
		session := newTestCall(s, MetaAds)
		if r := s.faults.chooseFault(session); r != nil {
			seen[r.Fault] = true
			continue
		}
		hit := ""
		for _, name := range platformFaults {
			if session.Fault(name) {
				hit = name
			}
		}
		if hit == "" || !session.Fault(hit) || session.lastFault != hit {
			t.Fatalf("got %q, which is not so any more", hit)
		}
		seen[hit] = true
	}
	if want := len(commonFaults) + len(platformFaults); len(seen) != want {
		t.Errorf("got %d faults want %d: %v", len(seen), want, seen)
	}
}

// TestControlOperations checks the sandbox's own operations.
func TestControlOperations(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, Options{Seed: 4})
	var opened, again map[string]AccountTokens
	callControl(t, s, 200, http.MethodPost, "grants", `{"seed":-5,"currency":"JPY","timezone":"Asia/Tokyo"}`, &opened)
	callControl(t, s, 200, http.MethodPost, "grants", `{"seed":-5,"currency":"JPY","timezone":"Asia/Tokyo"}`, &again)
	if len(opened) != len(platformAPIs) || opened[MetaAds].AccountID != again[MetaAds].AccountID || opened[MetaAds].AccessToken == again[MetaAds].AccessToken {
		t.Errorf("got %v and then %v want the same accounts and other tokens", opened, again)
	}
	if a := opened[TikTokAds]; a.RefreshToken != nil || a.ExpiresIn != nil {
		t.Errorf("got %+v want a token without end", a)
	}
	if a := opened[GA4]; a.RefreshToken == nil || a.ExpiresIn == nil || *a.ExpiresIn != 3600 {
		t.Errorf("got %+v want a token for an hour, and one to renew it", a)
	}
	var own map[string]AccountTokens
	callControl(t, s, 200, http.MethodPost, "grants", "", &own)
	if got, want := own[GA4].AccountID, accountID(s.own, GA4); got != want {
		t.Errorf("got %s want %s", got, want)
	}
	for _, tt := range []struct {
		status             int
		method, path, body string
		says               string
	}{
		{400, "POST", "grants", `{"currency":"yen"}`, "ISO 4217"},
		{400, "POST", "grants", `{"timezone":"Tokyo"}`, "IANA"},
		{400, "POST", "grants", `{"sed":1}`, "sed"},
		{400, "POST", "faults", `{"fault":"gremlins"}`, "throttle, error_500"},
		{400, "POST", "faults", `{"fault":"reset","platform":"myspace"}`, "google_ads, meta_ads"},
		{400, "POST", "faults", `{"fault":"reset","probability":2}`, "probability"},
		{400, "POST", "faults", `{"fault":"reset","count":0}`, "count"},
		{400, "POST", "faults", `[{"fault":"reset"},{"fault":"slow","seconds":-1}]`, "seconds"},
		{400, "POST", "faults", ``, "rules"},
		{400, "POST", "clock", `{"now":"yesterday"}`, "2026-11-01T12:00:00Z"},
		{400, "POST", "clock", `{"advance":"a day"}`, "24h"},
		{404, "GET", "truth?account=1&start_date=2026-11-01&end_date=2026-11-02", "", "grants"},
		{400, "GET", "truth?account=" + own[MetaAds].AccountID + "&start_date=2026-11-1&end_date=2026-11-02", "", "start_date"},
		{400, "GET", "truth?account=" + own[MetaAds].AccountID + "&start_date=2026-11-03&end_date=2026-11-02", "", "before"},
		{400, "GET", "truth?account=" + own[MetaAds].AccountID + "&start_date=1926-11-03&end_date=2026-11-02", "", "2000 days"},
		{404, "GET", "nothing", "", "grants, truth"},
		{404, "PUT", "clock", "", "PUT"},
	} {
		if text := callControl(t, s, tt.status, tt.method, tt.path, tt.body, nil); !strings.Contains(text, tt.says) || !strings.Contains(text, `{"error":{"code":`) {
			t.Errorf("%s %s %s: got %s want it to say %s", tt.method, tt.path, tt.body, text, tt.says)
		}
	}
	if len(s.faults.list()) != 0 {
		t.Errorf("got %v want no rule of those that were refused", s.faults.list())
	}
	var rules []FaultRule
	callControl(t, s, 200, http.MethodPost, "faults", `[{"fault":"reset","count":3},{"fault":"all","probability":0.05}]`, &rules)
	if len(rules) != 2 || *rules[0].Count != 3 || rules[1].Probability != 0.05 || rules[1].Seconds != 1 {
		t.Errorf("got %+v", rules)
	}
	callControl(t, s, 204, http.MethodDelete, "faults", "", nil)
	callControl(t, s, 200, http.MethodGet, "faults", "", &rules)
	if len(rules) != 0 {
		t.Errorf("got %+v want none", rules)
	}
}

// TestClock freezes the clock, advances it and releases it.
func TestClock(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, Options{})
	for _, tt := range []struct {
		body   string
		want   string
		stands bool
	}{
		{`{"advance":"36h"}`, "2026-11-17T00:00:00Z", false},
		{`{"now":"2026-01-31T23:30:00+01:00"}`, "2026-01-31T22:30:00Z", true},
		{`{"advance":"24h"}`, "2026-02-01T22:30:00Z", true},
		{`{"now":"2026-05-01T00:00:00Z","advance":"-1h"}`, "2026-04-30T23:00:00Z", true},
		{`{"now":null}`, "2026-11-15T12:00:00Z", false},
	} {
		var got struct {
			Now    string `json:"now"`
			Stands bool   `json:"stands"`
		}
		callControl(t, s, 200, http.MethodPost, "clock", tt.body, &got)
		if got.Now != tt.want || got.Stands != tt.stands {
			t.Errorf("%s: got %+v want %s, standing: %v", tt.body, got, tt.want, tt.stands)
		}
		callControl(t, s, 200, http.MethodGet, "clock", "", &got)
		if got.Now != tt.want {
			t.Errorf("after %s: got %s want %s", tt.body, got.Now, tt.want)
		}
	}
}

// TestTruth checks that it equals the sum of rows on every day of the range,
// and is null for measures that a platform does not report.
func TestTruth(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, Options{Seed: 4, Timezone: "Asia/Tokyo"})
	first, last := clock.MakeDate(2026, 11, 1), clock.MakeDate(2026, 11, 20)
	for _, platform := range platformNames() {
		a := testAccount(t, s, platform)
		account := a.ID
		switch platform {
		case MetaAds:
			account = "act_" + a.ID
		case GoogleAds:
			account = a.ID[:3] + "-" + a.ID[3:6] + "-" + a.ID[6:]
		}
		var truth Truth
		callControl(t, s, 200, http.MethodGet, "truth?account="+account+"&start_date="+first.String()+"&end_date="+last.String(), "", &truth)
		if truth.AccountID != a.ID || truth.Platform != platform || truth.Currency != "USD" || (truth.Timezone == "UTC") != (platform == LinkedInAds) || truth.AsOf != s.Today(a) {
			t.Errorf("%s: got %+v", platform, truth)
		}
		for family, level := range familyLevels {
			days := truth.Families[family.String()]
			if platform == LinkedInAds && level == ByAgeAndGender {
				if days != nil {
					t.Errorf("got %s of LinkedIn", family)
				}
				continue
			}
			if len(days) != 20 {
				t.Fatalf("%s, %s: got %d days want 20", platform, family, len(days))
			}
			sums := sumByDay(s, a, level, first, last, s.Today(a))
			for i, got := range days {
				day := first + clock.Date(i)
				want := a.traits.truthDay(family, day, &fact.Values{V: sums[day]})
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s, %s:\n%s", platform, family, diff)
				}
			}
			if d := days[0]; (d.SpendMicros == nil) != (platform == GA4) || (d.Leads == nil) != (platform != LinkedInAds) || (d.Impressions == nil) != (platform == GA4) ||
				(d.RevenueMicros == nil) != ((platform == TikTokAds || platform == LinkedInAds) && family != fact.Base) ||
				(d.ConversionsMicros == nil) != (platform == LinkedInAds && family == fact.Device) {
				t.Errorf("%s, %s: got %+v", platform, family, d)
			}
			if d := days[19]; d.ConversionsMicros != nil && *d.ConversionsMicros != 0 || d.Date != last {
				t.Errorf("%s, %s: got %+v on a day to come", platform, family, d)
			}
		}
	}
}

// TestJournal checks that calls are recorded without their secrets.
func TestJournal(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, Options{Seed: 4})
	_, _, _ = sendRequest(t, s, http.MethodPost, "https://graph.facebook.com/v26.0/1?access_token=hush1&x=a%2Cb", `status=PAUSED&client_secret=hush2&access%5Ftoken=hush3`,
		"Content-Type", "application/x-www-form-urlencoded", "Authorization", "Bearer hush4", "X-Other", "kept")
	_, _, _ = sendRequest(t, s, http.MethodPost, "http://sandbox/tiktok/open_api/v1.3/oauth2/access_token/", `{"app_id":"7","secret":"hush5","list":[{"auth_code":"hush6"}],"n":1}`,
		"Content-Type", "application/json", "Access-Token", "hush7")
	var log []Entry
	text := callControl(t, s, 200, http.MethodGet, "journal", "", &log)
	if strings.Contains(text, "hush") || len(log) != 2 {
		t.Fatalf("got %s", text)
	}
	e := log[0]
	if e.Platform != MetaAds || e.Method != http.MethodPost || e.Host != "graph.facebook.com" || e.Path != "/v26.0/1" || e.Query != "access_token=[sealed]&x=a%2Cb" ||
		string(e.Body) != `"status=PAUSED&client_secret=[sealed]&access%5Ftoken=[sealed]"` || e.Header.Get("Authorization") != "Bearer [sealed]" || e.Header.Get("X-Other") != "kept" || e.Status == 0 {
		t.Errorf("got %+v, body %s", e, e.Body)
	}
	e = log[1]
	if e.Platform != TikTokAds || e.Path != "/open_api/v1.3/oauth2/access_token/" || string(e.Body) != `{"app_id":"7","list":[{"auth_code":"[sealed]"}],"n":1,"secret":"[sealed]"}` || e.Header.Get("Access-Token") != "[sealed]" {
		t.Errorf("got %+v, body %s", e, e.Body)
	}
	callControl(t, s, 204, http.MethodDelete, "journal", "", nil)
	if left := s.Journal(); len(left) != 0 {
		t.Errorf("got %v want nothing", left)
	}
	for i := range 2*maxJournal + 5 {
		s.journal.add(Entry{Status: i})
	}
	if got := s.Journal(); len(got) != maxJournal || got[maxJournal-1].Status != 2*maxJournal+4 || got[0].Status != maxJournal+5 {
		t.Errorf("got %d calls from %d", len(got), got[0].Status)
	}
}

// TestStateIsWrittenBeforeAnswer checks that the file has the change of a call
// when the answer is sent.
func TestStateIsWrittenBeforeAnswer(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "state.json")
	s := newTestServer(t, Options{State: file})
	opened, err := s.Grant(s.own)
	if err != nil {
		t.Fatal(err)
	}
	c := testAccount(t, s, MetaAds).Campaigns[0]
	status, text, err := sendRequest(t, s, http.MethodPost, "https://graph.facebook.com/v26.0/"+c.ID, "status=PAUSED", "Content-Type", "application/x-www-form-urlencoded", "Authorization", "Bearer "+opened[MetaAds].AccessToken)
	if err != nil || status != 200 {
		t.Fatalf("got %d %s (%v)", status, text, err)
	}
	again := newTestServer(t, Options{State: file})
	if newTestCall(again, MetaAds).Runs(testAccount(t, again, MetaAds), c) {
		t.Error("the campaign runs again")
	}
}

// TestStateCannotBeWritten checks that callers get an error.
func TestStateCannotBeWritten(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, Options{State: filepath.Join(t.TempDir(), "gone", "state.json")})
	if _, err := s.Grant(s.own); err == nil {
		t.Error("got no error from a folder that is not there")
	}
	if status, text, _ := sendRequest(t, s, http.MethodGet, "http://sandbox/meta/", ""); status != 500 || !strings.Contains(text, "state") {
		t.Errorf("got %d %s want 500 and why", status, text)
	}
}
