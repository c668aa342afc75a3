package nodes_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// connect creates a connection to the sandbox and returns its path.
func (c *cluster) connect(node, seed int) string {
	c.t.Helper()
	body := c.must(node, http.MethodPost, "/v1/connections", fmt.Sprintf(`{"platform":"sandbox","name":"Sandbox %d","config":{"seed":%d}}`, seed, seed))
	return "/v1/connections/" + member(body, "id")
}

// synced waits, as seen by a node, until a connection has synced.
func (c *cluster) synced(node int, connection string) {
	c.t.Helper()
	c.await("the sync", func() bool {
		body := c.must(node, http.MethodGet, connection, "")
		return strings.Contains(body, `"state":"idle"`) && !strings.Contains(body, `"last_success_at":null`)
	})
}

// TestSyncGoesOn kills a node while it syncs, or while another one does. The sync
// ends on a node that is left, and the metrics are those that a single server has.
func TestSyncGoesOn(t *testing.T) {
	t.Parallel()
	const history = "FANFARE_HISTORY_DAYS=90"
	alone := &cluster{t: t, dir: t.TempDir(), env: []string{history, "FANFARE_LIMITS=starter=0/0/0,growth=0/0/0,enterprise=0/0/0"}}
	alone.env = append(alone.env, "FANFARE_MASTER_KEY="+filepath.Join(alone.dir, "master.key"))
	alone.add()
	alone.createWorkspace()
	c := newCluster(t, 3, history)
	for killed := range 2 {
		alone.synced(0, alone.connect(0, killed))
		connection := c.connect(2, killed)
		c.await("the beginning of the sync", func() bool {
			return !strings.Contains(c.must(2, http.MethodGet, connection, ""), `"state":"idle"`)
		})
		c.nodes[killed].Kill()
		c.synced(2, connection)
		if got, want := c.ask(2), alone.ask(0); got != want || want == "[]" {
			t.Errorf("after node %d was killed: %.300s\nwant %.300s", killed, got, want)
		}
	}
	c.nodes[2].Stop()
	alone.stop()
}
