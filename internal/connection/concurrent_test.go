package connection_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"fanfare/internal/connection"
	"fanfare/internal/fact"
)

// TestAccountsAtOnce reads several accounts at the same time, no more than four
// of a run and one report of each.
func TestAccountsAtOnce(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		var mu sync.Mutex
		reading, most := map[string]int{}, 0
		four := make(chan struct{})
		s.faults.report = func(ctx context.Context, q connection.Report) error {
			mu.Lock()
			reading[q.Account]++
			if reading[q.Account] > 1 {
				t.Errorf("account %s is read %d times at once", q.Account, reading[q.Account])
			}
			if n := len(reading); n > most {
				if most = n; most == 4 {
					close(four)
				}
			}
			mu.Unlock()
			select {
			case <-four:
			case <-ctx.Done():
			}
			mu.Lock()
			delete(reading, q.Account)
			mu.Unlock()
			return ctx.Err()
		}
		r := s.sync(recent)
		want(t, "run and the most accounts at once", []any{connection.RunSucceeded, 4}, []any{r.Status, most})
		for _, platform := range []string{"google_ads", "meta_ads", "tiktok_ads", "linkedin_ads"} {
			sums, _ := s.spendBy("platform")
			want(t, platform, s.truth(platform, today-2), sums[platform])
		}
	})
}

// TestTokensExpireForSeveralAccounts lets the platforms call the tokens expired
// while several accounts are read: they are renewed once, and the run goes on.
func TestTokensExpireForSeveralAccounts(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		var mu sync.Mutex
		expired := map[string]bool{}
		both := make(chan struct{})
		s.faults.report = func(_ context.Context, q connection.Report) error {
			mu.Lock()
			first := !expired[q.Account]
			if expired[q.Account] = true; first && len(expired) == 2 {
				close(both)
			}
			mu.Unlock()
			if !first {
				return nil
			}
			<-both
			return &connection.Error{Class: connection.Expired, Code: "expired", Message: "The token has expired."}
		}
		renewals := map[string]int{}
		s.faults.refresh = func(platform string) (*connection.Credentials, error) {
			renewals[platform]++
			return nil, nil
		}
		r := s.sync(recent)
		want(t, "run and renewals", []any{connection.RunSucceeded, 1, 1}, []any{r.Status, renewals["meta_ads"], renewals["google_ads"]})
	}, "meta_ads", "google_ads")
}

// TestAnalyticsBetweenDailyRuns checks that a property of Google Analytics, which
// shows no ads, is read between daily runs too.
func TestAnalyticsBetweenDailyRuns(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		s.sync(`{"mode":"full"}`)
		s.Clock.Advance(24 * time.Hour)
		s.Sync(s.id)
		reports := 0
		s.faults.report = func(context.Context, connection.Report) error {
			reports++
			return nil
		}
		now := s.Clock.Now().UTC()
		s.Clock.Advance(now.Truncate(24 * time.Hour).Add(26 * time.Hour).Sub(now))
		s.Sync(s.id)
		if reports == 0 {
			t.Error("got no reports want those of the last days")
		}
	}, "ga4")
}

// TestBetweenDailyRuns has a connection synced again an hour after its daily
// run: only the totals of accounts that show ads are read, and a query of a
// breakdown says which days it lacks.
func TestBetweenDailyRuns(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		idle := s.account("tiktok_ads")
		s.faults.rows = func(q connection.Report, rows []fact.Row) []fact.Row {
			if q.Account == idle {
				return nil
			}
			return rows
		}
		s.sync(`{"mode":"full"}`)
		s.Clock.Advance(24 * time.Hour)
		s.Sync(s.id)
		daily := s.runs()[0]
		want(t, "daily run", []any{connection.TriggerScheduled, connection.RunSucceeded}, []any{daily.Trigger, daily.Status})

		listed, levels := 0, map[connection.Level]bool{}
		s.faults.accounts = func(context.Context) { listed++ }
		s.faults.report = func(_ context.Context, q connection.Report) error {
			levels[q.Level] = true
			if q.Account == idle {
				t.Errorf("an account without ads is read between daily runs")
			}
			return nil
		}
		// Two in the morning: a new day that the daily run has not read yet.
		now := s.Clock.Now().UTC()
		s.Clock.Advance(now.Truncate(24 * time.Hour).Add(26 * time.Hour).Sub(now))
		s.Sync(s.id)
		r := s.runs()[0]
		want(t, "run between daily ones", []any{connection.RunSucceeded, 0, false, true}, []any{r.Status, listed, levels[connection.LevelDevice], levels[connection.LevelAd]})
		day := r.Window.EndDate.String()
		if codes := s.warningsOf(day, day, "device"); !slices.Contains(codes, "incomplete_data") {
			t.Errorf("got warnings %v of a breakdown that lacks the day, want incomplete_data", codes)
		}
		if codes := s.warningsOf(day, day, "platform"); slices.Contains(codes, "incomplete_data") {
			t.Errorf("got warnings %v of totals that have the day, want no incomplete_data", codes)
		}
	}, "meta_ads", "tiktok_ads")
}
