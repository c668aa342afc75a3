package metricstest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"fanfare/internal/analytics"
	"fanfare/internal/clock"
	"fanfare/internal/metrics"
)

// full enables the long form.
var full = os.Getenv("FANFARE_DRILL") == "full"

// Run runs all tests on an engine. open returns an empty one and closes it when
// the test ends.
func Run(t *testing.T, open func(t testing.TB) metrics.Engine) {
	t.Helper()
	t.Run("Drill", func(t *testing.T) {
		t.Parallel()
		seeds := uint64(4)
		if full {
			seeds = 250
		}
		for seed := range seeds {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				Compare(t, open(t), seed, 12, 40, nil)
			})
		}
	})
	for name, rule := range rules {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rule(ruleTest{t, open(t)})
		})
	}
	t.Run("DumpAndFill", func(t *testing.T) {
		t.Parallel()
		Move(t, open(t), open(t))
	})
}

// Compare runs the same random work and queries on an engine and on Naive. Each
// query runs several times, and some again after the facts have changed, because
// an engine may cache. between, if set, runs before the queries.
func Compare(t *testing.T, e metrics.Engine, seed uint64, changes, questions int, between func()) {
	t.Helper()
	w, naive := NewGenerator(seed), NewNaive()
	for range changes {
		w.change(t, naive, e)
	}
	if between != nil {
		between()
	}
	var asked []*analytics.Plan
	for i := range questions {
		if i%4 == 0 {
			w.change(t, naive, e)
			sameState(t, w, naive, e)
		}
		p := w.Plan()
		asked = append(asked, p)
		for _, p := range []*analytics.Plan{p, p, p, pick(w.R, asked), pick(w.R, asked)} {
			sameAnswer(t, p, naive, e)
		}
		if t.Failed() {
			t.Fatalf("seed %d, question %d", seed, i)
		}
	}
}

// change does one thing to all engines.
func (w *Generator) change(t *testing.T, engines ...metrics.Engine) {
	t.Helper()
	ctx := t.Context()
	switch n := w.R.IntN(10); {
	case n < 6:
		b := w.Batch()
		for _, e := range engines {
			if err := e.Write(ctx, b); err != nil {
				t.Fatalf("write: %v", err)
			}
		}
	case n < 8:
		workspace, imported := w.Import()
		var gone []int64
		for _, e := range engines {
			n, err := e.Undo(ctx, workspace, imported)
			if err != nil {
				t.Fatalf("undo: %v", err)
			}
			gone = append(gone, n)
		}
		if gone[0] != gone[len(gone)-1] {
			t.Errorf("undo of %s: got %d rows want %d", imported, gone[1], gone[0])
		}
	default:
		workspace, records, through := pick(w.R, w.Workspaces), w.Records(), clock.Instant(1000*w.R.IntN(1000))
		for _, e := range engines {
			if err := e.Mirror(ctx, workspace, records, through); err != nil {
				t.Fatalf("mirror: %v", err)
			}
		}
	}
}

func sameAnswer(t *testing.T, p *analytics.Plan, naive, e metrics.Engine) {
	t.Helper()
	want, wantErr := naive.Query(t.Context(), p)
	got, err := e.Query(t.Context(), p)
	if !errors.Is(err, wantErr) {
		t.Errorf("%s: got error %v want %v", show(p), err, wantErr)
		return
	}
	if d := Diff(got, want); d != "" {
		t.Errorf("%s:\n%s", show(p), d)
	}
}

// show writes a plan without its rates.
func show(p *analytics.Plan) string {
	short := *p
	short.Rates = nil
	where := ""
	if p.Where != nil {
		where = showCondition(p.Where)
		short.Where = nil
	}
	return fmt.Sprintf("%+v where %s", short, where)
}

func showCondition(c *analytics.Condition) string {
	if c.Not != nil {
		return "not " + showCondition(c.Not)
	}
	var parts []string
	for _, c := range slices.Concat(c.And, c.Or) {
		parts = append(parts, showCondition(&c))
	}
	switch {
	case len(c.And) > 0:
		return "(" + strings.Join(parts, " and ") + ")"
	case len(c.Or) > 0:
		return "(" + strings.Join(parts, " or ") + ")"
	}
	return fmt.Sprintf("%s %s %q", c.Dimension, c.Op, c.Values)
}

func sameState(t *testing.T, w *Generator, naive, e metrics.Engine) {
	t.Helper()
	for _, id := range w.Workspaces {
		want, got := state(t, naive, id), state(t, e, id)
		// Engines may raise generations by different amounts.
		want.Generation, got.Generation = 0, 0
		if !reflect.DeepEqual(got, want) {
			t.Errorf("state of %s:\ngot  %+v\nwant %+v", id, got, want)
		}
	}
}

// Move dumps a filled engine into an empty one. Both return the same afterwards,
// and imports can still be undone.
func Move(t *testing.T, from, to metrics.Engine) {
	t.Helper()
	ctx := context.Background()
	w, naive := NewGenerator(77), NewNaive()
	for range 20 {
		w.change(t, naive, from)
	}
	var dump bytes.Buffer
	if err := from.Dump(ctx, &dump); err != nil {
		t.Fatalf("dump: %v", err)
	}
	whole := dump.Bytes()
	for _, part := range [][]byte{nil, whole[:100], whole[:len(whole)/2], whole[:len(whole)-1500]} {
		if err := to.Fill(ctx, bytes.NewReader(part)); err == nil {
			t.Fatalf("fill with %d of %d bytes: got no error", len(part), len(whole))
		}
		if got := state(t, to, w.Workspaces[0]); got.Generation != 0 || len(got.Sources) != 0 {
			t.Fatalf("state after a failed fill: got %+v want nothing", got)
		}
	}
	if err := to.Fill(ctx, bytes.NewReader(whole)); err != nil {
		t.Fatalf("fill: %v", err)
	}
	for _, id := range w.Workspaces {
		if got, want := state(t, to, id), state(t, from, id); !reflect.DeepEqual(got, want) {
			t.Errorf("state of %s after fill:\ngot  %+v\nwant %+v", id, got, want)
		}
	}
	for range 6 {
		w.change(t, naive, from, to)
		sameState(t, w, naive, to)
		for range 4 {
			p := w.Plan()
			sameAnswer(t, p, naive, from)
			sameAnswer(t, p, naive, to)
		}
	}
	if err := to.Fill(ctx, bytes.NewReader(whole)); err == nil {
		t.Error("fill of what is not empty: got no error")
	}
}
