package httpapi_test

import (
	"strings"
	"testing"
)

// TestMessagesNameTheFix sends typical mistakes of new users. The message
// alone, without the details, must say what to do.
func TestMessagesNameTheFix(t *testing.T) {
	t.Parallel()
	c := newTenant(t)
	id := create(c, `{"name":"One"}`)
	key := c.Key
	for _, tt := range []struct {
		method, target, body, header string
		status                       int
		message                      string
	}{
		// One problem: the message is its own. Several problems: the message
		// names their fields.
		{"GET", "/v1/campaigns?limit=101", "", "", 400, "limit must be from 1 to 100."},
		{"POST", "/v1/campaigns", `{"name":"a","budget":{"type":"daily","amount":0}}`, "", 422, "budget.amount must be greater than 0."},
		{"POST", "/v1/campaigns", `{"name":"a","tags":[1],"goal":1}`, "", 422, "2 fields are invalid: goal, tags[0]."},
		{"GET", "/v1/campaigns?limit=0&order=up", "", "", 400, "The query string is wrong at: limit, order."},
		// The message contains the value and a suggestion.
		{"GET", "/v1/analytics/overview?metrics=spend,clics", "", "", 400, `metrics has an unknown metric: "clics". Did you mean clicks?`},
		{"GET", "/v1/analytics/overview?metrics=", "", "", 400, "metrics must name at least one metric."},
		{"GET", "/v1/analytics/overview?metrics=spend,aov,aov", "", "", 400, "metrics repeats aov."},
		{"POST", "/v1/creative", `{"name":"a","type":"text","content":{"headline":"Tea","landing_url":"https://example.com/{{campaign.id}}"}}`, "", 422, "content.landing_url cannot contain macros."},
		{"POST", "/v1/campaigns", `{"name":`, "", 400, "The JSON is cut off. Send it to its end."},
		{"POST", "/v1/analytics/query", `{"metrics":["spent"]}`, "", 422, `metrics[0] has an unknown metric: "spent". Did you mean spend?`},
		{"GET", "/v1/campaigns?order=DESC", "", "", 400, `order must be one of asc, desc, not "DESC". Did you mean desc?`},
		{"GET", "/v1/campaigns?status=active,ACTIV", "", "", 400, `not "ACTIV". Did you mean active?`},
		{"POST", "/v1/campaigns", `{"name":"a","objective":"Sales"}`, "", 422, "Did you mean sales?"},
		// Parameter names of other APIs.
		{"GET", "/v1/campaigns?page=2", "", "", 400, "page is not a parameter of this operation. Use cursor with the next_cursor of the page before."},
		{"GET", "/v1/campaigns?offset=20", "", "", 400, "Use cursor"},
		{"GET", "/v1/campaigns?per_page=20", "", "", 400, "Use limit."},
		{"GET", "/v1/creatives", "", "", 404, "Did you mean /v1/creative?"},
		{"POST", "/v1/campaign", `{"name":"a"}`, "", 404, "Did you mean /v1/campaigns?"},
		{"POST", "/v1/campaigns/" + id + "/start", "", "", 404, "There is no such path."},
		{"POST", "/v1/campaigns/" + id + "/lauch", "", "", 404, "Did you mean /v1/campaigns/{id}/launch?"},
		{"POST", "/v1/campaigns", `{"name":"a","status":"active"}`, "", 422, "status is set by the service and cannot be written. Use POST /v1/campaigns/{id}/launch, pause or resume."},
		{"PATCH", "/v1/campaigns/" + id, `{"status":"active"}`, "", 422, "Use POST /v1/campaigns/{id}/launch, pause or resume."},
		{"POST", "/v1/audiences", `{"name":"a","definition":{"country":["DE"]}}`, "", 422, "Did you mean countries?"},
		{"POST", "/v1/analytics/query", `{"metrics":["spend"],"start_date":"2026-11-01"}`, "", 422, "start_date is not a known field. Use date_range.start_date."},
		{"POST", "/v1/campaigns", `{"name":"a","budget":{"amount":"5"}}`, "", 422, "budget.type is required: daily or lifetime."},
		// Requests that cannot be what the caller meant.
		{"GET", "/v1/campaigns?start_date=2026-02-30", "", "", 400, "start_date names a day that does not exist: 2026-02-30."},
		{"POST", "/v1/campaigns", `{"name":"a","schedule":{"start_at":"2026-02-30T10:00:00Z"}}`, "", 422, "schedule.start_at names a day that does not exist: 2026-02-30."},
		{"GET", "/v1/me", "", "Authorization: Bearer " + key[:30], 401, "has 30 characters instead of 41; it was probably cut off"},
		{"GET", "/v1/me", "", "Authorization: Bearer " + key[:39] + "zz", 401, "its check digits do not fit; it was probably mistyped"},
		{"GET", "/v1/me", "", "Authorization: " + key, 401, "Write Bearer and a space before the key"},
		{"PATCH", "/v1/campaigns/" + id, `{}`, "If-Match: 1", 412, `If-Match must be a tag in double quotes, such as "1.0" from ETag, or *.`},
		{"PATCH", "/v1/campaigns/" + id, `{}`, "If-Match: garbage", 412, "in double quotes"},
		{"PATCH", "/v1/campaigns/" + id, `{}`, `If-Match: "7"`, 412, "If-Match names another version"},
		{"POST", "/v1/campaigns", "\ufeff" + `{"name":"a"}`, "", 400, "The body begins with a byte order mark (U+FEFF). Send it without."},
		{"POST", "/v1/campaigns", `{"name":"a","budget":{"type":"daily","amount":"9223372036854"}}`, "", 422, "budget.amount must be less than 9223372036854."},
		{"POST", "/v1/analytics/query", `{"metrics":["spend"],"date_range":{"start_date":"2020-01-01","end_date":"2026-01-01"}}`, "", 422, "date_range spans more than 37 months"},
		{"GET", "/v1/analytics/overview?start_date=2020-01-01&end_date=2026-01-01", "", "", 422, "start_date to end_date spans more than 37 months"},
		{"POST", "/v1/analytics/query", `{"metrics":["spend"],"filters":{"field":"channel","op":"eq","values":[]}}`, "", 422, "at least 1 item "},
	} {
		var body any
		if tt.body != "" {
			body = tt.body
		}
		var headers []string
		if tt.header != "" {
			headers = append(headers, tt.header)
		}
		res := c.Do(tt.method, tt.target, body, headers...)
		if e := res.Error(); res.Status != tt.status || !strings.Contains(e.Message, tt.message) {
			t.Errorf("%s %s %s %s\n got %d %s\nwant %d %s", tt.method, tt.target, tt.body, tt.header, res.Status, e.Message, tt.status, tt.message)
		}
	}
}
