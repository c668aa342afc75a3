// Package sync_test syncs made-up accounts for weeks of virtual time while
// everything goes wrong that can, and compares what is stored in the end with
// the truth: no day lost, none counted twice, to the last millionth. It also
// looks for secrets wherever they must not be.
package sync_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"fanfare/internal/adplatform/sandbox"
	"fanfare/internal/clock"
	"fanfare/test/program"
)

func TestMain(m *testing.M) {
	code := m.Run()
	program.Clean()
	os.Exit(code)
}

const (
	// seedEnv repeats a drill.
	seedEnv = "FANFARE_DRILL_SEED"
	// zone is ahead of UTC for most of a day, so that today is seldom the same.
	zone = "Pacific/Auckland"
	// commonProbability is how often a call goes wrong in some way, rare how often in one
	// of those that only some calls can.
	commonProbability, rareProbability = 0.05, 0.25
	// initialDays is how many days the first sync reads.
	initialDays = 90
)

func isFull() bool { return os.Getenv("FANFARE_DRILL") == "full" }

// startTime is when a drill begins.
var startTime = time.Date(2026, time.September, 1, 0, 0, 0, 0, time.UTC)

// drill is one connection to a sandbox through all that happens to it.
type drill struct {
	*testing.T
	seed    uint64
	r       *rand.Rand
	sandbox *sandbox.Server
	url     string
	// call asks the service.
	call func(method, path, body string) (int, []byte)
	// advance lets time pass.
	advance func(time.Duration)
	id      string
	// onCall, if set, is told of every call to a platform.
	onCall atomic.Pointer[func()]
	// skip are the triggers of runs that are canceled, because a short drill
	// has no time for them.
	skip   []string
	counts struct {
		calls, manual, reconnects, switched, kills, stops, checked int
		faults                                                     map[string]int
	}
}

// newDrill starts a sandbox whose clock is now.
func newDrill(t *testing.T, now func() time.Time) *drill {
	t.Helper()
	d := &drill{T: t, seed: rand.Uint64()}
	if text := os.Getenv(seedEnv); text != "" {
		var err error
		if d.seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("%s: %v", seedEnv, err)
		}
	}
	t.Logf("%s=%d", seedEnv, d.seed)
	d.r, d.counts.faults = rand.New(rand.NewPCG(d.seed, 0)), map[string]int{}
	var err error
	if d.sandbox, err = sandbox.New(sandbox.Options{Seed: int64(d.seed >> 12), Timezone: zone, Now: now}); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if told := d.onCall.Load(); told != nil && !strings.HasPrefix(r.URL.Path, "/_sandbox/") {
			(*told)()
		}
		d.sandbox.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	d.url = server.URL
	return d
}

// addFaults has calls go wrong in every way from now on.
func (d *drill) addFaults() {
	d.Helper()
	for _, r := range []sandbox.FaultRule{
		{Fault: sandbox.FaultAll, Probability: commonProbability},
		{Fault: sandbox.FaultRotatedToken, Probability: rareProbability},
		{Fault: sandbox.FaultTooLarge, Platform: sandbox.MetaAds, Probability: commonProbability},
		{Fault: sandbox.FaultDriftingTotal, Probability: commonProbability},
		{Fault: sandbox.FaultSkipPage, Probability: commonProbability},
		{Fault: sandbox.FaultAsyncStuck, Probability: rareProbability},
		{Fault: sandbox.FaultAsyncFailed, Probability: rareProbability},
	} {
		if err := d.sandbox.AddFault(r); err != nil {
			d.Fatal(err)
		}
	}
}

// clearSandbox removes all faults or the whole journal of the sandbox.
func (d *drill) clearSandbox(what string) {
	d.Helper()
	d.sandbox.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(d.Context(), http.MethodDelete, "http://sandbox/_sandbox/"+what, http.NoBody))
}

// countFaults counts what the sandbox has noted since the last time.
func (d *drill) countFaults() {
	for _, e := range d.sandbox.Journal() {
		d.counts.calls++
		if e.Fault != "" {
			d.counts.faults[e.Fault]++
		}
	}
	d.clearSandbox("journal")
}

// ask calls the service and reads what is under data.
func (d *drill) ask(method, path, body string, into any) int {
	d.Helper()
	status, text := d.call(method, path, body)
	if status >= 500 && status != http.StatusServiceUnavailable {
		d.Fatalf("%s %s: got %d want no fault of ours: %s", method, path, status, text)
	}
	v := struct {
		Data any `json:"data"`
	}{into}
	if status < 300 && into != nil {
		if err := json.Unmarshal(text, &v); err != nil {
			d.Fatalf("%s %s: %v: %s", method, path, err, text)
		}
	}
	return status
}

// state is what a drill looks at of a connection.
type state struct {
	ID       string         `json:"id"`
	Status   string         `json:"status"`
	Accounts []accountState `json:"accounts"`
	Sync     struct {
		State string         `json:"state"`
		Last  string         `json:"last_run_id"`
		Next  *clock.Instant `json:"next_run_at"`
	} `json:"sync"`
}

// accountState is an account.
type accountState struct {
	ID       string `json:"external_id"`
	Platform string `json:"platform"`
	Enabled  bool   `json:"enabled"`
}

func (d *drill) state() (s state) {
	d.Helper()
	if status := d.ask(http.MethodGet, "/v1/connections/"+d.id, "", &s); status != http.StatusOK {
		d.Fatalf("get connection: got %d want 200", status)
	}
	return s
}

// connect connects the sandbox and has it synced twice a day. The short form
// reads as few days again as it can.
func (d *drill) connect() {
	d.Helper()
	var s state
	body := fmt.Sprintf(`{"platform":"sandbox","name":"Drill","config":{"timezone":%q}}`, zone)
	if status := d.ask(http.MethodPost, "/v1/connections", body, &s); status != http.StatusCreated {
		d.Fatalf("connect: got %d want 201", status)
	}
	d.id = s.ID
	change := `{"sync":{"interval_minutes":720,"lookback_days":3}}`
	if isFull() {
		change = `{"sync":{"interval_minutes":360}}`
	}
	if status := d.ask(http.MethodPatch, "/v1/connections/"+d.id, change, nil); status != http.StatusOK {
		d.Fatalf("set interval: got %d want 200", status)
	}
}

// cancelSkipped cancels runs that there is no time for.
func (d *drill) cancelSkipped() {
	d.Helper()
	if len(d.skip) > 0 {
		d.cancel(func(r syncRun) bool { return slices.Contains(d.skip, r.Trigger) })
	}
}

// cancel cancels the chosen ones of the runs that have not ended, and returns
// how many have not.
func (d *drill) cancel(chosen func(syncRun) bool) int {
	d.Helper()
	var list []syncRun
	d.ask(http.MethodGet, "/v1/connections/"+d.id+"/syncs?status=queued,running,waiting", "", &list)
	for _, r := range list {
		if chosen(r) {
			d.ask(http.MethodPost, "/v1/syncs/"+r.ID+"/cancel", "", nil)
		}
	}
	return len(list)
}

// repairConnection does what a person would: it grants access anew, and switches accounts
// on again that the platform had lost. Faults strike here too.
func (d *drill) repairConnection() {
	d.Helper()
	d.cancelSkipped()
	for range 50 {
		s := d.state()
		if s.Status == "reauth_required" {
			d.counts.reconnects++
			if status := d.ask(http.MethodPost, "/v1/connections/"+d.id+"/reconnect", "", nil); status == http.StatusServiceUnavailable {
				d.advance(time.Hour)
			}
			continue
		}
		var off []string
		for _, a := range s.Accounts {
			if !a.Enabled {
				off = append(off, fmt.Sprintf(`{"external_id":%q,"enabled":true}`, a.ID))
			}
		}
		if len(off) == 0 {
			return
		}
		d.counts.switched += len(off)
		d.ask(http.MethodPatch, "/v1/connections/"+d.id, `{"accounts":[`+strings.Join(off, ",")+`]}`, nil)
	}
	d.Fatalf("the connection could not be mended: %+v", d.state())
}

// requestSync asks for a sync of some kind.
func (d *drill) requestSync(today clock.Date) {
	d.Helper()
	first, most, kinds := today-clock.Date(d.r.IntN(initialDays)), 5, 2
	if isFull() {
		most, kinds = 30, 3
	}
	body := []string{"", fmt.Sprintf(`{"mode":"backfill","start_date":%q,"end_date":%q}`, first, first+clock.Date(d.r.IntN(most))), `{"mode":"full"}`}[d.r.IntN(kinds)]
	if status := d.ask(http.MethodPost, "/v1/connections/"+d.id+"/sync", body, nil); status == http.StatusAccepted {
		d.counts.manual++
	}
}

// today is the day in the zone of the accounts.
func (d *drill) today() clock.Date {
	d.Helper()
	return d.dayOf(d.sandbox.Now())
}

func (d *drill) dayOf(at time.Time) clock.Date {
	d.Helper()
	z, err := clock.Zone(zone)
	if err != nil {
		d.Fatal(err)
	}
	return clock.DateIn(at, z)
}

// firstCompared is the first day that is compared in the end: of all that the first
// sync reads, or of some.
func (d *drill) firstCompared() clock.Date {
	d.Helper()
	if isFull() {
		return d.today() - initialDays + 1
	}
	return d.today() - 20
}

// syncRun is a sync run.
type syncRun struct {
	ID      string `json:"id"`
	Trigger string `json:"trigger"`
	Status  string `json:"status"`
	Totals  struct {
		Written int64 `json:"records_written"`
	} `json:"totals"`
	Window struct {
		First clock.Date `json:"start_date"`
		Last  clock.Date `json:"end_date"`
	} `json:"window"`
	Streams []struct {
		Slices int `json:"slices_total"`
	} `json:"streams"`
	Started  *clock.Instant `json:"started_at"`
	Finished *clock.Instant `json:"finished_at"`
	Drift    []any          `json:"drift"`
	Error    any            `json:"error"`
}

// finalSync asks for all days once more, without faults.
func (d *drill) finalSync(first clock.Date) (r syncRun) {
	d.Helper()
	body := fmt.Sprintf(`{"mode":"backfill","start_date":%q,"end_date":%q}`, first, d.today())
	if status := d.ask(http.MethodPost, "/v1/connections/"+d.id+"/sync", body, &r); status != http.StatusAccepted {
		d.Fatalf("last sync: got %d want 202", status)
	}
	return r
}

// hasEnded says whether a run has ended.
func (r *syncRun) hasEnded() bool {
	return r.Status != "queued" && r.Status != "running" && r.Status != "waiting"
}

// readRun reads a run.
func (d *drill) readRun(id string) (r syncRun) {
	d.Helper()
	if status := d.ask(http.MethodGet, "/v1/syncs/"+id, "", &r); status != http.StatusOK {
		d.Fatalf("get run: got %d want 200", status)
	}
	return r
}

// runs counts all runs by how they ended, and the rows that they wrote.
func (d *drill) runs() (ended map[string]int, rows int64) {
	d.Helper()
	ended = map[string]int{}
	for path := "/v1/connections/" + d.id + "/syncs?limit=100"; path != ""; {
		status, text := d.call(http.MethodGet, path, "")
		var list struct {
			Data []syncRun `json:"data"`
			Next *string   `json:"next_cursor"`
		}
		if err := json.Unmarshal(text, &list); err != nil || status != http.StatusOK {
			d.Fatalf("list runs: got %d %v want 200: %s", status, err, text)
		}
		for _, r := range list.Data {
			ended[r.Status]++
			rows += r.Totals.Written
		}
		path = ""
		if list.Next != nil {
			path = "/v1/connections/" + d.id + "/syncs?limit=100&cursor=" + *list.Next
		}
	}
	return ended, rows
}

// report prints what a drill went through.
func (d *drill) report(days, compared int) {
	d.Helper()
	d.countFaults()
	struck := 0
	for _, n := range d.counts.faults {
		struck += n
	}
	c := &d.counts
	ended, rows := d.runs()
	d.Logf("%d days: %d calls, %d of them struck by %d kinds of faults %v; runs %v (%d asked for), %d rows written; %d times access granted anew, %d accounts switched on again, %d kills, %d stops; %d sums equal to the truth",
		days, c.calls, struck, len(c.faults), c.faults, ended, c.manual, rows, c.reconnects, c.switched, c.kills, c.stops, compared)
}
