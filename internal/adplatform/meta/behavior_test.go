package meta_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"fanfare/internal/adplatform/sandbox"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/fact"
)

// turnOn turns a switch of the sandbox on.
func (w *testSandbox) turnOn(t *testing.T, name, value string) {
	t.Helper()
	if err := w.sandbox.TurnOn(sandbox.BehaviorRule{Platform: sandbox.MetaAds, Switch: name, Value: value}); err != nil {
		t.Fatal(err)
	}
}

// count returns how many requests of a method have had a part in their path.
func (w *testSandbox) count(method, part string) (n int) {
	for _, r := range w.requests {
		if r.Method == method && strings.Contains(r.URL.Path, part) {
			n++
		}
	}
	return n
}

// splitReport reads a report and halves its days while they are too many, as a
// sync does.
func (w *testSandbox) splitReport(t *testing.T, q connection.Report) ([]fact.Row, error) {
	t.Helper()
	rows, err := w.report(t, q)
	if connection.ClassOf(err) != connection.TooLarge || q.First == q.Last {
		return rows, err
	}
	older, newer := q, q
	older.Last = q.First + (q.Last-q.First)/2
	newer.First = older.Last + 1
	rows, err = w.splitReport(t, older)
	if err != nil {
		return nil, err
	}
	more, err := w.splitReport(t, newer)
	return append(rows, more...), err
}

// sumOf adds up a measure, and reports whether any row has it.
func sumOf(rows []fact.Row, m fact.Measure) (sum int64, known bool) {
	for i := range rows {
		n, ok := rows[i].Values.Get(m)
		sum, known = sum+n, known || ok
	}
	return sum, known
}

// truthOf returns the true totals of a report by measure.
func (w *testSandbox) truthOf(q connection.Report) map[fact.Measure]int64 {
	totals := map[fact.Measure]int64{}
	for _, day := range w.sandbox.Truth(w.account, q.First, q.Last).Families[connection.Families[q.Level].String()] {
		totals[fact.Impressions] += *day.Impressions
		totals[fact.Clicks] += *day.Clicks
		totals[fact.Spend] += *day.SpendMicros
		totals[fact.Conversions] += *day.ConversionsMicros
		totals[fact.Revenue] += *day.RevenueMicros
	}
	return totals
}

// checkTruth compares the sums of a report with the truth.
func (w *testSandbox) checkTruth(t *testing.T, name string, q connection.Report, rows []fact.Row, err error) {
	t.Helper()
	if err != nil {
		t.Errorf("%s, level %d: %v", name, q.Level, err)
		return
	}
	for m, want := range w.truthOf(q) {
		if got, _ := sumOf(rows, m); got != want || want == 0 {
			t.Errorf("%s, level %d: got %s %d want %d", name, q.Level, m, got, want)
		}
	}
}

// checkClass checks the class of an error and a part of its message.
func checkClass(t *testing.T, name string, err error, want connection.Class, text string) {
	t.Helper()
	e, ok := errors.AsType[*connection.Error](err)
	if !ok || e.Class != want || !strings.Contains(e.Message+e.Remedy, text) {
		t.Errorf("%s: got %v want class %s with %q", name, err, want, text)
	}
}

// wholeLevels are the levels whose rows add up to the account.
var wholeLevels = []connection.Level{connection.LevelAccount, connection.LevelCampaign, connection.LevelGeo, connection.LevelDemographic, connection.LevelDevice}

// impressionsOf adds up impressions of the account that a condition selects.
func (w *testSandbox) impressionsOf(q connection.Report, level sandbox.Level, selected func(sandbox.Row) bool) (sum int64) {
	for row := range w.sandbox.Rows(w.account, level, q.First, q.Last) {
		if selected(row) {
			n, _ := row.Values.Get(fact.Impressions)
			sum += n
		}
	}
	return sum
}

// TestDeletedObjects checks that rows of deleted objects are read, and that a
// total with or without them is a note at most.
func TestDeletedObjects(t *testing.T) {
	t.Parallel()
	for _, summary := range []string{"", "with", "without"} {
		w := newSandbox(t, 11)
		w.turnOn(t, "deleted_hidden", "")
		if summary != "" {
			w.turnOn(t, "summary_deleted", summary)
		}
		deleted := w.account.Campaigns[1]
		for _, level := range wholeLevels {
			q := w.reportFor(t, level, 20)
			rows, err := w.report(t, q)
			w.checkTruth(t, "summary "+summary, q, rows, err)
			if level != connection.LevelCampaign {
				continue
			}
			hidden := w.impressionsOf(q, sandbox.ByCampaign, func(r sandbox.Row) bool { return r.Campaign == deleted })
			switch {
			case hidden == 0:
				t.Error("the deleted campaign has no impressions")
			case summary != "without" && len(w.notes) > 0:
				t.Errorf("summary %q: got notes %+v want none", summary, w.notes)
			case summary == "without" && (len(w.notes) != 1 || w.notes[0].Code != connection.NoteTotalDiffers || *w.notes[0].Amount != -hidden):
				t.Errorf("got notes %+v want that the total lacks %d impressions", w.notes, hidden)
			}
		}
		q := w.reportFor(t, connection.LevelAd, 20)
		rows, err := w.report(t, q)
		if err != nil {
			t.Fatal(err)
		}
		got, _ := sumOf(rows, fact.Impressions)
		// Deleted ads are in the report too, so that ads add up to the campaigns.
		if want := w.impressionsOf(q, sandbox.ByCampaign, func(sandbox.Row) bool { return true }); got != want {
			t.Errorf("summary %q: got %d impressions of ads want %d", summary, got, want)
		}
		if !slices.ContainsFunc(rows, func(r fact.Row) bool { return r.Creative.Name == "Deleted ad" }) {
			t.Errorf("summary %q: got no row of a deleted ad", summary)
		}
	}
}

// TestArchivedObjects checks that archived objects are listed and keep their
// status, and that deleted ones do not fail the lists.
func TestArchivedObjects(t *testing.T) {
	t.Parallel()
	w := newSandbox(t, 12)
	before, err := w.client.Entities(t.Context(), w.cred, w.account.ID)
	if err != nil {
		t.Fatal(err)
	}
	w.turnOn(t, "lists_omit_archived", "")
	got, err := w.client.Entities(t.Context(), w.cred, w.account.ID)
	if err != nil {
		t.Fatal(err)
	}
	archived := w.account.Campaigns[2].ID
	i := slices.IndexFunc(got.Campaigns, func(e connection.Entity) bool { return e.External == archived })
	if len(got.Campaigns) != len(before.Campaigns) || len(got.Ads) != len(before.Ads) || len(got.Groups) != len(before.Groups) || i < 0 ||
		got.Campaigns[i].Status != "ARCHIVED" || got.Campaigns[i].Runs {
		t.Errorf("got %d campaigns, %d ads want %d, %d with the archived ones", len(got.Campaigns), len(got.Ads), len(before.Campaigns), len(before.Ads))
	}
	for _, level := range wholeLevels {
		q := w.reportFor(t, level, 20)
		rows, err := w.report(t, q)
		w.checkTruth(t, "archived", q, rows, err)
	}
	checkClass(t, "an archived campaign starts", w.client.SetStatus(t.Context(), w.cred, w.account.ID, archived, true), connection.Refused, "")
	w.turnOn(t, "deleted_hidden", "")
	if got, err = w.client.Entities(t.Context(), w.cred, w.account.ID); err != nil || len(got.Campaigns) != len(before.Campaigns)-1 {
		t.Errorf("got %v, %v want all but the deleted campaign", got, err)
	}
}

// TestTooMuchData checks that each error of too much data leads to a background
// report, and then to fewer days and campaigns at once.
func TestTooMuchData(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"1504018", "1504038", "500", "unknown"} {
		w := newSandbox(t, 13)
		w.turnOn(t, "too_large", value)
		for _, level := range wholeLevels {
			q := w.reportFor(t, level, 10)
			rows, err := w.report(t, q)
			w.checkTruth(t, value, q, rows, err)
		}
		if n := w.count(http.MethodPost, "/insights"); n != len(wholeLevels)-1 {
			t.Errorf("%s: got %d background reports want one for each level below the account", value, n)
		}
	}
	w := newSandbox(t, 13)
	w.turnOn(t, "too_large", "1487534")
	q := w.reportFor(t, connection.LevelAd, 3)
	if _, err := w.report(t, q); connection.ClassOf(err) != connection.TooLarge {
		t.Errorf("got %v want that three days are too many", err)
	}
	rows, err := w.splitReport(t, q)
	if err != nil {
		t.Fatal(err)
	}
	w.compareRows(t, q, rows)
	if w.count(http.MethodGet, "/insights") < 9 {
		t.Errorf("got %d requests want days to be split by campaign", w.count(http.MethodGet, "/insights"))
	}
}

// TestLargeLists checks that a list that is too large for Meta is read in
// shorter pages.
func TestLargeLists(t *testing.T) {
	t.Parallel()
	w := newSandbox(t, 14)
	want, err := w.client.Entities(t.Context(), w.cred, w.account.ID)
	if err != nil {
		t.Fatal(err)
	}
	w.turnOn(t, "lists_too_large", "")
	got, err := w.client.Entities(t.Context(), w.cred, w.account.ID)
	if err != nil || len(got.Ads) != len(want.Ads) || len(got.Campaigns) != len(want.Campaigns) {
		t.Errorf("got %+v, %v want %d ads", got, err, len(want.Ads))
	}
}

// TestReportErrors checks that the subcode of an error counts more than its
// code.
func TestReportErrors(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]connection.Class{
		"1504041": connection.Refused, "1504042": connection.Refused, "1504043": connection.Transient, "1504022": connection.Throttled,
		"341": connection.Throttled, "368": connection.Transient,
	} {
		w := newSandbox(t, 15)
		q := w.reportFor(t, connection.LevelCampaign, 7)
		w.turnOn(t, "report_error", value)
		_, err := w.report(t, q)
		checkClass(t, value, err, want, "")
	}
}

// TestSlowReports checks that a background report may take an hour.
func TestSlowReports(t *testing.T) {
	t.Parallel()
	w := newSandbox(t, 16)
	w.turnOn(t, "too_large", "1504018")
	w.turnOn(t, "async_slow", "")
	q := w.reportFor(t, connection.LevelCampaign, 30)
	before := w.now
	rows, err := w.report(t, q)
	w.checkTruth(t, "slow", q, rows, err)
	if took := w.now.Sub(before); took < 55*time.Minute || slices.Max(w.waited) > 30*time.Second {
		t.Errorf("got %v with waits up to %v want 55 minutes with waits up to 30 seconds", took, slices.Max(w.waited))
	}
}

// TestSkippedReports checks that a skipped report is started again and then
// asks for fewer days.
func TestSkippedReports(t *testing.T) {
	t.Parallel()
	w := newSandbox(t, 17)
	w.turnOn(t, "too_large", "1504038")
	w.turnOn(t, "async_skipped", "")
	q := w.reportFor(t, connection.LevelCampaign, 14)
	_, err := w.report(t, q)
	checkClass(t, "skipped", err, connection.TooLarge, "Job Skipped")
	if n := w.count(http.MethodPost, "/insights"); n != 2 {
		t.Errorf("got %d runs want 2", n)
	}
	rows, err := w.splitReport(t, q)
	w.checkTruth(t, "skipped", q, rows, err)
}

// TestSummaryOfBackgroundReport checks that rows count although Meta refuses
// their total.
func TestSummaryOfBackgroundReport(t *testing.T) {
	t.Parallel()
	w := newSandbox(t, 18)
	w.turnOn(t, "too_large", "1504018")
	w.turnOn(t, "summary_param_400", "")
	q := w.reportFor(t, connection.LevelGeo, 30)
	rows, err := w.report(t, q)
	w.checkTruth(t, "summary refused", q, rows, err)
}

// TestShortPages checks that short and empty pages do not end a list.
func TestShortPages(t *testing.T) {
	t.Parallel()
	w := newSandbox(t, 19)
	want, err := w.client.Entities(t.Context(), w.cred, w.account.ID)
	if err != nil {
		t.Fatal(err)
	}
	w.turnOn(t, "short_and_empty_pages", "")
	for _, level := range wholeLevels {
		q := w.reportFor(t, level, 30)
		rows, err := w.report(t, q)
		w.checkTruth(t, "short pages", q, rows, err)
		if len(q.Entities.Ads) != len(want.Ads) {
			t.Errorf("got %d ads want %d", len(q.Entities.Ads), len(want.Ads))
		}
	}
}

// TestCursorLimit checks that a report whose later pages are refused is made in
// the background.
func TestCursorLimit(t *testing.T) {
	t.Parallel()
	w := newSandbox(t, 20)
	w.turnOn(t, "cursor_limit", "")
	q := w.reportFor(t, connection.LevelDemographic, 30)
	rows, err := w.report(t, q)
	w.checkTruth(t, "cursor limit", q, rows, err)
	if w.count(http.MethodPost, "/insights") != 1 {
		t.Error("got no background report")
	}
}

// TestEstimatedBreakdowns checks that a breakdown that does not add up is read,
// with a note about the difference.
func TestEstimatedBreakdowns(t *testing.T) {
	t.Parallel()
	w := newSandbox(t, 21)
	w.turnOn(t, "breakdown_estimated", "")
	for _, level := range []connection.Level{connection.LevelGeo, connection.LevelDemographic, connection.LevelDevice} {
		q := w.reportFor(t, level, 30)
		rows, err := w.report(t, q)
		if err != nil || len(w.notes) != 1 || w.notes[0].Code != connection.NoteTotalDiffers {
			t.Errorf("level %d: got %v with notes %+v want a note", level, err, w.notes)
			continue
		}
		got, _ := sumOf(rows, fact.Impressions)
		if want := w.truthOf(q)[fact.Impressions]; got == want || got+*w.notes[0].Amount != want {
			t.Errorf("level %d: got %d and a difference of %d want %d together", level, got, *w.notes[0].Amount, want)
		}
	}
}

// TestImpressionDevice checks that accounts without impression_device have
// devices all the same.
func TestImpressionDevice(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"refused", "empty"} {
		w := newSandbox(t, 22)
		w.turnOn(t, "impression_device_opt_in", value)
		q := w.reportFor(t, connection.LevelDevice, 30)
		rows, err := w.report(t, q)
		w.checkTruth(t, value, q, rows, err)
		if len(w.notes) != 1 || w.notes[0].Code != connection.NoteOther {
			t.Errorf("%s: got notes %+v want one about tablets", value, w.notes)
		}
		for _, row := range rows {
			if row.Device != "mobile" && row.Device != "desktop" {
				t.Fatalf("%s: got device %q", value, row.Device)
			}
		}
	}
}

// TestReachOfOldBreakdowns checks that absent reach is unknown and not zero.
func TestReachOfOldBreakdowns(t *testing.T) {
	t.Parallel()
	w := newSandbox(t, 23)
	q := w.reportFor(t, connection.LevelGeo, 30)
	q.First, q.Last = q.First-430, q.Last-430
	rows, err := w.report(t, q)
	w.checkTruth(t, "old", q, rows, err)
	if reach, known := sumOf(rows, fact.Reach); known {
		t.Errorf("got reach %d want none", reach)
	}
}

// TestConversionEvents checks that conversions are the results that the account
// optimizes for, each counted once, and unknown where nothing is measured.
func TestConversionEvents(t *testing.T) {
	t.Parallel()
	for _, event := range []string{"", "lead", "registration", "install", "message", "subscribe"} {
		w := newSandbox(t, 24)
		if event != "" {
			w.turnOn(t, "result_events", event)
		}
		for _, level := range []connection.Level{connection.LevelAccount, connection.LevelCampaign, connection.LevelDevice} {
			q := w.reportFor(t, level, 14)
			rows, err := w.report(t, q)
			w.checkTruth(t, "event "+event, q, rows, err)
		}
	}
	w := newSandbox(t, 24)
	w.turnOn(t, "result_events", "none")
	rows, err := w.report(t, w.reportFor(t, connection.LevelCampaign, 30))
	if n, known := sumOf(rows, fact.Conversions); err != nil || known {
		t.Errorf("got %d conversions, %v want none where nothing is measured", n, err)
	}
}

// TestChosenConversions checks that a report counts the chosen events.
func TestChosenConversions(t *testing.T) {
	t.Parallel()
	w := newSandbox(t, 25)
	q := w.reportFor(t, connection.LevelCampaign, 30)
	truth := w.truthOf(q)[fact.Conversions]
	for _, test := range []struct {
		name   string
		chosen []string
		times  int64
	}{
		{"two names of one event", []string{"add_to_cart", "omni_add_to_cart"}, 3},
		{"two events", []string{"omni_purchase", "omni_add_to_cart"}, 4},
		{"an event that is not reported", []string{"offsite_conversion.custom.7"}, 0},
	} {
		q.Conversions = test.chosen
		rows, err := w.report(t, q)
		got, known := sumOf(rows, fact.Conversions)
		if err != nil || got != test.times*truth || known != (test.times > 0) {
			t.Errorf("%s: got %d, known %v, %v want %d", test.name, got, known, err, test.times*truth)
		}
	}
	q.Conversions = []string{"offsite_conversion.fb_pixel_purchase"}
	rows, err := w.report(t, q)
	if got, _ := sumOf(rows, fact.Conversions); err != nil || got == 0 || got > truth/2 {
		t.Errorf("got %d, %v want only the purchases of the pixel, of %d", got, err, truth)
	}
}

// TestHistory checks that the oldest day that a sync asks for has an answer in
// every month.
func TestHistory(t *testing.T) {
	t.Parallel()
	w := newSandbox(t, 26)
	for range 13 {
		q := w.reportFor(t, connection.LevelAccount, 1)
		q.First -= clock.Date(w.client.About().HistoryDays)
		q.Last = q.First
		if _, err := w.report(t, q); err != nil {
			t.Errorf("%v: %v", w.now, err)
		}
		w.now = w.now.AddDate(0, 1, 0)
		w.cred = w.grant(t)
	}
}
