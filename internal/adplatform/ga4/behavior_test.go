package ga4

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"fanfare/internal/adplatform/sandbox"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/fact"
	"fanfare/internal/secret"
)

// turnOn turns a switch on for an account, or for all if it is empty.
func (f *testSandbox) turnOn(t *testing.T, account, name, value string) {
	t.Helper()
	if err := f.server.TurnOn(sandbox.BehaviorRule{Platform: sandbox.GA4, Account: account, Switch: name, Value: value}); err != nil {
		t.Fatal(err)
	}
}

// result is a report that was read.
type result struct {
	rows                 []fact.Row
	conversions, revenue int64
	notes                []connection.Note
}

// note returns the only note with a code, nil if there is none.
func (r *result) note(t *testing.T, code connection.NoteCode) *connection.Note {
	t.Helper()
	var found *connection.Note
	for i := range r.notes {
		if r.notes[i].Code != code {
			continue
		}
		if found != nil {
			t.Errorf("got several notes with code %s: %+v", code, r.notes)
		}
		found = &r.notes[i]
	}
	return found
}

// read reads a report of the account with all its notes.
func (f *testSandbox) read(t *testing.T, q connection.Report) (result, error) {
	t.Helper()
	var r result
	if q.Account == "" {
		q.Account = f.account.ID
	}
	q.Note = func(n connection.Note) { r.notes = append(r.notes, n) }
	err := f.client.Report(t.Context(), f.creds, q, func(rows []fact.Row) error {
		r.rows = append(r.rows, rows...)
		for _, row := range rows {
			r.conversions += row.Values.V[fact.Conversions]
			r.revenue += row.Values.V[fact.Revenue]
		}
		return nil
	})
	return r, err
}

// mustRead reads a report that must not fail.
func (f *testSandbox) mustRead(t *testing.T, q connection.Report) result {
	t.Helper()
	r, err := f.read(t, q)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// truth returns the true totals of the account.
func (f *testSandbox) truth(first, last clock.Date) (conversions, revenue int64) {
	for _, day := range f.server.Truth(f.account, first, last).Families["base"] {
		conversions += *day.ConversionsMicros
		revenue += *day.RevenueMicros
	}
	return conversions, revenue
}

// checkTruth checks that a report has the true totals.
func (f *testSandbox) checkTruth(t *testing.T, r result, first, last clock.Date) {
	t.Helper()
	conversions, revenue := f.truth(first, last)
	if conversions == 0 || r.conversions != conversions || r.revenue != revenue {
		t.Errorf("got %d conversions and %d revenue, want %d and %d", r.conversions, r.revenue, conversions, revenue)
	}
}

func TestThresholding(t *testing.T) {
	t.Parallel()
	f := openSandbox(t)
	last := f.server.Today(f.account) - 5
	q := connection.Report{Level: connection.LevelDemographic, First: last - 6, Last: last}
	all := f.mustRead(t, q)
	f.turnOn(t, "", "thresholded", "")
	r := f.mustRead(t, q)
	if len(r.rows) == 0 || len(r.rows) >= len(all.rows) {
		t.Fatalf("got %d of %d rows, want some of them", len(r.rows), len(all.rows))
	}
	missing := map[fact.Measure]int64{}
	for _, n := range r.notes {
		if n.Code != connection.NoteWithheld || n.Amount == nil || n.First != q.First || n.Last != q.Last {
			t.Fatalf("got %+v, want a note with the amount and the days", n)
		}
		missing[n.Measure] = *n.Amount
	}
	r.conversions += missing[fact.Conversions]
	r.revenue += missing[fact.Revenue]
	f.checkTruth(t, r, q.First, q.Last)
	// Reports of campaigns are complete and have no note.
	q.Level = connection.LevelCampaign
	if r = f.mustRead(t, q); len(r.notes) > 0 {
		t.Errorf("got %+v, want no notes about campaigns", r.notes)
	}
	f.checkTruth(t, r, q.First, q.Last)
}

func TestOtherRow(t *testing.T) {
	t.Parallel()
	f := openSandbox(t)
	f.turnOn(t, "", "other_row", "")
	last := f.server.Today(f.account) - 5
	for _, level := range []connection.Level{connection.LevelCampaign, connection.LevelGeo, connection.LevelDevice, connection.LevelDemographic} {
		q := connection.Report{Level: level, First: last - 6, Last: last}
		r := f.mustRead(t, q)
		f.checkTruth(t, r, q.First, q.Last)
		other := int64(0)
		for _, row := range r.rows {
			if row.Campaign.ExternalID == otherRow {
				other += row.Values.V[fact.Conversions]
			}
		}
		n := r.note(t, connection.NoteOther)
		if n == nil || n.Measure != fact.Conversions || n.Amount == nil || *n.Amount != other || other == 0 {
			t.Errorf("level %d: got note %+v, want one with %d conversions", level, n, other)
		}
	}
	if r := f.mustRead(t, connection.Report{Level: connection.LevelAccount, First: last - 6, Last: last}); len(r.notes) > 0 {
		t.Errorf("got %+v, want no notes about the property", r.notes)
	}
	entities, err := f.client.Entities(t.Context(), f.creds, f.account.ID)
	if err != nil || len(entities.Campaigns) == 0 || len(entities.Ads) == 0 {
		t.Fatalf("got %+v, %v, want campaigns and ads", entities, err)
	}
	for _, e := range slices.Concat(entities.Campaigns, entities.Ads) {
		if strings.HasPrefix(e.External, "(") {
			t.Errorf("got an entity %q, want none of a placeholder", e.External)
		}
	}
}

func TestSampling(t *testing.T) {
	t.Parallel()
	f := openSandbox(t)
	// All events of 6 days are read.
	f.turnOn(t, "", "sampled", "20")
	last := f.server.Today(f.account) - 5
	days, sampled := clock.Date(0), 0
	// readHalves reads a window as the sync does: two halves of what is too large.
	var readHalves func(first, last clock.Date)
	readHalves = func(first, last clock.Date) {
		q := connection.Report{Level: connection.LevelCampaign, First: first, Last: last}
		r, err := f.read(t, q)
		if connection.ClassOf(err) == connection.TooLarge && first < last {
			middle := first + (last-first)/2
			readHalves(first, middle)
			readHalves(middle+1, last)
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		days += last - first + 1
		if n := r.note(t, connection.NoteSampled); n != nil {
			if last-first+1 != maxSampledDays || !strings.Contains(n.Message, "85.7 %") {
				t.Errorf("got %+v for %d days, want a note with the percentage for 7 days", n, last-first+1)
			}
			sampled++
			return
		}
		f.checkTruth(t, r, first, last)
	}
	readHalves(last-29, last)
	if days != 30 || sampled == 0 {
		t.Errorf("got %d days and %d sampled windows, want 30 days and some windows", days, sampled)
	}
	if _, err := f.client.Entities(t.Context(), f.creds, f.account.ID); err != nil {
		t.Errorf("got %v, want entities of a sampled property", err)
	}
}

func TestRestrictedMetric(t *testing.T) {
	t.Parallel()
	f := openSandbox(t)
	last := f.server.Today(f.account) - 5
	q := connection.Report{Level: connection.LevelCampaign, First: last - 6, Last: last}
	f.turnOn(t, "", "restricted_metric", "COST_DATA")
	r := f.mustRead(t, q)
	f.checkTruth(t, r, q.First, q.Last)
	if len(r.notes) > 0 {
		t.Errorf("got %+v, want no note about cost, which is not read", r.notes)
	}
	f.turnOn(t, "", "restricted_metric", "REVENUE_DATA")
	r = f.mustRead(t, q)
	conversions, _ := f.truth(q.First, q.Last)
	if r.conversions != conversions {
		t.Errorf("got %d conversions, want %d", r.conversions, conversions)
	}
	for _, row := range r.rows {
		if n, known := row.Values.Get(fact.Revenue); known {
			t.Fatalf("got revenue %d, want unknown", n)
		}
	}
	if n := r.note(t, connection.NoteWithheld); n == nil || n.Measure != fact.Revenue || !strings.Contains(n.Message, "Property access management") {
		t.Errorf("got %+v, want a note about revenue with a remedy", r.notes)
	}
}

func TestTruncation(t *testing.T) {
	t.Parallel()
	f := openSandbox(t)
	f.turnOn(t, "", "truncated_retention", "")
	cut := clock.MakeDate(2025, time.August, 20)
	q := connection.Report{Level: connection.LevelCampaign, First: cut - 10, Last: cut + 10}
	r := f.mustRead(t, q)
	f.checkTruth(t, r, cut, q.Last)
	if n := r.note(t, connection.NoteNotIncluded); n == nil || n.First != q.First || n.Last != cut-1 {
		t.Errorf("got %+v, want a note about the days before %s", r.notes, cut)
	}
	q.First = cut
	if r = f.mustRead(t, q); len(r.notes) > 0 {
		t.Errorf("got %+v, want no note about days that are there", r.notes)
	}
}

// TestAdDataOlderThan36Months checks that key events and revenue are complete
// where GA4 has no more cost.
func TestAdDataOlderThan36Months(t *testing.T) {
	t.Parallel()
	f := openSandboxAt(t, time.Date(2028, 3, 1, 12, 0, 0, 0, time.UTC))
	first := clock.MakeDate(2024, time.December, 1)
	r := f.mustRead(t, connection.Report{Level: connection.LevelCampaign, First: first, Last: first + 29})
	f.checkTruth(t, r, first, first+29)
	if len(r.notes) > 0 {
		t.Errorf("got %+v, want no notes", r.notes)
	}
}

func TestEmptyReason(t *testing.T) {
	t.Parallel()
	f := openSandbox(t)
	f.turnOn(t, "", "empty_reason", "")
	today := f.server.Today(f.account)
	r := f.mustRead(t, connection.Report{Level: connection.LevelCampaign, First: today - 6, Last: today})
	if n := r.note(t, connection.NoteNotIncluded); len(r.rows) > 0 || n == nil || !strings.Contains(n.Message, "has no data") {
		t.Errorf("got %d rows and %+v, want a note with the reason", len(r.rows), r.notes)
	}
}

// TestLateData checks that numbers that change later than the lookback are read
// again once a week.
func TestLateData(t *testing.T) {
	t.Parallel()
	f := openSandbox(t)
	f.turnOn(t, "", sandbox.BehaviorMaturation, "20")
	about := f.client.About()
	today := f.server.Today(f.account)
	day := today - clock.Date(about.LookbackDays) - 1
	q := connection.Report{Level: connection.LevelCampaign, First: day, Last: day}
	before := f.mustRead(t, q)
	f.checkTruth(t, before, day, day)
	// A week later, the day is in what is read once a week, and has settled in
	// the week after that.
	for range 3 {
		f.mu.Lock()
		f.now = f.now.AddDate(0, 0, 7)
		f.mu.Unlock()
		var err error
		if f.creds, err = f.client.Refresh(t.Context(), connection.OAuthClient{ID: "id", Secret: secret.New("secret")}, f.creds); err != nil {
			t.Fatal(err)
		}
		if age := f.server.Today(f.account) - day + 1; age > clock.Date(about.DeepDays) {
			t.Fatalf("got %d days once a week, want at least %d", about.DeepDays, age)
		}
		f.checkTruth(t, f.mustRead(t, q), day, day)
	}
	if after := f.mustRead(t, q); after.conversions <= before.conversions {
		t.Errorf("got %d conversions, want more than %d", after.conversions, before.conversions)
	}
}

func TestKeyEventAdded(t *testing.T) {
	t.Parallel()
	f := openSandbox(t)
	f.turnOn(t, "", "key_event_added", "")
	today := f.server.Today(f.account)
	created := today - 10
	q := connection.Report{Level: connection.LevelAccount, First: today - 20, Last: today - 5}
	r := f.mustRead(t, q)
	n := r.note(t, connection.NoteNotIncluded)
	if n == nil || n.First != q.First || n.Last != created-1 || !strings.Contains(n.Message, "generate_lead") || !strings.Contains(n.Message, created.String()) {
		t.Errorf("got %+v, want a note about generate_lead before %s", r.notes, created)
	}
	before, _ := f.truth(q.First, created-1)
	after, _ := f.truth(created, q.Last)
	if want := before/10*7 + after; r.conversions != want {
		t.Errorf("got %d conversions, want %d", r.conversions, want)
	}
	for _, other := range []connection.Report{
		{Level: connection.LevelAccount, First: created, Last: q.Last},
		{Level: connection.LevelAccount, First: q.First, Last: q.Last, Conversions: []string{"purchase"}},
	} {
		if r := f.mustRead(t, other); len(r.notes) > 0 {
			t.Errorf("got %+v, want no notes", r.notes)
		}
	}
}

func TestChosenKeyEvents(t *testing.T) {
	t.Parallel()
	f := openSandbox(t)
	last := f.server.Today(f.account) - 5
	first := last - 1
	conversions, revenue := f.truth(first, last)
	for _, test := range []struct {
		chosen []string
		tenths int64
		noted  bool
	}{
		{nil, 10, false},
		{[]string{"purchase"}, 7, false},
		{[]string{"generate_lead"}, 3, false},
		{[]string{"generate_lead", "purchase", "purchase"}, 10, false},
		{[]string{"purchase", "sign_up"}, 7, true},
		// A property without any of the events has no conversions, not 0.
		{[]string{"sign_up"}, 0, true},
	} {
		// With fewer metrics per request, several requests make up the report.
		for _, metrics := range []int{maxMetrics, 1} {
			f.client.metrics = metrics
			for _, level := range []connection.Level{connection.LevelAccount, connection.LevelCampaign, connection.LevelDemographic, connection.LevelDevice} {
				r, err := f.read(t, connection.Report{Level: level, First: first, Last: last, Conversions: test.chosen})
				if err != nil {
					t.Fatal(err)
				}
				if r.conversions != conversions/10*test.tenths || r.revenue != revenue {
					t.Errorf("%v, level %d: got %d conversions and %d revenue, want %d tenths of %d and %d", test.chosen, level, r.conversions, r.revenue, test.tenths, conversions, revenue)
				}
				if n := r.note(t, connection.NoteNotIncluded); (n != nil) != test.noted {
					t.Errorf("%v: got notes %+v", test.chosen, r.notes)
				}
				for _, row := range r.rows {
					if _, known := row.Values.Get(fact.Revenue); !known {
						t.Fatalf("%v: got a row without revenue, want 0", test.chosen)
					}
					if _, known := row.Values.Get(fact.Conversions); known != (test.tenths > 0) {
						t.Fatalf("%v: got conversions that are known: %v, want %v", test.chosen, known, !known)
					}
				}
			}
		}
	}
}

func TestPropertyChanges(t *testing.T) {
	t.Parallel()
	f := openSandbox(t)
	last := f.server.Today(f.account) - 5
	q := connection.Report{Level: connection.LevelCampaign, First: last - 6, Last: last}
	f.turnOn(t, "", "timezone_changed", "")
	f.turnOn(t, "", "currency_changed", "")
	accounts, err := f.client.Accounts(t.Context(), f.creds)
	if err != nil || len(accounts) != 1 || accounts[0].Timezone != "Asia/Tokyo" || accounts[0].Currency != "USD" || accounts[0].Problem != nil {
		t.Errorf("got %+v, %v, want the new time zone and currency", accounts, err)
	}
	r := f.mustRead(t, q)
	conversions, revenue := f.truth(q.First, q.Last)
	if r.conversions != conversions || r.revenue <= revenue {
		t.Errorf("got %d conversions and revenue %d, want %d and dollars for %d euros", r.conversions, r.revenue, conversions, revenue)
	}
	// Nor must a change mix the days or currencies of two reports.
	for _, known := range []connection.Account{{Currency: "EUR", Timezone: "Asia/Tokyo"}, {Currency: "USD", Timezone: "Europe/Berlin"}} {
		q := q
		q.Currency, q.Zone = known.Currency, known.Timezone
		if _, err := f.read(t, q); connection.ClassOf(err) != connection.Refused {
			t.Errorf("%+v: got %v, want another currency and time zone to be refused", known, err)
		}
	}
	q.Currency, q.Zone = "USD", "Asia/Tokyo"
	f.mustRead(t, q)
	q.Currency, q.Zone = "", ""
	// A change between two pages must not mix currencies.
	f.server.TurnAllOff()
	f.client.page = 10
	for _, name := range []string{"timezone_changed", "currency_changed"} {
		changed := false
		f.before = func(call int) {
			if call == 2 && !changed {
				changed = true
				f.turnOn(t, "", name, "")
			}
		}
		f.calls = nil
		_, err := f.read(t, q)
		if connection.ClassOf(err) != connection.PagesDisagree || !changed {
			t.Errorf("%s: got %v, want %s", name, err, connection.PagesDisagree)
		}
		f.server.TurnAllOff()
	}
}

func TestMixedChannels(t *testing.T) {
	t.Parallel()
	f := openSandbox(t)
	f.turnOn(t, "", "mixed_channels", "")
	last := f.server.Today(f.account) - 5
	for _, level := range []connection.Level{connection.LevelCampaign, connection.LevelGeo, connection.LevelDevice} {
		r := f.mustRead(t, connection.Report{Level: level, First: last, Last: last})
		f.checkTruth(t, r, last, last)
		channels := map[string]map[string]bool{}
		for _, row := range r.rows {
			if channels[row.Campaign.ExternalID] == nil {
				channels[row.Campaign.ExternalID] = map[string]bool{}
			}
			channels[row.Campaign.ExternalID][row.Channel] = true
		}
		if got := channels["Brand Search"]; len(got) != 2 || !got["search"] || !got["other"] {
			t.Errorf("level %d: got channels %v, want search and other", level, got)
		}
	}
}

func TestReportColumns(t *testing.T) {
	t.Parallel()
	for events, want := range map[string]string{
		"":                                "keyEvents totalRevenue",
		"purchase generate_lead purchase": "keyEvents:generate_lead keyEvents:purchase totalRevenue",
		"purchase":                        "keyEvents:purchase totalRevenue",
	} {
		var got []string
		for _, c := range reportColumns(strings.Fields(events)) {
			got = append(got, c.metric)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %v, want %s", events, got, want)
		}
	}
}

func TestColumnsByHeader(t *testing.T) {
	t.Parallel()
	body := `{"rowCount":1,"dimensionHeaders":[{"name":"date"}],"metricHeaders":[{"name":"totalRevenue"},{"name":"%s"}],
		"rows":[{"dimensionValues":[{"value":"20261001"}],"metricValues":[{"value":"9.5"},{"value":"2"}]}]}`
	for header, want := range map[string]connection.Class{"keyEvents": "", "sessions": connection.Transient} {
		s := &fixedAnswer{status: 200, body: strings.ReplaceAll(body, "%s", header)}
		f := &testSandbox{now: time.Date(2026, 10, 20, 12, 0, 0, 0, time.UTC)}
		f.client = newFixedClient(f, s)
		r, err := f.read(t, connection.Report{Account: "1", First: clock.MakeDate(2026, 10, 1), Last: clock.MakeDate(2026, 10, 1)})
		if want != "" {
			if err == nil || connection.ClassOf(err) != want {
				t.Errorf("%s: got %v, want %s", header, err, want)
			}
			continue
		}
		if err != nil || r.conversions != 2_000_000 || r.revenue != 9_500_000 {
			t.Errorf("%s: got %s conversions, %d, %v", header, strconv.FormatInt(r.conversions, 10), r.revenue, err)
		}
	}
}
