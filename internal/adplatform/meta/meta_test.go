package meta_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fanfare/internal/adplatform/meta"
	"fanfare/internal/adplatform/sandbox"
	"fanfare/internal/adplatform/transport"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/fact"
	"fanfare/internal/secret"
)

var app = connection.OAuthClient{ID: "app-1", Secret: secret.New("app-secret-1")}

// testSandbox is a sandbox with a connected client. Time passes only when the
// client waits.
type testSandbox struct {
	sandbox *sandbox.Server
	client  *meta.Client
	cred    connection.Credentials
	account *sandbox.Account
	now     time.Time
	waited  []time.Duration
	// requests are all requests of the client.
	requests []*http.Request
	notes    []connection.Note
	// log has the warnings of the client.
	log strings.Builder
}

// Do passes a request on to the sandbox.
func (w *testSandbox) Do(r *http.Request) (*http.Response, error) {
	w.requests = append(w.requests, r)
	return w.sandbox.Do(r)
}

func newSandbox(t *testing.T, seed int64) *testSandbox {
	t.Helper()
	w := &testSandbox{now: time.Date(2026, 10, 20, 12, 0, 0, 0, time.UTC)}
	now := func() time.Time { return w.now }
	server, err := sandbox.New(sandbox.Options{Seed: seed, Currency: "EUR", Timezone: "Europe/Berlin", Now: now})
	if err != nil {
		t.Fatal(err)
	}
	w.sandbox = server
	w.client = meta.New(transport.Options{Base: "http://sandbox.test/meta", Do: w, Now: now, Log: slog.New(slog.NewTextHandler(&w.log, nil)), Sleep: func(ctx context.Context, d time.Duration) error {
		w.now, w.waited = w.now.Add(d), append(w.waited, d)
		return ctx.Err()
	}})
	opened, err := server.Grant(server.Own())
	if err != nil {
		t.Fatal(err)
	}
	access := opened[sandbox.MetaAds]
	account, ok := server.Account(access.AccountID)
	if !ok {
		t.Fatalf("account %s is not there", access.AccountID)
	}
	w.cred, w.account = connection.Credentials{Access: secret.New(access.AccessToken), App: app}, account
	return w
}

// addFault makes the next n calls fail, all of them if n is 0.
func (w *testSandbox) addFault(t *testing.T, fault string, n int) {
	t.Helper()
	r := sandbox.FaultRule{Fault: fault}
	if n > 0 {
		r.Count = &n
	}
	if err := w.sandbox.AddFault(r); err != nil {
		t.Fatal(err)
	}
}

func (w *testSandbox) reportFor(t *testing.T, level connection.Level, days clock.Date) connection.Report {
	t.Helper()
	entities, err := w.client.Entities(t.Context(), w.cred, w.account.ID)
	if err != nil {
		t.Fatal(err)
	}
	today := w.sandbox.Today(w.account)
	w.notes = nil
	return connection.Report{
		Account: w.account.ID, Level: level, First: today - days + 1, Last: today, Entities: entities,
		Note: func(n connection.Note) { w.notes = append(w.notes, n) },
	}
}

// report reads a whole report.
func (w *testSandbox) report(t *testing.T, q connection.Report) (rows []fact.Row, err error) {
	t.Helper()
	err = w.client.Report(t.Context(), w.cred, q, func(some []fact.Row) error {
		rows = append(rows, some...)
		return nil
	})
	return rows, err
}

// withoutValues returns a row without its values.
func withoutValues(r fact.Row) fact.Row {
	r.Values = fact.Values{}
	return r
}

// expectedRows returns the rows of the account, added up as a report must be.
func (w *testSandbox) expectedRows(q connection.Report, level sandbox.Level) map[fact.Row]fact.Values {
	rows := map[fact.Row]fact.Values{}
	for r := range w.sandbox.Rows(w.account, level, q.First, q.Last) {
		row := fact.Row{
			Family: connection.Families[q.Level], Date: r.Date, Channel: "social",
			Country: r.Country, AgeRange: r.AgeRange, Gender: r.Gender, Device: r.Device,
		}
		if r.Campaign != nil {
			row.Campaign = fact.Entity{ExternalID: r.Campaign.ID, Name: r.Campaign.Name}
		}
		group := r.Group
		if r.Ad != nil {
			row.Creative = fact.Entity{ExternalID: r.Ad.ID, Name: r.Ad.Name}
			group = r.Ad.Group
		}
		if group != nil && group.Audience != nil {
			row.Audience = fact.Entity{ExternalID: group.Audience.ID, Name: group.Audience.Name}
		}
		sum := rows[row]
		for m := range fact.Measure(fact.NumMeasures) {
			if n, ok := r.Values.Get(m); ok {
				before, _ := sum.Get(m)
				sum.Set(m, before+n)
			}
		}
		rows[row] = sum
	}
	return rows
}

// sandboxLevels maps levels to those of the sandbox.
var sandboxLevels = map[connection.Level]sandbox.Level{
	connection.LevelAccount: sandbox.ByAccount, connection.LevelCampaign: sandbox.ByCampaign, connection.LevelAd: sandbox.ByAd,
	connection.LevelGeo: sandbox.ByCountry, connection.LevelDemographic: sandbox.ByAgeAndGender, connection.LevelDevice: sandbox.ByDevice,
}

// compareRows compares rows with the expected ones, to the millionth.
func (w *testSandbox) compareRows(t *testing.T, q connection.Report, rows []fact.Row) {
	t.Helper()
	want := w.expectedRows(q, sandboxLevels[q.Level])
	if len(want) == 0 {
		t.Fatalf("level %d: the account has no figures", q.Level)
	}
	got := map[fact.Row]fact.Values{}
	for _, row := range rows {
		if _, again := got[withoutValues(row)]; again {
			t.Fatalf("level %d: two rows for %+v", q.Level, withoutValues(row))
		}
		got[withoutValues(row)] = row.Values
	}
	wrong := 0
	for row, values := range want {
		if values != got[row] && wrong < 3 {
			wrong++
			t.Errorf("level %d, %+v (-want +got):\n%s", q.Level, row, cmp.Diff(valuesByName(values), valuesByName(got[row])))
		}
	}
	if len(got) != len(want) {
		t.Errorf("level %d: got %d rows want %d", q.Level, len(got), len(want))
	}
}

// valuesByName returns the known values by name.
func valuesByName(v fact.Values) map[string]int64 {
	known := map[string]int64{}
	for m := range fact.Measure(fact.NumMeasures) {
		if n, ok := v.Get(m); ok {
			known[m.String()] = n
		}
	}
	return known
}

func TestReport(t *testing.T) {
	t.Parallel()
	w := newSandbox(t, 1)
	for level := range sandboxLevels {
		q := w.reportFor(t, level, 60)
		rows, err := w.report(t, q)
		if err != nil {
			t.Fatalf("level %d: %v", level, err)
		}
		w.compareRows(t, q, rows)
	}
}

func TestEntities(t *testing.T) {
	t.Parallel()
	w := newSandbox(t, 4)
	accounts, err := w.client.Accounts(t.Context(), w.cred)
	if err != nil {
		t.Fatal(err)
	}
	if len(accounts) != 1 || accounts[0].ExternalID != w.account.ID || accounts[0].Name != w.account.Name ||
		accounts[0].Currency != "EUR" || accounts[0].Timezone != "Europe/Berlin" {
		t.Errorf("got accounts %+v want %s in EUR and Europe/Berlin", accounts, w.account.ID)
	}
	got, err := w.client.Entities(t.Context(), w.cred, w.account.ID)
	if err != nil {
		t.Fatal(err)
	}
	want := connection.Entities{Groups: map[string]string{}, Results: []string{"omni_purchase"}}
	for _, c := range w.account.Campaigns {
		o, err := w.client.Status(t.Context(), w.cred, w.account.ID, c.ID)
		if err != nil {
			t.Fatal(err)
		}
		want.Campaigns = append(want.Campaigns, connection.Entity{External: c.ID, Name: c.Name, Status: o.Status, Runs: o.Runs, Channel: "social"})
		within := map[bool]string{true: "ACTIVE", false: "CAMPAIGN_PAUSED"}[o.Runs]
		for _, g := range c.Groups {
			if g.Audience != nil {
				want.Groups[g.ID] = g.Audience.ID
			}
			for _, ad := range g.Ads {
				want.Ads = append(want.Ads, connection.Entity{External: ad.ID, Name: ad.Name, Status: within, Runs: o.Runs, Channel: "social", URL: ad.Link})
			}
		}
	}
	for _, a := range w.account.Audiences {
		want.Audiences = append(want.Audiences, connection.Entity{External: a.ID, Name: a.Name, Channel: "social", Size: &a.Size})
	}
	if diff := cmp.Diff(&want, got); diff != "" {
		t.Errorf("entities differ (-want +got):\n%s", diff)
	}
	if len(got.Groups) == 0 || len(got.Ads) == 0 {
		t.Error("the account has nothing to tell apart")
	}
}

func TestStatus(t *testing.T) {
	t.Parallel()
	w := newSandbox(t, 5)
	campaign := w.account.Campaigns[0].ID
	for _, run := range []bool{false, false, true, true, false} {
		if err := w.client.SetStatus(t.Context(), w.cred, w.account.ID, campaign, run); err != nil {
			t.Fatal(err)
		}
		got, err := w.client.Status(t.Context(), w.cred, w.account.ID, campaign)
		if err != nil {
			t.Fatal(err)
		}
		want := connection.Observed{Status: map[bool]string{true: "ACTIVE", false: "PAUSED"}[run], Runs: run, Stopped: !run}
		if got != want {
			t.Errorf("got %+v want %+v", got, want)
		}
	}
	_, err := w.client.Status(t.Context(), w.cred, w.account.ID, "404")
	if got := connection.ClassOf(err); got != connection.Forbidden {
		t.Errorf("a campaign that is not there: got %s want %s", got, connection.Forbidden)
	}
}

// TestFaults checks the result of a report for each fault.
func TestFaults(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		fault string
		count int
		// want is empty if the report is complete.
		want connection.Class
	}{
		{sandbox.FaultThrottle, 1, ""},
		{sandbox.FaultThrottle, 0, connection.Throttled},
		{sandbox.Fault500, 2, ""},
		{sandbox.Fault500, 0, connection.Transient},
		{sandbox.Fault503, 1, ""},
		{sandbox.FaultReset, 2, ""},
		{sandbox.FaultTruncated, 2, ""},
		{sandbox.FaultWrongJSON, 2, ""},
		{sandbox.FaultExpiredToken, 1, connection.Expired},
		{sandbox.FaultRevokedToken, 1, connection.Revoked},
		{sandbox.FaultVersionSunset, 1, connection.Sunset},
		{sandbox.FaultAccountDisabled, 1, connection.Forbidden},
		{sandbox.FaultDuplicatePage, 1, ""},
		{sandbox.FaultDuplicatePage, 0, connection.PagesDisagree},
		{sandbox.FaultSkipPage, 1, ""},
		{sandbox.FaultDriftingTotal, 1, connection.PagesDisagree},
		{sandbox.FaultTooLarge, 1, ""},
		{sandbox.FaultTooLarge, 0, connection.TooLarge},
	} {
		w := newSandbox(t, 6)
		q := w.reportFor(t, connection.LevelAd, 60)
		w.addFault(t, test.fault, test.count)
		rows, err := w.report(t, q)
		w.checkFailure(t, q, test.fault, test.want, rows, err)
	}
}

// checkFailure checks the error of a report.
func (w *testSandbox) checkFailure(t *testing.T, q connection.Report, fault string, want connection.Class, rows []fact.Row, err error) {
	t.Helper()
	if want == "" {
		if err != nil {
			t.Errorf("%s: %v", fault, err)
			return
		}
		w.compareRows(t, q, rows)
		return
	}
	if got := connection.ClassOf(err); err == nil || got != want {
		t.Errorf("%s: got %v want class %s", fault, err, want)
		return
	}
	for _, hidden := range []string{w.cred.Access.Reveal(), app.Secret.Reveal()} {
		if strings.Contains(err.Error(), hidden) {
			t.Errorf("%s: the error tells a secret", fault)
		}
	}
}

// TestBackgroundReports checks faults of background reports.
func TestBackgroundReports(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		fault string
		count int
		want  connection.Class
	}{
		{sandbox.FaultAsyncStuck, 3, ""},
		{sandbox.FaultAsyncStuck, 0, connection.Transient},
		{sandbox.FaultAsyncFailed, 1, ""},
		{sandbox.FaultAsyncFailed, 2, connection.TooLarge},
		{sandbox.FaultThrottle, 1, ""},
	} {
		w := newSandbox(t, 7)
		q := w.reportFor(t, connection.LevelAd, 60)
		w.addFault(t, sandbox.FaultTooLarge, 1)
		w.addFault(t, test.fault, test.count)
		rows, err := w.report(t, q)
		w.checkFailure(t, q, test.fault, test.want, rows, err)
		if test.fault == sandbox.FaultAsyncStuck && test.count == 3 {
			if want := []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}; !slices.Equal(w.waited, want) {
				t.Errorf("got waits %v want %v", w.waited, want)
			}
		}
	}
}

var testGrant = connection.Grant{Redirect: "https://fanfare.test/oauth/callback?a=b", State: "state-1", Verifier: "verifier-1", Write: true}

// consent grants access and returns the code.
func (w *testSandbox) consent(t *testing.T, g connection.Grant) string {
	t.Helper()
	at := w.client.AuthorizeURL(app, g)
	if !strings.HasPrefix(at, "http://sandbox.test/meta/"+meta.Version+"/dialog/oauth?") || !strings.Contains(at, "scope=ads_read%2Cads_management") {
		t.Errorf("got address %s", at)
	}
	return w.visit(t, at, g)
}

// visit gives consent at an address and returns the code.
func (w *testSandbox) visit(t *testing.T, at string, g connection.Grant) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := w.sandbox.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	back, err := url.Parse(resp.Header.Get("Location"))
	if err != nil || back.Host != "fanfare.test" || back.Query().Get("state") != g.State || back.Query().Get("a") != "b" {
		t.Fatalf("got location %q want the redirect with state", back)
	}
	return back.Query().Get("code")
}

func TestGrant(t *testing.T) {
	t.Parallel()
	w := newSandbox(t, 8)
	g := testGrant
	code := w.consent(t, g)
	cred, err := w.client.Exchange(t.Context(), app, g, code)
	if err != nil {
		t.Fatal(err)
	}
	if end := clock.At(w.now.Add(60 * 24 * time.Hour)); cred.ExpiresAt == nil || *cred.ExpiresAt != end || cred.IssuedAt != clock.At(w.now) {
		t.Errorf("got %v to %v want 60 days", cred.IssuedAt, cred.ExpiresAt)
	}
	for _, scope := range []string{"ads_read", "ads_management"} {
		if !slices.Contains(cred.Scopes, scope) {
			t.Errorf("got scopes %v want %s among them", cred.Scopes, scope)
		}
	}
	if _, err := w.client.Accounts(t.Context(), cred); err != nil {
		t.Error(err)
	}
	if _, err := w.client.Exchange(t.Context(), app, g, code); connection.ClassOf(err) != connection.Refused {
		t.Errorf("a code was used twice: got %v want %s", err, connection.Refused)
	}
	w.checkTokenLifetime(t, cred)
}

// checkTokenLifetime uses a token until it expires.
func (w *testSandbox) checkTokenLifetime(t *testing.T, cred connection.Credentials) {
	t.Helper()
	w.now = w.now.Add(30 * 24 * time.Hour)
	fresh, err := w.client.Refresh(t.Context(), app, cred)
	if err != nil {
		t.Fatal(err)
	}
	if end := clock.At(w.now.Add(60 * 24 * time.Hour)); fresh.ExpiresAt == nil || *fresh.ExpiresAt != end || !slices.Equal(fresh.Scopes, cred.Scopes) {
		t.Errorf("got %v with %v want %v with %v", fresh.ExpiresAt, fresh.Scopes, end, cred.Scopes)
	}
	w.now = w.now.Add(31 * 24 * time.Hour)
	if _, err := w.client.Accounts(t.Context(), cred); connection.ClassOf(err) != connection.Expired {
		t.Errorf("after 61 days: got %v want %s", err, connection.Expired)
	}
	if _, err := w.client.Refresh(t.Context(), app, cred); connection.ClassOf(err) != connection.Revoked {
		t.Errorf("what has expired was traded in: got %v want %s", err, connection.Revoked)
	}
	for range 2 {
		if err := w.client.Revoke(t.Context(), app, fresh); err != nil {
			t.Errorf("revoke: %v", err)
		}
	}
	if _, err := w.client.Accounts(t.Context(), fresh); connection.ClassOf(err) != connection.Revoked {
		t.Errorf("after the end: got %v want %s", err, connection.Revoked)
	}
}
