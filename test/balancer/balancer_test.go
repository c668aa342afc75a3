// Package balancer_test runs three nodes of the real server behind HAProxy, with
// the configuration in docs/OPERATING.md, on one PostgreSQL. Callers must not
// notice that a node stops, and must not lose anything when one is killed or the
// database is away.
package balancer_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"fanfare/internal/store/pgtest"
	"fanfare/test/program"
)

func TestMain(m *testing.M) { pgtest.Main(m, program.Clean) }

const guide = "../../docs/OPERATING.md"

// isFull reports whether the long forms of the drills are wanted.
func isFull() bool { return os.Getenv("FANFARE_DRILL") == "full" }

// cluster is a cluster with a workspace.
type cluster struct {
	*program.Cluster
	t   *testing.T
	key string
}

// start starts a cluster on a database and creates a workspace without limits,
// unless env sets others.
func start(t *testing.T, database string, o program.Options, env ...string) *cluster {
	t.Helper()
	o.Env = append([]string{"FANFARE_STORE=" + database, "FANFARE_LIMITS=starter=0/0/0,growth=0/0/0,enterprise=0/0/0"}, env...)
	c := &cluster{Cluster: program.StartCluster(t, program.ClusterOptions{Options: o, Guide: guide}), t: t}
	out := c.Run("workspace", "create", "--name", "Balanced", "--owner", "owner@example.com", "--plan", "enterprise", "--json")
	var made struct {
		Key string `json:"api_key"`
	}
	if err := json.Unmarshal([]byte(out.Out), &made); err != nil || made.Key == "" {
		t.Fatalf("create a workspace: %v %+v", err, out)
	}
	c.key = made.Key
	return c
}

// newClient returns a client of the balancer with its own connections.
func (c *cluster) newClient() *http.Client {
	transport := c.Transport()
	c.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: time.Minute}
}

// reply is a response.
type reply struct {
	status int
	header http.Header
	body   string
}

// send sends a request through the balancer. Headers are "Name: value".
func (c *cluster) send(client *http.Client, method, path, body string, headers ...string) (reply, error) {
	r, err := http.NewRequestWithContext(context.Background(), method, c.URL+path, strings.NewReader(body))
	if err != nil {
		return reply{}, err
	}
	r.Header.Set("Authorization", "Bearer "+c.key)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	res, err := client.Do(r)
	if err != nil {
		return reply{}, err
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	return reply{res.StatusCode, res.Header, string(text)}, err
}

// campaign is the part of a campaign that tests look at.
type campaign struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Status  string `json:"status"`
	Version int    `json:"version"`
}

// campaignOf returns the campaign in a response.
func (r reply) campaignOf() (v campaign, err error) {
	err = json.Unmarshal([]byte(r.body), &struct {
		Data *campaign `json:"data"`
	}{&v})
	return v, err
}

// list returns all campaigns.
func (c *cluster) list(client *http.Client) (all []campaign) {
	c.t.Helper()
	for cursor := ""; ; {
		r, err := c.send(client, http.MethodGet, "/v1/campaigns?limit=100"+cursor, "")
		if err != nil || r.status != http.StatusOK {
			c.t.Fatalf("list: %d %v %s", r.status, err, r.body)
		}
		var page struct {
			Data []campaign `json:"data"`
			Next string     `json:"next_cursor"`
		}
		if err := json.Unmarshal([]byte(r.body), &page); err != nil {
			c.t.Fatal(err)
		}
		all = append(all, page.Data...)
		if page.Next == "" {
			return all
		}
		cursor = "&cursor=" + page.Next
	}
}

// maxWait limits every wait; no test depends on how long something takes.
const maxWait = 2 * time.Minute

// awaitNode waits until the balancer uses a node.
func (c *cluster) awaitNode(i int) {
	c.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(maxWait); time.Now().Before(end); <-tick.C {
		if used, err := c.InUse(i); err != nil {
			c.t.Fatal(err)
		} else if used {
			return
		}
	}
	c.t.Fatalf("the balancer did not use node %d within %s", i+1, maxWait)
}
