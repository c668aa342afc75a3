package sync_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"fanfare/internal/account"
	"fanfare/internal/adplatform/sandbox"
	"fanfare/internal/app"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/fact"
	"fanfare/internal/fanfaretest"
	"fanfare/internal/ident"
	"fanfare/internal/secret"
	"fanfare/internal/store/storetest"
)

// historyAccounts are 300 accounts by platform.
var historyAccounts = map[string]int{sandbox.GoogleAds: 100, sandbox.MetaAds: 80, sandbox.TikTokAds: 40, sandbox.LinkedInAds: 30, sandbox.GA4: 30, sandbox.MicrosoftAds: 20}

// basicAccess is how many calls a day Google allows with Basic access.
const basicAccess = 15_000

// shareEnv has a full drill read only every n-th account.
const shareEnv = "FANFARE_DRILL_SHARE"

// historyShare returns how many of the accounts stand for one that is read.
func historyShare(t *testing.T) int {
	t.Helper()
	text := os.Getenv(shareEnv)
	if text == "" && isFull() {
		return 1
	}
	if text == "" {
		return 100
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s: got %q want a number", shareEnv, text)
	}
	return n
}

// historyDrill reads the history of many accounts in this process, where time
// passes only when nothing else is to be done.
type historyDrill struct {
	*drill
	clock       *storetest.Clock
	app         *app.App
	workspace   ident.ID
	connections []*agencyConnection
	// due is when a connection has to do something again.
	due map[*agencyConnection]time.Time

	mu sync.Mutex
	// calls are counted by platform and day after the start.
	calls map[string]map[int]int
}

// TestDrillHistory connects 300 accounts, or six, and lets them sync until two
// years of history, or 90 days, are read and for two days afterwards. The calls
// of every day stay within the quotas that the platforms document, and the call
// plan has said how many it would be.
func TestDrillHistory(t *testing.T) {
	t.Parallel()
	begun := time.Now()
	d := newHistoryDrill(t)
	plans := d.plans()
	clear(d.calls)
	read := d.run(func() bool { return d.hasHistory() })
	first := map[string]int{}
	for platform, days := range d.calls {
		for _, n := range days {
			first[platform] += n
		}
	}
	end := d.clock.Now().Add(48 * time.Hour)
	d.run(func() bool { return !d.clock.Now().Before(end) })
	for _, c := range d.connections {
		d.compareCalls(c.platform, plans[c.platform], first[c.platform])
	}
	n := 0
	for _, c := range d.connections {
		a := c.state().Accounts[0]
		known, _ := d.sandbox.Account(a.ID)
		last := d.today() - 60
		from := last - 400
		if !isFull() {
			from = last - 20
		}
		stored, _ := c.stored(a.ID, a.Platform, fact.Base, from, last)
		n += c.compareDays(a.Platform, d.sandbox.Truth(known, from, last).Families[fact.Base.String()], stored, nil)
	}
	t.Logf("the first sync and the history took %s of simulated time; all took %s; %d sums equal to the truth; memory at most %s, with the platforms' simulation", read.Sub(startTime), time.Since(begun).Round(time.Second), n, peakMemory())
}

// compareCalls compares the calls to a platform with its call plan and with the
// quotas that it documents.
func (d *historyDrill) compareCalls(platform string, plan connection.CallPlan, first int) {
	d.Helper()
	planned := int(plan.FirstSync + plan.History)
	var days []string
	for _, day := range slices.Sorted(maps.Keys(d.calls[platform])) {
		days = append(days, fmt.Sprintf("day %d %d", day+1, d.calls[platform][day]))
	}
	d.Logf("%s: %d accounts; calls by day: %s; %d for the first sync and the history, planned were %d; %d on the last day, planned were %d",
		platform, plan.Accounts, strings.Join(days, ", "), first, planned, d.lastDay(platform), plan.Daily)
	if first > planned || 2*first < planned {
		d.Errorf("%s: got %d calls want at most the %d of the plan, and not far less", platform, first, planned)
	}
	if last := d.lastDay(platform); last > int(plan.Daily) {
		d.Errorf("%s: got %d calls on the last day want at most the %d of the plan", platform, last, plan.Daily)
	}
	for _, q := range plan.Quotas {
		most := d.most(platform)
		if q.Scope == connection.ScopeAccount {
			// Every account of a platform has the same work.
			most = (most + int(plan.Accounts) - 1) / int(plan.Accounts)
		}
		d.Logf("%s: quota %q allows %d calls per %s in %d s; at most %d in a day", platform, q.Name, q.Calls, q.Scope, q.Seconds, most)
		if allowed := q.Calls * 24 * 3600 / q.Seconds; int64(most) > allowed {
			d.Errorf("%s: got %d calls per %s in a day want at most %d, %s", platform, most, q.Scope, allowed, q.Name)
		}
	}
}

func newHistoryDrill(t *testing.T) *historyDrill {
	t.Helper()
	d := &historyDrill{clock: storetest.NewClock(startTime), calls: map[string]map[int]int{}, due: map[*agencyConnection]time.Time{}}
	d.drill = newDrill(t, d.clock.Now)
	count := d.count
	d.onCall.Store(&count)
	urls, apps := map[string]string{}, map[string]connection.OAuthClient{}
	for _, p := range d.sandbox.Addresses() {
		urls[p.Platform], apps[p.Platform] = d.url+p.Prefix, connection.OAuthClient{ID: "client", Secret: secret.New("secret")}
	}
	w := fanfaretest.New(t, nil, func(c *app.Config) {
		c.Now, c.Limits, c.PlatformURLs, c.OAuth, c.PlatformCalls = d.clock.Now, nil, urls, apps, map[string]int64{sandbox.GoogleAds: basicAccess}
		c.Sleep = func(ctx context.Context, wait time.Duration) error {
			// Waits of accounts that are read at once add up here, so that the
			// simulated time is longer than a real sync.
			d.clock.Advance(wait)
			return ctx.Err()
		}
		if !isFull() {
			c.HistoryDays = 90
		}
	})
	tenant := w.Tenant(account.Enterprise)
	d.app, d.workspace = w.App, tenant.Workspace
	for _, platform := range slices.Sorted(maps.Keys(historyAccounts)) {
		n := max(1, historyAccounts[platform]/historyShare(t))
		if err := d.sandbox.TurnOn(sandbox.BehaviorRule{Platform: platform, Switch: sandbox.BehaviorAccounts, Value: strconv.Itoa(n)}); err != nil {
			t.Fatal(err)
		}
		call := func(method, path, body string) (int, []byte) {
			var sent any
			if body != "" {
				sent = body
			}
			r := tenant.Do(method, path, sent)
			return r.Status, r.Body
		}
		c := &agencyConnection{drill: &drill{T: t, r: d.r, sandbox: d.sandbox, call: call}, platform: platform, manager: d.sandbox.Own()}
		c.create()
		d.connections = append(d.connections, c)
	}
	return d
}

// count counts a call to a platform. Sign-ins and tokens take no quota.
func (d *historyDrill) count(path string) {
	if strings.HasSuffix(path, "/token") || strings.Contains(path, "oauth") {
		return
	}
	day := int(d.clock.Now().Sub(startTime) / (24 * time.Hour))
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range d.sandbox.Addresses() {
		if strings.HasPrefix(path, p.Prefix+"/") {
			if d.calls[p.Platform] == nil {
				d.calls[p.Platform] = map[int]int{}
			}
			d.calls[p.Platform][day]++
		}
	}
}

// most returns the largest number of calls of a day.
func (d *historyDrill) most(platform string) (n int) {
	for _, calls := range d.calls[platform] {
		n = max(n, calls)
	}
	return n
}

// lastDay returns the calls of the last whole day.
func (d *historyDrill) lastDay(platform string) int {
	return d.calls[platform][int(d.clock.Now().Sub(startTime)/(24*time.Hour))-1]
}

// plans returns the call plan of every platform.
func (d *historyDrill) plans() map[string]connection.CallPlan {
	d.Helper()
	plans := map[string]connection.CallPlan{}
	for _, c := range d.connections {
		var list []connection.CallPlan
		if status := c.ask(http.MethodGet, "/v1/connections/"+c.id+"/call-plan", "", &list); status != http.StatusOK || len(list) != 1 {
			d.Fatalf("plan of %s: got %d and %d platforms want 200 and one", c.platform, status, len(list))
		}
		plans[c.platform] = list[0]
	}
	return plans
}

// hasHistory reports whether no connection reads history any more.
func (d *historyDrill) hasHistory() bool {
	d.Helper()
	return !slices.ContainsFunc(d.connections, func(c *agencyConnection) bool {
		var list []syncRun
		c.ask(http.MethodGet, "/v1/connections/"+c.id+"/syncs?limit=100", "", &list)
		return slices.ContainsFunc(list, func(r syncRun) bool { return !r.hasEnded() }) || !slices.ContainsFunc(list, func(r syncRun) bool { return r.Trigger == "initial" }) ||
			isFull() && !slices.ContainsFunc(list, func(r syncRun) bool { return r.Trigger == "backfill" })
	})
}

// run does what is due, the earliest first, until it is done.
func (d *historyDrill) run(done func() bool) time.Time {
	d.Helper()
	for !done() {
		next := slices.MinFunc(d.connections, func(a, b *agencyConnection) int { return d.due[a].Compare(d.due[b]) })
		if wait := d.due[next].Sub(d.clock.Now()); wait > 0 {
			d.clock.Advance(wait)
		}
		again, err := d.app.Connections.Work(d.Context(), d.workspace, ident.ID(next.id))
		if err != nil {
			d.Fatalf("work on %s: %v", next.platform, err)
		}
		d.due[next] = d.clock.Now().Add(time.Minute)
		if again != nil && *again > clock.At(d.clock.Now()) {
			d.due[next] = again.Time()
		}
		d.clearSandbox("journal")
	}
	return d.clock.Now()
}

// peakMemory returns the largest memory of this process.
func peakMemory() string {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return "unknown"
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	line, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(line)
}
