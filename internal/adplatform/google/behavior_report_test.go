package google_test

import (
	"testing"
	"time"

	"fanfare/internal/adplatform/sandbox"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/fact"
	"fanfare/internal/secret"
)

// renewToken opens the sandbox again after its tokens have expired.
func (f *testSandbox) renewToken(t *testing.T) {
	t.Helper()
	granted, err := f.server.Grant(f.server.Own())
	if err != nil {
		t.Fatal(err)
	}
	f.creds.Access = secret.New(granted[sandbox.GoogleAds].AccessToken)
}

// setTime moves the time of the sandbox and of the client.
func (f *testSandbox) setTime(t *testing.T, now time.Time) {
	t.Helper()
	f.mu.Lock()
	f.now = now
	f.mu.Unlock()
	f.renewToken(t)
}

// read reads a report of the last 12 days, unless it has days, and its notes.
func (f *testSandbox) read(t *testing.T, q connection.Report) (rows []fact.Row, notes []connection.Note, err error) {
	t.Helper()
	if q.First == 0 {
		q.Last = f.server.Today(f.account)
		q.First = q.Last - 11
	}
	q.Note = func(n connection.Note) { notes = append(notes, n) }
	err = f.client.Report(t.Context(), f.creds, q, func(some []fact.Row) error {
		rows = append(rows, some...)
		return nil
	})
	return rows, notes, err
}

var measuresOfTruth = map[fact.Measure]func(d *sandbox.TruthDay) *int64{
	fact.Impressions: func(d *sandbox.TruthDay) *int64 { return d.Impressions },
	fact.Clicks:      func(d *sandbox.TruthDay) *int64 { return d.Clicks },
	fact.Spend:       func(d *sandbox.TruthDay) *int64 { return d.SpendMicros },
	fact.Conversions: func(d *sandbox.TruthDay) *int64 { return d.ConversionsMicros },
	fact.Revenue:     func(d *sandbox.TruthDay) *int64 { return d.RevenueMicros },
	fact.VideoViews:  func(d *sandbox.TruthDay) *int64 { return d.VideoViews },
}

// truth returns the true totals of the account.
func (f *testSandbox) truth(level connection.Level, first, last clock.Date) map[fact.Measure]int64 {
	sums := map[fact.Measure]int64{}
	days := f.server.Truth(f.account, first, last).Families[connection.Families[level].String()]
	for i := range days {
		for m, of := range measuresOfTruth {
			if n := of(&days[i]); n != nil {
				sums[m] += *n
			}
		}
	}
	return sums
}

// compareTotals compares the sums of rows with true totals.
func compareTotals(t *testing.T, rows []fact.Row, want map[fact.Measure]int64) {
	t.Helper()
	got := map[fact.Measure]int64{}
	for _, r := range rows {
		for m := range want {
			n, _ := r.Values.Get(m)
			got[m] += n
		}
	}
	for m, n := range want {
		if got[m] != n || n == 0 && m == fact.Spend {
			t.Errorf("%s: got %d want %d", m, got[m], n)
		}
	}
}

// compareTruth reads a report and compares its sums with the true totals. It has
// no notes.
func (f *testSandbox) compareTruth(t *testing.T, account string, level connection.Level, q connection.Report) []fact.Row {
	t.Helper()
	q.Account, q.Level = account, level
	rows, notes, err := f.read(t, q)
	if err != nil || len(notes) > 0 {
		t.Fatalf("level %d: got %v and notes %+v", level, err, notes)
	}
	today := f.server.Today(f.account)
	compareTotals(t, rows, f.truth(level, today-11, today))
	return rows
}

// entities reads the entities of the account.
func (f *testSandbox) entities(t *testing.T) *connection.Entities {
	t.Helper()
	e, err := f.client.Entities(t.Context(), f.creds, f.account.ID)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

var breakdownLevels = []connection.Level{connection.LevelGeo, connection.LevelDemographic, connection.LevelDevice}

// TestViewExceedsCampaign checks that views above their campaign are kept, and that
// notes have the difference.
func TestViewExceedsCampaign(t *testing.T) {
	t.Parallel()
	for _, level := range breakdownLevels {
		f := openSandbox(t, 7)
		entities := f.entities(t)
		f.turnOn(t, "view_exceeds_campaign", "", f.account.ID)
		rows, notes, err := f.read(t, connection.Report{Account: f.account.ID, Level: level, Entities: entities})
		if err != nil {
			t.Fatalf("level %d: %v", level, err)
		}
		today := f.server.Today(f.account)
		want := f.truth(level, today-11, today)
		noted := map[fact.Measure]bool{}
		for _, n := range notes {
			if n.Code != connection.NoteTotalDiffers || n.First < today-11 || n.Last > today || n.Amount == nil || *n.Amount >= 0 || n.Message == "" || noted[n.Measure] {
				t.Fatalf("level %d: got note %+v", level, n)
			}
			noted[n.Measure] = true
			want[n.Measure] -= *n.Amount
		}
		if !noted[fact.Clicks] || !noted[fact.Spend] {
			t.Errorf("level %d: got notes %+v want one of clicks and one of spend", level, notes)
		}
		compareTotals(t, rows, want)
	}
}

// TestSegmentGaps checks that breakdowns have the totals of their campaigns,
// although Google's views leave rows out.
func TestSegmentGaps(t *testing.T) {
	t.Parallel()
	for _, level := range breakdownLevels {
		f := openSandbox(t, 7)
		entities := f.entities(t)
		f.turnOn(t, "segment_gaps", "", f.account.ID)
		rows := f.compareTruth(t, f.account.ID, level, connection.Report{Entities: entities})
		unknown := 0
		for _, r := range rows {
			if r.Country == "" && r.Device == "" && r.AgeRange == "" || r.Device == "unknown" || r.AgeRange == "unknown" {
				unknown++
			}
		}
		if unknown == 0 {
			t.Errorf("level %d: got no rows of unknown value", level)
		}
	}
}

// TestAssetGroups checks that the ad level has Performance Max campaigns.
func TestAssetGroups(t *testing.T) {
	t.Parallel()
	f := openSandbox(t, 7)
	rows, _, err := f.read(t, connection.Report{Account: f.account.ID, Level: connection.LevelAd})
	if err != nil {
		t.Fatal(err)
	}
	today := f.server.Today(f.account)
	want, got, campaign := int64(0), int64(0), ""
	for r := range f.server.Rows(f.account, sandbox.ByCampaign, today-11, today) {
		if r.Campaign.Kind == "performance_max" {
			want, campaign = want+r.Values.V[fact.Spend], r.Campaign.ID
		}
	}
	for _, r := range rows {
		if r.Campaign.ExternalID == campaign && r.Creative.Name != "" {
			got += r.Values.V[fact.Spend]
		}
	}
	if got != want || want == 0 {
		t.Errorf("got a spend of %d want %d of the campaign without ads", got, want)
	}
}

// TestRemovedCampaign checks that the metrics of a removed campaign are read with
// its name, and that it is not listed and not changed.
func TestRemovedCampaign(t *testing.T) {
	t.Parallel()
	f := openSandbox(t, 7)
	f.turnOn(t, "removed_objects", "", f.account.ID)
	removed := f.account.Campaigns[1]
	entities := f.entities(t)
	if len(entities.Campaigns) != len(f.account.Campaigns)-1 {
		t.Errorf("got %d campaigns want all but the removed one", len(entities.Campaigns))
	}
	for _, ad := range entities.Ads {
		if ad.External == removed.Groups[0].Ads[0].ID {
			t.Errorf("got ad %s of the removed campaign want it not listed", ad.External)
		}
	}
	rows := f.compareTruth(t, f.account.ID, connection.LevelCampaign, connection.Report{})
	named := false
	for _, r := range rows {
		named = named || r.Campaign == fact.Entity{ExternalID: removed.ID, Name: removed.Name}
	}
	if !named {
		t.Error("got no rows with the name of the removed campaign")
	}
	err := f.client.SetStatus(t.Context(), f.creds, f.account.ID, removed.ID, true)
	wantError(t, err, connection.Gone, "OPERATION_NOT_PERMITTED_FOR_REMOVED_RESOURCE")
	if got, err := f.client.Status(t.Context(), f.creds, f.account.ID, removed.ID); err != nil || !got.Confirms(false) {
		t.Errorf("got %+v, %v want it stopped", got, err)
	}
}

// TestConversionSetting checks that chosen conversion actions give the same numbers
// after the account has changed what it counts.
func TestConversionSetting(t *testing.T) {
	t.Parallel()
	f := openSandbox(t, 7)
	entities := f.entities(t)
	f.compareTruth(t, f.account.ID, connection.LevelCampaign, connection.Report{})
	f.turnOn(t, "conversion_setting_changed", "", f.account.ID)
	for _, level := range append([]connection.Level{connection.LevelAccount, connection.LevelCampaign}, breakdownLevels...) {
		f.compareTruth(t, f.account.ID, level, connection.Report{Conversions: []string{"Purchase"}, Entities: entities})
	}
	today := f.server.Today(f.account)
	truth := f.truth(connection.LevelCampaign, today-11, today)
	sum := func(q connection.Report) (conversions int64, notes []connection.Note) {
		q.Account, q.Level = f.account.ID, connection.LevelCampaign
		rows, notes, err := f.read(t, q)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			n, known := r.Values.Get(fact.Conversions)
			if known == (len(notes) > 0) {
				t.Fatalf("got %+v with notes %+v want conversions unknown if they were not counted", r, notes)
			}
			conversions += n
		}
		return conversions, notes
	}
	own, _ := sum(connection.Report{})
	both, _ := sum(connection.Report{Conversions: []string{"Purchase", "Newsletter sign-up"}})
	if own != both || own <= truth[fact.Conversions] {
		t.Errorf("got %d and %d want the account's own choice, more than %d", own, both, truth[fact.Conversions])
	}
	if _, notes := sum(connection.Report{Conversions: []string{"No such action"}}); len(notes) != 1 || notes[0].Code != connection.NoteNotIncluded {
		t.Errorf("got notes %+v want one about the unknown action", notes)
	}
}

// TestRetention reads days around the oldest that Google keeps.
func TestRetention(t *testing.T) {
	t.Parallel()
	f := openSandbox(t, 7)
	f.setTime(t, time.Date(2028, 2, 10, 8, 0, 0, 0, time.UTC))
	oldest := clock.MakeDate(2025, time.January, 10)
	q := connection.Report{Account: f.account.ID, Level: connection.LevelCampaign, First: oldest - 9, Last: oldest + 9}
	rows, notes, err := f.read(t, q)
	if err != nil {
		t.Fatal(err)
	}
	if len(notes) != 1 || notes[0].Code != connection.NoteNotIncluded || notes[0].First != q.First || notes[0].Last != oldest-1 {
		t.Errorf("got notes %+v want one about the days before %s", notes, oldest)
	}
	compareTotals(t, rows, f.truth(q.Level, oldest, q.Last))
	q.Last = oldest - 1
	_, _, err = f.read(t, q)
	wantError(t, err, connection.Refused, "beyond_retention")
	for day := clock.MakeDate(2026, time.January, 1); day < clock.MakeDate(2034, time.January, 1); day++ {
		first := clock.DateIn(day.Time().AddDate(0, -37, 0), time.UTC)
		if days := f.client.About().HistoryDays; day-clock.Date(days) <= first {
			t.Fatalf("got a history of %d days want less than 37 months before %s", days, day)
		}
	}
}

// TestDaysOfAccount checks that days are those of the account's time zone, of which
// the last is one that has not begun in UTC.
func TestDaysOfAccount(t *testing.T) {
	t.Parallel()
	f := openSandboxIn(t, 7, "Pacific/Auckland")
	list, err := f.client.Accounts(t.Context(), f.creds)
	if err != nil || list[0].Timezone != "Pacific/Auckland" {
		t.Errorf("got %+v, %v want the zone of the account", list, err)
	}
	today := f.server.Today(f.account)
	if today != clock.DateIn(f.clock(), time.UTC)+1 {
		t.Fatalf("got %s want the day after that of UTC", today)
	}
	rows := f.compareTruth(t, f.account.ID, connection.LevelCampaign, connection.Report{})
	if last := rows[len(rows)-1].Date; last != today {
		t.Errorf("got %s as the last day want %s", last, today)
	}
}

// TestLongMaturation checks that the weekly pass covers the longest window of
// conversions.
func TestLongMaturation(t *testing.T) {
	t.Parallel()
	f := openSandbox(t, 7)
	f.turnOn(t, sandbox.BehaviorMaturation, "90", f.account.ID)
	day := f.server.Today(f.account)
	q := connection.Report{Account: f.account.ID, Level: connection.LevelAccount, First: day, Last: day}
	read := func() int64 {
		rows, _, err := f.read(t, q)
		if err != nil {
			t.Fatal(err)
		}
		compareTotals(t, rows, f.truth(q.Level, day, day))
		return rows[0].Values.V[fact.Conversions]
	}
	about := f.client.About()
	start := f.clock()
	first := read()
	f.setTime(t, start.AddDate(0, 0, about.LookbackDays))
	later := read()
	f.setTime(t, start.AddDate(0, 0, about.DeepDays))
	last := read()
	f.setTime(t, start.AddDate(0, 0, about.DeepDays+30))
	if final := read(); first >= later || later >= last || last != final {
		t.Errorf("got %d, %d, %d, %d conversions want them to grow and to be final after %d days", first, later, last, final, about.DeepDays)
	}
}
