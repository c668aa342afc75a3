package ga4

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fanfare/internal/adplatform/sandbox"
	"fanfare/internal/adplatform/transport"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/fact"
	"fanfare/internal/secret"
)

var (
	_ connection.Client  = (*Client)(nil)
	_ connection.Grantor = (*Client)(nil)
)

// testSandbox is a sandbox with a connected client. Time passes only when the
// client sleeps.
type testSandbox struct {
	server  *sandbox.Server
	client  *Client
	creds   connection.Credentials
	account *sandbox.Account

	mu    sync.Mutex
	now   time.Time
	calls []string
	// before is called before each call with its number, if set.
	before func(call int)
}

// Do implements transport.Doer. It records the calls.
func (f *testSandbox) Do(req *http.Request) (*http.Response, error) {
	f.mu.Lock()
	f.calls = append(f.calls, req.Method+" "+req.URL.Path)
	number := len(f.calls)
	f.mu.Unlock()
	if f.before != nil {
		f.before(number)
	}
	return f.server.Do(req)
}

func (f *testSandbox) clock() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now
}

func (f *testSandbox) sleep(_ context.Context, d time.Duration) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now = f.now.Add(d)
	return nil
}

func openSandbox(t *testing.T) *testSandbox {
	t.Helper()
	return openSandboxAt(t, time.Date(2026, 10, 20, 12, 0, 0, 0, time.UTC))
}

func openSandboxAt(t *testing.T, now time.Time) *testSandbox {
	t.Helper()
	f := &testSandbox{now: now}
	server, err := sandbox.New(sandbox.Options{Seed: 7, Currency: "EUR", Timezone: "Europe/Berlin", Now: f.clock})
	if err != nil {
		t.Fatal(err)
	}
	granted, err := server.Grant(server.Own())
	if err != nil {
		t.Fatal(err)
	}
	access := granted[sandbox.GA4]
	f.server = server
	f.account, _ = server.Account(access.AccountID)
	f.client = New(transport.Options{Base: "http://sandbox/ga4", Do: f, Now: f.clock, Sleep: f.sleep})
	f.creds = connection.Credentials{Access: secret.New(access.AccessToken), Refresh: secret.New(*access.RefreshToken)}
	return f
}

func (f *testSandbox) report(ctx context.Context, level connection.Level, first, last clock.Date) (map[fact.Row]fact.Values, error) {
	rows := map[fact.Row]fact.Values{}
	err := f.client.Report(ctx, f.creds, connection.Report{Account: f.account.ID, Level: level, First: first, Last: last}, func(some []fact.Row) error {
		for _, r := range some {
			key := r
			key.Values = fact.Values{}
			if _, there := rows[key]; there {
				return errors.New("a key came twice")
			}
			rows[key] = r.Values
		}
		return nil
	})
	return rows, err
}

var sandboxLevels = map[connection.Level]sandbox.Level{
	connection.LevelAccount: sandbox.ByAccount, connection.LevelCampaign: sandbox.ByCampaign, connection.LevelAd: sandbox.ByAd,
	connection.LevelGeo: sandbox.ByCountry, connection.LevelDemographic: sandbox.ByAgeAndGender, connection.LevelDevice: sandbox.ByDevice,
}

// expectedRows returns the rows of the property in the form of GA4 facts:
// without spend and audiences.
func (f *testSandbox) expectedRows(level connection.Level, first, last clock.Date) map[fact.Row]fact.Values {
	rows := map[fact.Row]fact.Values{}
	for r := range f.server.Rows(f.account, sandboxLevels[level], first, last) {
		row := fact.Row{Date: r.Date, Family: connection.Families[level], Country: r.Country, AgeRange: r.AgeRange, Gender: r.Gender, Device: r.Device}
		if r.Campaign != nil {
			row.Campaign, row.Channel = fact.Entity{ExternalID: r.Campaign.Name, Name: r.Campaign.Name}, r.Campaign.Channel
		}
		if r.Ad != nil {
			row.Creative = fact.Entity{ExternalID: r.Ad.Name, Name: r.Ad.Name}
		}
		sum := rows[row]
		sum.Set(fact.Conversions, sum.V[fact.Conversions]+r.Values.V[fact.Conversions])
		sum.Set(fact.Revenue, sum.V[fact.Revenue]+r.Values.V[fact.Revenue])
		if sum.V != [fact.NumMeasures]int64{} {
			rows[row] = sum
		}
	}
	return rows
}

func TestReportMatchesSandbox(t *testing.T) {
	t.Parallel()
	f := openSandbox(t)
	today := f.server.Today(f.account)
	for _, page := range []int{pageRows, 37} {
		f.client.page = page
		for level := range sandboxLevels {
			last := today
			if page < pageRows {
				last = today - 57
			}
			got, err := f.report(t.Context(), level, today-59, last)
			if err != nil {
				t.Fatalf("level %d: %v", level, err)
			}
			want := f.expectedRows(level, today-59, last)
			if len(want) == 0 || len(got) != len(want) {
				t.Errorf("level %d: got %d rows want %d", level, len(got), len(want))
			}
			for key, values := range want {
				if got[key] != values {
					t.Errorf("level %d, %+v: got %v want %v", level, key, got[key], values)
					break
				}
			}
		}
	}
}

func TestAccountsAndEntities(t *testing.T) {
	t.Parallel()
	f := openSandbox(t)
	accounts, err := f.client.Accounts(t.Context(), f.creds)
	if err != nil {
		t.Fatal(err)
	}
	link := "https://analytics.google.com/analytics/web/#/p" + f.account.ID
	want := []connection.Account{{ExternalID: f.account.ID, Name: f.account.Name, Currency: "EUR", Timezone: "Europe/Berlin", URL: &link, Enabled: true}}
	if diff := cmp.Diff(want, accounts); diff != "" {
		t.Errorf("accounts differ (-want +got):\n%s", diff)
	}
	entities, err := f.client.Entities(t.Context(), f.creds, f.account.ID)
	if err != nil {
		t.Fatal(err)
	}
	channels := map[string]string{}
	for _, c := range entities.Campaigns {
		channels[c.External] = c.Channel
	}
	today := f.server.Today(f.account)
	seen, seenAds := map[string]string{}, map[string]bool{}
	for r := range f.server.Rows(f.account, sandbox.ByAd, today-90, today) {
		seenAds[r.Ad.Name] = true
	}
	for r := range f.server.Rows(f.account, sandbox.ByCampaign, today-90, today) {
		seen[r.Campaign.Name] = r.Campaign.Channel
	}
	if diff := cmp.Diff(seen, channels); diff != "" {
		t.Errorf("campaigns differ (-want +got):\n%s", diff)
	}
	if len(entities.Ads) != len(seenAds) || len(entities.Ads) == 0 {
		t.Errorf("got %d ads want %d", len(entities.Ads), len(seenAds))
	}
}

func TestChangesAreRefused(t *testing.T) {
	t.Parallel()
	f := openSandbox(t)
	if err := f.client.SetStatus(t.Context(), f.creds, f.account.ID, "c", false); connection.ClassOf(err) != connection.Forbidden {
		t.Errorf("got %v want %s", err, connection.Forbidden)
	}
	if _, err := f.client.Status(t.Context(), f.creds, f.account.ID, "c"); connection.ClassOf(err) != connection.Forbidden {
		t.Errorf("got %v want %s", err, connection.Forbidden)
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		fault   string
		seconds int
		// want is empty if the client recovers.
		want connection.Class
		code string
	}{
		{fault: sandbox.FaultThrottle, seconds: 7},
		{fault: sandbox.FaultThrottle, seconds: 3600, want: connection.Throttled, code: "RESOURCE_EXHAUSTED"},
		{fault: sandbox.Fault500},
		{fault: sandbox.Fault503},
		{fault: sandbox.FaultReset},
		{fault: sandbox.FaultTruncated},
		{fault: sandbox.FaultWrongJSON},
		{fault: sandbox.FaultDuplicatePage, want: connection.PagesDisagree, code: "missing_rows"},
		{fault: sandbox.FaultSkipPage, want: connection.PagesDisagree, code: "missing_rows"},
		{fault: sandbox.FaultDriftingTotal, want: connection.PagesDisagree, code: "changed_total"},
		{fault: sandbox.FaultExpiredToken, want: connection.Expired, code: "ACCESS_TOKEN_EXPIRED"},
		// Only a refresh reports that access was revoked.
		{fault: sandbox.FaultRevokedToken, want: connection.Expired, code: "ACCESS_TOKEN_TYPE_UNSUPPORTED"},
		{fault: sandbox.FaultTooLarge, want: connection.TooLarge, code: "DEADLINE_EXCEEDED"},
		{fault: sandbox.FaultVersionSunset, want: connection.Sunset, code: "unknown_version"},
		{fault: sandbox.FaultAccountDisabled, want: connection.Forbidden, code: "PERMISSION_DENIED"},
	} {
		t.Run(test.fault+strconv.Itoa(test.seconds), func(t *testing.T) {
			t.Parallel()
			f := openSandbox(t)
			f.client.page = 10
			once := 1
			if err := f.server.AddFault(sandbox.FaultRule{Platform: sandbox.GA4, Fault: test.fault, Count: &once, Seconds: test.seconds}); err != nil {
				t.Fatal(err)
			}
			before := f.clock()
			today := f.server.Today(f.account)
			rows, err := f.report(t.Context(), connection.LevelCampaign, today-5, today)
			if test.want == "" {
				if want := f.expectedRows(connection.LevelCampaign, today-5, today); err != nil || len(rows) != len(want) {
					t.Errorf("got %d rows, %v want %d", len(rows), err, len(want))
				}
				return
			}
			e, ok := errors.AsType[*connection.Error](err)
			if !ok || e.Class != test.want || e.Code != test.code {
				t.Fatalf("got %v want %s, %s", err, test.want, test.code)
			}
			if test.seconds > 0 && !e.Until.Equal(before.Add(time.Duration(test.seconds)*time.Second)) {
				t.Errorf("got until %s want %d seconds after %s", e.Until, test.seconds, before)
			}
			if strings.Contains(err.Error(), f.creds.Access.Reveal()) {
				t.Errorf("got %v, which shows the token", err)
			}
		})
	}
}

// fixedAnswer gives every call the same answer.
type fixedAnswer struct {
	status int
	body   string
	asked  []string
}

func (s *fixedAnswer) Do(req *http.Request) (*http.Response, error) {
	s.asked = append(s.asked, req.URL.Host+req.URL.Path)
	return &http.Response{StatusCode: s.status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(s.body))}, nil
}

// TestQuotas checks until when a property is not called, after a refusal and
// after an answer with a low quota.
func TestQuotas(t *testing.T) {
	t.Parallel()
	const quota = `{"rowCount":0,"propertyQuota":{"tokensPerDay":{"remaining":%d},"tokensPerHour":{"remaining":%h},"tokensPerProjectPerHour":{"remaining":%p}}}`
	left := func(day, hour, project string) string {
		return strings.NewReplacer("%d", day, "%h", hour, "%p", project).Replace(quota)
	}
	refused := func(message string) string {
		return `{"error":{"code":429,"message":"` + message + `","status":"RESOURCE_EXHAUSTED"}}`
	}
	at := time.Date(2026, 10, 20, 9, 20, 0, 0, time.UTC)
	hour, day := at.Add(40*time.Minute), time.Date(2026, 10, 21, 8, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		name string
		fixedAnswer
		want time.Time
	}{
		{"plenty", fixedAnswer{status: 200, body: left("20000", "4000", "1400")}, time.Time{}},
		{"low by hour", fixedAnswer{status: 200, body: left("20000", "3999", "1400")}, hour},
		{"low by project", fixedAnswer{status: 200, body: left("20000", "4000", "1399")}, hour},
		{"low by day", fixedAnswer{status: 200, body: left("19999", "1", "1")}, day},
		{"none by hour", fixedAnswer{status: 429, body: refused("Exhausted property tokens per hour.")}, hour},
		{"none by day", fixedAnswer{status: 429, body: refused("Exhausted property tokens per day.")}, day},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := New(transport.Options{Do: &test.fixedAnswer, Now: func() time.Time { return at }, Sleep: func(context.Context, time.Duration) error { return nil }})
			var err error
			for range 2 {
				err = c.Report(t.Context(), connection.Credentials{}, connection.Report{Account: "1"}, nil)
			}
			e, refused := errors.AsType[*connection.Error](err)
			switch {
			case test.want.IsZero():
				if err != nil {
					t.Errorf("got %v want no error", err)
				}
			case !refused || e.Class != connection.Throttled || !e.Until.Equal(test.want):
				t.Errorf("got %v until %v want %s", err, e, test.want)
			}
			if got := test.asked[0]; got != "analyticsdata.googleapis.com/v1beta/properties/1:runReport" {
				t.Errorf("got a call to %s", got)
			}
		})
	}
}

// TestRowsWithEqualKeyAreAdded checks that rows of GA4 channels that are one
// channel in facts are added, and that unknown values become unknown.
func TestRowsWithEqualKeyAreAdded(t *testing.T) {
	t.Parallel()
	row := func(channel, device, events, revenue string) string {
		return `{"dimensionValues":[{"value":"20261001"},{"value":"(direct)"},{"value":"` + channel + `"},{"value":"` + device + `"}],"metricValues":[{"value":"` + events + `"},{"value":"` + revenue + `"}]}`
	}
	s := &fixedAnswer{status: 200, body: `{"rowCount":4,"rows":[` + strings.Join([]string{
		row("Paid Search", "smart tv", "1", "0.1"), row("Organic Search", "smart tv", "2.5", "0.2"), row("Direct", "fridge", "4", "1e-06"), row("Direct", "fridge", "4", "1e-06"),
		row("Direct", "mobile", "8", "0"),
	}, ",") + `]}`}
	c := New(transport.Options{Do: s, Now: time.Now})
	got := map[string]string{}
	err := c.Report(t.Context(), connection.Credentials{}, connection.Report{Account: "1", Level: connection.LevelDevice}, func(rows []fact.Row) error {
		for _, r := range rows {
			got[r.Channel+" "+r.Device+" "+r.Campaign.ExternalID] = fact.Millionths(r.Values.V[fact.Conversions]).String() + " " + fact.Millionths(r.Values.V[fact.Revenue]).String()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"search tv (direct)": "3.5 0.3", "other unknown (direct)": "4 0.000001", "other mobile (direct)": "8 0"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows differ (-want +got):\n%s", diff)
	}
}
