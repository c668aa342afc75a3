package tiktok_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	difference "github.com/google/go-cmp/cmp"

	"fanfare/internal/adplatform/sandbox"
	"fanfare/internal/adplatform/tiktok"
	"fanfare/internal/adplatform/transport"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/fact"
	"fanfare/internal/secret"
)

var (
	now = time.Date(2026, 10, 20, 12, 0, 0, 0, time.UTC)

	_ connection.Client  = (*tiktok.Client)(nil)
	_ connection.Grantor = (*tiktok.Client)(nil)
)

// testSandbox is a sandbox with a connected client.
type testSandbox struct {
	server  *sandbox.Server
	client  *tiktok.Client
	account *sandbox.Account
	access  connection.Credentials
	slept   time.Duration
}

func newSandbox(t *testing.T, scale int) *testSandbox {
	t.Helper()
	return newSandboxIn(t, scale, "Europe/Berlin")
}

// newSandboxIn opens a sandbox whose accounts have a time zone.
func newSandboxIn(t *testing.T, scale int, zone string) *testSandbox {
	t.Helper()
	server, err := sandbox.New(sandbox.Options{Seed: 7, Currency: "EUR", Timezone: zone, Scale: scale, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	granted, err := server.Grant(server.Own())
	if err != nil {
		t.Fatal(err)
	}
	w := &testSandbox{server: server}
	w.client = tiktok.New(transport.Options{
		Base: "http://sandbox.test/tiktok", Do: server, Now: func() time.Time { return now.Add(w.slept) },
		Sleep: func(_ context.Context, d time.Duration) error { w.slept += d; return nil },
	})
	grant := granted[sandbox.TikTokAds]
	w.account, _ = server.Account(grant.AccountID)
	w.access = connection.Credentials{Access: secret.New(grant.AccessToken), App: connection.OAuthClient{ID: "app", Secret: secret.New("app-secret")}}
	return w
}

func (w *testSandbox) addFault(t *testing.T, r sandbox.FaultRule) {
	t.Helper()
	r.Platform = sandbox.TikTokAds
	if err := w.server.AddFault(r); err != nil {
		t.Fatal(err)
	}
}

// report reads a level over the last days, in steps of some days.
func (w *testSandbox) report(t *testing.T, level connection.Level, days, step clock.Date) ([]fact.Row, error) {
	t.Helper()
	entities, err := w.client.Entities(t.Context(), w.access, w.account.ID)
	if err != nil {
		return nil, err
	}
	rows := []fact.Row{}
	today := w.server.Today(w.account)
	for first := today - days + 1; first <= today; first += step {
		q := connection.Report{Account: w.account.ID, Level: level, First: first, Last: min(first+step-1, today), Entities: entities}
		err = w.client.Report(t.Context(), w.access, q, func(some []fact.Row) error {
			rows = append(rows, some...)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return rows, nil
}

var sandboxLevels = map[connection.Level]sandbox.Level{
	connection.LevelAccount: sandbox.ByAccount, connection.LevelCampaign: sandbox.ByCampaign, connection.LevelAd: sandbox.ByAd,
	connection.LevelGeo: sandbox.ByCountry, connection.LevelDemographic: sandbox.ByAgeAndGender, connection.LevelDevice: sandbox.ByDevice,
}

// expectedRows returns what a report must contain.
func (w *testSandbox) expectedRows(level connection.Level, days clock.Date) []fact.Row {
	today := w.server.Today(w.account)
	sums := map[fact.Row]fact.Values{}
	for r := range w.server.Rows(w.account, sandboxLevels[level], today-days+1, today) {
		row := fact.Row{Family: connection.Families[level], Date: r.Date, Channel: "social", Country: r.Country, AgeRange: r.AgeRange, Gender: r.Gender, Device: r.Device}
		if r.Campaign != nil {
			row.Campaign = fact.Entity{ExternalID: r.Campaign.ID, Name: r.Campaign.Name}
		}
		if r.Ad != nil {
			row.Creative = fact.Entity{ExternalID: r.Ad.ID, Name: r.Ad.Name}
		}
		if r.Group != nil && r.Group.Audience != nil {
			row.Audience = fact.Entity{ExternalID: r.Group.Audience.ID, Name: r.Group.Audience.Name}
		}
		if r.AgeRange == "55-64" || r.AgeRange == "65+" {
			row.AgeRange = "unknown"
		}
		values := r.Values
		if level >= connection.LevelGeo {
			values = fact.Values{}
			for _, m := range []fact.Measure{fact.Impressions, fact.Clicks, fact.Spend, fact.Conversions} {
				values.Set(m, sums[row].V[m]+r.Values.V[m])
			}
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

// rowLines returns rows as comparable text.
func rowLines(rows []fact.Row) []string {
	list := []string{}
	for _, r := range rows {
		list = append(list, fmt.Sprintf("%v", r))
	}
	slices.Sort(list)
	return list
}

// compareRows compares rows in any order.
func compareRows(t *testing.T, got, want []fact.Row) {
	t.Helper()
	g, w := rowLines(got), rowLines(want)
	if !slices.Equal(g, w) {
		t.Errorf("got %d rows want %d, which differ (-want +got):\n%.2000s", len(g), len(w), difference.Diff(w, g))
	}
}

func TestReportMatchesSandbox(t *testing.T) {
	t.Parallel()
	w := newSandbox(t, 1)
	for _, level := range w.client.About().Levels {
		got, err := w.report(t, level, 60, clock.Date(w.client.About().WindowDays))
		if err != nil {
			t.Fatalf("level %d: %v", level, err)
		}
		want := w.expectedRows(level, 60)
		if len(want) < 60 {
			t.Fatalf("level %d: only %d rows to compare", level, len(want))
		}
		compareRows(t, got, want)
	}
}

func TestPages(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		fault string
		// count is how often the fault occurs, nil for always.
		count *int
		level connection.Level
		want  connection.Class
	}{
		{sandbox.FaultDuplicatePage, new(1), connection.LevelAd, ""},
		{sandbox.FaultDuplicatePage, nil, connection.LevelGeo, ""},
		{sandbox.FaultSkipPage, new(1), connection.LevelAd, ""},
		{sandbox.FaultSkipPage, new(2), connection.LevelDevice, ""},
		{sandbox.FaultSkipPage, nil, connection.LevelAd, connection.PagesDisagree},
		{sandbox.FaultSkipPage, nil, connection.LevelDevice, connection.PagesDisagree},
		{sandbox.FaultDriftingTotal, new(1), connection.LevelAd, ""},
		{sandbox.FaultDriftingTotal, nil, connection.LevelDevice, connection.PagesDisagree},
	} {
		t.Run(fmt.Sprint(test.fault, test.level, test.want), func(t *testing.T) {
			t.Parallel()
			w := newSandbox(t, 6)
			w.addFault(t, sandbox.FaultRule{Fault: test.fault, Path: "/report/", Count: test.count})
			got, err := w.report(t, test.level, 30, 30)
			if test.want != "" {
				if err == nil || connection.ClassOf(err) != test.want {
					t.Fatalf("got %v want %s", err, test.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(got) <= 1000 {
				t.Fatalf("got %d rows, which is one page", len(got))
			}
			compareRows(t, got, w.expectedRows(test.level, 30))
		})
	}
}

// TestChangedDuplicateRows checks that a report with contradicting pages is
// refused.
func TestChangedDuplicateRows(t *testing.T) {
	t.Parallel()
	page := 0
	c := clientOf(t, func(w http.ResponseWriter, _ *http.Request) {
		page++
		fmt.Fprintf(w, `{"code":0,"data":{"list":[{"dimensions":{"campaign_id":"1","stat_time_day":"2026-10-01 00:00:00"},"metrics":{"clicks":"%d"}}],`+
			`"page_info":{"total_number":2,"total_page":2}}}`, page)
	})
	err := c.Report(t.Context(), connection.Credentials{}, connection.Report{Level: connection.LevelCampaign}, func([]fact.Row) error { return nil })
	if err == nil || connection.ClassOf(err) != connection.PagesDisagree {
		t.Errorf("got %v want %s", err, connection.PagesDisagree)
	}
}

// TestMissingMetricsAreUnknown checks that absent metrics are unknown and
// invalid ones refused.
func TestMissingMetricsAreUnknown(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"-": "unknown", "": "unknown", "0": "0", "0.00": "0", "12.34": "12340000", "-3.5": "-3500000", "0.000001": "1",
		"1e3": "refused", "1,000.00": "refused", "0.0000001": "refused", "99999999999999": "refused", "NaN": "refused",
	} {
		c := clientOf(t, func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"code":0,"data":{"list":[{"dimensions":{"campaign_id":"1","stat_time_day":"2026-10-01 00:00:00"},"metrics":{"spend":%q}}],`+
				`"page_info":{"total_number":1,"total_page":1}}}`, text)
		})
		got := "refused"
		err := c.Report(t.Context(), connection.Credentials{}, connection.Report{Level: connection.LevelCampaign}, func(rows []fact.Row) error {
			n, known := rows[0].Values.Get(fact.Spend)
			if got = fmt.Sprint(n); !known {
				got = "unknown"
			}
			return nil
		})
		if (err != nil) != (got == "refused") || got != want {
			t.Errorf("%q: got %s (%v) want %s", text, got, err, want)
		}
	}
}

// clientOf returns a client of a handler.
func clientOf(t *testing.T, answer http.HandlerFunc) *tiktok.Client {
	t.Helper()
	return tiktok.New(transport.Options{
		Base: "http://tiktok.test", Do: handlerDoer(answer), Now: func() time.Time { return now }, Sleep: func(context.Context, time.Duration) error { return nil },
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

func TestFaults(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		rule sandbox.FaultRule
		want connection.Class
		code string
	}{
		{sandbox.FaultRule{Fault: sandbox.FaultThrottle, Seconds: 300, Count: new(1)}, connection.Throttled, "40100"},
		{sandbox.FaultRule{Fault: sandbox.FaultThrottle, Seconds: 1, Count: new(1)}, "", ""},
		{sandbox.FaultRule{Fault: sandbox.FaultThrottle, Seconds: 1}, connection.Throttled, "40100"},
		{sandbox.FaultRule{Fault: sandbox.Fault500, Count: new(2)}, "", ""},
		{sandbox.FaultRule{Fault: sandbox.Fault503}, connection.Transient, "503"},
		{sandbox.FaultRule{Fault: sandbox.FaultReset, Count: new(1)}, "", ""},
		{sandbox.FaultRule{Fault: sandbox.FaultTruncated, Count: new(1)}, "", ""},
		{sandbox.FaultRule{Fault: sandbox.FaultWrongJSON, Count: new(1)}, "", ""},
		{sandbox.FaultRule{Fault: sandbox.FaultTooLarge, Count: new(1)}, connection.TooLarge, "40067"},
		{sandbox.FaultRule{Fault: sandbox.FaultExpiredToken, Count: new(1)}, connection.Revoked, "40105"},
		{sandbox.FaultRule{Fault: sandbox.FaultRevokedToken, Count: new(1)}, connection.Revoked, "40105"},
		{sandbox.FaultRule{Fault: sandbox.FaultVersionSunset, Count: new(1)}, connection.Sunset, "404"},
		{sandbox.FaultRule{Fault: sandbox.FaultAccountDisabled, Count: new(1)}, connection.Forbidden, "40001"},
	} {
		t.Run(fmt.Sprint(test.rule.Fault, test.want), func(t *testing.T) {
			t.Parallel()
			w := newSandbox(t, 1)
			test.rule.Path = "/report/"
			w.addFault(t, test.rule)
			_, err := w.report(t, connection.LevelCampaign, 30, 30)
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
			for _, secret := range []string{w.access.Access.Reveal(), "app-secret"} {
				if strings.Contains(fmt.Sprintf("%v %+v", err, e), secret) {
					t.Errorf("got %v, which shows a secret", err)
				}
			}
		})
	}
}

func TestThrottledUntil(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]time.Time{
		"QPM limit": now.Add(5 * time.Minute), "QPD limit": time.Date(2026, 10, 21, 0, 0, 0, 0, time.UTC), "Too many requests": now.Add(time.Second),
	} {
		c := clientOf(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, `{"code":40100,"message":%q}`, message) })
		err := c.SetStatus(t.Context(), connection.Credentials{}, "1", "2", false)
		if e, ok := errors.AsType[*connection.Error](err); !ok || !e.Until.Equal(want) {
			t.Errorf("%s: got %v want until %v", message, err, want)
		}
	}
}

func TestAccounts(t *testing.T) {
	t.Parallel()
	w := newSandbox(t, 1)
	got, err := w.client.Accounts(t.Context(), w.access)
	if err != nil || len(got) != 1 {
		t.Fatalf("got %v (%v) want one account", got, err)
	}
	want := connection.Account{ExternalID: w.account.ID, Name: w.account.Name, Currency: "EUR", Timezone: "Europe/Berlin", URL: got[0].URL, Enabled: true}
	if diff := difference.Diff(want, got[0]); diff != "" {
		t.Errorf("differs (-want +got):\n%s", diff)
	}
	w.addFault(t, sandbox.FaultRule{Fault: sandbox.FaultAccountDisabled, Count: new(1)})
	if got, err := w.client.Accounts(t.Context(), w.access); err != nil || len(got) != 0 {
		t.Errorf("closed: got %v (%v) want none", got, err)
	}
	own := w.access
	own.App = connection.OAuthClient{}
	_, err = w.client.Accounts(t.Context(), own)
	if e, ok := errors.AsType[*connection.Error](err); !ok || e.Class != connection.Refused || !strings.Contains(e.Remedy, "secret") {
		t.Errorf("without an app: got %v want it refused, with what to give", err)
	}
}

func TestEntities(t *testing.T) {
	t.Parallel()
	w := newSandbox(t, 1)
	got, err := w.client.Entities(t.Context(), w.access, w.account.ID)
	if err != nil {
		t.Fatal(err)
	}
	adsWant, groups := 0, map[string]string{}
	for _, c := range w.account.Campaigns {
		for _, g := range c.Groups {
			adsWant += len(g.Ads)
			if g.Audience != nil {
				groups[g.ID] = g.Audience.ID
			}
		}
	}
	if len(got.Campaigns) != len(w.account.Campaigns) || len(got.Ads) != adsWant || len(got.Audiences) != len(w.account.Audiences) {
		t.Errorf("got %d campaigns, %d ads, %d audiences", len(got.Campaigns), len(got.Ads), len(got.Audiences))
	}
	if diff := difference.Diff(groups, got.Groups); diff != "" {
		t.Errorf("groups differ (-want +got):\n%s", diff)
	}
	first := w.account.Campaigns[0]
	if c := got.Campaigns[0]; c.External != first.ID || c.Name != first.Name || c.Channel != "social" || c.Status != "ENABLE" || !c.Runs {
		t.Errorf("got %+v want %s", c, first.Name)
	}
	if a := got.Audiences[0]; a.Size == nil || *a.Size != w.account.Audiences[0].Size {
		t.Errorf("got size %v want %d", a.Size, w.account.Audiences[0].Size)
	}
	if ad := got.Ads[0]; ad.URL != first.Groups[0].Ads[0].Link {
		t.Errorf("got %s want %s", ad.URL, first.Groups[0].Ads[0].Link)
	}
	for _, fault := range []string{sandbox.FaultSkipPage, sandbox.FaultDriftingTotal} {
		w.addFault(t, sandbox.FaultRule{Fault: fault, Count: new(1)})
		if again, err := w.client.Entities(t.Context(), w.access, w.account.ID); err != nil || len(again.Campaigns) != len(got.Campaigns) {
			t.Errorf("%s once: got %v want the list read again", fault, err)
		}
		w.addFault(t, sandbox.FaultRule{Fault: fault, Count: new(3)})
		if _, err := w.client.Entities(t.Context(), w.access, w.account.ID); connection.ClassOf(err) != connection.PagesDisagree {
			t.Errorf("%s: got %v want drift", fault, err)
		}
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
		if err != nil || got.Runs != run || got.Status != map[bool]string{true: "ENABLE", false: "DISABLE"}[run] {
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

// consent grants access and returns the code of it.
func (w *testSandbox) consent(t *testing.T, grant connection.Grant) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.client.AuthorizeURL(w.access.App, grant), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := w.server.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	back, err := resp.Location()
	if err != nil || back.Query().Get("state") != grant.State || back.Query().Get("x") != "1" {
		t.Fatalf("got %v (%v) want back to %s", back, err, grant.Redirect)
	}
	return cmp.Or(back.Query().Get("auth_code"), "none")
}

var testGrant = connection.Grant{Redirect: "https://fanfare.test/back?x=1", State: "a state"}

// exchange returns the credentials of a new consent.
func (w *testSandbox) exchange(t *testing.T) connection.Credentials {
	t.Helper()
	got, err := w.client.Exchange(t.Context(), w.access.App, testGrant, w.consent(t, testGrant))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestGrant(t *testing.T) {
	t.Parallel()
	w := newSandbox(t, 1)
	grant, code := testGrant, w.consent(t, testGrant)
	got, err := w.client.Exchange(t.Context(), w.access.App, grant, code)
	if err != nil || got.ExpiresAt != nil || len(got.Scopes) == 0 || got.App != w.access.App || got.IssuedAt != clock.At(now) {
		t.Fatalf("got %+v (%v)", got, err)
	}
	if _, err := w.client.Exchange(t.Context(), w.access.App, grant, code); connection.ClassOf(err) != connection.Refused || !strings.Contains(err.Error(), "40110") {
		t.Errorf("the code again: got %v want it refused", err)
	}
	if again, err := w.client.Refresh(t.Context(), w.access.App, got); err != nil || again.Access != got.Access {
		t.Errorf("got %v (%v) want the same", again, err)
	}
	if accounts, err := w.client.Accounts(t.Context(), got); err != nil || len(accounts) != 1 {
		t.Errorf("got %v (%v) want one account", accounts, err)
	}
	for range 2 {
		if err := w.client.Revoke(t.Context(), w.access.App, got); err != nil {
			t.Errorf("got %v want access given back", err)
		}
	}
	if _, err := w.client.Accounts(t.Context(), got); connection.ClassOf(err) != connection.Revoked {
		t.Errorf("got %v want revoked", err)
	}
}

// TestErrorsOmitSecrets has a server that repeats every request in its answer.
func TestErrorsOmitSecrets(t *testing.T) {
	t.Parallel()
	c := clientOf(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		fmt.Fprintf(w, `{"code":40002,"message":%q}`, fmt.Sprint(r.URL, r.Header, string(body), err))
	})
	cr := connection.Credentials{Access: secret.New("tok-5ecret"), App: connection.OAuthClient{ID: "app", Secret: secret.New("app-5ecret")}}
	_, accounts := c.Accounts(t.Context(), cr)
	_, exchange := c.Exchange(t.Context(), cr.App, connection.Grant{}, "code-5ecret")
	for name, err := range map[string]error{
		"accounts": accounts, "exchange": exchange, "revoke": c.Revoke(t.Context(), cr.App, cr), "status": c.SetStatus(t.Context(), cr, "1", "2", true),
	} {
		if err == nil || strings.Contains(fmt.Sprintf("%v %+v", err, err), "5ecret") {
			t.Errorf("%s: got %v, want an error without secrets", name, err)
		}
	}
}
