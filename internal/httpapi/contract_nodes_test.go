package httpapi_test

import (
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fanfare/internal/account"
	"fanfare/internal/app"
	"fanfare/internal/fanfaretest"
	"fanfare/test/program"
)

// raced are operations whose generated requests expect that no node works on the
// record meanwhile.
var raced = []string{"syncConnection", "cancelSync"}

// TestDrillContractNodes sends the generated requests of TestContractEdges,
// TestContractQueries and TestContractRoles to three nodes behind HAProxy, each
// on a new connection, so that every request may go to another node. The short
// form takes a part of the operations.
func TestDrillContractNodes(t *testing.T) {
	t.Parallel()
	w := startNodes(t)
	every := 12
	if fullDrill {
		every = 1
	}
	n := 0
	for id, op := range fanfaretest.TheContract().Operations() {
		if n++; n%every != 0 || slices.Contains(raced, id) {
			continue
		}
		t.Run(id, func(t *testing.T) {
			w.T = t
			tenant := w.Tenant(account.Growth)
			if jsonBody(op) != nil {
				tryEdges(t, tenant, op)
			}
			tryQueries(t, tenant, op)
			newRoles(tenant).try(t, op)
		})
	}
}

// startNodes starts a service and three nodes behind a balancer on its database,
// which its clients call. The service has the platforms' sandbox and makes the
// workspaces of tests.
func startNodes(t *testing.T) *fanfaretest.Service {
	t.Helper()
	database, data := fanfaretest.Postgres(t), t.TempDir()
	ahead := time.Until(fanfaretest.Start)
	w := fanfaretest.New(t, database, ample, func(c *app.Config) {
		c.Now = func() time.Time { return time.Now().Add(ahead) }
		c.Assets, c.MasterKey = filepath.Join(data, "assets"), filepath.Join(data, "master.key")
	})
	var apps, urls []string
	for _, p := range w.Sandbox().Addresses() {
		apps, urls = append(apps, p.Platform+"=client:client-secret"), append(urls, p.Platform+"="+w.Platforms+p.Prefix)
	}
	c := program.StartCluster(t, program.ClusterOptions{
		Options: program.Options{Data: data, ClockOffset: ahead, Env: []string{
			"FANFARE_STORE=" + fanfaretest.Address(database), "FANFARE_LIMITS=starter=1/0/0,growth=0/0/0,enterprise=0/0/0",
			"FANFARE_OAUTH=" + strings.Join(apps, ","), "FANFARE_PLATFORM_URLS=" + strings.Join(urls, ","),
		}},
		Guide: "../../docs/OPERATING.md",
	})
	transport := c.Transport()
	transport.DisableKeepAlives = true
	w.Remote = &fanfaretest.Remote{URL: c.URL, Client: &http.Client{Transport: transport}}
	return w
}
