package fairqueue

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fanfare/internal/fault"
	"fanfare/internal/ident"
)

// waiters takes turns in the background of a test and records their order.
type waiters struct {
	t *testing.T
	*Queue
	order []ident.ID
	end   chan struct{}
}

// add takes a turn for each workspace, one after the other. Each keeps its
// place until step.
func (c *waiters) add(workspaces ...ident.ID) { c.addIn(c.t.Context(), workspaces...) }

// addInBackground is add for work in the background.
func (c *waiters) addInBackground(workspaces ...ident.ID) {
	c.addIn(InBackground(c.t.Context()), workspaces...)
}

func (c *waiters) addIn(ctx context.Context, workspaces ...ident.ID) {
	for _, workspace := range workspaces {
		go func() {
			leave, err := c.Take(ctx, workspace, time.Hour)
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
func (c *waiters) step(n int) {
	for range n {
		c.end <- struct{}{}
		synctest.Wait()
	}
}

// want compares the order in which work began and expects nothing to be left.
func (c *waiters) want(want ...ident.ID) {
	c.t.Helper()
	if !slices.Equal(c.order, want) {
		c.t.Errorf("got order %v want %v", c.order, want)
	}
	for _, r := range []*class{&c.requests, &c.background} {
		if c.free != c.limits.Running || len(c.running) != 0 || r.running != 0 || len(r.waiting) != 0 || len(r.founders.byID) != 0 || r.founders.withWork != 0 {
			c.t.Errorf("got %d free places, %v running and %+v want an empty queue", c.free, c.running, *r)
		}
	}
}

func withWaiters(t *testing.T, l Limits, test func(c *waiters)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		test(&waiters{t: t, Queue: New(l, founderOf), end: make(chan struct{})})
	})
}

// founderOf has workspaces of one founder that differ behind a slash.
func founderOf(_ context.Context, workspace ident.ID) (ident.ID, error) {
	founder, _, _ := strings.Cut(string(workspace), "/")
	if founder == "" {
		return "", errNoFounder
	}
	return ident.ID(founder), nil
}

var errNoFounder = errors.New("no founder")

// TestTurns wants turns to alternate, and a workspace that has had none to come
// before those that have, however much they have waiting.
func TestTurns(t *testing.T) {
	withWaiters(t, Limits{Work: "jobs", Running: 1, PerWorkspace: 10}, func(c *waiters) {
		c.add("many", "many", "many", "many", "more", "more", "more", "one")
		c.step(2)
		c.add("late")
		c.step(7)
		c.want("many", "one", "more", "late", "more", "many", "more", "many", "many")
	})
}

// TestManyWorkspaces wants a founder to have no more turns with several
// workspaces than another with one, and those workspaces to take turns.
func TestManyWorkspaces(t *testing.T) {
	withWaiters(t, Limits{Work: "jobs", Running: 1, PerWorkspace: 10}, func(c *waiters) {
		c.add("ada/1", "ada/1", "ada/2", "ada/3", "ada/4", "eve", "eve", "eve")
		c.step(8)
		c.want("ada/1", "eve", "eve", "ada/2", "eve", "ada/3", "ada/4", "ada/1")
	})
}

// TestFewWaiting wants one call of a caller that is new to come before those of
// callers with many, which are new too, and the same among the workspaces of a
// founder.
func TestFewWaiting(t *testing.T) {
	withWaiters(t, Limits{Work: "jobs", Running: 1, PerWorkspace: 10}, func(c *waiters) {
		c.add("a", "b", "b", "c", "c", "d")
		c.step(6)
		c.want("a", "d", "b", "c", "b", "c")
		c.order = nil
		c.add("eve/1", "eve/2", "eve/2", "eve/3", "eve/3", "eve/4")
		c.step(6)
		c.want("eve/1", "eve/4", "eve/2", "eve/3", "eve/2", "eve/3")
	})
}

// TestLastPlaceOfFounder wants the last place not to go to another workspace of
// the founder that has all others.
func TestLastPlaceOfFounder(t *testing.T) {
	withWaiters(t, Limits{Work: "jobs", Running: 3, PerWorkspace: 10}, func(c *waiters) {
		c.add("ada/1", "ada/2", "ada/3", "eve")
		if want := []ident.ID{"ada/1", "ada/2", "eve"}; !slices.Equal(c.order, want) {
			c.t.Errorf("before anything ended: got %v want %v", c.order, want)
		}
		c.step(4)
		c.want("ada/1", "ada/2", "eve", "ada/3")
	})
}

// TestShortTurns wants a workspace whose turns are short to have all of them
// before another with long ones has its next.
func TestShortTurns(t *testing.T) {
	withWaiters(t, Limits{Work: "jobs", Running: 1, PerWorkspace: 10}, func(c *waiters) {
		c.add("long", "long", "long", "short", "short", "short")
		time.Sleep(time.Second)
		c.step(6)
		c.want("long", "short", "short", "short", "long", "long")
	})
}

// TestGone wants a workspace that went away for a moment not to come before
// another that has used less.
func TestGone(t *testing.T) {
	withWaiters(t, Limits{Work: "jobs", Running: 1, PerWorkspace: 10}, func(c *waiters) {
		c.add("busy", "one", "one")
		time.Sleep(time.Second)
		c.step(1)
		c.add("busy")
		c.step(3)
		c.want("busy", "one", "one", "busy")
	})
}

// TestBackground wants four turns of requests before one of work in the
// background, and work in the background to leave a place to requests.
func TestBackground(t *testing.T) {
	withWaiters(t, Limits{Work: "jobs", Running: 2, PerWorkspace: 10}, func(c *waiters) {
		c.addInBackground("sync/1", "sync/2", "other")
		c.add("a", "b", "c", "d", "e", "f")
		c.step(9)
		c.want("sync/1", "a", "b", "c", "d", "e", "other", "f", "sync/2")
	})
}

// TestNoFounder wants no turn where the founder cannot be found.
func TestNoFounder(t *testing.T) {
	withWaiters(t, Limits{Work: "jobs", Running: 1, PerWorkspace: 1}, func(c *waiters) {
		if _, err := c.Take(c.t.Context(), "/1", time.Hour); !errors.Is(err, errNoFounder) {
			c.t.Errorf("got %v want %v", err, errNoFounder)
		}
		c.add("")
		c.step(1)
		c.want("")
	})
}

// TestForgets wants the founders that are remembered to be a bounded number.
func TestForgets(t *testing.T) {
	t.Parallel()
	q := New(Limits{Work: "jobs", Running: 2, PerWorkspace: 1}, nil)
	leave, err := q.Take(t.Context(), "stays", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2*maxRemembered + 10 {
		leave, err := q.Take(t.Context(), ident.ID(strconv.Itoa(i)), time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		leave()
	}
	if got := len(q.requests.founders.byID); got > maxRemembered+1 {
		t.Errorf("got %d founders remembered want at most %d", got, maxRemembered+1)
	}
	leave()
	if got := len(q.requests.founders.byID); got != 0 {
		t.Errorf("got %d founders remembered without work want none", got)
	}
}

// TestLastPlace checks that one workspace leaves a place to others, so that
// their work begins while all of its own still runs.
func TestLastPlace(t *testing.T) {
	withWaiters(t, Limits{Work: "jobs", Running: 3, PerWorkspace: 10}, func(c *waiters) {
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
	withWaiters(t, Limits{Work: "jobs", Running: 1, PerWorkspace: 2}, func(c *waiters) {
		c.add("many", "many", "one")
		_, err := c.Take(c.t.Context(), "many", time.Hour)
		f, ok := errors.AsType[*fault.Error](err)
		if !ok || f.Code != fault.RateLimitExceeded || f.RetryAfter != time.Second || f.Details[0].Code != "concurrency" || f.Details[0].Meta["limit"] != 2 {
			c.t.Errorf("got %v want rate_limit_exceeded by concurrency", err)
		}
		go func() {
			leave, err := c.Take(InBackground(c.t.Context()), "many", time.Second)
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
	withWaiters(t, Limits{Work: "jobs", Running: 1, PerWorkspace: 10}, func(c *waiters) {
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

// TestYield: a caller gives something away exactly while it waits for a turn, also
// if the turn does not come.
func TestYield(t *testing.T) {
	withWaiters(t, Limits{Work: "jobs", Running: 1, PerWorkspace: 10}, func(c *waiters) {
		given, times := 0, 0
		ctx := WithYield(c.t.Context(), func() func() {
			given++
			times++
			return func() { given-- }
		})
		c.addIn(ctx, "first")
		if times != 0 {
			c.t.Error("given away without a wait")
		}
		c.addIn(ctx, "second")
		if given != 1 {
			c.t.Errorf("got %d given away while waiting want 1", given)
		}
		if _, err := c.Take(ctx, "third", time.Second); !errors.Is(err, fault.ErrBusy) || given != 1 || times != 2 {
			c.t.Errorf("got %v, %d given away, %d in all want busy, 1, 2", err, given, times)
		}
		c.step(1)
		if given != 0 {
			c.t.Errorf("got %d given away after the turn came want 0", given)
		}
		c.step(1)
		c.want("first", "second")
	})
}
