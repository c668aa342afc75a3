package store

import (
	"context"
	"slices"
	"strings"

	"fanfare/internal/campaign"
	"fanfare/internal/clock"
	"fanfare/internal/ident"
	"fanfare/internal/page"
	"fanfare/internal/record"
)

// Campaigns keeps campaigns.
type Campaigns struct{ db *DB }

var _ campaign.Store = (*Campaigns)(nil)

// Campaigns returns the store of campaigns.
func (db *DB) Campaigns() *Campaigns { return &Campaigns{db} }

var campaigns = newTable(table{
	name:    "campaign",
	shape:   1,
	reshape: reencode[campaign.Campaign],
	columns: []string{"name", "delivery_status", "objective", "start_at", "end_at", "launched_at", "spend"},
	sorts: map[string]sorting{
		"created_at":  {column: "created_at"},
		"updated_at":  {column: "updated_at"},
		"name":        {column: "name", text: true},
		"status":      {column: "status", text: true},
		"start_at":    {column: "start_at", null: true},
		"end_at":      {column: "end_at", null: true},
		"launched_at": {column: "launched_at", null: true},
		"spend":       {column: "spend", null: true},
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

// KindSettle is the job that lets a campaign's schedule take effect.
const KindSettle = "campaign.settle"

// Doc returns the record as it is answered, from memory where that is safe.
func (s *Campaigns) Doc(ctx context.Context, workspace, id ident.ID) (record.Doc, error) {
	return s.db.doc(ctx, campaigns, workspace, id)
}

// List reads one page.
func (s *Campaigns) List(ctx context.Context, workspace ident.ID, q page.Query) (page.Page, error) {
	q.Filters = slices.Clone(q.Filters)
	for i, f := range q.Filters {
		if f.Name == "q" {
			q.Filters[i].Values = []string{"%" + likeEscape.Replace(strings.ToLower(f.Values[0])) + "%"}
		}
	}
	p, err := campaigns.list(ctx, s.db.engine, workspace, q)
	return p, translate(err)
}

var likeEscape = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// Load reads a record to change it.
func (s *Campaigns) Load(ctx context.Context, workspace, id ident.ID) (*campaign.Campaign, error) {
	d, err := s.Doc(ctx, workspace, id)
	if err != nil {
		return nil, err
	}
	c := &campaign.Campaign{}
	if err := decode(d.JSON, c); err != nil {
		return nil, err
	}
	c.Loaded(workspace, d)
	return c, nil
}

// Insert saves a new record.
func (s *Campaigns) Insert(ctx context.Context, c *campaign.Campaign, save campaign.Save) (record.Doc, error) {
	return s.save(ctx, c, save, func(tx Tx, r row) error {
		if err := campaigns.add(tx, r); err != nil {
			return err
		}
		return moveRefs(tx, c.WorkspaceID, c.ID, nil, campaignRefs(&c.Spec))
	})
}

// Update saves a changed record if nobody else has changed it since.
func (s *Campaigns) Update(ctx context.Context, c *campaign.Campaign, was record.Stamp, save campaign.Save) (record.Doc, error) {
	var before campaign.Campaign
	if err := decode(c.Stored().JSON, &before); err != nil {
		return record.Doc{}, err
	}
	return s.save(ctx, c, save, func(tx Tx, r row) error {
		ok, err := campaigns.change(tx, r, was)
		if err != nil {
			return err
		}
		if !ok {
			return campaign.ErrRace
		}
		return moveRefs(tx, c.WorkspaceID, c.ID, campaignRefs(&before.Spec), campaignRefs(&c.Spec))
	})
}

func (s *Campaigns) save(ctx context.Context, c *campaign.Campaign, save campaign.Save, put func(Tx, row) error) (record.Doc, error) {
	doc, err := encode(c)
	if err != nil {
		return record.Doc{}, err
	}
	d := record.Doc{Stamp: c.Stamp(), JSON: doc}
	r := row{
		workspace: c.WorkspaceID, id: c.ID, stamp: d.Stamp, status: string(c.Status),
		created: int64(c.CreatedAt), updated: int64(c.UpdatedAt), doc: doc,
		columns: []any{
			strings.ToLower(c.Name), string(c.Delivery.Status), text(c.Objective),
			instant(c.Schedule.StartAt), instant(c.Schedule.EndAt), instant(c.LaunchedAt), spend(c.SpendToDate),
		},
	}
	trail, err := s.db.trail(save.Cause, save.At, c.ID, d, save.Events)
	if err != nil {
		return record.Doc{}, err
	}
	err = s.db.write(ctx, func(tx Tx) error {
		if err := put(tx, r); err != nil {
			return err
		}
		if err := s.db.leave(tx, &trail); err != nil {
			return err
		}
		switch {
		case save.Next != nil:
			return s.db.plan(tx, KindSettle, c.WorkspaceID, c.ID, *save.Next)
		case c.Version > 1:
			return dropJob(tx, KindSettle, c.WorkspaceID, c.ID)
		}
		return nil
	})
	return d, err
}

func campaignRefs(c *campaign.Spec) []ref {
	var list []ref
	for _, v := range c.Channels {
		list = append(list, ref{"channel", v})
	}
	for _, v := range c.Tags {
		list = append(list, ref{"tag", v})
	}
	for _, v := range c.AudienceIDs {
		list = append(list, ref{"audience_id", string(v)})
	}
	for _, v := range c.CreativeIDs {
		list = append(list, ref{"creative_id", string(v)})
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
