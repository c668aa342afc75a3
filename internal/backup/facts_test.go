package backup_test

import (
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fanfare/internal/analytics"
	"fanfare/internal/backup"
	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/metrics/duckdb"
	"fanfare/internal/store/storetest"
)

func facts(t *testing.T) *duckdb.Engine {
	t.Helper()
	e, err := duckdb.Open(t.Context(), t.TempDir(), duckdb.Options{Threads: 1, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// TestFacts checks that facts are restored with the records, and that one
// changed byte in them makes the backup damaged.
func TestFacts(t *testing.T) {
	t.Parallel()
	w := storetest.NewFixture(t, engines["sqlite"](t))
	w.Insert(w.Draft("Counted"))
	day := clock.MakeDate(2026, 11, 14)
	row := fact.Row{Source: &fact.Source{Connection: "con_1", Platform: "api", Account: "a", Currency: "USD", Zone: "UTC"}, Date: day, Channel: "email"}
	row.Values.Set(fact.Spend, 12_345_678)
	before := facts(t)
	if err := before.Write(t.Context(), &fact.Batch{Workspace: w.Workspace, Rows: []fact.Row{row}}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "backup")
	made, err := backup.Create(t.Context(), backup.Parts{Store: w.Raw, Files: w.Files, Facts: before}, path, manifest, quiet)
	if err != nil || made.Facts == 0 {
		t.Fatalf("got %d bytes of facts, %v", made.Facts, err)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".fanfare-*")); err != nil || len(left) > 0 {
		t.Errorf("got %v, %v want nothing left beside the backup", left, err)
	}
	after := facts(t)
	s, err := backup.Restore(t.Context(), backup.Parts{Store: empty(t, "postgres"), Files: folder(t), Facts: after}, path, quiet)
	if err != nil || s.Facts != made.Facts {
		t.Fatalf("got %d bytes of facts, %v want %d", s.Facts, err, made.Facts)
	}
	got, err := after.Query(t.Context(), &analytics.Plan{
		Workspace: w.Workspace, First: day, Last: day, Granularity: analytics.Whole, Measures: []fact.Measure{fact.Spend}, Currency: "USD", MaxGroups: 10,
	})
	if err != nil || len(got) != 1 || got[0].Sums[0].N != 12_345_678 {
		t.Errorf("got %+v, %v want the spend that was written", got, err)
	}
	if _, err := backup.Restore(t.Context(), backup.Parts{Store: empty(t, "sqlite"), Files: folder(t)}, path, quiet); err == nil || !strings.Contains(err.Error(), "nowhere to put") {
		t.Errorf("got %v want a word that the facts would be lost", err)
	}
}

// TestRestoreFacts checks that facts come only from a backup of the same
// installation.
func TestRestoreFacts(t *testing.T) {
	t.Parallel()
	w := storetest.NewFixture(t, engines["sqlite"](t))
	path := filepath.Join(t.TempDir(), "backup")
	if _, err := backup.Create(t.Context(), backup.Parts{Store: w.Raw, Files: w.Files, Facts: facts(t)}, path, manifest, quiet); err != nil {
		t.Fatal(err)
	}
	const other = ident.ID("wks_01h455vb4pex5vsknk084sn02q")
	for _, workspaces := range [][]ident.ID{nil, {other}} {
		if _, err := backup.RestoreFacts(t.Context(), facts(t), workspaces, path, quiet); !fault.Is(err, fault.InvalidState) || !strings.Contains(err.Error(), "of another installation") {
			t.Errorf("into an installation with %v: got %v", workspaces, err)
		}
	}
	if _, err := backup.RestoreFacts(t.Context(), facts(t), []ident.ID{other, w.Workspace}, path, quiet); err != nil {
		t.Errorf("into the same installation: %v", err)
	}
}
