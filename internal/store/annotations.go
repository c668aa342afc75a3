package store

import (
	"context"
	"fmt"

	"fanfare/internal/clock"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/record"
	"fanfare/internal/report"
)

var annotationTable = newRecords[report.Annotation](table{
	name:   "annotation",
	shape:  1,
	hidden: archived,
	columns: []column{
		index("status", func(a *report.Annotation) any { return string(a.Status) }),
		index("day", func(a *report.Annotation) any { return int64(a.Date) }),
		index("last_day", func(a *report.Annotation) any {
			if a.EndDate != nil {
				return int64(*a.EndDate)
			}
			return int64(a.Date)
		}),
		index("campaign_id", func(a *report.Annotation) any {
			if a.CampaignID == nil {
				return ""
			}
			return string(*a.CampaignID)
		}),
	},
	sorts: map[string]sorting{"created_at": {column: "created_at"}},
})

// Annotations stores notes on charts, and finds the events that charts show.
type Annotations struct {
	records[report.Annotation, *report.Annotation]
}

var (
	_ report.Annotations = (*Annotations)(nil)
	_ report.Moments     = (*Annotations)(nil)
)

// Annotations returns the store of annotations.
func (db *DB) Annotations() *Annotations {
	return &Annotations{records[report.Annotation, *report.Annotation]{db, annotationTable}}
}

// Save inserts a new record, or updates one that is unchanged since it was
// loaded.
func (s *Annotations) Save(ctx context.Context, a *report.Annotation, save record.Save) (record.Doc, error) {
	r, err := annotationTable.row(a.ID, &a.Common, a)
	if err != nil {
		return record.Doc{}, err
	}
	return s.db.save(ctx, recordWrite{table: annotationTable, row: r, common: &a.Common, save: save})
}

// Notes implements report.Annotations. A list of one campaign has the notes of
// all charts too.
func (s *Annotations) Notes(ctx context.Context, workspace ident.ID, q report.AnnotationQuery) ([]record.Doc, error) {
	b := newStatement(`SELECT `+annotationTable.selected()+` FROM annotation WHERE workspace_id = `, workspace)
	b.add(` AND status <> 'archived'`)
	if q.First != nil {
		b.and(`last_day >=`, int64(*q.First))
	}
	if q.Last != nil {
		b.and(`day <=`, int64(*q.Last))
	}
	if q.CampaignID != nil {
		in(b, `campaign_id`, []string{"", string(*q.CampaignID)})
	}
	if q.After != nil {
		b.add(` AND (day, id) < (`)
		b.value(q.After.Int)
		b.add(`, `)
		b.value(q.After.ID)
		b.add(`)`)
	}
	b.add(` ORDER BY day DESC, id DESC LIMIT `)
	b.value(q.Limit)
	rows, err := b.query(ctx, s.db.engine)
	if err != nil {
		return nil, toFault(fmt.Errorf("list annotations: %w", err))
	}
	var list []record.Doc
	for rows.Next() {
		_, d, err := annotationTable.readRecord(rows)
		if err != nil {
			return nil, err
		}
		list = append(list, d)
	}
	return list, nil
}

// HasCampaign implements report.Moments.
func (s *Annotations) HasCampaign(ctx context.Context, workspace, id ident.ID) (bool, error) {
	_, err := s.db.doc(ctx, campaignTable, workspace, id)
	if fault.Is(err, fault.NotFound) {
		return false, nil
	}
	return err == nil, err
}

// momentTypes are the events behind annotations.
var momentTypes = map[string]string{
	report.KindPaused: "campaign.paused", report.KindResumed: "campaign.resumed", report.KindCompleted: "campaign.completed",
	report.KindBudget: "campaign.updated", report.KindRestated: "metrics.restated",
}

// Moments implements report.Moments.
func (s *Annotations) Moments(ctx context.Context, workspace ident.ID, kind string, campaign *ident.ID, most int) ([]report.Moment, error) {
	switch kind {
	case report.KindLaunched:
		return s.launches(ctx, workspace, campaign, most)
	case report.KindBudget, report.KindRestated:
		return s.described(ctx, workspace, kind, campaign, most)
	}
	b := newStatement(`SELECT resource_id, created_at FROM event WHERE workspace_id = `, workspace)
	b.latest(kind, campaign, most)
	return s.moments(ctx, b)
}

// latest adds the conditions of the latest events of a kind.
func (b *builder) latest(kind string, campaign *ident.ID, most int) {
	b.and(`type =`, momentTypes[kind])
	if campaign != nil {
		b.and(`resource_id =`, string(*campaign))
	}
	b.add(` ORDER BY created_at DESC, id DESC LIMIT `)
	b.value(most)
}

// launches reads launches from the campaigns, which know them longer than events
// are kept.
func (s *Annotations) launches(ctx context.Context, workspace ident.ID, campaign *ident.ID, most int) ([]report.Moment, error) {
	b := newStatement(`SELECT id, launched_at FROM campaign WHERE workspace_id = `, workspace)
	b.add(` AND launched_at IS NOT NULL`)
	if campaign != nil {
		b.and(`id =`, string(*campaign))
	}
	b.add(` ORDER BY launched_at DESC, id DESC LIMIT `)
	b.value(most)
	return s.moments(ctx, b)
}

// moments reads the rows of a statement that selects a campaign and a time.
func (s *Annotations) moments(ctx context.Context, b *builder) ([]report.Moment, error) {
	rows, err := b.query(ctx, s.db.engine)
	if err != nil {
		return nil, toFault(fmt.Errorf("find events of charts: %w", err))
	}
	var list []report.Moment
	for rows.Next() {
		list = append(list, report.Moment{CampaignID: ident.ID(rows.Text()), At: clock.Instant(rows.Int())})
	}
	return list, nil
}

// chartEvent has the parts of events that charts show. Amounts of a budget are
// texts.
type chartEvent struct {
	Data struct {
		Budget       *report.Budget `json:"budget"`
		RestatedDays []clock.Date   `json:"restated_days"`
	} `json:"data"`
	Previous map[string]any `json:"previous"`
}

// described reads events whose document has what charts show.
func (s *Annotations) described(ctx context.Context, workspace ident.ID, kind string, campaign *ident.ID, most int) ([]report.Moment, error) {
	b := newStatement(`SELECT id, resource_id, created_at, doc, checksum FROM event WHERE workspace_id = `, workspace)
	b.latest(kind, campaign, most)
	rows, err := b.query(ctx, s.db.engine)
	if err != nil {
		return nil, toFault(fmt.Errorf("find events of charts: %w", err))
	}
	var list []report.Moment
	for rows.Next() {
		id := rows.Text()
		m := report.Moment{CampaignID: ident.ID(rows.Text()), At: clock.Instant(rows.Int())}
		doc, err := readDocument(rows, eventTable, id)
		if err != nil {
			return nil, err
		}
		var e chartEvent
		if err := decode(doc, &e); err != nil {
			return nil, err
		}
		if kind == report.KindRestated {
			m.CampaignID, m.Days = "", e.Data.RestatedDays
			list = append(list, m)
			continue
		}
		before, changed := e.Previous["budget"]
		if !changed {
			continue
		}
		m.Budgets[1] = e.Data.Budget
		if b, is := before.(map[string]any); is {
			text := func(name string) string {
				t, _ := b[name].(string)
				return t
			}
			m.Budgets[0] = &report.Budget{Type: text("type"), Amount: text("amount"), Currency: text("currency")}
		}
		list = append(list, m)
	}
	return list, nil
}
