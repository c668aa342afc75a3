package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"fanfare/internal/ident"
	"fanfare/internal/page"
	"fanfare/internal/record"
)

// rankedBatch is the number of ids per statement.
const rankedBatch = 1000

// ranked reads one page of a list that is sorted by q.Ranking, which has values
// that are not in the table. As in every list, records are ordered by value and id; records without a value come last,
// by id. It reads only the documents of the page.
func (t *table) ranked(ctx context.Context, e Engine, workspace ident.ID, q page.Query) (page.Page, error) {
	var places []page.Position
	if q.After == nil || !q.After.Null {
		for chunk := range slices.Chunk(placesAfter(q), rankedBatch) {
			ids := make([]ident.ID, len(chunk))
			for i, p := range chunk {
				ids[i] = ident.ID(p.ID)
			}
			there, err := t.ids(ctx, e, workspace, q, func(b *builder) {
				in(b, `id`, ids)
			})
			if err != nil {
				return page.Page{}, err
			}
			matching := make(map[string]bool, len(there))
			for _, id := range there {
				matching[id] = true
			}
			places = append(places, slices.DeleteFunc(chunk, func(p page.Position) bool { return !matching[p.ID] })...)
			if len(places) > q.Limit {
				break
			}
		}
	}
	if len(places) <= q.Limit {
		rest, err := t.unranked(ctx, e, workspace, q, q.Limit+1-len(places))
		if err != nil {
			return page.Page{}, err
		}
		places = append(places, rest...)
	}
	return t.pageAt(ctx, e, workspace, places, q.Limit)
}

// placesAfter returns the places of the ranking after the previous page, in
// order.
func placesAfter(q page.Query) []page.Position {
	compare := func(a, b page.Position) int {
		n := cmp.Or(cmp.Compare(a.Int, b.Int), strings.Compare(a.ID, b.ID))
		if q.Desc {
			return -n
		}
		return n
	}
	list := make([]page.Position, 0, len(q.Ranking))
	for id, value := range q.Ranking {
		if p := (page.Position{Int: value, ID: string(id)}); q.After == nil || compare(p, *q.After) > 0 {
			list = append(list, p)
		}
	}
	slices.SortFunc(list, compare)
	return list
}

// unranked returns the first places of matching records without a value.
func (t *table) unranked(ctx context.Context, e Engine, workspace ident.ID, q page.Query, most int) ([]page.Position, error) {
	order, less, after := " ASC", " > ", ""
	if q.Desc {
		order, less = " DESC", " < "
	}
	if q.After != nil && q.After.Null {
		after = q.After.ID
	}
	var list []page.Position
	for {
		ids, err := t.ids(ctx, e, workspace, q, func(b *builder) {
			if after != "" {
				b.add(` AND id` + less)
				b.value(after)
			}
			b.add(` ORDER BY id` + order + ` LIMIT `)
			b.value(rankedBatch)
		})
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			if _, ranked := q.Ranking[ident.ID(id)]; !ranked {
				list = append(list, page.Position{Null: true, ID: id})
			}
			if len(list) == most {
				return list, nil
			}
			after = id
		}
		if len(ids) < rankedBatch {
			return list, nil
		}
	}
}

// ids returns the ids of matching records. more extends the statement. The
// version is read only so that no index has all columns: SQLite would read such
// an index whole instead of finding each id of a list.
func (t *table) ids(ctx context.Context, e Engine, workspace ident.ID, q page.Query, more func(*builder)) ([]string, error) {
	b := newStatement(`SELECT id, version FROM `+t.name+` WHERE workspace_id = `, workspace)
	b.where(t, workspace, q)
	more(b)
	rows, err := b.query(ctx, e)
	if err != nil {
		return nil, fmt.Errorf("list ids of %s: %w", t.name, err)
	}
	var list []string
	for rows.Next() {
		list = append(list, rows.Text())
		rows.Int()
	}
	return list, nil
}

// docsBatch is the number of documents per statement. It is small because
// documents can be large, and a page ends where it has page.MaxBytes.
const docsBatch = 10

// pageAt reads the records at the given places, in their order. Places beyond
// the limit only mean that another page follows.
func (t *table) pageAt(ctx context.Context, e Engine, workspace ident.ID, places []page.Position, limit int) (p page.Page, err error) {
	room := page.MaxBytes
	for chunk := range slices.Chunk(places[:min(limit, len(places))], docsBatch) {
		docs, err := t.docsAt(ctx, e, workspace, chunk)
		if err != nil {
			return p, err
		}
		for _, place := range chunk {
			d := docs[place.ID]
			if room -= len(d.JSON); room < 0 && len(p.Docs) > 0 {
				p.Next = &places[len(p.Docs)-1]
				return p, nil
			}
			p.Docs = append(p.Docs, d)
		}
	}
	if len(places) > limit {
		p.Next = &places[limit-1]
	}
	return p, nil
}

// docsAt reads the records at the given places, by id.
func (t *table) docsAt(ctx context.Context, e Engine, workspace ident.ID, places []page.Position) (map[string]record.Doc, error) {
	b := newStatement(`SELECT `+t.selected()+` FROM `+t.name+` WHERE workspace_id = `, workspace)
	ids := make([]string, len(places))
	for i, place := range places {
		ids[i] = place.ID
	}
	in(b, `id`, ids)
	rows, err := b.query(ctx, e)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", t.name, err)
	}
	docs := make(map[string]record.Doc, len(places))
	for rows.Next() {
		id, d, err := t.readRecord(rows)
		if err != nil {
			return nil, err
		}
		docs[string(id)] = d
	}
	return docs, nil
}
