package console

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"fanfare/internal/account"
	"fanfare/internal/clock"
	"fanfare/internal/fault"
	"fanfare/internal/httpapi"
	"fanfare/internal/ident"
)

const (
	// useDays is the number of days for which the use of keys is shown.
	useDays = 30
	// expiringTime is how long before its expiry a key has the status expiring.
	expiringTime = 14 * 24 * time.Hour
	// maxKeyDays is the maximum lifetime of a key with an expiry, in days.
	maxKeyDays = 3650
	// maxOverlap is how long a rotated key may still work.
	maxOverlap = 7 * 24 * time.Hour
	maxKeyName = 100
	maxRanges  = 50
)

type keyUser struct {
	ID    ident.ID `json:"id"`
	Email string   `json:"email"`
	Name  string   `json:"name"`
}

type keyView struct {
	ID          ident.ID        `json:"id"`
	Name        string          `json:"name"`
	Last4       string          `json:"last4"`
	User        keyUser         `json:"user"`
	Mine        bool            `json:"mine"`
	Scopes      account.Scopes  `json:"scopes"`
	Addresses   *[]netip.Prefix `json:"ip_allow_list"`
	CreatedAt   clock.Instant   `json:"created_at"`
	ExpiresAt   *clock.Instant  `json:"expires_at"`
	RevokedAt   *clock.Instant  `json:"revoked_at"`
	Reason      string          `json:"revoke_reason"`
	LastUsedAt  *clock.Instant  `json:"last_used_at"`
	LastAddress string          `json:"last_ip"`
	LastAgent   string          `json:"last_user_agent"`
	Requests30d int64           `json:"requests_30d"`
	Daily       []int64         `json:"daily"`
	Status      string          `json:"status"`
	Exposed     bool            `json:"exposed"`
}

func keyStatus(k *account.Key, now clock.Instant) string {
	switch {
	case k.RevokedAt != nil:
		return "revoked"
	case !k.Active(now):
		return "expired"
	case k.ExpiresAt != nil && *k.ExpiresAt <= now.Add(expiringTime):
		return "expiring"
	}
	return "active"
}

// keyList is the keys of a workspace with their members and use. An admin sees all
// keys, other users their own.
type keyList struct {
	keys    []account.Key
	members map[ident.ID]account.Member
	daily   map[ident.ID][]int64
}

func (c *Console) keyList(ctx context.Context, v *consoleRequest) (r keyList, err error) {
	if r.keys, err = c.Accounts.Keys(ctx, v.workspace()); err != nil {
		return r, err
	}
	if r.members, err = c.members(ctx, v); err != nil {
		return r, err
	}
	r.daily, err = c.Accounts.KeyUse(ctx, v.workspace(), useDays)
	return r, err
}

// mayRevoke reports whether the user may see and revoke a key.
func (v *consoleRequest) mayRevoke(k *account.Key) bool {
	return k.UserID == v.caller.User.ID || v.caller.Role.AtLeast(account.Admin)
}

func (r keyList) show(v *consoleRequest, k *account.Key) keyView {
	u, daily := r.members[k.UserID].User, r.daily[k.ID]
	if daily == nil {
		daily = make([]int64, useDays)
	}
	// An empty list would mean that no address may use the key.
	var addresses *[]netip.Prefix
	if len(k.Addresses) > 0 {
		addresses = &k.Addresses
	}
	return keyView{
		ID: k.ID, Name: k.Name, Last4: k.Last4, User: keyUser{u.ID, u.Email, u.Name}, Mine: k.UserID == v.caller.User.ID, Scopes: k.Scopes,
		Addresses: addresses, CreatedAt: k.CreatedAt, ExpiresAt: k.ExpiresAt, RevokedAt: k.RevokedAt, Reason: k.Reason, LastUsedAt: k.LastUsedAt,
		LastAddress: k.LastAddress, LastAgent: k.LastAgent, Requests30d: k.Requests30d, Daily: daily, Status: keyStatus(k, clock.At(v.Now)),
		Exposed: k.ExposedAt != nil,
	}
}

// find returns the key in the path if the user may see it.
func (r keyList) find(v *consoleRequest) (*account.Key, error) {
	for i := range r.keys {
		if k := &r.keys[i]; string(k.ID) == v.id && v.mayRevoke(k) {
			return k, nil
		}
	}
	return nil, fault.Missing()
}

func (c *Console) listKeys(ctx context.Context, v *consoleRequest) (any, error) {
	r, err := c.keyList(ctx, v)
	if err != nil {
		return nil, err
	}
	list := []keyView{}
	for i := range r.keys {
		if v.mayRevoke(&r.keys[i]) {
			list = append(list, r.show(v, &r.keys[i]))
		}
	}
	return list, nil
}

// madeKey is a new key with its secret, which is returned only once.
type madeKey struct {
	Key    keyView `json:"key"`
	Secret string  `json:"secret"`
}

// holder returns the member for whom the user creates or rotates a key: the
// user, or for an admin a service user, which cannot sign in.
func (c *Console) holder(ctx context.Context, v *consoleRequest, user ident.ID) (account.Member, error) {
	members, err := c.members(ctx, v)
	if err != nil {
		return account.Member{}, err
	}
	m, there := members[user]
	switch {
	case user == v.caller.User.ID:
		return m, nil
	case !there || m.InactiveAt != nil || !v.caller.Role.AtLeast(account.Admin):
		return m, fault.Missing()
	case !m.Service:
		const message = "A key may do what its creator may do, so that only they can make it. Revoke it, or have them do it."
		return m, fault.New(fault.InsufficientPermissions, message, fault.Detail{Code: string(fault.InsufficientPermissions), Message: message})
	}
	return m, v.checkRole(m.Role)
}

func (c *Console) createKey(ctx context.Context, v *consoleRequest) (any, error) {
	var opt account.KeyOptions
	user := v.caller.User.ID
	if err := v.Read(func(f httpapi.Fields) {
		opt.Name = f.Text("name", 1, maxKeyName)
		opt.Lifetime = time.Duration(f.Whole("expires_in_days", 0, maxKeyDays)) * 24 * time.Hour
		if scopes := f.Choices("scopes", account.ScopeGroups, []string{string(account.Read), string(account.Write)}); scopes != nil {
			opt.Scopes = account.Scopes{}
			for family, access := range scopes {
				opt.Scopes[family] = account.Access(access)
			}
		}
		opt.Addresses = readRanges(f, "ip_allow_list")
		if other := f.TextOr("user_id", 1, maxToken); other != nil {
			user = ident.ID(*other)
		}
	}); err != nil {
		return nil, err
	}
	m, err := c.holder(ctx, v, user)
	if err != nil {
		return nil, err
	}
	secret, k, err := c.Accounts.CreateKey(ctx, v.cause(), v.workspace(), m.Email, opt)
	return v.made(m, secret, &k, err)
}

func (v *consoleRequest) made(m account.Member, secret string, k *account.Key, err error) (any, error) {
	r := keyList{members: map[ident.ID]account.Member{m.ID: m}}
	return madeKey{r.show(v, k), secret}, err
}

// readRanges reads IP addresses and CIDR ranges.
func readRanges(f httpapi.Fields, name string) []netip.Prefix {
	var list []netip.Prefix
	for i, text := range f.Words(name, maxRanges, maxCode) {
		p, err := netip.ParsePrefix(text)
		if addr, e := netip.ParseAddr(text); e == nil && addr.Zone() == "" {
			p, err = netip.PrefixFrom(addr.Unmap(), addr.Unmap().BitLen()), nil
		}
		if err != nil {
			f.Bad(fmt.Sprintf("%s[%d]", name, i), "invalid_format", "must be an address such as 203.0.113.7 or a range such as 203.0.113.0/24.")
			continue
		}
		list = append(list, p.Masked())
	}
	return list
}

func (c *Console) rotateKey(ctx context.Context, v *consoleRequest) (any, error) {
	var overlap time.Duration
	if err := v.Read(func(f httpapi.Fields) {
		overlap = time.Duration(f.Whole("overlap_seconds", 0, int64(maxOverlap/time.Second))) * time.Second
	}); err != nil {
		return nil, err
	}
	r, err := c.keyList(ctx, v)
	if err != nil {
		return nil, err
	}
	old, err := r.find(v)
	if err != nil {
		return nil, err
	}
	m, err := c.holder(ctx, v, old.UserID)
	if err != nil {
		return nil, err
	}
	secret, k, err := c.Accounts.Rotate(ctx, v.cause(), v.workspace(), old.ID, overlap)
	return v.made(m, secret, &k, err)
}

func (c *Console) revokeKey(ctx context.Context, v *consoleRequest) (any, error) {
	r, err := c.keyList(ctx, v)
	if err != nil {
		return nil, err
	}
	k, err := r.find(v)
	if err != nil {
		return nil, err
	}
	reason := "by_owner"
	if k.UserID != v.caller.User.ID {
		reason = "by_admin"
	}
	ended, err := c.Accounts.Revoke(ctx, v.cause(), v.workspace(), k.ID, reason)
	return r.show(v, &ended), err
}
