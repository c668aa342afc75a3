// Package crash_test kills the real server, and the database under it, while 64
// clients write over HTTPS, restarts it, and compares the data with what was
// acknowledged.
package crash_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"fanfare/internal/metrics/clickhouse/chtest"
	"fanfare/internal/store/pgtest"
	"fanfare/test/program"
)

func TestMain(m *testing.M) {
	chtest.Serve()
	pgtest.Main(m, program.Clean)
}

const (
	writers = 64
	// maxWait bounds every wait; nothing depends on how long it takes.
	maxWait = 10 * time.Minute
	// seedEnv repeats a drill.
	seedEnv = "FANFARE_DRILL_SEED"
)

// kills is how often each engine's server is killed.
func kills() int {
	if os.Getenv("FANFARE_DRILL") == "full" {
		return 50
	}
	return 2
}

// drill is one data folder through all its crashes.
type drill struct {
	t      *testing.T
	seed   uint64
	r      *rand.Rand
	data   string
	env    []string
	key    string
	server *program.Server
	// postgres is the database server, nil for SQLite.
	postgres                 *pgtest.Server
	postgresDir, postgresURL string
	// records are all that were acknowledged or found.
	records []*campaign
	counts  drillCounts
}

type drillCounts struct {
	mu                                      sync.Mutex
	acked, open, openDone, replayed, killed int
}

func (f *drillCounts) add(n *int, by int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	*n += by
}

func newDrill(t *testing.T) *drill {
	d := &drill{t: t, seed: rand.Uint64(), data: t.TempDir() + "/data"}
	if text := os.Getenv(seedEnv); text != "" {
		var err error
		if d.seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("%s: %v", seedEnv, err)
		}
	}
	d.r = rand.New(rand.NewPCG(d.seed, 0))
	d.env = []string{"FANFARE_LIMITS=starter=0/0/0,growth=0/0/0,enterprise=0/0/0"}
	return d
}

func TestDrillKillSQLite(t *testing.T) {
	t.Parallel()
	d := newDrill(t)
	d.runRounds()
}

func TestDrillKillPostgres(t *testing.T) {
	t.Parallel()
	d := newDrill(t)
	d.usePostgres()
	d.runRounds()
}

// usePostgres starts a PostgreSQL for the drill.
func (d *drill) usePostgres() {
	d.t.Helper()
	var err error
	if d.postgresDir, err = os.MkdirTemp("", "fanfare-crash-"); err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() {
		if d.postgres != nil {
			_ = d.postgres.Stop()
		}
		_ = os.RemoveAll(d.postgresDir)
	})
	d.startPostgres()
	if d.postgresURL, err = d.postgres.CreateDatabase("crash"); err != nil {
		d.t.Fatal(err)
	}
	d.env = append(d.env, "FANFARE_STORE="+d.postgresURL)
}

func (d *drill) startPostgres() {
	d.t.Helper()
	var err error
	if d.postgres, err = pgtest.Start(d.postgresDir, true); err != nil {
		d.t.Fatal(err)
	}
}

func (d *drill) start() {
	d.t.Helper()
	d.server = program.Start(d.t, program.Options{Data: d.data, Env: d.env})
}

// runRounds runs the whole drill.
func (d *drill) runRounds() {
	d.t.Helper()
	d.firstStart()
	for round := range kills() {
		d.round(round)
		if d.t.Failed() {
			d.t.Fatalf("seed %d, round %d", d.seed, round)
		}
	}
	d.server.Stop()
	d.checkStore()
	f := &d.counts
	d.t.Logf("seed %d: %d kills (%d of them of PostgreSQL too), %d acknowledged writes of %d records, 0 lost; %d writes in flight at a kill, %d of them found done; %d answers replayed",
		d.seed, kills(), f.killed, f.acked, len(d.records), f.open, f.openDone, f.replayed)
}

// firstStart starts the server for the first time and creates a workspace.
func (d *drill) firstStart() {
	d.t.Helper()
	d.start()
	out := d.server.Run("workspace", "create", "--name", "Drill", "--owner", "owner@example.com", "--plan", "enterprise", "--json")
	var made struct {
		Key string `json:"api_key"`
	}
	if err := json.Unmarshal([]byte(out.Out), &made); err != nil || made.Key == "" {
		d.t.Fatalf("make a workspace: %v %+v", err, out)
	}
	d.key = made.Key
}

// round writes until the server is killed, and checks after the restart.
func (d *drill) round(n int) {
	d.t.Helper()
	b := &writeBurst{drill: d, limit: int64(64 + d.r.IntN(300)), enough: make(chan struct{})}
	for i := range writers {
		b.writers = append(b.writers, &writer{
			burst: b, name: fmt.Sprintf("r%dw%d", n, i), r: rand.New(rand.NewPCG(d.seed, uint64(1+n*writers+i))), client: d.client(i%2 == 0),
		})
	}
	var group sync.WaitGroup
	for _, w := range b.writers {
		group.Go(w.run)
	}
	select {
	case <-b.enough:
	case <-time.After(maxWait):
		d.t.Errorf("seed %d: only %d writes were acknowledged within %s", d.seed, b.acked.Load(), maxWait)
	}
	// Right after an answer most other calls have just been sent; a little
	// later they are in any state.
	<-time.After(time.Duration(d.r.IntN(30_000)) * time.Microsecond)
	restart := func() {}
	if d.postgres != nil && n%2 == 0 {
		restart = d.killPostgres()
	}
	d.server.Kill()
	group.Wait()
	restart()
	d.start()
	d.checkBurst(b)
}

// killPostgres kills the database and returns what starts it again.
func (d *drill) killPostgres() (restart func()) {
	d.t.Helper()
	if err := d.postgres.Kill(); err != nil {
		d.t.Fatal(err)
	}
	d.counts.add(&d.counts.killed, 1)
	return d.startPostgres
}
