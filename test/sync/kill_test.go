package sync_test

import (
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"fanfare/internal/clock"
	"fanfare/test/program"
)

// maxWait limits every wait; no test depends on how long something takes.
const maxWait = 10 * time.Minute

// programDrill is a drill on the real program, which restarts with a later time
// after each end.
type programDrill struct {
	*drill
	ahead  atomic.Int64
	data   string
	server *program.Server
	key    string
}

// TestDrillKill syncs for two days, or sixty, while the program is killed and
// restarted some hours later.
func TestDrillKill(t *testing.T) {
	t.Parallel()
	d := newProgramDrill(t)
	days := 60
	if !isFull() {
		days, d.skip = 2, []string{"backfill"}
	}
	d.begin()
	d.connect()
	first := d.firstCompared()
	d.addFaults()
	for end := d.sandbox.Now().Add(time.Duration(days) * 24 * time.Hour); d.sandbox.Now().Before(end); {
		d.runUntilKilled()
	}
	d.clearSandbox("faults")
	// A run that met a fault can still disable an account, so it must end
	// first.
	d.waitUntil(func() bool { return d.cancel(func(syncRun) bool { return true }) == 0 })
	d.repairConnection()
	r := d.finalSync(first)
	d.waitUntil(func() bool {
		r = d.readRun(r.ID)
		return r.hasEnded()
	})
	if r.Status != "succeeded" || len(r.Drift) > 0 {
		t.Fatalf("last run: got %+v want succeeded without drift", r)
	}
	n := d.compareWithTruth(first, d.today())
	d.report(days, n)
	d.server.Stop()
}

func newProgramDrill(t *testing.T) *programDrill {
	t.Helper()
	d := &programDrill{data: t.TempDir() + "/data"}
	d.ahead.Store(int64(time.Until(startTime)))
	d.drill = newDrill(t, func() time.Time { return time.Now().Add(time.Duration(d.ahead.Load())) })
	d.advance = d.restartLater
	d.call = func(method, path, body string) (int, []byte) {
		d.Helper()
		status, text := d.server.Call(d.key, method, path, body)
		return status, []byte(text)
	}
	return d
}

func (d *programDrill) start() {
	d.Helper()
	d.server = program.Start(d.T, program.Options{
		Data: d.data, ClockOffset: time.Duration(d.ahead.Load()), Args: []string{"--sandbox", d.url},
		Env: []string{"FANFARE_LIMITS=starter=0/0/0,growth=0/0/0,enterprise=0/0/0"},
	})
}

// begin starts the program for the first time and creates a workspace.
func (d *programDrill) begin() {
	d.Helper()
	d.start()
	out := d.server.Run("workspace", "create", "--name", "Drill", "--owner", "owner@example.com", "--plan", "enterprise", "--json")
	var made struct {
		Key string `json:"api_key"`
	}
	if err := json.Unmarshal([]byte(out.Out), &made); err != nil || made.Key == "" {
		d.Fatalf("make a workspace: %v %+v", err, out)
	}
	d.key = made.Key
}

// runUntilKilled lets the program run until it is killed at a random call to a
// platform or is idle, and restarts it some hours later. So the drill waits for
// no throttled platform.
func (d *programDrill) runUntilKilled() {
	d.Helper()
	enough := make(chan struct{})
	left := atomic.Int64{}
	left.Store(int64(1 + d.r.IntN(150)))
	told := func(string) {
		if left.Add(-1) == 0 {
			close(enough)
		}
	}
	d.onCall.Store(&told)
	d.repairConnection()
	if d.r.IntN(3) == 0 {
		d.requestSync(d.today())
	}
	killed := false
	d.waitUntil(func() bool {
		select {
		case <-enough:
			killed = true
			return true
		default:
			return d.isIdle()
		}
	})
	if killed {
		// Right after a call it is being answered; a little later the program
		// is anywhere.
		<-time.After(time.Duration(d.r.IntN(30_000)) * time.Microsecond)
		d.counts.kills++
		d.server.Kill()
	}
	d.onCall.Store(nil)
	d.countFaults()
	d.restartLater(6*time.Hour + time.Duration(d.r.Int64N(int64(12*time.Hour))))
}

// restartLater restarts the program at a later time; it may have ended.
func (d *programDrill) restartLater(by time.Duration) {
	d.Helper()
	if !d.server.Ended() {
		d.counts.stops++
		d.server.Stop()
	}
	d.ahead.Add(int64(by))
	d.start()
}

// isIdle reports whether nothing happens before the clock is moved.
func (d *programDrill) isIdle() bool {
	d.Helper()
	s := d.state()
	if s.Status == "reauth_required" || s.Sync.State == "idle" && s.Sync.Next != nil && *s.Sync.Next > clock.At(d.sandbox.Now()) {
		return true
	}
	var list []syncRun
	d.ask(http.MethodGet, "/v1/connections/"+d.id+"/syncs?status=waiting", "", &list)
	return len(list) > 0
}

// waitUntil polls until a condition is true.
func (d *programDrill) waitUntil(done func() bool) {
	d.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(maxWait); !done(); <-tick.C {
		if time.Now().After(end) {
			d.Fatalf("nothing came of it within %s: %+v", maxWait, d.state())
		}
	}
}
