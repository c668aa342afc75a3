package duckdb

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"fanfare/internal/ident"
)

// TestGate sees that workspaces take turns however many queries one of them
// has waiting, and that who gives up costs nobody a place.
func TestGate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate(1)
		if err := g.enter(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		entered := make(chan ident.ID, 10)
		queue := func(ctx context.Context, w ident.ID) {
			go func() {
				if err := g.enter(ctx, w); err == nil {
					entered <- w
				} else if !errors.Is(err, context.Canceled) {
					t.Errorf("enter: got %v want %v", err, context.Canceled)
				}
			}()
			synctest.Wait()
		}
		ctx, giveUp := context.WithCancel(t.Context())
		queue(t.Context(), "a")
		queue(t.Context(), "a")
		queue(t.Context(), "a")
		queue(t.Context(), "b")
		queue(ctx, "c")
		giveUp()
		synctest.Wait()
		var got []ident.ID
		for range 4 {
			g.leave()
			got = append(got, <-entered)
		}
		if want := []ident.ID{"a", "b", "a", "a"}; !slices.Equal(got, want) {
			t.Errorf("got %v want %v", got, want)
		}
		g.leave()
		if g.free != 1 || len(g.turns) != 0 || len(g.waiting) != 0 {
			t.Errorf("afterwards: got %d free, %v, %v want 1 and nobody", g.free, g.turns, g.waiting)
		}
	})
}
