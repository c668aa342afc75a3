package ratelimit

import "context"

// SharedCounter counts in a store, for all nodes that use it. A node that is the
// only one keeps its counters there between two runs.
type SharedCounter interface {
	Counter
	UsageStore
}

// NodeCounter is the counter of a node.
type NodeCounter struct {
	Counter
	// memory is nil if the counter is shared, so that there is nothing to save.
	memory *Memory
	store  UsageStore
}

// OpenCounter returns the counter of a node: in memory, with the stored counts,
// if no other node counts the same requests, else the shared one.
func OpenCounter(ctx context.Context, shared SharedCounter, alone bool) (*NodeCounter, error) {
	if !alone {
		return &NodeCounter{Counter: shared}, nil
	}
	m := NewMemory()
	return &NodeCounter{m, m, shared}, m.Load(ctx, shared)
}

// Save writes the counters that changed. It does nothing if the counter is
// shared.
func (c *NodeCounter) Save(ctx context.Context) error {
	if c.memory == nil {
		return nil
	}
	return c.memory.Save(ctx, c.store)
}
