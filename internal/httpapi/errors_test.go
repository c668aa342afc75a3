package httpapi_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fanfare/internal/account"
	"fanfare/internal/fanfaretest"
)

// TestE2MessagesHaveTheirValuesInMeta checks that the variable parts of a
// message are also in meta.
func TestE2MessagesHaveTheirValuesInMeta(t *testing.T) {
	t.Parallel()
	c := newTenant(t)
	id := create(c, `{"name":"One"}`)
	long := strings.Repeat("x", 201)
	for _, tt := range []struct {
		name           string
		method, target string
		body           any
		header         string
		meta           map[string]any
	}{
		{"too long", "POST", "/v1/campaigns", map[string]any{"name": long}, "", map[string]any{"maximum": 200.0, "actual": 201.0}},
		{"too many", "POST", "/v1/campaigns", map[string]any{"name": "a", "channels": slices.Repeat([]string{"search"}, 13)}, "", map[string]any{"maximum": 12.0, "actual": 13.0}},
		{"too short", "POST", "/v1/campaigns", `{"name":""}`, "", map[string]any{"minimum": 1.0}},
		{"too small", "POST", "/v1/campaigns", `{"name":"a","budget":{"type":"daily","amount":0}}`, "", map[string]any{"minimum": "0.01"}},
		{"too small, other currency", "POST", "/v1/campaigns", `{"name":"a","budget":{"type":"daily","amount":0,"currency":"JPY"}}`, "", map[string]any{"minimum": "1"}},
		{"decimals", "POST", "/v1/campaigns", `{"name":"a","budget":{"type":"daily","amount":"1.5","currency":"JPY"}}`, "", map[string]any{"decimals": 0.0, "currency": "JPY"}},
		{"cap above amount", "POST", "/v1/campaigns", `{"name":"a","budget":{"type":"daily","amount":"1","daily_cap":"2"}}`, "", map[string]any{"maximum": "1.00"}},
		{"end before start", "POST", "/v1/campaigns", `{"name":"a","schedule":{"start_at":"2027-01-01T00:00:00Z","end_at":"2026-01-01T00:00:00Z"}}`, "", map[string]any{"start_at": "2027-01-01T00:00:00.000Z"}},
		{"enum with a guess", "POST", "/v1/campaigns", `{"name":"a","channels":["serch"]}`, "", map[string]any{"did_you_mean": "search", "allowed": nil}},
		{"unknown field with a guess", "POST", "/v1/campaigns", `{"nam":"a","name":"b"}`, "", map[string]any{"did_you_mean": "name"}},
		{"parameter with a guess", "GET", "/v1/campaigns?limt=5", nil, "", map[string]any{"did_you_mean": "limit"}},
		{"limit", "GET", "/v1/campaigns?limit=101", nil, "", map[string]any{"minimum": 1.0, "maximum": 100.0}},
		{"method", "PUT", "/v1/me", nil, "", map[string]any{"method": "PUT", "allowed": []any{"GET", "HEAD"}}},
		{"version", "GET", "/v9", nil, "", map[string]any{"supported": []any{"v1"}}},
		{"precondition", "PATCH", "/v1/campaigns/" + id, `{}`, `If-Match: "7"`, map[string]any{"current_version": 1.0}},
		{"state", "POST", "/v1/campaigns/" + id + "/resume", nil, "", map[string]any{
			"current_status": "draft", "required_status": []any{"paused"}, "allowed_actions": []any{"update", "launch", "archive", "duplicate"},
		}},
		{"reference", "POST", "/v1/campaigns", `{"name":"a","creative_ids":["crv_01h455vb4pex5vsknk084sn02q"]}`, "", map[string]any{"id": "crv_01h455vb4pex5vsknk084sn02q"}},
	} {
		e := c.Do(tt.method, tt.target, tt.body, tt.header).Error()
		if len(e.Details) != 1 {
			t.Errorf("%s: got %d details want 1: %+v", tt.name, len(e.Details), e)
			continue
		}
		got := e.Details[0].Meta
		for key, want := range tt.meta {
			if want == nil && got[key] != nil {
				continue
			}
			if diff := cmp.Diff(want, got[key]); diff != "" {
				t.Errorf("%s: meta.%s differs (-want +got):\n%s", tt.name, key, diff)
			}
		}
	}
}

// TestE3AllProblemsAtOnce checks that one response names every invalid field by
// its path, up to fifty.
func TestE3AllProblemsAtOnce(t *testing.T) {
	t.Parallel()
	c := newTenant(t)
	e := c.Do("POST", "/v1/campaigns", `{
		"description": 5, "objective": "fame", "channels": ["search", "tv", "search"], "tags": ["ok", "", "OK"], "status": "active", "id": "x",
		"budget": {"amount": "-1", "currency": "usd", "x": 1}, "schedule": {"timezone": "Mars/Olympus"}, "goal": {"target": -1},
		"tracking": {"utm": {"source": 1}, "landing_url": "https://{{nobody}}/"}, "metadata": {"a": 1}}`).WantError(422, "validation_failed")
	got := map[string]string{}
	for _, d := range e.Details {
		got[d.Field] = d.Code
	}
	want := map[string]string{
		"name": "required", "description": "invalid_type", "objective": "invalid_value", "channels[1]": "invalid_value", "channels[2]": "duplicate_item",
		"tags[1]": "too_short", "tags[2]": "duplicate_item", "status": "read_only", "id": "read_only", "budget.type": "required", "budget.amount": "too_small",
		"budget.currency": "invalid_value", "budget.x": "unknown_field", "schedule.timezone": "invalid_value", "goal.metric": "required", "goal.target": "too_small",
		"goal.direction": "required", "tracking.utm.source": "invalid_type", "tracking.landing_url": "invalid_value", "metadata.a": "invalid_type",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("details differ (-want +got):\n%s", diff)
	}
	many := map[string]any{"name": "One"}
	for i := range 60 {
		many[fmt.Sprintf("field_%02d", i)] = 1
	}
	e = c.Do("POST", "/v1/campaigns", many).WantError(422, "validation_failed")
	if len(e.Details) != 50 || !strings.HasPrefix(e.Message, "60 fields") {
		t.Errorf("got %d details and %q, want 50 and the true number", len(e.Details), e.Message)
	}
	query := "?"
	for i := range 60 {
		query += fmt.Sprintf("p%02d=1&", i)
	}
	if e := c.Do("GET", "/v1/campaigns"+query, nil).WantError(400, "invalid_parameter"); len(e.Details) != 50 {
		t.Errorf("got %d details want 50", len(e.Details))
	}
}

// TestE4DocURLLeadsSomewhere checks that the page has an anchor for each code.
func TestE4DocURLLeadsSomewhere(t *testing.T) {
	t.Parallel()
	c := newTenant(t)
	page := c.Service.Client("").Do("GET", "/docs/errors", nil).Want(200).Body
	for code := range fanfaretest.TheContract().Codes {
		if !bytes.Contains(page, []byte(`id="`+code+`"`)) {
			t.Errorf("got no place for %s at /docs/errors, want one", code)
		}
	}
	e := c.Do("GET", "/v1/nothing", nil).WantError(404, "route_not_found")
	if want := "https://fanfare.test/docs/errors#route_not_found"; e.DocURL != want {
		t.Errorf("got doc_url %s want %s", e.DocURL, want)
	}
}

// TestE6PanicsAreAnswered checks that a panic anywhere returns an internal
// error, with the cause in the log only.
func TestE6PanicsAreAnswered(t *testing.T) {
	t.Parallel()
	w, engine := newFaultyService(t, fanfaretest.SQLite)
	c := w.Tenant(account.Growth)
	id := create(c, `{"name":"One"}`)
	for _, known := range []bool{false, true} {
		if !known {
			w.App.Keys.Forget()
		}
		engine.fail(errPanic, nil)
		res := c.Do("GET", "/v1/campaigns/"+id, nil)
		res.WantError(500, "internal_error")
		if bytes.Contains(res.Body, []byte("secret")) || bytes.Contains(res.Body, []byte("goroutine")) {
			t.Errorf("got %s, want nothing of the cause", res.Body)
		}
		if id := res.Header.Get("X-Request-Id"); !strings.Contains(w.Log.String(), id) || !strings.Contains(w.Log.String(), leak) {
			t.Errorf("got a log without %s and the cause", id)
		}
		engine.fail(nil, nil)
		c.Do("GET", "/v1/campaigns/"+id, nil).Want(200)
	}
}

// TestE6CausesStayInTheLog checks that 5xx messages contain nothing of the
// cause.
func TestE6CausesStayInTheLog(t *testing.T) {
	t.Parallel()
	w, engine := newFaultyService(t, fanfaretest.SQLite)
	c := w.Tenant(account.Growth)
	engine.fail(errors.New("disk I/O error at "+leak), nil)
	res := c.Do("GET", "/v1/campaigns", nil)
	e := res.WantError(500, "internal_error")
	if bytes.Contains(res.Body, []byte("disk")) || len(e.Details) != 0 {
		t.Errorf("got %s, want nothing of the cause", res.Body)
	}
	if !strings.Contains(w.Log.String(), "disk I/O error at "+leak) || !strings.Contains(w.Log.String(), e.RequestID) {
		t.Errorf("got a log without the cause under %s", e.RequestID)
	}
}

// TestE7ExistenceIsNotLeaked checks that an id of another workspace, an unknown
// id and a malformed id get the same response from every operation.
func TestE7ExistenceIsNotLeaked(t *testing.T) {
	t.Parallel()
	w := fanfaretest.New(t, nil, ample)
	mine, theirs := w.Tenant(account.Growth), w.Tenant(account.Growth)
	foreign := create(theirs, `{"name":"Secret"}`)
	event := theirs.Do("GET", "/v1/events?type=campaign.created", nil).Want(200).List().Data[0]["id"].(string)
	ids := map[string][]string{
		"/v1/campaigns/":   {foreign, "cmp_01h455vb4pex5vsknk084sn02q", strings.ToUpper(foreign), "crv" + foreign[3:], "1", "cmp_", "%00", foreign + "x", "cmp_81h455vb4pex5vsknk084sn02q", "cmp_01h455vb4pex5vsknk084sn02l"},
		"/v1/imports/":     {newRecord(theirs, "/v1/imports"), "imp_01h455vb4pex5vsknk084sn02q", "imp_1", foreign, "templates"},
		"/v1/connections/": {newRecord(theirs, "/v1/connections"), "con_01h455vb4pex5vsknk084sn02q", "con_1", foreign},
		"/v1/events/":      {event, "evt_01h455vb4pex5vsknk084sn02q", "evt_1", foreign},
	}
	for _, op := range fanfaretest.TheContract().Operations() {
		prefix, verb, named := strings.Cut(op.Path, "{id}")
		if !named {
			continue
		}
		for _, header := range []string{"", "Idempotency-Key: a-key", `If-Match: "1"`} {
			var want []byte
			for _, id := range ids[prefix] {
				res := mine.Do(op.Method, prefix+id+verb, smallestExample(t, op), header)
				res.WantError(404, "not_found")
				got := bytes.ReplaceAll(res.Body, []byte(res.Header.Get("X-Request-Id")), []byte("req"))
				if want == nil {
					want = got
				}
				if !bytes.Equal(got, want) {
					t.Errorf("%s %s: got %s, want %s as for the foreign id", op.OperationID, id, got, want)
				}
			}
		}
	}
	// In the caller's own workspace, an insufficient role is reported as such.
	viewer := theirs.As(account.Viewer)
	e := viewer.Do("DELETE", "/v1/campaigns/"+foreign, nil).WantError(403, "insufficient_permissions")
	if e.Details[0].Meta["required_permission"] != "campaigns:write" {
		t.Errorf("got meta %v want the required permission", e.Details[0].Meta)
	}
	// A reference to a record of another workspace is reported like one to a
	// missing record.
	mine.Do("GET", "/v1/campaigns?status=all", nil).Want(200)
	if n := len(mine.Do("GET", "/v1/events?resource_id="+foreign, nil).Want(200).List().Data); n != 0 {
		t.Errorf("got %d events of a foreign record, want none", n)
	}
}
