package ga4

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"fanfare/internal/adplatform/transport"
	"fanfare/internal/connection"
)

func newFixedClient(f *testSandbox, do transport.Doer) *Client {
	return New(transport.Options{Do: do, Now: f.clock, Sleep: f.sleep})
}

// listing lists the accounts by id.
func (f *testSandbox) listing(t *testing.T) (ids []string, accounts map[string]connection.Account) {
	t.Helper()
	list, err := f.client.Accounts(t.Context(), f.creds)
	if err != nil {
		t.Fatal(err)
	}
	accounts = map[string]connection.Account{}
	for _, a := range list {
		ids = append(ids, a.ExternalID)
		accounts[a.ExternalID] = a
	}
	return ids, accounts
}

func TestListing(t *testing.T) {
	t.Parallel()
	f := openSandbox(t)
	f.turnOn(t, "", "accounts", "61")
	ids, accounts := f.listing(t)
	if len(accounts) != 61 {
		t.Fatalf("got %d accounts, want 61", len(accounts))
	}
	// The sandbox has 5 resources per page, and 12 properties per account.
	if calls := len(f.calls); calls > 2+6*3 {
		t.Errorf("got %d calls, want no call for each property", calls)
	}
	for _, a := range accounts {
		if !a.Enabled || a.Problem != nil || a.Currency != "EUR" || a.Timezone == "" {
			t.Fatalf("got %+v, want an enabled account", a)
		}
	}
	denied, trashed := ids[3], ids[44]
	f.turnOn(t, denied, "one_property_403", "")
	f.turnOn(t, trashed, "trashed_property", "")
	_, accounts = f.listing(t)
	if len(accounts) != 61 {
		t.Fatalf("got %d accounts, want 61", len(accounts))
	}
	for id, a := range accounts {
		switch id {
		case denied:
			if a.Enabled || a.Problem == nil || a.Problem.Class != connection.Forbidden || !strings.Contains(a.Problem.Remedy, "Viewer role") || a.Name == "" {
				t.Errorf("got %+v, want a problem with a remedy", a)
			}
		case trashed:
			if a.Enabled || a.Problem == nil || a.Problem.Class != connection.Gone || !strings.Contains(a.Problem.Message, "2026-11-23") {
				t.Errorf("got %+v, want a problem with the day of deletion", a)
			}
		default:
			if !a.Enabled || a.Problem != nil {
				t.Errorf("got %+v, want an enabled account", a)
			}
		}
	}
}

// TestRepeatedData checks that the enabled properties have all data once.
func TestRepeatedData(t *testing.T) {
	t.Parallel()
	for name, alone := range map[string]bool{"rollup_property": true, "subproperty": true} {
		f := openSandbox(t)
		f.turnOn(t, "", "accounts", "3")
		ids, _ := f.listing(t)
		f.turnOn(t, ids[2], name, "")
		_, accounts := f.listing(t)
		last := f.server.Today(f.account) - 5
		var got, want int64
		for _, id := range ids {
			if accounts[id].Enabled {
				got += f.mustRead(t, connection.Report{Account: id, Level: connection.LevelCampaign, First: last - 6, Last: last}).conversions
			}
			if id == ids[2] {
				continue
			}
			a, _ := f.server.Account(id)
			for _, day := range f.server.Truth(a, last-6, last).Families["base"] {
				want += *day.ConversionsMicros
			}
		}
		if got != want || want == 0 {
			t.Errorf("%s: got %d conversions, want %d", name, got, want)
		}
		if p := accounts[ids[2]].Problem; p == nil || p.Code != "repeats_data" || accounts[ids[2]].Currency == "" {
			t.Errorf("%s: got %+v, want a problem", name, accounts[ids[2]])
		}
		// A property without its sources in the list can be read.
		s := []summary{{Property: "properties/9", PropertyType: typeRollup, account: "accounts/1", Parent: "properties/1"}, {Property: "properties/2", account: "accounts/2"}}
		if name == "subproperty" {
			s[0].PropertyType = typeSubproperty
		}
		if (repeatsData(&s[0], s) == nil) != alone {
			t.Errorf("%s: got a problem, want none without the sources", name)
		}
	}
}

// remedyOf returns the remedy of an error.
func remedyOf(err error) string {
	e, _ := errors.AsType[*connection.Error](err)
	if e == nil {
		return ""
	}
	return e.Remedy
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, value string
		// fails says which calls fail: listing, report, or both.
		listing, report bool
		class           connection.Class
		says            string
	}{
		{"api_disabled", "Admin", true, false, connection.Forbidden, "enable both"},
		{"api_disabled", "Data", false, true, connection.Forbidden, "enable both"},
		{"scope_missing", "", true, true, connection.Forbidden, "Reconnect"},
		{"forbidden_page", "", true, true, connection.Transient, ""},
	} {
		f := openSandbox(t)
		f.turnOn(t, "", test.name, test.value)
		today := f.server.Today(f.account)
		_, listingErr := f.client.Accounts(t.Context(), f.creds)
		_, reportErr := f.read(t, connection.Report{Level: connection.LevelAccount, First: today - 3, Last: today})
		for _, got := range []struct {
			fails bool
			err   error
		}{{test.listing, listingErr}, {test.report, reportErr}} {
			if (got.err != nil) != got.fails {
				t.Errorf("%s: got %v", test.name, got.err)
			}
			if got.fails && (connection.ClassOf(got.err) != test.class || !strings.Contains(remedyOf(got.err), test.says)) {
				t.Errorf("%s: got %v, want %s that says %q", test.name, got.err, test.class, test.says)
			}
		}
	}
}

func TestExhaustedQuota(t *testing.T) {
	t.Parallel()
	for quota, want := range map[string]func(time.Time) time.Time{
		"tokens": nextHour, "tokens_project": nextHour, "tokens_day": nextDay, "threshold": nextHour, "errors": nextHour,
		"concurrent": func(now time.Time) time.Time { return now.Add(30 * time.Second) },
	} {
		f := openSandbox(t)
		f.turnOn(t, "", "accounts", "2")
		ids, _ := f.listing(t)
		f.turnOn(t, ids[0], "quota", quota)
		today := f.server.Today(f.account)
		q := connection.Report{Account: ids[0], Level: connection.LevelAccount, First: today - 3, Last: today}
		_, err := f.read(t, q)
		e, ok := errors.AsType[*connection.Error](err)
		if !ok || e.Class != connection.Throttled || !e.Until.Equal(want(f.clock())) {
			t.Errorf("%s: got %v until %v, want %s", quota, err, e, want(f.clock()))
		}
		f.mu.Lock()
		f.calls = nil
		f.mu.Unlock()
		if _, err := f.read(t, q); connection.ClassOf(err) != connection.Throttled || len(f.calls) > 6 || quota != "concurrent" && len(f.calls) > 0 {
			t.Errorf("%s: got %d calls, %v, want none until the quota is renewed", quota, len(f.calls), err)
		}
		// The other property is not parked.
		q.Account = ids[1]
		if r := f.mustRead(t, q); len(r.rows) == 0 {
			t.Errorf("%s: got no rows of another property", quota)
		}
	}
}

func TestLowQuota(t *testing.T) {
	t.Parallel()
	for _, quota := range []string{"low_tokens", "low_threshold", "low_errors"} {
		f := openSandbox(t)
		f.turnOn(t, "", "accounts", "2")
		ids, _ := f.listing(t)
		f.turnOn(t, ids[0], "quota", quota)
		today := f.server.Today(f.account)
		q := connection.Report{Account: ids[0], Level: connection.LevelAccount, First: today - 3, Last: today}
		f.mustRead(t, q)
		_, err := f.read(t, q)
		if e, ok := errors.AsType[*connection.Error](err); !ok || e.Class != connection.Throttled || !e.Until.Equal(nextHour(f.clock())) {
			t.Errorf("%s: got %v, want a hold until the next hour", quota, err)
		}
		q.Account = ids[1]
		f.mustRead(t, q)
	}
}

// TestServerErrors checks that failures do not use up the errors that Google
// allows per hour.
func TestServerErrors(t *testing.T) {
	t.Parallel()
	s := &fixedAnswer{status: 500, body: `{"error":{"code":500,"status":"INTERNAL","message":"Internal error."}}`}
	f := &testSandbox{now: time.Date(2026, 10, 20, 9, 0, 0, 0, time.UTC)}
	f.client = newFixedClient(f, s)
	var err error
	for range 5 {
		_, err = f.read(t, connection.Report{Account: "1", Level: connection.LevelAccount})
	}
	e, ok := errors.AsType[*connection.Error](err)
	if !ok || e.Class != connection.Throttled || !e.Until.Equal(nextHour(f.clock())) || len(s.asked) != maxServerErrors {
		t.Errorf("got %v after %d calls, want a wait until the next hour after %d", err, len(s.asked), maxServerErrors)
	}
	// Other properties are not affected, and the next hour has a new quota.
	s.asked, s.status, s.body = nil, 200, `{"rowCount":0}`
	if _, err := f.read(t, connection.Report{Account: "2", Level: connection.LevelAccount}); err != nil {
		t.Errorf("got %v, want no error of another property", err)
	}
	if err := f.sleep(t.Context(), time.Hour); err != nil {
		t.Fatal(err)
	}
	if _, err := f.read(t, connection.Report{Account: "1", Level: connection.LevelAccount}); err != nil {
		t.Errorf("got %v, want no error in the next hour", err)
	}
}

// slowAnswer answers when the test says so, and counts the requests under way.
type slowAnswer struct {
	entered, release chan struct{}

	mu          sync.Mutex
	now, latest int
}

func (s *slowAnswer) Do(*http.Request) (*http.Response, error) {
	s.mu.Lock()
	s.now++
	s.latest = max(s.latest, s.now)
	s.mu.Unlock()
	s.entered <- struct{}{}
	<-s.release
	s.mu.Lock()
	s.now--
	s.mu.Unlock()
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(`{"rowCount":0}`))}, nil
}

func TestConcurrentRequests(t *testing.T) {
	t.Parallel()
	const reports = 3 * maxConcurrent
	s := &slowAnswer{entered: make(chan struct{}, reports), release: make(chan struct{})}
	f := &testSandbox{now: time.Date(2026, 10, 20, 9, 0, 0, 0, time.UTC)}
	f.client = newFixedClient(f, s)
	var all sync.WaitGroup
	for range reports {
		all.Go(func() {
			if _, err := f.read(t, connection.Report{Account: "1", Level: connection.LevelAccount}); err != nil {
				t.Error(err)
			}
		})
	}
	for range maxConcurrent {
		<-s.entered
	}
	for range reports {
		s.release <- struct{}{}
	}
	all.Wait()
	if s.latest != maxConcurrent {
		t.Errorf("got %d requests at once, want %d", s.latest, maxConcurrent)
	}
}
