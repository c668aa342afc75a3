package analytics

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fanfare/internal/body"
	"fanfare/internal/fault"
)

// TestQueryRules reads bodies without facts: types, limits, the form of filters,
// and problems of values beside those of the body.
func TestQueryRules(t *testing.T) {
	t.Parallel()
	const rest = `"metrics":["spend"],"date_range":{"preset":"last_7_days"}`
	for _, tt := range []struct {
		body string
		want []string
	}{
		{`{` + rest + `}`, nil},
		{`{` + rest + `,"filters":{"and":[{"field":"channel","op":"eq","values":["email"]}]}}`, nil},
		{`{` + rest + `,"filters":{"and":[],"or":[]}}`, []string{"filters incompatible_fields"}},
		{`{` + rest + `,"filters":{"not":{"and":[],"field":"channel"}}}`, []string{"filters.not incompatible_fields"}},
		{`{` + rest + `,"filters":{"or":[]}}`, []string{"filters.or too_few_items"}},
		{`{` + rest + `,"filters":[{"and":[{"or":[]}]},null,1]}`, []string{"filters[0].and[0].or too_few_items", "filters[1] not_nullable", "filters[2] invalid_type"}},
		{`{` + rest + `,"filters":{"field":"channel","op":"eq","values":[null,true]}}`, []string{"filters.values[0] not_nullable", "filters.values[1] invalid_type"}},
		{`{` + rest + `,"filters":{}}`, []string{"filters.field required", "filters.op required"}},
		{`{` + rest + `,"limit":0,"dry_run":1,"cursor":""}`, []string{"limit too_small", "cursor too_short", "dry_run invalid_type"}},
		// The values of readable members are checked too, but not those of
		// members that have a problem already.
		{`{"metrics":["spent"],"date_range":{"preset":7},"granularity":"decade","order_by":[{"order":"up"}],"x":1}`, []string{
			"date_range.preset invalid_type", "order_by[0].field required", "order_by[0].order invalid_value", "x unknown_field",
			"metrics[0] invalid_value", "granularity invalid_value",
		}},
	} {
		v, err := body.Parse([]byte(tt.body))
		if err != nil {
			t.Fatal(err)
		}
		_, err = parseQuery(&v, wks, noon)
		var got []string
		if f, ok := errors.AsType[*fault.Error](err); ok && f.Code == fault.ValidationFailed {
			for _, d := range f.Details {
				got = append(got, d.Field+" "+d.Code)
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: problems differ (-want +got):\n%s", tt.body, diff)
		}
	}
}

// TestQueryBody runs a query and a dry run of it as callers send them.
func TestQueryBody(t *testing.T) {
	t.Parallel()
	s := smallFacts(t).service()
	for text, estimated := range map[string]bool{"false": false, "true": true} {
		v, err := body.Parse([]byte(`{"metrics":["spend"],"date_range":{"start_date":"2026-10-01","end_date":"2026-10-07"},"dry_run":` + text + `}`))
		if err != nil {
			t.Fatal(err)
		}
		a, err := s.Query(t.Context(), wks, &v)
		if err != nil {
			t.Fatal(err)
		}
		if a.Estimated() != estimated {
			t.Errorf("dry_run %s: got estimated %v", text, a.Estimated())
		}
	}
	if _, err := s.Query(t.Context(), wks, &body.Value{Kind: body.KindObject}); !fault.Is(err, fault.ValidationFailed) {
		t.Errorf("got %v for an empty query, want a validation fault", err)
	}
}
