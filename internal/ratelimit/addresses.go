package ratelimit

import (
	"net/netip"
	"sync"
	"time"
)

// FailuresPerMinute is how many failed authentications an address has.
const FailuresPerMinute = 60

// Addresses counts failed authentications per address: IPv4 whole, IPv6 by its
// /56, which is what a line gets. The table is bounded; when it is full, an arbitrary address is
// forgotten.
type Addresses struct {
	mu    sync.Mutex
	usage map[netip.Addr]*Usage
	most  int
}

// NewAddresses makes a table for at most so many addresses.
func NewAddresses(most int) *Addresses {
	return &Addresses{usage: map[netip.Addr]*Usage{}, most: most}
}

var addressLimits = Limits{PerMinute: FailuresPerMinute}

// Fail counts a failure. The answer is no when the address had used up its
// failures before this one.
func (a *Addresses) Fail(addr netip.Addr, now time.Time) Decision {
	a.mu.Lock()
	defer a.mu.Unlock()
	key := network(addr)
	u := a.usage[key]
	if u == nil {
		if len(a.usage) >= a.most {
			for old := range a.usage {
				delete(a.usage, old)
				break
			}
		}
		u = &Usage{}
		a.usage[key] = u
	}
	return named(u.Take(addressLimits, now))
}

// Look tells how an address stands without counting.
func (a *Addresses) Look(addr netip.Addr, now time.Time) Decision {
	a.mu.Lock()
	defer a.mu.Unlock()
	var u Usage
	if known := a.usage[network(addr)]; known != nil {
		u = *known
	}
	d := named(u.Look(addressLimits, now))
	d.OK = d.Minute.Remaining > 0
	d.Wait = d.Minute.Reset.Sub(d.Now)
	return d
}

func named(d Decision) Decision {
	d.Policy = "ip"
	return d
}

// networkBits is how much of an IPv6 address names the line.
const networkBits = 56

func network(addr netip.Addr) netip.Addr {
	addr = addr.Unmap()
	if addr.Is6() {
		p, _ := addr.Prefix(networkBits)
		return p.Addr()
	}
	return addr
}
