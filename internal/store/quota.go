package store

import (
	"context"
	"fmt"
	"time"

	"fanfare/internal/ident"
	"fanfare/internal/ratelimit"
)

// Quotas stores the request counters of workspaces. On an exclusive engine it
// only saves them between two runs of the process. On a shared engine all nodes
// count in it.
type Quotas struct{ db *DB }

var (
	_ ratelimit.UsageStore = (*Quotas)(nil)
	_ ratelimit.Counter    = (*Quotas)(nil)
)

// Quotas returns the store of counters.
func (db *DB) Quotas() *Quotas { return &Quotas{db} }

// LoadUsage reads all counters.
func (s *Quotas) LoadUsage(ctx context.Context) (map[ident.ID]ratelimit.Usage, error) {
	rows, err := s.db.engine.Query(ctx, `SELECT workspace_id, opened_at, minute, day_of, day FROM quota ORDER BY workspace_id`)
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
	return s.db.writeAsync(ctx, func(tx Tx) error {
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
const countTime = 2 * time.Second

// count applies a rule to the shared counters of a workspace. A row lock makes
// nodes count one after the other.
func (s *Quotas) count(ctx context.Context, workspace ident.ID, rule func(*ratelimit.Usage)) error {
	ctx, cancel := context.WithTimeout(ctx, countTime)
	defer cancel()
	return s.db.writeAsync(ctx, func(tx Tx) error {
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
		rule(&u)
		return putUsage(tx, workspace, u)
	})
}

// Take counts one request and returns whether it is allowed.
func (s *Quotas) Take(ctx context.Context, workspace ident.ID, l ratelimit.Limits, now time.Time) (d ratelimit.Decision, err error) {
	// The store has microseconds: the node that opens a window must return the
	// same times as the nodes that read it.
	now = now.Truncate(time.Microsecond)
	err = s.count(ctx, workspace, func(u *ratelimit.Usage) { d = u.Take(l, now) })
	return d, err
}

// Refund subtracts one request.
func (s *Quotas) Refund(ctx context.Context, workspace ident.ID, t ratelimit.Ticket, now time.Time) error {
	return s.count(ctx, workspace, func(u *ratelimit.Usage) { u.Refund(t, now) })
}

// Peek returns the state of the limits without counting a request.
func (s *Quotas) Peek(ctx context.Context, workspace ident.ID, l ratelimit.Limits, now time.Time) (ratelimit.Decision, error) {
	ctx, cancel := context.WithTimeout(ctx, countTime)
	defer cancel()
	rows, err := s.db.engine.Query(ctx, `SELECT opened_at, minute, day_of, day FROM quota WHERE workspace_id = $1`, string(workspace))
	if err != nil {
		return ratelimit.Decision{}, toFault(fmt.Errorf("read quota: %w", err))
	}
	var u ratelimit.Usage
	if rows.Next() {
		u = readUsage(rows)
	}
	return u.Peek(l, now), nil
}
