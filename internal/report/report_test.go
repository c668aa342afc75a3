package report_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"fanfare/internal/body"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/page"
	"fanfare/internal/record"
	"fanfare/internal/report"
)

// shelf stores records of one kind in memory.
type shelf[T any, P interface {
	*T
	SetStored(ident.ID, record.Doc)
}] struct {
	docs  map[ident.ID]record.Doc
	saves []record.Save
}

func newShelf[T any, P interface {
	*T
	SetStored(ident.ID, record.Doc)
}]() *shelf[T, P] {
	return &shelf[T, P]{docs: map[ident.ID]record.Doc{}}
}

func (s *shelf[T, P]) Save(_ context.Context, v *T, save record.Save) (record.Doc, error) {
	text, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return record.Doc{}, err
	}
	var is struct {
		Version int64 `json:"version"`
	}
	if err := json.Unmarshal(text, &is); err != nil {
		return record.Doc{}, err
	}
	d := record.Doc{JSON: text, Stamp: record.Stamp{Version: is.Version}}
	s.docs[d.ID()], s.saves = d, append(s.saves, save)
	return d, nil
}

func (s *shelf[T, P]) Load(_ context.Context, workspace, id ident.ID) (*T, error) {
	d, there := s.docs[id]
	if !there {
		return nil, fault.Missing()
	}
	v := new(T)
	if err := json.Unmarshal(d.JSON, v); err != nil {
		return nil, err
	}
	P(v).SetStored(workspace, d)
	return v, nil
}

func (s *shelf[T, P]) List(_ context.Context, _ ident.ID, q page.Query) (page.Page, error) {
	if len(q.Filters) == 0 || q.Filters[len(q.Filters)-1].Name != "visible" {
		return page.Page{}, errors.New("the list is not restricted to what the user may see")
	}
	return page.Page{}, nil
}

// queries refuses queries without a metric.
type queries struct{}

func (queries) Checker(context.Context, ident.ID) (report.CheckQuery, error) {
	return func(q *body.Value) error {
		if q.Get("metrics") != nil {
			return nil
		}
		return fault.Invalid([]fault.Detail{{Field: "metrics", Code: "required", Message: "metrics is required."}})
	}, nil
}

type fixture struct {
	*testing.T
	s     *report.Service
	views *shelf[report.View, *report.View]
}

func newFixture(t *testing.T) fixture {
	views := newShelf[report.View, *report.View]()
	now := time.Date(2026, time.November, 15, 12, 0, 0, 0, time.UTC)
	return fixture{t, report.New(report.Deps{
		Annotations: notes{newShelf[report.Annotation, *report.Annotation]()}, Moments: moments{},
		Views: views, Dashboards: newShelf[report.Dashboard, *report.Dashboard](), Queries: queries{}, Presets: []string{"last_7_days"},
		Now: func() time.Time { return now }, Random: rand.Reader,
	}), views}
}

var (
	cause  = record.Cause{Workspace: "wks_1", Actor: record.System}
	other  = report.Caller{User: "usr_other"}
	editor = report.Caller{User: "usr_editor"}
	admin  = report.Caller{User: "usr_admin", Manage: true}
)

func sent(t *testing.T, text string) *body.Value {
	t.Helper()
	v, err := body.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return &v
}

// outcome is the code of a fault and its fields, or ok.
func outcome(err error) string {
	f, is := errors.AsType[*fault.Error](err)
	if !is {
		if err == nil {
			return "ok"
		}
		return err.Error()
	}
	list := []string{string(f.Code)}
	for _, d := range f.Details {
		if d.Field != "" {
			list = append(list, d.Field+":"+d.Code)
		}
	}
	slices.Sort(list[1:])
	return strings.Join(list, " ")
}

const view = `{"kind":"view","name":"Mine","page":"campaigns"`

func TestCreateView(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		view + `}`: "ok",
		view + `,"date_range":{"preset":"last_7_days"},"compare":"previous_year","filters":[{"field":"status","values":["active"]}],"sort":{"field":"spend"}}`: "ok",
		view + `,"date_range":{"preset":"last_7_days","start_date":"2026-11-01"}}`:                                                                             "validation_failed date_range.start_date:incompatible_fields",
		view + `,"date_range":{"start_date":"2026-11-01"}}`:                                                                                                    "validation_failed date_range.end_date:required",
		view + `,"date_range":{"start_date":"2026-11-02","end_date":"2026-11-01"}}`:                                                                            "validation_failed date_range.end_date:invalid_value",
		view + `,"date_range":{"preset":"someday"}}`:                                                                                                           "validation_failed date_range.preset:invalid_value",
		view + `,"filters":[{"field":"a"},{"field":"a"}],"columns":["x","x"]}`:                                                                                 "validation_failed columns[1]:duplicate_item filters[1].field:duplicate_item",
		view + `,"colour":"red","owner_id":"usr_1"}`:                                                                                                           "validation_failed colour:unknown_field owner_id:read_only",
		`{"kind":"report","name":"R","page":"analytics","query":{"metrics":["spend"]},"chart":"bar"}`:                                                          "ok",
		`{"kind":"report","name":"R","page":"analytics"}`:                                                                                                      "validation_failed query:required",
		`{"kind":"report","name":"R","page":"analytics","query":{},"chart":"pie"}`:                                                                             "validation_failed chart:invalid_value query.metrics:required",
		`{"kind":"report","name":"R","page":"analytics","query":{"metrics":["spend"],"cursor":"x"}}`:                                                           "validation_failed query.cursor:unknown_field",
		`{"kind":"list","name":" "}`:                                                                                                                           "validation_failed kind:invalid_value name:too_short page:required",
	} {
		_, err := newFixture(t).s.CreateView(t.Context(), cause, other, sent(t, text))
		if got := outcome(err); got != want {
			t.Errorf("%s: got %s want %s", text, got, want)
		}
	}
}

// TestWhoMay checks who sees and changes private and shared records.
func TestWhoMay(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for visibility, want := range map[string]map[report.Caller][3]string{
		"private": {other: {"not_found", "not_found", "not_found"}, editor: {"ok", "ok", "ok"}, admin: {"not_found", "not_found", "not_found"}},
		"shared":  {other: {"ok", "insufficient_permissions", "insufficient_permissions"}, editor: {"ok", "ok", "ok"}, admin: {"ok", "ok", "ok"}},
	} {
		for caller, outcomes := range want {
			d, err := f.s.CreateView(t.Context(), cause, editor, sent(t, fmt.Sprintf(`%s,"visibility":%q}`, view, visibility)))
			if err != nil {
				t.Fatal(err)
			}
			_, get := f.s.GetView(t.Context(), "wks_1", caller, d.ID())
			_, update := f.s.UpdateView(t.Context(), cause, caller, d.ID(), record.Match{}, sent(t, `{"name":"Other"}`))
			_, archive := f.s.ArchiveView(t.Context(), cause, caller, d.ID(), record.Match{})
			if got := [3]string{outcome(get), outcome(update), outcome(archive)}; got != outcomes {
				t.Errorf("%s, %s: got %v want %v", visibility, caller.User, got, outcomes)
			}
		}
	}
	if _, err := f.s.ListViews(t.Context(), "wks_1", other, page.Query{}); err != nil {
		t.Error(err)
	}
	for _, s := range f.views.saves {
		for _, e := range s.Events {
			if !e.AuditOnly {
				t.Errorf("%s is an event, which everybody in the workspace can read", e.Type)
			}
		}
	}
}

func TestUpdateView(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	d, err := f.s.CreateView(t.Context(), cause, editor, sent(t, `{"kind":"report","name":"R","page":"analytics","query":{"metrics":["spend"],"limit":5}}`))
	if err != nil {
		t.Fatal(err)
	}
	update := func(text string, match record.Match) string {
		got, err := f.s.UpdateView(t.Context(), cause, editor, d.ID(), match, sent(t, text))
		if err == nil {
			d = got
		}
		return outcome(err)
	}
	stale := record.ParseMatch([]string{`"7"`})
	for _, tt := range []struct {
		text, want string
		match      record.Match
		version    int64
	}{
		{`{}`, "ok", record.Match{}, 1},
		{`{"name":"R"}`, "ok", record.Match{}, 1},
		{`{"name":"S"}`, "precondition_failed If-Match:precondition_failed", stale, 1},
		{`{"query":{"metrics":["clicks"]}}`, "ok", record.Match{}, 2},
		{`{"kind":"report"}`, "ok", record.Match{}, 2},
		{`{"kind":"view"}`, "validation_failed kind:read_only", record.Match{}, 2},
		{`{"query":null}`, "validation_failed query:required", record.Match{}, 2},
		{`{"query":{"metrics":["spend"],"limit":5},"version":2}`, "ok", record.Match{}, 3},
	} {
		if got := update(tt.text, tt.match); got != tt.want || d.Version != tt.version {
			t.Errorf("%s: got %s, version %d want %s, version %d", tt.text, got, d.Version, tt.want, tt.version)
		}
		if tt.version == 2 && !strings.Contains(string(d.JSON), `"query":{"metrics":["clicks"]}`) {
			t.Errorf("%s: the query is not replaced as a whole: %s", tt.text, d.JSON)
		}
	}
	if _, err := f.s.ArchiveView(t.Context(), cause, editor, d.ID(), record.Match{}); err != nil {
		t.Fatal(err)
	}
	if got := update(`{"name":"T"}`, record.Match{}); got != "archived" {
		t.Errorf("archived: got %s", got)
	}
	if again, err := f.s.ArchiveView(t.Context(), cause, editor, d.ID(), record.Match{}); err != nil || again.Version != 4 {
		t.Errorf("again: got version %d, %v", again.Version, err)
	}
}

func TestDashboards(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	make := func(text string) string {
		d, err := f.s.CreateView(t.Context(), cause, editor, sent(t, text))
		if err != nil {
			t.Fatal(err)
		}
		return string(d.ID())
	}
	mine := make(`{"kind":"report","name":"R","page":"analytics","query":{"metrics":["spend"]}}`)
	ours := make(`{"kind":"report","name":"R","page":"analytics","visibility":"shared","query":{"metrics":["spend"]}}`)
	list := make(view + `}`)
	gone := make(`{"kind":"report","name":"R","page":"analytics","query":{"metrics":["spend"]}}`)
	if _, err := f.s.ArchiveView(t.Context(), cause, editor, ident.ID(gone), record.Match{}); err != nil {
		t.Fatal(err)
	}
	tile := func(id string, x, y, w, h int, more string) string {
		return fmt.Sprintf(`{"id":%q,"x":%d,"y":%d,"width":%d,"height":%d%s}`, id, x, y, w, h, more)
	}
	of := func(id string) string { return fmt.Sprintf(`,"saved_view_id":%q`, id) }
	for _, tt := range []struct {
		by               report.Caller
		visibility, want string
		tiles            []string
	}{
		{editor, "private", "ok", []string{tile("a", 0, 0, 6, 4, of(mine)), tile("b", 6, 0, 6, 4, `,"query":{"metrics":["spend"]}`), tile("c", 0, 4, 12, 1, `,"title":"Heading"`)}},
		{editor, "shared", "ok", []string{tile("a", 0, 0, 6, 4, of(ours))}},
		{editor, "shared", "validation_failed tiles[0].saved_view_id:invalid_value", []string{tile("a", 0, 0, 6, 4, of(mine))}},
		{other, "private", "validation_failed tiles[0].saved_view_id:not_found", []string{tile("a", 0, 0, 6, 4, of(mine))}},
		{editor, "private", "validation_failed tiles[0].saved_view_id:invalid_value", []string{tile("a", 0, 0, 6, 4, of(list))}},
		{editor, "private", "validation_failed tiles[0].saved_view_id:archived", []string{tile("a", 0, 0, 6, 4, of(gone))}},
		{editor, "private", "validation_failed tiles[0].query:incompatible_fields", []string{tile("a", 0, 0, 6, 4, of(mine)+`,"query":{"metrics":["spend"]}`)}},
		{editor, "private", "validation_failed tiles[0].query.metrics:required", []string{tile("a", 0, 0, 6, 4, `,"query":{}`)}},
		{editor, "private", "validation_failed tiles[0].width:too_large", []string{tile("a", 7, 0, 6, 4, "")}},
		{editor, "private", "validation_failed tiles[1]:invalid_value", []string{tile("a", 0, 0, 6, 4, ""), tile("b", 5, 3, 2, 2, "")}},
		{editor, "private", "validation_failed tiles[1].id:duplicate_item", []string{tile("a", 0, 0, 6, 4, ""), tile("a", 6, 3, 2, 2, "")}},
		{editor, "private", "validation_failed tiles[0].height:too_large tiles[0].width:too_small", []string{tile("a", 0, 0, 0, 25, "")}},
	} {
		text := fmt.Sprintf(`{"name":"D","visibility":%q,"tiles":[%s]}`, tt.visibility, strings.Join(tt.tiles, ","))
		_, err := f.s.CreateDashboard(t.Context(), cause, tt.by, sent(t, text))
		if got := outcome(err); got != tt.want {
			t.Errorf("%s: got %s want %s", text, got, tt.want)
		}
	}
	// A report that was archived since stays on its dashboard.
	d, err := f.s.CreateDashboard(t.Context(), cause, editor, sent(t, `{"name":"D","tiles":[`+tile("a", 0, 0, 6, 4, of(mine))+`]}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.s.ArchiveView(t.Context(), cause, editor, ident.ID(mine), record.Match{}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.s.UpdateDashboard(t.Context(), cause, editor, d.ID(), record.Match{}, sent(t, `{"tiles":[`+tile("a", 0, 0, 12, 4, of(mine))+`]}`)); err != nil {
		t.Errorf("a tile of an archived report: %v", err)
	}
}
