package sandbox

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"fanfare/internal/clock"
)

// newTestCall starts a call to a platform.
func newTestCall(s *Server, platform string) *Call { return s.newCall(apiOf(platform), "/", "") }

// advanceClock advances the clock.
func advanceClock(s *Server, d time.Duration) { s.setClock(false, nil, d) }

// TestGrantLifecycle grants, uses and revokes access on every platform.
func TestGrantLifecycle(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		platform      string
		life, refresh time.Duration
		renews        bool
	}{
		{GoogleAds, time.Hour, 0, true},
		{GA4, time.Hour, 0, true},
		{MetaAds, 60 * days, 0, false},
		{TikTokAds, 0, 0, false},
		{LinkedInAds, 60 * days, 365 * days, true},
		{MicrosoftAds, time.Hour, 90 * days, true},
	} {
		t.Run(tt.platform, func(t *testing.T) {
			t.Parallel()
			s := newTestServer(t, Options{Seed: 9})
			code := newTestCall(s, tt.platform).Code(Consent{})
			first, err := newTestCall(s, tt.platform).Exchange(code)
			if err != nil || first.AccessLifetime != tt.life || first.RefreshLifetime != tt.refresh || (first.Refresh != "") != tt.renews {
				t.Fatalf("got %+v (%v)", first, err)
			}
			if _, err := newTestCall(s, tt.platform).Exchange(code); !errors.Is(err, ErrUnknownToken) {
				t.Errorf("the code again: got %v want %v", err, ErrUnknownToken)
			}
			a, err := newTestCall(s, tt.platform).Open(first.Access)
			if err != nil || a.ID != accountID(s.own, tt.platform) {
				t.Fatalf("got %v (%v) want the account of the sandbox's own set", a, err)
			}
			for _, wrong := range []string{"", "sbx.", first.Access + "x", code, first.Refresh, strings.ToUpper(first.Access)} {
				if _, err := newTestCall(s, tt.platform).Open(wrong); !errors.Is(err, ErrUnknownToken) {
					t.Errorf("%q opens: got %v want %v", wrong, err, ErrUnknownToken)
				}
			}
			newTestCall(s, tt.platform).Revoke(first.Access)
			if _, err := newTestCall(s, tt.platform).Open(first.Access); !errors.Is(err, ErrRevokedToken) {
				t.Errorf("after it was revoked: got %v want %v", err, ErrRevokedToken)
			}
			if _, err := newTestCall(s, tt.platform).Refresh(first.Refresh); tt.renews && !errors.Is(err, ErrRevokedToken) {
				t.Errorf("refresh after it was revoked: got %v want %v", err, ErrRevokedToken)
			}
		})
	}
}

// TestRefresh checks expired tokens.
func TestRefresh(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, Options{Seed: 9})
	issued := map[string]Tokens{}
	for _, platform := range platformNames() {
		tokens, err := newTestCall(s, platform).Exchange(newTestCall(s, platform).Code(Consent{}))
		if err != nil {
			t.Fatal(err)
		}
		issued[platform] = tokens
	}
	stale := newTestCall(s, MetaAds).Code(Consent{})
	advanceClock(s, 59*days)
	renewed, err := newTestCall(s, MetaAds).Refresh(issued[MetaAds].Access)
	if err != nil || renewed.AccessLifetime != 60*days {
		t.Fatalf("got %+v (%v)", renewed, err)
	}
	if _, err := newTestCall(s, MetaAds).Exchange(stale); !errors.Is(err, ErrExpiredToken) {
		t.Errorf("an old code: got %v want %v", err, ErrExpiredToken)
	}
	advanceClock(s, days)
	for platform, want := range map[string]error{GoogleAds: ErrExpiredToken, GA4: ErrExpiredToken, MetaAds: ErrExpiredToken, TikTokAds: nil, LinkedInAds: ErrExpiredToken, MicrosoftAds: ErrExpiredToken} {
		if _, err := newTestCall(s, platform).Open(issued[platform].Access); !errors.Is(err, want) {
			t.Errorf("%s: got %v want %v", platform, err, want)
		}
	}
	if _, err := newTestCall(s, MetaAds).Refresh(issued[MetaAds].Access); !errors.Is(err, ErrExpiredToken) {
		t.Errorf("an expired token is exchanged: got %v want %v", err, ErrExpiredToken)
	}
	if _, err := newTestCall(s, MetaAds).Open(renewed.Access); err != nil {
		t.Errorf("the exchanged token: %v", err)
	}
	advanceClock(s, 300*days)
	second, err := newTestCall(s, LinkedInAds).Refresh(issued[LinkedInAds].Refresh)
	if err != nil || second.RefreshLifetime != 5*days || second.Refresh != issued[LinkedInAds].Refresh {
		t.Errorf("consent lasts a year from its first day: got %+v (%v) want 5 more days", second, err)
	}
	advanceClock(s, 5*days)
	if _, err := newTestCall(s, LinkedInAds).Refresh(issued[LinkedInAds].Refresh); !errors.Is(err, ErrExpiredToken) {
		t.Errorf("after a year: got %v want %v", err, ErrExpiredToken)
	}
	if _, err := newTestCall(s, GoogleAds).Refresh(issued[GA4].Refresh); err != nil {
		t.Errorf("a token of GA4 at the host that Google has for both: %v", err)
	}
	if _, err := newTestCall(s, TikTokAds).Open(issued[MetaAds].Access); !errors.Is(err, ErrUnknownToken) {
		t.Errorf("a token of another platform: got %v want %v", err, ErrUnknownToken)
	}
}

// TestRotation checks that a rotated refresh token ends.
func TestRotation(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, Options{})
	first, err := newTestCall(s, GoogleAds).Exchange(newTestCall(s, GoogleAds).Code(Consent{}))
	if err != nil {
		t.Fatal(err)
	}
	once := 1
	if err := s.AddFault(FaultRule{Fault: FaultRotatedToken, Count: &once}); err != nil {
		t.Fatal(err)
	}
	second, err := newTestCall(s, GoogleAds).Refresh(first.Refresh)
	if err != nil || second.Refresh == first.Refresh {
		t.Fatalf("got %+v (%v) want another refresh token", second, err)
	}
	if _, err := newTestCall(s, GoogleAds).Refresh(first.Refresh); !errors.Is(err, ErrUnknownToken) {
		t.Errorf("the old one: got %v want %v", err, ErrUnknownToken)
	}
	if third, err := newTestCall(s, GoogleAds).Refresh(second.Refresh); err != nil || third.Refresh != second.Refresh {
		t.Errorf("the new one: got %+v (%v) want it kept", third, err)
	}
}

// TestPause checks that a pause removes only the days after it, until the
// campaign is resumed.
func TestPause(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s, err := New(Options{Seed: rapid.Int64().Draw(t, "seed"), Now: func() time.Time { return noon }})
		if err != nil {
			t.Fatal(err)
		}
		a, err := s.accountOf(s.own, rapid.SampledFrom(adPlatforms).Draw(t, "platform"))
		if err != nil {
			t.Fatal(err)
		}
		c := rapid.SampledFrom(a.Campaigns[:3]).Draw(t, "campaign")
		// Old days are compared, because their metrics are final.
		start := s.Today(a)
		look := func() map[clock.Date]bool {
			ran := map[clock.Date]bool{}
			for r := range s.rowsAsOf(a, ByCampaign, start-3, start+40, start+100) {
				if r.Campaign == c {
					ran[r.Date] = true
				}
			}
			return ran
		}
		plan := look()
		off := clock.Date(rapid.IntRange(0, 20).Draw(t, "runs for"))
		gap := clock.Date(rapid.IntRange(0, 10).Draw(t, "rests for"))
		advanceClock(s, time.Duration(off)*days)
		newTestCall(s, a.Platform).SetRuns(a, c, false)
		newTestCall(s, a.Platform).SetRuns(a, c, false)
		paused := look()
		advanceClock(s, time.Duration(gap)*days)
		if newTestCall(s, a.Platform).Runs(a, c) {
			t.Fatal("it runs after it was paused")
		}
		newTestCall(s, a.Platform).SetRuns(a, c, true)
		resumed := look()
		if !newTestCall(s, a.Platform).Runs(a, c) {
			t.Fatal("it is paused after it was resumed")
		}
		for day := start - 3; day <= start+40; day++ {
			if got, want := paused[day], plan[day] && day <= start+off; got != want {
				t.Fatalf("%s, paused on %s: got figures %v want %v", day, start+off, got, want)
			}
			if got, want := resumed[day], plan[day] && (day <= start+off || day >= start+off+gap); got != want {
				t.Fatalf("%s, paused on %s and resumed after %d days: got figures %v want %v", day, start+off, gap, got, want)
			}
		}
	})
}

// TestResumeAfterEnd resumes a campaign that has ended.
func TestResumeAfterEnd(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, Options{Seed: 1})
	a := testAccount(t, s, MetaAds)
	at := slices.IndexFunc(a.Campaigns, func(c *Campaign) bool { return c.End != 0 })
	c := a.Campaigns[at]
	if newTestCall(s, MetaAds).Runs(a, c) {
		t.Fatal("it runs after its end")
	}
	newTestCall(s, MetaAds).SetRuns(a, c, true)
	advanceClock(s, 3*days)
	var ran []clock.Date
	for r := range newTestCall(s, MetaAds).Rows(a, ByCampaign, c.End, s.Today(a)) {
		if r.Campaign == c {
			ran = append(ran, r.Date)
		}
	}
	today := s.Today(a)
	if want := []clock.Date{c.End, today - 3, today - 2, today - 1, today}; !slices.Equal(ran, want) {
		t.Errorf("got figures on %v want %v", ran, want)
	}
}

// TestMetricsAreConstantWithinDay checks that metrics stay the same within an
// account's day and change on the next.
func TestMetricsAreConstantWithinDay(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, Options{Timezone: "Pacific/Auckland"})
	a := testAccount(t, s, MetaAds)
	begin, end, _ := clock.ParseDay("2026-10-20", a.zone)
	look := func(at time.Time) map[clock.Date]Row {
		s.setClock(true, &at, 0)
		rows := map[clock.Date]Row{}
		for r := range s.Rows(a, ByAccount, s.Today(a)-5, s.Today(a)) {
			rows[r.Date] = r
		}
		return rows
	}
	first, last, next := look(begin), look(end.Add(-1)), look(end)
	if len(first) != 6 || !maps.Equal(first, last) {
		t.Errorf("got %v and later that day %v", first, last)
	}
	for day, r := range next {
		if before, ok := first[day]; ok && before == r {
			t.Errorf("%s: nothing has changed until the day after", day)
		}
	}
}

// TestStateIsKept restarts a sandbox.
func TestStateIsKept(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "state.json")
	s := newTestServer(t, Options{Seed: 3, State: file})
	other := AccountSet{Seed: 77, Currency: "EUR", Timezone: "Europe/Berlin"}
	opened, err := s.Grant(other)
	if err != nil {
		t.Fatal(err)
	}
	a, err := newTestCall(s, MetaAds).Open(opened[MetaAds].AccessToken)
	if err != nil {
		t.Fatal(err)
	}
	newTestCall(s, MetaAds).SetRuns(a, a.Campaigns[0], false)
	newTestCall(s, TikTokAds).Revoke(opened[TikTokAds].AccessToken)
	code := newTestCall(s, LinkedInAds).Code(Consent{})
	if _, err := newTestCall(s, LinkedInAds).Exchange(code); err != nil {
		t.Fatal(err)
	}
	if err := s.state.flush(); err != nil {
		t.Fatal(err)
	}

	s = newTestServer(t, Options{Seed: 3, State: file})
	a, ok := s.Account(opened[MetaAds].AccountID)
	if !ok || a.Set != other {
		t.Fatalf("got %v (%v) want the account of the other set", a, ok)
	}
	if newTestCall(s, MetaAds).Runs(a, a.Campaigns[0]) {
		t.Error("the campaign runs again")
	}
	if _, err := newTestCall(s, MetaAds).Open(opened[MetaAds].AccessToken); err != nil {
		t.Errorf("a token from before: %v", err)
	}
	if _, err := newTestCall(s, TikTokAds).Open(opened[TikTokAds].AccessToken); !errors.Is(err, ErrRevokedToken) {
		t.Errorf("a revoked token from before: got %v want %v", err, ErrRevokedToken)
	}
	if _, err := newTestCall(s, LinkedInAds).Exchange(code); !errors.Is(err, ErrUnknownToken) {
		t.Errorf("a used code from before: got %v want %v", err, ErrUnknownToken)
	}
	again, err := s.Grant(other)
	if err != nil || again[MetaAds].AccountID != opened[MetaAds].AccountID || again[MetaAds].AccessToken == opened[MetaAds].AccessToken {
		t.Errorf("got %+v (%v) want the same account and another token", again[MetaAds], err)
	}
	if left, err := filepath.Glob(file + ".*"); err != nil || len(left) > 0 {
		t.Errorf("%v are left (%v)", left, err)
	}
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := New(Options{State: file}); err == nil || !strings.Contains(err.Error(), "move it away") {
		t.Errorf("half a file: got %v want what to do", err)
	}
}
