package microsoft_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"fanfare/internal/adplatform/microsoft"
	"fanfare/internal/adplatform/sandbox"
	"fanfare/internal/adplatform/transport"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/fact"
	"fanfare/internal/secret"
)

var (
	_ connection.Client  = (*microsoft.Client)(nil)
	_ connection.Grantor = (*microsoft.Client)(nil)
)

// testSandbox is a sandbox with a connected client. Time passes only when the
// client sleeps.
type testSandbox struct {
	server  *sandbox.Server
	client  *microsoft.Client
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

// testApp is an app with a developer token.
var testApp = connection.OAuthClient{ID: "client", Secret: secret.New("client-secret:developer-token")}

func openSandbox(t failer, seed int64) *testSandbox {
	f := &testSandbox{now: time.Date(2026, 10, 20, 12, 0, 0, 0, time.UTC)}
	server, err := sandbox.New(sandbox.Options{Seed: seed, Currency: "EUR", Timezone: "Europe/Berlin", Now: f.clock})
	if err != nil {
		t.Fatal(err)
	}
	granted, err := server.Grant(server.Own())
	if err != nil {
		t.Fatal(err)
	}
	access := granted[sandbox.MicrosoftAds]
	f.server = server
	f.account, _ = server.Account(access.AccountID)
	f.client = microsoft.New(transport.Options{Base: "http://sandbox/microsoft", Do: server, Now: f.clock, Sleep: f.sleep})
	f.creds = connection.Credentials{Access: secret.New(access.AccessToken), Refresh: secret.New(*access.RefreshToken), App: testApp}
	return f
}

// turnOn turns a switch on.
func (f *testSandbox) turnOn(t *testing.T, name, value string) {
	t.Helper()
	if err := f.server.TurnOn(sandbox.BehaviorRule{Platform: sandbox.MicrosoftAds, Switch: name, Value: value}); err != nil {
		t.Fatal(err)
	}
}

// addFault makes the next call of a path fail.
func (f *testSandbox) addFault(t *testing.T, fault, path string) {
	t.Helper()
	once := 1
	if err := f.server.AddFault(sandbox.FaultRule{Platform: sandbox.MicrosoftAds, Fault: fault, Path: path, Count: &once}); err != nil {
		t.Fatal(err)
	}
}

// calls returns the number of calls of a path so far.
func (f *testSandbox) calls(path string) (n int) {
	for _, e := range f.server.Journal() {
		if strings.Contains(e.Path, path) {
			n++
		}
	}
	return n
}

// report reads a report of the account.
func (f *testSandbox) report(ctx context.Context, level connection.Level, first, last clock.Date, e *connection.Entities) (rows []fact.Row, notes []connection.Note, err error) {
	q := connection.Report{
		Account: f.account.ID, Level: level, First: first, Last: last, Entities: e,
		Note: func(n connection.Note) { notes = append(notes, n) },
	}
	err = f.client.Report(ctx, f.creds, q, func(some []fact.Row) error {
		rows = append(rows, some...)
		return nil
	})
	return rows, notes, err
}

// sumRows adds the numbers of rows by key, without names and without rows that
// are zero.
func sumRows(rows []fact.Row) map[fact.Row][fact.NumMeasures]int64 {
	sums := map[fact.Row][fact.NumMeasures]int64{}
	for _, r := range rows {
		key := r
		key.Values, key.Campaign.Name, key.Creative.Name, key.Audience.Name = fact.Values{}, "", "", ""
		sum := sums[key]
		for m := range fact.Measure(fact.NumMeasures) {
			sum[m] += r.Values.V[m]
		}
		sums[key] = sum
	}
	for key, sum := range sums {
		if sum == [fact.NumMeasures]int64{} {
			delete(sums, key)
		}
	}
	return sums
}

var sandboxLevels = map[connection.Level]sandbox.Level{
	connection.LevelAccount: sandbox.ByAccount, connection.LevelCampaign: sandbox.ByCampaign, connection.LevelAd: sandbox.ByAd,
	connection.LevelGeo: sandbox.ByCountry, connection.LevelDemographic: sandbox.ByAgeAndGender, connection.LevelDevice: sandbox.ByDevice,
}

// assetGroupOf returns the id that the client gives to the asset group of a
// campaign.
func assetGroupOf(c *sandbox.Campaign) string { return "asset_group:64" + c.ID }

// expectedRows returns the rows of the account in the form of Microsoft's facts.
func (f *testSandbox) expectedRows(level connection.Level, first, last clock.Date) (rows []fact.Row) {
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
			row.AgeRange, row.Gender = r.AgeRange, r.Gender
			switch {
			case r.AgeRange == "unknown" || r.Gender == "unknown":
				// The report leaves such rows out.
				row.AgeRange, row.Gender, row.Audience = "unknown", "unknown", fact.Entity{}
			case r.AgeRange >= "35" && r.AgeRange < "65":
				row.AgeRange = "unknown"
			}
		}
		rows = append(rows, row)
	}
	if level != connection.LevelAd {
		return rows
	}
	for r := range f.server.Rows(f.account, sandbox.ByCampaign, first, last) {
		if r.Campaign.Kind == "performance_max" {
			// Asset groups have whole conversions only.
			r.Values.V[fact.Conversions] -= r.Values.V[fact.Conversions] % 1_000_000
			rows = append(rows, fact.Row{
				Date: r.Date, Campaign: fact.Entity{ExternalID: r.Campaign.ID}, Channel: r.Campaign.Channel,
				Creative: fact.Entity{ExternalID: assetGroupOf(r.Campaign)}, Values: r.Values,
			})
		}
	}
	return rows
}

// compareRows compares rows with the expected ones.
func compareRows(t interface {
	Errorf(format string, args ...any)
}, level connection.Level, got, want map[fact.Row][fact.NumMeasures]int64,
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

// compareTruth reads the campaigns of the last days and compares their sums with
// the truth of the account.
func (f *testSandbox) compareTruth(t *testing.T) (rows []fact.Row, notes []connection.Note) {
	t.Helper()
	today := f.server.Today(f.account)
	rows, notes, err := f.report(t.Context(), connection.LevelCampaign, today-9, today, nil)
	if err != nil {
		t.Fatal(err)
	}
	sums := map[clock.Date]fact.Values{}
	for _, r := range rows {
		sum := sums[r.Date]
		for m := range fact.Measure(fact.NumMeasures) {
			sum.V[m] += r.Values.V[m]
		}
		sums[r.Date] = sum
	}
	for _, day := range f.server.Truth(f.account, today-9, today).Families["base"] {
		got := sums[day.Date].V
		if got[fact.Impressions] != *day.Impressions || got[fact.Clicks] != *day.Clicks || got[fact.Spend] != *day.SpendMicros ||
			got[fact.Conversions] != *day.ConversionsMicros || got[fact.Revenue] != *day.RevenueMicros {
			t.Errorf("%s: got %v want the truth %+v", day.Date, got, day)
		}
	}
	return rows, notes
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
		rows, notes, err := f.report(t.Context(), level, today-59, today, entities)
		if err != nil {
			t.Fatalf("level %d: %v", level, err)
		}
		if sums := sumRows(rows); len(sums) != len(rows) {
			t.Errorf("level %d: got %d rows with %d keys", level, len(rows), len(sums))
		}
		compareRows(t, level, sumRows(rows), sumRows(f.expectedRows(level, today-59, today)))
		want := 0
		if level == connection.LevelDemographic {
			want = 1 // ages that facts do not have
		}
		if len(notes) != want {
			t.Errorf("level %d: got notes %+v want %d", level, notes, want)
		}
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
		rows, _, err := f.report(t.Context(), level, first, first+2, entities)
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
	for _, c := range f.account.Campaigns {
		want.Campaigns = append(want.Campaigns, connection.Entity{External: c.ID, Name: c.Name, Channel: c.Channel, Status: "Active", Runs: true})
		if c.Kind == "performance_max" {
			want.Ads = append(want.Ads, connection.Entity{External: assetGroupOf(c), Name: c.Name + ": Assets", Channel: c.Channel, Status: "Active", Runs: true, URL: c.URL})
		}
		for _, g := range c.Groups {
			if g.Audience != nil {
				want.Groups[g.ID] = g.Audience.ID
			}
			for _, ad := range g.Ads {
				want.Ads = append(want.Ads, connection.Entity{External: ad.ID, Name: ad.Headline, Channel: c.Channel, Status: "Active", Runs: true, URL: ad.Link})
			}
		}
	}
	for _, a := range f.account.Audiences {
		want.Audiences = append(want.Audiences, connection.Entity{External: a.ID, Name: a.Name, Status: "Active", Runs: true, Size: &a.Size})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("entities differ (-want +got):\n%s", diff)
	}
}

// TestManyAdGroups reads an account with more ad groups than are listed: all of
// its numbers, and a note about what is not listed.
func TestManyAdGroups(t *testing.T) {
	t.Parallel()
	f := openSandbox(t, 1)
	whole, err := f.client.Entities(t.Context(), f.creds, f.account.ID)
	if err != nil || whole.Cut {
		t.Fatalf("got %+v, %v, want all ads", whole, err)
	}
	f.client.ListGroups(1)
	cut, err := f.client.Entities(t.Context(), f.creds, f.account.ID)
	if err != nil || !cut.Cut || len(cut.Ads) >= len(whole.Ads) || len(cut.Campaigns) != len(whole.Campaigns) {
		t.Fatalf("got %d of %d ads and %v, want some that are not listed", len(cut.Ads), len(whole.Ads), err)
	}
	last := f.server.Today(f.account) - 5
	for level, noted := range map[connection.Level]bool{connection.LevelCampaign: false, connection.LevelAd: true, connection.LevelDevice: true, connection.LevelDemographic: true} {
		count := func(e *connection.Entities) (spend int64, found bool) {
			rows, notes, err := f.report(t.Context(), level, last-2, last, e)
			if err != nil {
				t.Fatal(err)
			}
			for i := range rows {
				n, _ := rows[i].Values.Get(fact.Spend)
				spend += n
			}
			return spend, slices.ContainsFunc(notes, func(n connection.Note) bool { return strings.Contains(n.Message, "more ad groups") })
		}
		all, before := count(whole)
		some, after := count(cut)
		if some != all || before || after != noted {
			t.Errorf("level %d: got spend %d of %d and notes %v and %v, want all and a note: %v", level, some, all, before, after, noted)
		}
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
		want := connection.Observed{Status: "Paused", Stopped: true}
		if run {
			want = connection.Observed{Status: "Active", Runs: true}
		}
		got, err := f.client.Status(t.Context(), f.creds, f.account.ID, campaign)
		if err != nil || got != want {
			t.Errorf("run %v: got %v, %v want %v", run, got, err, want)
		}
	}
	for _, campaign := range []string{"1", "", "1,2"} {
		if _, err := f.client.Status(t.Context(), f.creds, f.account.ID, campaign); connection.ClassOf(err) != connection.Gone {
			t.Errorf("status of %q: got %v want %s", campaign, err, connection.Gone)
		}
		if err := f.client.SetStatus(t.Context(), f.creds, f.account.ID, campaign, true); connection.ClassOf(err) != connection.Gone {
			t.Errorf("set status of %q: got %v want %s", campaign, err, connection.Gone)
		}
	}
	for _, e := range f.server.Journal() {
		if e.Method == http.MethodPut && strings.Count(string(e.Body), ":") != 4 {
			t.Errorf("got %s want the id and the status alone", e.Body)
		}
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		fault, path string
		// want is empty if the client recovers.
		want connection.Class
		code string
	}{
		{fault: sandbox.FaultThrottle},
		{fault: sandbox.Fault500},
		{fault: sandbox.Fault503},
		{fault: sandbox.FaultReset},
		{fault: sandbox.FaultTruncated},
		{fault: sandbox.FaultWrongJSON},
		{fault: sandbox.FaultReset, path: "/Reports/"},
		{fault: sandbox.FaultTruncated, path: "/Reports/"},
		{fault: sandbox.FaultWrongJSON, path: "/Reports/"},
		{fault: sandbox.FaultDriftingTotal, path: "/Reports/"},
		{fault: sandbox.FaultAsyncStuck},
		{fault: sandbox.FaultAsyncFailed},
		{fault: sandbox.FaultExpiredToken, want: connection.Expired, code: "109"},
		{fault: sandbox.FaultRevokedToken, want: connection.Revoked, code: "105"},
		{fault: sandbox.FaultVersionSunset, want: connection.Sunset, code: "unknown_version"},
		{fault: sandbox.FaultAccountDisabled, path: "/Reporting/", want: connection.Forbidden, code: "105"},
	} {
		t.Run(test.fault+test.path, func(t *testing.T) {
			t.Parallel()
			f := openSandbox(t, 7)
			today := f.server.Today(f.account)
			f.addFault(t, test.fault, test.path)
			rows, _, err := f.report(t.Context(), connection.LevelAd, today-5, today, nil)
			if test.want == "" {
				for i := range rows {
					rows[i].Audience = fact.Entity{}
				}
				if err != nil || len(rows) == 0 || len(rows) != len(sumRows(f.expectedRows(connection.LevelAd, today-5, today))) {
					t.Errorf("got %d rows, %v", len(rows), err)
				}
				return
			}
			e, ok := errors.AsType[*connection.Error](err)
			if !ok || e.Class != test.want || e.Code != test.code {
				t.Fatalf("got %v want %s, %s", err, test.want, test.code)
			}
			for _, hidden := range []string{f.creds.Access.Reveal(), "client-secret", "developer-token"} {
				if strings.Contains(err.Error(), hidden) {
					t.Errorf("got %v, which shows a secret", err)
				}
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
