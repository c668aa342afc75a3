package signin

import (
	"fmt"
	"math"
	"net/netip"
	"sync"
	"time"

	"fanfare/internal/fault"
)

// tryWindow is the period in which attempts are counted.
const tryWindow = 5 * time.Minute

// Attempts per tryWindow.
//
// Choice: all browsers that are new to an account together have ten password
// attempts, so that a thousand networks cause no more work than one. Five of
// them are available at once, to one network at most; the others become
// available one per minute, so that an attack only slows sign-in from a new
// browser instead of blocking it for a whole window. A browser in which the
// user has signed in before has its own limit, and so does a session; attackers
// cannot use these up.
const (
	triesPerPlace   = 5
	triesPerAddress = 30
	triesPerAccount = 10
	burstPerAccount = 5
	triesPerDevice  = 10
	accountPace     = time.Minute
	// Codes are short, and an attacker who tries them already has the password.
	codesPerAccount = 10
	// failuresNoted is the number of failed sign-ins of a user in the audit
	// log.
	failuresNoted = 20
	// asksPerAddress is the number of password resets that a network can
	// request.
	asksPerAddress = 10
)

// throttle counts attempts. The zero value is ready to use.
//
// Choice: it counts in memory, so n nodes allow n times as many attempts, which
// is still far too few to guess a password that passes the rules. Memory is
// bounded, because every entry that stays costs a hash or a code, which are
// limited too.
type throttle struct {
	mu    sync.Mutex
	tries map[string][]time.Time
	swept time.Time
}

// limit allows at most so many attempts per name within tryWindow. If burst is
// set, attempts after the first burst must be at least pace apart.
type limit struct {
	name  string
	most  int
	burst int
	pace  time.Duration
}

// wait returns the time until one more attempt is allowed.
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

// countAttempt counts an attempt under all names. If one limit is reached, it
// counts nothing and returns a fault with the time to retry.
func (t *throttle) countAttempt(now time.Time, limits ...limit) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.checkTries(now, limits); err != nil {
		return err
	}
	for _, l := range limits {
		t.tries[l.name] = append(t.tries[l.name], now)
	}
	return nil
}

// checkLimits is like countAttempt but does not count.
func (t *throttle) checkLimits(now time.Time, limits ...limit) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.checkTries(now, limits)
}

// checkTries returns a fault if one limit is reached. The caller must hold the
// lock.
func (t *throttle) checkTries(now time.Time, limits []limit) error {
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

// forgive removes the last attempt under some names.
func (t *throttle) forgive(limits ...limit) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, l := range limits {
		if kept := t.tries[l.name]; len(kept) > 1 {
			t.tries[l.name] = kept[:len(kept)-1]
		} else {
			delete(t.tries, l.name)
		}
	}
}

// sweep deletes expired entries, once per window.
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

// attempt is a password attempt that was counted.
type attempt struct {
	// limits are all limits that count it, forgiven those that a correct
	// password gives back, so that frequent sign-ins do not reach them.
	limits, forgiven []limit
}

// countPasswordAttempt counts a password attempt of an account. p is its user,
// nil if the account does not exist.
func (s *Service) countPasswordAttempt(p *User, account string, from From) (attempt, error) {
	if own, has := p.own(from); has {
		return attempt{limits: []limit{own}}, s.guesses.countAttempt(s.Now(), own)
	}
	place := network(from.Address)
	here := limit{name: account + " " + place, most: triesPerPlace}
	all := limit{name: "account " + account, most: triesPerAccount, burst: burstPerAccount, pace: accountPace}
	t := attempt{limits: []limit{here, all, {name: "address " + place, most: triesPerAddress}}, forgiven: []limit{here, all}}
	return t, s.guesses.countAttempt(s.Now(), t.limits...)
}

// own returns the limit of a session, or of a browser in which the user has
// signed in before.
func (p *User) own(from From) (l limit, has bool) {
	if from.session != "" {
		return limit{name: "session " + string(from.session), most: triesPerDevice}, true
	}
	if device := p.device(from.Device); device != "" {
		return limit{name: "device " + device, most: triesPerDevice}, true
	}
	return l, false
}

// checkFailures returns a fault if a network has too many failed sign-ins by a
// method without a password. These need no hash, but lookups and calls to the
// issuer.
func (s *Service) checkFailures(method string, from From) error {
	return s.guesses.checkLimits(s.Now(), failuresOf(method, from))
}

// countFailure counts a failed sign-in for checkFailures.
func (s *Service) countFailure(method string, from From) {
	_ = s.guesses.countAttempt(s.Now(), failuresOf(method, from))
}

func failuresOf(method string, from From) limit {
	return limit{name: method + " " + network(from.Address), most: triesPerAddress}
}

// MayAsk counts a request for a password reset email and reports whether to
// send it. The limit per account prevents floods of email; the limit per
// network keeps one network from using up those of many accounts.
func (s *Service) MayAsk(address string, from From) bool {
	return s.asks.countAttempt(s.Now(), limit{name: email(address), most: 1}, limit{name: "network " + network(from.Address), most: asksPerAddress}) == nil
}

// networkBits is the prefix length that providers assign to an IPv6 connection.
const networkBits = 56

// network returns the part of an address that one user likely controls: an IPv4
// address or an IPv6 prefix.
func network(a netip.Addr) string {
	if a = a.Unmap(); a.Is6() {
		if p, err := a.WithZone("").Prefix(networkBits); err == nil {
			return p.String()
		}
	}
	return a.String()
}
