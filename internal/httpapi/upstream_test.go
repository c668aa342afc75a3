package httpapi_test

import (
	"net"
	"testing"

	"fanfare/internal/account"
	"fanfare/internal/app"
	"fanfare/internal/fanfaretest"
)

// TestSandboxOutOfReach connects a sandbox at an address without a server.
func TestSandboxOutOfReach(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := "http://" + l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	tenant := fanfaretest.New(t, nil, func(c *app.Config) { c.Sandbox = address }).Tenant(account.Growth)
	res := tenant.Do("POST", "/v1/connections", `{"platform":"sandbox","name":"One"}`)
	res.WantError(502, "upstream_error")
	if got := res.Header.Get("Retry-After"); got != "60" {
		t.Errorf("got Retry-After %q want 60", got)
	}
	if list := tenant.Do("GET", "/v1/connections", nil).Want(200).List(); len(list.Data) != 0 {
		t.Errorf("got %d connections want none", len(list.Data))
	}
}
