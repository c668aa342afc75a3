package clickhouse

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/metrics/numbers"
	"fanfare/internal/metrics/pgtables"
)

// row is a fact as it is stored.
type row struct {
	// keys are the values of numbers.KeyColumns: day, source and others.
	keys     [10]int32
	values   [fact.NumMeasures]int64
	known    uint32
	imported int32
}

func (r *row) day() clock.Date { return clock.Date(r.keys[0]) }
func (r *row) source() int32   { return r.keys[1] }

func newRow(from *pgtables.Row, imported int32) row {
	r := row{keys: from.Keys(), imported: imported}
	for m := range fact.Measure(fact.NumMeasures) {
		if v, known := from.Values.Get(m); known {
			r.values[m] = v
			r.known |= 1 << m
		}
	}
	return r
}

// storedColumns are the columns of a row in RowBinary, after workspace and slot.
var storedColumns = strings.Join(append(append(append([]string{}, numbers.KeyColumns...), fact.Measures...), "known", "import"), ", ")

// rowSize is the size of a row without workspace and slot.
const rowSize = 10*4 + fact.NumMeasures*8 + 4 + 4

// appendBinary appends a row in RowBinary.
func (r *row) appendBinary(b []byte, workspace int32, slot int64) []byte {
	le := binary.LittleEndian
	b = le.AppendUint32(b, uint32(workspace))
	b = le.AppendUint64(b, uint64(slot))
	for _, k := range r.keys {
		b = le.AppendUint32(b, uint32(k))
	}
	for _, v := range r.values {
		b = le.AppendUint64(b, uint64(v))
	}
	b = le.AppendUint32(b, r.known)
	return le.AppendUint32(b, uint32(r.imported))
}

func (r *row) parse(b []byte) {
	le := binary.LittleEndian
	for i := range r.keys {
		r.keys[i], b = int32(le.Uint32(b)), b[4:]
	}
	for i := range r.values {
		r.values[i], b = int64(le.Uint64(b)), b[8:]
	}
	r.known, r.imported = le.Uint32(b), int32(le.Uint32(b[4:]))
}

// readRows reads the facts of slots.
func (c *client) readRows(ctx context.Context, workspace int32, family fact.Family, slots []slot) ([]row, error) {
	p, n := params{}, countFacts(slots)
	text := "SELECT " + storedColumns + " FROM " + tableOf(family) + " WHERE workspace = " + number(p, workspace) + " AND " + in(p, "slot", slotNumbers(slots)) + " FORMAT RowBinary"
	body, err := c.query(ctx, text, p)
	if err != nil {
		return nil, err
	}
	defer func() { _ = body.Close() }()
	rows, buf, from := make([]row, 0, n), make([]byte, rowSize), bufio.NewReaderSize(body, 64<<10)
	for {
		_, err := io.ReadFull(from, buf)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, unavailable(ctx, err)
		}
		var r row
		r.parse(buf)
		rows = append(rows, r)
	}
	if len(rows) != n {
		return nil, missing(n, len(rows))
	}
	return rows, nil
}

// missing is the error of facts that PostgreSQL lists and ClickHouse does not
// have, or not yet on this replica.
func missing(want, got int) error {
	return fmt.Errorf("ClickHouse has %d facts of %d: restore it from a backup that is as new as PostgreSQL's", got, want)
}

// insertRows inserts the facts of slots. The caller checks that all have arrived,
// because an insert is atomic only for each partition of a server.
func (c *client) insertRows(ctx context.Context, workspace int32, family fact.Family, rows []row, slotOf func(*row) int64) error {
	if len(rows) == 0 {
		return nil
	}
	data := make([]byte, 0, len(rows)*(rowSize+12))
	for i := range rows {
		data = rows[i].appendBinary(data, workspace, slotOf(&rows[i]))
	}
	return c.insert(ctx, "INSERT INTO "+tableOf(family)+" (workspace, slot, "+storedColumns+") FORMAT RowBinary", data)
}

// checkCount compares a number of facts with what it must be.
func (c *client) checkCount(ctx context.Context, family fact.Family, where string, p params, want int) error {
	got, err := c.count(ctx, family, where, p)
	if err == nil && got != want {
		err = missing(want, got)
	}
	return err
}

// count returns the number of stored facts, live or not.
func (c *client) count(ctx context.Context, family fact.Family, where string, p params) (n int, err error) {
	body, err := c.query(ctx, "SELECT count() FROM "+tableOf(family)+" WHERE "+where+" FORMAT TabSeparated", p)
	if err != nil {
		return 0, err
	}
	defer func() { _ = body.Close() }()
	_, err = fmt.Fscan(body, &n)
	return n, err
}

// setValues sets the measures; those that are nil are unknown.
func (r *row) setValues(values []*int64) {
	r.known = 0
	for m, v := range values {
		if r.values[m] = 0; v != nil {
			r.values[m], r.known = *v, r.known|1<<m
		}
	}
}
