package linkedin_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	difference "github.com/google/go-cmp/cmp"

	"fanfare/internal/adplatform/linkedin"
	"fanfare/internal/adplatform/sandbox"
	"fanfare/internal/adplatform/transport"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/fact"
	"fanfare/internal/secret"
)

var (
	now = time.Date(2026, 10, 20, 12, 0, 0, 0, time.UTC)

	_ connection.Client  = (*linkedin.Client)(nil)
	_ connection.Grantor = (*linkedin.Client)(nil)
)

// testSandbox is a sandbox with a connected client.
type testSandbox struct {
	server  *sandbox.Server
	client  *linkedin.Client
	account *sandbox.Account
	access  connection.Credentials
	// at is the time, which passes only by sleeping.
	at    time.Time
	slept time.Duration
	// reportQueries are the queries for metrics.
	reportQueries []string
}

// Do implements transport.Doer.
func (w *testSandbox) Do(r *http.Request) (*http.Response, error) {
	if strings.HasSuffix(r.URL.Path, "/adAnalytics") {
		w.reportQueries = append(w.reportQueries, r.URL.RawQuery)
	}
	return w.server.Do(r)
}

func newSandbox(t *testing.T, scale int) *testSandbox {
	t.Helper()
	w := &testSandbox{at: now}
	server, err := sandbox.New(sandbox.Options{Seed: 7, Currency: "EUR", Timezone: "Europe/Berlin", Scale: scale, Now: func() time.Time { return w.at.Add(w.slept) }})
	if err != nil {
		t.Fatal(err)
	}
	granted, err := server.Grant(server.Own())
	if err != nil {
		t.Fatal(err)
	}
	w.server = server
	w.client = linkedin.New(transport.Options{
		Base: "http://sandbox.test/linkedin", Do: w, Now: func() time.Time { return w.at.Add(w.slept) },
		Sleep: func(_ context.Context, d time.Duration) error { w.slept += d; return nil },
	})
	grant := granted[sandbox.LinkedInAds]
	w.account, _ = server.Account(grant.AccountID)
	w.access = credentialsOf(grant)
	return w
}

func credentialsOf(g sandbox.AccountTokens) connection.Credentials {
	return connection.Credentials{
		Access: secret.New(g.AccessToken), Refresh: secret.New(*g.RefreshToken), App: connection.OAuthClient{ID: "app", Secret: secret.New("app-secret")},
	}
}

func (w *testSandbox) addFault(t *testing.T, r sandbox.FaultRule) {
	t.Helper()
	r.Platform = sandbox.LinkedInAds
	if err := w.server.AddFault(r); err != nil {
		t.Fatal(err)
	}
}

// report reads a level over the last days.
func (w *testSandbox) report(t *testing.T, level connection.Level, days clock.Date) ([]fact.Row, error) {
	t.Helper()
	entities, err := w.client.Entities(t.Context(), w.access, w.account.ID)
	if err != nil {
		return nil, err
	}
	rows := []fact.Row{}
	today := w.server.Today(w.account)
	q := connection.Report{Account: w.account.ID, Level: level, First: today - days + 1, Last: today, Entities: entities}
	err = w.client.Report(t.Context(), w.access, q, func(some []fact.Row) error {
		rows = append(rows, some...)
		return nil
	})
	return rows, err
}

var sandboxLevels = map[connection.Level]sandbox.Level{
	connection.LevelAccount: sandbox.ByAccount, connection.LevelCampaign: sandbox.ByCampaign, connection.LevelAd: sandbox.ByAd,
	connection.LevelGeo: sandbox.ByCountry, connection.LevelDevice: sandbox.ByDevice,
}

// expectedRows returns the rows that a report must contain. A campaign is its
// own ad group, so its rows without an ad belong to its audience too. Countries
// have neither campaign nor revenue, devices no conversions.
func (w *testSandbox) expectedRows(level connection.Level, days clock.Date) []fact.Row {
	today := w.server.Today(w.account)
	sums := map[fact.Row]fact.Values{}
	for r := range w.server.Rows(w.account, sandboxLevels[level], today-days+1, today) {
		row := fact.Row{Family: connection.Families[level], Date: r.Date, Channel: "social", Country: r.Country, Device: r.Device}
		if r.Campaign != nil && level != connection.LevelGeo {
			row.Campaign = fact.Entity{ExternalID: r.Campaign.ID, Name: r.Campaign.Name}
			if audience := r.Campaign.Groups[0].Audience; audience != nil && level > connection.LevelCampaign {
				row.Audience = fact.Entity{ExternalID: audience.ID, Name: audience.Name}
			}
		}
		if r.Ad != nil {
			row.Creative = fact.Entity{ExternalID: r.Ad.ID, Name: r.Ad.Name}
		}
		if r.Device == "tablet" {
			row.Device = "mobile"
		}
		values := r.Values
		if before, again := sums[row]; again {
			for m := range fact.Measure(fact.NumMeasures) {
				if n, known := r.Values.Get(m); known {
					values.Set(m, before.V[m]+n)
				}
			}
		}
		if level >= connection.LevelGeo {
			values = withoutMeasure(withoutMeasure(values, fact.Reach), fact.Revenue)
		}
		if level == connection.LevelDevice {
			values = withoutMeasure(values, fact.Conversions)
		}
		sums[row] = values
	}
	rows := []fact.Row{}
	for row, values := range sums {
		row.Values = values
		rows = append(rows, row)
	}
	return rows
}

func withoutMeasure(v fact.Values, measure fact.Measure) (rest fact.Values) {
	for m := range fact.Measure(fact.NumMeasures) {
		if n, known := v.Get(m); known && m != measure {
			rest.Set(m, n)
		}
	}
	return rest
}

// compareRows compares rows in any order.
func compareRows(t *testing.T, got, want []fact.Row) {
	t.Helper()
	lines := func(rows []fact.Row) []string {
		list := []string{}
		for _, r := range rows {
			list = append(list, fmt.Sprintf("%v", r))
		}
		slices.Sort(list)
		return list
	}
	g, w := lines(got), lines(want)
	if !slices.Equal(g, w) {
		t.Errorf("got %d rows want %d, which differ (-want +got):\n%.2000s", len(g), len(w), difference.Diff(w, g))
	}
}

func TestReportMatchesSandbox(t *testing.T) {
	t.Parallel()
	w := newSandbox(t, 1)
	for _, level := range w.client.About().Levels {
		got, err := w.report(t, level, 60)
		if err != nil {
			t.Fatalf("level %d: %v", level, err)
		}
		want := w.expectedRows(level, 60)
		if len(want) < 60 {
			t.Fatalf("level %d: only %d rows to compare", level, len(want))
		}
		compareRows(t, got, want)
	}
	if _, err := w.report(t, connection.LevelDemographic, 1); connection.ClassOf(err) != connection.Refused {
		t.Errorf("by age and gender: got %v want it refused", err)
	}
}

// TestCallSizeLimits checks that a report needs one call however many campaigns
// there are, and that no call exceeds LinkedIn's limits: 20 fields and 4 KB.
func TestCallSizeLimits(t *testing.T) {
	t.Parallel()
	w := newSandbox(t, 40)
	campaigns := len(w.account.Campaigns)
	if campaigns <= 100 {
		t.Fatalf("got %d campaigns want more than two calls could name", campaigns)
	}
	for _, level := range w.client.About().Levels {
		w.reportQueries = nil
		got, err := w.report(t, level, 2)
		if err != nil {
			t.Fatal(err)
		}
		compareRows(t, got, w.expectedRows(level, 2))
		if len(w.reportQueries) != 1 {
			t.Errorf("level %d: got %d calls want 1", level, len(w.reportQueries))
		}
		for _, query := range w.reportQueries {
			_, fields, _ := strings.Cut(query, "fields=")
			if len(query) > 4000 || strings.Count(fields, ",") >= 20 || !strings.Contains(query, "(start:(year:2026,month:10,day:19)") {
				t.Errorf("level %d: got a query of %d bytes: %.300s", level, len(query), query)
			}
		}
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		rule sandbox.FaultRule
		want connection.Class
		code string
	}{
		{sandbox.FaultRule{Fault: sandbox.FaultThrottle, Seconds: 300, Count: new(1)}, connection.Throttled, "TOO_MANY_REQUESTS"},
		{sandbox.FaultRule{Fault: sandbox.FaultThrottle, Seconds: 1, Count: new(2)}, "", ""},
		{sandbox.FaultRule{Fault: sandbox.Fault500, Count: new(2)}, "", ""},
		{sandbox.FaultRule{Fault: sandbox.Fault503}, connection.Transient, "503"},
		{sandbox.FaultRule{Fault: sandbox.FaultReset, Count: new(1)}, "", ""},
		{sandbox.FaultRule{Fault: sandbox.FaultTruncated, Count: new(1)}, "", ""},
		{sandbox.FaultRule{Fault: sandbox.FaultWrongJSON, Count: new(1)}, "", ""},
		{sandbox.FaultRule{Fault: sandbox.FaultTooLarge, Count: new(1)}, connection.TooLarge, "URI_TOO_LONG"},
		{sandbox.FaultRule{Fault: sandbox.FaultExpiredToken, Count: new(1)}, connection.Expired, "EXPIRED_ACCESS_TOKEN"},
		{sandbox.FaultRule{Fault: sandbox.FaultRevokedToken, Count: new(1)}, connection.Revoked, "REVOKED_ACCESS_TOKEN"},
		{sandbox.FaultRule{Fault: sandbox.FaultVersionSunset, Count: new(1)}, connection.Sunset, "NONEXISTENT_VERSION"},
		{sandbox.FaultRule{Fault: sandbox.FaultAccountDisabled, Count: new(1)}, connection.Forbidden, "ACCESS_DENIED"},
	} {
		t.Run(fmt.Sprint(test.rule.Fault, test.want), func(t *testing.T) {
			t.Parallel()
			w := newSandbox(t, 1)
			test.rule.Path = "/adAnalytics"
			w.addFault(t, test.rule)
			_, err := w.report(t, connection.LevelCampaign, 30)
			if test.want == "" {
				if err != nil {
					t.Fatalf("got %v want it passed over", err)
				}
				return
			}
			e, ok := errors.AsType[*connection.Error](err)
			if !ok || e.Class != test.want || e.Code != test.code || e.Message == "" {
				t.Fatalf("got %v want %s %s", err, test.want, test.code)
			}
			if e.Class == connection.Throttled && !e.Until.Equal(now.Add(330*time.Second)) {
				t.Errorf("got until %v want 330 seconds later", e.Until)
			}
			if strings.Contains(fmt.Sprintf("%v %+v", err, e), w.access.Access.Reveal()) {
				t.Errorf("got %v, which shows a secret", err)
			}
		})
	}
}

// TestErrorClasses has answers that the sandbox does not return.
func TestErrorClasses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		status int
		body   string
		want   connection.Class
	}{
		{400, `{"status":400,"message":"Query parameters are too long"}`, connection.TooLarge},
		{400, `{"status":400,"code":"FIELD_INVALID","message":"no"}`, connection.Refused},
		{401, `{"status":401,"serviceErrorCode":65600,"message":"Invalid access token"}`, connection.Revoked},
		{404, `{"status":404,"message":"gone"}`, connection.Gone},
		{413, ``, connection.TooLarge},
		{426, `{"code":"NONEXISTENT_VERSION"}`, connection.Sunset},
		{502, `<html>`, connection.Transient},
	} {
		c := clientOf(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(test.status)
			fmt.Fprint(w, test.body)
		})
		_, err := c.Status(t.Context(), connection.Credentials{}, "1", "2")
		if err == nil || connection.ClassOf(err) != test.want {
			t.Errorf("%d %s: got %v want %s", test.status, test.body, err, test.want)
		}
	}
	c := clientOf(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTooManyRequests)
		fmt.Fprint(w, `{"message":"Resource level throttle APPLICATION DAY limit for calls to this resource is reached."}`)
	})
	_, err := c.Status(t.Context(), connection.Credentials{}, "1", "2")
	if e, ok := errors.AsType[*connection.Error](err); !ok || !e.Until.Equal(time.Date(2026, 10, 21, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("got %v want it held until midnight", err)
	}
}

// clientOf returns a client of a handler.
func clientOf(answer http.HandlerFunc) *linkedin.Client {
	return linkedin.New(transport.Options{
		Base: "http://linkedin.test", Do: handlerDoer(answer), Now: func() time.Time { return now }, Sleep: func(context.Context, time.Duration) error { return nil },
	})
}

type handlerDoer http.HandlerFunc

func (d handlerDoer) Do(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	if r.Body == nil {
		r.Body = http.NoBody
	}
	d(w, r)
	return w.Result(), nil
}

// reportElement returns a report with one row whose members can be replaced.
func reportElement(fields string) string {
	return `{"elements":[{"pivotValues":["urn:li:sponsoredCampaign:1"],"dateRange":{"start":{"year":2026,"month":10,"day":1}}` + fields + `}]}`
}

func readMetrics(t *testing.T, answer string) ([]fact.Row, error) {
	t.Helper()
	c := clientOf(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, answer) })
	var got []fact.Row
	q := connection.Report{Account: "1", Level: connection.LevelCampaign, Entities: &connection.Entities{Campaigns: []connection.Entity{{External: "1"}}}}
	err := c.Report(t.Context(), connection.Credentials{}, q, func(rows []fact.Row) error {
		got = append(got, rows...)
		return nil
	})
	return got, err
}

// TestAmounts checks that amounts are exact to the millionth whatever their
// number of digits, and that absent ones are unknown.
func TestAmounts(t *testing.T) {
	t.Parallel()
	for field, want := range map[string]string{
		``: "unknown", `,"costInLocalCurrency":null`: "unknown", `,"costInLocalCurrency":"0"`: "0", `,"costInLocalCurrency":"12.34"`: "12340000",
		`,"costInLocalCurrency":"0.0534000000000000013"`: "53400", `,"costInLocalCurrency":"0.05339999999999"`: "53400", `,"costInLocalCurrency":"-0.0000005"`: "-1",
		`,"costInLocalCurrency":7.5`: "7500000", `,"costInLocalCurrency":"1e3"`: "refused", `,"costInLocalCurrency":"x"`: "refused", `,"costInLocalCurrency":{}`: "refused",
	} {
		got := "refused"
		rows, err := readMetrics(t, reportElement(field))
		if err == nil {
			n, known := rows[0].Values.Get(fact.Spend)
			if got = fmt.Sprint(n); !known {
				got = "unknown"
			}
		}
		if got != want {
			t.Errorf("%s: got %s (%v) want %s", field, got, err, want)
		}
	}
}

func TestDuplicateRows(t *testing.T) {
	t.Parallel()
	one := strings.TrimSuffix(strings.TrimPrefix(reportElement(`,"clicks":1`), `{"elements":[`), `]}`)
	two := strings.Replace(one, `"clicks":1`, `"clicks":2`, 1)
	if rows, err := readMetrics(t, `{"elements":[`+one+","+one+`]}`); err != nil || len(rows) != 1 || rows[0].Values.V[fact.Clicks] != 1 {
		t.Errorf("the same again: got %v (%v) want one row", rows, err)
	}
	if _, err := readMetrics(t, `{"elements":[`+one+","+two+`]}`); err == nil || connection.ClassOf(err) != connection.PagesDisagree {
		t.Errorf("another again: got %v want drift", err)
	}
	if _, err := readMetrics(t, `{"elements":[`+strings.Repeat(one+",", 14_999)+one+`]}`); err == nil || connection.ClassOf(err) != connection.TooLarge {
		t.Errorf("as many as there can be: got %v want too large", err)
	}
}

func TestAccounts(t *testing.T) {
	t.Parallel()
	w := newSandbox(t, 1)
	got, err := w.client.Accounts(t.Context(), w.access)
	if err != nil || len(got) != 1 {
		t.Fatalf("got %v (%v) want one account", got, err)
	}
	want := connection.Account{ExternalID: w.account.ID, Name: w.account.Name, Currency: "EUR", Timezone: "UTC", URL: got[0].URL, Enabled: true}
	if diff := difference.Diff(want, got[0]); diff != "" {
		t.Errorf("differs (-want +got):\n%s", diff)
	}
}

func TestEntities(t *testing.T) {
	t.Parallel()
	w := newSandbox(t, 40)
	w.addFault(t, sandbox.FaultRule{Fault: sandbox.FaultDuplicatePage})
	got, err := w.client.Entities(t.Context(), w.access, w.account.ID)
	if err != nil {
		t.Fatal(err)
	}
	creatives, groups := 0, map[string]string{}
	for _, c := range w.account.Campaigns {
		creatives += len(c.Groups[0].Ads)
		if c.Groups[0].Audience != nil {
			groups[c.ID] = c.Groups[0].Audience.ID
		}
	}
	if creatives <= 100 {
		t.Fatalf("got %d creatives want more than a page", creatives)
	}
	if len(got.Campaigns) != len(w.account.Campaigns) || len(got.Ads) != creatives || len(got.Audiences) != len(w.account.Audiences) {
		t.Errorf("got %d campaigns, %d ads, %d audiences", len(got.Campaigns), len(got.Ads), len(got.Audiences))
	}
	if diff := difference.Diff(groups, got.Groups); diff != "" {
		t.Errorf("groups differ (-want +got):\n%s", diff)
	}
	first := w.account.Campaigns[0]
	if c := got.Campaigns[0]; c.External != first.ID || c.Name != first.Name || c.Channel != "social" || c.Status != "ACTIVE" || !c.Runs {
		t.Errorf("got %+v want %s", c, first.Name)
	}
	if a := got.Audiences[0]; a.External != w.account.Audiences[0].ID || a.Size == nil || *a.Size != w.account.Audiences[0].Size {
		t.Errorf("got %+v want %+v", a, w.account.Audiences[0])
	}
	// A list that is wrong once is read again; one that is never the same is
	// not taken.
	for _, fault := range []string{sandbox.FaultSkipPage, sandbox.FaultDriftingTotal} {
		w.addFault(t, sandbox.FaultRule{Fault: fault, Count: new(1)})
		if again, err := w.client.Entities(t.Context(), w.access, w.account.ID); err != nil || len(again.Audiences) != len(w.account.Audiences) {
			t.Errorf("%s: got %v want all audiences", fault, err)
		}
	}
	n := 0
	changing := clientOf(func(w http.ResponseWriter, r *http.Request) {
		elements := ""
		if strings.HasSuffix(r.URL.Path, "/adSegments") {
			n++
			elements = fmt.Sprintf(`{"id":%d}`, n)
		}
		fmt.Fprintf(w, `{"elements":[%s],"paging":{"total":2}}`, elements)
	})
	if _, err := changing.Entities(t.Context(), connection.Credentials{}, "1"); connection.ClassOf(err) != connection.PagesDisagree {
		t.Errorf("got %v want drift", err)
	}
}

func TestStatus(t *testing.T) {
	t.Parallel()
	w := newSandbox(t, 1)
	id := w.account.Campaigns[0].ID
	for _, run := range []bool{false, false, true, true} {
		if err := w.client.SetStatus(t.Context(), w.access, w.account.ID, id, run); err != nil {
			t.Fatal(err)
		}
		got, err := w.client.Status(t.Context(), w.access, w.account.ID, id)
		if err != nil || got.Runs != run || got.Status != map[bool]string{true: "ACTIVE", false: "PAUSED"}[run] {
			t.Errorf("got %+v (%v) want %v", got, err, run)
		}
	}
	if _, err := w.client.Status(t.Context(), w.access, w.account.ID, "1"); connection.ClassOf(err) != connection.Gone {
		t.Errorf("got %v want gone", err)
	}
	if err := w.client.SetStatus(t.Context(), w.access, "1", id, false); connection.ClassOf(err) != connection.Forbidden {
		t.Errorf("another's account: got %v want forbidden", err)
	}
}
