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
// a value, one over those that have none.
func (t *table) list(ctx context.Context, e Engine, workspace ident.ID, q page.Query) (page.Page, error) {
	if q.Sort == page.ByRanking {
		return t.ranked(ctx, e, workspace, q)
	}
	sort, ok := t.sorts[q.Sort]
	if !ok {
		return page.Page{}, fmt.Errorf("list %s: no sort %q", t.name, q.Sort)
	}
	var p page.Page
	last := page.Position{}
	for _, null := range []bool{false, true} {
		if null && !sort.null || !null && q.After != nil && q.After.Null {
			continue
		}
		b := t.page(workspace, q, sort, null, q.Limit+1-len(p.Docs))
		rows, err := e.Query(ctx, b.text.String(), b.args...)
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
			id, d, err := t.read(rows)
			if err != nil {
				return p, err
			}
			place.ID = string(id)
			if len(p.Docs) == q.Limit {
				p.Next = &last
				continue
			}
			p.Docs, last = append(p.Docs, d), place
		}
		if p.Next != nil || len(p.Docs) > q.Limit {
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
	b := &builder{}
	b.add(`SELECT ` + columns + ` FROM ` + t.name + ` WHERE workspace_id = `)
	b.value(string(workspace))
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

// builder builds a statement with numbered placeholders.
type builder struct {
	text strings.Builder
	args []any
}

func (b *builder) add(s string) { b.text.WriteString(s) }

func (b *builder) value(v any) {
	b.args = append(b.args, v)
	fmt.Fprintf(&b.text, "$%d", len(b.args))
}

func (b *builder) values(list []string) {
	for i, v := range list {
		if i > 0 {
			b.add(", ")
		}
		b.value(v)
	}
}

func (b *builder) ids(list []ident.ID) {
	for i, id := range list {
		if i > 0 {
			b.add(", ")
		}
		b.value(string(id))
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
		b.add(` AND status IN (`)
		b.values(q.Status)
		b.add(`)`)
	}
	if q.From != nil {
		b.add(` AND created_at >= `)
		b.value(int64(*q.From))
	}
	if q.Until != nil {
		b.add(` AND created_at < `)
		b.value(int64(*q.Until))
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
				b.values(f.Values)
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
