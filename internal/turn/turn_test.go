package turn

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	"fanfare/internal/ident"
)

// TestTurns wants one at a time, and a workspace with one piece of work to wait
// for one of another at most.
func TestTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		turns := New(1)
		var order []ident.ID
		next := make(chan struct{})
		work := func(workspace ident.ID) {
			release, err := turns.Take(t.Context(), workspace)
			if err != nil {
				t.Error(err)
				return
			}
			order = append(order, workspace)
			<-next
			release()
		}
		for range 5 {
			go work("many")
			synctest.Wait()
		}
		go work("one")
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		for _, workspace := range []ident.ID{"many", "gone"} {
			go func() {
				if _, err := turns.Take(ctx, workspace); err == nil {
					t.Errorf("got a turn for %s that was given up", workspace)
				}
			}()
		}
		synctest.Wait()
		cancel()
		synctest.Wait()
		for range 6 {
			next <- struct{}{}
			synctest.Wait()
		}
		if want := []ident.ID{"many", "one", "many", "many", "many", "many"}; !slices.Equal(order, want) {
			t.Errorf("got %v want %v", order, want)
		}
		if len(turns.queues) != 0 || len(turns.places) != 0 {
			t.Errorf("got %d queues and %d places in use want none", len(turns.queues), len(turns.places))
		}
	})
}
