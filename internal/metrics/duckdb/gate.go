package duckdb

import (
	"context"
	"slices"
	"sync"

	"fanfare/internal/ident"
)

// heavyFrom is how many facts make a query a heavy one.
const heavyFrom = 1_000_000

// gate lets as many heavy queries run at once as there are cores; more would
// take as long and make everybody else wait. Workspaces take turns.
type gate struct {
	mu      sync.Mutex
	free    int
	turns   []ident.ID
	waiting map[ident.ID][]chan struct{}
}

func newGate(n int) *gate { return &gate{free: n, waiting: map[ident.ID][]chan struct{}{}} }

// enter waits for its turn. Who got in must leave.
func (g *gate) enter(ctx context.Context, w ident.ID) error {
	g.mu.Lock()
	if g.free > 0 {
		g.free--
		g.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	if len(g.waiting[w]) == 0 {
		g.turns = append(g.turns, w)
	}
	g.waiting[w] = append(g.waiting[w], turn)
	g.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	g.mu.Lock()
	i := slices.Index(g.waiting[w], turn)
	if i >= 0 {
		g.waiting[w] = slices.Delete(g.waiting[w], i, i+1)
		g.dropIdle(w)
	}
	g.mu.Unlock()
	if i < 0 {
		// The turn came in the same moment: the next one has it.
		g.leave()
	}
	return ctx.Err()
}

// leave gives the place to the workspace whose turn it is.
func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.turns) == 0 {
		g.free++
		return
	}
	w := g.turns[0]
	g.turns = append(g.turns[1:], w)
	close(g.waiting[w][0])
	g.waiting[w] = g.waiting[w][1:]
	g.dropIdle(w)
}

// dropIdle takes a workspace that waits for nothing out of the turns.
func (g *gate) dropIdle(w ident.ID) {
	if len(g.waiting[w]) == 0 {
		delete(g.waiting, w)
		g.turns = slices.DeleteFunc(g.turns, func(id ident.ID) bool { return id == w })
	}
}
