package analytics

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
)

// resultTTL is how long a cursor is valid.
const resultTTL = 15 * time.Minute

// resultPrefix is the id prefix of a stored result.
const resultPrefix = "res"

// cursorState is the content of a cursor.
type cursorState struct {
	// report is the kind of report, or empty for a query.
	report string
	id     ident.ID
	offset int
	hash   string
}

func (b *cursorState) encode() []byte {
	return []byte(strings.Join([]string{b.report, string(b.id), strconv.Itoa(b.offset), b.hash}, "\n"))
}

func parseCursorState(plain []byte) (b cursorState, ok bool) {
	parts := strings.Split(string(plain), "\n")
	if len(parts) != 4 || !ident.Valid(resultPrefix, parts[1]) {
		return b, false
	}
	offset, err := strconv.Atoi(parts[2])
	return cursorState{parts[0], ident.ID(parts[1]), offset, parts[3]}, err == nil && offset >= 0
}

// storeResult stores all rows of an answer and sets its cursor.
func (s *Service) storeResult(ctx context.Context, w Workspace, q *Query, a *Answer) error {
	now := s.Now()
	k := &StoredResult{ID: ident.New(resultPrefix, now, s.Random), Hash: q.hash(), Rows: make([][]byte, len(a.all)), ExpiresAt: clock.At(now.Add(resultTTL))}
	var slab []byte
	for i := range a.all {
		if cap(slab)-len(slab) < 1<<10 {
			slab = make([]byte, 0, 1<<16)
		}
		from := len(slab)
		slab = appendStoredRow(slab, &a.all[i])
		k.Rows[i] = slab[from:len(slab):len(slab)]
	}
	k.Meta = append(append([]byte{}, a.head...), '}')
	if err := s.Results.Save(ctx, w.ID, k); err != nil {
		return fmt.Errorf("store result: %w", err)
	}
	mark := cursorState{id: k.ID, offset: len(a.rows), hash: k.Hash}
	if q.report != nil {
		mark.report = string(q.report.Kind)
	}
	a.next = s.Seal(w.ID, mark.encode())
	return nil
}

// storedPage returns the page that a cursor points to.
func (s *Service) storedPage(ctx context.Context, w Workspace, q *Query, started time.Time) (*Answer, error) {
	plain, ok := s.Open(w.ID, *q.Cursor)
	mark, read := parseCursorState(plain)
	kind := ""
	if q.report != nil {
		kind = string(q.report.Kind)
	}
	if !ok || !read || mark.report != kind {
		return nil, badCursor(q, "cursor_malformed", "The cursor is not one of this operation in this workspace. Ask again without it.")
	}
	if !q.isPageOnly() && q.hash() != mark.hash {
		return nil, badCursor(q, "cursor_query_mismatch", "The cursor belongs to another query. Send the same as for the first page, or nothing but cursor and limit.")
	}
	limit, problems := pageLimit(q)
	if problems != nil {
		return nil, fault.Invalid(problems)
	}
	rows, head, total, err := s.Results.Page(ctx, w.ID, mark.id, mark.offset, limit)
	if fault.Is(err, fault.NotFound) {
		return nil, cursorExpired(q)
	}
	if err != nil {
		return nil, fmt.Errorf("read stored result: %w", err)
	}
	var m struct {
		Query    storedQuery `json:"query"`
		Warnings []Warning   `json:"warnings"`
	}
	if err := json.Unmarshal(head, &m); err != nil {
		return nil, fmt.Errorf("read stored result: %w", err)
	}
	r := m.Query.resolved()
	a := &Answer{layout: r.layout(), head: head[:len(head)-1], codes: codesOf(m.Warnings), cached: true}
	a.rows = make([]row, len(rows))
	for i, text := range rows {
		if !readStoredRow(text, &a.rows[i]) {
			return nil, cursorExpired(q)
		}
	}
	if r.totalRows {
		a.totalRows = &total
	}
	if mark.offset += len(rows); mark.offset < total && len(rows) > 0 {
		a.next = s.Seal(w.ID, mark.encode())
	}
	a.encodeMeta(s.Now().Sub(started))
	return a, nil
}

// pageLimit checks the limit, the only field that may differ between pages.
func pageLimit(q *Query) (int, []fault.Detail) {
	c := &resolver{q: &Query{Limit: q.Limit}, r: &Resolved{limit: DefaultLimit, timezone: "UTC"}}
	c.readScope(time.Time{})
	return c.r.limit, c.problems
}

func cursorExpired(q *Query) error {
	return badCursor(q, "cursor_expired", "The result that the cursor belongs to was kept for 15 minutes and has expired. Send the query again without cursor.")
}

func badCursor(q *Query, code, message string) error {
	in := "body"
	if q.report != nil {
		in = "query"
	}
	return fault.New(fault.InvalidCursor, message, fault.Detail{Field: "cursor", In: in, Code: code, Message: message})
}
