package report

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"fanfare/internal/body"
	"fanfare/internal/clock"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/page"
	"fanfare/internal/record"
)

// The kinds of saved views.
const (
	KindView   = "view"
	KindReport = "report"
)

// View is a saved view of a list, or a saved report, as the API returns it.
type View struct {
	Head
	ViewSpec
	record.Common
}

// ViewSpec has the fields that a caller can write. The kind is fixed at
// creation. The page that shows a record decides which of the others it uses; a
// report needs a query.
type ViewSpec struct {
	Kind       string         `json:"kind"`
	Name       string         `json:"name"`
	Visibility string         `json:"visibility"`
	Page       string         `json:"page"`
	Filters    []Filter       `json:"filters"`
	Sort       *Sort          `json:"sort"`
	Columns    []string       `json:"columns"`
	GroupBy    *string        `json:"group_by"`
	DateRange  *DateRange     `json:"date_range"`
	Compare    *string        `json:"compare"`
	Query      jsontext.Value `json:"query"`
	Chart      *string        `json:"chart"`
}

// Filter restricts a list to values of a field.
type Filter struct {
	Field  string   `json:"field"`
	Values []string `json:"values"`
}

// Sort is the order of a list.
type Sort struct {
	Field string `json:"field"`
	Order string `json:"order"`
}

// DateRange is a range of days, both included, or a preset, which is evaluated
// anew whenever the range is used.
type DateRange struct {
	Preset    *string     `json:"preset,omitzero"`
	StartDate *clock.Date `json:"start_date,omitzero"`
	EndDate   *clock.Date `json:"end_date,omitzero"`
}

func (v *View) head() *Head            { return &v.Head }
func (v *View) common() *record.Common { return &v.Common }
func (v *View) private() bool          { return v.Visibility == private }

// CreateView stores a view or a report from a request body.
func (s *Service) CreateView(ctx context.Context, cause record.Cause, by Caller, sent *body.Value) (record.Doc, error) {
	check, err := s.checker(ctx, cause.Workspace)
	if err != nil {
		return record.Doc{}, err
	}
	f := body.NewReader(sent, false)
	v := &View{ViewSpec: s.readView(check, f, "")}
	f.Done(readOnly...)
	if err := f.Err(); err != nil {
		return record.Doc{}, err
	}
	return s.views.create(ctx, cause, by, v)
}

// GetView returns a view that the caller may see.
func (s *Service) GetView(ctx context.Context, workspace ident.ID, by Caller, id ident.ID) (record.Doc, error) {
	return s.views.get(ctx, workspace, by, id)
}

// ListViews returns one page of the views that the caller may see.
func (s *Service) ListViews(ctx context.Context, workspace ident.ID, by Caller, q page.Query) (page.Page, error) {
	return s.views.list(ctx, workspace, by, q)
}

// UpdateView applies a merge patch. A query is replaced as a whole.
func (s *Service) UpdateView(ctx context.Context, cause record.Cause, by Caller, id ident.ID, match record.Match, patch *body.Value) (record.Doc, error) {
	check, err := s.checker(ctx, cause.Workspace)
	if err != nil {
		return record.Doc{}, err
	}
	return s.views.change(ctx, cause, by, id, match, func(v *View, _ clock.Instant) (string, error) {
		fixed := append([]string{"kind"}, readOnly...)
		f, err := mergeWhole(v.Stored().JSON, patch, fixed, "query", "date_range")
		if err != nil {
			return "", err
		}
		spec := s.readView(check, f, v.Kind)
		f.Done(fixed...)
		if err := f.Err(); err != nil {
			return "", err
		}
		if err := checkLive(&v.Head); err != nil {
			return "", err
		}
		if len(record.Diff(&v.ViewSpec, &spec)) == 0 {
			return "", nil
		}
		v.ViewSpec = spec
		return "updated", nil
	})
}

// ArchiveView archives a view.
func (s *Service) ArchiveView(ctx context.Context, cause record.Cause, by Caller, id ident.ID, match record.Match) (record.Doc, error) {
	return s.views.archive(ctx, cause, by, id, match)
}

// mergeWhole is body.Merge, but the named members are replaced as a whole.
//
// Choice: a query and a range of days are values. Merged member by member, a
// patch would have to name every member that the new value lacks.
func mergeWhole(current []byte, patch *body.Value, fixed []string, whole ...string) (*body.Reader, error) {
	f, err := body.Merge(current, *patch, fixed)
	if err != nil {
		return nil, err
	}
	for _, name := range whole {
		if sent := patch.Get(name); sent != nil {
			*f.Object.Get(name) = *sent
		}
	}
	return f, nil
}

// readView reads the writable fields. kind is that of an existing record, empty
// for a new one.
func (s *Service) readView(check CheckQuery, f *body.Reader, kind string) ViewSpec {
	v := ViewSpec{Kind: kind, Visibility: private}
	if kind == "" {
		body.Set(&v.Kind, f.Choice("kind", body.Required, Kinds))
	}
	body.Set(&v.Name, f.Text("name", body.Required, 1, MaxName))
	body.Set(&v.Visibility, f.Choice("visibility", body.Optional, Visibilities))
	body.Set(&v.Page, f.Choice("page", body.Required, Pages))
	v.Filters = readFilters(f)
	v.Sort = readSort(f)
	v.Columns = f.List("columns", MaxColumns, func(path, item string) (string, bool) { return item, f.CheckText(path, item, 1, MaxWord) })
	v.GroupBy = f.Text("group_by", body.Nullable, 1, MaxWord)
	v.DateRange = s.readRange(f)
	v.Compare = f.Choice("compare", body.Nullable, Compares)
	v.Query = readQuery(check, f)
	v.Chart = f.Choice("chart", body.Nullable, Charts)
	if v.Kind == KindReport && !sent(f, "query") {
		f.Bad("query", "required", "is required for a report.", nil)
	}
	return v
}

func readFilters(f *body.Reader) []Filter {
	list := []Filter{}
	for _, o := range f.Objects("filters", MaxFilters) {
		var filter Filter
		body.Set(&filter.Field, o.Text("field", body.Required, 1, MaxWord))
		filter.Values = o.List("values", MaxValues, func(path, item string) (string, bool) { return item, o.CheckText(path, item, 0, MaxValue) })
		o.Done()
		if slices.ContainsFunc(list, func(had Filter) bool { return had.Field == filter.Field && filter.Field != "" }) {
			o.Bad(o.At("field"), "duplicate_item", "is in the list already.", nil)
		}
		list = append(list, filter)
	}
	return list
}

func readSort(f *body.Reader) *Sort {
	o := f.Nested("sort", body.Nullable)
	if o == nil {
		return nil
	}
	s := Sort{Order: "desc"}
	body.Set(&s.Field, o.Text("field", body.Required, 1, MaxWord))
	body.Set(&s.Order, o.Choice("order", body.Optional, Orders))
	o.Done()
	return &s
}

func (s *Service) readRange(f *body.Reader) *DateRange {
	o := f.Nested("date_range", body.Nullable)
	if o == nil {
		return nil
	}
	d := DateRange{Preset: o.Choice("preset", body.Optional, s.Presets), StartDate: o.Day("start_date"), EndDate: o.Day("end_date")}
	o.Done()
	preset := o.Object.Get("preset") != nil
	for _, name := range []string{"start_date", "end_date"} {
		switch there := o.Object.Get(name) != nil; {
		case preset && there:
			f.Bad("date_range."+name, "incompatible_fields", "cannot stand beside preset.", nil)
		case !preset && !there:
			f.Bad("date_range."+name, "required", "is required without a preset.", nil)
		}
	}
	switch {
	case d.StartDate != nil && d.EndDate != nil && *d.EndDate < *d.StartDate:
		f.Bad("date_range.end_date", "invalid_value", "must not be before start_date.", fault.Meta{"start_date": d.StartDate.String()})
	}
	return &d
}

// sent reports whether a member is there and not null.
func sent(f *body.Reader, name string) bool {
	v := f.Object.Get(name)
	return v != nil && v.Kind != body.KindNull
}

// readQuery reads an analytics query, nil for none. The query is stored as it
// was sent, so that a preset keeps rolling.
func readQuery(check CheckQuery, f *body.Reader) jsontext.Value {
	v := f.Typed("query", body.Nullable, func(v *body.Value) bool { return v.Kind == body.KindObject }, "an object")
	if v == nil {
		return nil
	}
	path := f.At("query")
	for _, name := range []string{"cursor", "dry_run"} {
		if v.Get(name) != nil {
			f.Bad(path+"."+name, "unknown_field", "belongs to one call and cannot be saved.", nil)
		}
	}
	if invalid, is := errors.AsType[*fault.Error](check(v)); is {
		for _, d := range invalid.Details {
			f.Bad(path+"."+d.Field, d.Code, strings.TrimPrefix(d.Message, d.Field+" "), d.Meta)
		}
	}
	return v.JSON()
}

// checker returns the check of queries of a workspace.
func (s *Service) checker(ctx context.Context, workspace ident.ID) (CheckQuery, error) {
	check, err := s.Queries.Checker(ctx, workspace)
	if err != nil {
		return nil, fmt.Errorf("prepare check of queries: %w", err)
	}
	return check, nil
}
