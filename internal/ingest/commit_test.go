package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fanfare/internal/body"
	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/ingest"
	"fanfare/internal/record"
)

var threeDays = csvOf("date,clicks,spend", "2026-11-01,1,1.5", "2026-11-02,2,2.5", "2026-11-03,3,3.5")

func TestCommitAndUndo(t *testing.T) {
	t.Parallel()
	w := newFakeDeps(t)
	i := w.uploaded(t, ingest.Upload{Name: "days.csv", Bytes: threeDays})
	if i.Status != ingest.StatusReady || len(w.rows) > 0 || string(i.Preview.Totals["spend"]) != "7.5" || i.Preview.StartDate.String() != "2026-11-01" || i.Preview.EndDate.String() != "2026-11-03" {
		t.Fatalf("got %+v want a preview of 7.5 and no fact", i)
	}
	once := cause
	once.Idempotency = &record.Idempotency{Key: "commit"}
	d, err := w.Commit(t.Context(), once, i.ID, record.Match{}, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	i = decoded(t, d)
	if i.Status != ingest.StatusCommitted || *i.RowsWritten != 3 || len(w.rows) != 3 || *i.ConnectionID != "con_csv_days" || i.UndoUntil.Time() != today.Add(ingest.UndoTime) || i.Version != 2 {
		t.Errorf("got %+v want committed", i)
	}
	if string(w.answers["commit"]) != string(d.JSON) {
		t.Errorf("got %s remembered want the committed import", w.answers["commit"])
	}
	want := []string{"put", "save ready", "source days/default", "save committing", "begin", "write 3", "fed 3", "save committed"}
	if !slices.Equal(w.steps, want) {
		t.Errorf("got %v want %v", w.steps, want)
	}
	if _, err := w.Commit(t.Context(), cause, i.ID, record.Match{}, ingest.Options{}); !fault.Is(err, fault.InvalidState) {
		t.Errorf("got %v want invalid_state", err)
	}

	// An upload of the same bytes is reported as a duplicate.
	once.Idempotency = &record.Idempotency{Key: "upload"}
	d, err = w.Upload(t.Context(), once, ingest.Upload{Name: "days.csv", Bytes: threeDays, Defaults: home, Commit: true})
	if err != nil {
		t.Fatal(err)
	}
	again := decoded(t, d)
	if string(w.answers["upload"]) != string(d.JSON) {
		t.Errorf("got %s remembered want the committed import", w.answers["upload"])
	}
	if again.DuplicateOf == nil || *again.DuplicateOf != i.ID || len(w.rows) != 3 || again.Status != ingest.StatusCommitted {
		t.Errorf("got %+v and %d rows want a duplicate of %s and 3", again, len(w.rows), i.ID)
	}
	if other := w.uploaded(t, ingest.Upload{Name: "days.csv", Bytes: threeDays, Source: "other"}); other.DuplicateOf != nil {
		t.Errorf("got a duplicate of %s for another source", *other.DuplicateOf)
	}

	d, err = w.Undo(t.Context(), cause, again.ID, record.Match{})
	if err != nil {
		t.Fatal(err)
	}
	if i = decoded(t, d); i.Status != ingest.StatusUndone || i.UndoneAt == nil || len(w.rows) != 0 {
		t.Errorf("got %+v and %d rows want undone and none", i, len(w.rows))
	}
	if _, err := w.Undo(t.Context(), cause, again.ID, record.Match{}); !fault.Is(err, fault.InvalidState) {
		t.Errorf("got %v want invalid_state", err)
	}
	if want := []string{"import.created", "import.committed", "import.created", "import.committed", "import.created", "import.undone"}; !slices.Equal(w.events, want) {
		t.Errorf("got %v want %v", w.events, want)
	}
}

func TestUndoUntil(t *testing.T) {
	t.Parallel()
	w := newFakeDeps(t)
	i := w.uploaded(t, ingest.Upload{Bytes: threeDays, Commit: true})
	w.now = today.Add(ingest.UndoTime + time.Millisecond)
	_, err := w.Undo(t.Context(), cause, i.ID, record.Match{})
	if !fault.Is(err, fault.InvalidState) || details(err)[0].Meta["undo_expires_at"] == nil || len(w.rows) != 3 {
		t.Errorf("got %v want invalid_state with undo_expires_at", err)
	}
	w.now = today.Add(ingest.UndoTime)
	if _, err := w.Undo(t.Context(), cause, i.ID, record.Match{}); err != nil || len(w.rows) != 0 {
		t.Errorf("got %v and %d rows want none", err, len(w.rows))
	}
}

// TestCrash stops a commit and an undo at every step. Repeating them must lead to
// the same result.
func TestCrash(t *testing.T) {
	t.Parallel()
	crash := errors.New("crash")
	for _, step := range []string{"source", "save", "begin", "write", "written", "fed", "exist"} {
		t.Run("commit "+step, func(t *testing.T) {
			t.Parallel()
			w := newFakeDeps(t)
			i := w.uploaded(t, ingest.Upload{Bytes: threeDays})
			w.fail[step] = crash
			if _, err := w.Commit(t.Context(), cause, i.ID, record.Match{}, ingest.Options{}); step != "exist" && !errors.Is(err, crash) {
				t.Fatalf("got %v want %v", err, crash)
			}
			w.fail = nil
			d, err := w.Commit(t.Context(), cause, i.ID, record.Match{}, ingest.Options{})
			if step == "exist" { // there is nothing to look up
				return
			}
			if err != nil || decoded(t, d).Status != ingest.StatusCommitted || len(w.rows) != 3 {
				t.Errorf("got %v, %d rows want committed and 3", err, len(w.rows))
			}
		})
	}
	for _, step := range []string{"begin", "undo", "fed", "save"} {
		t.Run("undo "+step, func(t *testing.T) {
			t.Parallel()
			w := newFakeDeps(t)
			i := w.uploaded(t, ingest.Upload{Bytes: threeDays, Commit: true})
			w.fail[step] = crash
			if _, err := w.Undo(t.Context(), cause, i.ID, record.Match{}); !errors.Is(err, crash) {
				t.Fatalf("got %v want %v", err, crash)
			}
			w.fail = nil
			d, err := w.Undo(t.Context(), cause, i.ID, record.Match{})
			if err != nil || decoded(t, d).Status != ingest.StatusUndone || len(w.rows) != 0 {
				t.Errorf("got %v, %d rows want undone and none", err, len(w.rows))
			}
		})
	}
	t.Run("between", func(t *testing.T) {
		t.Parallel()
		w := newFakeDeps(t)
		i := w.uploaded(t, ingest.Upload{Bytes: threeDays})
		w.fail["written"] = crash
		_, _ = w.Commit(t.Context(), cause, i.ID, record.Match{}, ingest.Options{})
		w.fail = nil
		if _, err := w.update(t, i.ID, `{"source":"other"}`); !fault.Is(err, fault.InvalidState) {
			t.Errorf("got %v want invalid_state: facts may be there", err)
		}
		if _, err := w.Undo(t.Context(), cause, i.ID, record.Match{}); err != nil || len(w.rows) != 0 {
			t.Errorf("got %v and %d rows want none", err, len(w.rows))
		}
	})
}

// TestUndoDuringCommit undoes an import between its facts and its record.
func TestUndoDuringCommit(t *testing.T) {
	t.Parallel()
	w := newFakeDeps(t)
	i := w.uploaded(t, ingest.Upload{Bytes: threeDays})
	meanwhile := false
	w.during = func(step string) {
		if step != "fed 3" || meanwhile {
			return
		}
		meanwhile = true
		if _, err := w.Undo(t.Context(), cause, i.ID, record.Match{}); err != nil {
			t.Error(err)
		}
		w.rows["late"] = fact.Row{} // as if the write had come last
		w.by["late"] = i.ID
	}
	_, err := w.Commit(t.Context(), cause, i.ID, record.Match{}, ingest.Options{})
	if !fault.Is(err, fault.InvalidState) || len(w.rows) != 0 || !meanwhile {
		t.Errorf("got %v and %d rows want invalid_state and none", err, len(w.rows))
	}
}

func TestSkipErrors(t *testing.T) {
	t.Parallel()
	w := newFakeDeps(t)
	i := w.uploaded(t, ingest.Upload{Bytes: csvOf("date,clicks", "2026-11-01,1", "2026-11-02,x"), Commit: true})
	if i.Status != ingest.StatusReady || i.Preview.ErrorCount != 1 {
		t.Fatalf("got %s with %d errors want ready with 1", i.Status, i.Preview.ErrorCount)
	}
	_, err := w.Commit(t.Context(), cause, i.ID, record.Match{}, ingest.Options{})
	if !fault.Is(err, fault.InvalidState) || details(err)[0].Meta["error_count"] != 1 || !strings.Contains(err.Error(), "skip_errors") {
		t.Errorf("got %v want invalid_state that tells of skip_errors", err)
	}
	d, err := w.Commit(t.Context(), cause, i.ID, record.Match{}, ingest.Options{SkipErrors: true})
	if err != nil || *decoded(t, d).RowsWritten != 1 {
		t.Errorf("got %v want 1 row", err)
	}
	bad := w.uploaded(t, ingest.Upload{Bytes: csvOf("date,clicks", "2026-11-02,x")})
	if _, err := w.Commit(t.Context(), cause, bad.ID, record.Match{}, ingest.Options{SkipErrors: true}); !fault.Is(err, fault.InvalidState) {
		t.Errorf("got %v want invalid_state: there is no row", err)
	}
}

func TestReplaceImport(t *testing.T) {
	t.Parallel()
	w := newFakeDeps(t)
	w.uploaded(t, ingest.Upload{Source: "s", Bytes: csvOf("date,campaign_name,clicks", "2026-11-01,a,1", "2026-11-02,b,1", "2026-11-05,c,1"), Commit: true})
	w.uploaded(t, ingest.Upload{Source: "s", Bytes: csvOf("date,campaign_name,clicks", "2026-11-01,d,1", "2026-11-03,e,1"), Mode: ingest.Replace, Commit: true})
	var left []string
	for _, r := range w.rows {
		left = append(left, r.Campaign.Name)
	}
	slices.Sort(left)
	if got := strings.Join(left, ""); got != "cde" {
		t.Errorf("got %s want cde", got)
	}
}

// update sends a merge patch.
func (w *fakeDeps) update(t testing.TB, id ident.ID, patch string, match ...string) (*ingest.Import, error) {
	t.Helper()
	v, err := body.Parse([]byte(patch))
	if err != nil {
		t.Fatal(err)
	}
	d, err := w.Update(context.Background(), cause, id, record.ParseMatch(match), &v)
	if err != nil {
		return nil, err
	}
	return decoded(t, d), nil
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	w := newFakeDeps(t)
	i := w.uploaded(t, ingest.Upload{Bytes: csvOf("when;what;one;two;clicks", "01/02/2026;A;1.234;7;1", "03/04/2026;B;5.678;8;1")})
	if i.Status != ingest.StatusNeedsMapping || i.Error.Field != "mapping" {
		t.Fatalf("got %s, %+v want needs_mapping", i.Status, i.Error)
	}
	r, err := w.update(t, i.ID, `{"mapping":{"when":"date","what":"campaign_name","one":"spend"}}`)
	if err != nil || r.Status != ingest.StatusNeedsMapping || r.Error.Field != "date_format" {
		t.Fatalf("got %+v, %v want a question about date_format", r, err)
	}
	if _, err := w.Commit(t.Context(), cause, i.ID, record.Match{}, ingest.Options{}); !fault.Is(err, fault.InvalidState) {
		t.Errorf("got %v want invalid_state", err)
	}
	r, err = w.update(t, i.ID, `{"date_format":"DD/MM/YYYY","decimal":".","currency":"CHF","mode":"replace","source":"till"}`)
	if err != nil || r.Status != ingest.StatusReady || r.Error != nil || r.Version != 3 {
		t.Fatalf("got %+v, %v want ready", r, err)
	}
	if got, want := string(r.Preview.Rows[0]), `{"date":"2026-02-01","account_id":"default","channel":"other","external_campaign_id":"A","campaign_name":"A","clicks":1,"spend":1.234}`; got != want {
		t.Errorf("got %s want %s", got, want)
	}
	if r, err = w.update(t, i.ID, `{"decimal":",","mapping":{"two":"clicks","what":null},"date_format":"DD/MM/YYYY"}`); err != nil {
		t.Fatal(err)
	}
	if got, want := string(r.Preview.Rows[0]), `{"date":"2026-02-01","account_id":"default","channel":"other","clicks":7,"spend":1234}`; got != want || r.Currency != "CHF" || r.Mode != ingest.Replace || r.Source != "till" {
		t.Errorf("got %s, %+v want %s", got, r, want)
	}
	columns := ""
	for n := range ingest.MaxColumns {
		columns += fmt.Sprintf(`"c%d":1,`, n)
	}
	for patch, want := range map[string]string{
		`{"mapping":{"whne":"date"}}`:               "mapping.whne not_found",
		`{"mapping":{"when":"day"}}`:                "mapping.when invalid_value",
		`{"mapping":{"one":"leads","two":"leads"}}`: "mapping.two duplicate_item",
		`{"mapping":{"one":1,"two":["clicks"]}}`:    "mapping.one invalid_type, mapping.two invalid_type",
		`{"mapping":{` + columns + `"d":1}}`:        "mapping too_many_items",
		`{"date_format":"YY"}`:                      "date_format invalid_value",
		`{"decimal":"x"}`:                           "decimal invalid_value",
		`{"source":"","timezone":"Berlin","mode":"x","currency":"x","preview":null,"x":1}`: "source too_short, currency invalid_value, timezone invalid_value, mode invalid_value, preview read_only, x unknown_field",
	} {
		_, err := w.update(t, i.ID, patch)
		var got []string
		for _, d := range details(err) {
			got = append(got, d.Field+" "+d.Code)
		}
		if !fault.Is(err, fault.ValidationFailed) || strings.Join(got, ", ") != want {
			t.Errorf("%.90s: got %v %q want %s", patch, err, got, want)
		}
	}
	match := record.ParseMatch([]string{`"1"`})
	for _, patch := range []string{`{}`, `{"mode":"x"}`} {
		if _, err := w.update(t, i.ID, patch, `"1"`); !fault.Is(err, fault.PreconditionFailed) {
			t.Errorf("%s: got %v want precondition_failed", patch, err)
		}
	}
	if _, err := w.update(t, "imp_01h455vb4pex5vsknk084sn02q", `{"mode":"x"}`); !fault.Is(err, fault.NotFound) {
		t.Errorf("got %v want not_found", err)
	}
	if _, err := w.Commit(t.Context(), cause, i.ID, match, ingest.Options{}); !fault.Is(err, fault.PreconditionFailed) {
		t.Errorf("got %v want precondition_failed", err)
	}
}

// TestUpdateDays checks that another date column is detected again.
func TestUpdateDays(t *testing.T) {
	t.Parallel()
	w := newFakeDeps(t)
	i := w.uploaded(t, ingest.Upload{Bytes: csvOf("when,then,clicks", "2026-11-01,01/13/2026,1")})
	for _, tt := range []struct{ column, want string }{{"when", "2026-11-01"}, {"then", "2026-01-13"}} {
		i, err := w.update(t, i.ID, `{"mapping":{"`+tt.column+`":"date"}}`)
		if err != nil {
			t.Fatal(err)
		}
		if i.Status != ingest.StatusReady || i.Preview.StartDate.String() != tt.want {
			t.Errorf("got %s want %s", previewText(i), tt.want)
		}
	}
}

// TestSweep checks that a file is stored as long as its import can be undone,
// and that an import without a file says so.
func TestSweep(t *testing.T) {
	t.Parallel()
	w := newFakeDeps(t)
	ready := w.uploaded(t, ingest.Upload{Bytes: threeDays})
	w.now = today.Add(ingest.UndoTime)
	if err := w.Sweep(t.Context()); err != nil || len(w.files) != 1 {
		t.Fatalf("got %v and %d files want 1", err, len(w.files))
	}
	w.now = w.now.Add(time.Second)
	if err := w.Sweep(t.Context()); err != nil || len(w.files) != 0 {
		t.Fatalf("got %v and %d files want none", err, len(w.files))
	}
	if _, err := w.update(t, ready.ID, `{"decimal":","}`); !fault.Is(err, fault.InvalidState) {
		t.Errorf("got %v want invalid_state", err)
	}
	if _, err := w.Commit(t.Context(), cause, ready.ID, record.Match{}, ingest.Options{}); !fault.Is(err, fault.InvalidState) {
		t.Errorf("got %v want invalid_state", err)
	}
	d, err := w.Get(t.Context(), workspace, ready.ID)
	if err != nil || decoded(t, d).Status != ingest.StatusFailed || decoded(t, d).Error == nil {
		t.Errorf("got %s, %v want failed with its reason", d.JSON, err)
	}
	if _, err := w.Get(t.Context(), workspace, ident.ID("imp_x")); !fault.Is(err, fault.NotFound) {
		t.Errorf("got %v want not_found", err)
	}
}

// TestResume stops a commit at every step after its start, as a crash would,
// and continues it: with the same facts, once, and without the caller.
func TestResume(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"begin", "write", "written", "fed"} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			w := newFakeDeps(t)
			i := w.uploaded(t, ingest.Upload{Name: "days.csv", Bytes: csvOf("date,clicks,spend", "2026-11-01,1,1.5", "never,2,2.5", "2026-11-03,3,3.5")})
			if err := w.Resume(t.Context(), workspace, i.ID); err != nil || len(w.rows) > 0 {
				t.Fatalf("an import without a commit: %v, %d rows", err, len(w.rows))
			}
			crash := errors.New("crash")
			w.fail = map[string]error{at: crash}
			if _, err := w.Commit(t.Context(), cause, i.ID, record.Match{}, ingest.Options{SkipErrors: true}); !errors.Is(err, crash) {
				t.Fatalf("got %v want a crash", err)
			}
			if want := clock.At(today).Add(time.Minute); w.next[i.ID] != want {
				t.Errorf("the commit is continued at %s want %s", w.next[i.ID], want)
			}
			if err := w.Resume(t.Context(), workspace, i.ID); !errors.Is(err, crash) {
				t.Errorf("got %v want a crash, which is tried again", err)
			}
			w.fail = nil
			for range 2 {
				if err := w.Resume(t.Context(), workspace, i.ID); err != nil {
					t.Fatal(err)
				}
			}
			d, err := w.Get(t.Context(), workspace, i.ID)
			if err != nil {
				t.Fatal(err)
			}
			if i = decoded(t, d); i.Status != ingest.StatusCommitted || *i.RowsWritten != 2 || len(w.rows) != 2 {
				t.Errorf("got %+v and %d rows want committed and 2", i, len(w.rows))
			}
			if n := len(w.events); w.events[n-1] != "import.committed" || w.next[i.ID] != 0 {
				t.Errorf("got %v, next %s", w.events, w.next[i.ID])
			}
		})
	}
	w := newFakeDeps(t)
	if err := w.Resume(t.Context(), workspace, "imp_none"); err != nil {
		t.Errorf("an import that does not exist: %v", err)
	}
}

// TestCommitOnce commits an import on one node while another node is about to
// write it. An import that follows stays the last one.
func TestCommitOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, end := newFakeDeps(t), make(chan struct{})
		slow := ingest.New(ingest.Deps{
			Facts: heldFacts{facts{w}, "", end}, Sources: w, Records: w, Imports: imports{w}, Files: files{w}, Parquet: parquet{w}, Now: w.clock, Random: w,
		})
		earlier := w.uploaded(t, ingest.Upload{Name: "days.csv", Bytes: csvOf("date,clicks", "2026-11-01,1")})
		later := w.uploaded(t, ingest.Upload{Name: "days.csv", Bytes: csvOf("date,clicks", "2026-11-01,2")})
		commit := func(s *ingest.Service, i *ingest.Import) error {
			_, err := s.Commit(t.Context(), cause, i.ID, record.Match{}, ingest.Options{})
			return err
		}
		crash := errors.New("crash")
		w.fail["write"] = crash
		if err := commit(w.Service, earlier); !errors.Is(err, crash) {
			t.Fatalf("got %v want a crash", err)
		}
		delete(w.fail, "write")
		resumed := make(chan error, 1)
		go func() { resumed <- slow.Resume(t.Context(), workspace, earlier.ID) }()
		synctest.Wait()
		for _, i := range []*ingest.Import{earlier, later} {
			if err := commit(w.Service, i); err != nil {
				t.Error(err)
			}
		}
		close(end)
		if err := <-resumed; err != nil {
			t.Error(err)
		}
		for _, r := range w.rows {
			if clicks, _ := r.Values.Get(fact.Clicks); clicks != 2 || len(w.rows) != 1 {
				t.Errorf("got %d clicks in %d rows want those of the later import", clicks, len(w.rows))
			}
		}
	})
}
