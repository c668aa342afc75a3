package clickhouse

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
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
	err = e.changeWorkspace(ctx, id, 0, func(c *change) error {
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
	days := make([]map[sourceDay]bool, len(fact.Families))
	for f := range days {
		n, found, err := c.changedDays(ctx, fact.Family(f), writes)
		if err != nil {
			return 0, err
		}
		removed, days[f] = removed+n, found
	}
	if err := c.DeleteUndoData(ctx, writes); err != nil {
		return 0, err
	}
	for f := range days {
		if err := c.undoDays(ctx, fact.Family(f), sortedDays(days[f]), writes); err != nil {
			return 0, fmt.Errorf("restore replaced facts: %w", err)
		}
	}
	return removed, nil
}

// changedDays returns the days that an import's writes have changed: those with
// its facts, and those that it emptied and whose facts are kept. n is the number
// of its facts.
func (c *change) changedDays(ctx context.Context, f fact.Family, writes []int32) (n int64, days map[sourceDay]bool, err error) {
	days = map[sourceDay]bool{}
	if err := pgtables.EachPair(ctx, c.Tx, func(source, day int32) error {
		days[sourceDay{clock.Date(day), source}] = true
		return nil
	}, `SELECT DISTINCT r.source, r.day FROM metrics_replaced r JOIN metrics_cover c ON c.workspace = r.workspace AND c.family = r.family AND c.source = r.source AND r.day BETWEEN c.first AND c.last
		WHERE r.workspace = $1 AND r.family = $2 AND c.import = ANY($3)`, c.Workspace, int16(f), writes); err != nil {
		return 0, nil, err
	}
	live, err := readSlots(ctx, c.Tx, "SELECT source, day, slot, n FROM metrics_slot WHERE workspace = $1 AND family = $2", c.Workspace, int16(f))
	if err != nil || len(live) == 0 {
		return 0, days, err
	}
	p := params{}
	body, err := c.facts.query(ctx, "SELECT source, day, count() FROM "+tableOf(f)+" WHERE workspace = "+number(p, c.Workspace)+" AND "+in(p, "import", writes)+" AND "+in(p, "slot", slotNumbers(live))+
		" GROUP BY source, day FORMAT TabSeparated", p)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = body.Close() }()
	from := bufio.NewReader(body)
	for {
		var at sourceDay
		var facts int64
		if _, err := fmt.Fscanln(from, &at.source, &at.day, &facts); errors.Is(err, io.EOF) {
			return n, days, nil
		} else if err != nil {
			return 0, nil, unavailable(ctx, err)
		}
		days[at] = true
		n += facts
	}
}

// undoDays removes the facts of writes from days and restores replaced facts that
// count again.
func (c *change) undoDays(ctx context.Context, f fact.Family, days []sourceDay, writes []int32) error {
	return c.rewrite(ctx, f, days, func(days []sourceDay, old []row) ([]row, error) {
		var out []row
		present := map[[10]int32]bool{}
		for i := range old {
			if !slices.Contains(writes, old[i].imported) {
				out = append(out, old[i])
				present[old[i].keys] = true
			}
		}
		var back []string
		err := c.candidates(ctx, f, days, func(r row, id string) {
			if !present[r.keys] {
				out, back = append(out, r), append(back, id)
			}
		})
		if err == nil {
			_, err = c.Tx.Exec(ctx, "DELETE FROM metrics_replaced WHERE workspace = $1 AND ctid = ANY($2::text[]::tid[])", c.Workspace, back)
		}
		return out, err
	})
}

// candidates yields the replaced facts of days that no import has emptied since.
// Of several with one key it yields the one that was replaced last, with the id
// of its row.
func (c *change) candidates(ctx context.Context, f fact.Family, days []sourceDay, yield func(r row, id string)) error {
	sources, dates := make([]int32, len(days)), make([]int32, len(days))
	for i, d := range days {
		sources[i], dates[i] = d.source, int32(d.day)
	}
	keys := "r." + strings.Join(numbers.KeyColumns, ", r.")
	rows, err := c.Tx.Query(ctx, `SELECT DISTINCT ON (`+keys+`) `+keys+`, r.`+strings.Join(fact.Measures, ", r.")+`, r.import, r.ctid::text
		FROM metrics_replaced r JOIN unnest($3::int4[], $4::int4[]) AS d(source, day) ON d.source = r.source AND d.day = r.day
		WHERE r.workspace = $1 AND r.family = $2
		AND `+numbers.NotEmptiedSince("metrics_cover")+`
		ORDER BY `+keys+`, r.above DESC`, c.Workspace, int16(f), sources, dates)
	if err != nil {
		return err
	}
	var r row
	var values [fact.NumMeasures]*int64
	var id string
	var into []any
	for i := range r.keys {
		into = append(into, &r.keys[i])
	}
	for i := range values {
		into = append(into, &values[i])
	}
	_, err = pgx.ForEachRow(rows, append(into, &r.imported, &id), func() error {
		r.setValues(values[:])
		yield(r, id)
		return nil
	})
	return err
}
