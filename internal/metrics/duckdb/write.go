package duckdb

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/metrics/numbers"
)

// numberedRow is a row with numbers for its words and entities.
type numberedRow struct {
	*fact.Row
	source, channel, campaign, creative, audience, country, age, gender, device int32
}

// Write stores a batch. The log is synced to disk before it returns.
//
// Choice: Write does not check for duplicate keys, because the producer must
// report them by row. It checks that every row is in a window, because a row
// outside would be counted twice.
func (e *Engine) Write(ctx context.Context, b *fact.Batch) error {
	if err := b.Check(); err != nil {
		return fmt.Errorf("write facts: %w", err)
	}
	err := e.changeWorkspace(ctx, b.Workspace, b.MaxWait, func(t *change) error {
		var imported int32
		if b.Import != "" {
			before, err := t.writesOf(ctx, b.Import)
			if t.unchanged = len(before) > 0; err != nil || t.unchanged {
				return err
			}
			imported = e.next.imported
			e.next.imported++
			if _, err := t.c.exec(ctx, "INSERT INTO import (key, workspace, id, written) VALUES (?, ?, ?, ?)", imported, t.w.key, string(b.Import), int64(clock.At(t.now))); err != nil {
				return fmt.Errorf("store import: %w", err)
			}
		}
		rows, err := t.numberRows(ctx, b)
		if err != nil {
			return err
		}
		for _, w := range b.Replace {
			if err := t.emptyWindow(ctx, w, imported); err != nil {
				return fmt.Errorf("empty window: %w", err)
			}
		}
		for f, rows := range rows {
			if len(rows) == 0 {
				continue
			}
			if len(b.Replace) == 0 {
				if err := t.deleteSameKeys(ctx, fact.Family(f), rows, imported); err != nil {
					return fmt.Errorf("replace facts: %w", err)
				}
			}
			if err := t.add(ctx, "", fact.Families[f], rows, imported); err != nil {
				return err
			}
			if _, err := t.c.exec(ctx, "UPDATE layout SET loose = loose + ? WHERE family = ?", int64(len(rows)), int32(f)); err != nil {
				return fmt.Errorf("store layout: %w", err)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("write facts: %w", err)
	}
	return nil
}

// numberRows finds or assigns the numbers of sources, words and entities, and
// groups rows by family.
func (t *change) numberRows(ctx context.Context, b *fact.Batch) ([][]numberedRow, error) {
	for _, w := range b.Replace {
		if _, err := t.source(ctx, w.Source); err != nil {
			return nil, err
		}
	}
	rows := make([][]numberedRow, len(fact.Families))
	seen := numbers.NewBatchEntities()
	var lastSource *fact.Source
	var key int32
	var connection string
	var day, first clock.Date
	for i := range b.Rows {
		r := &b.Rows[i]
		if r.Source != lastSource {
			var err error
			if key, err = t.source(ctx, r.Source); err != nil {
				return nil, err
			}
			lastSource, connection = r.Source, string(r.Source.Connection)
		}
		c := numberedRow{Row: r, source: key}
		// Until the keys in the file are known, these are positions within the
		// batch.
		c.campaign = seen.Add(connection, numbers.KindCampaign, &r.Campaign)
		c.creative = seen.Add(connection, numbers.KindCreative, &r.Creative)
		c.audience = seen.Add(connection, numbers.KindAudience, &r.Audience)
		for _, w := range []struct {
			text string
			code *int32
		}{{r.Channel, &c.channel}, {r.Country, &c.country}, {r.AgeRange, &c.age}, {r.Gender, &c.gender}, {r.Device, &c.device}} {
			code, there := t.words.code[w.text]
			if !there {
				var err error
				if code, err = t.word(ctx, w.text); err != nil {
					return nil, err
				}
			}
			*w.code = code
		}
		rows[r.Family] = append(rows[r.Family], c)
		if r.Date != day || i == 0 {
			day, first = r.Date, r.Date.FirstOfMonth()
		}
		t.touched[part{r.Family, key, first}] = true
	}
	for i := range b.Links {
		seen.Link(&b.Links[i])
	}
	keys, err := t.entities(ctx, seen)
	if err != nil {
		return nil, fmt.Errorf("store entities: %w", err)
	}
	for _, list := range rows {
		for i := range list {
			c := &list[i]
			c.campaign, c.creative, c.audience = keys[c.campaign], keys[c.creative], keys[c.audience]
		}
	}
	return rows, nil
}

// word assigns a number to a new word.
func (t *change) word(ctx context.Context, text string) (int32, error) {
	code := int32(len(t.words.text))
	longer := &words{code: map[string]int32{}, text: append(slices.Clip(t.words.text), text)}
	for i, s := range longer.text {
		longer.code[s] = int32(i)
	}
	t.words, t.invalidates = longer, true
	if _, err := t.c.exec(ctx, "INSERT INTO word VALUES (?, ?)", code, text); err != nil {
		return 0, fmt.Errorf("store word: %w", err)
	}
	return code, nil
}

// source returns the number of a source and stores a new one. The currency and
// the zone of the batch apply from now on.
func (t *change) source(ctx context.Context, s *fact.Source) (int32, error) {
	if s == nil {
		return 0, errors.New("a row or window names no source")
	}
	i := slices.IndexFunc(t.w.sources, func(known numbers.Source) bool { return known.Connection == s.Connection && known.Account == s.Account })
	if i >= 0 && t.w.sources[i].Source == *s {
		return t.w.sources[i].Key, nil
	}
	t.w.sources, t.invalidates = slices.Clone(t.w.sources), true
	if i < 0 {
		i = len(t.w.sources)
		t.w.sources = append(t.w.sources, numbers.Source{Key: t.e.next.source})
		t.e.next.source++
	}
	t.w.sources[i].Source = *s
	key := t.w.sources[i].Key
	if _, err := t.c.exec(ctx, "DELETE FROM source WHERE workspace = ? AND key = ?", t.w.key, key); err != nil {
		return 0, fmt.Errorf("store source: %w", err)
	}
	if _, err := t.c.exec(ctx, "INSERT INTO source (key, workspace, connection, platform, account, currency, zone) VALUES (?, ?, ?, ?, ?, ?, ?)",
		key, t.w.key, string(s.Connection), s.Platform, s.Account, string(s.Currency), s.Zone); err != nil {
		return 0, fmt.Errorf("store source: %w", err)
	}
	return key, nil
}

// touch marks the parts with facts between two days.
func (t *change) touch(f fact.Family, source int32, first, last clock.Date) (found bool) {
	for p, x := range t.w.parts {
		if p.family == f && p.source == source && x.first <= last && x.last >= first {
			t.touched[p], found = true, true
		}
	}
	return found
}

// inWindow selects the facts of a window.
const inWindow = " WHERE workspace = ? AND source = ? AND day BETWEEN ? AND ?"

// emptyWindow deletes the facts of a window. Those that an import deletes are
// kept for its undo.
func (t *change) emptyWindow(ctx context.Context, w fact.Window, imported int32) error {
	key, err := t.source(ctx, w.Source)
	if err != nil {
		return err
	}
	args := []any{t.w.key, key, int32(w.First), int32(w.Last)}
	if imported == 0 {
		if _, err := t.c.exec(ctx, "DELETE FROM replaced"+inWindow+" AND family = ?", append(slices.Clone(args), int32(w.Family))...); err != nil {
			return err
		}
	} else if _, err := t.c.exec(ctx, "INSERT INTO cover (import, workspace, family, source, first, last) VALUES (?, ?, ?, ?, ?, ?)", imported, t.w.key, int32(w.Family), key, int32(w.First), int32(w.Last)); err != nil {
		return err
	}
	if !t.touch(w.Family, key, w.First, w.Last) {
		return nil
	}
	if imported != 0 {
		keep := "INSERT INTO replaced SELECT " + columnList + ", ?, ? FROM " + w.Family.String() + inWindow
		if _, err := t.c.exec(ctx, keep, append([]any{int32(w.Family), imported}, args...)...); err != nil {
			return err
		}
	}
	_, err = t.c.exec(ctx, "DELETE FROM "+w.Family.String()+inWindow, args...)
	return err
}

// deleteSameKeys deletes the facts that have the keys of rows. Facts replaced
// earlier stay in the table replaced, because the new rows are later.
func (t *change) deleteSameKeys(ctx context.Context, f fact.Family, rows []numberedRow, imported int32) error {
	first, last := rows[0].Date, rows[0].Date
	for i := range rows {
		first, last = min(first, rows[i].Date), max(last, rows[i].Date)
	}
	if err := t.c.temporaryTable(ctx, "staged", factColumns()); err != nil {
		return err
	}
	if err := t.add(ctx, "temp", "staged", rows, imported); err != nil {
		return err
	}
	table := f.String()
	// The days limit the scan; the join alone would scan all days.
	staged := table + ".day BETWEEN ? AND ? AND " + numbers.SameKey(table, "s")
	if imported != 0 {
		keep := "INSERT INTO replaced SELECT " + prefixed(table+".", columns) + ", ?, ? FROM " + table + ", temp.staged s WHERE " + table + ".workspace = ? AND " + staged
		if _, err := t.c.exec(ctx, keep, int32(f), imported, t.w.key, int32(first), int32(last)); err != nil {
			return err
		}
	}
	_, err := t.c.exec(ctx, "DELETE FROM "+table+" USING temp.staged s WHERE "+table+".workspace = ? AND "+staged, t.w.key, int32(first), int32(last))
	return err
}

// add appends rows to a table of facts.
func (t *change) add(ctx context.Context, catalog, table string, rows []numberedRow, imported int32) error {
	return t.c.appendTo(ctx, catalog, table, len(rows), len(columns), func(i int, row []driver.Value) {
		r := &rows[i]
		row = append(row[:0], t.w.key, int32(r.Date), r.source, r.channel, r.campaign, r.creative, r.audience, r.country, r.age, r.gender, r.device)
		for m := range fact.Measure(fact.NumMeasures) {
			if v, known := r.Values.Get(m); known {
				row = append(row, v)
			} else {
				row = append(row, nil)
			}
		}
		_ = append(row, imported)
	})
}

// inList writes numbers for an IN.
func inList[T ~int32](numbers []T) string {
	b := make([]byte, 0, 8*len(numbers)+2)
	b = append(b, '(')
	for i, n := range numbers {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(n), 10)
	}
	return string(append(b, ')'))
}
