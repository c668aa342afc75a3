package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
	"fanfare/internal/metrics/numbers"
	"fanfare/internal/metrics/pgtables"
)

// Undo leaves the facts as if the import had never been. Writes are numbered in
// their order, and what an import replaces is kept with its number: a replaced
// fact counts again if no fact has its key, and neither the import that replaced
// it nor a later one has emptied its day.
func (e *Engine) Undo(ctx context.Context, id, imported ident.ID) (removed int64, err error) {
	err = e.changeWorkspace(ctx, id, 0, nil, func(c *change) error {
		removed, err = c.undo(ctx, imported)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("undo import %s: %w", imported, err)
	}
	return removed, nil
}

func (c *change) undo(ctx context.Context, imported ident.ID) (removed int64, err error) {
	writes, err := c.WritesOf(ctx, imported)
	if err != nil || len(writes) == 0 {
		return 0, err
	}
	days := make([]numbers.SourceDays, len(fact.Families))
	for f := range days {
		n, found, err := c.removeImport(ctx, fact.Family(f), writes)
		if err != nil {
			return 0, err
		}
		removed, days[f] = removed+n, found
	}
	if err := c.DeleteUndoData(ctx, writes); err != nil {
		return 0, err
	}
	for f := range days {
		if err := c.putBack(ctx, fact.Family(f), days[f]); err != nil {
			return 0, fmt.Errorf("restore replaced facts: %w", err)
		}
	}
	return removed, nil
}

// removeImport deletes the facts of an import. It returns their number and the
// days that the import has changed: those with its facts, and those it emptied.
func (c *change) removeImport(ctx context.Context, f fact.Family, writes []int32) (removed int64, days numbers.SourceDays, err error) {
	days = numbers.SourceDays{}
	rows, err := c.Tx.Query(ctx, "WITH gone AS (DELETE FROM "+tableOf(f.String())+" WHERE workspace = $1 AND import = ANY($2) RETURNING source, day) SELECT source, day, count(*) FROM gone GROUP BY 1, 2", c.Workspace, writes)
	if err != nil {
		return 0, nil, err
	}
	var source, day, last int32
	var n int64
	if _, err = pgx.ForEachRow(rows, []any{&source, &day, &n}, func() error {
		c.touch(f, source, clock.Date(day))
		days.Add(source, day, day)
		removed += n
		return nil
	}); err != nil {
		return 0, nil, err
	}
	rows, err = c.Tx.Query(ctx, "SELECT source, first, last FROM metrics_cover WHERE workspace = $1 AND family = $2 AND import = ANY($3)", c.Workspace, int16(f), writes)
	if err != nil {
		return 0, nil, err
	}
	_, err = pgx.ForEachRow(rows, []any{&source, &day, &last}, func() error {
		days.Add(source, day, last)
		return nil
	})
	return removed, days, err
}

// putBack restores replaced facts of these days that count again. Of several with
// one key the one that was replaced last counts. Facts of other days are not
// looked at: an account that is imported every hour has replaced millions.
func (c *change) putBack(ctx context.Context, f fact.Family, days numbers.SourceDays) error {
	if len(days) == 0 {
		return nil
	}
	var sources, first, last []int32
	for source, d := range days {
		sources, first, last = append(sources, source), append(first, d.First), append(last, d.Last)
	}
	table := tableOf(f.String())
	keys := "r." + strings.Join(numbers.KeyColumns, ", r.")
	return pgtables.EachPair(ctx, c.Tx, func(source, day int32) error {
		c.touch(f, source, clock.Date(day))
		return nil
	}, `WITH back AS (SELECT DISTINCT ON (`+keys+`) `+factsOf("r")+`, r.family, r.above FROM metrics_replaced r
			JOIN unnest($3::int4[], $4::int4[], $5::int4[]) AS d(source, first, last) ON r.source = d.source AND r.day BETWEEN d.first AND d.last
			WHERE r.workspace = $1 AND r.family = $2
			AND `+numbers.NotEmptiedSince("metrics_cover")+`
			AND NOT EXISTS (SELECT 1 FROM `+table+` f WHERE `+numbers.SameKey("f", "r")+`)
			ORDER BY `+keys+`, r.above DESC),
		gone AS (DELETE FROM metrics_replaced r USING back b WHERE r.family = b.family AND r.above = b.above AND `+numbers.SameKey("r", "b")+`),
		returned AS (INSERT INTO `+table+` (`+factList+`) SELECT `+factList+` FROM back)
		SELECT DISTINCT source, day FROM back`, c.Workspace, int16(f), sources, first, last)
}
