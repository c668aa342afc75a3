package account_test

import (
	"net/netip"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"fanfare/api"
	"fanfare/internal/account"
	"fanfare/internal/clock"
	"fanfare/internal/fault"
)

// operation is one operation of the contract that needs a key.
type operation struct{ id, method, path string }

// contract returns all operations under /v1.
func contract(t *testing.T) []operation {
	t.Helper()
	var doc struct {
		Paths map[string]map[string]yaml.Node `yaml:"paths"`
	}
	if err := yaml.Unmarshal(api.YAML, &doc); err != nil {
		t.Fatal(err)
	}
	var list []operation
	for path, methods := range doc.Paths {
		if path != "/v1" && !strings.HasPrefix(path, "/v1/") {
			continue
		}
		for method, node := range methods {
			var op struct {
				ID string `yaml:"operationId"`
			}
			if method == "parameters" {
				continue
			}
			if err := node.Decode(&op); err != nil || op.ID == "" {
				t.Fatalf("%s %s has no operationId: %v", method, path, err)
			}
			list = append(list, operation{op.ID, method, path})
		}
	}
	if len(list) < 14 {
		t.Fatalf("got %d operations in the contract, want at least 14", len(list))
	}
	return list
}

// group is the third segment of a path.
func (o operation) group() string {
	parts := strings.Split(o.path, "/")
	if len(parts) < 3 {
		return ""
	}
	return parts[2]
}

// changes reports whether an operation changes anything. A check of a connection
// tries it and leaves it as it is.
func (o operation) changes() bool {
	return !o.asks() && !strings.HasSuffix(o.path, "/check")
}

// asks reports whether an operation only reads, also if it takes a body.
func (o operation) asks() bool {
	return o.method == "get" || o.path == "/v1/analytics/query" || o.path == "/v1/creative/understand"
}

// least returns the lowest role that may call an operation (K13), derived from
// the path and the method instead of the table.
func (o operation) least() account.Role {
	switch f := o.group(); {
	case f == "members" || f == "keys" || f == "audit":
		return account.Admin
	case o.asks():
		return account.Viewer
	case strings.HasSuffix(o.path, "/brand-kit"):
		return account.Admin
	case f == "saved-views" || f == "dashboards":
		return account.Viewer // their own
	case (f == "connections" || f == "webhook_endpoints" || f == "rates") && !strings.HasSuffix(o.path, "/sync"):
		return account.Admin
	}
	return account.Editor
}

var anywhere = netip.MustParseAddr("203.0.113.7")

func caller(role account.Role) *account.Caller { return &account.Caller{Role: role} }

// TestRolesMatrix checks every cell of role × operation (K13).
func TestRolesMatrix(t *testing.T) {
	t.Parallel()
	cells := 0
	for _, op := range contract(t) {
		p, known := account.PermissionFor(op.id)
		if !known || p.Least != op.least() {
			t.Errorf("%s: got %+v known %v, want at least %s", op.id, p, known, op.least())
		}
		if want := account.Write; op.changes() != (p.Access == want) {
			t.Errorf("%s: got access %s for %s", op.id, p.Access, op.method)
		}
		for _, role := range account.Roles {
			cells++
			err := caller(account.Role(role)).Authorize(op.id, anywhere)
			if want := account.Role(role).AtLeast(op.least()); (err == nil) != want {
				t.Errorf("%s as %s: got %v, want allowed %v", op.id, role, err, want)
			}
			if err != nil && !fault.Is(err, fault.InsufficientPermissions) {
				t.Errorf("%s as %s: got %v, want insufficient_permissions", op.id, role, err)
			}
		}
		for _, role := range []account.Role{"", "root", "Owner", "owner "} {
			if err := caller(role).Authorize(op.id, anywhere); err == nil {
				t.Errorf("%s: got the unknown role %q allowed", op.id, role)
			}
		}
	}
	t.Logf("role_matrix %d cells, all as written", cells)
}

// TestDefaultDeny checks that an operation that is not in the table is denied
// to all.
func TestDefaultDeny(t *testing.T) {
	t.Parallel()
	for _, op := range []string{"", "createKey", "listcampaigns", "getCampaign ", "deleteEverything"} {
		for _, role := range account.Roles {
			if err := caller(account.Role(role)).Authorize(op, anywhere); !fault.Is(err, fault.InsufficientPermissions) {
				t.Errorf("%q as %s: got %v, want insufficient_permissions", op, role, err)
			}
		}
	}
}

// TestReaches checks that each role includes the lower roles.
func TestReaches(t *testing.T) {
	t.Parallel()
	for i, have := range account.Roles {
		for j, need := range account.Roles {
			if got := account.Role(have).AtLeast(account.Role(need)); got != (i >= j) {
				t.Errorf("%s reaches %s: got %v", have, need, got)
			}
		}
		if account.Role(have).AtLeast("god") || account.Role("god").AtLeast(account.Role(have)) {
			t.Errorf("got %s to reach or be reached by an unknown role", have)
		}
	}
}

// TestK5Scopes checks that write includes read, that nil scopes allow
// everything, and that empty scopes allow nothing.
func TestK5Scopes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		scopes account.Scopes
		group  string
		access account.Access
		want   bool
	}{
		{"not narrowed", nil, "campaigns", account.Write, true},
		{"read for read", account.Scopes{"campaigns": account.Read}, "campaigns", account.Read, true},
		{"read for write", account.Scopes{"campaigns": account.Read}, "campaigns", account.Write, false},
		{"write for read", account.Scopes{"campaigns": account.Write}, "campaigns", account.Read, true},
		{"write for write", account.Scopes{"campaigns": account.Write}, "campaigns", account.Write, true},
		{"another group", account.Scopes{"campaigns": account.Write}, "webhooks", account.Read, false},
		{"narrowed to nothing", account.Scopes{}, "campaigns", account.Read, false},
		{"no group needs no scope", account.Scopes{}, "", account.Read, true},
		{"an unknown access", account.Scopes{"campaigns": "admin"}, "campaigns", account.Read, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := tt.scopes.Allow(tt.group, tt.access); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

// TestK5ScopesNarrow checks for every operation × scope that a scope only
// restricts.
func TestK5ScopesNarrow(t *testing.T) {
	t.Parallel()
	for _, op := range contract(t) {
		p, _ := account.PermissionFor(op.id)
		for _, group := range account.ScopeGroups {
			for _, access := range []account.Access{account.Read, account.Write} {
				for _, role := range account.Roles {
					c := caller(account.Role(role))
					c.Key.Scopes = account.Scopes{group: access}
					err := c.Authorize(op.id, anywhere)
					allowed := c.Role.AtLeast(p.Least)
					scoped := p.Group == "" || p.Group == group && (access == account.Write || p.Access == account.Read)
					switch {
					case allowed && scoped && err != nil,
						!allowed && !fault.Is(err, fault.InsufficientPermissions),
						allowed && !scoped && !fault.Is(err, fault.InsufficientScope):
						t.Errorf("%s as %s with %s:%s: got %v", op.id, role, group, access, err)
					}
				}
			}
		}
	}
}

// TestK5Addresses checks that a key with an address list does not work from
// other addresses.
func TestK5Addresses(t *testing.T) {
	t.Parallel()
	list := []netip.Prefix{netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("2001:db8:1::/48")}
	tests := []struct {
		from string
		want bool
	}{
		{"203.0.113.7", true},
		{"203.0.113.255", true},
		{"::ffff:203.0.113.7", true},
		{"2001:db8:1:ffff::1", true},
		{"203.0.114.1", false},
		{"2001:db8:2::1", false},
		{"127.0.0.1", false},
		{"::1", false},
	}
	for _, tt := range tests {
		t.Run(tt.from, func(t *testing.T) {
			t.Parallel()
			c := caller(account.Owner)
			if err := c.Authorize("getMe", netip.MustParseAddr(tt.from)); err != nil {
				t.Errorf("got %v without a list, want allowed", err)
			}
			c.Key.Addresses = list
			err := c.Authorize("getMe", netip.MustParseAddr(tt.from))
			if (err == nil) != tt.want || err != nil && !fault.Is(err, fault.InsufficientScope) {
				t.Errorf("got %v, want allowed %v", err, tt.want)
			}
		})
	}
}

// TestSuspended checks that a suspended workspace returns 403 for every caller.
func TestSuspended(t *testing.T) {
	t.Parallel()
	for _, op := range contract(t) {
		c := caller(account.Owner)
		c.Workspace.Suspended = true
		if err := c.Authorize(op.id, anywhere); !fault.Is(err, fault.WorkspaceSuspended) {
			t.Errorf("%s: got %v, want workspace_suspended", op.id, err)
		}
	}
}

// TestCheck checks the order of reasons: revoked before expired before inactive
// owner.
func TestCheck(t *testing.T) {
	t.Parallel()
	const now = clock.Instant(1_000_000_000)
	at := func(i clock.Instant) *clock.Instant { return &i }
	tests := []struct {
		name   string
		caller *account.Caller
		want   fault.Code
	}{
		{"K6 no end", &account.Caller{}, ""},
		{"K6 ends later", &account.Caller{Key: account.Key{ExpiresAt: at(now + 1)}}, ""},
		{"K6 ends now", &account.Caller{Key: account.Key{ExpiresAt: at(now)}}, fault.APIKeyExpired},
		{"K8 revoked", &account.Caller{Key: account.Key{RevokedAt: at(now)}}, fault.APIKeyRevoked},
		{"K8 revoked and expired", &account.Caller{Key: account.Key{RevokedAt: at(now), ExpiresAt: at(now)}}, fault.APIKeyRevoked},
		{"K4 owner gone", &account.Caller{InactiveAt: at(now)}, fault.APIKeyOwnerInactive},
		{"K4 owner gone, expired", &account.Caller{InactiveAt: at(now), Key: account.Key{ExpiresAt: at(now)}}, fault.APIKeyExpired},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := tt.caller.Check(now)
			if tt.want == "" && err != nil || tt.want != "" && !fault.Is(err, tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			if active := tt.caller.Key.Active(now); active != (tt.want == "" || tt.want == fault.APIKeyOwnerInactive) {
				t.Errorf("got active %v", active)
			}
		})
	}
}
