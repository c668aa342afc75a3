package httpapi_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"fanfare/internal/account"
	"fanfare/internal/fanfaretest"
)

// FuzzOperations sends any body and any query string to every operation of the
// contract: the response is a success or a client error, never a 5xx, and
// matches the contract, which the client checks.
func FuzzOperations(f *testing.F) {
	tenant := fanfaretest.New(f, nil, ample).Tenant(account.Growth)
	ops := fanfaretest.TheContract().Operations()
	ids := slices.DeleteFunc(slices.Sorted(maps.Keys(ops)), func(id string) bool {
		_, listed := account.PermissionFor(id)
		return !listed
	})
	calls := make([]call, len(ids))
	for i, id := range ids {
		op := ops[id]
		calls[i] = goodCall(tenant, op)
		f.Add(uint8(i), []byte(`{}`), "")
		if jsonBody(op) == nil {
			continue
		}
		for _, e := range jsonBody(op).Examples {
			raw, err := json.Marshal(e.Value.Value)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(uint8(i), raw, "")
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, body []byte, query string) {
		tenant.Service.T = t
		c := calls[int(which)%len(calls)]
		if strings.ContainsFunc(query, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '#' }) {
			query = ""
		}
		if query != "" {
			c.target += "?" + query
		}
		if c.body != nil || len(body) > 0 {
			c.body = body
		}
		if res := c.by(tenant.Client); res.Status >= 500 {
			t.Errorf("%s %s: got %d for %q: %s", c.method, c.target, res.Status, body, res.Body)
		}
	})
}
