package clickhouse_test

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"fanfare/internal/metrics"
	"fanfare/internal/metrics/clickhouse"
	"fanfare/internal/metrics/clickhouse/chtest"
	"fanfare/internal/metrics/metricstest"
	"fanfare/internal/metrics/postgres"
	"fanfare/internal/store/pgtest"
)

func openPostgres(t *testing.T) metrics.Engine {
	t.Helper()
	e, err := postgres.Open(t.Context(), pgtest.URL(t), postgres.Options{Now: time.Now, NewID: "fct_test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

// TestMoves moves facts from PostgreSQL to ClickHouse and back, and wants the same
// answers everywhere, also after an import is undone.
func TestMoves(t *testing.T) {
	t.Parallel()
	w := metricstest.NewGenerator(5)
	engines := []metrics.Engine{openPostgres(t), open(t), openPostgres(t)}
	for range 8 {
		if err := engines[0].Write(t.Context(), w.Batch()); err != nil {
			t.Fatal(err)
		}
	}
	for i := range engines[1:] {
		var dump bytes.Buffer
		if err := engines[i].Dump(t.Context(), &dump); err != nil {
			t.Fatal(err)
		}
		if err := engines[i+1].Fill(t.Context(), &dump); err != nil {
			t.Fatal(err)
		}
	}
	workspace, imported := w.Import()
	for range 2 {
		for range 8 {
			p := w.Plan()
			want, wantErr := engines[0].Query(t.Context(), p)
			for i, e := range engines[1:] {
				got, err := e.Query(t.Context(), p)
				if d := metricstest.Diff(got, want); d != "" || (err == nil) != (wantErr == nil) {
					t.Errorf("after move %d: %v want %v\n%s", i+1, err, wantErr, d)
				}
			}
		}
		for i, e := range engines {
			if _, err := e.Undo(t.Context(), workspace, imported); err != nil {
				t.Fatalf("engine %d: %v", i, err)
			}
		}
	}
}

// TestReadsDuringWrites reads while others write, on two nodes, and wants every
// answer to be one of the written states.
func TestReadsDuringWrites(t *testing.T) {
	t.Parallel()
	facts, lists := chtest.URL(t), pgtest.URL(t)
	writer, reader := install(t, facts, lists), install(t, facts, lists)
	writer.must(writer.replace(7, 7, 7))
	done := make(chan error)
	go func() {
		var err error
		for n := int64(1); n <= 12 && err == nil; n++ {
			// Days come and go; the sum of each state is 21 × n.
			err = writer.replace([][]int64{{7 * n, 7 * n, 7 * n}, {21 * n}}[n%2]...)
		}
		done <- err
	}()
	last, answers := int64(0), 0
	for {
		groups, err := reader.Query(t.Context(), everything())
		if err != nil {
			t.Fatal(err)
		}
		if len(groups) != 1 || groups[0].Sums[0].N%21 != 0 || groups[0].Sums[0].N < last {
			t.Fatalf("got %+v after %d", groups, last)
		}
		last, answers = groups[0].Sums[0].N, answers+1
		select {
		case err := <-done:
			if err != nil || answers == 0 {
				t.Fatalf("%d answers, %v", answers, err)
			}
			reader.wantClicks(12 * 21)
			return
		default:
		}
	}
}

// TestReplace replaces all facts, wants a failed attempt to change nothing, and the
// old facts to be deleted later.
func TestReplace(t *testing.T) {
	t.Parallel()
	facts, lists := chtest.URL(t), pgtest.URL(t)
	i, other := install(t, facts, lists), install(t, facts, lists)
	i.must(i.replace(1, 2, 3))
	other.wantClicks(6)
	refused := errors.New("refused")
	fill := func(err error) func(e *clickhouse.Engine) error {
		return func(e *clickhouse.Engine) error {
			next := &installation{Engine: e, t: t}
			next.must(next.replace(10, 20))
			next.wantClicks(30)
			return err
		}
	}
	if err := i.Replace(t.Context(), "fct_new", fill(refused)); !errors.Is(err, refused) {
		t.Fatalf("got %v want %v", err, refused)
	}
	other.wantClicks(6)
	i.must(i.Replace(t.Context(), "fct_new", fill(nil)))
	i.wantClicks(30)
	other.wantClicks(30)
	i.must(other.replace(40))
	i.wantClicks(40)
	for _, e := range []*installation{i, other} {
		e.now = e.now.Add(3 * time.Hour)
		e.must(e.Clean(t.Context()))
	}
	if n := i.stored(); n != 1 {
		t.Errorf("stored after cleaning: got %d rows want 1", n)
	}
	i.wantClicks(40)
	id, err := clickhouse.ReadID(t.Context(), lists)
	if list, _ := i.Workspaces(t.Context()); err != nil || id != "fct_new" || idOf(t, i) != id || len(list) != 1 || list[0] != workspace {
		t.Errorf("got id %s and %s, workspaces %v, %v", id, idOf(t, i), list, err)
	}
}
