package linkedin_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"fanfare/internal/adplatform/sandbox"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/fact"
)

// turnOn turns a switch of the sandbox on, for one account or for all.
func (w *testSandbox) turnOn(t *testing.T, name, value, account string) {
	t.Helper()
	if err := w.server.TurnOn(sandbox.BehaviorRule{Platform: sandbox.LinkedInAds, Switch: name, Value: value, Account: account}); err != nil {
		t.Fatal(err)
	}
}

// reportOf reads a level of an account over the last days with given entities,
// and returns the sums of its rows and its notes.
func (w *testSandbox) reportOf(t *testing.T, level connection.Level, days clock.Date, entities *connection.Entities) (sums fact.Values, notes []connection.Note, err error) {
	t.Helper()
	today := w.server.Today(w.account)
	q := connection.Report{
		Account: w.account.ID, Level: level, First: today - days + 1, Last: today, Entities: entities,
		Note: func(n connection.Note) { notes = append(notes, n) },
	}
	err = w.client.Report(t.Context(), w.access, q, func(rows []fact.Row) error {
		for _, r := range rows {
			for m := range fact.Measure(fact.NumMeasures) {
				if n, known := r.Values.Get(m); known {
					sums.Set(m, sums.V[m]+n)
				}
			}
		}
		return nil
	})
	return sums, notes, err
}

// truth returns the true sums of the account over the last days.
func (w *testSandbox) truth(days clock.Date) (sums fact.Values) {
	today := w.server.Today(w.account)
	for _, d := range w.server.Truth(w.account, today-days+1, today).Families["base"] {
		sums.V[fact.Impressions] += *d.Impressions
		sums.V[fact.Clicks] += *d.Clicks
		sums.V[fact.Spend] += *d.SpendMicros
		sums.V[fact.Conversions] += *d.ConversionsMicros
		sums.V[fact.Revenue] += *d.RevenueMicros
	}
	return sums
}

// compareSums compares the measures that every level has.
func compareSums(t *testing.T, what string, got, want fact.Values) {
	t.Helper()
	for _, m := range []fact.Measure{fact.Impressions, fact.Clicks, fact.Spend} {
		if got.V[m] != want.V[m] {
			t.Errorf("%s: got %s %d want %d", what, m, got.V[m], want.V[m])
		}
	}
}

func (w *testSandbox) entities(t *testing.T) *connection.Entities {
	t.Helper()
	found, err := w.client.Entities(t.Context(), w.access, w.account.ID)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestEmptyReport checks that an empty report is an error if the member has no
// access, and is right if the account had no activity.
func TestEmptyReport(t *testing.T) {
	t.Parallel()
	for _, level := range []connection.Level{connection.LevelAccount, connection.LevelCampaign, connection.LevelAd, connection.LevelGeo, connection.LevelDevice} {
		w := newSandbox(t, 1)
		entities := w.entities(t)
		w.turnOn(t, "empty_without_access", "", w.account.ID)
		_, _, err := w.reportOf(t, level, 30, entities)
		e, ok := errors.AsType[*connection.Error](err)
		if !ok || e.Class != connection.Forbidden || !strings.Contains(e.Remedy, "role") {
			t.Errorf("level %d without access: got %v want forbidden, with the remedy", level, err)
		}
		w.server.TurnAllOff()
		before := connection.Report{Account: w.account.ID, Level: level, First: w.account.First - 30, Last: w.account.First - 1, Entities: entities}
		if err := w.client.Report(t.Context(), w.access, before, nil); err != nil {
			t.Errorf("level %d without activity: got %v want no rows", level, err)
		}
		w.access.Scopes = []string{"r_ads"}
		if err := w.client.Report(t.Context(), w.access, before, nil); connection.ClassOf(err) != connection.Forbidden {
			t.Errorf("level %d without the scope: got %v want forbidden", level, err)
		}
	}
}

// TestCutReport checks that reports with more than 15,000 rows are complete: by
// days, and within a day by campaigns.
func TestCutReport(t *testing.T) {
	t.Parallel()
	w := newSandbox(t, 60)
	got, _, err := w.reportOf(t, connection.LevelDevice, 32, w.entities(t))
	if err != nil {
		t.Fatal(err)
	}
	compareSums(t, "by days", got, w.truth(32))
	if len(w.reportQueries) != 3 {
		t.Errorf("got %d calls want the report and its halves", len(w.reportQueries))
	}
	day := newSandbox(t, 1_700)
	entities := &connection.Entities{}
	for _, c := range day.account.Campaigns {
		entities.Campaigns = append(entities.Campaigns, connection.Entity{External: c.ID, Name: c.Name})
	}
	if got, _, err = day.reportOf(t, connection.LevelDevice, 1, entities); err != nil {
		t.Fatal(err)
	}
	compareSums(t, "one day", got, day.truth(1))
	for _, query := range day.reportQueries {
		if len(query) > 4000 {
			t.Errorf("got a query of %d bytes want at most 4,000", len(query))
		}
	}
}

// TestVersionLives checks that the client's version is accepted while it lives
// and that its end is named.
func TestVersionLives(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		at        time.Time
		lasts     bool
		switch426 bool
	}{
		{at: now, lasts: true},
		{at: time.Date(2027, 10, 14, 12, 0, 0, 0, time.UTC), lasts: true},
		{at: time.Date(2027, 10, 15, 0, 0, 0, 0, time.UTC)},
		{at: now, switch426: true},
	} {
		w := newSandbox(t, 1)
		w.at = test.at
		granted, err := w.server.Grant(w.server.Own())
		if err != nil {
			t.Fatal(err)
		}
		w.access = credentialsOf(granted[sandbox.LinkedInAds])
		if test.switch426 {
			w.turnOn(t, "version_426", "", "")
		}
		_, err = w.client.Accounts(t.Context(), w.access)
		if test.lasts {
			if err != nil {
				t.Errorf("%s: got %v want the version accepted", test.at, err)
			}
			continue
		}
		e, ok := errors.AsType[*connection.Error](err)
		if !ok || e.Class != connection.Sunset || !strings.Contains(e.Remedy, "update Fanfare") {
			t.Errorf("%s: got %v want sunset, with the remedy", test.at, err)
		}
	}
	if sunset := newSandbox(t, 1).client.About().Sunset; sunset == nil || *sunset > clock.MakeDate(2027, 10, 15) {
		t.Errorf("got sunset %v want no later than LinkedIn's", sunset)
	}
}

// TestThrottles checks how long each of LinkedIn's limits holds calls back.
func TestThrottles(t *testing.T) {
	t.Parallel()
	midnight := time.Date(2026, 10, 21, 0, 0, 0, 0, time.UTC)
	for name, until := range map[string]time.Time{"daily": midnight, "45m": now.Add(330 * time.Second)} {
		w := newSandbox(t, 1)
		entities := w.entities(t)
		w.turnOn(t, "throttle", name, "")
		_, _, err := w.reportOf(t, connection.LevelCampaign, 2, entities)
		if e, ok := errors.AsType[*connection.Error](err); !ok || e.Class != connection.Throttled || !e.Until.Equal(until) || w.slept > time.Second {
			t.Errorf("%s: got %v after %s want it held until %s", name, err, w.slept, until)
		}
		// Pausing a campaign does not wait for the quota of reports.
		if err := w.client.SetStatus(t.Context(), w.access, w.account.ID, w.account.Campaigns[0].ID, false); err != nil {
			t.Errorf("%s: got %v want the campaign paused", name, err)
		}
	}
	w := newSandbox(t, 1)
	w.turnOn(t, "throttle", "infra", "")
	_, err := w.client.Accounts(t.Context(), w.access)
	if e, ok := errors.AsType[*connection.Error](err); !ok || e.Class != connection.Throttled || !e.Until.IsZero() || w.slept == 0 {
		t.Errorf("infra: got %v after %s want it tried again", err, w.slept)
	}
}

// TestDailyQuota checks that a quota of calls ends at midnight UTC.
func TestDailyQuota(t *testing.T) {
	t.Parallel()
	w := newSandbox(t, 1)
	entities := w.entities(t)
	w.turnOn(t, "daily_calls", "2", "")
	var err error
	for range 3 {
		_, _, err = w.reportOf(t, connection.LevelCampaign, 2, entities)
	}
	e, ok := errors.AsType[*connection.Error](err)
	if !ok || e.Class != connection.Throttled {
		t.Fatalf("got %v want it throttled", err)
	}
	w.at = e.Until.Add(-2 * time.Minute)
	if _, _, err = w.reportOf(t, connection.LevelCampaign, 2, entities); connection.ClassOf(err) != connection.Throttled {
		t.Errorf("before midnight: got %v want it throttled", err)
	}
	w.at = e.Until
	if _, _, err = w.reportOf(t, connection.LevelCampaign, 2, entities); err != nil {
		t.Errorf("at midnight: got %v want the report", err)
	}
}

// TestCountries checks that countries are read by one call per account, have no
// revenue, and that what LinkedIn withholds is noted with its amount.
func TestCountries(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "approximate_demographics", "late_demographics"} {
		w := newSandbox(t, 1)
		entities := w.entities(t)
		if name != "" {
			w.turnOn(t, name, "", "")
		}
		got, notes, err := w.reportOf(t, connection.LevelGeo, 30, entities)
		if err != nil {
			t.Fatal(err)
		}
		if _, known := got.Get(fact.Revenue); known || len(w.reportQueries) != 2 || strings.Contains(w.reportQueries[0], "campaigns=") {
			t.Errorf("%s: got revenue %v, calls %v want none, and one for countries and one for the total", name, known, w.reportQueries)
		}
		want := w.truth(30)
		noted := fact.Values{}
		for _, n := range notes {
			if n.Code != connection.NoteWithheld || n.Amount == nil || n.Message == "" || n.First > n.Last {
				t.Errorf("%s: got note %+v", name, n)
				continue
			}
			noted.Set(n.Measure, *n.Amount)
		}
		for _, m := range []fact.Measure{fact.Impressions, fact.Spend} {
			if got.V[m]+noted.V[m] != want.V[m] {
				t.Errorf("%s: got %s %d and %d noted want %d", name, m, got.V[m], noted.V[m], want.V[m])
			}
		}
		if (len(notes) > 0) != (name != "") {
			t.Errorf("%s: got notes %+v", name, notes)
		}
	}
}

// TestUnavailableMetrics checks that metrics that LinkedIn does not have with a
// pivot or a long date range are unknown instead of 0, and not lost where it
// has them.
func TestUnavailableMetrics(t *testing.T) {
	t.Parallel()
	w := newSandbox(t, 1)
	entities := w.entities(t)
	for level, want := range map[connection.Level]map[fact.Measure]bool{
		connection.LevelCampaign: {fact.Reach: true, fact.Conversions: true, fact.Revenue: true},
		connection.LevelGeo:      {fact.Reach: false, fact.Conversions: true, fact.Revenue: false},
		connection.LevelDevice:   {fact.Reach: false, fact.Conversions: false, fact.Revenue: false},
	} {
		got, _, err := w.reportOf(t, level, 200, entities)
		if err != nil {
			t.Fatal(err)
		}
		for m, known := range want {
			if _, has := got.Get(m); has != known {
				t.Errorf("level %d, %s: got known %v want %v", level, m, has, known)
			}
		}
		compareSums(t, fmt.Sprint("level ", level), got, w.truth(200))
	}
	first := w.server.Today(w.account) - 199
	days := map[clock.Date]bool{}
	q := connection.Report{Account: w.account.ID, Level: connection.LevelCampaign, First: first, Last: first + 199, Entities: entities}
	err := w.client.Report(t.Context(), w.access, q, func(rows []fact.Row) error {
		for _, r := range rows {
			if _, known := r.Values.Get(fact.Reach); known {
				days[r.Date] = true
			}
		}
		return nil
	})
	if err != nil || len(days) != 200 {
		t.Errorf("got reach of %d days (%v) want 200", len(days), err)
	}
}

// TestAccountList checks that every account of a grant is listed, closed ones
// too, and that one without access does not fail the list.
func TestAccountList(t *testing.T) {
	t.Parallel()
	w := newSandbox(t, 1)
	w.turnOn(t, "accounts", "12", "")
	all, err := w.client.Accounts(t.Context(), w.access)
	if err != nil || len(all) != 12 {
		t.Fatalf("got %d accounts (%v) want 12", len(all), err)
	}
	w.turnOn(t, "account_canceled_with_spend", "", all[3].ExternalID)
	w.turnOn(t, "empty_without_access", "", all[5].ExternalID)
	got, err := w.client.Accounts(t.Context(), w.access)
	if err != nil || len(got) != 11 || got[3].ExternalID != all[3].ExternalID || got[3].Enabled || !got[0].Enabled {
		t.Fatalf("got %+v (%v) want the canceled account, not enabled, and not the one without access", got, err)
	}
	w.account, _ = w.server.Account(all[3].ExternalID)
	sums, _, err := w.reportOf(t, connection.LevelCampaign, 30, w.entities(t))
	if err != nil {
		t.Fatal(err)
	}
	compareSums(t, "canceled account", sums, w.truth(30))
}

// TestLists checks that lists are complete although pages are short, archived
// campaigns are left out by default, and large pages of creatives fail.
func TestLists(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		hidden int
	}{{"archived_campaigns", 0}, {"creative_500", 0}, {"short_pages", 1}} {
		w := newSandbox(t, 340)
		w.turnOn(t, test.name, "", "")
		got := w.entities(t)
		creatives := 0
		for _, c := range w.account.Campaigns {
			creatives += len(c.Groups[0].Ads)
		}
		if len(w.account.Campaigns) <= 1000 || len(got.Campaigns) != len(w.account.Campaigns) || len(got.Ads) != creatives || len(got.Audiences) != len(w.account.Audiences)-test.hidden {
			t.Errorf("%s: got %d campaigns of %d, %d ads of %d, %d audiences of %d", test.name,
				len(got.Campaigns), len(w.account.Campaigns), len(got.Ads), creatives, len(got.Audiences), len(w.account.Audiences))
		}
		if first := got.Campaigns[0]; test.name == "archived_campaigns" && (first.Status != "ARCHIVED" || first.Runs || first.Name == "") {
			t.Errorf("got %+v want the archived campaign with its name", first)
		}
		if second := got.Campaigns[1]; test.name == "archived_campaigns" && (second.Status != "REMOVED" || second.Runs || !second.Deleted || got.Campaigns[0].Deleted) {
			t.Errorf("got %+v and %+v want only the second one deleted", got.Campaigns[0], second)
		}
	}
}

// TestRefusedChanges checks that a change that the role or the state does not
// allow is an error with its code and a remedy, and changes nothing.
func TestRefusedChanges(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, code, remedy string
		class              connection.Class
	}{
		{"viewer_role", "NO_PERMISSION_TO_UPDATE", "CAMPAIGN_MANAGER", connection.Forbidden},
		{"draft_group", "ONLY_DRAFT_CAMPAIGNS_ALLOWED_IN_DRAFT_CAMPAIGN_GROUPS", "campaign group", connection.Refused},
		{"account_canceled_with_spend", "ACTION_NOT_ALLOWED_FOR_CANCELLED_STATUS", "canceled", connection.Refused},
	} {
		w := newSandbox(t, 1)
		id := w.account.Campaigns[0].ID
		w.turnOn(t, test.name, "", "")
		err := w.client.SetStatus(t.Context(), w.access, w.account.ID, id, false)
		e, ok := errors.AsType[*connection.Error](err)
		if !ok || e.Class != test.class || e.Code != test.code || !strings.Contains(e.Remedy, test.remedy) {
			t.Errorf("%s: got %v want %s %s", test.name, err, test.class, test.code)
		}
		if got, err := w.client.Status(t.Context(), w.access, w.account.ID, id); err != nil || !got.Runs {
			t.Errorf("%s: got %+v (%v) want it to run", test.name, got, err)
		}
	}
}

// TestConsentEnds checks that refreshing does not move the end of the consent,
// and that an app without refresh tokens says so.
func TestConsentEnds(t *testing.T) {
	t.Parallel()
	w := newSandbox(t, 1)
	end := clock.At(now.AddDate(0, 0, 365))
	for _, days := range []int{50, 200, 360} {
		w.at = now.AddDate(0, 0, days)
		got, err := w.client.Refresh(t.Context(), w.access.App, w.access)
		if err != nil || got.RefreshExpiresAt == nil || *got.RefreshExpiresAt != end {
			t.Fatalf("after %d days: got %v (%v) want the end of the consent unchanged", days, got.RefreshExpiresAt, err)
		}
		w.access = got
	}
	w.at = now.AddDate(0, 0, 366)
	if _, err := w.client.Refresh(t.Context(), w.access.App, w.access); connection.ClassOf(err) != connection.Revoked {
		t.Errorf("after the end: got %v want revoked", err)
	}
	other := newSandbox(t, 1)
	other.turnOn(t, "no_refresh_token", "", "")
	grant := connection.Grant{Redirect: "https://fanfare.test/back", State: "s"}
	got, err := other.client.Exchange(t.Context(), other.access.App, grant, other.consent(t, grant))
	if err != nil || !got.Refresh.Empty() || got.RefreshExpiresAt != nil || got.ExpiresAt == nil || *got.ExpiresAt != clock.At(now.AddDate(0, 0, 60)) {
		t.Fatalf("got %+v (%v) want access for 60 days and no refresh token", got, err)
	}
	_, err = other.client.Refresh(t.Context(), other.access.App, got)
	if e, ok := errors.AsType[*connection.Error](err); !ok || e.Class != connection.Revoked || !strings.Contains(e.Remedy, "60 days") {
		t.Errorf("got %v want revoked, with the remedy", err)
	}
}

// consent returns the code of a consent.
func (w *testSandbox) consent(t *testing.T, g connection.Grant) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.client.AuthorizeURL(w.access.App, g), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := w.server.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	back, err := resp.Location()
	if err != nil {
		t.Fatal(err)
	}
	return back.Query().Get("code")
}

// TestErrorTable checks the class of every documented error that the client can
// meet, in both of LinkedIn's forms.
func TestErrorTable(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		status int
		body   string
		want   connection.Class
		says   string
	}{
		{400, `{"status":400,"code":"VERSION_MISSING","message":"A version must be present."}`, connection.Refused, ""},
		{400, `{"status":400,"code":"MULTIPLE_VALIDATIONS_FAILED","message":"Multiple errors.","errorDetails":{"inputErrors":[{"description":"status is wrong"}]}}`, connection.Refused, "status is wrong"},
		{400, `{"status":400,"code":"STATUS_CHANGE_NOT_ALLOWED","message":"no","errorDetails":"?"}`, connection.Refused, ""},
		{400, `{"status":400,"code":"INVALID_STATUS_TRANSITION","message":"no"}`, connection.Refused, ""},
		{401, `{"status":401,"serviceErrorCode":65601,"message":"revoked"}`, connection.Revoked, "grant access again"},
		{401, `{"status":401,"serviceErrorCode":65602,"message":"expired"}`, connection.Expired, ""},
		{401, `{"status":401,"serviceErrorCode":65604,"message":"empty"}`, connection.Revoked, ""},
		{403, `{"status":403,"serviceErrorCode":100,"message":"Not enough permissions to access: partialUpdate.adCampaigns"}`, connection.Forbidden, "grant access again"},
		{403, `{"status":403,"code":"NO_PERMISSION_ON_ENTITY","message":"no"}`, connection.Forbidden, "CAMPAIGN_MANAGER"},
		{408, `{"status":408,"code":"TIMEOUT","message":"Request Timeout"}`, connection.Transient, ""},
		{409, `{"status":409,"code":"CONFLICT","message":"Write Conflict"}`, connection.Transient, ""},
		{500, `{"status":500,"code":"INTERNAL_ERROR","message":"Internal Error"}`, connection.Transient, ""},
		{503, `{"status":503,"code":"UNDER_MAINTENANCE","message":"Under Maintenance"}`, connection.Transient, ""},
		{504, ``, connection.Transient, ""},
	} {
		c := clientOf(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Li-Request-Id", "r1")
			w.WriteHeader(test.status)
			fmt.Fprint(w, test.body)
		})
		err := c.SetStatus(t.Context(), connection.Credentials{}, "1", "2", true)
		e, ok := errors.AsType[*connection.Error](err)
		if !ok || e.Class != test.want || !strings.Contains(e.Message+e.Remedy, test.says) || e.RequestID != "r1" {
			t.Errorf("%d %s: got %v want %s", test.status, test.body, err, test.want)
		}
	}
}
