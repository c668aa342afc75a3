package connection_test

import (
	"context"
	"sync"
	"testing"

	"fanfare/internal/connection"
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
		s.faults.report = func(ctx context.Context, q connection.Report) error {
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
