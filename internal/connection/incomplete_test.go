package connection_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/fact"
)

// TestPartlySynced checks that days which could not be read are told wherever
// someone looks, and are read again by themselves.
func TestPartlySynced(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		s.faults.report = func(_ context.Context, q connection.Report) error {
			if q.Account == s.tiktok() && q.Level == connection.LevelAd {
				return &connection.Error{Class: connection.Transient, Code: "busy", Message: "The platform is busy."}
			}
			return nil
		}
		s.sync(`{"mode":"backfill","start_date":"2026-10-20","end_date":"2026-10-24"}`)
		c := s.connection()
		if c.StatusReason == nil || c.StatusReason.Code != "partly_synced" {
			t.Fatalf("got reason %+v want partly_synced", c.StatusReason)
		}
		since := c.StatusReason.Since
		missing := connection.Gap{StartDate: day(10, 20), EndDate: day(10, 24), Code: "busy", Message: "The platform is busy.", Missing: true}
		want(t, "gaps of TikTok", []connection.Gap{missing}, s.report("tiktok_ads", "base").Gaps)
		want(t, "gaps of TikTok by device", []connection.Gap{}, s.report("tiktok_ads", "device").Gaps)
		want(t, "gaps of Meta", []connection.Gap{}, s.report("meta_ads", "base").Gaps)
		if _, warnings := s.spendBy("platform"); slices.Contains(warnings, "incomplete_data") {
			t.Errorf("got warnings %v about other days", warnings)
		}
		want(t, "warned", true, slices.Contains(s.warningsOf("2026-10-24", "2026-10-30", "platform"), "incomplete_data"))
		want(t, "warned by device", false, slices.Contains(s.warningsOf("2026-10-24", "2026-10-30", "device"), "incomplete_data"))

		s.Clock.Advance(70 * time.Minute)
		s.Sync(s.id)
		want(t, "since when", since, s.connection().StatusReason.Since)

		s.faults.report = nil
		s.Clock.Advance(70 * time.Minute)
		s.Sync(s.id)
		if c := s.connection(); c.StatusReason != nil {
			t.Errorf("got reason %+v want none", c.StatusReason)
		}
		want(t, "gaps", []connection.Gap{}, s.report("tiktok_ads", "base").Gaps)
		want(t, "warned", false, slices.Contains(s.warningsOf("2026-10-24", "2026-10-30", "platform"), "incomplete_data"))
	}, "meta_ads", "tiktok_ads")
}

// TestAccountRemainder checks that what an account has beyond its campaigns is
// stored without a campaign, as when the platform leaves deleted campaigns out,
// and that campaigns with more than their account are told.
func TestAccountRemainder(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		hidden := ""
		s.faults.rows = func(q connection.Report, rows []fact.Row) []fact.Row {
			return slices.DeleteFunc(slices.Clone(rows), func(r fact.Row) bool {
				if hidden == "" && r.Campaign.ExternalID != "" {
					hidden = r.Campaign.ExternalID
				}
				return q.Level != connection.LevelAccount && r.Campaign.ExternalID == hidden
			})
		}
		s.sync(recent)
		sums, _ := s.spendBy("platform")
		want(t, "spend", map[string]string{"meta_ads": s.truth("meta_ads", today-2)}, sums)
		want(t, "drift", []connection.TotalDrift{}, s.runs()[0].Drift)
		want(t, "gaps", []connection.Gap{}, s.report("meta_ads", "base").Gaps)

		s.faults.rows = func(q connection.Report, rows []fact.Row) []fact.Row {
			if q.Level == connection.LevelAccount {
				for i := range rows {
					spend, _ := rows[i].Values.Get(fact.Spend)
					rows[i].Values.Set(fact.Spend, spend-2_500_000)
				}
			}
			return rows
		}
		s.sync(recent)
		gaps := s.report("meta_ads", "base").Gaps
		if len(gaps) != 1 || gaps[0].Code != "total_differs" || *gaps[0].Metric != "spend" || gaps[0].Amount.N != -3*2_500_000 || gaps[0].Missing {
			t.Errorf("got gaps %+v want 7.50 of spend that the account does not have", gaps)
		}
	}, "meta_ads")
}

// TestExcludedFromTotals checks that queries of a breakdown tell what is in no
// report, although only the totals say so.
func TestExcludedFromTotals(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		warned := func() (list []bool) {
			for _, dimension := range []string{"platform", "country", "device"} {
				list = append(list, slices.Contains(s.warningsOf("2026-11-13", "2026-11-15", dimension), "incomplete_data"))
			}
			return list
		}
		s.sync(recent)
		want(t, "warned", []bool{false, false, false}, warned())
		s.turnOn("tiktok_ads", "gmv_max_separate", "on")
		s.sync(recent)
		want(t, "gaps of the breakdown itself", []connection.Gap{}, s.report("tiktok_ads", "geo").Gaps)
		want(t, "warned of GMV Max", []bool{true, true, true}, warned())
	}, "tiktok_ads")
}

func day(month time.Month, d int) clock.Date { return clock.MakeDate(2026, month, d) }

// report returns what the account of a platform says about one of its reports.
func (s *syncFixture) report(platform, report string) connection.AccountReport {
	s.t.Helper()
	for _, a := range s.connection().Accounts {
		for _, r := range a.Reports {
			if a.Platform == platform && r.Report == report {
				return r
			}
		}
	}
	s.t.Fatalf("%s has no report %s", platform, report)
	return connection.AccountReport{}
}

// TestHistory checks that a failed report does not keep the past of others from
// being read, that history goes on where it ended, and that an account which is
// turned on later gets all of its past.
func TestHistory(t *testing.T) {
	t.Parallel()
	s := newSyncFixture(t)
	s.connections.HistoryDays = 120
	s.id = s.connect(map[string]any{"platform": "sandbox", "name": "Sandbox", "config": map[string]any{"seed": sandboxAccounts.Seed}}).OK().ID()
	s.only("meta_ads")
	s.faults.report = func(_ context.Context, q connection.Report) error {
		if q.Level == connection.LevelDevice {
			return &connection.Error{Class: connection.Refused, Code: "100", Message: "Not for this account."}
		}
		return nil
	}
	s.Sync(s.id)
	want(t, "first run", connection.RunPartial, s.triggered("initial").Status)
	s.Sync(s.id)
	want(t, "history", connection.RunPartial, s.triggered("backfill").Status)
	want(t, "first day", day(7, 19), *s.report("meta_ads", "base").Since)
	if n := len(s.runs()); n != 2 {
		t.Errorf("got %d runs, want no more history", n)
	}
	s.faults.report = nil
	s.only("meta_ads", "tiktok_ads")
	s.Clock.Advance(70 * time.Minute)
	s.Sync(s.id)
	want(t, "first days of another account", day(8, 18), *s.report("tiktok_ads", "base").Since)
	s.faults.report = func(_ context.Context, q connection.Report) error {
		if q.Account != s.tiktok() {
			t.Errorf("got a report of %s from %v to %v, want no days twice", q.Account, q.First, q.Last)
		}
		return nil
	}
	s.Sync(s.id)
	want(t, "first day of another account", day(7, 19), *s.report("tiktok_ads", "base").Since)
}

// triggered returns the latest run with a trigger.
func (s *syncFixture) triggered(trigger string) connection.Run {
	s.t.Helper()
	list := s.runs()
	i := slices.IndexFunc(list, func(r connection.Run) bool { return r.Trigger == trigger })
	if i < 0 {
		s.t.Fatalf("there is no run with the trigger %s", trigger)
	}
	return list[i]
}
