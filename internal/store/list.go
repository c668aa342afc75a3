package store

import (
	"context"
	"fmt"
	"strings"

	"fanfare/internal/ident"
	"fanfare/internal/page"
)

// list reads one page. Rows without a sort value come last, in both
// directions, so a page may need two statements: one over the rows that have
// a value, one over those that have none. A page ends where its records have
// page.MaxBytes.
func (t *table) list(ctx context.Context, e Engine, workspace ident.ID, q page.Query) (page.Page, error) {
	// A list of a damaged database may lack records.
	if damage := e.Traits().Damage; damage != nil {
		return page.Page{}, toFault(damage)
	}
	if q.Sort == page.ByRanking {
		return t.ranked(ctx, e, workspace, q)
	}
	sort, ok := t.sorts[q.Sort]
	if !ok {
		return page.Page{}, fmt.Errorf("list %s: no sort %q", t.name, q.Sort)
	}
	var p page.Page
	last, room := page.Position{}, page.MaxBytes
	for _, null := range []bool{false, true} {
		if null && !sort.null || !null && q.After != nil && q.After.Null {
			continue
		}
		b := t.page(workspace, q, sort, null, q.Limit+1-len(p.Docs))
		rows, err := b.query(WithMaxBytes(ctx, max(room, 1)), e)
		if err != nil {
			return p, fmt.Errorf("list %s: %w", t.name, err)
		}
		for rows.Next() {
			place := page.Position{Null: null}
			switch {
			case null:
			case sort.text:
				place.Text = rows.Text()
			default:
				place.Int = rows.Int()
			}
			id, d, err := t.readRecord(rows)
			if err != nil {
				return p, err
			}
			place.ID = string(id)
			if len(p.Docs) == q.Limit || len(p.Docs) > 0 && len(d.JSON) > room {
				p.Next = &last
				continue
			}
			p.Docs, last, room = append(p.Docs, d), place, room-len(d.JSON)
		}
		if rows.Cut {
			p.Next = &last
		}
		if p.Next != nil {
			break
		}
	}
	return p, nil
}

// page returns the statement of one page.
func (t *table) page(workspace ident.ID, q page.Query, sort sorting, null bool, limit int) *builder {
	columns := sort.column + ", " + t.selected()
	if null {
		columns = t.selected()
	}
	b := newStatement(`SELECT `+columns+` FROM `+t.name+` WHERE workspace_id = `, workspace)
	b.where(t, workspace, q)
	order, less := " ASC", " > "
	if q.Desc {
		order, less = " DESC", " < "
	}
	after := q.After
	if sort.null && null {
		b.add(` AND ` + sort.column + ` IS NULL`)
		if after != nil && after.Null {
			b.add(` AND id` + less)
			b.value(after.ID)
		}
		b.add(` ORDER BY id` + order + ` LIMIT `)
		b.value(limit)
		return b
	}
	if sort.null {
		b.add(` AND ` + sort.column + ` IS NOT NULL`)
	}
	if after != nil {
		b.add(` AND (` + sort.column + `, id)` + less + `(`)
		if sort.text {
			b.value(after.Text)
		} else {
			b.value(after.Int)
		}
		b.add(`, `)
		b.value(after.ID)
		b.add(`)`)
	}
	b.add(` ORDER BY ` + sort.column + order + `, id` + order + ` LIMIT `)
	b.value(limit)
	return b
}

// builder builds a statement of a workspace with numbered placeholders.
type builder struct {
	workspace ident.ID
	text      strings.Builder
	args      []any
}

// newStatement starts a statement whose text ends before the workspace.
func newStatement(text string, workspace ident.ID) *builder {
	b := &builder{workspace: workspace}
	b.add(text)
	b.value(string(workspace))
	return b
}

// query runs the statement.
func (b *builder) query(ctx context.Context, e Engine) (*Rows, error) {
	return e.Query(Within(ctx, b.workspace), b.text.String(), b.args...)
}

func (b *builder) add(s string) { b.text.WriteString(s) }

func (b *builder) value(v any) {
	b.args = append(b.args, v)
	fmt.Fprintf(&b.text, "$%d", len(b.args))
}

// and adds a condition that ends in an operator, with its value.
func (b *builder) and(condition string, v any) {
	b.add(" AND " + condition + " ")
	b.value(v)
}

// in adds the condition that a column has one of the values. No row meets it if
// there are none.
func in[T ~string](b *builder, column string, list []T) {
	if len(list) == 0 {
		// PostgreSQL refuses an empty list.
		b.add(" AND 1 = 0")
		return
	}
	b.add(" AND " + column + " IN (")
	values(b, list)
	b.add(")")
}

func values[T ~string](b *builder, list []T) {
	for i, v := range list {
		if i > 0 {
			b.add(", ")
		}
		b.value(string(v))
	}
}

// where adds the conditions of a list query.
func (b *builder) where(t *table, workspace ident.ID, q page.Query) {
	switch {
	case t.log:
	case q.Status == nil && t.hidden == "":
	case q.Status == nil:
		b.add(` AND status <> '` + t.hidden + `'`)
	case len(q.Status) > 0:
		in(b, `status`, q.Status)
	}
	if q.From != nil {
		b.and(`created_at >=`, int64(*q.From))
	}
	if q.Until != nil {
		b.and(`created_at <`, int64(*q.Until))
	}
	for _, f := range q.Filters {
		condition, ok := t.filters[f.Name]
		if !ok {
			panic("store: " + t.name + " has no filter " + f.Name)
		}
		for condition != "" {
			text, mark, rest := cutMark(condition)
			b.add(text)
			switch mark {
			case "%w":
				b.value(string(workspace))
			case "%s":
				values(b, f.Values)
			}
			condition = rest
		}
	}
}

// cutMark splits a condition at its first placeholder mark.
func cutMark(condition string) (text, mark, rest string) {
	i := strings.IndexByte(condition, '%')
	if i < 0 {
		return condition, "", ""
	}
	return condition[:i], condition[i : i+2], condition[i+2:]
}
