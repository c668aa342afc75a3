package signin

import (
	"fmt"
	"math"
	"net/netip"
	"sync"
	"time"

	"fanfare/internal/fault"
)

// tryWindow is the time in which tries are counted.
const tryWindow = 5 * time.Minute

// How many tries there are in any tryWindow.
//
// Choice: a password can be tried ten times for an account by all browsers
// that are new to it together, so that a thousand networks get no more work
// out of the server than one. Half of them can be spent at once, by one
// network at most; the others come one per minute, so that an attack slows
// sign-in from a new browser down instead of ending it for a whole window. A
// browser in which the person has signed in before has tries of its own, and
// so does a session: nobody can take those away.
const (
	triesPerPlace   = 5
	triesPerAddress = 30
	triesPerAccount = 10
	burstPerAccount = 5
	triesPerDevice  = 10
	accountPace     = time.Minute
	// Codes are short, and who tries them has the password already.
	codesPerAccount = 10
	// failuresNoted is how many failed sign-ins the audit log gets of a person.
	failuresNoted = 20
	// asksPerAddress is how many people a network can ask a new password for.
	asksPerAddress = 10
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

// limit is how often something may be tried under a name. Where burst is set,
// so many can be tried at once and the others one per pace.
type limit struct {
	name  string
	most  int
	burst int
	pace  time.Duration
}

// wait is how long it takes until there is room for one more.
func (l limit) wait(tries []time.Time, now time.Time) (wait time.Duration) {
	n := len(tries)
	if n >= l.most {
		wait = tries[n-l.most].Add(tryWindow).Sub(now)
	}
	if l.burst > 0 && n >= l.burst {
		wait = max(wait, tries[n-1].Add(l.pace).Sub(now))
	}
	return wait
}

// take counts a try under all names, or under none of them where one has had
// its most, and says when there is room again.
func (t *throttle) take(now time.Time, limits ...limit) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.look(now, limits); err != nil {
		return err
	}
	for _, l := range limits {
		t.tries[l.name] = append(t.tries[l.name], now)
	}
	return nil
}

// room is take without counting.
func (t *throttle) room(now time.Time, limits ...limit) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.look(now, limits)
}

// look finds out whether there is room under all names.
func (t *throttle) look(now time.Time, limits []limit) error {
	t.sweep(now)
	var wait time.Duration
	for _, l := range limits {
		kept := t.tries[l.name]
		for len(kept) > 0 && !kept[0].Add(tryWindow).After(now) {
			kept = kept[1:]
		}
		if len(kept) > 0 {
			t.tries[l.name] = kept
		} else {
			delete(t.tries, l.name)
		}
		wait = max(wait, l.wait(kept, now))
	}
	if wait <= 0 {
		return nil
	}
	seconds := int64(math.Ceil(wait.Seconds()))
	message := fmt.Sprintf("There were too many attempts. Try again in %d seconds, or sign in another way: in a browser where you have signed in before, with a passkey, or with a link to reset the password.", seconds)
	f := fault.New(fault.RateLimitExceeded, message, fault.Detail{Code: "attempts", Message: message, Meta: fault.Meta{"retry_after": seconds}})
	f.RetryAfter = wait
	return f
}

// forgive takes back the last try under some names.
func (t *throttle) forgive(limits ...limit) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, l := range limits {
		if kept := t.tries[l.name]; len(kept) > 0 {
			t.tries[l.name] = kept[:len(kept)-1]
		}
	}
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

// guess counts a try of an account's password. p is whose it is, nil for
// nobody's. passed takes back what a right password should not cost: who signs
// in often is no attacker.
func (s *Service) guess(p *Person, account string, from From) (passed func(), err error) {
	if own, has := p.own(from); has {
		return func() {}, s.guesses.take(s.Now(), own)
	}
	place := network(from.Address)
	here := limit{name: account + " " + place, most: triesPerPlace}
	all := limit{name: "account " + account, most: triesPerAccount, burst: burstPerAccount, pace: accountPace}
	err = s.guesses.take(s.Now(), here, all, limit{name: "address " + place, most: triesPerAddress})
	return func() { s.guesses.forgive(here, all) }, err
}

// own is the limit of a session, or of a browser in which the person has
// signed in before.
func (p *Person) own(from From) (l limit, has bool) {
	if from.session != "" {
		return limit{name: "session " + string(from.session), most: triesPerDevice}, true
	}
	if device := p.device(from.Device); device != "" {
		return limit{name: "device " + device, most: triesPerDevice}, true
	}
	return l, false
}

// checkFailures refuses a network whose sign-ins by a method without a
// password fail too often. They cost no hash, but look-ups and calls to the
// issuer.
func (s *Service) checkFailures(method string, from From) error {
	return s.guesses.room(s.Now(), failuresOf(method, from))
}

// countFailure counts such a failure.
func (s *Service) countFailure(method string, from From) {
	_ = s.guesses.take(s.Now(), failuresOf(method, from))
}

func failuresOf(method string, from From) limit {
	return limit{name: method + " " + network(from.Address), most: triesPerAddress}
}

// MayAsk counts that somebody asks for a mail to reset the password of an
// account, and reports whether to send it: nobody is to be flooded, and no
// network is to keep others from asking.
func (s *Service) MayAsk(address string, from From) bool {
	return s.asks.take(s.Now(), limit{name: email(address), most: 1}, limit{name: "network " + network(from.Address), most: asksPerAddress}) == nil
}

// networkBits is what one line has of IPv6: providers give out a /56.
const networkBits = 56

// network is what one person is likely to have all of: an address, or the
// prefix that a line gets in IPv6.
func network(a netip.Addr) string {
	if a = a.Unmap(); a.Is6() {
		if p, err := a.WithZone("").Prefix(networkBits); err == nil {
			return p.String()
		}
	}
	return a.String()
}
