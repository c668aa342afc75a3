package postgres_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fanfare/internal/metrics/metricstest"
	"fanfare/internal/metrics/postgres"
	"fanfare/internal/store/pgtest"
)

// TestRollingExpand runs a node of this release while one of a later release
// expands the tables: it goes on, with the statements that it has prepared. Another
// node of this release starts, dumps all facts and replaces them.
func TestRollingExpand(t *testing.T) {
	t.Parallel()
	ctx, url := t.Context(), pgtest.URL(t)
	start := func() *postgres.Engine {
		t.Helper()
		e, err := postgres.Open(ctx, url, postgres.Options{Now: time.Now, NewID: "fct_test"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = e.Close() })
		e.SumSmallMonths()
		return e
	}
	first := start()
	metricstest.Compare(t, &summingEngine{Engine: first}, 1, 12, 16, func() { pgtest.Expand(t, url, "public") })
	second := start()
	var dump bytes.Buffer
	if err := second.Dump(ctx, &dump); err != nil {
		t.Fatal(err)
	}
	workspaces, err := second.Workspaces(ctx)
	if err != nil || len(workspaces) == 0 {
		t.Fatalf("got %d workspaces, %v", len(workspaces), err)
	}
	want, err := second.State(ctx, workspaces[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Replace(ctx, "fct_second", func(e *postgres.Engine) error { return e.Fill(ctx, &dump) }); err != nil {
		t.Fatal(err)
	}
	for _, e := range []*postgres.Engine{first, second, start()} {
		id, err := e.CurrentID(ctx)
		got, failed := e.State(ctx, workspaces[0])
		if diff := cmp.Diff(want.Sources, got.Sources); diff != "" || err != nil || failed != nil || id != "fct_second" {
			t.Errorf("got id %s, %v, %v: %s", id, err, failed, diff)
		}
	}
}
