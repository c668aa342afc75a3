package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"fanfare/internal/analytics"
	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
	"fanfare/internal/metrics/numbers"
	"fanfare/internal/metrics/pgtables"
	"fanfare/internal/pgdriver"
)

// monthTable has the sums of base facts by month, source, channel, campaign,
// creative and audience. Its column day is the first day of the month. They
// answer questions about creatives and audiences over whole months. Work in the
// background calculates them; metrics_summed has the months that have sums, and a
// change of a month's facts deletes both in the same transaction.
const monthTable = "metrics_month"

// monthColumns are the columns that the sums group by.
var monthColumns = append(slices.Clone(dayColumns), "creative", "audience")

// minMonthFacts is the number of facts in a month from which sums are worth their
// space.
const minMonthFacts = 10_000

// createMonths are the statements that create the tables.
func createMonths() []string {
	texts := []string{
		"CREATE TABLE IF NOT EXISTS " + monthTable + " (" + sumsDefinition(monthColumns) + ")",
		"CREATE INDEX IF NOT EXISTS " + monthTable + "_day ON " + monthTable + " (workspace, day)",
		"CREATE TABLE IF NOT EXISTS metrics_summed (workspace int4 NOT NULL, month int4 NOT NULL, PRIMARY KEY (workspace, month))",
	}
	return slices.Concat(texts, pgtables.Isolate(monthTable), pgtables.Isolate("metrics_summed"))
}

// answeredByMonths reports whether sums by month answer a question about whole
// months.
func answeredByMonths(q *numbers.Question) bool {
	if q.Granularity == analytics.Day || q.Granularity == analytics.Week {
		return false
	}
	in := func(c numbers.Column) bool {
		return c == numbers.TagColumn || c != "day" && slices.Contains(monthColumns, string(c))
	}
	return canBeSummed(q) && q.Match.Only(in) && !slices.ContainsFunc(q.Columns, func(c numbers.Column) bool { return !in(c) })
}

// summedMonths returns the months within the days of a question that have sums, in
// ascending order.
func summedMonths(ctx context.Context, tx pgx.Tx, workspace int32, q *numbers.Question) ([]int32, error) {
	rows, err := tx.Query(ctx, "SELECT month FROM metrics_summed WHERE workspace = $1 AND month BETWEEN $2 AND $3 ORDER BY month", workspace, int32(q.First), int32(q.Last))
	if err != nil {
		return nil, err
	}
	months, err := pgx.CollectRows(rows, pgx.RowTo[int32])
	return slices.DeleteFunc(months, func(m int32) bool { return clock.Date(m).NextMonth()-1 > q.Last }), err
}

// fromMonths selects sums of the summed months, and facts of all other days.
func (s *statement) fromMonths() string {
	q := s.question
	list := strings.Join(slices.Concat(monthColumns[1:], measureNames(q)), ", ")
	selects := []string{"SELECT " + list + ", facts FROM " + monthTable + " WHERE workspace = " + s.arg(s.workspace) + " AND day = ANY(" + s.arg(s.months) + "::int4[])"}
	facts := func(first, last clock.Date) {
		if first <= last {
			selects = append(selects, "SELECT "+list+", 1 FROM "+tableOf(q.Family.String())+" WHERE workspace = "+s.arg(s.workspace)+" AND day BETWEEN "+s.arg(int32(first))+" AND "+s.arg(int32(last)))
		}
	}
	next := q.First
	for _, m := range s.months {
		facts(next, clock.Date(m)-1)
		next = clock.Date(m).NextMonth()
	}
	facts(next, q.Last)
	return "(" + strings.Join(selects, " UNION ALL ") + ") f"
}

func measureNames(q *numbers.Question) (list []string) {
	for _, m := range q.Measures {
		list = append(list, m.String())
	}
	return list
}

// SumMonths calculates the sums of months that have ended and have none.
// An engine does it every hour.
func (e *Engine) SumMonths(ctx context.Context) error {
	ids, err := e.Workspaces(ctx)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := e.sumMonthsOf(ctx, id); err != nil {
			return fmt.Errorf("sum months of %s: %w", id, err)
		}
	}
	return nil
}

func (e *Engine) sumMonthsOf(ctx context.Context, id ident.ID) error {
	var due []int32
	err := pgtables.Snapshot(ctx, e.DB, id, func(tx pgx.Tx, w pgtables.Workspace) error {
		today := int32(clock.DateIn(e.now(), time.UTC).FirstOfMonth())
		rows, err := tx.Query(ctx, `SELECT month FROM metrics_part p WHERE workspace = $1 AND family = $2 AND month < $3
			AND NOT EXISTS (SELECT 1 FROM metrics_summed s WHERE s.workspace = p.workspace AND s.month = p.month)
			GROUP BY month HAVING sum(n) >= $4 ORDER BY month`, w.Key, int16(fact.Base), today, e.minMonthFacts)
		if err != nil {
			return err
		}
		due, err = pgx.CollectRows(rows, pgx.RowTo[int32])
		return err
	})
	for _, month := range due {
		if err == nil {
			err = e.sumMonth(ctx, id, month)
		}
	}
	return err
}

// sumMonth calculates the sums of a month, as the only writer of the workspace.
func (e *Engine) sumMonth(ctx context.Context, id ident.ID, month int32) error {
	leave, err := e.writes.Take(ctx, id, 0)
	if err != nil {
		return err
	}
	defer leave()
	last := int32(clock.Date(month).NextMonth() - 1)
	return pgdriver.Transact(ctx, e.DB, func(tx pgx.Tx) error {
		w, err := pgtables.EnterWorkspace(ctx, tx, id, "FOR UPDATE")
		if err != nil {
			return err
		}
		summed, err := tx.Exec(ctx, "INSERT INTO metrics_summed (workspace, month) VALUES ($1, $2) ON CONFLICT DO NOTHING", w.Key, month)
		if err != nil || summed.RowsAffected() == 0 {
			return err // another node was faster
		}
		_, err = tx.Exec(ctx, insertMonth, w.Key, month, last)
		return err
	})
}

// dropMonth deletes the sums of a month whose facts have changed.
func (c *change) dropMonth(ctx context.Context, month clock.Date) error {
	_, err := c.Tx.Exec(ctx, `WITH changed AS (DELETE FROM metrics_summed WHERE workspace = $1 AND month = $2 RETURNING month)
		DELETE FROM metrics_month WHERE workspace = $1 AND day IN (SELECT month FROM changed)`, c.Workspace, int32(month))
	return err
}

// insertMonth sums the facts of a month. Their days become its first day.
var insertMonth = func() string {
	month := func(text string) string { return strings.Replace(text, "workspace, day,", "workspace, $2::int4,", 1) }
	insert, group := insertSums(monthTable, strings.Join(monthColumns, ", "))
	columns, from, _ := strings.Cut(insert, "SELECT")
	return columns + "SELECT" + month(from) + " WHERE workspace = $1 AND day BETWEEN $2 AND $3 " + month(group)
}()
