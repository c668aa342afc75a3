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

// patience bounds every wait; nothing depends on how long it takes.
const patience = 3 * time.Minute

// outside is a drill on the real program, which is started anew with another
// time whenever it has ended.
type outside struct {
	*drill
	ahead  atomic.Int64
	data   string
	server *program.Server
	key    string
}

// TestDrillKill syncs for two days, or sixty, while the program is killed in
// the middle of it, and starts it again some hours later.
func TestDrillKill(t *testing.T) {
	t.Parallel()
	d := newOutside(t)
	days := 60
	if !full() {
		days, d.skip = 2, []string{"backfill"}
	}
	d.begin()
	d.connect()
	first := d.first()
	d.spoil()
	for end := d.sandbox.Now().Add(time.Duration(days) * 24 * time.Hour); d.sandbox.Now().Before(end); {
		d.life()
	}
	d.clear("faults")
	// A run that met a fault can still switch an account off: it ends first.
	d.until(func() bool { return d.cancel(func(run) bool { return true }) == 0 })
	d.mend()
	r := d.last(first)
	d.until(func() bool {
		r = d.find(r.ID)
		return r.over()
	})
	if r.Status != "succeeded" || len(r.Drift) > 0 {
		t.Fatalf("last run: got %+v want succeeded without drift", r)
	}
	n := d.compare(first, d.today())
	d.report(days, n)
	d.server.Stop()
}

func newOutside(t *testing.T) *outside {
	t.Helper()
	d := &outside{data: t.TempDir() + "/data"}
	d.ahead.Store(int64(time.Until(start)))
	d.drill = newDrill(t, func() time.Time { return time.Now().Add(time.Duration(d.ahead.Load())) })
	d.pass = d.later
	d.call = func(method, path, body string) (int, []byte) {
		d.Helper()
		status, text := d.server.Call(d.key, method, path, body)
		return status, []byte(text)
	}
	return d
}

func (d *outside) start() {
	d.Helper()
	d.server = program.Start(d.T, program.Options{
		Data: d.data, Ahead: time.Duration(d.ahead.Load()), Args: []string{"--sandbox", d.url},
		Env: []string{"FANFARE_LIMITS=starter=0/0/0,growth=0/0/0,enterprise=0/0/0"},
	})
}

// begin starts the program for the first time and makes a workspace.
func (d *outside) begin() {
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

// life goes on until the program is killed at some call to a platform, or has
// nothing to do, and starts it again some hours later. So nobody waits for a
// platform that wants to be left alone.
func (d *outside) life() {
	d.Helper()
	enough := make(chan struct{})
	left := atomic.Int64{}
	left.Store(int64(1 + d.r.IntN(150)))
	told := func() {
		if left.Add(-1) == 0 {
			close(enough)
		}
	}
	d.watch.Store(&told)
	d.mend()
	if d.r.IntN(3) == 0 {
		d.request(d.today())
	}
	killed := false
	d.until(func() bool {
		select {
		case <-enough:
			killed = true
			return true
		default:
			return d.idle()
		}
	})
	if killed {
		// Right after a call it is being answered; a little later the program
		// is anywhere.
		<-time.After(time.Duration(d.r.IntN(30_000)) * time.Microsecond)
		d.counts.kills++
		d.server.Kill()
	}
	d.watch.Store(nil)
	d.tally()
	d.later(6*time.Hour + time.Duration(d.r.Int64N(int64(12*time.Hour))))
}

// later starts the program at a later time; it may have ended.
func (d *outside) later(by time.Duration) {
	d.Helper()
	if !d.server.Ended() {
		d.counts.stops++
		d.server.Stop()
	}
	d.ahead.Add(int64(by))
	d.start()
}

// idle says whether nothing happens before the clock is moved.
func (d *outside) idle() bool {
	d.Helper()
	s := d.state()
	if s.Status == "reauth_required" || s.Sync.State == "idle" && s.Sync.Next != nil && *s.Sync.Next > clock.At(d.sandbox.Now()) {
		return true
	}
	var list []run
	d.ask(http.MethodGet, "/v1/connections/"+d.id+"/syncs?status=waiting", "", &list)
	return len(list) > 0
}

// until asks again and again.
func (d *outside) until(done func() bool) {
	d.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); !done(); <-tick.C {
		if time.Now().After(end) {
			d.Fatalf("nothing came of it within %s: %+v", patience, d.state())
		}
	}
}
