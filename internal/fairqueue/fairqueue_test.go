package fairqueue

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"fanfare/internal/fault"
	"fanfare/internal/ident"
)

// crowd takes turns in the background of a test and records their order.
type crowd struct {
	t *testing.T
	*Queue
	order []ident.ID
	end   chan struct{}
}

// add takes a turn for each workspace, one after the other. Each keeps its
// place until step.
func (c *crowd) add(workspaces ...ident.ID) {
	for _, workspace := range workspaces {
		go func() {
			leave, err := c.Take(c.t.Context(), workspace, time.Hour)
			if err != nil {
				c.t.Error(err)
				return
			}
			c.order = append(c.order, workspace)
			<-c.end
			leave()
		}()
		synctest.Wait()
	}
}

// step ends so many pieces of work, one after the other.
func (c *crowd) step(n int) {
	for range n {
		c.end <- struct{}{}
		synctest.Wait()
	}
}

// want compares the order in which work began and expects nothing to be left.
func (c *crowd) want(want ...ident.ID) {
	c.t.Helper()
	if !slices.Equal(c.order, want) {
		c.t.Errorf("got order %v want %v", c.order, want)
	}
	if c.free != c.limits.Running || len(c.turns) != 0 || len(c.work) != 0 {
		c.t.Errorf("got %d free places, turns %v and %d workspaces want an empty queue", c.free, c.turns, len(c.work))
	}
}

func within(t *testing.T, l Limits, test func(c *crowd)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		test(&crowd{t: t, Queue: New(l), end: make(chan struct{})})
	})
}

// TestTurns wants a workspace with one piece of work to wait for one of each
// other workspace at most, however much they have waiting.
func TestTurns(t *testing.T) {
	within(t, Limits{Work: "jobs", Running: 1, PerWorkspace: 10}, func(c *crowd) {
		c.add("many", "many", "many", "many", "more", "more", "more", "one")
		c.step(2)
		c.add("late")
		c.step(7)
		c.want("many", "more", "one", "many", "more", "late", "many", "more", "many")
	})
}

// TestLastPlace wants one workspace to leave a place to others, so that theirs
// begins while all of its own still runs.
func TestLastPlace(t *testing.T) {
	within(t, Limits{Work: "jobs", Running: 3, PerWorkspace: 10}, func(c *crowd) {
		c.add("many", "many", "many", "many", "one")
		if want := []ident.ID{"many", "many", "one"}; !slices.Equal(c.order, want) {
			c.t.Errorf("before anything ended: got %v want %v", c.order, want)
		}
		c.step(5)
		c.want("many", "many", "one", "many", "many")
	})
}

// TestRefused wants a workspace at its limit to be refused at once, other
// workspaces and work in the background not.
func TestRefused(t *testing.T) {
	within(t, Limits{Work: "jobs", Running: 1, PerWorkspace: 2}, func(c *crowd) {
		c.add("many", "many", "one")
		_, err := c.Take(c.t.Context(), "many", time.Hour)
		f, ok := errors.AsType[*fault.Error](err)
		if !ok || f.Code != fault.RateLimitExceeded || f.RetryAfter != time.Second || f.Details[0].Code != "concurrency" || f.Details[0].Meta["limit"] != 2 {
			c.t.Errorf("got %v want rate_limit_exceeded by concurrency", err)
		}
		go func() {
			leave, err := c.Take(c.t.Context(), "many", 0)
			if err != nil {
				c.t.Errorf("in the background: got %v", err)
				return
			}
			leave()
		}()
		synctest.Wait()
		c.step(3)
		c.want("many", "one", "many")
	})
}

// TestTooLate wants a wait to end in unavailable, and the place of work that
// gave up to go to the next.
func TestTooLate(t *testing.T) {
	within(t, Limits{Work: "jobs", Running: 1, PerWorkspace: 10}, func(c *crowd) {
		c.add("many")
		start := time.Now()
		_, err := c.Take(c.t.Context(), "one", 3*time.Second)
		f, ok := errors.AsType[*fault.Error](err)
		if !ok || f.Code != fault.Unavailable || f.RetryAfter != retryAfter || time.Since(start) != 3*time.Second {
			c.t.Errorf("got %v after %v want unavailable after 3s", err, time.Since(start))
		}
		for _, wait := range []time.Duration{0, time.Hour} {
			ctx, cancel := context.WithCancel(c.t.Context())
			time.AfterFunc(time.Second, cancel)
			if _, err := c.Take(ctx, "gone", wait); !errors.Is(err, context.Canceled) {
				c.t.Errorf("got %v want %v", err, context.Canceled)
			}
			if _, err := c.Take(ctx, "gone", wait); !errors.Is(err, context.Canceled) {
				c.t.Errorf("with an ended context: got %v want %v", err, context.Canceled)
			}
		}
		c.add("one")
		c.step(2)
		c.want("many", "one")
	})
}
