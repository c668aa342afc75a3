package rates_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fanfare/internal/fault"
	"fanfare/internal/rates"
	"fanfare/internal/store/sqlitetest"
	"fanfare/internal/store/storetest"
)

// TestSetRules sends rates: limits, formats and duplicates.
func TestSetRules(t *testing.T) {
	t.Parallel()
	w := storetest.NewFixture(t, sqlitetest.Open(t))
	set := func(sent any) *storetest.Answer {
		return w.Answer(w.Rates().Set(t.Context(), w.Cause(), storetest.Sent(t, sent)))
	}
	const good = `{"date":"2026-11-13","currency":"USD","rate":"1.1634"}`
	for _, tt := range []struct {
		body string
		want []string
	}{
		{`{}`, []string{"rates required"}},
		{`{"rates":[],"base":"EUR"}`, []string{"rates too_few_items", "base unknown_field"}},
		{`{"rates":[` + strings.Repeat(good+",", 1000) + good + `]}`, []string{"rates too_many_items"}},
		{`{"rates":[{"date":"13.11.2026","currency":"EUR","rate":0},{"currency":"usd","rate":10000001},{"date":null,"currency":"JPY","rate":"1,5","x":1}]}`, []string{
			"rates[0].date invalid_format", "rates[0].currency invalid_value", "rates[0].rate too_small",
			"rates[1].date required", "rates[1].currency invalid_value", "rates[1].rate too_large",
			"rates[2].date not_nullable", "rates[2].rate invalid_format", "rates[2].x unknown_field",
		}},
		{`{"rates":[` + good + `,` + good + `]}`, []string{"rates[1] duplicate_item"}},
		{`{"rates":[` + good + `,` + good + `],"x":1}`, []string{"x unknown_field"}},
	} {
		if diff := cmp.Diff(tt.want, codes(set(tt.body).Err)); diff != "" {
			t.Errorf("%.80s differs (-want +got):\n%s", tt.body, diff)
		}
	}
	var u rates.UpdateResult
	set(`{"rates":[` + good + `]}`).Decode(&u)
	if u.Rates != 1 || u.Written != 1 || u.Carried != 2 {
		t.Errorf("got %+v want 1 rate written and 2 carried", u)
	}
}

// TestPutRules checks that rates of a file obey the same rules.
func TestPutRules(t *testing.T) {
	t.Parallel()
	w := storetest.NewFixture(t, sqlitetest.Open(t))
	friday := day(t, "2026-11-13")
	list := []rates.Rate{
		{Date: friday, Currency: "EUR", PerEuro: 1},
		{Date: friday, Currency: "???", PerEuro: 1},
		{Date: friday, Currency: "USD"},
		{Date: friday, Currency: "USD", PerEuro: 1},
	}
	_, err := w.Rates().Put(t.Context(), w.Cause(), "", list)
	want := []string{"rates[0].currency invalid_value", "rates[1].currency invalid_value", "rates[2].rate invalid_value", "rates[3] duplicate_item"}
	if diff := cmp.Diff(want, codes(err)); diff != "" {
		t.Errorf("problems differ (-want +got):\n%s", diff)
	}
}

// codes lists the fields and codes of a fault.
func codes(err error) (list []string) {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		for _, d := range f.Details {
			list = append(list, d.Field+" "+d.Code)
		}
	}
	return list
}
