package clickhouse

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/jackc/pgx/v5"

	"fanfare/internal/fact"
	"fanfare/internal/metrics/dump"
	"fanfare/internal/metrics/numbers"
	"fanfare/internal/metrics/pgtables"
	"fanfare/internal/pgdriver"
)

// cleanLock is the advisory lock that a dump takes shared and a cleaning
// exclusively, so that no fact is deleted during a dump.
const cleanLock = 0x66616e66_636c6e00

// Dump writes one snapshot of all facts.
func (e *Engine) Dump(ctx context.Context, w io.Writer) error {
	out, err := dump.NewWriter(w)
	if err != nil {
		return fmt.Errorf("dump facts: %w", err)
	}
	err = pgx.BeginTxFunc(ctx, e.DB, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock_shared($1)", int64(cleanLock)); err != nil {
			return err
		}
		workspaces, err := pgtables.ListWorkspaces(ctx, tx)
		if err != nil {
			return err
		}
		tables := dump.Tables()
		for i := range tables {
			if err := e.dumpTable(ctx, tx, out, &tables[i], workspaces); err != nil {
				return fmt.Errorf("table %s: %w", tables[i].Name, err)
			}
		}
		return out.Close()
	})
	if err != nil {
		return fmt.Errorf("dump facts: %w", pgtables.ToFault(ctx, err))
	}
	return nil
}

func (e *Engine) dumpTable(ctx context.Context, tx pgx.Tx, out *dump.Writer, t *dump.Table, workspaces []int32) error {
	f, isFacts := familyOf(t)
	if !isFacts {
		return pgtables.DumpTable(ctx, tx, out, t, workspaces)
	}
	if err := out.Table(t); err != nil {
		return err
	}
	for _, w := range workspaces {
		if err := pgtables.SetWorkspace(ctx, tx, w); err != nil {
			return err
		}
		slots, err := readSlots(ctx, tx, "SELECT source, day, slot, n FROM metrics_slot WHERE workspace = $1 AND family = $2 ORDER BY day, source", w, int16(f))
		if err != nil {
			return err
		}
		for part := range chunks(slots, func(s slot) int { return s.n }) {
			if err := e.dumpSlots(ctx, out, w, f, part); err != nil {
				return err
			}
		}
	}
	return nil
}

// familyOf returns the family of a dump's table of facts.
func familyOf(t *dump.Table) (fact.Family, bool) {
	f := slices.Index(fact.Families, t.Name)
	return fact.Family(max(f, 0)), f >= 0
}

func (e *Engine) dumpSlots(ctx context.Context, out *dump.Writer, workspace int32, f fact.Family, slots []slot) error {
	rows, err := e.facts.readRows(ctx, workspace, f, slots)
	if err != nil {
		return err
	}
	values := make([]dump.Value, len(numbers.FactColumns))
	for i := range rows {
		r := &rows[i]
		values = append(values[:0], dump.Value{Number: int64(workspace)})
		for _, k := range r.keys {
			values = append(values, dump.Value{Number: int64(k)})
		}
		for m, v := range r.values {
			values = append(values, dump.Value{Number: v, Null: r.known>>m&1 == 0})
		}
		if err := out.Row(append(values, dump.Value{Number: int64(r.imported)})); err != nil {
			return err
		}
	}
	return nil
}

// filler inserts the facts of a dump. The facts of a day may be anywhere in it, so
// the slots are listed at the end.
type filler struct {
	facts *client
	first int64
	slots map[filledDay]*slot
	// rows counts the facts of each family.
	rows []int
}

type filledDay struct {
	workspace int32
	family    fact.Family
	sourceDay
}

// Fill reads a dump into an empty engine.
func (e *Engine) Fill(ctx context.Context, r io.Reader) error {
	pending, err := e.reserve(ctx)
	if err != nil {
		return fmt.Errorf("fill facts: %w", err)
	}
	err = pgdriver.Transact(ctx, e.DB, func(tx pgx.Tx) error {
		if err := markFinished(ctx, tx, pending); err != nil {
			return err
		}
		f := &filler{facts: e.facts, first: pending << slotBits, slots: map[filledDay]*slot{}, rows: make([]int, len(fact.Families))}
		if err := pgtables.Fill(ctx, tx, r, func(t *dump.Table, rows [][]any) error {
			if family, isFacts := familyOf(t); isFacts {
				return f.insert(ctx, family, rows)
			}
			return pgtables.Copy(ctx, tx, pgtables.Table(t.Name), t.Columns, pgx.CopyFromRows(rows))
		}); err != nil {
			return err
		}
		return f.listSlots(ctx, tx)
	})
	if err != nil {
		return fmt.Errorf("fill facts: %w", pgtables.ToFault(ctx, err))
	}
	return nil
}

// insert inserts facts of one workspace. Their values are in the order of
// numbers.FactColumns.
func (f *filler) insert(ctx context.Context, family fact.Family, from [][]any) error {
	number := func(values []any, i int) int32 { n, _ := values[i].(int64); return int32(n) }
	w, rows := number(from[0], 0), make([]row, len(from))
	for j, values := range from {
		r := &rows[j]
		for i := range r.keys {
			r.keys[i] = number(values, 1+i)
		}
		var measures [fact.NumMeasures]*int64
		for i := range measures {
			if n, known := values[1+len(r.keys)+i].(int64); known {
				measures[i] = &n
			}
		}
		r.setValues(measures[:])
		r.imported = number(values, len(values)-1)
		if err := pgtables.CheckDay(r.day()); err != nil {
			return err
		}
	}
	f.rows[family] += len(rows)
	return f.facts.insertRows(ctx, w, family, rows, func(r *row) int64 { return f.addToSlot(filledDay{w, family, r.sourceDay()}) })
}

// addToSlot returns the slot of a day and adds one to its number of facts.
func (f *filler) addToSlot(d filledDay) int64 {
	s := f.slots[d]
	if s == nil {
		s = &slot{number: f.first + int64(len(f.slots))}
		f.slots[d] = s
	}
	s.n++
	return s.number
}

// listSlots checks that all facts have arrived and lists their slots.
func (f *filler) listSlots(ctx context.Context, tx pgx.Tx) error {
	for family, n := range f.rows {
		p := params{}
		where := "slot BETWEEN " + number(p, f.first) + " AND " + number(p, f.first+int64(len(f.slots)))
		if err := f.facts.checkCount(ctx, fact.Family(family), where, p, n); err != nil {
			return err
		}
	}
	byWorkspace := map[int32][][]any{}
	for d, s := range f.slots {
		byWorkspace[d.workspace] = append(byWorkspace[d.workspace], []any{d.workspace, int16(d.family), int32(d.day), d.source, s.number, int32(s.n)})
	}
	for w, list := range byWorkspace {
		if err := pgtables.SetWorkspace(ctx, tx, w); err != nil {
			return err
		}
		if err := pgtables.Copy(ctx, tx, "metrics_slot", []string{"workspace", "family", "day", "source", "slot", "n"}, pgx.CopyFromRows(list)); err != nil {
			return err
		}
	}
	return nil
}
