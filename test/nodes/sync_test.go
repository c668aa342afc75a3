package nodes_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"fanfare/internal/adplatform/sandbox"
	"fanfare/internal/clock"
	"fanfare/internal/fact"
)

// synced waits, as seen by a node, until a connection has synced.
func (c *cluster) synced(node int, connection string) {
	c.t.Helper()
	c.await("the sync", func() bool {
		body := c.must(node, http.MethodGet, connection, "")
		return strings.Contains(body, `"state":"idle"`) && !strings.Contains(body, `"last_success_at":null`)
	})
}

// TestSyncGoesOn kills a node while it syncs, or while another one does. The sync
// ends on a node that is left, and the metrics are those of the platforms.
func TestSyncGoesOn(t *testing.T) {
	t.Parallel()
	platforms, err := sandbox.New(sandbox.Options{Seed: 7, Timezone: "UTC", Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	address := httptest.NewServer(platforms)
	defer address.Close()
	c := newCluster(t, 3, "FANFARE_HISTORY_DAYS=90", "FANFARE_SANDBOX="+address.URL)
	for killed := range 2 {
		connection := "/v1/connections/" + member(c.must(2, http.MethodPost, "/v1/connections", `{"platform":"sandbox","name":"Sandbox"}`), "id")
		c.await("the beginning of the sync", func() bool {
			return !strings.Contains(c.must(2, http.MethodGet, connection, ""), `"state":"idle"`)
		})
		c.nodes[killed].Kill()
		c.synced(2, connection)
		c.compareWithTruth(2, connection, platforms)
		c.must(2, http.MethodDelete, connection+"?purge=true", "")
	}
	c.nodes[2].Stop()
}

// compareWithTruth compares the sums of each account over 30 days with those of
// the platform.
func (c *cluster) compareWithTruth(node int, connection string, platforms *sandbox.Server) {
	c.t.Helper()
	last := clock.DateIn(time.Now(), time.UTC) - 1
	first := last - 29
	var answer struct {
		Data []struct {
			Dimensions map[string]string      `json:"dimensions"`
			Metrics    map[string]fact.Number `json:"metrics"`
		} `json:"data"`
	}
	body := c.must(node, http.MethodPost, "/v1/analytics/query", fmt.Sprintf(`{"metrics":["impressions","clicks","spend"],"dimensions":["account_id"],"date_range":{"start_date":%q,"end_date":%q},"limit":1000}`, first, last))
	if err := json.Unmarshal([]byte(body), &answer); err != nil {
		c.t.Fatalf("%v: %s", err, body)
	}
	type sums struct{ impressions, clicks, spend int64 }
	got, want := map[string]sums{}, map[string]sums{}
	for _, row := range answer.Data {
		spend := row.Metrics["spend"]
		if spend.Digits == 0 {
			spend.N *= 1_000_000
		}
		got[row.Dimensions["account_id"]] = sums{row.Metrics["impressions"].N, row.Metrics["clicks"].N, spend.N}
	}
	add := func(sum *int64, n *int64) {
		if n != nil {
			*sum += *n
		}
	}
	var connected struct {
		Data struct {
			Accounts []struct {
				ID string `json:"external_id"`
			} `json:"accounts"`
		} `json:"data"`
	}
	if err := json.Unmarshal([]byte(c.must(node, http.MethodGet, connection, "")), &connected); err != nil || len(connected.Data.Accounts) != len(platforms.Addresses()) {
		c.t.Fatalf("got %d accounts, %v, want %d", len(connected.Data.Accounts), err, len(platforms.Addresses()))
	}
	for _, a := range connected.Data.Accounts {
		account, there := platforms.Account(a.ID)
		if !there {
			c.t.Fatalf("account %s is none of the sandbox's", a.ID)
		}
		var sum sums
		for _, day := range platforms.Truth(account, first, last).Families[fact.Base.String()] {
			add(&sum.impressions, day.Impressions)
			add(&sum.clicks, day.Clicks)
			add(&sum.spend, day.SpendMicros)
		}
		// GA4 reports none of these.
		if sum != (sums{}) {
			want[a.ID] = sum
		}
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(sums{})); diff != "" || len(want) < 2 {
		c.t.Errorf("%d accounts: %s", len(want), diff)
	}
}
