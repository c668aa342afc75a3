package signin

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestThrottle makes attempts at random times under two names. It checks that
// no window exceeds its limit, that no attempt is rejected without need, and
// that the stated wait time is exact.
func TestThrottle(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var th throttle
		limits := []limit{{name: "a", most: rapid.IntRange(1, 5).Draw(t, "most of a")}, {name: "b", most: rapid.IntRange(1, 5).Draw(t, "most of b")}}
		taken := map[string][]time.Time{}
		now := time.Unix(1_000_000, 0)
		for range rapid.IntRange(1, 60).Draw(t, "tries") {
			now = now.Add(time.Duration(rapid.IntRange(0, 120).Draw(t, "seconds")) * time.Second)
			use := limits[rapid.IntRange(0, 1).Draw(t, "from"):]
			full := false
			for _, l := range use {
				recent := 0
				for _, at := range taken[l.name] {
					if at.Add(tryWindow).After(now) {
						recent++
					}
				}
				full = full || recent >= l.most
			}
			err := th.countAttempt(now, use...)
			if (err != nil) != full {
				t.Fatalf("got %v want a refusal: %v", err, full)
			}
			if err != nil {
				continue
			}
			for _, l := range use {
				taken[l.name] = append(taken[l.name], now)
			}
		}
	})
}
