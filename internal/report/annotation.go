package report

import (
	"context"
	"fmt"

	"fanfare/internal/body"
	"fanfare/internal/clock"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/page"
	"fanfare/internal/record"
)

// The sources of annotations.
const (
	sourceUser      = "user"
	sourceAutomatic = "automatic"
)

// The kinds of annotations. All but notes are automatic.
const (
	KindNote      = "note"
	KindLaunched  = "launched"
	KindPaused    = "paused"
	KindResumed   = "resumed"
	KindCompleted = "completed"
	KindBudget    = "budget_changed"
	KindRestated  = "restated"
)

// AnnotationKinds lists all kinds.
var (
	AnnotationKinds = []string{KindNote, KindLaunched, KindPaused, KindResumed, KindCompleted, KindBudget, KindRestated}
)

// Annotation is a note of a user on the charts of a workspace or of a campaign,
// as the API returns it. Everybody in the workspace sees it.
type Annotation struct {
	Head
	Source string `json:"source"`
	Kind   string `json:"kind"`
	AnnotationSpec
	Count   int64         `json:"count"`
	Changes []BudgetShift `json:"changes"`
	record.Common
}

// AnnotationSpec has the fields that a caller can write. EndDate is nil for a
// single day, CampaignID for all charts.
type AnnotationSpec struct {
	Date       clock.Date  `json:"date"`
	EndDate    *clock.Date `json:"end_date"`
	Text       string      `json:"text"`
	CampaignID *ident.ID   `json:"campaign_id"`
}

func (a *Annotation) head() *Head            { return &a.Head }
func (a *Annotation) common() *record.Common { return &a.Common }
func (a *Annotation) private() bool          { return false }

// CreateAnnotation stores a note from a request body.
func (s *Service) CreateAnnotation(ctx context.Context, cause record.Cause, by Caller, sent *body.Value) (record.Doc, error) {
	spec, err := s.parseAnnotation(ctx, cause.Workspace, body.NewReader(sent, false), nil)
	if err != nil {
		return record.Doc{}, err
	}
	a := &Annotation{Source: sourceUser, Kind: KindNote, AnnotationSpec: spec, Count: 1, Changes: []BudgetShift{}}
	return s.annotations.create(ctx, cause, by, a)
}

// UpdateAnnotation applies a merge patch.
func (s *Service) UpdateAnnotation(ctx context.Context, cause record.Cause, by Caller, id ident.ID, match record.Match, patch *body.Value) (record.Doc, error) {
	return s.annotations.change(ctx, cause, by, id, match, func(a *Annotation, _ clock.Instant) (string, error) {
		f, err := body.Merge(a.Stored().JSON, *patch, annotationReadOnly)
		if err != nil {
			return "", err
		}
		spec, err := s.parseAnnotation(ctx, cause.Workspace, f, &a.AnnotationSpec)
		if err != nil {
			return "", err
		}
		if err := checkLive(&a.Head); err != nil {
			return "", err
		}
		if len(record.Diff(&a.AnnotationSpec, &spec)) == 0 {
			return "", nil
		}
		a.AnnotationSpec = spec
		return "updated", nil
	})
}

// ArchiveAnnotation archives a note.
func (s *Service) ArchiveAnnotation(ctx context.Context, cause record.Cause, by Caller, id ident.ID, match record.Match) (record.Doc, error) {
	return s.annotations.archive(ctx, cause, by, id, match)
}

// GetAnnotation returns a note.
func (s *Service) GetAnnotation(ctx context.Context, workspace ident.ID, by Caller, id ident.ID) (record.Doc, error) {
	return s.annotations.get(ctx, workspace, by, id)
}

// annotationReadOnly lists the fields of annotations that callers cannot write.
var annotationReadOnly = append([]string{"source", "kind", "count", "changes"}, readOnly...)

// parseAnnotation parses and checks the note that a caller sent.
func (s *Service) parseAnnotation(ctx context.Context, workspace ident.ID, f *body.Reader, was *AnnotationSpec) (AnnotationSpec, error) {
	var a AnnotationSpec
	if f.Take("date", body.Required) != nil {
		body.Set(&a.Date, f.Day("date"))
	}
	if a.EndDate = nil; sent(f, "end_date") {
		a.EndDate = f.Day("end_date")
	} else {
		f.Skip("end_date")
	}
	if a.EndDate != nil && *a.EndDate < a.Date {
		f.Bad("end_date", "invalid_value", "must not be before date.", fault.Meta{"date": a.Date.String()})
	}
	body.Set(&a.Text, f.Text("text", body.Required, 1, MaxNote))
	a.CampaignID = f.ID("campaign_id", body.Nullable)
	f.Done(annotationReadOnly...)
	if a.CampaignID != nil && (was == nil || was.CampaignID == nil || *was.CampaignID != *a.CampaignID) {
		there, err := s.Moments.HasCampaign(ctx, workspace, *a.CampaignID)
		if err != nil {
			return a, fmt.Errorf("look up campaign: %w", err)
		}
		if !there {
			f.Problems.Add(fault.MissingRef("campaign_id", *a.CampaignID))
		}
	}
	return a, f.Err()
}

// AnnotationQuery asks for one page of annotations, the latest first. Nil means
// no limit.
type AnnotationQuery struct {
	First, Last *clock.Date
	CampaignID  *ident.ID
	Kinds       []string
	Limit       int
	After       *page.Position
}
