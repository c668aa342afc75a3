package google_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"fanfare/internal/adplatform/google"
	"fanfare/internal/adplatform/sandbox"
	"fanfare/internal/adplatform/transport"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/fact"
	"fanfare/internal/secret"
)

var (
	_ connection.Client  = (*google.Client)(nil)
	_ connection.Grantor = (*google.Client)(nil)
)

// testSandbox is a sandbox with a connected client. Time passes only when the
// client sleeps.
type testSandbox struct {
	server  *sandbox.Server
	client  *google.Client
	creds   connection.Credentials
	account *sandbox.Account

	mu    sync.Mutex
	now   time.Time
	slept time.Duration
}

func (f *testSandbox) clock() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now
}

func (f *testSandbox) sleep(_ context.Context, d time.Duration) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now, f.slept = f.now.Add(d), f.slept+d
	return nil
}

// failer is implemented by *testing.T and *rapid.T.
type failer interface{ Fatal(args ...any) }

func openSandbox(t failer, seed int64) *testSandbox { return openSandboxIn(t, seed, "Europe/Berlin") }

// openSandboxIn opens a sandbox whose accounts have a time zone.
func openSandboxIn(t failer, seed int64, zone string) *testSandbox {
	f := &testSandbox{now: time.Date(2026, 10, 20, 12, 0, 0, 0, time.UTC)}
	server, err := sandbox.New(sandbox.Options{Seed: seed, Currency: "EUR", Timezone: zone, Now: f.clock})
	if err != nil {
		t.Fatal(err)
	}
	granted, err := server.Grant(server.Own())
	if err != nil {
		t.Fatal(err)
	}
	access := granted[sandbox.GoogleAds]
	f.server = server
	f.account, _ = server.Account(access.AccountID)
	f.client = google.New(transport.Options{Base: "http://sandbox/google", Do: server, Now: f.clock, Sleep: f.sleep})
	f.creds = connection.Credentials{Access: secret.New(access.AccessToken), Refresh: secret.New(*access.RefreshToken)}
	return f
}

// addFault makes the next call fail.
func (f *testSandbox) addFault(t *testing.T, fault string, seconds int) {
	t.Helper()
	once := 1
	if err := f.server.AddFault(sandbox.FaultRule{Platform: sandbox.GoogleAds, Fault: fault, Count: &once, Seconds: seconds}); err != nil {
		t.Fatal(err)
	}
}

func (f *testSandbox) report(ctx context.Context, level connection.Level, first, last clock.Date, e *connection.Entities) ([]fact.Row, error) {
	var rows []fact.Row
	err := f.client.Report(ctx, f.creds, connection.Report{Account: f.account.ID, Level: level, First: first, Last: last, Entities: e}, func(some []fact.Row) error {
		rows = append(rows, some...)
		return nil
	})
	return rows, err
}

// sumRows adds rows by key, without names and without rows that are zero.
func sumRows(rows []fact.Row) map[fact.Row]fact.Values {
	sums := map[fact.Row]fact.Values{}
	for _, r := range rows {
		key := r
		key.Values, key.Campaign.Name, key.Creative.Name, key.Audience.Name = fact.Values{}, "", "", ""
		sum := sums[key]
		for m := range fact.Measure(fact.NumMeasures) {
			if n, known := r.Values.Get(m); known {
				sum.Set(m, sum.V[m]+n)
			}
		}
		sums[key] = sum
	}
	for key, sum := range sums {
		if sum.V == [fact.NumMeasures]int64{} {
			delete(sums, key)
		}
	}
	return sums
}

var sandboxLevels = map[connection.Level]sandbox.Level{
	connection.LevelAccount: sandbox.ByAccount, connection.LevelCampaign: sandbox.ByCampaign, connection.LevelAd: sandbox.ByAd,
	connection.LevelGeo: sandbox.ByCountry, connection.LevelDemographic: sandbox.ByAgeAndGender, connection.LevelDevice: sandbox.ByDevice,
}

// expectedRows returns the rows of the account in the form of Google's facts.
func (f *testSandbox) expectedRows(level connection.Level, first, last clock.Date) []fact.Row {
	var rows []fact.Row
	for r := range f.server.Rows(f.account, sandboxLevels[level], first, last) {
		row := fact.Row{Date: r.Date, Family: connection.Families[level], Country: r.Country, Device: r.Device, Values: r.Values}
		if r.Campaign != nil {
			row.Campaign, row.Channel = fact.Entity{ExternalID: r.Campaign.ID}, r.Campaign.Channel
		}
		if r.Ad != nil {
			row.Creative = fact.Entity{ExternalID: r.Ad.ID}
		}
		if r.Group != nil && r.Group.Audience != nil {
			row.Audience = fact.Entity{ExternalID: r.Group.Audience.ID}
		}
		if level == connection.LevelDemographic {
			// Ages are reported for ad groups only, and without genders.
			row.AgeRange, row.Gender = "unknown", "unknown"
			if r.Group != nil {
				row.AgeRange = r.AgeRange
			}
		}
		rows = append(rows, row)
	}
	if level == connection.LevelAd {
		// The ads of Performance Max campaigns are asset groups.
		for r := range f.server.Rows(f.account, sandbox.ByCampaign, first, last) {
			if r.Campaign.Kind == "performance_max" {
				rows = append(rows, fact.Row{
					Date: r.Date, Campaign: fact.Entity{ExternalID: r.Campaign.ID}, Channel: r.Campaign.Channel,
					Creative: fact.Entity{ExternalID: assetGroupOf(r.Campaign)}, Values: r.Values,
				})
			}
		}
	}
	return rows
}

// assetGroupOf returns the id that the client gives to the asset group of a
// campaign.
func assetGroupOf(c *sandbox.Campaign) string { return "asset_group:6" + c.ID[1:] }

// compareRows compares rows with the expected ones.
func compareRows(t interface {
	Errorf(format string, args ...any)
}, level connection.Level, got, want map[fact.Row]fact.Values,
) {
	if len(got) != len(want) || len(want) == 0 {
		t.Errorf("level %d: got %d rows want %d", level, len(got), len(want))
	}
	for key, values := range want {
		if got[key] != values {
			t.Errorf("level %d, %+v: got %v want %v", level, key, got[key], values)
			return
		}
	}
}

func TestReportMatchesSandbox(t *testing.T) {
	t.Parallel()
	f := openSandbox(t, 7)
	entities, err := f.client.Entities(t.Context(), f.creds, f.account.ID)
	if err != nil {
		t.Fatal(err)
	}
	today := f.server.Today(f.account)
	for level := range sandboxLevels {
		rows, err := f.report(t.Context(), level, today-59, today, entities)
		if err != nil {
			t.Fatalf("level %d: %v", level, err)
		}
		if sums := sumRows(rows); len(sums) != len(rows) {
			t.Errorf("level %d: got %d rows with %d keys", level, len(rows), len(sums))
		}
		compareRows(t, level, sumRows(rows), sumRows(f.expectedRows(level, today-59, today)))
	}
}

// TestReportMatchesRandomSandboxes reads random days of random accounts.
func TestReportMatchesRandomSandboxes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := openSandbox(t, rapid.Int64().Draw(t, "seed"))
		entities, err := f.client.Entities(t.Context(), f.creds, f.account.ID)
		if err != nil {
			t.Fatal(err)
		}
		first := f.server.Today(f.account) - clock.Date(rapid.IntRange(0, 400).Draw(t, "ago"))
		level := rapid.SampledFrom([]connection.Level{connection.LevelAd, connection.LevelGeo, connection.LevelDemographic, connection.LevelDevice}).Draw(t, "level")
		rows, err := f.report(t.Context(), level, first, first+2, entities)
		if err != nil {
			t.Fatal(err)
		}
		compareRows(t, level, sumRows(rows), sumRows(f.expectedRows(level, first, first+2)))
	})
}

func TestEntities(t *testing.T) {
	t.Parallel()
	f := openSandbox(t, 7)
	got, err := f.client.Entities(t.Context(), f.creds, f.account.ID)
	if err != nil {
		t.Fatal(err)
	}
	want := &connection.Entities{Groups: map[string]string{}}
	var assetGroups []connection.Entity
	for _, c := range f.account.Campaigns {
		want.Campaigns = append(want.Campaigns, connection.Entity{External: c.ID, Name: c.Name, Channel: c.Channel, Status: "ENABLED", Runs: true})
		if c.Kind == "performance_max" {
			assetGroups = append(assetGroups, connection.Entity{External: assetGroupOf(c), Name: c.Name + ": Assets", Channel: c.Channel, Status: "ENABLED", Runs: true, URL: c.URL})
		}
		for _, g := range c.Groups {
			if g.Audience != nil {
				want.Groups[g.ID] = g.Audience.ID
			}
			for _, ad := range g.Ads {
				want.Ads = append(want.Ads, connection.Entity{External: ad.ID, Name: ad.Name, Channel: c.Channel, Status: "ENABLED", Runs: true, URL: ad.Link})
			}
		}
	}
	want.Ads = append(want.Ads, assetGroups...)
	for _, a := range f.account.Audiences {
		want.Audiences = append(want.Audiences, connection.Entity{External: a.ID, Name: a.Name, Status: "OPEN", Runs: true, Size: &a.Size})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("entities differ (-want +got):\n%s", diff)
	}
}

func TestAccounts(t *testing.T) {
	t.Parallel()
	f := openSandbox(t, 7)
	got, err := f.client.Accounts(t.Context(), f.creds)
	if err != nil {
		t.Fatal(err)
	}
	want := []connection.Account{{ExternalID: f.account.ID, Name: f.account.Name, Currency: "EUR", Timezone: "Europe/Berlin", Enabled: true}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("accounts differ (-want +got):\n%s", diff)
	}
}

func TestStatus(t *testing.T) {
	t.Parallel()
	f := openSandbox(t, 7)
	campaign := f.account.Campaigns[0].ID
	for _, run := range []bool{false, false, true} {
		if err := f.client.SetStatus(t.Context(), f.creds, f.account.ID, campaign, run); err != nil {
			t.Fatal(err)
		}
		want := connection.Observed{Status: "PAUSED", Stopped: true}
		if run {
			want = connection.Observed{Status: "ENABLED", Runs: true}
		}
		got, err := f.client.Status(t.Context(), f.creds, f.account.ID, campaign)
		if err != nil || got != want {
			t.Errorf("run %v: got %v, %v want %v", run, got, err, want)
		}
	}
	for _, campaign := range []string{"1", "", "1 OR campaign.id > 0"} {
		if _, err := f.client.Status(t.Context(), f.creds, f.account.ID, campaign); connection.ClassOf(err) != connection.Gone {
			t.Errorf("status of %q: got %v want %s", campaign, err, connection.Gone)
		}
		if err := f.client.SetStatus(t.Context(), f.creds, f.account.ID, campaign, true); connection.ClassOf(err) != connection.Gone {
			t.Errorf("set status of %q: got %v want %s", campaign, err, connection.Gone)
		}
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
		{fault: sandbox.FaultDuplicatePage},
		{fault: sandbox.FaultExpiredToken, want: connection.Expired, code: "OAUTH_TOKEN_EXPIRED"},
		{fault: sandbox.FaultRevokedToken, want: connection.Revoked, code: "OAUTH_TOKEN_REVOKED"},
		{fault: sandbox.FaultTooLarge, want: connection.TooLarge, code: "DATE_RANGE_TOO_WIDE"},
		{fault: sandbox.FaultVersionSunset, want: connection.Sunset, code: "UNSUPPORTED_VERSION"},
		{fault: sandbox.FaultAccountDisabled, want: connection.Forbidden, code: "CUSTOMER_NOT_ENABLED"},
	} {
		t.Run(test.fault, func(t *testing.T) {
			t.Parallel()
			f := openSandbox(t, 7)
			today := f.server.Today(f.account)
			want := sumRows(f.expectedRows(connection.LevelAd, today-5, today))
			f.addFault(t, test.fault, test.seconds)
			before := f.clock()
			rows, err := f.report(t.Context(), connection.LevelAd, today-5, today, nil)
			if test.want == "" {
				if err != nil || len(sumRows(rows)) != len(want) {
					t.Errorf("got %d rows, %v want %d", len(rows), err, len(want))
				}
				if wait := time.Duration(test.seconds) * time.Second; f.slept < wait {
					t.Errorf("got %s of sleep want %s", f.slept, wait)
				}
				return
			}
			e, ok := errors.AsType[*connection.Error](err)
			if !ok || e.Class != test.want || e.Code != test.code || e.RequestID == "" {
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

// TestReportReturnsCallbackError checks that the error of the callback is
// returned.
func TestReportReturnsCallbackError(t *testing.T) {
	t.Parallel()
	f := openSandbox(t, 7)
	today := f.server.Today(f.account)
	want := errors.New("full")
	err := f.client.Report(t.Context(), f.creds, connection.Report{Account: f.account.ID, First: today, Last: today}, func([]fact.Row) error { return want })
	if !errors.Is(err, want) {
		t.Errorf("got %v want %v", err, want)
	}
}
