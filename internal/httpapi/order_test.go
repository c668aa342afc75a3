package httpapi_test

import (
	"strings"
	"testing"

	"fanfare/internal/account"
	"fanfare/internal/fanfaretest"
)

// attempt is a launch in parts, so that a test can make each part invalid.
type attempt struct {
	client                 *fanfaretest.Client
	method, path, id, verb string
	query                  string
	big, broken, unknown   bool
	headers                []string
	exhausted              bool
}

// body returns a body with the wanted defects: an unknown field, a missing
// brace, too many bytes.
func (a *attempt) body() string {
	text := "{"
	if a.unknown {
		text = `{"no_such_field":1`
	}
	if a.big {
		text += strings.Repeat(" ", 1<<20)
	}
	if !a.broken {
		text += "}"
	}
	return text
}

// checks are the steps of H1 in order: how to fail each, and the expected
// response.
var checks = []struct {
	name   string
	spoil  func(a *attempt, w *orderWorld)
	status int
	code   string
}{
	{"path", func(a *attempt, _ *orderWorld) { a.path = "/v1//campaigns/" }, 404, "route_not_found"},
	{"key", func(a *attempt, w *orderWorld) { a.client = w.tenant.Service.Client("") }, 401, "missing_api_key"},
	{"quota", func(a *attempt, _ *orderWorld) { a.exhausted = true }, 429, "rate_limit_exceeded"},
	{"route", func(a *attempt, _ *orderWorld) { a.path = "/v1/campaign/" }, 404, "route_not_found"},
	{"method", func(a *attempt, _ *orderWorld) { a.method = "PUT" }, 405, "method_not_allowed"},
	{"accept", func(a *attempt, _ *orderWorld) { a.headers = append(a.headers, "Accept: text/csv") }, 406, "not_acceptable"},
	{"permission", func(a *attempt, w *orderWorld) { a.client = w.viewer }, 403, "insufficient_permissions"},
	{"media type", func(a *attempt, _ *orderWorld) { a.headers = append(a.headers, "Content-Type: text/plain") }, 415, "unsupported_media_type"},
	{"size", func(a *attempt, _ *orderWorld) { a.big = true }, 413, "body_too_large"},
	{"query", func(a *attempt, _ *orderWorld) { a.query = "?no_such_parameter=1" }, 400, "invalid_parameter"},
	{"syntax", func(a *attempt, _ *orderWorld) { a.broken = true }, 400, "malformed_json"},
	{"resource", func(a *attempt, _ *orderWorld) { a.id = "cmp_01h455vb4pex5vsknk084sn02q" }, 404, "not_found"},
	{"idempotency", func(a *attempt, _ *orderWorld) { a.headers = append(a.headers, "Idempotency-Key: used") }, 422, "idempotency_key_reused"},
	{"precondition", func(a *attempt, _ *orderWorld) { a.headers = append(a.headers, `If-Match: "99"`) }, 412, "precondition_failed"},
	{"fields", func(a *attempt, _ *orderWorld) { a.unknown = true }, 422, "validation_failed"},
	{"state", func(a *attempt, w *orderWorld) {
		if a.id == w.draft {
			a.id = w.active
		}
	}, 409, "invalid_state"},
}

type orderWorld struct {
	tenant        *fanfaretest.Tenant
	viewer        *fanfaretest.Client
	draft, active string
}

func newOrderWorld(t *testing.T) *orderWorld {
	w := &orderWorld{tenant: fanfaretest.New(t, nil, ample).Tenant(account.Growth)}
	w.viewer = w.tenant.As(account.Viewer)
	w.draft = w.tenant.Do("POST", "/v1/campaigns", `{"name":"Draft"}`, "Idempotency-Key: used").Want(201).ID()
	w.active = w.tenant.Do("POST", "/v1/campaigns", `{"name":"Active"}`).Want(201).ID()
	w.tenant.Do("POST", "/v1/campaigns/"+w.active+"/launch", nil).Want(200)
	return w
}

func (w *orderWorld) try(spoil ...func(*attempt, *orderWorld)) *fanfaretest.Response {
	a := &attempt{client: w.tenant.Client, method: "POST", path: "/v1/campaigns/", id: w.draft, verb: "/launch"}
	for _, s := range spoil {
		s(a, w)
	}
	if a.exhausted {
		s := &statusCase{Tenant: w.tenant}
		s.plan(account.Starter)
		defer s.plan(account.Growth)
	}
	return a.client.Do(a.method, a.path+a.id+a.verb+a.query, a.body(), a.headers...)
}

// TestH1OrderOfChecks sends for each pair of checks a request that fails both:
// the response must be that of the earlier one.
func TestH1OrderOfChecks(t *testing.T) {
	t.Parallel()
	w := newOrderWorld(t)
	for i, first := range checks {
		w.try(first.spoil).WantError(first.status, first.code)
		for _, second := range checks[i+1:] {
			res := w.try(second.spoil, first.spoil)
			if res.Status != first.status || res.Error().Code != first.code {
				t.Errorf("%s and %s wrong: got %d %s, want %d %s of the first", first.name, second.name, res.Status, res.Error().Code, first.status, first.code)
			}
		}
	}
	w.try().Want(200)
}

// TestH1OrderOnUpdate does the same for the checks of a PATCH after its body is
// read, which depend on the record.
func TestH1OrderOnUpdate(t *testing.T) {
	t.Parallel()
	w := newOrderWorld(t)
	gone := w.tenant.Do("POST", "/v1/campaigns", `{"name":"Gone"}`).Want(201).ID()
	w.tenant.Do("DELETE", "/v1/campaigns/"+gone, nil).Want(200)
	const unknown = "cmp_01h455vb4pex5vsknk084sn02q"
	const stale, wrong, fixed, right = `If-Match: "99"`, `{"name":""}`, `{"objective":"sales"}`, `{"name":"New"}`
	for _, tt := range []struct {
		name, id, body, match string
		status                int
		code                  string
	}{
		{"resource before precondition", unknown, right, stale, 404, "not_found"},
		{"resource before fields", unknown, wrong, "", 404, "not_found"},
		{"syntax before resource", unknown, "{", "", 400, "malformed_json"},
		{"precondition before fields", w.draft, wrong, stale, 412, "precondition_failed"},
		{"precondition before state", w.active, fixed, stale, 412, "precondition_failed"},
		{"fields before state", w.active, `{"objective":"sales","name":""}`, "", 422, "validation_failed"},
		{"fields before archived", gone, wrong, "", 422, "validation_failed"},
		{"archived", gone, right, "", 409, "archived"},
		{"state", w.active, fixed, "", 409, "invalid_state"},
	} {
		res := w.tenant.Do("PATCH", "/v1/campaigns/"+tt.id, tt.body, tt.match)
		if res.Status != tt.status || res.Error().Code != tt.code {
			t.Errorf("%s: got %d %s want %d %s", tt.name, res.Status, res.Error().Code, tt.status, tt.code)
		}
	}
}
