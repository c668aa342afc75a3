package store

import (
	"context"
	"fmt"
	"sync"
	"time"

	"fanfare/internal/ident"
	"fanfare/internal/ratelimit"
)

// Quotas stores the request counters of workspaces. On an exclusive engine it
// only saves them between two runs of the process. On a shared engine all nodes
// count in it.
type Quotas struct {
	db *DB
	// running has the workspaces that this node is counting for, with the
	// requests that arrived meanwhile and are counted together next.
	mu      sync.Mutex
	running map[ident.ID][]*quotaCount
}

// quotaCount is one request to count. done receives the result.
type quotaCount struct {
	rule func(*ratelimit.Usage)
	done chan error
}

var (
	_ ratelimit.UsageStore = (*Quotas)(nil)
	_ ratelimit.Counter    = (*Quotas)(nil)
)

// Quotas returns the store of counters.
func (db *DB) Quotas() *Quotas { return &Quotas{db: db, running: map[ident.ID][]*quotaCount{}} }

// LoadUsage reads all counters.
func (s *Quotas) LoadUsage(ctx context.Context) (map[ident.ID]ratelimit.Usage, error) {
	rows, err := s.db.engine.Query(Across(ctx), `SELECT workspace_id, opened_at, minute, day_of, day FROM quota ORDER BY workspace_id`)
	if err != nil {
		return nil, toFault(fmt.Errorf("read quotas: %w", err))
	}
	list := map[ident.ID]ratelimit.Usage{}
	for rows.Next() {
		id := ident.ID(rows.Text())
		list[id] = readUsage(rows)
	}
	return list, nil
}

func readUsage(rows *Rows) ratelimit.Usage {
	return ratelimit.Usage{Opened: time.UnixMicro(rows.Int()), Minute: rows.Int(), DayOf: rows.Int(), Day: rows.Int()}
}

var quotaTable = newTable(table{
	name: "quota", key: []string{"workspace_id"}, columns: names("workspace_id", "opened_at", "minute", "day_of", "day"),
})

var (
	upsertQuota = quotaTable.upsert("workspace_id")
	insertQuota = quotaTable.insert + ` ON CONFLICT (workspace_id) DO NOTHING`
)

const lockQuota = `UPDATE quota SET minute = minute WHERE workspace_id = $1 RETURNING opened_at, minute, day_of, day`

// SaveUsage writes counters.
func (s *Quotas) SaveUsage(ctx context.Context, changed map[ident.ID]ratelimit.Usage) error {
	return s.db.writeAsync(Across(ctx), func(tx Tx) error {
		for id, u := range changed {
			if err := putUsage(tx, id, u); err != nil {
				return err
			}
		}
		return nil
	})
}

func putUsage(tx Tx, id ident.ID, u ratelimit.Usage) error {
	_, err := tx.Exec(upsertQuota, string(id), u.Opened.UnixMicro(), u.Minute, u.DayOf, u.Day)
	return err
}

// countTime limits the time of counting. Counting precedes every request, and a
// node that gets no answer can count alone.
const countTime = 5 * time.Second

// count applies a rule to the shared counters of a workspace. One transaction
// counts all requests of the workspace that arrived during the previous one, so
// that a thousand requests at once do not wait for a thousand row locks.
func (s *Quotas) count(ctx context.Context, workspace ident.ID, rule func(*ratelimit.Usage)) error {
	c := &quotaCount{rule, make(chan error, 1)}
	s.mu.Lock()
	waiting, running := s.running[workspace]
	s.running[workspace] = append(waiting, c)
	s.mu.Unlock()
	if !running {
		// The requests that are counted in the same transaction must not end
		// with this one's context.
		go s.countAll(context.WithoutCancel(ctx), workspace)
	}
	select {
	case err := <-c.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// countAll counts until no request of the workspace waits.
func (s *Quotas) countAll(ctx context.Context, workspace ident.ID) {
	for {
		s.mu.Lock()
		list := s.running[workspace]
		if len(list) == 0 {
			delete(s.running, workspace)
			s.mu.Unlock()
			return
		}
		s.running[workspace] = nil
		s.mu.Unlock()
		err := s.countTogether(ctx, workspace, list)
		for _, c := range list {
			c.done <- err
		}
	}
}

// countTogether applies rules in one transaction. A row lock makes nodes count
// one after the other.
func (s *Quotas) countTogether(ctx context.Context, workspace ident.ID, list []*quotaCount) error {
	ctx, cancel := context.WithTimeout(ctx, countTime)
	defer cancel()
	return s.db.writeAsync(Within(ctx, workspace), func(tx Tx) error {
		rows, err := tx.Query(lockQuota, string(workspace))
		if err != nil {
			return fmt.Errorf("lock quota: %w", err)
		}
		if !rows.Next() {
			if _, err := tx.Exec(insertQuota, string(workspace), 0, 0, 0, 0); err != nil {
				return fmt.Errorf("start quota: %w", err)
			}
			if rows, err = tx.Query(lockQuota, string(workspace)); err != nil {
				return fmt.Errorf("lock quota: %w", err)
			}
			rows.Next()
		}
		u := readUsage(rows)
		for _, c := range list {
			c.rule(&u)
		}
		return putUsage(tx, workspace, u)
	})
}

// Take counts one request and returns whether it is allowed.
func (s *Quotas) Take(ctx context.Context, workspace ident.ID, l ratelimit.Limits, now time.Time) (ratelimit.Decision, error) {
	// The store has microseconds: the node that opens a window must return the
	// same times as the nodes that read it.
	now = now.Truncate(time.Microsecond)
	var d ratelimit.Decision
	if err := s.count(ctx, workspace, func(u *ratelimit.Usage) { d = u.Take(l, now) }); err != nil {
		return ratelimit.Decision{}, err
	}
	return d, nil
}

// Refund subtracts one request.
func (s *Quotas) Refund(ctx context.Context, workspace ident.ID, t ratelimit.Ticket, now time.Time) error {
	return s.count(ctx, workspace, func(u *ratelimit.Usage) { u.Refund(t, now) })
}

// Peek returns the state of the limits without counting a request.
func (s *Quotas) Peek(ctx context.Context, workspace ident.ID, l ratelimit.Limits, now time.Time) (ratelimit.Decision, error) {
	ctx, cancel := context.WithTimeout(ctx, countTime)
	defer cancel()
	rows, err := s.db.engine.Query(Within(ctx, workspace), `SELECT opened_at, minute, day_of, day FROM quota WHERE workspace_id = $1`, string(workspace))
	if err != nil {
		return ratelimit.Decision{}, toFault(fmt.Errorf("read quota: %w", err))
	}
	var u ratelimit.Usage
	if rows.Next() {
		u = readUsage(rows)
	}
	return u.Peek(l, now), nil
}
