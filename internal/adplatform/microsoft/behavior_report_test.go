package microsoft_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
	"time"

	"fanfare/internal/adplatform/microsoft"
	"fanfare/internal/adplatform/sandbox"
	"fanfare/internal/adplatform/transport"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/fact"
)

func TestSlowReport(t *testing.T) {
	t.Parallel()
	f := openSandbox(t, 7)
	f.turnOn(t, "report_pending", "1200")
	f.compareTruth(t)
	if f.slept < 20*time.Minute || f.calls("/Poll") > 50 {
		t.Errorf("got %s of sleep and %d polls", f.slept, f.calls("/Poll"))
	}
	f = openSandbox(t, 7)
	f.turnOn(t, "report_pending", "7200")
	today := f.server.Today(f.account)
	_, _, err := f.report(t.Context(), connection.LevelCampaign, today, today, nil)
	wantError(t, err, connection.Transient, "job_stuck")
}

// TestFailedReport checks that a report that fails twice asks for fewer days.
func TestFailedReport(t *testing.T) {
	t.Parallel()
	f := openSandbox(t, 7)
	if err := f.server.AddFault(sandbox.FaultRule{Platform: sandbox.MicrosoftAds, Fault: sandbox.FaultAsyncFailed}); err != nil {
		t.Fatal(err)
	}
	today := f.server.Today(f.account)
	_, _, err := f.report(t.Context(), connection.LevelCampaign, today-5, today, nil)
	wantError(t, err, connection.TooLarge, "job_failed")
	if got := f.calls("/Submit"); got != 2 {
		t.Errorf("got %d reports want 2", got)
	}
}

func TestEmptyReport(t *testing.T) {
	t.Parallel()
	f := openSandbox(t, 7)
	first := f.account.First
	rows, notes, err := f.report(t.Context(), connection.LevelCampaign, first-30, first-20, nil)
	if err != nil || len(rows) != 0 || len(notes) != 0 || f.calls("/Reports/") != 0 {
		t.Errorf("got %d rows, %v, %v want none and no download", len(rows), notes, err)
	}
}

func TestExpiredURL(t *testing.T) {
	t.Parallel()
	f := openSandbox(t, 7)
	f.turnOn(t, "url_expired", "")
	f.compareTruth(t)
	if f.calls("/Submit") != 1 || f.calls("/Poll") != 2 || f.calls("/Reports/") != 2 {
		t.Errorf("got %d reports, %d polls, %d downloads want 1, 2, 2", f.calls("/Submit"), f.calls("/Poll"), f.calls("/Reports/"))
	}
	for _, e := range f.server.Journal() {
		if strings.HasPrefix(e.Path, "/Reports/") && (e.Header.Get("Authorization") != "" || e.Header.Get("DeveloperToken") != "" || strings.Contains(e.Query, "sig=") && !strings.Contains(e.Query, "sealed")) {
			t.Errorf("got %+v want a download without credentials", e)
		}
	}
}

// TestNoDuplicateReports checks that errors of polls do not make a second report,
// and that requests name days.
func TestNoDuplicateReports(t *testing.T) {
	t.Parallel()
	f := openSandbox(t, 7)
	f.addFault(t, sandbox.Fault500, "/Poll")
	f.addFault(t, sandbox.FaultReset, "/Poll")
	f.compareTruth(t)
	if f.calls("/Submit") != 1 || f.calls("/Poll") != 3 {
		t.Errorf("got %d reports and %d polls want 1 and 3", f.calls("/Submit"), f.calls("/Poll"))
	}
	for _, e := range f.server.Journal() {
		if strings.Contains(e.Path, "/Submit") && (strings.Contains(string(e.Body), "PredefinedTime") || !strings.Contains(string(e.Body), `"AccountIds":["`+f.account.ID+`"]`)) {
			t.Errorf("got %s want days of one account", e.Body)
		}
	}
}

// TestConcurrentReports has another app make a report for the same customer.
func TestConcurrentReports(t *testing.T) {
	t.Parallel()
	f := openSandbox(t, 7)
	f.turnOn(t, "report_pending", "20")
	f.compareTruth(t)
	f.turnOn(t, "concurrent_207", "")
	var body []byte
	var header http.Header
	for _, e := range f.server.Journal() {
		if strings.Contains(e.Path, "/Submit") {
			body, header = e.Body, e.Header
		}
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://sandbox/microsoft/Reporting/v13/GenerateReport/Submit", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = header.Clone()
	req.Header.Set("Authorization", "Bearer "+f.creds.Access.Reveal())
	req.Header.Set("DeveloperToken", "other")
	resp, err := f.server.Do(req)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("got %v, %v want a report", resp, err)
	}
	_ = resp.Body.Close()
	before := f.slept
	f.compareTruth(t)
	if waited := f.slept - before; waited < 30*time.Second {
		t.Errorf("got %s of sleep want a wait for the other report", waited)
	}
}

func TestFileFormats(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"uncompressed", "null_characters"} {
		f := openSandbox(t, 7)
		f.turnOn(t, name, "")
		rows, _ := f.compareTruth(t)
		for _, r := range rows {
			if strings.ContainsRune(r.Campaign.Name, 0) {
				t.Errorf("%s: got the name %q", name, r.Campaign.Name)
			}
		}
	}
}

func TestThousands(t *testing.T) {
	t.Parallel()
	f := openSandbox(t, 7)
	f.turnOn(t, "format_1_thousands", "")
	today := f.server.Today(f.account)
	rows, _, err := f.report(t.Context(), connection.LevelAccount, today-9, today, nil)
	wantError(t, err, connection.Transient, "contradictory")
	if len(rows) != 0 {
		t.Errorf("got %d rows want none", len(rows))
	}
}

func TestMissingValues(t *testing.T) {
	t.Parallel()
	f := openSandbox(t, 7)
	f.turnOn(t, "missing_values", "")
	today := f.server.Today(f.account)
	rows, _, err := f.report(t.Context(), connection.LevelCampaign, today-9, today, nil)
	if err != nil || len(rows) == 0 {
		t.Fatalf("got %d rows, %v", len(rows), err)
	}
	for _, r := range rows {
		_, conversions := r.Values.Get(fact.Conversions)
		_, revenue := r.Values.Get(fact.Revenue)
		if _, spend := r.Values.Get(fact.Spend); conversions || revenue || !spend {
			t.Fatalf("got %+v want unknown conversions and revenue", r)
		}
	}
}

func TestSummary(t *testing.T) {
	t.Parallel()
	f := openSandbox(t, 7)
	f.turnOn(t, "no_timeperiod_summary", "")
	today := f.server.Today(f.account)
	rows, _, err := f.report(t.Context(), connection.LevelCampaign, today-9, today, nil)
	wantError(t, err, connection.Transient, "contradictory")
	if len(rows) != 0 {
		t.Errorf("got %d rows want none", len(rows))
	}
}

func TestZoneHeader(t *testing.T) {
	t.Parallel()
	f := openSandbox(t, 7)
	if _, notes := f.compareTruth(t); len(notes) != 0 {
		t.Errorf("got %+v want no note", notes)
	}
	f.turnOn(t, "zone_header", "")
	if _, notes := f.compareTruth(t); len(notes) != 1 || notes[0].Code != connection.NoteTotalDiffers || !strings.Contains(notes[0].Message, "Pacific") {
		t.Errorf("got %+v want a note about the zone", notes)
	}
}

func TestIncompleteData(t *testing.T) {
	t.Parallel()
	f := openSandbox(t, 7)
	f.turnOn(t, "incomplete_header", "")
	today := f.server.Today(f.account)
	if _, notes := f.compareTruth(t); len(notes) != 1 || notes[0].Code != connection.NoteNotIncluded || notes[0].First != today-3 || notes[0].Last != today-1 {
		t.Errorf("got %+v want a note about the last days", notes)
	}
}

func TestLongMaturation(t *testing.T) {
	t.Parallel()
	f := openSandbox(t, 7)
	f.turnOn(t, sandbox.BehaviorMaturation, "85")
	about := f.client.About()
	if about.LookbackDays < 30 || about.DeepDays < 90 {
		t.Errorf("got %+v want 30 days at every sync and 90 once a week", about)
	}
	f.compareTruth(t)
}

func TestRetention(t *testing.T) {
	t.Parallel()
	f := openSandbox(t, 7)
	oldest := clock.DateIn(f.clock().AddDate(-3, 0, 0), time.UTC)
	_, _, err := f.report(t.Context(), connection.LevelAccount, oldest-40, oldest-10, nil)
	wantError(t, err, connection.Refused, "beyond_retention")
	_, notes, err := f.report(t.Context(), connection.LevelAccount, oldest-5, oldest+10, nil)
	if err != nil || len(notes) != 1 || notes[0].First != oldest-5 || notes[0].Last < oldest-1 {
		t.Errorf("got %+v, %v want a note about the first days", notes, err)
	}
	if about := f.client.About(); clock.DateIn(f.clock(), time.UTC)-clock.Date(about.HistoryDays) <= oldest {
		t.Errorf("got %d days of history want fewer than 36 months", about.HistoryDays)
	}
}

func TestUnqualifiedConversions(t *testing.T) {
	t.Parallel()
	f := openSandbox(t, 7)
	f.turnOn(t, "conversions_unqualified", "")
	today := f.server.Today(f.account)
	rows, _, err := f.report(t.Context(), connection.LevelCampaign, today-9, today, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := sumRows(rows)
	want := map[fact.Row]int64{}
	for _, r := range f.expectedRows(connection.LevelCampaign, today-9, today) {
		key := r
		key.Values = fact.Values{}
		want[key] = r.Values.V[fact.Conversions] / 1_000_000 * 1_000_000
	}
	for key, n := range want {
		if got[key][fact.Conversions] != n {
			t.Errorf("%+v: got %d conversions want %d", key, got[key][fact.Conversions], n)
		}
	}
}

// TestChosenConversions checks that conversions of other goals are not taken for
// the chosen ones.
func TestChosenConversions(t *testing.T) {
	t.Parallel()
	f := openSandbox(t, 7)
	today := f.server.Today(f.account)
	var notes []connection.Note
	q := connection.Report{
		Account: f.account.ID, Level: connection.LevelCampaign, First: today - 3, Last: today, Conversions: []string{"Purchase"},
		Note: func(n connection.Note) { notes = append(notes, n) },
	}
	err := f.client.Report(t.Context(), f.creds, q, func(rows []fact.Row) error {
		for _, r := range rows {
			if _, known := r.Values.Get(fact.Conversions); known {
				t.Fatalf("got %+v want unknown conversions", r)
			}
		}
		return nil
	})
	if err != nil || len(notes) != 1 || notes[0].Measure != fact.Conversions {
		t.Errorf("got %+v, %v want a note about conversions", notes, err)
	}
}

// TestDeveloperToken checks that Microsoft itself is not called without one.
func TestDeveloperToken(t *testing.T) {
	t.Parallel()
	f := openSandbox(t, 7)
	client := microsoft.New(transport.Options{Do: f.server, Now: f.clock, Sleep: f.sleep})
	creds := f.creds
	creds.App = connection.OAuthClient{}
	_, err := client.Accounts(t.Context(), creds)
	if e := platformError(t, err, connection.Forbidden, "no_developer_token"); e.Remedy == "" || f.calls("") != 0 {
		t.Errorf("got %+v and %d calls want a remedy and none", e, f.calls(""))
	}
	// The hosts of Microsoft are those that the sandbox plays.
	if list, err := client.Accounts(t.Context(), f.creds); err != nil || len(list) != 1 {
		t.Errorf("got %v, %v want an account", list, err)
	}
}
