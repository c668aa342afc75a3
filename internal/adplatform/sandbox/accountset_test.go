package sandbox

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"fanfare/internal/fact"
)

// noon is the time at the start of a test.
var noon = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

// newTestServer returns a sandbox whose clock is frozen at noon.
func newTestServer(t testing.TB, o Options) *Server {
	t.Helper()
	o.Now = func() time.Time { return noon }
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// testAccount returns an account of the sandbox's own account set.
func testAccount(t testing.TB, s *Server, platform string) *Account {
	t.Helper()
	a, err := s.accountOf(s.own, platform)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// randomAccountSet returns a random account set.
func randomAccountSet(t *rapid.T) AccountSet {
	return AccountSet{
		Seed:     rapid.Int64().Draw(t, "seed"),
		Currency: rapid.SampledFrom([]string{"USD", "EUR", "JPY", "KWD"}).Draw(t, "currency"),
		Timezone: rapid.SampledFrom([]string{"UTC", "America/Los_Angeles", "Pacific/Auckland"}).Draw(t, "timezone"),
	}
}

func set(seed int64, currency, zone string) AccountSet {
	return AccountSet{Seed: seed, Currency: currency, Timezone: zone}
}

// randomPlatform returns a random platform.
func randomPlatform(t *rapid.T) string { return rapid.SampledFrom(platformNames()).Draw(t, "platform") }

// buildTestAccount builds the account of an account set.
func buildTestAccount(w AccountSet, platform string, scale int) (*Account, error) {
	zone, err := w.validate()
	if err != nil {
		return nil, err
	}
	return buildAccount(w, zone, platform, scale), nil
}

var idPatterns = map[string]*regexp.Regexp{
	GoogleAds: regexp.MustCompile(`^[1-9]\d{9}$`), MetaAds: regexp.MustCompile(`^[1-9]\d{14,15}$`), TikTokAds: regexp.MustCompile(`^7\d{18}$`),
	LinkedInAds: regexp.MustCompile(`^[1-9]\d{8}$`), GA4: regexp.MustCompile(`^[1-9]\d{8}$`), MicrosoftAds: regexp.MustCompile(`^2\d{8}$`),
}

// TestAccounts checks the structure of random accounts.
func TestAccounts(t *testing.T) {
	t.Parallel()
	digits := regexp.MustCompile(`^[1-9]\d*$`)
	rapid.Check(t, func(t *rapid.T) {
		w, platform := randomAccountSet(t), randomPlatform(t)
		a, err := buildTestAccount(w, platform, rapid.IntRange(0, 3).Draw(t, "scale"))
		if err != nil {
			t.Fatal(err)
		}
		if !idPatterns[platform].MatchString(a.ID) || a.ID != accountID(w, platform) {
			t.Fatalf("got account %s want one of %s", a.ID, platform)
		}
		if n := len(a.Audiences); n < 2 || n > 4 {
			t.Fatalf("got %d audiences want 2 to 4", n)
		}
		if n := len(a.countries); n < 5 || n > 6 {
			t.Fatalf("got %d countries want 5 or 6", n)
		}
		seen := map[string]bool{}
		once := func(id string, numeric bool) {
			if seen[id] || numeric && !digits.MatchString(id) {
				t.Fatalf("id %q is there twice or is no number", id)
			}
			seen[id] = true
		}
		for _, u := range a.Audiences {
			once(u.ID, true)
		}
		forSome, forAll := 0, 0
		for _, c := range a.Campaigns {
			once(c.ID, platform != GA4)
			if len(c.Groups) > 2 || len(c.Groups) != 1 && platform == LinkedInAds {
				t.Fatalf("%s has %d groups", c.Name, len(c.Groups))
			}
			if (len(c.Groups) == 0) != (c.Kind == "performance_max") || len(c.Groups) == 0 && c.withoutAds == nil {
				t.Fatalf("%s, %s, has %d groups", c.Name, c.Kind, len(c.Groups))
			}
			for _, g := range c.Groups {
				once(g.ID, true)
				if g.Audience == nil {
					forAll++
				} else {
					forSome++
				}
				if n := len(g.Ads); n < 1 || n > 3 {
					t.Fatalf("%s has %d ads want 1 to 3", g.Name, n)
				}
				for _, ad := range g.Ads {
					once(ad.ID, platform != GA4)
				}
			}
		}
		if forSome == 0 || forAll == 0 {
			t.Fatalf("got %d groups with an audience and %d without, want both", forSome, forAll)
		}
	})
}

// TestAccountSetsDiffer checks that each member of an account set changes the account.
func TestAccountSetsDiffer(t *testing.T) {
	t.Parallel()
	seen := map[string]AccountSet{}
	for _, w := range []AccountSet{set(1, "USD", "UTC"), set(2, "USD", "UTC"), set(-1, "USD", "UTC"), set(1, "EUR", "UTC"), set(1, "USD", "Europe/Berlin")} {
		for _, platform := range platformNames() {
			id := accountID(w, platform)
			if other, ok := seen[id]; ok {
				t.Errorf("%v and %v both have %s", w, other, id)
			}
			seen[id] = w
		}
	}
}

// TestGA4HasOtherPlatformsCampaigns checks that GA4 has the campaigns and ads
// of every other platform, by name.
func TestGA4HasOtherPlatformsCampaigns(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, Options{Seed: 5})
	seen := map[string]bool{}
	for _, c := range testAccount(t, s, GA4).Campaigns {
		seen[c.ID] = true
		for _, g := range c.Groups {
			for _, ad := range g.Ads {
				seen[ad.ID] = true
			}
		}
	}
	owner := map[string]string{}
	for _, platform := range adPlatforms {
		for _, c := range testAccount(t, s, platform).Campaigns {
			if !seen[c.Name] {
				t.Errorf("GA4 does not see campaign %s of %s", c.Name, platform)
			}
			if owner[c.Name] != "" {
				continue // GA4 has it once, with the first platform's ads
			}
			owner[c.Name] = platform
			for _, g := range c.Groups {
				for _, ad := range g.Ads {
					if !seen[ad.Name] {
						t.Errorf("GA4 does not see ad %s of %s", ad.Name, platform)
					}
				}
			}
		}
	}
}

// TestScale checks the number of campaigns, and that the first ones do not
// change.
func TestScale(t *testing.T) {
	t.Parallel()
	w := AccountSet{Seed: 1, Currency: "USD", Timezone: "UTC"}
	for _, platform := range platformNames() {
		small, err := buildTestAccount(w, platform, 1)
		if err != nil {
			t.Fatal(err)
		}
		large, err := buildTestAccount(w, platform, 40)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := len(large.Campaigns), 40*len(small.Campaigns); got != want {
			t.Errorf("%s: got %d campaigns want %d", platform, got, want)
		}
		for i, c := range small.Campaigns {
			if large.Campaigns[i].ID != c.ID {
				t.Errorf("%s: got %s want %s", platform, large.Campaigns[i].ID, c.ID)
			}
		}
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for want, o := range map[string]Options{
		"ISO 4217": {Currency: "usd"},
		"IANA":     {Timezone: "Local"},
		"scale":    {Scale: MaxScale + 1},
	} {
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: got %v want an error about %s", o, err, want)
		}
	}
}

// TestCampaignValuesAreFactValues checks that every value of a campaign is one
// of facts.
func TestCampaignValuesAreFactValues(t *testing.T) {
	t.Parallel()
	channels := map[string]bool{}
	for _, c := range fact.Channels {
		channels[c] = true
	}
	for platform, list := range campaignTemplates {
		for _, p := range list {
			if _, ok := profiles[p.kind]; !ok || !channels[p.channel] {
				t.Errorf("%s: %s is of kind %s on channel %s", platform, p.name, p.kind, p.channel)
			}
		}
	}
	for _, code := range pickCountries(1) {
		if !fact.IsCountry(code) {
			t.Errorf("%s is no country", code)
		}
	}
}
