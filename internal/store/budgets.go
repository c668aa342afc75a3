package store

import (
	"context"
	"fmt"
	"time"

	"fanfare/internal/connection"
)

// CallBudgets stores what nodes share about their calls to ad platforms. An
// account is named by the platform client and the account's id there: the same
// account in two workspaces has one budget, as on the platform.
type CallBudgets struct{ db *DB }

// CallBudgets returns the store of call budgets.
func (db *DB) CallBudgets() *CallBudgets { return &CallBudgets{db} }

var budgetTable = newTable(table{
	name: "call_budget", key: []string{"account"}, columns: names("account", "free_at", "not_before", "held_until"), transient: true,
})

// maxQueue is how far ahead of a node's clock the time of an account can be
// reserved.
//
// Choice: a node reserves at most a second and then waits for its end, so a
// later time is from a node whose clock is ahead. It is ignored, because with
// clocks that differ so much one node would wait for every call of another.
const maxQueue = 15 * time.Second

// reserveCalls moves the free time of an account: from now, if it is past or too
// far ahead, else from where the last reservation ends.
var reserveCalls = budgetTable.insert + `
ON CONFLICT (account) DO UPDATE SET free_at = CASE WHEN call_budget.free_at <= $5 OR call_budget.free_at > $6 THEN excluded.free_at ELSE call_budget.free_at + $7 END
RETURNING free_at, not_before, held_until`

var holdCalls = budgetTable.insert + `
ON CONFLICT (account) DO UPDATE SET
  not_before = CASE WHEN excluded.not_before > call_budget.not_before THEN excluded.not_before ELSE call_budget.not_before END,
  held_until = CASE WHEN excluded.held_until > call_budget.held_until THEN excluded.held_until ELSE call_budget.held_until END`

// Reserve reserves the next span of an account's time that no node has reserved,
// from now on. It returns its start and the holds of the account.
func (s *CallBudgets) Reserve(ctx context.Context, account string, now time.Time, span time.Duration) (start time.Time, h connection.Holds, err error) {
	from, length := now.UnixMicro(), micros(span)
	err = s.db.writeAsync(ctx, func(tx Tx) error {
		rows, err := tx.Query(reserveCalls, account, from+length, 0, 0, from, now.Add(maxQueue).UnixMicro(), length)
		if err != nil {
			return fmt.Errorf("reserve calls: %w", err)
		}
		rows.Next()
		start, h = time.UnixMicro(rows.Int()-length), readHolds(rows)
		return nil
	})
	return start, h, err
}

// Holds returns the holds of an account.
func (s *CallBudgets) Holds(ctx context.Context, account string) (h connection.Holds, err error) {
	rows, err := s.db.engine.Query(ctx, `SELECT not_before, held_until FROM call_budget WHERE account = $1`, account)
	if err != nil {
		return h, toFault(fmt.Errorf("read holds: %w", err))
	}
	if rows.Next() {
		h = readHolds(rows)
	}
	return h, nil
}

// Hold stores holds of an account. It never shortens one.
func (s *CallBudgets) Hold(ctx context.Context, account string, h connection.Holds) error {
	return s.db.writeAsync(ctx, func(tx Tx) error {
		if _, err := tx.Exec(holdCalls, account, 0, holdMicros(h.NotBefore), holdMicros(h.HeldUntil)); err != nil {
			return fmt.Errorf("hold calls: %w", err)
		}
		return nil
	})
}

// budgetRetention is how long the budget of an account is stored after its last
// use, in microseconds.
const budgetRetention = 24 * 60 * 60 * 1_000_000

// deleteBudgets deletes the budgets of accounts that nobody calls.
const deleteBudgets = `DELETE FROM call_budget WHERE free_at <= $1 AND not_before <= $2 AND held_until <= $3`

func (db *DB) pruneBudgets(ctx context.Context, before int64) (gone int64, err error) {
	err = db.writeTx(ctx, func(tx Tx) (err error) {
		gone, err = tx.Exec(deleteBudgets, before, before, before)
		return err
	})
	return gone, err
}

func readHolds(rows *Rows) connection.Holds {
	return connection.Holds{NotBefore: holdTime(rows.Int()), HeldUntil: holdTime(rows.Int())}
}

// holdMicros and holdTime store no hold as 0.
func holdMicros(at time.Time) int64 {
	if at.IsZero() {
		return 0
	}
	return at.UnixMicro()
}

func holdTime(at int64) time.Time {
	if at == 0 {
		return time.Time{}
	}
	return time.UnixMicro(at)
}

// micros returns a duration in microseconds, rounded up.
func micros(d time.Duration) int64 { return int64((d + time.Microsecond - 1) / time.Microsecond) }
