package nodes_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// create creates a campaign on a node with an idempotency key, and returns the
// answer's body.
func (c *cluster) create(node int, idempotency, name string) string {
	c.t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, c.nodes[node].URL+"/v1/campaigns", strings.NewReader(fmt.Sprintf(`{"name":%q,"channels":["search"]}`, name)))
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+c.key)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Idempotency-Key", idempotency)
	res, err := c.nodes[node].Client().Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusCreated {
		c.t.Fatalf("node %d: %d %s, %v", node, res.StatusCode, body, err)
	}
	return string(body)
}

// TestNodesAreOne continues on one node what began on the other: a repeated call,
// a list, a change, a revoked key.
func TestNodesAreOne(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2)
	for i := range 6 {
		key := fmt.Sprintf("key-%d", i)
		first := c.create(i%2, key, fmt.Sprintf("Campaign %d", i))
		if again := c.create(1-i%2, key, fmt.Sprintf("Campaign %d", i)); again != first {
			t.Errorf("the repeated call got %s want %s", again, first)
		}
	}
	seen, path := 0, "/v1/campaigns?limit=1"
	for node := 0; ; node = 1 - node {
		var page struct {
			Data []any  `json:"data"`
			Next string `json:"next_cursor"`
		}
		decode(t, c.must(node, http.MethodGet, path, ""), &page)
		seen += len(page.Data)
		if page.Next == "" {
			break
		}
		path = "/v1/campaigns?limit=1&cursor=" + page.Next
	}
	if seen != 6 {
		t.Errorf("the pages of both nodes have %d campaigns want 6", seen)
	}
	campaign := "/v1/campaigns/" + member(c.create(0, "change", "Changed"), "id")
	for i := range 10 {
		c.must(i%2, http.MethodPatch, campaign, fmt.Sprintf(`{"name":"Name %d"}`, i))
		if got := member(c.must(1-i%2, http.MethodGet, campaign, ""), "name"); got != fmt.Sprintf("Name %d", i) {
			t.Errorf("after change %d the other node has the name %q", i, got)
		}
	}
	c.revoke()
	c.stop()
}

// revoke revokes the key on one node, and waits until the other refuses it.
func (c *cluster) revoke() {
	c.t.Helper()
	var me struct {
		Data struct {
			Key, Workspace struct{ ID string }
		}
	}
	decode(c.t, c.must(0, http.MethodGet, "/v1/me", ""), &me)
	if out := c.nodes[0].Run("key", "revoke", "--workspace", me.Data.Workspace.ID, me.Data.Key.ID); out.Code != 0 {
		c.t.Fatalf("revoke: %+v", out)
	}
	begin := time.Now()
	c.await("the refusal of the other node", func() bool {
		status, _ := c.nodes[1].Call(c.key, http.MethodGet, "/v1/me", "")
		return status == http.StatusUnauthorized
	})
	c.t.Logf("the other node refused the key %s after it was revoked", time.Since(begin).Round(time.Millisecond))
}
