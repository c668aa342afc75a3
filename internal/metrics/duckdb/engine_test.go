package duckdb_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fanfare/internal/analytics"
	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/metrics"
	"fanfare/internal/metrics/duckdb"
	"fanfare/internal/metrics/metricstest"
)

var (
	start  = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	source = &fact.Source{Connection: "con_1", Platform: "meta", Account: "1", Currency: "EUR", Zone: "UTC"}
	first  = clock.MakeDate(2026, 1, 1)
)

func options(now *time.Time) duckdb.Options {
	return duckdb.Options{Threads: 2, MemoryMB: 512, Now: func() time.Time { return *now }, Log: slog.New(slog.DiscardHandler)}
}

func openFiles(t testing.TB, dir string) *duckdb.Engine {
	t.Helper()
	now := start
	return openAt(t, dir, &now)
}

func openAt(t testing.TB, dir string, now *time.Time) *duckdb.Engine {
	t.Helper()
	e, err := duckdb.Open(t.Context(), dir, options(now))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return e
}

func TestMain(m *testing.M) {
	if dir := os.Getenv("FACTS_OF_CHILD"); dir != "" {
		child(dir)
	}
	os.Exit(m.Run())
}

// child writes facts until it is killed, and prints a line after each batch.
func child(dir string) {
	now := start
	e, err := duckdb.Open(context.Background(), dir, options(&now))
	if err != nil {
		fmt.Fprintln(os.Stdout, err)
		os.Exit(1)
	}
	for i := 1; ; i++ {
		if err := e.Write(context.Background(), batchOf(i)); err != nil {
			os.Exit(1)
		}
		if i%5 == 0 {
			if err := e.Maintain(context.Background()); err != nil {
				os.Exit(1)
			}
		}
		fmt.Fprintln(os.Stdout, strings.Repeat("x", i))
	}
}

// batchOf replaces all facts with ten rows of i clicks.
func batchOf(i int) *fact.Batch {
	b := &fact.Batch{Workspace: "wks_1", Replace: []fact.Window{{Source: source, First: first, Last: first + 99}}}
	for d := range 10 {
		r := fact.Row{Source: source, Date: first + clock.Date(d*(i%9+1)), Channel: fact.Channels[i%5]}
		r.Values.Set(fact.Clicks, int64(i))
		b.Rows = append(b.Rows, r)
	}
	return b
}

// clicks returns the sum of the workspace.
func clicks(t testing.TB, e metrics.Engine) int64 {
	t.Helper()
	groups, err := e.Query(context.Background(), &analytics.Plan{
		Workspace: "wks_1", First: first, Last: first + 364, Granularity: analytics.Whole, Measures: []fact.Measure{fact.Clicks}, MaxGroups: 10,
	})
	if err != nil {
		t.Errorf("query: %v", err)
		return -1
	}
	if len(groups) == 0 {
		return 0
	}
	return groups[0].Sums[0].N
}

func write(t testing.TB, e metrics.Engine, b *fact.Batch) {
	t.Helper()
	if err := e.Write(context.Background(), b); err != nil {
		t.Fatalf("write: %v", err)
	}
}

func TestEngine(t *testing.T) {
	t.Parallel()
	metricstest.Run(t, func(t testing.TB) metrics.Engine { return openFiles(t, t.TempDir()) })
}

// TestDrillMaintained does the same random work on facts that are sorted and
// summed by months, however few they are.
func TestDrillMaintained(t *testing.T) {
	t.Parallel()
	worlds := uint64(2)
	if os.Getenv("FANFARE_DRILL") == "full" {
		worlds = 100
	}
	summed := 0
	for seed := range worlds {
		e := openFiles(t, t.TempDir())
		e.SumFrom(1)
		metricstest.Compare(t, e, seed+1000, 12, 30, func() {
			if err := e.Maintain(t.Context()); err != nil {
				t.Fatal(err)
			}
			n, err := e.SummedMonths(t.Context(), "wks_one")
			if err != nil {
				t.Fatal(err)
			}
			summed += n
		})
	}
	if summed == 0 {
		t.Error("months summed up: got none want some")
	}
}

// TestReopen checks that all state is in the file.
func TestReopen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	now := start
	for i := range 3 {
		e, err := duckdb.Open(t.Context(), dir, options(&now))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := clicks(t, e), int64(10*i); got != want {
			t.Errorf("clicks after %d times: got %d want %d", i, got, want)
		}
		write(t, e, batchOf(i+1))
		if i == 1 {
			if err := e.Maintain(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestConfined tries to access other files, in a folder whose name tries to break
// out of the setting.
func TestConfined(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "o'b']; SET x = ['")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	secret := filepath.Join(dir, "secret.csv")
	if err := os.WriteFile(secret, []byte("a\n1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	e := openFiles(t, dir)
	quoted := strings.ReplaceAll(dir, "'", "''")
	for _, text := range []string{
		"SELECT * FROM read_csv('" + quoted + "/secret.csv')",
		"SELECT * FROM '" + quoted + "/secret.csv'",
		"SELECT * FROM read_text('" + quoted + "/secret.csv')",
		"SELECT * FROM glob('" + quoted + "/*')",
		"SELECT * FROM read_csv('" + quoted + "/spool/../secret.csv')",
		"COPY (SELECT 1) TO '" + quoted + "/new.csv'",
		"COPY (SELECT 1) TO '" + quoted + "/spool/../new.csv'",
		"ATTACH '" + quoted + "/new.duckdb'",
		"EXPORT DATABASE '" + quoted + "/new'",
		"INSTALL httpfs", "LOAD httpfs", "SELECT * FROM read_csv('https://localhost/x.csv')",
		"SET enable_external_access = true", "SET allowed_directories = ['/']", "SET threads = 1", "RESET lock_configuration", "SET lock_configuration = false",
	} {
		if err := e.Exec(t.Context(), text); err == nil {
			t.Errorf("%s: got no error", text)
		}
	}
	left, err := filepath.Glob(strings.NewReplacer("[", `\[`, "]", `\]`).Replace(dir) + "/new*")
	if err != nil || len(left) > 0 {
		t.Errorf("files outside: got %v, %v want none", left, err)
	}
	if err := e.Exec(t.Context(), "COPY (SELECT 1) TO '"+quoted+"/spool/inside.csv'"); err != nil {
		t.Errorf("inside the spool: %v", err)
	}
}

// TestOpenedTwice checks that a file can be open only once.
func TestOpenedTwice(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := openFiles(t, dir)
	now := start
	if _, err := duckdb.Open(t.Context(), dir, options(&now)); err == nil || !strings.Contains(err.Error(), "already open") {
		t.Errorf("a second time: got %v", err)
	}
	out, err := runChild(t, dir).Output()
	if err == nil || !strings.Contains(string(out), "Conflicting lock") {
		t.Errorf("another process: got %v, %s", err, out)
	}
	write(t, e, batchOf(1))
	if got := clicks(t, e); got != 10 {
		t.Errorf("clicks afterwards: got %d want 10", got)
	}
	if _, err := duckdb.Open(t.Context(), filepath.Join(dir, "what?"), options(&now)); err == nil || !strings.Contains(err.Error(), "question mark") {
		t.Errorf("a question mark: got %v", err)
	}
}

func runChild(t *testing.T, dir string) *exec.Cmd {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0])
	c.Env = append(os.Environ(), "FACTS_OF_CHILD="+dir)
	return c
}

// TestCrashDrill kills the process during writes: every acknowledged batch is
// stored, and no batch in part.
func TestCrashDrill(t *testing.T) {
	t.Parallel()
	rounds := 2
	if os.Getenv("FANFARE_DRILL") == "full" {
		rounds = 40
	}
	dir := t.TempDir()
	for round := range rounds {
		c := runChild(t, dir)
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		acknowledged := 0
		for lines := bufio.NewScanner(out); acknowledged < 4+round%7 && lines.Scan(); {
			acknowledged = len(lines.Text())
		}
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = c.Wait()
		now := start
		e, err := duckdb.Open(t.Context(), dir, options(&now))
		if err != nil {
			t.Fatalf("open after the crash: %v", err)
		}
		if got := clicks(t, e); got < int64(10*acknowledged) || got%10 != 0 {
			t.Errorf("clicks after the crash: got %d want a multiple of ten, at least %d", got, 10*acknowledged)
		}
		write(t, e, batchOf(0))
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestUndoEnds checks that an import is final after thirty days and that what it
// replaced is deleted.
func TestUndoEnds(t *testing.T) {
	t.Parallel()
	now := start
	e := openAt(t, t.TempDir(), &now)
	write(t, e, batchOf(1))
	b := batchOf(2)
	b.Import = "imp_1"
	write(t, e, b)
	now = start.Add(29 * 24 * time.Hour)
	if err := e.Maintain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n, err := e.Undo(t.Context(), "wks_1", "imp_1"); err != nil || n != 10 || clicks(t, e) != 10 {
		t.Fatalf("undo after 29 days: got %d rows, %v, %d clicks want 10, 10", n, err, clicks(t, e))
	}
	b.Import = "imp_2"
	write(t, e, b)
	now = now.Add(31 * 24 * time.Hour)
	if err := e.Maintain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n, err := e.Undo(t.Context(), "wks_1", "imp_2"); err != nil || n != 0 || clicks(t, e) != 20 {
		t.Errorf("undo after 31 days: got %d rows, %v, %d clicks want 0, 20", n, err, clicks(t, e))
	}
	if n, err := e.Count(t.Context(), "SELECT (SELECT count(*) FROM replaced) + (SELECT count(*) FROM cover) + (SELECT count(*) FROM import)"); err != nil || n != 0 {
		t.Errorf("rows kept for undoing: got %d, %v want 0", n, err)
	}
}

// TestKeptStatements checks that a cached statement is planned again: plans
// depend on the statistics of the table.
func TestKeptStatements(t *testing.T) {
	t.Parallel()
	e := openFiles(t, t.TempDir())
	want := []int32{}
	for _, code := range []int32{1, 2, 300, 70_000, 2_000_000_000} {
		if got, err := e.CodesAbove(t.Context(), 0); err != nil || !slices.Equal(got, want) {
			t.Errorf("got %v, %v want %v", got, err, want)
		}
		if err := e.Exec(t.Context(), fmt.Sprintf("INSERT INTO word VALUES (%d, '')", code)); err != nil {
			t.Fatal(err)
		}
		want = append(want, code)
	}
}

// TestInterrupted checks that a running statement ends with its context. It would
// run for hours.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	e := openFiles(t, t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := e.Count(ctx, "SELECT count(*) FROM range(1000000000) a, range(1000000000) b WHERE (a.range * b.range) % 7 = 1")
		ended <- err
	}()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v want %v", err, context.Canceled)
	}
	if _, err := e.Count(t.Context(), "SELECT count(*) FROM base"); err != nil {
		t.Errorf("the connection afterwards: %v", err)
	}
}

// TestDumpLeavesNothing checks that the spool is empty after a dump, failed or
// not.
func TestDumpLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := openFiles(t, dir)
	write(t, e, batchOf(3))
	var dump bytes.Buffer
	if err := e.Dump(t.Context(), &dump); err != nil {
		t.Fatal(err)
	}
	spoolIsEmpty(t, dir)
	r, w := io.Pipe()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if err := e.Dump(t.Context(), w); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("dump to nowhere: got %v want %v", err, io.ErrClosedPipe)
	}
	spoolIsEmpty(t, dir)
}

func spoolIsEmpty(t *testing.T, dir string) {
	t.Helper()
	if left, err := os.ReadDir(filepath.Join(dir, "spool")); err != nil || len(left) > 0 {
		t.Errorf("spool: got %v, %v want nothing", left, err)
	}
}
