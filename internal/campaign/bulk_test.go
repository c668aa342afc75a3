package campaign_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"fanfare/internal/campaign"
	"fanfare/internal/fault"
	"fanfare/internal/record"
	"fanfare/internal/store/storetest"
)

func bulk(c *fixture, body string) (a campaign.BulkAnswer, err error) {
	d, err := c.Campaigns.Bulk(c.T.Context(), c.Cause(), storetest.Sent(c.T, body), defaults)
	if err == nil {
		err = json.Unmarshal(d.JSON, &a)
	}
	return a, err
}

func bulkOK(c *fixture, body string) campaign.BulkAnswer {
	c.T.Helper()
	a, err := bulk(c, body)
	if err != nil {
		c.T.Fatalf("%s: %v", body, err)
	}
	return a
}

// outcomes lists the outcomes of a bulk edit in the order of the results.
func outcomes(a campaign.BulkAnswer) string {
	var list []string
	for _, r := range a.Results {
		text := r.Outcome
		if r.Error != nil {
			text += " " + string(r.Error.Code)
			for _, d := range r.Error.Details {
				text += " " + d.Field + ":" + d.Code
			}
		}
		list = append(list, text)
	}
	return strings.Join(list, ", ")
}

// TestBulk changes campaigns that exist in many states. Every problem is in the
// answer, and none stops the others.
func TestBulk(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	const budget = `"budget":{"type":"daily","amount":"100.05","currency":"USD"}`
	plain := create(c, `{"name":"Plain",`+budget+`,"tags":["a","b"]}`)
	euro := create(c, `{"name":"Euro","budget":{"type":"daily","amount":"10.00","currency":"EUR"}}`)
	none := create(c, `{"name":"None"}`)
	gone := create(c, `{"name":"Gone",`+budget+`}`)
	act(c, gone, "archive").OK()
	ids := fmt.Sprintf(`"ids":[%q,%q,%q,%q,"cmp_none"]`, plain, euro, none, gone)
	for _, tt := range []struct{ change, want string }{
		{`"budget":{"percent":10}`, "changed, changed, failed validation_failed budget:required, failed archived :archived, failed not_found"},
		{`"budget":{"amount":"50","currency":"USD"}`, "changed, failed validation_failed budget:currency_mismatch, failed validation_failed budget:required, failed archived :archived, failed not_found"},
		{`"budget":{"amount":"50","currency":"USD"}`, "unchanged, failed validation_failed budget:currency_mismatch, failed validation_failed budget:required, failed archived :archived, failed not_found"},
		{`"add_tags":["C","a"],"remove_tags":["b"]`, "changed, changed, changed, failed archived :archived, failed not_found"},
		{`"schedule":{"start_at":"2026-12-01T00:00:00Z","end_at":"2026-11-30T00:00:00Z"}`, "failed validation_failed schedule.end_at:invalid_value, failed validation_failed schedule.end_at:invalid_value, failed validation_failed schedule.end_at:invalid_value, failed validation_failed schedule.end_at:invalid_value, failed not_found"},
		{`"schedule":{"end_at":"2026-12-31T00:00:00Z"}`, "changed, changed, changed, failed archived :archived, failed not_found"},
	} {
		before := read(c, plain)["version"]
		dry := bulkOK(c, `{`+ids+`,"change":{`+tt.change+`},"validate_only":true}`)
		if got := read(c, plain)["version"]; got != before {
			t.Errorf("%s: validate_only changed version %v to %v", tt.change, before, got)
		}
		a := bulkOK(c, `{`+ids+`,"change":{`+tt.change+`}}`)
		if got := outcomes(a); got != tt.want || outcomes(dry) != tt.want {
			t.Errorf("%s: got %s, and %s before, want %s", tt.change, got, outcomes(dry), tt.want)
		}
		if got := a.Changed + a.Unchanged + a.Failed; got != len(a.Results) {
			t.Errorf("%s: got %d counted of %d", tt.change, got, len(a.Results))
		}
	}
	r := read(c, plain)
	if got := fmt.Sprint(r["tags"], r["budget"].(map[string]any)["amount"], r["version"]); got != "[a c]50.005" {
		t.Errorf("got tags, amount and version %s", got)
	}
	if got := read(c, euro)["budget"].(map[string]any)["amount"]; got != "11.00" {
		t.Errorf("got %v want 11.00", got)
	}
	c.Count(3, `SELECT count(*) FROM event WHERE workspace_id = $1 AND resource_id = $2 AND type = 'campaign.updated'`, string(c.Workspace), euro)
}

func TestBulkRounds(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	for _, tt := range []struct{ amount, currency, percent, want string }{
		{"100.05", "USD", "10", "110.06"}, {"0.01", "USD", "-50", "0.01"}, {"99.99", "USD", "-33.3", "66.69"}, {"1005", "JPY", "0.1", "1006"}, {"10.00", "EUR", "1000", "110.00"},
	} {
		id := create(c, fmt.Sprintf(`{"name":"N","budget":{"type":"daily","amount":%q,"currency":%q}}`, tt.amount, tt.currency))
		bulkOK(c, fmt.Sprintf(`{"ids":[%q],"change":{"budget":{"percent":%s}}}`, id, tt.percent))
		if got := read(c, id)["budget"].(map[string]any)["amount"]; got != tt.want {
			t.Errorf("%s %s %s%%: got %v want %s", tt.amount, tt.currency, tt.percent, got, tt.want)
		}
	}
}

// TestBulkFilter walks over all campaigns that match a filter.
func TestBulkFilter(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	want := map[string]bool{}
	for i := range 450 {
		tag := "even"
		if i%2 == 1 {
			tag = "odd"
		}
		id := create(c, fmt.Sprintf(`{"name":"Campaign %d","tags":[%q]}`, i, tag))
		want[id] = tag == "odd"
	}
	calls, after, changed := 0, "null", 0
	for after != "" {
		a := bulkOK(c, `{"filter":{"tag":"ODD","status":["draft"]},"after":`+after+`,"change":{"add_tags":["new"]}}`)
		calls++
		changed += a.Changed
		after = ""
		if a.NextAfter != nil {
			after = fmt.Sprintf("%q", *a.NextAfter)
		}
	}
	if calls != 2 || changed != 225 {
		t.Errorf("got %d calls and %d changes", calls, changed)
	}
	for id, is := range want {
		if got := slices.Contains(read(c, id)["tags"].([]any), any("new")); got != is {
			t.Fatalf("%s: got the tag %v want %v", id, got, is)
		}
	}
	other := c.another()
	if a := bulkOK(other, `{"filter":{"tag":"odd"},"change":{"add_tags":["x"]}}`); len(a.Results) != 0 {
		t.Errorf("another workspace changed %d campaigns", len(a.Results))
	}
}

// TestBulkOnce repeats a call under its idempotency key: nothing is written.
func TestBulkOnce(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	id := create(c, `{"name":"N","budget":{"type":"daily","amount":"100.00","currency":"USD"}}`)
	cause := c.Cause()
	cause.Idempotency = &record.Idempotency{Key: "k", Fingerprint: "f", Status: 200}
	call := storetest.Sent(t, fmt.Sprintf(`{"ids":[%q],"change":{"budget":{"percent":10}}}`, id))
	first, err := c.Campaigns.Bulk(t.Context(), cause, call, defaults)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Campaigns.Bulk(t.Context(), cause, call, defaults); err == nil {
		t.Error("the same key again: want an error")
	}
	if got := read(c, id)["budget"].(map[string]any)["amount"]; got != "110.00" {
		t.Errorf("got %v want 110.00", got)
	}
	stored, err := c.DB.StoredResponse(t.Context(), c.Workspace, "k")
	if err != nil || stored == nil || string(stored.Doc.JSON) != string(first.JSON) {
		t.Errorf("got stored %+v, %v", stored, err)
	}
}

func TestBulkRefuses(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	for body, want := range map[string]string{
		`{}`:            "change:required ids:required",
		`{"change":{}}`: "change:required ids:required",
		`{"ids":["cmp_1"],"filter":{},"change":{"add_tags":["a"]}}`:                                              "filter:incompatible_fields",
		`{"ids":["cmp_1"],"after":"cmp_0","change":{"add_tags":["a"]}}`:                                          "after:incompatible_fields",
		`{"ids":["cmp_1"],"change":{"add_tags":["a"],"remove_tags":["A"]}}`:                                      "change.add_tags[0]:duplicate_item",
		`{"ids":["cmp_1"],"change":{"budget":{"percent":-100}}}`:                                                 "change.budget.percent:too_small",
		`{"ids":["cmp_1"],"change":{"budget":{"amount":"1"}}}`:                                                   "change.budget.currency:required",
		`{"ids":["cmp_1"],"change":{"budget":{"amount":"1","currency":"USD","percent":1}}}`:                      "change.budget.amount:unknown_field change.budget.currency:unknown_field",
		`{"filter":{"status":["running"],"owner":"x"},"change":{"schedule":{"end_at":"soon","timezone":"UTC"}}}`: "change.schedule.end_at:invalid_format change.schedule.timezone:unknown_field filter.owner:unknown_field filter.status[0]:invalid_value",
	} {
		_, err := bulk(c, body)
		refused, is := errors.AsType[*fault.Error](err)
		if !is {
			t.Errorf("%s: got %v", body, err)
			continue
		}
		var fields []string
		for _, d := range refused.Details {
			fields = append(fields, d.Field+":"+d.Code)
		}
		slices.Sort(fields)
		if got := strings.Join(fields, " "); got != want {
			t.Errorf("%s: got %s want %s", body, got, want)
		}
	}
}
