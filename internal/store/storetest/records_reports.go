package storetest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"fanfare/internal/campaign"
	"fanfare/internal/clock"
	"fanfare/internal/ident"
	"fanfare/internal/page"
	"fanfare/internal/record"
	"fanfare/internal/report"
)

// view returns a saved view that is not stored yet.
func (w *Fixture) view(id, name, visibility string, owner ident.ID) *report.View {
	now := w.Now()
	return &report.View{
		Head:     report.Head{ID: ident.ID(id), Status: report.StatusActive, OwnerID: owner},
		ViewSpec: report.ViewSpec{Kind: report.KindView, Name: name, Visibility: visibility, Page: "campaigns", Filters: []report.Filter{}, Columns: []string{}},
		Common:   record.Common{WorkspaceID: w.Workspace, Version: 1, CreatedBy: record.System, CreatedAt: now, UpdatedAt: now},
	}
}

// audited returns the effects of a change that only the audit log shows.
func (w *Fixture) audited(kind string) record.Save {
	return record.Save{Cause: w.Cause(), At: w.Now(), Events: []record.Event{{Type: kind, AuditOnly: true}}}
}

// recordsReports checks that lists show private records to their owner only, and
// that these records leave an audit entry and no event.
func recordsReports(t *testing.T, w *Fixture) {
	s := w.DB.SavedViews()
	for i, v := range []*report.View{
		w.view("viw_1", "Mine", "private", "usr_1"), w.view("viw_2", "Ours", "shared", "usr_1"), w.view("viw_3", "Theirs", "private", "usr_2"),
	} {
		w.Clock.Advance(1e9)
		v.CreatedAt = w.Now()
		if _, err := s.Save(t.Context(), v, w.audited("saved_view.created")); err != nil {
			t.Fatalf("%d: %v", i, err)
		}
	}
	list := func(user string, more ...page.Filter) string {
		t.Helper()
		p, err := s.List(t.Context(), w.Workspace, page.Query{Sort: "name", Limit: 10, Filters: append(more, page.Filter{Name: "visible", Values: []string{user}})})
		w.must(err)
		var names []string
		for _, d := range p.Docs {
			names = append(names, docName(t, d))
		}
		return strings.Join(names, " ")
	}
	for user, want := range map[string]string{"usr_1": "Mine Ours", "usr_2": "Ours Theirs", "usr_3": "Ours", "": "Ours"} {
		if got := list(user); got != want {
			t.Errorf("%s sees %q want %q", user, got, want)
		}
	}
	for filter, want := range map[string]string{"q=our": "Ours", "kind=view": "Mine Ours", "kind=report": "", "page=campaigns": "Mine Ours", "visibility=private": "Mine"} {
		name, value, _ := strings.Cut(filter, "=")
		if got := list("usr_1", page.Filter{Name: name, Values: []string{value}}); got != want {
			t.Errorf("%s: got %q want %q", filter, got, want)
		}
	}
	w.Count(0, `SELECT count(*) FROM event WHERE workspace_id = $1 AND resource_id LIKE 'viw%'`, string(w.Workspace))
	w.Count(3, `SELECT count(*) FROM audit WHERE workspace_id = $1 AND entry LIKE '%saved_view.created%'`, string(w.Workspace))
	w.Workspace, _, _ = w.AddWorkspace("other@example.com")
	if got := list("usr_1"); got != "" {
		t.Errorf("another workspace got %q", got)
	}
}

// readMoments reads the events behind annotations.
func (w *Fixture) readMoments(ctx context.Context) error {
	for _, kind := range report.AnnotationKinds[1:] {
		if _, err := w.DB.Annotations().Moments(ctx, w.Workspace, kind, nil, 10); err != nil {
			return err
		}
	}
	_, err := w.DB.Annotations().HasCampaign(ctx, w.Workspace, "cmp_none")
	if err != nil {
		return err
	}
	_, err = w.DB.Annotations().Notes(ctx, w.Workspace, report.AnnotationQuery{Limit: 1})
	return err
}

// recordsAnnotations checks that notes are found by their days, and that events
// are found as moments with what has changed.
func recordsAnnotations(t *testing.T, w *Fixture) {
	s := w.DB.Annotations()
	c := w.Draft("Sale")
	w.Insert(c)
	day := func(n int) clock.Date { return clock.MakeDate(2026, 11, n) }
	end := day(9)
	for i, spec := range []report.AnnotationSpec{{Date: day(3), Text: "Third"}, {Date: day(5), EndDate: &end, Text: "Fifth to ninth"}, {Date: day(7), Text: "Campaign", CampaignID: &c.ID}} {
		v := w.view(fmt.Sprint("ann_", i), "", "shared", w.Owner)
		a := &report.Annotation{Head: v.Head, Source: "user", Kind: report.KindNote, AnnotationSpec: spec, Count: 1, Changes: []report.BudgetShift{}, Common: v.Common}
		_, err := s.Save(t.Context(), a, w.audited("annotation.created"))
		w.must(err)
	}
	other := ident.ID("cmp_other")
	three, four, eight := day(3), day(4), day(8)
	for want, q := range map[string]report.AnnotationQuery{
		"ann_2 ann_1 ann_0": {}, "ann_1": {First: &eight}, "ann_0": {Last: &three}, "ann_2 ann_1": {First: &four}, "ann_1 ann_0": {CampaignID: &other},
		" ": {First: &four, Last: &four},
	} {
		q.Limit = 10
		docs, err := s.Notes(t.Context(), w.Workspace, q)
		w.must(err)
		var ids []string
		for _, d := range docs {
			ids = append(ids, string(d.ID()))
		}
		if got := strings.Join(ids, " "); got != strings.TrimSpace(want) {
			t.Errorf("%+v: got %q want %q", q, got, want)
		}
	}
	change := func(text string) {
		t.Helper()
		w.Clock.Advance(1e9)
		_, err := w.Campaigns.Update(t.Context(), w.Cause(), c.ID, record.Match{}, Sent(t, text), campaign.Defaults{})
		w.must(err)
	}
	change(`{"name":"Sale 2"}`)
	change(`{"budget":{"type":"daily","amount":"10.00","currency":"EUR"}}`)
	change(`{"budget":{"amount":"12.50"}}`)
	for _, a := range []campaign.Action{campaign.Launch, campaign.Pause} {
		_, err := w.Campaigns.Transition(t.Context(), w.Cause(), c.ID, record.Match{}, a)
		w.must(err)
	}
	for kind, want := range map[string]int{report.KindLaunched: 1, report.KindPaused: 1, report.KindResumed: 0, report.KindBudget: 2, report.KindRestated: 0} {
		for campaign, want := range map[*ident.ID]int{nil: want, &c.ID: want, &other: 0} {
			list, err := s.Moments(t.Context(), w.Workspace, kind, campaign, 10)
			w.must(err)
			if len(list) != want {
				t.Errorf("%s: got %d moments want %d", kind, len(list), want)
			}
			if kind != report.KindBudget || want == 0 {
				continue
			}
			if m := list[0]; m.CampaignID != c.ID || m.Budgets[0] == nil || m.Budgets[0].Amount != "10.00" || m.Budgets[1].Amount != "12.50" || list[1].Budgets[0] != nil {
				t.Errorf("got budgets %+v, %+v", list[0].Budgets, list[1].Budgets)
			}
		}
	}
}

func (w *Fixture) reportSteps() []Step {
	tries := 0
	return []Step{
		{"save view", false, func(ctx context.Context) error {
			tries++
			s := w.DB.SavedViews()
			v := w.view(fmt.Sprint("viw_", tries, w.Workspace), "View", "private", w.Owner)
			if _, err := s.Save(ctx, v, w.audited("saved_view.created")); err != nil {
				return err
			}
			_, err := s.List(ctx, w.Workspace, page.Query{Sort: "updated_at", Limit: 1, Filters: []page.Filter{{Name: "visible", Values: []string{string(w.Owner)}}}})
			return err
		}},
		{"save dashboard", false, func(ctx context.Context) error {
			tries++
			v := w.view(fmt.Sprint("dsh_", tries, w.Workspace), "Dashboard", "shared", w.Owner)
			d := &report.Dashboard{Head: v.Head, DashboardSpec: report.DashboardSpec{Name: v.Name, Visibility: v.Visibility, Tiles: []report.Tile{}}, Common: v.Common}
			_, err := w.DB.Dashboards().Save(ctx, d, w.audited("dashboard.created"))
			return err
		}},
		{"save annotation", false, func(ctx context.Context) error {
			tries++
			v := w.view(fmt.Sprint("ann_", tries, w.Workspace), "", "shared", w.Owner)
			a := &report.Annotation{Head: v.Head, Source: "user", Kind: report.KindNote, AnnotationSpec: report.AnnotationSpec{Date: clock.MakeDate(2026, 11, 3), Text: "Note"}, Count: 1, Changes: []report.BudgetShift{}, Common: v.Common}
			if _, err := w.DB.Annotations().Save(ctx, a, w.audited("annotation.created")); err != nil {
				return err
			}
			return w.readMoments(ctx)
		}},
	}
}
