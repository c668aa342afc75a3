package analytics_test

import (
	"fmt"
	"strings"
	"testing"

	"fanfare/internal/fanfaretest"
)

// invalidRequest is a request that must be refused, with the field, the rule,
// and the suggested word or the exceeded limit, if there is one.
type invalidRequest struct {
	request      string
	status       int
	field, rule  string
	meant, bound string
}

// badQueries are bodies of queries, without the members that all share.
var badQueries = []invalidRequest{
	{`{}`, 422, "metrics", "required", "", ""},
	{`{"metrics":[]}`, 422, "metrics", "too_few_items", "", ""},
	{`{"metrics":null}`, 422, "metrics", "not_nullable", "", ""},
	{`{"metrics":"spend"}`, 422, "metrics", "invalid_type", "", ""},
	{`{"metrics":[7]}`, 422, "metrics[0]", "invalid_type", "", ""},
	{`{"metrics":["spnd"]}`, 422, "metrics[0]", "invalid_value", "spend", ""},
	{`{"metrics":["Spend"]}`, 422, "metrics[0]", "invalid_value", "spend", ""},
	{`{"metrics":["clicks","conversion"]}`, 422, "metrics[1]", "invalid_value", "conversions", ""},
	{`{"metrics":["spend","spend"]}`, 422, "metrics[1]", "duplicate_item", "", ""},
	{`{"metrics":["channel"]}`, 422, "metrics[0]", "invalid_value", "", ""},
	{`{"metrics":[` + strings.Repeat(`"spend",`, 20) + `"clicks"]}`, 422, "metrics", "too_many_items", "", ""},
	{`{"metrics":["pacing"]}`, 422, "metrics[0]", "incompatible_fields", "", ""},
	{`{"metrics":["pacing"],"dimensions":["campaign_id"],"granularity":"day"}`, 422, "metrics[0]", "incompatible_fields", "", ""},
	{`{"metrics":["spend"],"dimension":["channel"]}`, 422, "dimension", "unknown_field", "dimensions", ""},
	{`{"metrics":["spend"],"dimensions":["date"]}`, 422, "dimensions[0]", "invalid_value", "", ""},
	{`{"metrics":["spend"],"dimensions":["spend"]}`, 422, "dimensions[0]", "invalid_value", "", ""},
	{`{"metrics":["spend"],"dimensions":["chanel"]}`, 422, "dimensions[0]", "invalid_value", "channel", ""},
	{`{"metrics":["spend"],"dimensions":["campaign"]}`, 422, "dimensions[0]", "invalid_value", "", ""},
	{`{"metrics":["spend"],"dimensions":["channel","channel"]}`, 422, "dimensions[1]", "duplicate_item", "", ""},
	{`{"metrics":["spend"],"dimensions":["channel","platform","tag","objective","weekday","account_id"]}`, 422, "dimensions", "too_many_items", "", ""},
	{`{"metrics":["spend"],"dimensions":["country","device"]}`, 422, "dimensions[1]", "incompatible_fields", "", ""},
	{`{"metrics":["spend"],"dimensions":["age_range","country"]}`, 422, "dimensions[1]", "incompatible_fields", "", ""},
	{`{"metrics":["spend"],"dimensions":["creative_id","gender"]}`, 422, "dimensions[1]", "incompatible_fields", "", ""},
	{`{"metrics":["spend"],"dimensions":["country"],"filters":{"field":"device","op":"eq","values":["tv"]}}`, 422, "filters.field", "incompatible_fields", "", ""},
	{`{"metrics":["spend"],"date_range":{"start_date":"2026-10-01"}}`, 422, "date_range.end_date", "required", "", ""},
	{`{"metrics":["spend"],"date_range":{"start_date":"2026-10-01T00:00:00Z","end_date":"2026-10-02"}}`, 422, "date_range.start_date", "invalid_format", "", ""},
	{`{"metrics":["spend"],"date_range":{"start_date":"2026-10-01","end_date":"2026-02-30"}}`, 422, "date_range.end_date", "invalid_format", "", ""},
	{`{"metrics":["spend"],"date_range":{"start_date":"2026-10-02","end_date":"2026-10-01"}}`, 422, "date_range.end_date", "invalid_value", "", ""},
	{`{"metrics":["spend"],"date_range":{"start_date":"1999-12-31","end_date":"2000-01-02"}}`, 422, "date_range.start_date", "too_small", "", ""},
	{`{"metrics":["spend"],"date_range":{"preset":"last_7_day"}}`, 422, "date_range.preset", "invalid_value", "last_7_days", ""},
	{`{"metrics":["spend"],"date_range":{"preset":"today","start_date":"2026-10-01"}}`, 422, "date_range", "incompatible_fields", "", ""},
	{`{"metrics":["spend"],"date_range":"last_7_days"}`, 422, "date_range", "invalid_type", "", ""},
	{`{"metrics":["spend"],"date_range":{"from":"2026-10-01"}}`, 422, "date_range.from", "unknown_field", "", ""},
	{`{"metrics":["spend"],"granularity":"weekly"}`, 422, "granularity", "invalid_value", "", ""},
	{`{"metrics":["spend"],"granularity":"moth"}`, 422, "granularity", "invalid_value", "month", ""},
	{`{"metrics":["spend"],"timezone":"Europe/Berlinn"}`, 422, "timezone", "invalid_value", "", ""},
	{`{"metrics":["spend"],"timezone":"CEST+2"}`, 422, "timezone", "invalid_value", "", ""},
	{`{"metrics":["spend"],"currency":"eur"}`, 422, "currency", "invalid_value", "", ""},
	{`{"metrics":["spend"],"currency":"ZZZ"}`, 422, "currency", "invalid_value", "", ""},
	{`{"metrics":["spend"],"filters":{"field":"chanel","op":"eq","values":["email"]}}`, 422, "filters.field", "invalid_value", "channel", ""},
	{`{"metrics":["spend"],"filters":{"field":"date","op":"eq","values":["2026-10-01"]}}`, 422, "filters.field", "invalid_value", "", ""},
	{`{"metrics":["spend"],"filters":{"field":"channel","op":"equals","values":["email"]}}`, 422, "filters.op", "invalid_value", "", ""},
	{`{"metrics":["spend"],"filters":{"field":"channel","op":"contain","values":["email"]}}`, 422, "filters.op", "invalid_value", "contains", ""},
	{`{"metrics":["spend"],"filters":{"field":"channel","values":["email"]}}`, 422, "filters.op", "required", "", ""},
	{`{"metrics":["spend"],"filters":{"op":"eq","values":["email"]}}`, 422, "filters.field", "required", "", ""},
	{`{"metrics":["spend"],"filters":{"field":"channel","op":"eq"}}`, 422, "filters.values", "too_few_items", "", ""},
	{`{"metrics":["spend"],"filters":{"field":"channel","op":"eq","values":["email","sms"]}}`, 422, "filters.values", "too_many_items", "", ""},
	{`{"metrics":["spend"],"filters":{"field":"channel","op":"between","values":["email"]}}`, 422, "filters.values", "too_few_items", "", ""},
	{`{"metrics":["spend"],"filters":{"field":"channel","op":"between","values":["sms","email"]}}`, 422, "filters.values", "invalid_value", "", ""},
	{`{"metrics":["spend"],"filters":{"field":"channel","op":"is_null","values":["email"]}}`, 422, "filters.values", "too_many_items", "", ""},
	{`{"metrics":["spend"],"filters":{"field":"channel","op":"eq","values":["e-mail"]}}`, 422, "filters.values[0]", "invalid_value", "email", ""},
	{`{"metrics":["spend"],"filters":{"field":"channel","op":"eq","values":[5]}}`, 422, "filters.values[0]", "invalid_type", "", ""},
	{`{"metrics":["spend"],"filters":{"field":"channel","op":"eq","values":[null]}}`, 422, "filters.values[0]", "not_nullable", "", ""},
	{`{"metrics":["spend"],"filters":{"field":"channel","op":"contains","values":[""]}}`, 422, "filters.values[0]", "too_short", "", ""},
	{`{"metrics":["spend"],"filters":{"field":"campaign_id","op":"eq","values":["cmp_1"]}}`, 422, "filters.values[0]", "invalid_format", "", ""},
	{`{"metrics":["spend"],"filters":{"field":"country","op":"in","values":["DE","Germany"]}}`, 422, "filters.values[1]", "invalid_format", "", ""},
	{`{"metrics":["spend"],"filters":{"field":"spend","op":"gt","values":["100"]}}`, 422, "filters.values[0]", "invalid_type", "", ""},
	{`{"metrics":["spend"],"filters":{"field":"spend","op":"contains","values":[1]}}`, 422, "filters.op", "invalid_value", "", ""},
	{`{"metrics":["spend"],"filters":{"field":"spend","op":"gt","values":[1e400]}}`, 422, "filters.values[0]", "invalid_format", "", ""},
	{`{"metrics":["spend"],"filters":{"or":[{"field":"spend","op":"gt","values":[1]},{"field":"channel","op":"is_null"}]}}`, 422, "filters.or[0].field", "invalid_value", "", ""},
	{`{"metrics":["spend"],"filters":{"not":{"field":"spend","op":"gt","values":[1]}}}`, 422, "filters.not.field", "invalid_value", "", ""},
	{`{"metrics":["spend"],"filters":{"and":[{"and":[{"field":"spend","op":"gt","values":[1]}]}]}}`, 422, "filters.and[0].and[0].field", "invalid_value", "", ""},
	{`{"metrics":["spend"],"filters":{"and":[],"or":[]}}`, 422, "filters", "incompatible_fields", "", ""},
	{`{"metrics":["spend"],"filters":{"and":[]}}`, 422, "filters.and", "too_few_items", "", ""},
	{`{"metrics":["spend"],"filters":{"xor":[]}}`, 422, "filters.xor", "unknown_field", "", ""},
	{`{"metrics":["spend"],"filters":"channel = email"}`, 422, "filters", "invalid_type", "", ""},
	{`{"metrics":["spend"],"compare":{"to":"previous_perod"}}`, 422, "compare.to", "invalid_value", "previous_period", ""},
	{`{"metrics":["spend"],"compare":{}}`, 422, "compare.to", "required", "", ""},
	{`{"metrics":["spend"],"compare":{"to":"custom"}}`, 422, "compare.date_range", "required", "", ""},
	{`{"metrics":["spend"],"compare":{"to":"previous_year","date_range":{"preset":"today"}}}`, 422, "compare.date_range", "incompatible_fields", "", ""},
	{`{"metrics":["spend"],"compare":{"to":"custom","date_range":{"preset":"today"},"match_weekday":true}}`, 422, "compare.match_weekday", "incompatible_fields", "", ""},
	{`{"metrics":["spend"],"order_by":[{"field":"clicks"}]}`, 422, "order_by[0].field", "invalid_value", "", ""},
	{`{"metrics":["spend"],"order_by":[{"field":"spent"}]}`, 422, "order_by[0].field", "invalid_value", "spend", ""},
	{`{"metrics":["spend"],"order_by":[{"field":"date"}]}`, 422, "order_by[0].field", "invalid_value", "", ""},
	{`{"metrics":["spend"],"order_by":[{"field":"change.spend"}]}`, 422, "order_by[0].field", "invalid_value", "", ""},
	{`{"metrics":["spend"],"order_by":[{"field":"spend","order":"down"}]}`, 422, "order_by[0].order", "invalid_value", "", ""},
	{`{"metrics":["spend"],"order_by":[{"field":"spend"},{"field":"spend"}]}`, 422, "order_by[1].field", "duplicate_item", "", ""},
	{`{"metrics":["spend"],"include":{"empty_rows":true}}`, 422, "include.empty_rows", "incompatible_fields", "", ""},
	{`{"metrics":["spend"],"dimensions":["campaign_id","channel"],"include":{"empty_rows":true}}`, 422, "include.empty_rows", "incompatible_fields", "", ""},
	{`{"metrics":["spend"],"include":{"totals":"yes"}}`, 422, "include.totals", "invalid_type", "", ""},
	{`{"metrics":["spend"],"include":{"total":true}}`, 422, "include.total", "unknown_field", "totals", ""},
	{`{"metrics":["spend"],"limit":0}`, 422, "limit", "too_small", "", ""},
	{`{"metrics":["spend"],"limit":10001}`, 422, "limit", "too_large", "", ""},
	{`{"metrics":["spend"],"limit":1.5}`, 422, "limit", "invalid_type", "", ""},
	{`{"metrics":["spend"],"cursor":"next"}`, 400, "cursor", "cursor_malformed", "", ""},
	{`{"metrics":["spend"]`, 400, "", "", "", ""},
	{`{"metrics":["spend"],"metrics":["clicks"]}`, 400, "metrics", "duplicate_key", "", ""},
	{`["spend"]`, 400, "", "", "", ""},
	// Valid except for the size.
	{`{"metrics":["spend"],"date_range":{"start_date":"2023-01-01","end_date":"2026-02-01"}}`, 422, "date_range", "too_large", "", "months"},
	{`{"metrics":["spend"],"compare":{"to":"custom","date_range":{"start_date":"2020-01-01","end_date":"2026-02-01"}}}`, 422, "compare.date_range", "too_large", "", "months"},
	{`{"metrics":["spend"],"filters":{"not":{"not":{"not":{"not":{"field":"channel","op":"is_null"}}}}}}`, 422, "filters.not.not.not.not", "too_large", "", "depth"},
	{`{"metrics":["spend"],"filters":[` + strings.Repeat(`{"field":"channel","op":"is_null"},`, 100) + `{"field":"tag","op":"is_null"}]}`, 422, "filters", "too_many_items", "", "conditions"},
	{`{"metrics":["spend"],"filters":[` + manyValues(300) + `,` + manyValues(201) + `]}`, 422, "filters", "too_many_items", "", "values"},
}

func manyValues(n int) string {
	return `{"field":"tag","op":"in","values":["x"` + strings.Repeat(`,"x"`, n-1) + `]}`
}

// badReports are the query strings of reports.
var badReports = []invalidRequest{
	{"overview?metrics=spnd", 400, "metrics", "invalid_value", "spend", ""},
	{"overview?metrics=", 400, "metrics", "invalid_value", "", ""},
	{"overview?metrics=spend,spend", 400, "metrics", "invalid_value", "", ""},
	{"overview?metric=spend", 400, "metric", "unknown_parameter", "metrics", ""},
	{"overview?start_date=2026-11-31", 400, "start_date", "invalid_format", "", ""},
	{"overview?start_date=2026-11-02T00:00:00Z", 400, "start_date", "invalid_format", "", ""},
	{"overview?start_date=2026-11-02&end_date=2026-11-01", 400, "start_date", "invalid_range", "", ""},
	{"overview?granularity=hour", 400, "granularity", "invalid_value", "", ""},
	{"overview?granularity=weak", 400, "granularity", "invalid_value", "week", ""},
	{"overview?compare=custom", 400, "compare", "invalid_value", "", ""},
	{"overview?compare=previous_years", 400, "compare", "invalid_value", "previous_year", ""},
	{"overview?channel=socail", 400, "channel", "invalid_value", "social", ""},
	{"overview?platform=cvs", 400, "platform", "invalid_value", "csv", ""},
	{"overview?currency=usd", 400, "currency", "invalid_value", "", ""},
	{"overview?timezone=Mars/Olympus", 400, "timezone", "invalid_value", "", ""},
	{"overview?status=active", 400, "status", "unknown_parameter", "", ""},
	{"overview?sort=spend", 400, "sort", "unknown_parameter", "", ""},
	{"overview?limit=5", 400, "limit", "unknown_parameter", "", ""},
	{"overview?metrics=pacing", 400, "metrics", "invalid_value", "", ""},
	{"campaigns?sort=spent", 400, "sort", "invalid_value", "spend", ""},
	{"campaigns?sort=budget", 400, "sort", "invalid_value", "", ""},
	{"campaigns?order=down", 400, "order", "invalid_value", "", ""},
	{"campaigns?status=activ", 400, "status", "invalid_value", "active", ""},
	{"campaigns?limit=0", 400, "limit", "out_of_range", "", ""},
	{"campaigns?limit=101", 400, "limit", "out_of_range", "", ""},
	{"campaigns?limit=ten", 400, "limit", "invalid_type", "", ""},
	{"campaigns?cursor=abc", 400, "cursor", "cursor_malformed", "", ""},
	{"channels?status=active", 400, "status", "unknown_parameter", "", ""},
	{"creative?status=draft", 400, "status", "invalid_value", "", ""},
	{"audiences?status=redy", 400, "status", "invalid_value", "ready", ""},
	{"audiences?start_date=2026-11-02&start_date=2026-11-03", 400, "start_date", "duplicate_parameter", "", ""},
	{"audiences?start_date=2020-01-01&end_date=2026-01-01", 422, "start_date", "out_of_range", "", "months"},
}

func TestInvalidQueries(t *testing.T) {
	t.Parallel()
	c := startService(t).Tenant("enterprise")
	for _, test := range badQueries {
		res := c.Do("POST", "/v1/analytics/query", test.request)
		if fault := test.difference(res.Status, res.Error().Code, res.Error().Details); fault != "" {
			t.Errorf("%.300s: %s: %s", test.request, fault, res.Body)
		}
		if res.Status != 422 {
			continue
		}
		// The check operation refuses it too.
		dry := strings.TrimSuffix(test.request, "}") + `,"dry_run":true}`
		if test.request != "{}" {
			c.Do("POST", "/v1/analytics/query", dry).Want(422)
		}
	}
}

func TestInvalidReports(t *testing.T) {
	t.Parallel()
	c := startService(t).Tenant("enterprise")
	for _, test := range badReports {
		res := c.Do("GET", "/v1/analytics/"+test.request, nil)
		if fault := test.difference(res.Status, res.Error().Code, res.Error().Details); fault != "" {
			t.Errorf("%s: %s: %s", test.request, fault, res.Body)
		}
	}
}

// TestAllProblemsAreReported checks that all problems are reported at once.
func TestAllProblemsAreReported(t *testing.T) {
	t.Parallel()
	c := startService(t).Tenant("enterprise")
	e := c.Do("POST", "/v1/analytics/query",
		`{"metrics":["spnd"],"dimensions":["chanel"],"granularity":"x","timezone":"y","currency":"z","limit":0,"compare":{"to":"a"},"filters":{"field":"b","op":"c"}}`).WantError(422, "validation_failed")
	if len(e.Details) < 8 {
		t.Errorf("got %d details want at least 8: %+v", len(e.Details), e.Details)
	}
}

// difference returns how an error differs from the expected one.
func (w *invalidRequest) difference(status int, code string, list []fanfaretest.Detail) string {
	wantCode := map[int]string{422: "validation_failed", 400: "invalid_parameter"}[w.status]
	switch {
	case w.bound != "":
		wantCode = "query_too_broad"
	case w.field == "cursor":
		wantCode = "invalid_cursor"
	case strings.HasPrefix(w.request, "{") && w.status == 400, strings.HasPrefix(w.request, "["):
		wantCode = "malformed_json"
	}
	if status != w.status || code != wantCode {
		return fmt.Sprintf("got %d %s want %d %s", status, code, w.status, wantCode)
	}
	if w.field == "" {
		return ""
	}
	for _, d := range list {
		if d.Field == w.field && d.Code == w.rule && (w.bound == "" || d.Meta["bound"] == w.bound) {
			if got, _ := d.Meta["did_you_mean"].(string); got != w.meant && w.meant != "" {
				return fmt.Sprintf("did_you_mean: got %q want %q", got, w.meant)
			}
			return ""
		}
	}
	return fmt.Sprintf("got no %s at %s", w.rule, w.field)
}
