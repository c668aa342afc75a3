package store

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"fanfare/internal/campaign"
	"fanfare/internal/clock"
	"fanfare/internal/ident"
	"fanfare/internal/page"
	"fanfare/internal/record"
)

// Campaigns stores campaigns.
type Campaigns struct {
	records[campaign.Campaign, *campaign.Campaign]
}

var _ campaign.Store = (*Campaigns)(nil)

// Campaigns returns the store of campaigns.
func (db *DB) Campaigns() *Campaigns {
	return &Campaigns{records[campaign.Campaign, *campaign.Campaign]{db, campaignTable}}
}

var campaignTable = newRecords[campaign.Campaign](table{
	name:   "campaign",
	shape:  3,
	hidden: archived,
	columns: []column{
		index("status", func(c *campaign.Campaign) any { return string(c.Status) }),
		index("name", func(c *campaign.Campaign) any { return strings.ToLower(c.Name) }),
		index("delivery_status", func(c *campaign.Campaign) any { return string(c.Delivery.Status) }),
		index("objective", func(c *campaign.Campaign) any { return text(c.Objective) }),
		index("start_at", func(c *campaign.Campaign) any { return instant(c.Schedule.StartAt) }),
		index("end_at", func(c *campaign.Campaign) any { return instant(c.Schedule.EndAt) }),
		index("launched_at", func(c *campaign.Campaign) any { return instant(c.LaunchedAt) }),
		index("spend", func(c *campaign.Campaign) any { return spend(c.SpendToDate) }),
	},
	sorts: map[string]sorting{
		"created_at":  {column: "created_at"},
		"updated_at":  {column: "updated_at"},
		"name":        {column: "name", text: true},
		"status":      {column: "status", text: true},
		"start_at":    {column: "start_at", null: true},
		"end_at":      {column: "end_at", null: true},
		"launched_at": {column: "launched_at", null: true},
		"spend":       {column: "spend", null: true},
		// This column has no index: it has few values that change often, so
		// that an index would slow down every write and save little.
		"delivery_status": {column: "delivery_status", text: true},
		"objective":       {column: "objective", text: true, null: true},
	},
	filters: map[string]string{
		"delivery_status": ` AND delivery_status IN (%s)`,
		"objective":       ` AND objective IN (%s)`,
		"channel":         refFilter("channel"),
		"tag":             refFilter("tag"),
		"audience_id":     refFilter("audience_id"),
		"creative_id":     refFilter("creative_id"),
		"q":               ` AND name LIKE %s ESCAPE '\'`,
	},
})

// Save inserts a new record, or updates one that is unchanged since it was
// loaded.
func (s *Campaigns) Save(ctx context.Context, c *campaign.Campaign, save record.Save) (record.Doc, error) {
	w, err := s.recordWrite(c, save)
	if err != nil {
		return record.Doc{}, err
	}
	return s.db.save(ctx, w)
}

// recordWrite prepares a record for writing.
func (s *Campaigns) recordWrite(c *campaign.Campaign, save record.Save) (recordWrite, error) {
	before, err := stored[campaign.Campaign](&c.Common)
	if err != nil {
		return recordWrite{}, err
	}
	r, err := campaignTable.row(c.ID, &c.Common, c)
	if err != nil {
		return recordWrite{}, err
	}
	w := recordWrite{
		table: campaignTable, row: r, common: &c.Common, save: save,
		before: campaignRefs(&before), now: campaignRefs(c), had: campaignWords(&before), words: campaignWords(c),
	}
	if save.Enable != nil {
		w.also = func(tx Tx) error { return s.db.request(tx, c.WorkspaceID, c.ID, *save.Enable, c.ExternalRefs) }
	}
	return w, nil
}

// Referring lists campaigns that refer to a record.
func (s *Campaigns) Referring(ctx context.Context, workspace, id, after ident.ID, most int) ([]ident.ID, error) {
	rows, err := s.db.engine.Query(Within(ctx, workspace), `SELECT DISTINCT record_id FROM ref WHERE workspace_id = $1 AND kind IN ('audience_id', 'creative_id', 'connection_id') AND value = $2 AND record_id > $3 ORDER BY record_id LIMIT $4`,
		string(workspace), string(id), string(after), most)
	if err != nil {
		return nil, toFault(fmt.Errorf("find campaigns of %s: %w", id, err))
	}
	var list []ident.ID
	for rows.Next() {
		list = append(list, ident.ID(rows.Text()))
	}
	return list, nil
}

// ByIDs reads the campaigns with these ids, ordered by id.
func (s *Campaigns) ByIDs(ctx context.Context, workspace ident.ID, ids []ident.ID) ([]*campaign.Campaign, error) {
	b := newStatement(`SELECT `+campaignTable.selected()+` FROM campaign WHERE workspace_id = `, workspace)
	in(b, `id`, ids)
	b.add(` ORDER BY id`)
	rows, err := b.query(ctx, s.db.engine)
	if err != nil {
		return nil, toFault(fmt.Errorf("read campaigns: %w", err))
	}
	var list []*campaign.Campaign
	for rows.Next() {
		_, d, err := campaignTable.readRecord(rows)
		if err != nil {
			return nil, err
		}
		c := &campaign.Campaign{}
		if err := decode(d.JSON, c); err != nil {
			return nil, err
		}
		c.SetStored(workspace, d)
		list = append(list, c)
	}
	return list, nil
}

// WithSpend lists the campaigns that report spend.
func (s *Campaigns) WithSpend(ctx context.Context, workspace ident.ID) ([]ident.ID, error) {
	rows, err := s.db.engine.Query(Within(ctx, workspace), `SELECT record_id FROM ref WHERE workspace_id = $1 AND kind = $2`, string(workspace), refSpend)
	if err != nil {
		return nil, toFault(fmt.Errorf("find campaigns that spend: %w", err))
	}
	var list []ident.ID
	for rows.Next() {
		list = append(list, ident.ID(rows.Text()))
	}
	return list, nil
}

// refSpend is the kind of reference that marks campaigns that report spend.
const refSpend = "spend"

func campaignRefs(c *campaign.Campaign) []ref {
	list := slices.Concat(
		refsOf("channel", c.Channels), refsOf("tag", c.Tags),
		refsOf("audience_id", c.AudienceIDs), refsOf("creative_id", c.CreativeIDs), refsOf("connection_id", c.Connections()),
	)
	if c.HasSpend() {
		list = append(list, ref{kind: refSpend})
	}
	return list
}

func text(s *string) any {
	if s == nil {
		return nil
	}
	return *s
}

func instant(i *clock.Instant) any {
	if i == nil {
		return nil
	}
	return int64(*i)
}

func spend(s *campaign.Sum) any {
	if s == nil {
		return nil
	}
	return s.Amount.Micros
}

// SaveAll implements campaign.Store.
func (s *Campaigns) SaveAll(ctx context.Context, cause record.Cause, writes []campaign.Write, answer []byte) error {
	type prepared struct {
		recordWrite
		log changeLog
	}
	list := make([]prepared, len(writes))
	for i, w := range writes {
		r, err := s.recordWrite(w.Campaign, w.Save)
		if err != nil {
			return err
		}
		log, err := s.db.changeLog(w.Save.Cause, w.Save.At, w.Campaign.ID, record.Doc{Stamp: r.row.stamp, JSON: r.row.doc}, w.Save.Events)
		if err != nil {
			return err
		}
		list[i] = prepared{r, log}
	}
	return s.db.writeTx(Within(ctx, cause.Workspace), func(tx Tx) error {
		for i := range list {
			if err := s.db.saveIn(tx, &list[i].recordWrite, &list[i].log); err != nil {
				return err
			}
		}
		return storeResponse(tx, cause, clock.At(s.db.now()), cause.Workspace, record.Doc{JSON: answer})
	})
}

// IDs implements campaign.Store.
func (s *Campaigns) IDs(ctx context.Context, workspace ident.ID, q page.Query, after ident.ID, most int) ([]ident.ID, error) {
	found, err := campaignTable.ids(ctx, s.db.engine, workspace, withPattern(q), func(b *builder) {
		b.and(`id >`, string(after))
		b.add(` ORDER BY id LIMIT `)
		b.value(most)
	})
	list := make([]ident.ID, len(found))
	for i, id := range found {
		list[i] = ident.ID(id)
	}
	return list, toFault(err)
}
