package clickhouse_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"fanfare/internal/analytics"
	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/metrics/clickhouse"
	"fanfare/internal/metrics/clickhouse/chtest"
	"fanfare/internal/store/pgtest"
)

const workspace = ident.ID("wks_1")

var (
	monday = clock.MakeDate(2026, 11, 2)
	source = &fact.Source{Connection: "con_1", Platform: "meta", Account: "1", Currency: "EUR", Zone: "UTC"}
)

// installation is an engine with both its databases and a clock.
type installation struct {
	*clickhouse.Engine
	t                  *testing.T
	facts, postgresURL string
	now                time.Time
}

func install(t *testing.T, facts, postgresURL string) *installation {
	t.Helper()
	i := &installation{t: t, facts: facts, postgresURL: postgresURL, now: time.Date(2026, time.November, 17, 12, 0, 0, 0, time.UTC)}
	var err error
	i.Engine, err = clickhouse.Open(t.Context(), facts, clickhouse.Options{Postgres: postgresURL, Now: func() time.Time { return i.now }, NewID: "fct_" + t.Name()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = i.Close() })
	return i
}

// replace writes rows with some clicks on days from Monday on, as a window.
func (i *installation) replace(clicks ...int64) error {
	b := &fact.Batch{Workspace: workspace, Replace: []fact.Window{{Source: source, First: monday, Last: monday + 60}}}
	for d, n := range clicks {
		r := fact.Row{Source: source, Date: monday + clock.Date(d), Channel: "social"}
		r.Values.Set(fact.Clicks, n)
		b.Rows = append(b.Rows, r)
	}
	return i.Write(i.t.Context(), b)
}

func (i *installation) must(err error) {
	i.t.Helper()
	if err != nil {
		i.t.Fatal(err)
	}
}

// wantClicks compares the sum of all clicks.
func (i *installation) wantClicks(want int64) {
	i.t.Helper()
	groups, err := i.Query(i.t.Context(), everything())
	if err != nil {
		i.t.Fatal(err)
	}
	if len(groups) != 1 || groups[0].Sums[0].N != want {
		i.t.Errorf("got %+v want %d clicks", groups, want)
	}
}

func everything() *analytics.Plan {
	return &analytics.Plan{
		Workspace: workspace, First: clock.MakeDate(1990, 1, 1), Last: monday + 100, Granularity: analytics.Whole, Measures: []fact.Measure{fact.Clicks}, Currency: "EUR", MaxGroups: 10,
	}
}

// stored counts the rows in ClickHouse, whether they count or not.
func (i *installation) stored() (n int) {
	i.t.Helper()
	if _, err := fmt.Sscan(i.ask("SELECT count() FROM facts_base"), &n); err != nil {
		i.t.Fatal(err)
	}
	return n
}

func (i *installation) ask(text string) string {
	i.t.Helper()
	u, err := url.Parse(strings.TrimPrefix(i.facts, "clickhouse+"))
	i.must(err)
	values := url.Values{"query": {text}, "database": {strings.Trim(u.Path, "/")}}
	req, err := http.NewRequestWithContext(i.t.Context(), http.MethodPost, "http://"+u.Host+"/?"+values.Encode(), http.NoBody)
	i.must(err)
	res, err := http.DefaultClient.Do(req)
	i.must(err)
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	i.must(err)
	if res.StatusCode != http.StatusOK {
		i.t.Fatalf("%s: %s", text, b)
	}
	return string(b)
}

// postgres runs statements in the engine's schema.
func (i *installation) postgres(statements ...string) {
	i.t.Helper()
	c, err := pgx.Connect(i.t.Context(), i.postgresURL)
	i.must(err)
	defer func() { _ = c.Close(context.Background()) }()
	for _, text := range append([]string{"SET search_path = fanfare_clickhouse"}, statements...) {
		_, err := c.Exec(i.t.Context(), text)
		i.must(err)
	}
}

// TestFailedSwitch wants a write whose facts are stored and whose transaction
// fails to change nothing, and its facts to be deleted later.
func TestFailedSwitch(t *testing.T) {
	t.Parallel()
	i := install(t, chtest.URL(t), pgtest.URL(t))
	i.must(i.replace(1, 2, 3))
	i.postgres("CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$",
		"CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON metrics_slot DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse()")
	if err := i.replace(10, 20); err == nil {
		t.Fatal("got no error")
	}
	i.wantClicks(6)
	if n := i.stored(); n != 5 {
		t.Errorf("stored: got %d rows want those of both writes", n)
	}
	i.postgres("DROP TRIGGER refuse ON metrics_slot")
	i.must(i.replace(100, 200))
	i.wantClicks(300)
	i.must(i.Clean(t.Context()))
	if n := i.stored(); n != 7 {
		t.Errorf("stored: got %d rows want all, because they could still be read", n)
	}
	i.now = i.now.Add(3 * time.Hour)
	i.must(i.Clean(t.Context()))
	if n := i.stored(); n != 2 {
		t.Errorf("stored after cleaning: got %d rows want 2", n)
	}
	i.wantClicks(300)
}

// TestOtherDatabase wants an engine to refuse facts that its list of slots does
// not belong to.
func TestOtherDatabase(t *testing.T) {
	t.Parallel()
	facts, lists := chtest.URL(t), pgtest.URL(t)
	i := install(t, facts, lists)
	i.must(i.replace(1))
	id := idOf(t, i)
	for what, o := range map[string]struct{ facts, lists, want string }{
		"an empty ClickHouse": {chtest.URL(t), lists, "is empty"},
		"another PostgreSQL":  {facts, pgtest.URL(t), "belongs to another"},
	} {
		e, err := clickhouse.Open(t.Context(), o.facts, clickhouse.Options{Postgres: o.lists, Now: time.Now, NewID: "fct_other"})
		if err == nil {
			_ = e.Close()
			t.Errorf("%s: got no error", what)
		} else if !strings.Contains(err.Error(), o.want) {
			t.Errorf("%s: got %v want %q", what, err, o.want)
		}
	}
	again := install(t, facts, lists)
	again.wantClicks(1)
	if got := idOf(t, again); got != id || id == "" {
		t.Errorf("got id %s want %s", got, id)
	}
}

// TestManyDays has more slots than one parameter, and more months than a server
// accepts in one insert by default.
func TestManyDays(t *testing.T) {
	t.Parallel()
	i := install(t, chtest.URL(t), pgtest.URL(t))
	const days = 7000
	b := &fact.Batch{Workspace: workspace}
	for d := range days {
		r := fact.Row{Source: source, Date: monday - clock.Date(d), Channel: "social", Campaign: fact.Entity{ExternalID: fmt.Sprint(d), Name: fmt.Sprint("Campaign ", d)}}
		r.Values.Set(fact.Clicks, int64(d))
		b.Rows = append(b.Rows, r)
	}
	i.must(i.Write(t.Context(), b))
	i.wantClicks(days * (days - 1) / 2)
	p := everything()
	p.Where = &analytics.Condition{Dimension: "campaign_name", Op: analytics.NotEqual, Values: []string{"Campaign 5"}}
	groups, err := i.Query(t.Context(), p)
	if err != nil || len(groups) != 1 || groups[0].Sums[0].N != days*(days-1)/2-5 {
		t.Errorf("got %+v, %v", groups, err)
	}
}

// TestLostFacts wants an answer to be refused if some of its facts are gone.
func TestLostFacts(t *testing.T) {
	t.Parallel()
	i := install(t, chtest.URL(t), pgtest.URL(t))
	i.must(i.replace(1, 2, 3))
	i.ask(fmt.Sprintf("ALTER TABLE facts_base DELETE WHERE day = %d SETTINGS mutations_sync = 1", monday+1))
	_, err := i.Query(t.Context(), everything())
	wantUnavailable(t, "query", err)
	if err := i.Dump(t.Context(), io.Discard); err == nil || !strings.Contains(err.Error(), "2 facts of 3") {
		t.Errorf("dump: got %v", err)
	}
	i.must(i.replace(4))
	i.wantClicks(4)
}

func wantUnavailable(t *testing.T, what string, err error) {
	t.Helper()
	if f, ok := errors.AsType[*fault.Error](err); !ok || f.Code != fault.Unavailable {
		t.Errorf("%s: got %v want an unavailable fault", what, err)
	}
}

// TestDrillKill kills the server again and again while it stores facts. A write
// that returned an error must have changed nothing, and any other must be there.
func TestDrillKill(t *testing.T) {
	t.Parallel()
	rounds := 4
	if os.Getenv("FANFARE_DRILL") == "full" {
		rounds = 200
	}
	dir, lists, database := t.TempDir(), pgtest.URL(t), ""
	want, failed := int64(0), 0
	for round := range rounds {
		server, err := chtest.Start(dir)
		if err != nil {
			t.Fatal(err)
		}
		if database == "" {
			facts, err := server.NewDatabase(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			database = facts[strings.LastIndex(facts, "/")+1:]
		}
		i := install(t, server.URL(database), lists)
		if round > 0 {
			i.wantClicks(want)
		}
		killed := make(chan struct{})
		for n := range round%3 + 2 {
			clicks := int64(1000*round + n + 1)
			if n == round%3+1 {
				go func() {
					defer close(killed)
					defer server.Kill()
					// In every second round the facts are stored when the server dies.
					for round%2 == 1 && i.ask(fmt.Sprintf("SELECT count() FROM facts_base WHERE clicks = %d", clicks)) == "0\n" {
						runtime.Gosched()
					}
				}()
			}
			if err := i.replace(clicks, clicks, clicks); err == nil {
				want = 3 * clicks
			} else {
				wantUnavailable(t, "write", err)
				failed++
			}
		}
		<-killed
		i.must(i.Close())
		if t.Failed() {
			t.Fatalf("round %d", round)
		}
	}
	t.Logf("%d of %d last writes failed", failed, rounds)
}

// TestKill kills the engine and wants queries and writes to be unavailable, and
// everything acknowledged to be there afterwards.
func TestKill(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server, err := chtest.Start(dir)
	if err != nil {
		t.Fatal(err)
	}
	facts, err := server.NewDatabase(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	lists := pgtest.URL(t)
	i := install(t, facts, lists)
	i.must(i.replace(1, 2, 3))
	server.Kill()
	_, err = i.Query(t.Context(), everything())
	wantUnavailable(t, "query", err)
	wantUnavailable(t, "write", i.replace(7))
	if server, err = chtest.Start(dir); err != nil {
		t.Fatal(err)
	}
	defer server.Kill()
	i = install(t, server.URL(facts[strings.LastIndex(facts, "/")+1:]), lists)
	i.wantClicks(6)
	i.must(i.replace(9))
	i.wantClicks(9)
}

// idOf returns the id of the facts.
func idOf(t *testing.T, e interface {
	CurrentID(ctx context.Context) (string, error)
},
) string {
	t.Helper()
	id, err := e.CurrentID(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return id
}
