package ratelimit

import (
	"net/netip"
	"sync"
	"time"
)

// FailuresPerMinute is the limit of failed authentications per address.
const FailuresPerMinute = 60

// Addresses counts failed authentications per IPv4 address or IPv6 /56 network,
// which is the usual size for one subscriber. The table is bounded; when it is
// full, it drops an arbitrary address.
type Addresses struct {
	mu           sync.Mutex
	usage        map[netip.Addr]*Usage
	maxAddresses int
}

// NewAddresses returns a table for at most maxAddresses addresses.
func NewAddresses(maxAddresses int) *Addresses {
	return &Addresses{usage: map[netip.Addr]*Usage{}, maxAddresses: maxAddresses}
}

var addressLimits = Limits{PerMinute: FailuresPerMinute}

// Fail counts a failure. The decision is negative if the address had reached
// its limit before.
func (a *Addresses) Fail(addr netip.Addr, now time.Time) Decision {
	a.mu.Lock()
	defer a.mu.Unlock()
	key := Network(addr)
	u := a.usage[key]
	if u == nil {
		if len(a.usage) >= a.maxAddresses {
			for old := range a.usage {
				delete(a.usage, old)
				break
			}
		}
		u = &Usage{}
		a.usage[key] = u
	}
	return withAddressPolicy(u.Take(addressLimits, now))
}

// Peek returns the state of an address without counting.
func (a *Addresses) Peek(addr netip.Addr, now time.Time) Decision {
	a.mu.Lock()
	defer a.mu.Unlock()
	var u Usage
	if known := a.usage[Network(addr)]; known != nil {
		u = *known
	}
	d := withAddressPolicy(u.Peek(addressLimits, now))
	d.OK = d.Minute.Remaining > 0
	d.Wait = d.Minute.Reset.Sub(d.Now)
	return d
}

func withAddressPolicy(d Decision) Decision {
	d.Policy = "ip"
	return d
}

// networkBits is the length of the IPv6 prefix of one subscriber.
const networkBits = 56

// Network returns the first address of the network of one subscriber: the IPv4
// address itself, or its IPv6 /56 network.
func Network(addr netip.Addr) netip.Addr {
	addr = addr.Unmap()
	if addr.Is6() {
		p, _ := addr.Prefix(networkBits)
		return p.Addr()
	}
	return addr
}
