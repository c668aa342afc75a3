// Package sync_test syncs sandbox accounts for weeks of simulated time with all
// kinds of faults, and compares the stored metrics with the exact ones: no day
// lost, none counted twice, to the millionth. It also searches for exposed
// secrets.
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
	"fanfare/internal/store/pgtest"
	"fanfare/test/program"
)

func TestMain(m *testing.M) { pgtest.Main(m, program.Clean) }

const (
	// seedEnv repeats a drill.
	seedEnv = "FANFARE_DRILL_SEED"
	// zone is ahead of UTC, so that its day usually differs.
	zone = "Pacific/Auckland"
	// commonProbability is the probability of faults that any call can have,
	// rareProbability of those that only some calls can.
	commonProbability, rareProbability = 0.05, 0.25
	// initialDays is the number of days of the first sync.
	initialDays = 90
)

func isFull() bool { return os.Getenv("FANFARE_DRILL") == "full" }

// startTime is the time at the start of a drill.
var startTime = time.Date(2026, time.September, 1, 0, 0, 0, 0, time.UTC)

// drill is one connection to a sandbox.
type drill struct {
	*testing.T
	seed    uint64
	r       *rand.Rand
	sandbox *sandbox.Server
	url     string
	// call calls the service.
	call func(method, path, body string) (int, []byte)
	// advance lets time pass.
	advance func(time.Duration)
	id      string
	// onCall, if set, is called for every call to a platform.
	onCall atomic.Pointer[func(path string)]
	// skip are the triggers of runs that are canceled, because a short drill
	// has no time for them.
	skip   []string
	counts struct {
		calls, manual, reconnects, switched, kills, stops, checked, warned int
		faults                                                             map[string]int
	}
}

// newDrill starts a sandbox with the clock now.
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
			(*told)(r.URL.Path)
		}
		d.sandbox.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	d.url = server.URL
	return d
}

// addFaults makes calls fail in every way from now on.
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

// clearSandbox removes all faults or the journal of the sandbox.
func (d *drill) clearSandbox(what string) {
	d.Helper()
	d.sandbox.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(d.Context(), http.MethodDelete, "http://sandbox/_sandbox/"+what, http.NoBody))
}

// countFaults counts the faults in the journal since the last time.
func (d *drill) countFaults() {
	for _, e := range d.sandbox.Journal() {
		d.counts.calls++
		if e.Fault != "" {
			d.counts.faults[e.Fault]++
		}
	}
	d.clearSandbox("journal")
}

// ask calls the service and decodes the data.
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

// state is the part of a connection that a drill reads.
type state struct {
	ID string `json:"id"`
	// Authorize is where a person grants access.
	Authorize string         `json:"authorization_url"`
	Status    string         `json:"status"`
	Reason    any            `json:"status_reason"`
	Accounts  []accountState `json:"accounts"`
	Sync      struct {
		State string         `json:"state"`
		Error any            `json:"last_error"`
		Last  string         `json:"last_run_id"`
		Next  *clock.Instant `json:"next_run_at"`
		// Lookback is for how many days metrics may change.
		Lookback int64 `json:"lookback_days"`
	} `json:"sync"`
}

// accountState is an account of the connection.
type accountState struct {
	ID       string `json:"external_id"`
	Platform string `json:"platform"`
	Enabled  bool   `json:"enabled"`
	Reports  []struct {
		Report string      `json:"report"`
		Last   *clock.Date `json:"end_date"`
	} `json:"reports"`
}

func (d *drill) state() (s state) {
	d.Helper()
	if status := d.ask(http.MethodGet, "/v1/connections/"+d.id, "", &s); status != http.StatusOK {
		d.Fatalf("get connection: got %d want 200", status)
	}
	return s
}

// connect connects the sandbox with two syncs per day. The short form reads as
// few days again as possible.
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

// cancelSkipped cancels runs that the drill has no time for.
func (d *drill) cancelSkipped() {
	d.Helper()
	if len(d.skip) > 0 {
		d.cancel(func(r syncRun) bool { return slices.Contains(d.skip, r.Trigger) })
	}
}

// cancel cancels the chosen unfinished runs and returns how many are
// unfinished.
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

// repairConnection does what a user would: it reconnects, and enables accounts
// again that the platform had disabled. Calls can fail here too.
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

// requestSync requests a random kind of sync.
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

// today returns the day in the time zone of the accounts.
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

// firstCompared returns the first day of the final comparison: the first of the
// initial sync, or a later one in the short form.
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

// finalSync syncs all days once more without faults.
func (d *drill) finalSync(first clock.Date) (r syncRun) {
	d.Helper()
	body := fmt.Sprintf(`{"mode":"backfill","start_date":%q,"end_date":%q}`, first, d.today())
	if status := d.ask(http.MethodPost, "/v1/connections/"+d.id+"/sync", body, &r); status != http.StatusAccepted {
		d.Fatalf("last sync: got %d want 202", status)
	}
	return r
}

// hasEnded reports whether a run has ended.
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

// runs returns the number of runs by result, and the rows that they wrote.
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

// report prints the counts of a drill.
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
