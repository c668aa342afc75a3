package connection_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"fanfare/internal/adplatform/sandbox"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/fact"
)

// incompleteDays returns the days that a query of a metric by a dimension calls
// incomplete, with the amounts and the message.
func (s *syncFixture) incompleteDays(metric, dimension string, first, last clock.Date) (days []clock.Date, amounts []string, message string) {
	s.t.Helper()
	for _, w := range s.query(metric, first.String(), last.String(), dimension, connection.Played...).Meta.Warnings {
		if w.Code == "incomplete_data" {
			for _, a := range w.Amounts {
				amounts = append(amounts, fmt.Sprintf("%s %s", a.Amount, a.Metric))
			}
			return w.Days, amounts, w.Message
		}
	}
	return nil, nil, ""
}

// wantIncomplete checks which days a query calls incomplete, and the amounts.
func (s *syncFixture) wantIncomplete(what, metric, dimension string, first, last clock.Date, days []clock.Date, amounts ...string) {
	s.t.Helper()
	gotDays, gotAmounts, message := s.incompleteDays(metric, dimension, first, last)
	if !slices.Equal(gotDays, days) || !slices.Equal(gotAmounts, amounts) || (message == "") != (days == nil) {
		s.t.Errorf("%s: got incomplete %v with %v (%s) want %v with %v", what, gotDays, gotAmounts, message, days, amounts)
	}
}

// spendMore has the platform report more spend on a day than before.
func (s *syncFixture) spendMore(on clock.Date, micros int64) {
	s.faults.rows = func(q connection.Report, rows []fact.Row) []fact.Row {
		rows = slices.Clone(rows)
		for i := range rows {
			if rows[i].Date == on && slices.IndexFunc(rows, func(r fact.Row) bool { return r.Date == on }) == i {
				spend, _ := rows[i].Values.Get(fact.Spend)
				rows[i].Values.Set(fact.Spend, spend+micros)
			}
		}
		return rows
	}
}

// TestBreakdownOlderThanTotals has the platform report more spend after the daily
// run: queries of breakdowns say on which days and how much, until the next daily
// run.
func TestBreakdownOlderThanTotals(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		s.sync(`{"mode":"full"}`)
		s.Clock.Advance(24 * time.Hour)
		s.Sync(s.id)
		now := today + 1
		for _, dimension := range []string{"device", "country", "age_range", "platform"} {
			s.wantIncomplete("after the daily run by "+dimension, "spend", dimension, now-10, now, nil)
		}
		s.Clock.Advance(70 * time.Minute)
		s.Sync(s.id)
		s.wantIncomplete("nothing has changed", "spend", "device", now-10, now, nil)
		spent := int64(0)
		for _, more := range []string{"7.25", "9.5"} {
			spent += 7_250_000
			if more == "9.5" {
				spent = 9_500_000
			}
			s.spendMore(now, spent)
			s.Clock.Advance(70 * time.Minute)
			s.Sync(s.id)
			want(t, "trigger", connection.TriggerScheduled, s.runs()[0].Trigger)
			for _, dimension := range []string{"device", "country", "age_range"} {
				s.wantIncomplete("by "+dimension, "spend", dimension, now-10, now, []clock.Date{now}, more+" spend")
				s.wantIncomplete("before, by "+dimension, "spend", dimension, now-10, now-1, nil)
			}
			s.wantIncomplete("totals", "spend", "platform", now-10, now, nil)
		}
		s.Clock.Advance(24 * time.Hour)
		s.Sync(s.id)
		s.wantIncomplete("a day later", "spend", "device", now-10, now+1, nil)
	}, "meta_ads")
}

// TestBreakdownOlderAfterInterruption stops runs that have read the totals: what
// breakdowns lack is unknown, and told.
func TestBreakdownOlderAfterInterruption(t *testing.T) {
	for name, canceled := range map[string]bool{"canceled": true, "interrupted": false} {
		t.Run(name, func(t *testing.T) {
			withSyncFixture(t, func(t *testing.T, s *syncFixture) {
				s.sync(`{"mode":"full"}`)
				s.spendMore(today, 5_000_000)
				id, ended := s.ask(recent), make(chan bool)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				s.faults.report = func(ctx context.Context, q connection.Report) error {
					if connection.Families[q.Level] == fact.Base {
						return nil
					}
					cancel()
					if canceled {
						go func() {
							s.cancel(id).OK()
							close(ended)
						}()
					}
					<-ctx.Done()
					return ctx.Err()
				}
				days := []clock.Date{today - 2, today - 1, today}
				if canceled {
					_, _ = s.work(t.Context())
					<-ended
					days = days[2:]
				} else {
					_, _ = s.work(ctx)
					// The attempt that goes on reads no breakdowns, and does not know what
					// the first one has changed.
					s.faults.report = func(_ context.Context, q connection.Report) error {
						if connection.Families[q.Level] != fact.Base {
							return &connection.Error{Class: connection.Refused, Code: "100", Message: "Not for this account."}
						}
						return nil
					}
					s.Sync(s.id)
				}
				s.wantIncomplete("breakdown", "spend", "device", today-10, today, days)
				s.faults.report = nil
				s.Clock.Advance(24 * time.Hour)
				s.Sync(s.id)
				s.wantIncomplete("a day later", "spend", "device", today-10, today+1, nil)
			}, "meta_ads")
		})
	}
}

// TestNotSyncedIsIncomplete ends the access, or lets syncs stop: queries say which
// days are not read, since the last one that was, and earlier days stay complete.
func TestNotSyncedIsIncomplete(t *testing.T) {
	for name, stop := range map[string]func(s *syncFixture){
		"access ended": func(s *syncFixture) {
			s.addFault(sandbox.FaultRule{Fault: sandbox.FaultRevokedToken})
			s.Clock.Advance(70 * time.Minute)
			s.Sync(s.id)
			want(s.t, "status", connection.StatusReauthRequired, s.connection().Status)
		},
		"no syncs": func(s *syncFixture) { s.Clock.Advance(7 * time.Hour) },
	} {
		t.Run(name, func(t *testing.T) {
			withSyncFixture(t, func(t *testing.T, s *syncFixture) {
				s.wantIncomplete("never read", "spend", "platform", today-1, today, []clock.Date{today - 1, today})
				s.sync(`{"mode":"full"}`)
				s.Clock.Advance(24*time.Hour - s.Clock.Now().Sub(s.Clock.Now().UTC().Truncate(24*time.Hour)) + 5*time.Hour)
				s.Sync(s.id)
				read := today + 1
				s.wantIncomplete("while it is synced", "spend", "platform", read-10, read, nil)
				stop(s)
				for _, dimension := range []string{"platform", "device"} {
					s.wantIncomplete("on the day, by "+dimension, "spend", dimension, read-10, read, []clock.Date{read})
					s.wantIncomplete("earlier days, by "+dimension, "spend", dimension, read-10, read-1, nil)
				}
				s.Clock.Advance(48 * time.Hour)
				s.wantIncomplete("two days later", "spend", "platform", read-10, read+5, []clock.Date{read, read + 1, read + 2})
				if _, _, message := s.incompleteDays("spend", "platform", read, read); !strings.Contains(message, "2026-11-16") {
					t.Errorf("got %q want the day of the last sync", message)
				}
				s.disconnect(false).OK()
				s.wantIncomplete("disconnected", "spend", "platform", read-10, read+2, nil)
			}, "meta_ads", "tiktok_ads")
		})
	}
}

// TestConversionEventsNotReadAgain changes the events that count: queries of
// conversions say which days still count others, and queries of spend do not.
func TestConversionEventsNotReadAgain(t *testing.T) {
	t.Parallel()
	s := newSyncFixture(t)
	s.connections.HistoryDays = 120
	s.openAccounts(1)
	s.id = s.connect(map[string]any{"platform": "meta_ads", "name": "Shop", "credentials": map[string]any{"access_token": s.metaToken()}}).OK().ID()
	s.Sync(s.id) // the first sync
	s.Sync(s.id) // history
	first := *s.report("meta_ads", "base").Since
	want(t, "first day", today-119, first)
	check := func(what string, since, until clock.Date) {
		t.Helper()
		var days []clock.Date
		for d := since; d <= until && len(days) < 10; d++ {
			days = append(days, d)
		}
		for _, dimension := range []string{"platform", "device"} {
			s.wantIncomplete(what+": conversions", "conversions", dimension, first-5, today, days)
			s.wantIncomplete(what+": roas", "roas", dimension, first-5, today, days)
			s.wantIncomplete(what+": spend", "spend", dimension, first-5, today, nil)
		}
	}
	check("before", 1, 0)
	s.patch(`{"conversion_events":["lead"]}`).OK()
	check("changed", first, today)
	if days, _, _ := s.incompleteDays("conversions", "platform", today, today); len(days) != 1 {
		t.Errorf("got incomplete %v want today", days)
	}
	s.patch(`{"conversion_events":["` + purchases + `"]}`).OK()
	check("changed again", first, today)
	for range 2 { // one run for each change
		s.Sync(s.id)
	}
	check("the last 90 days are read", first, today-90)
	if days, _, _ := s.incompleteDays("conversions", "platform", today-89, today); days != nil {
		t.Errorf("got incomplete %v want none of the last 90 days", days)
	}
	s.Sync(s.id)
	check("history is read", 1, 0)
	want(t, "first day", first, *s.report("meta_ads", "base").Since)
}

// TestAccountChangedBetweenListings changes the time zone or the currency of an
// account after the daily run. The next report of the account says so: nothing of
// it is stored, and queries say which days are missing.
func TestAccountChangedBetweenListings(t *testing.T) {
	t.Parallel()
	for _, change := range []string{"timezone_changed", "currency_changed"} {
		t.Run(change, func(t *testing.T) {
			t.Parallel()
			s := newSyncFixture(t)
			s.connections.HistoryDays = 90
			granted, err := s.registry.Server().Grant(sandboxAccounts)
			s.must(err)
			access := granted[sandbox.GA4]
			s.id = s.connect(map[string]any{
				"platform": sandbox.GA4, "name": "Site", "account_selection": map[string]any{"mode": "all"},
				"credentials": map[string]any{"access_token": access.AccessToken, "refresh_token": *access.RefreshToken, "client_id": "client", "client_secret": "client-secret"},
			}).OK().ID()
			s.Sync(s.id)
			account, listed := s.account(sandbox.GA4), 0
			s.daily(1)
			now := today + 1
			before, _ := s.sumsIn("revenue", (now - 9).String(), now.String(), "account_id", connection.Played...)
			s.faults.accounts = func(context.Context) { listed++ }
			s.turnOn(sandbox.GA4, change, "on")
			s.Clock.Advance(70 * time.Minute)
			s.Sync(s.id)
			want(t, "listed", 0, listed)
			after, _ := s.sumsIn("revenue", (now - 9).String(), now.String(), "account_id", connection.Played...)
			want(t, "revenue", before[account], after[account])
			want(t, "switched on", false, s.accountOf(account).Enabled)
			want(t, "reason", "account_changed", s.reason())
			if days, _, _ := s.incompleteDays("revenue", "account_id", now, now); len(days) != 1 {
				t.Errorf("got incomplete %v want today", days)
			}
			s.registry.Server().TurnAllOff()
			s.daily(1)
			want(t, "switched on again", true, s.accountOf(account).Enabled)
			s.wantTruth(account, now-5, now+1)
		})
	}
}
