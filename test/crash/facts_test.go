package crash_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/metrics/clickhouse/chtest"
)

// factKills is how often the server is killed while facts are written.
func factKills() int {
	if os.Getenv("FANFARE_DRILL") == "full" {
		return 200
	}
	return 3
}

const (
	rowClients  = 6
	fileClients = 2
	// dayCount is the number of days with rows in a version.
	dayCount = 28
)

// window is a month of an account that one client replaces repeatedly. Every
// row has the number of its version, and versions differ in their number of
// rows, so that a mixture of two is detected.
type window struct {
	account string
	first   clock.Date
	// version is the last acknowledged version.
	version int
	// open is the change of a call that was in flight at the kill, nil for
	// none.
	open        *windowChange
	lastVersion int
}

// windowChange is a call that changes a window to a version.
type windowChange struct {
	version int
	call    call
	// imported is the import that the call commits or undoes, done its status
	// afterwards.
	imported, done string
}

// channelCount is the number of rows per day in a version.
func channelCount(version int) int { return 3 + version%4 }

// rows returns all rows of a version in the format of the API.
func (w *window) rows(version int) []map[string]any {
	var list []map[string]any
	for day := range clock.Date(dayCount) {
		for _, channel := range fact.Channels[:channelCount(version)] {
			list = append(list, map[string]any{
				"date": (w.first + day).String(), "account_id": w.account, "channel": channel, "external_campaign_id": "c-" + channel,
				"campaign_name": fmt.Sprintf("Version %d", version), "impressions": version, "clicks": 1,
			})
		}
	}
	return list
}

// factDrill is a drill on facts.
type factDrill struct {
	*drill
	windows []*window
	// killsDuringMaintenance counts kills by the maintenance that was running.
	killsDuringMaintenance map[string]int
	committed, undone      int
	// clickhouse has the facts, nil if another engine has them.
	clickhouse                        *chtest.Server
	clickhouseDir, clickhouseDatabase string
}

func newFactDrill(t *testing.T) *factDrill {
	d := &factDrill{drill: newDrill(t), killsDuringMaintenance: map[string]int{}}
	for i := range rowClients + fileClients {
		d.windows = append(d.windows, &window{account: fmt.Sprintf("account-%d", i%3), first: clock.MakeDate(2025, time.Month(i+1), 1)})
	}
	return d
}

// TestDrillKillFacts kills the server while windows of facts are replaced,
// files are imported and undone, and the facts file is maintained. After the
// restart each window has the last acknowledged version, or the one of an
// unanswered call: complete, and never older.
func TestDrillKillFacts(t *testing.T) {
	t.Parallel()
	d := newFactDrill(t)
	// Maintenance runs all the time instead of every half minute.
	d.env = append(d.env, "FANFARE_FACTS_CARE=10ms", "FANFARE_LOG_LEVEL=debug")
	d.runRounds()
	t.Logf("kills during maintenance: %v", d.killsDuringMaintenance)
}

// TestDrillKillSharedFacts does the same with facts in a database that nodes
// share. Every other kill also kills a database.
func TestDrillKillSharedFacts(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"postgres", "clickhouse"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			d := newFactDrill(t)
			d.usePostgres()
			if engine == "clickhouse" {
				d.clickhouseDir = t.TempDir()
				d.startClickHouse()
				t.Cleanup(func() { d.clickhouse.Kill() })
			}
			d.runRounds()
		})
	}
}

// startClickHouse starts the engine on its data. Its address changes.
func (d *factDrill) startClickHouse() {
	d.t.Helper()
	var err error
	if d.clickhouse, err = chtest.Start(d.clickhouseDir); err != nil {
		d.t.Fatal(err)
	}
	if d.clickhouseDatabase == "" {
		facts, err := d.clickhouse.NewDatabase(d.t.Context())
		if err != nil {
			d.t.Fatal(err)
		}
		d.clickhouseDatabase = facts[strings.LastIndex(facts, "/")+1:]
	}
	const setting = "FANFARE_METRICS="
	d.env = slices.DeleteFunc(d.env, func(s string) bool { return strings.HasPrefix(s, setting) })
	d.env = append(d.env, setting+d.clickhouse.URL(d.clickhouseDatabase))
}

// killDatabase kills one of the databases in every other round and returns what
// starts it again.
func (d *factDrill) killDatabase(round int) (restart func()) {
	d.t.Helper()
	switch {
	case d.postgres == nil || round%2 == 1:
		return func() {}
	case d.clickhouse != nil && round%4 == 0:
		d.clickhouse.Kill()
		d.counts.add(&d.counts.killed, 1)
		return d.startClickHouse
	}
	return d.killPostgres()
}

// runRounds runs the whole drill.
func (d *factDrill) runRounds() {
	t := d.t
	t.Helper()
	d.firstStart()
	for round := range factKills() {
		d.round(round)
		if t.Failed() {
			t.Fatalf("seed %d, round %d", d.seed, round)
		}
		if (round+1)%20 == 0 {
			// The time limit of a run may end it before the last round.
			t.Logf("%d kills, %d acknowledged replacements: 0 lost or mixed", round+1, d.counts.acked)
		}
	}
	d.server.Stop()
	d.start()
	d.checkWindows()
	f := &d.counts
	t.Logf("seed %d: %d kills (%d of them of a database too), %d acknowledged replacements (%d imports committed, %d undone), 0 lost or mixed; %d calls in flight at a kill, %d of them found done; %d calls asked again",
		d.seed, factKills(), f.killed, f.acked, d.committed, d.undone, f.open, f.openDone, f.replayed)
}

// round writes until the server is killed, and checks after the restart. Every
// other kill waits for a kind of maintenance.
func (d *factDrill) round(n int) {
	d.t.Helper()
	limit, enough := int64(len(d.windows)+d.r.IntN(60)), make(chan struct{})
	var acked atomic.Int64
	var rest atomic.Bool
	var group sync.WaitGroup
	for i, w := range d.windows {
		client, r := d.client(i%2 == 0), rand.New(rand.NewPCG(d.r.Uint64(), 0))
		send := func(c call) (answer, error) {
			a, err := d.sendUntilServed(client, c)
			switch {
			case err != nil || a.status >= 500:
				return a, errServerGone
			case a.status >= 300:
				return a, fmt.Errorf("%s %s: status %d: %s", c.method, c.path, a.status, a.data)
			}
			if acked.Add(1) == limit {
				close(enough)
			}
			return a, nil
		}
		group.Go(func() {
			for !rest.Load() {
				err := d.replace(w, i >= rowClients, r, send)
				if errors.Is(err, errServerGone) {
					return
				}
				if err != nil {
					d.t.Errorf("seed %d: %s: %v", d.seed, w.first, err)
					return
				}
			}
		})
	}
	select {
	case <-enough:
	case <-time.After(maxWait):
		d.t.Errorf("seed %d: only %d calls were acknowledged within %s", d.seed, acked.Load(), maxWait)
	}
	if n%2 == 0 && d.postgres == nil {
		what := []string{"sums", "order", "checkpoint"}[n/2%3]
		// Months are summed up only while no client writes.
		rest.Store(what == "sums")
		d.awaitMaintenance(what)
	} else {
		<-time.After(time.Duration(d.r.IntN(60_000)) * time.Microsecond)
	}
	restart := d.killDatabase(n)
	d.server.Kill()
	group.Wait()
	restart()
	d.counts.add(&d.counts.acked, int(acked.Load()))
	if what, is := lastMaintenance(d.server.Log.String()); is {
		d.killsDuringMaintenance[what]++
	}
	d.start()
	d.checkWindows()
}

// awaitMaintenance waits until the server does this maintenance, but not for
// long: it may already be over.
func (d *factDrill) awaitMaintenance(what string) {
	tick := time.NewTicker(100 * time.Microsecond)
	defer tick.Stop()
	for end := time.Now().Add(maxWait / 20); time.Now().Before(end); <-tick.C {
		if now, unfinished := lastMaintenance(d.server.Log.String()); unfinished && now == what {
			return
		}
	}
}

// lastMaintenance returns the last maintenance in a log, and whether it had
// ended.
func lastMaintenance(log string) (what string, unfinished bool) {
	at := strings.LastIndex(log, "duckdb maintenance")
	if at < 0 {
		return "", false
	}
	line, _, _ := strings.Cut(log[strings.LastIndexByte(log[:at], '\n')+1:], "\n")
	var entry struct {
		Message string `json:"msg"`
		What    string `json:"what"`
	}
	if err := json.Unmarshal([]byte(line), &entry); err != nil {
		return "", false
	}
	return entry.What, entry.Message == "duckdb maintenance started"
}

// replace writes a new version of a window, as rows or as a file; one file in
// three is undone.
func (d *factDrill) replace(w *window, file bool, r *rand.Rand, send func(call) (answer, error)) error {
	// do makes a change and notes how it ended, or that it did not.
	do := func(c *windowChange) error {
		w.open = c
		if _, err := send(c.call); err != nil {
			return err
		}
		w.version, w.open = c.version, nil
		return nil
	}
	before := w.version
	w.lastVersion++
	if !file {
		body, err := json.Marshal(w.rows(w.lastVersion))
		if err != nil {
			return err
		}
		c := call{method: http.MethodPost, body: string(body), key: fmt.Sprintf("%s-%d-%d", w.first, d.seed, w.lastVersion)}
		c.path = fmt.Sprintf("/v1/ingest/metrics?mode=replace&source=drill&start_date=%s&end_date=%s", w.first, w.first+dayCount-1)
		return do(&windowChange{version: w.lastVersion, call: c})
	}
	upload := call{method: http.MethodPost, path: fmt.Sprintf("/v1/imports?mode=replace&source=files&filename=%d.csv", w.lastVersion), media: "text/csv", body: w.csvOf(w.lastVersion)}
	a, err := send(upload)
	if err != nil {
		return err
	}
	made, err := readState(a.data)
	if err != nil {
		return err
	}
	one := "/v1/imports/" + made.ID
	if err := do(&windowChange{version: w.lastVersion, call: call{method: http.MethodPost, path: one + "/commit"}, imported: one, done: "committed"}); err != nil {
		return err
	}
	d.counts.add(&d.committed, 1)
	if r.IntN(3) > 0 {
		return nil
	}
	if err := do(&windowChange{version: before, call: call{method: http.MethodPost, path: one + "/undo"}, imported: one, done: "undone"}); err != nil {
		return err
	}
	d.counts.add(&d.undone, 1)
	return nil
}

// csvOf returns a version as a CSV file.
func (w *window) csvOf(version int) string {
	columns := []string{"date", "account_id", "channel", "external_campaign_id", "campaign_name", "impressions", "clicks"}
	var b strings.Builder
	b.WriteString(strings.Join(columns, ",") + "\n")
	for _, row := range w.rows(version) {
		for i, c := range columns {
			fmt.Fprintf(&b, "%s%v", []string{"", ","}[min(i, 1)], row[c])
		}
		b.WriteString("\n")
	}
	return b.String()
}

// checkWindows checks every window, repeats the calls without an answer, and
// checks again.
func (d *factDrill) checkWindows() {
	d.t.Helper()
	client := d.client(true)
	d.forEach(len(d.windows), func(i int) error {
		w := d.windows[i]
		possible := []int{w.version}
		if w.open != nil {
			possible = append(possible, w.open.version)
		}
		found, err := d.storedVersion(client, w)
		if err != nil {
			return fmt.Errorf("%s: %w", w.first, err)
		}
		if !slices.Contains(possible, found) {
			return fmt.Errorf("%s is of version %d, it can be of %v", w.first, found, possible)
		}
		if w.open == nil {
			return nil
		}
		d.counts.add(&d.counts.open, 1)
		if found == w.open.version {
			d.counts.add(&d.counts.openDone, 1)
		}
		want, err := d.repeatOpenCall(client, w, found)
		if err != nil {
			return fmt.Errorf("%s: %w", w.first, err)
		}
		if found, err = d.storedVersion(client, w); err != nil || found != want {
			return fmt.Errorf("%s asked again: is of version %d, want %d: %w", w.first, found, want, err)
		}
		w.version, w.open = found, nil
		return nil
	})
}

// repeatOpenCall repeats the call that was in flight and returns the stored
// version. Half of the calls with rows are not repeated.
func (d *factDrill) repeatOpenCall(client *http.Client, w *window, found int) (int, error) {
	if w.open.imported == "" && w.lastVersion%2 == 0 {
		return found, nil
	}
	if w.open.imported != "" {
		if done, err := d.isDone(client, w.open); err != nil || done {
			return w.open.version, err
		}
	}
	d.counts.add(&d.counts.replayed, 1)
	a, err := d.sendUntilServed(client, w.open.call)
	if err == nil && a.status == http.StatusConflict && w.open.imported != "" {
		// The start may have finished the import since isDone.
		if done, err := d.isDone(client, w.open); err != nil || done {
			return w.open.version, err
		}
	}
	if err != nil || a.status != http.StatusOK {
		return 0, fmt.Errorf("%s asked again: status %d: %s: %w", w.open.call.path, a.status, a.data, err)
	}
	return w.open.version, nil
}

// isDone reports whether the import has the status that the change gives it.
func (d *factDrill) isDone(client *http.Client, c *windowChange) (bool, error) {
	a, err := d.sendUntilServed(client, call{method: http.MethodGet, path: c.imported})
	if err != nil || a.status != http.StatusOK {
		return false, fmt.Errorf("read import: status %d: %s: %w", a.status, a.data, err)
	}
	s, err := readState(a.data)
	return s.Status == c.done, err
}

// sendUntilServed repeats a call that took too long or found no free place, on a
// machine that is busy with other things.
func (d *factDrill) sendUntilServed(client *http.Client, c call) (a answer, err error) {
	for began := time.Now(); ; {
		a, err = d.sendCall(client, c)
		busy := slices.Contains([]int{http.StatusUnprocessableEntity, http.StatusServiceUnavailable, http.StatusGatewayTimeout}, a.status)
		if !busy || time.Since(began) > maxWait {
			return a, err
		}
	}
}

// storedVersion returns the version of a window. A start finishes the import that
// was being committed, which may be between the two queries of readVersion.
func (d *factDrill) storedVersion(client *http.Client, w *window) (int, error) {
	version, err := d.readVersion(client, w)
	if err != nil && w.open != nil && w.open.imported != "" {
		return d.readVersion(client, w)
	}
	return version, err
}

// readVersion reads the version of a window: all its rows, and the sum over the
// month, which may be precomputed.
func (d *factDrill) readVersion(client *http.Client, w *window) (int, error) {
	rows, err := d.queryWindow(client, w, `"granularity":"day","dimensions":["channel"]`)
	if err != nil {
		return 0, err
	}
	version, n := 0, 0
	for _, r := range rows {
		switch {
		case r.Clicks == 0 && r.Impressions == 0:
			continue // a day without facts
		case r.Clicks != 1 || version != 0 && r.Impressions != version:
			return 0, fmt.Errorf("a row of %d times version %d is beside one of version %d", r.Clicks, r.Impressions, version)
		}
		version = r.Impressions
		n++
	}
	if version == 0 && n == 0 {
		return 0, nil
	}
	if want := dayCount * channelCount(version); n != want {
		return 0, fmt.Errorf("version %d has %d rows, want %d", version, n, want)
	}
	months, err := d.queryWindow(client, w, `"granularity":"month"`)
	if err != nil {
		return 0, err
	}
	if want := (windowValue{n * version, n}); len(months) != 1 || months[0] != want {
		return 0, fmt.Errorf("the month of version %d has %v, want %v", version, months, want)
	}
	return version, nil
}

type windowValue struct {
	Impressions int `json:"impressions"`
	Clicks      int `json:"clicks"`
}

// queryWindow queries the month of a window.
func (d *factDrill) queryWindow(client *http.Client, w *window, how string) ([]windowValue, error) {
	year, month, _ := w.first.Calendar()
	body := fmt.Sprintf(`{"metrics":["impressions","clicks"],%s,"date_range":{"start_date":%q,"end_date":%q},"filters":{"field":"account_id","op":"eq","values":[%q]}}`,
		how, w.first, clock.MakeDate(year, month+1, 1)-1, w.account)
	a, err := d.sendUntilServed(client, call{method: http.MethodPost, path: "/v1/analytics/query", body: body})
	if err != nil || a.status != http.StatusOK {
		return nil, fmt.Errorf("query: status %d: %s: %w", a.status, a.data, err)
	}
	var list []struct {
		Metrics windowValue `json:"metrics"`
	}
	if err := json.Unmarshal(a.data, &list); err != nil {
		return nil, err
	}
	figures := make([]windowValue, len(list))
	for i := range list {
		figures[i] = list[i].Metrics
	}
	return figures, nil
}
