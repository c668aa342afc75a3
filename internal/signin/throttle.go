package signin

import (
	"net/netip"
	"sync"
	"time"

	"fanfare/internal/fault"
)

// tryWindow is the time in which tries are counted.
const tryWindow = 5 * time.Minute

// How many tries there are in any tryWindow. Who guesses from one place uses up
// that place's own; the person at another place still has some, until the
// account as a whole is under attack from many.
const (
	triesPerPlace   = 10
	triesPerAddress = 30
	triesPerAccount = 100
	// Codes are short, and who tries them has the password already.
	codesPerAccount = 10
)

// throttle counts tries. The zero value is ready.
//
// Choice: it counts in memory, so n nodes allow n times as much; that is still
// nothing against a password that passes the rules. Memory is bounded because
// every entry has cost a hash or a code, which are bounded in turn.
type throttle struct {
	mu    sync.Mutex
	tries map[string][]time.Time
	swept time.Time
}

// limit is how often something may be tried under a name.
type limit struct {
	name string
	most int
}

// take counts a try under all names, or under none of them where one has had
// its most, and says when there is room again.
func (t *throttle) take(now time.Time, limits ...limit) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sweep(now)
	var wait time.Duration
	for _, l := range limits {
		kept := t.tries[l.name]
		for len(kept) > 0 && !kept[0].Add(tryWindow).After(now) {
			kept = kept[1:]
		}
		if len(kept) >= l.most {
			wait = max(wait, kept[len(kept)-l.most].Add(tryWindow).Sub(now))
		}
		t.tries[l.name] = kept
	}
	if wait > 0 {
		f := fault.New(fault.RateLimitExceeded, "There were too many tries. Wait, then try again.")
		f.RetryAfter = wait
		return f
	}
	for _, l := range limits {
		t.tries[l.name] = append(t.tries[l.name], now)
	}
	return nil
}

// sweep forgets what no longer counts, once a window.
func (t *throttle) sweep(now time.Time) {
	if t.tries == nil {
		t.tries = map[string][]time.Time{}
	}
	if now.Before(t.swept.Add(tryWindow)) {
		return
	}
	t.swept = now
	for name, tries := range t.tries {
		if len(tries) == 0 || !tries[len(tries)-1].Add(tryWindow).After(now) {
			delete(t.tries, name)
		}
	}
}

// guess counts a try of an account's password from an address.
func (s *Service) guess(account string, from netip.Addr) error {
	place := network(from)
	return s.guesses.take(s.Now(), limit{account + " " + place, triesPerPlace}, limit{"address " + place, triesPerAddress}, limit{"account " + account, triesPerAccount})
}

// network is what one person is likely to have all of: an address, or the 64
// bits that a line gets in IPv6.
func network(a netip.Addr) string {
	if a = a.Unmap(); a.Is6() {
		if p, err := a.WithZone("").Prefix(64); err == nil {
			return p.String()
		}
	}
	return a.String()
}
