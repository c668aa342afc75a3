package sync_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"fanfare/internal/adplatform/sandbox"
	"fanfare/internal/clock"
	"fanfare/internal/store/pgtest"
	"fanfare/test/program"
)

// daysEnv is the number of days of a drill that has less time.
const daysEnv = "FANFARE_DRILL_DAYS"

// agencyDrill is an agency: three workspaces with connections to all platforms,
// on three nodes that share a database.
type agencyDrill struct {
	*drill
	ahead       atomic.Int64
	dir, store  string
	nodes       []*program.Server
	connections []*agencyConnection
	// size is how many accounts a grant opens, by platform.
	size   map[string]int
	counts struct {
		calls, kills, restarts, reconnects, enabled, switches, checks, unread int
		compared, equal, warned, off                                          int
	}
	// rules are the switches that are on, known those that have been.
	rules []sandbox.BehaviorRule
	known map[string]bool
}

// agencyConnection is a connection of one workspace to one platform.
type agencyConnection struct {
	*drill
	platform string
	manager  sandbox.AccountSet
	// person grants access. Those with the same manager are the same person.
	person string
	// chosen is the number of accounts that are synced, 0 for all.
	chosen int
	// node returns a node that runs, where the manager comes back from the
	// platform's page. It is nil if the workspace brings tokens.
	node func() *program.Server
	// checked is the last run that was compared.
	checked string
	// repaired says that the last run began before a repair of this day.
	repaired bool
}

// TestDrillAgency syncs 44 accounts of six platforms, which two managers give to
// three workspaces, for sixty days, or two. Every day other documented behaviors
// of the platforms are on, and nodes are killed. Every number is that of the
// platform, or the answer says that the day is incomplete, by how much if that
// can be known.
func TestDrillAgency(t *testing.T) {
	t.Parallel()
	d := newAgencyDrill(t)
	days, kills := 60, 50
	if !isFull() {
		days, kills = 2, 2
	}
	if text := os.Getenv(daysEnv); text != "" {
		var err error
		if days, err = strconv.Atoi(text); err != nil || days < 1 {
			t.Fatalf("%s: got %q want a number of days", daysEnv, text)
		}
	}
	for day := range days {
		d.switchBehaviors()
		d.later(12*time.Hour + time.Duration(d.r.Int64N(int64(18*time.Hour))))
		d.startDay()
		d.runDay(kills*(day+1)/days-d.counts.kills, dayWait())
		for range 3 {
			d.check(d.connections[d.r.IntN(len(d.connections))])
		}
		c := &d.counts
		t.Logf("day %d: %d calls, %d kills, %d switches, %d values compared, %d with a warning", day+1, c.calls, c.kills, c.switches, c.compared, c.warned)
	}
	d.switchOffAccounts()
	d.last()
	for _, n := range d.nodes {
		n.Stop()
	}
	c := &d.counts
	t.Logf("%d days, %d connections: %d calls, %d kills, %d restarts, %d switches of %d kinds, %d times access granted anew, %d accounts enabled again; %d comparisons of %d values: %d equal, %d with a warning; %d reports of accounts that the service has switched off; %d connections could not be read to the end and say so",
		days, len(d.connections), c.calls, c.kills, c.restarts, c.switches, len(d.known), c.reconnects, c.enabled, c.checks, c.compared, c.equal, c.warned, c.off, c.unread)
}

func newAgencyDrill(t *testing.T) *agencyDrill {
	t.Helper()
	d := &agencyDrill{dir: t.TempDir(), store: pgtest.URL(t), known: map[string]bool{}}
	d.ahead.Store(int64(time.Until(startTime)))
	d.drill = newDrill(t, func() time.Time { return time.Now().Add(time.Duration(d.ahead.Load())) })
	d.size = map[string]int{sandbox.GoogleAds: 6, sandbox.MetaAds: 4, sandbox.TikTokAds: 4, sandbox.LinkedInAds: 3, sandbox.GA4: 3, sandbox.MicrosoftAds: 2}
	if !isFull() {
		for p := range d.size {
			d.size[p] = 1
		}
		d.size[sandbox.MetaAds] = 2
	}
	d.setSizes()
	for range 3 {
		d.nodes = append(d.nodes, nil)
	}
	d.startNodes()
	managers := []sandbox.AccountSet{{Seed: int64(d.seed >> 12), Timezone: zone}, {Seed: int64(d.seed>>12) + 1, Timezone: zone}}
	for i := range 3 {
		key := d.createWorkspace(fmt.Sprintf("Client %d", i+1))
		for _, platform := range []string{sandbox.GoogleAds, sandbox.MetaAds, sandbox.TikTokAds, sandbox.LinkedInAds, sandbox.GA4, sandbox.MicrosoftAds} {
			c := &agencyConnection{drill: &drill{T: t, r: d.r, sandbox: d.sandbox, call: d.caller(key)}, node: d.anyNode, platform: platform, manager: managers[i%2], person: fmt.Sprint(7001 + i%2)}
			if !isFull() {
				c.skip = []string{"initial", "backfill"}
			}
			if i == 2 {
				c.chosen = min(2, d.size[platform])
			}
			c.create()
			d.connections = append(d.connections, c)
		}
	}
	return d
}

// setSizes sets how many accounts the grants open.
func (d *agencyDrill) setSizes() {
	d.Helper()
	for platform, n := range d.size {
		d.turnOn(sandbox.BehaviorRule{Platform: platform, Switch: sandbox.BehaviorAccounts, Value: strconv.Itoa(n)})
	}
}

func (d *agencyDrill) turnOn(r sandbox.BehaviorRule) {
	d.Helper()
	if err := d.sandbox.TurnOn(r); err != nil {
		d.Fatal(err)
	}
}

// startNodes starts the nodes that do not run.
func (d *agencyDrill) startNodes() {
	d.Helper()
	var urls, apps []string
	for _, p := range d.sandbox.Addresses() {
		urls = append(urls, p.Platform+"="+d.url+p.Prefix)
		apps = append(apps, p.Platform+"=client:secret")
	}
	for i, n := range d.nodes {
		if n != nil && !n.Ended() {
			continue
		}
		d.nodes[i] = program.Start(d.T, program.Options{
			Data: filepath.Join(d.dir, fmt.Sprintf("node%d", i+1)), ClockOffset: time.Duration(d.ahead.Load()), Args: []string{"--platform-urls", strings.Join(urls, ",")},
			Env: []string{
				"FANFARE_STORE=" + d.store, "FANFARE_ASSETS=" + filepath.Join(d.dir, "assets"), "FANFARE_MASTER_KEY=" + filepath.Join(d.dir, "master.key"),
				"FANFARE_LIMITS=starter=0/0/0,growth=0/0/0,enterprise=0/0/0", "FANFARE_OAUTH=" + strings.Join(apps, ","), "FANFARE_HISTORY_DAYS=90", "FANFARE_PUBLIC_URL=" + publicURL,
			},
		})
	}
}

// later restarts all nodes at a later time.
func (d *agencyDrill) later(by time.Duration) {
	d.Helper()
	d.counts.restarts++
	for _, n := range d.nodes {
		n.Stop()
	}
	d.ahead.Add(int64(by))
	d.startNodes()
}

func (d *agencyDrill) createWorkspace(name string) (key string) {
	d.Helper()
	out := d.nodes[0].Run("workspace", "create", "--name", name, "--owner", "owner@example.com", "--plan", "enterprise", "--json")
	var made struct {
		Key string `json:"api_key"`
	}
	if err := json.Unmarshal([]byte(out.Out), &made); err != nil || made.Key == "" {
		d.Fatalf("create a workspace: %v %+v", err, out)
	}
	return made.Key
}

func (d *agencyDrill) anyNode() *program.Server { return d.nodes[d.r.IntN(len(d.nodes))] }

// caller returns a function that calls a random node as a workspace.
func (d *agencyDrill) caller(key string) func(method, path, body string) (int, []byte) {
	return func(method, path, body string) (int, []byte) {
		d.Helper()
		status, text := d.anyNode().Call(key, method, path, body)
		return status, []byte(text)
	}
}

// tokens returns tokens of the manager, and the accounts that they open.
func (c *agencyConnection) tokens() (access sandbox.AccountTokens, ids []string) {
	c.Helper()
	granted, err := c.sandbox.Grant(c.manager)
	if err != nil {
		c.Fatal(err)
	}
	access = granted[c.platform]
	return access, c.sandbox.AccountIDs(c.platform, access.AccessToken)
}

// publicURL is where platforms send people back to.
const publicURL = "https://fanfare.test"

// grant has the manager give access on the platform's page, come back and confirm.
// The page can refuse; ok says whether it did not.
func (c *agencyConnection) grant(authorize string) (ok bool) {
	c.Helper()
	authorize += fmt.Sprintf("&sandbox_person=%s&sandbox_seed=%d", c.person, c.manager.Seed)
	back, ok := strings.CutPrefix(c.visit(http.DefaultClient, http.MethodGet, authorize).Header.Get("Location"), publicURL)
	if !ok {
		return false
	}
	node := c.node()
	return c.visit(node.Client(), http.MethodGet, node.URL+back).StatusCode == http.StatusOK && c.visit(node.Client(), http.MethodPost, node.URL+back).StatusCode == http.StatusOK
}

// visit opens a page like a browser on that page, and follows no redirect.
func (c *agencyConnection) visit(client *http.Client, method, address string) *http.Response {
	c.Helper()
	req, err := http.NewRequestWithContext(c.Context(), method, address, http.NoBody)
	if err != nil {
		c.Fatal(err)
	}
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	once := *client
	once.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	res, err := once.Do(req)
	if err != nil {
		c.Fatalf("visit %s: %v", address, err)
	}
	_ = res.Body.Close()
	return res
}

// broughtTokens returns tokens as a member of a body, nothing if the manager gives
// access on the platform's page.
func (c *agencyConnection) broughtTokens() string {
	c.Helper()
	if c.node != nil {
		return ""
	}
	access, _ := c.tokens()
	tokens := map[string]string{"access_token": access.AccessToken, "client_id": "client", "client_secret": "secret"}
	if access.RefreshToken != nil {
		tokens["refresh_token"] = *access.RefreshToken
	}
	text, err := json.Marshal(tokens)
	if err != nil {
		c.Fatal(err)
	}
	return `,"credentials":` + string(text)
}

// create creates the connection. The workspace syncs twice per day.
func (c *agencyConnection) create() {
	c.Helper()
	selection := `{"mode":"all"}`
	if c.chosen > 0 {
		_, ids := c.tokens()
		text, err := json.Marshal(map[string]any{"mode": "selected", "ids": ids[:c.chosen]})
		if err != nil {
			c.Fatal(err)
		}
		selection = string(text)
	}
	var s state
	body := fmt.Sprintf(`{"platform":%q,"name":"Agency","account_selection":%s%s}`, c.platform, selection, c.broughtTokens())
	if status := c.ask(http.MethodPost, "/v1/connections", body, &s); status != http.StatusCreated {
		c.Fatalf("connect %s: got %d want 201", c.platform, status)
	}
	c.id = s.ID
	if c.node != nil && !c.grant(s.Authorize) {
		c.Fatalf("connect %s: access was not granted", c.platform)
	}
	change := `{"sync":{"interval_minutes":720}}`
	if !isFull() {
		change = `{"sync":{"interval_minutes":720,"lookback_days":3}}`
	}
	if status := c.ask(http.MethodPatch, "/v1/connections/"+c.id, change, nil); status != http.StatusOK {
		c.Fatalf("set interval: got %d want 200", status)
	}
	c.cancelSkipped()
}

// switchBehaviors turns all switches off, and others on for random accounts.
func (d *agencyDrill) switchBehaviors() {
	d.Helper()
	d.turnAllOff()
	seen := map[string]bool{"": true, sandbox.BehaviorAccounts: true}
	behaviors := slices.DeleteFunc(sandbox.Behaviors(), func(b sandbox.Behavior) bool {
		// The first row of a switch has its values.
		again := seen[b.Switch] || seen[b.Platform+b.Switch]
		seen[b.Platform+b.Switch] = true
		return again
	})
	for range 2 + d.r.IntN(12) {
		b := behaviors[d.r.IntN(len(behaviors))]
		rule := sandbox.BehaviorRule{Platform: b.Platform, Switch: b.Switch, Value: "on"}
		switch {
		case b.Number:
			rule.Value = strconv.Itoa([]int{1, 3, 10, 30, 100, 1000}[d.r.IntN(6)])
		case b.Values != nil:
			rule.Value = b.Values[d.r.IntN(len(b.Values))]
		}
		if list := d.accounts(b.Platform); len(list) > 0 && d.r.IntN(2) == 0 {
			rule.Account = list[d.r.IntN(len(list))]
		}
		d.turnOn(rule)
		d.rules = append(d.rules, rule)
		d.counts.switches++
		d.known[b.Platform+" "+b.Switch] = true
	}
}

func (d *agencyDrill) turnAllOff() {
	d.Helper()
	d.rules = nil
	d.sandbox.TurnAllOff()
	d.setSizes()
}

// accounts returns the accounts of a platform that any connection has.
func (d *agencyDrill) accounts(platform string) (ids []string) {
	d.Helper()
	for _, c := range d.connections {
		if c.platform == platform {
			for _, a := range c.state().Accounts {
				ids = append(ids, customerOf(a.ID))
			}
		}
	}
	return ids
}

// dayWait is how long the nodes work at most in a day of the drill.
func dayWait() time.Duration {
	if isFull() {
		return 2 * time.Minute
	}
	return 20 * time.Second
}

// startDay repairs connections and requests some syncs.
func (d *agencyDrill) startDay() {
	d.Helper()
	for _, c := range d.connections {
		c.repaired = false
		d.repair(c)
		if d.r.IntN(4) == 0 {
			c.ask(http.MethodPost, "/v1/connections/"+c.id+"/sync", "", nil)
		}
	}
}

// runDay lets the nodes work until nothing is due, for a time at most, and kills
// some of them.
func (d *agencyDrill) runDay(kills int, wait time.Duration) {
	d.Helper()
	var calls, next atomic.Int64
	kill := make(chan struct{}, 1)
	told := func(string) {
		if calls.Add(1) == next.Load() {
			kill <- struct{}{}
		}
	}
	d.onCall.Store(&told)
	aim := func() { next.Store(calls.Load() + 1 + d.r.Int64N(60)) }
	if kills > 0 {
		aim()
	}
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	// A platform that keeps failing is tried again for hours; the next day comes
	// anyway.
	for end := time.Now().Add(wait); !d.isIdle() && time.Now().Before(end); {
		select {
		case <-kill:
			d.killNode()
			if kills--; kills > 0 {
				aim()
			}
		case <-tick.C:
		}
	}
	d.onCall.Store(nil)
	d.counts.calls += int(calls.Load())
	d.clearSandbox("journal")
}

// killNode kills a node and starts it again.
func (d *agencyDrill) killNode() {
	d.Helper()
	d.counts.kills++
	<-time.After(time.Duration(rand.IntN(30_000)) * time.Microsecond)
	d.anyNode().Kill()
	d.startNodes()
}

// isIdle reports whether no connection does anything before the clock is moved.
func (d *agencyDrill) isIdle() bool {
	d.Helper()
	return !slices.ContainsFunc(d.connections, func(c *agencyConnection) bool { return !c.isIdle() })
}

func (c *agencyConnection) isIdle() bool {
	c.Helper()
	s := c.state()
	if s.Status == "reauth_required" || s.Sync.State == "idle" && (s.Sync.Next == nil || *s.Sync.Next > clock.At(c.sandbox.Now())) {
		return true
	}
	var list []syncRun
	c.ask(http.MethodGet, "/v1/connections/"+c.id+"/syncs?status=waiting,running", "", &list)
	return len(list) > 0 && !slices.ContainsFunc(list, func(r syncRun) bool { return r.Status == "running" })
}

// chose reports whether the workspace has chosen an account of the connection.
func (c *agencyConnection) chose(i int) bool { return c.chosen == 0 || i < c.chosen }

// repair does what a user would: it grants access again if the platform has ended
// it, and enables accounts again that the platform had disabled.
func (d *agencyDrill) repair(c *agencyConnection) {
	d.Helper()
	s := c.state()
	if s.Status == "reauth_required" {
		d.counts.reconnects++
		var asked state
		if c.ask(http.MethodPost, "/v1/connections/"+c.id+"/reconnect", "{}", &asked) == http.StatusOK {
			c.grant(asked.Authorize)
		}
		s = c.state()
	}
	var off []string
	for i, a := range s.Accounts {
		if !a.Enabled && c.chose(i) {
			off = append(off, fmt.Sprintf(`{"external_id":%q,"enabled":true}`, a.ID))
		}
	}
	if len(off) > 0 {
		c.repaired = true
		d.counts.enabled += len(off)
		c.ask(http.MethodPatch, "/v1/connections/"+c.id, `{"accounts":[`+strings.Join(off, ",")+`]}`, nil)
	}
}
