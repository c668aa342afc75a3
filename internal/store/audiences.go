package store

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"fanfare/internal/analytics"
	"fanfare/internal/audience"
	"fanfare/internal/campaign"
	"fanfare/internal/ident"
	"fanfare/internal/page"
	"fanfare/internal/record"
)

// Audiences stores audiences and the members of customer lists.
type Audiences struct {
	records[audience.Audience, *audience.Audience]
}

var (
	_ audience.Store      = (*Audiences)(nil)
	_ campaign.References = (*Audiences)(nil)
)

// Audiences returns the store of audiences.
func (db *DB) Audiences() *Audiences {
	return &Audiences{records[audience.Audience, *audience.Audience]{db, audienceTable}}
}

var audienceTable = newRecords[audience.Audience](table{
	name:   "audience",
	shape:  3,
	hidden: archived,
	columns: []column{
		index("status", func(a *audience.Audience) any { return string(a.Status) }),
		index("name", func(a *audience.Audience) any { return strings.ToLower(a.Name) }),
		index("type", func(a *audience.Audience) any { return string(a.Type) }),
		index("size", func(a *audience.Audience) any {
			if a.Size == nil {
				return nil
			}
			return a.Size.Estimate
		}),
	},
	sorts: map[string]sorting{
		"created_at":    {column: "created_at"},
		"updated_at":    {column: "updated_at"},
		"name":          {column: "name", text: true},
		"size.estimate": {column: "size", null: true},
	},
	filters: map[string]string{
		"type": ` AND type IN (%s)`,
		"tag":  refFilter("tag"),
		"q":    ` AND name LIKE %s ESCAPE '\'`,
	},
})

// Save inserts a new record, or updates one that is unchanged since it was
// loaded.
func (s *Audiences) Save(ctx context.Context, a *audience.Audience, save record.Save) (record.Doc, error) {
	before, err := stored[audience.Audience](&a.Common)
	if err != nil {
		return record.Doc{}, err
	}
	w, err := s.recordWrite(&before, a, save)
	if err != nil {
		return record.Doc{}, err
	}
	return s.db.save(ctx, w)
}

// recordWrite prepares a record for writing.
func (s *Audiences) recordWrite(before, a *audience.Audience, save record.Save) (recordWrite, error) {
	r, err := audienceTable.row(a.ID, &a.Common, a)
	return recordWrite{
		table: audienceTable, row: r, common: &a.Common, save: save,
		before: refsOf("tag", before.Tags), now: refsOf("tag", a.Tags), had: audienceWords(before), words: audienceWords(a),
	}, err
}

// ChangeMembers changes the members of a customer list and writes the list in
// the same transaction.
func (s *Audiences) ChangeMembers(ctx context.Context, a *audience.Audience, m audience.MemberChange, save record.Save) (answer record.Doc, err error) {
	err = s.db.writeTx(Within(ctx, a.WorkspaceID), func(tx Tx) error {
		if err := s.lock(tx, a); err != nil {
			return err
		}
		added, err := inBatches(m.Add, func(batch []string) (int64, error) { return addMembers(tx, a, batch) })
		if err != nil {
			return err
		}
		removed, err := inBatches(m.Remove, func(batch []string) (int64, error) { return removeMembers(tx, a, batch) })
		if err != nil {
			return err
		}
		next, events, jobs := a.WithMemberChange(added, removed, save.At)
		answer.JSON, err = encode(audience.MembersChanged{AudienceID: a.ID, Added: added, Removed: removed, Count: next.MemberCount(), Status: next.Status})
		if err != nil || added+removed == 0 && save.Cause.Idempotency == nil {
			return err
		}
		save := save
		save.Events, save.Jobs = events, jobs
		w, err := s.recordWrite(a, next, save)
		if err != nil {
			return err
		}
		t, err := s.db.changeLog(save.Cause, save.At, a.ID, record.Doc{Stamp: w.row.stamp, JSON: w.row.doc}, events)
		if err != nil {
			return err
		}
		t.answer = answer
		return s.db.saveIn(tx, &w, &t)
	})
	return answer, err
}

// lock serializes changes to one list's members. If another change was first,
// it fails and the caller has to load the list again.
func (s *Audiences) lock(tx Tx, a *audience.Audience) error {
	rows, err := tx.Query(`SELECT version, rev FROM audience WHERE workspace_id = $1 AND id = $2 `+s.db.engine.Traits().RowLock, string(a.WorkspaceID), string(a.ID))
	if err != nil {
		return fmt.Errorf("lock audience: %w", err)
	}
	if !rows.Next() || (record.Stamp{Version: rows.Int(), Rev: rows.Int()}) != a.Stored().Stamp {
		return record.ErrRace
	}
	return nil
}

// maxBatch is the largest number of members in one statement.
const maxBatch = 512

// inBatches calls do with batches whose sizes are powers of two, so that only
// ten statements are prepared. Values are sorted by key, so that neighbors are
// written together.
func inBatches(values []string, do func(batch []string) (int64, error)) (total int64, err error) {
	values = slices.Sorted(slices.Values(values))
	for size := maxBatch; len(values) > 0; {
		if len(values) < size {
			size /= 2
			continue
		}
		n, err := do(values[:size])
		if err != nil {
			return 0, err
		}
		total, values = total+n, values[size:]
	}
	return total, nil
}

var memberHashTable = newTable(table{
	name: "audience_member", key: []string{"workspace_id", "audience_id", "hash"},
	columns: names("workspace_id", "audience_id", "hash"),
})

func addMembers(tx Tx, a *audience.Audience, hashes []string) (int64, error) {
	args := make([]any, 0, 3*len(hashes))
	for _, hash := range hashes {
		args = append(args, string(a.WorkspaceID), string(a.ID), hash)
	}
	n, err := tx.Exec(memberHashTable.insertRows(len(hashes))+` ON CONFLICT (workspace_id, audience_id, hash) DO NOTHING`, args...)
	if err != nil {
		return 0, fmt.Errorf("add members: %w", err)
	}
	return n, nil
}

func removeMembers(tx Tx, a *audience.Audience, hashes []string) (int64, error) {
	b := newStatement(`DELETE FROM audience_member WHERE workspace_id = `, a.WorkspaceID)
	b.and(`audience_id =`, string(a.ID))
	in(b, `hash`, hashes)
	n, err := tx.Exec(b.text.String(), b.args...)
	if err != nil {
		return 0, fmt.Errorf("remove members: %w", err)
	}
	return n, nil
}

// Statuses returns the statuses of audiences, with one statement.
func (s *Audiences) Statuses(ctx context.Context, workspace ident.ID, ids []ident.ID) (map[ident.ID]audience.Status, error) {
	b := newStatement(`SELECT id, status FROM audience WHERE workspace_id = `, workspace)
	in(b, `id`, ids)
	rows, err := b.query(ctx, s.db.engine)
	if err != nil {
		return nil, toFault(fmt.Errorf("read statuses of audiences: %w", err))
	}
	found := map[ident.ID]audience.Status{}
	for rows.Next() {
		found[ident.ID(rows.Text())] = audience.Status(rows.Text())
	}
	return found, nil
}

// Usability returns the usability of audiences.
func (s *Audiences) Usability(ctx context.Context, workspace ident.ID, ids []ident.ID) (map[ident.ID]record.Usability, error) {
	statuses, err := s.Statuses(ctx, workspace, ids)
	if err != nil {
		return nil, err
	}
	found := map[ident.ID]record.Usability{}
	for id, status := range statuses {
		found[id] = status.Usability()
	}
	return found, nil
}

// overlaps counts the members that other lists share with a list. It reads the
// members of the list once and finds each in the index by hash.
const overlaps = `SELECT shared, id, version, rev, shape, doc, checksum FROM
(SELECT o.audience_id AS other, count(*) AS shared FROM audience_member m
JOIN audience_member o ON o.workspace_id = m.workspace_id AND o.hash = m.hash
WHERE m.workspace_id = $1 AND m.audience_id = $2 AND o.audience_id <> $3 GROUP BY o.audience_id) s
JOIN audience a ON a.id = s.other WHERE a.workspace_id = $4 AND a.status <> 'archived' ORDER BY shared DESC, a.id LIMIT $5`

// Overlaps returns the lists that share members with a list.
func (s *Audiences) Overlaps(ctx context.Context, workspace, id ident.ID, most int) ([]audience.SharedMembers, error) {
	rows, err := s.db.engine.Query(Within(ctx, workspace), overlaps, string(workspace), string(id), string(id), string(workspace), most)
	if err != nil {
		return nil, toFault(fmt.Errorf("find overlaps of %s: %w", id, err))
	}
	var list []audience.SharedMembers
	for rows.Next() {
		o := audience.SharedMembers{Shared: rows.Int(), With: &audience.Audience{}}
		_, d, err := audienceTable.readRecord(rows)
		if err != nil {
			return nil, err
		}
		if err := decode(d.JSON, o.With); err != nil {
			return nil, err
		}
		list = append(list, o)
	}
	return list, nil
}

// Campaigns lists the campaigns that target an audience.
func (s *Audiences) Campaigns(ctx context.Context, workspace, id ident.ID, most int) ([]analytics.CampaignMetrics, error) {
	p, err := s.db.Campaigns().List(ctx, workspace, page.Query{
		Sort: "created_at", Desc: true, Limit: most, Filters: []page.Filter{{Name: "audience_id", Values: []string{string(id)}}},
	})
	if err != nil {
		return nil, err
	}
	list := make([]analytics.CampaignMetrics, len(p.Docs))
	for i, d := range p.Docs {
		var c struct {
			ID   ident.ID `json:"id"`
			Name string   `json:"name"`
		}
		if err := decode(d.JSON, &c); err != nil {
			return nil, err
		}
		list[i] = analytics.CampaignMetrics{CampaignID: c.ID, Name: c.Name}
	}
	return list, nil
}
