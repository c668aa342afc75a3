package report

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"

	"fanfare/internal/clock"
	"fanfare/internal/ident"
	"fanfare/internal/page"
	"fanfare/internal/record"
)

// maxMoments is how many events of a kind are read for the automatic
// annotations of one list. Choice: of a range with more, the latest count.
const maxMoments = 5_000

// maxChanges is how many changed budgets an automatic annotation lists.
const maxChanges = 20

// Moment is an event that charts show. Budgets are the old and the new one, for
// a changed budget; Days are the restated days.
type Moment struct {
	CampaignID ident.ID
	At         clock.Instant
	Budgets    [2]*Budget
	Days       []clock.Date
}

// Budget is a budget of a campaign.
type Budget struct {
	Type     string `json:"type"`
	Amount   string `json:"amount"`
	Currency string `json:"currency"`
}

// BudgetShift is a changed budget. One of the two is nil if the campaign had, or
// has, none.
type BudgetShift struct {
	CampaignID ident.ID `json:"campaign_id"`
	Previous   *Budget  `json:"previous"`
	Budget     *Budget  `json:"budget"`
}

// entry is an annotation as lists show it. An automatic annotation is derived
// from events whenever it is read, so it has no status, owner and version. Its id
// is its kind and its day.
type entry struct {
	ID         ident.ID      `json:"id"`
	Status     *Status       `json:"status"`
	OwnerID    *ident.ID     `json:"owner_id"`
	Source     string        `json:"source"`
	Kind       string        `json:"kind"`
	Date       clock.Date    `json:"date"`
	EndDate    *clock.Date   `json:"end_date"`
	Text       *string       `json:"text"`
	CampaignID *ident.ID     `json:"campaign_id"`
	Count      int64         `json:"count"`
	Changes    []BudgetShift `json:"changes"`

	Version    *int64         `json:"version"`
	CreatedBy  *record.Actor  `json:"created_by"`
	CreatedAt  *clock.Instant `json:"created_at"`
	UpdatedAt  *clock.Instant `json:"updated_at"`
	ArchivedAt *clock.Instant `json:"archived_at"`

	// doc is the document of a note, nil for an automatic annotation.
	doc *record.Doc
}

func (e *entry) position() page.Position { return page.Position{Int: int64(e.Date), ID: string(e.ID)} }

// later orders annotations as lists show them.
func later(a, b page.Position) int {
	return cmp.Or(cmp.Compare(b.Int, a.Int), cmp.Compare(b.ID, a.ID))
}

// ListAnnotations returns one page of notes and automatic annotations. zone
// decides the day of an event.
func (s *Service) ListAnnotations(ctx context.Context, workspace ident.ID, zone string, q AnnotationQuery) (page.Page, error) {
	list, err := s.notes(ctx, workspace, q)
	if err != nil {
		return page.Page{}, err
	}
	automatic, err := s.automatic(ctx, workspace, zone, q)
	if err != nil {
		return page.Page{}, err
	}
	for _, e := range automatic {
		if q.After == nil || later(e.position(), *q.After) > 0 {
			list = append(list, *e)
		}
	}
	slices.SortFunc(list, func(a, b entry) int { return later(a.position(), b.position()) })
	var p page.Page
	if len(list) > q.Limit {
		list = list[:q.Limit]
		last := list[len(list)-1].position()
		p.Next = &last
	}
	for _, e := range list {
		if e.doc != nil {
			p.Docs = append(p.Docs, *e.doc)
			continue
		}
		text, err := json.Marshal(e, json.Deterministic(true))
		if err != nil {
			return p, fmt.Errorf("encode annotation: %w", err)
		}
		p.Docs = append(p.Docs, record.Doc{JSON: text})
	}
	return p, nil
}

// notes returns the first notes of a page, one more than the limit if there are
// more.
func (s *Service) notes(ctx context.Context, workspace ident.ID, q AnnotationQuery) ([]entry, error) {
	if !wanted(q.Kinds, KindNote) {
		return nil, nil
	}
	q.Limit++
	docs, err := s.Annotations.Notes(ctx, workspace, q)
	if err != nil {
		return nil, err
	}
	list := make([]entry, len(docs))
	for i := range docs {
		if err := json.Unmarshal(docs[i].JSON, &list[i]); err != nil {
			return nil, fmt.Errorf("read annotation: %w", err)
		}
		list[i].doc = &docs[i]
	}
	return list, nil
}

func wanted(asked []string, value string) bool { return asked == nil || slices.Contains(asked, value) }

// automatic returns all automatic annotations of a range: the events of a day
// and a kind are one.
func (s *Service) automatic(ctx context.Context, workspace ident.ID, zone string, q AnnotationQuery) ([]*entry, error) {
	loc, err := clock.Zone(zone)
	if err != nil {
		return nil, fmt.Errorf("zone of workspace: %w", err)
	}
	groups := map[string]*entry{}
	for _, kind := range AnnotationKinds[1:] {
		if !wanted(q.Kinds, kind) || kind == KindRestated && q.CampaignID != nil {
			continue
		}
		moments, err := s.Moments.Moments(ctx, workspace, kind, q.CampaignID, maxMoments)
		if err != nil {
			return nil, err
		}
		for _, m := range moments {
			days := m.Days
			if kind != KindRestated {
				days = []clock.Date{clock.DateIn(m.At.Time(), loc)}
			}
			for _, day := range days {
				if (q.First == nil || day >= *q.First) && (q.Last == nil || day <= *q.Last) {
					add(groups, kind, day, &m)
				}
			}
		}
	}
	list := make([]*entry, 0, len(groups))
	for _, e := range groups {
		list = append(list, e)
	}
	return list, nil
}

// add adds an event to the annotation of its day and kind.
func add(groups map[string]*entry, kind string, day clock.Date, m *Moment) {
	key := kind + "_" + day.String()
	e := groups[key]
	if e == nil {
		e = &entry{ID: ident.ID(key), Source: sourceAutomatic, Kind: kind, Date: day, Changes: []BudgetShift{}}
		groups[key] = e
		if m.CampaignID != "" {
			e.CampaignID = &m.CampaignID
		}
	}
	if e.CampaignID != nil && *e.CampaignID != m.CampaignID {
		e.CampaignID = nil
	}
	e.Count++
	if kind == KindBudget && len(e.Changes) < maxChanges {
		e.Changes = append(e.Changes, BudgetShift{m.CampaignID, m.Budgets[0], m.Budgets[1]})
	}
}
