package report_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"fanfare/internal/clock"
	"fanfare/internal/ident"
	"fanfare/internal/record"
	"fanfare/internal/report"
)

// notes lists all notes, the latest first.
type notes struct {
	*shelf[report.Annotation, *report.Annotation]
}

func (n notes) Notes(_ context.Context, _ ident.ID, q report.AnnotationQuery) ([]record.Doc, error) {
	var list []record.Doc
	for day := clock.MakeDate(2026, 11, 30); day > clock.MakeDate(2026, 11, 1); day-- {
		for _, d := range n.docs {
			before := q.After == nil || int64(day) < q.After.Int || int64(day) == q.After.Int && string(d.ID()) < q.After.ID
			if strings.Contains(string(d.JSON), fmt.Sprintf(`"date":%q`, day)) && before && len(list) < q.Limit {
				list = append(list, d)
			}
		}
	}
	return list, nil
}

// moments has two launches around midnight in Berlin, and a changed budget.
type moments struct{}

func (moments) HasCampaign(_ context.Context, _, id ident.ID) (bool, error) {
	return id == "cmp_1", nil
}

func (moments) Moments(_ context.Context, _ ident.ID, kind string, campaign *ident.ID, _ int) ([]report.Moment, error) {
	at := func(day, hour int) clock.Instant {
		return clock.At(time.Date(2026, time.November, day, hour, 30, 0, 0, time.UTC))
	}
	var list []report.Moment
	switch kind {
	case report.KindLaunched:
		list = []report.Moment{{CampaignID: "cmp_1", At: at(10, 22)}, {CampaignID: "cmp_2", At: at(10, 23)}, {CampaignID: "cmp_1", At: at(11, 1)}}
	case report.KindBudget:
		list = []report.Moment{{CampaignID: "cmp_1", At: at(12, 9), Budgets: [2]*report.Budget{nil, {Type: "daily", Amount: "5.00", Currency: "EUR"}}}}
	case report.KindRestated:
		return []report.Moment{{At: at(12, 9), Days: []clock.Date{clock.MakeDate(2026, 11, 9), clock.MakeDate(2026, 11, 10)}}}, nil
	}
	var of []report.Moment
	for _, m := range list {
		if campaign == nil || m.CampaignID == *campaign {
			of = append(of, m)
		}
	}
	return of, nil
}

func TestAnnotations(t *testing.T) {
	t.Parallel()
	s := newFixture(t).s
	for text, want := range map[string]string{
		`{"date":"2026-11-10","text":"Sale"}`:                               "ok",
		`{"date":"2026-11-10","end_date":"2026-11-09","text":"Sale"}`:       "validation_failed end_date:invalid_value",
		`{"date":"2026-11-31","text":" ","campaign_id":"cmp_9","kind":"x"}`: "validation_failed campaign_id:not_found date:invalid_format kind:read_only text:too_short",
		`{}`: "validation_failed date:required text:required",
	} {
		_, err := s.CreateAnnotation(t.Context(), cause, editor, sent(t, text))
		if got := outcome(err); got != want {
			t.Errorf("%s: got %s want %s", text, got, want)
		}
	}
	ten, one := clock.MakeDate(2026, 11, 10), ident.ID("cmp_1")
	for _, tt := range []struct {
		q    report.AnnotationQuery
		want []string
	}{
		{report.AnnotationQuery{}, []string{
			`budget_changed 2026-11-12 ×1 "cmp_1"`, `launched 2026-11-11 ×2 null`, `restated 2026-11-10 ×1 null`, `launched 2026-11-10 ×1 "cmp_1"`, `note 2026-11-10 ×1 null`, `restated 2026-11-09 ×1 null`,
		}},
		{report.AnnotationQuery{CampaignID: &one}, []string{`budget_changed 2026-11-12 ×1 "cmp_1"`, `launched 2026-11-11 ×1 "cmp_1"`, `launched 2026-11-10 ×1 "cmp_1"`, `note 2026-11-10 ×1 null`}},
		{report.AnnotationQuery{First: &ten, Last: &ten, Kinds: []string{"launched", "restated"}}, []string{`restated 2026-11-10 ×1 null`, `launched 2026-11-10 ×1 "cmp_1"`}},
		{report.AnnotationQuery{Kinds: []string{"note"}}, []string{`note 2026-11-10 ×1 null`}},
	} {
		for _, limit := range []int{1, 2, 100} {
			var got []string
			q := tt.q
			q.Limit = limit
			for {
				p, err := s.ListAnnotations(t.Context(), "wks_1", "Europe/Berlin", q)
				if err != nil {
					t.Fatal(err)
				}
				for _, d := range p.Docs {
					var e struct {
						Kind       string    `json:"kind"`
						Date       string    `json:"date"`
						Count      int       `json:"count"`
						CampaignID *ident.ID `json:"campaign_id"`
					}
					if err := json.Unmarshal(d.JSON, &e); err != nil {
						t.Fatal(err)
					}
					of := "null"
					if e.CampaignID != nil {
						of = fmt.Sprintf("%q", *e.CampaignID)
					}
					got = append(got, fmt.Sprintf("%s %s ×%d %s", e.Kind, e.Date, e.Count, of))
				}
				if q.After = p.Next; p.Next == nil {
					break
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%+v, %d a page: annotations differ (-want +got):\n%s", tt.q, limit, diff)
			}
		}
	}
}
