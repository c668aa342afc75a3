package connection_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"fanfare/internal/adplatform/sandbox"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/fact"
)

// withSwitchedOff runs a test for each way in which the service switches an
// account off by itself. vanish lets it happen at the platform, and back undoes it.
// The next daily sync notices both.
func withSwitchedOff(t *testing.T, test func(t *testing.T, s *syncFixture, account, code string, vanish, back func())) {
	t.Helper()
	for name, tt := range map[string]struct{ platform, name, before, after, code string }{
		"not listed":        {sandbox.MetaAds, sandbox.BehaviorAccounts, "2", "1", "account_not_listed"},
		"another time zone": {sandbox.GA4, "timezone_changed", "", "on", "account_changed"},
		"another currency":  {sandbox.GA4, "currency_changed", "", "on", "account_changed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSyncFixture(t)
			set := func(value string) {
				if value == "" {
					s.registry.Server().TurnAllOff()
					return
				}
				s.turnOn(tt.platform, tt.name, value)
			}
			set(tt.before)
			granted, err := s.registry.Server().Grant(sandboxAccounts)
			s.must(err)
			access := granted[tt.platform]
			tokens := map[string]any{"access_token": access.AccessToken, "client_id": "client", "client_secret": "client-secret"}
			if access.RefreshToken != nil {
				tokens["refresh_token"] = *access.RefreshToken
			}
			ids := s.registry.Server().AccountIDs(tt.platform, access.AccessToken)
			s.id = s.connect(map[string]any{
				"platform": tt.platform, "name": "Agency", "credentials": tokens, "account_selection": map[string]any{"mode": "all"},
			}).OK().ID()
			s.cancel(s.runs()[0].ID).OK()
			s.sync(recent)
			test(t, s, ids[len(ids)-1], tt.code, func() { set(tt.after) }, func() { set(tt.before) })
		})
	}
}

// daily lets days pass and does the daily sync.
func (s *syncFixture) daily(days int) {
	s.t.Helper()
	s.Clock.Advance(time.Duration(days) * 24 * time.Hour)
	s.Sync(s.id)
}

// offGaps returns the gaps of an account that have one of the codes of accounts
// that the service has switched off, by report.
func (s *syncFixture) offGaps(account string) map[string][]connection.Gap {
	s.t.Helper()
	found := map[string][]connection.Gap{}
	for _, r := range s.accountOf(account).Reports {
		for _, g := range r.Gaps {
			if g.Code == "account_not_listed" || g.Code == "account_changed" {
				found[r.Report] = append(found[r.Report], g)
			}
		}
	}
	return found
}

// reason returns the code of the connection's reason, empty for none.
func (s *syncFixture) reason() string {
	s.t.Helper()
	if r := s.connection().StatusReason; r != nil {
		return r.Code
	}
	return ""
}

func (s *syncFixture) accountOf(id string) connection.Account {
	s.t.Helper()
	list := s.connection().Accounts
	i := slices.IndexFunc(list, func(a connection.Account) bool { return a.ExternalID == id })
	if i < 0 {
		s.t.Fatalf("got accounts %+v want one with the id %s", list, id)
	}
	return list[i]
}

// wantWarned checks which days have the warning incomplete_data.
func (s *syncFixture) wantWarned(what string, days map[clock.Date]bool) {
	s.t.Helper()
	for d, warned := range days {
		_, codes := s.sumsIn("conversions", d.String(), d.String(), "account_id", connection.Played...)
		want(s.t, what+": warned of "+d.String(), warned, slices.Contains(codes, "incomplete_data"))
	}
}

// TestSwitchedOffAccount switches accounts off by itself. Their later days are gaps
// that grow with every sync, in the account and in queries, until the account is
// there again and the days are read.
func TestSwitchedOffAccount(t *testing.T) {
	t.Parallel()
	withSwitchedOff(t, func(t *testing.T, s *syncFixture, account, code string, vanish, back func()) {
		s.wantWarned("before", map[clock.Date]bool{today: false})
		vanish()
		for _, passed := range []int{1, 2} {
			s.daily(1)
			now := today + clock.Date(passed)
			if a := s.accountOf(account); a.Enabled {
				t.Fatalf("got account %+v want it switched off", a)
			}
			want(t, "reason", code, s.reason())
			gaps := s.offGaps(account)
			if len(gaps) != len(s.accountOf(account).Reports) {
				t.Errorf("got gaps %+v want one of each report", gaps)
			}
			for report, list := range gaps {
				g := list[0]
				// All of the three days could still change when they were read.
				want(t, "gap of "+report, []any{1, day(11, 13), now, code, true}, []any{len(list), g.StartDate, g.EndDate, g.Code, g.Missing})
				if g.Message == "" || g.Remediation == nil || g.Amount != nil {
					t.Errorf("got gap %+v want a message, a remedy and no amount", g)
				}
			}
			s.wantWarned("off", map[clock.Date]bool{day(11, 12): false, today: true, now: true})
		}
		// Syncs between the daily ones do not look, and extend the gaps too.
		s.Clock.Advance(20 * time.Hour)
		s.Sync(s.id)
		if g := s.offGaps(account)["base"]; len(g) != 1 || g[0].EndDate != day(11, 18) {
			t.Errorf("got gaps %+v want one up to today", g)
		}

		back()
		s.daily(1)
		if a := s.accountOf(account); !a.Enabled || len(s.offGaps(account)) > 0 || s.reason() != "" {
			t.Errorf("got account %+v and reason %q want it switched on without gaps", a, s.reason())
		}
		s.wantWarned("on again", map[clock.Date]bool{today: false, day(11, 17): false})
		s.wantTruth(account, day(11, 13), day(11, 18))
	})
}

// wantTruth compares conversions and revenue of an account with the truth.
func (s *syncFixture) wantTruth(account string, first, last clock.Date) {
	s.t.Helper()
	known, _ := s.registry.Server().Account(account)
	for _, m := range []fact.Measure{fact.Conversions, fact.Revenue} {
		sum := int64(0)
		for _, d := range s.registry.Server().Truth(known, first, last).Families["base"] {
			switch m {
			case fact.Conversions:
				sum += *d.ConversionsMicros
			default:
				sum += *d.RevenueMicros
			}
		}
		sums, _ := s.sumsIn(m.String(), first.String(), last.String(), "account_id", connection.Played...)
		want(s.t, m.String(), fact.Millionths(sum).String(), sums[account])
	}
}

// TestDeselectedAccount deselects an account before the platform no longer has it,
// and another one afterwards. A person has decided, so that nothing is missing.
func TestDeselectedAccount(t *testing.T) {
	t.Parallel()
	withSwitchedOff(t, func(t *testing.T, s *syncFixture, account, code string, vanish, back func()) {
		deselect := func() { s.patch(`{"accounts":[{"external_id":"` + account + `","enabled":false}]}`).OK() }
		check := func(what string) {
			t.Helper()
			if r := s.reason(); len(s.offGaps(account)) > 0 || s.accountOf(account).Enabled || r == code {
				t.Errorf("%s: got account %+v and reason %q want it off without gaps", what, s.accountOf(account), r)
			}
			want(t, what+": complete through", today, *s.accountOf(account).Reports[0].CompleteThrough)
			s.wantWarned(what, map[clock.Date]bool{today: false, today + 1: false})
		}
		deselect()
		vanish()
		s.daily(1)
		check("deselected before")

		s.patch(`{"accounts":[{"external_id":"` + account + `","enabled":true}]}`).OK()
		s.daily(1)
		want(t, "reason", code, s.reason())
		s.wantWarned("selected", map[clock.Date]bool{today: true, today + 2: true})
		deselect()
		check("deselected afterwards")
		s.daily(1)
		check("a day later")
		back()
		s.daily(1)
		check("there again")
	})
}

// TestSwitchedOffAccountElsewhere interrupts the sync that switches an account off:
// it waits for the platform, or gets other tokens. What it found stays.
func TestSwitchedOffAccountElsewhere(t *testing.T) {
	for name, class := range map[string]connection.Class{"waits": connection.Throttled, "other tokens": connection.Expired} {
		t.Run(name, func(t *testing.T) {
			withSyncFixture(t, func(t *testing.T, s *syncFixture) {
				s.sync(recent)
				asked := 0
				s.faults.report = func(context.Context, connection.Report) error {
					if asked++; asked == 1 {
						return &connection.Error{Class: class, Code: "busy", Message: "The platform is busy."}
					}
					return nil
				}
				s.faults.hidden = "meta_ads"
				meta := s.account("meta_ads")
				s.daily(1)
				s.wantWarned("while it waits", map[clock.Date]bool{today + 1: true})
				s.faults.hidden = ""
				s.Clock.Advance(2 * time.Minute)
				s.Sync(s.id)
				want(t, "switched on", false, s.accountOf(meta).Enabled)
				want(t, "reason", "account_not_listed", s.reason())
				s.daily(1)
				want(t, "switched on when it is listed", true, s.accountOf(meta).Enabled)
				s.wantWarned("read again", map[clock.Date]bool{today + 1: false})
			}, "meta_ads", "tiktok_ads")
		})
	}
}

// TestReconnectSwitchesOff grants access anew with credentials that open none of
// the accounts. Syncs go on, so that the accounts come back by themselves.
func TestReconnectSwitchesOff(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		s.sync(recent)
		s.faults.hidden = "meta_ads"
		s.reconnect(nil).OK()
		want(t, "reason", "account_not_listed", s.reason())
		s.wantWarned("off", map[clock.Date]bool{today: true})
		s.faults.hidden = ""
		s.reconnect(nil).OK()
		g := s.offGaps(s.account("meta_ads"))["base"]
		if len(g) != 1 || g[0].Remediation != nil {
			t.Errorf("got gaps %+v want one that is read by itself", g)
		}
		s.daily(1)
		want(t, "gaps", 0, len(s.offGaps(s.account("meta_ads"))))
		s.wantWarned("read again", map[clock.Date]bool{today: false})
	}, "meta_ads")
}
