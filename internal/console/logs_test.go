package console_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"fanfare/internal/account"
	"fanfare/internal/fanfaretest"
)

func newRequest(t *testing.T, target string) *http.Request {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), "GET", "https://fanfare.test"+target, nil)
	r.RequestURI = target
	return r
}

func serve(w *fanfaretest.Service, r *http.Request) *httptest.ResponseRecorder {
	rec := httptest.NewRecorder()
	w.App.Handler.ServeHTTP(rec, r)
	return rec
}

// TestRequests checks the request log and who may see it.
func TestRequests(t *testing.T) {
	t.Parallel()
	w := fanfaretest.New(t, nil)
	tenant := w.Tenant(account.Enterprise)
	admin, viewer := member(t, tenant, account.Admin), member(t, tenant, account.Viewer)
	id, secret := viewer.makeKey(nil)
	api := w.Client(secret)
	api.Do("GET", "/v1/campaigns?limit=2&status=draft", nil, "User-Agent: robot "+secret).Want(200)
	api.Do("POST", "/v1/campaigns", `{"name":"secret body"}`).Want(403)
	tenant.Do("GET", "/v1/nothing", nil).Want(404)
	viewer.do("GET", "/console/v1/campaigns", nil).want(200)

	own := viewer.api("GET", "requests", nil).want(200)
	if bytes.Contains(own.body, []byte(secret)) || bytes.Contains(own.body, []byte("secret body")) {
		t.Errorf("got a secret in %s", own.body)
	}
	list := own.list()
	if len(list) != 2 {
		t.Fatalf("got %d requests want 2: %s", len(list), own.body)
	}
	r := list[1]
	if r["path"] != "/v1/campaigns?limit&status" || r["operation"] != "listCampaigns" || r["status"] != 200.0 || r["code"] != "" ||
		r["ip"] != "203.0.113.7" || r["user_agent"] != "robot fanf_…"+secret[len(secret)-4:] || r["key"].(map[string]any)["id"] != id {
		t.Errorf("got request %v", r)
	}
	if list[0]["code"] != "insufficient_permissions" || list[0]["method"] != "POST" {
		t.Errorf("got request %v want the refused one first", list[0])
	}
	for query, want := range map[string]int{
		"": 3, "?status=4xx": 2, "?status=404": 1, "?status=200": 1, "?method=post": 1, "?key=" + id: 2, "?path=/v1/nothing": 1, "?path=campaigns&status=403": 1, "?key=nobody": 0,
	} {
		if got := admin.api("GET", "requests"+query, nil).want(200).list(); len(got) != want {
			t.Errorf("%q: got %d requests want %d", query, len(got), want)
		}
	}
	viewer.api("DELETE", "keys/"+id, nil).want(200)
	api.Do("GET", "/v1/campaigns", nil).Want(401)
	if got := viewer.api("GET", "requests?status=401", nil).want(200).list(); len(got) != 1 || got[0]["code"] != "api_key_revoked" {
		t.Errorf("got %v want the call with a revoked key", got)
	}
}

// TestAudit checks the pages and the export of the audit log.
func TestAudit(t *testing.T) {
	t.Parallel()
	fanfaretest.Each(t, func(t *testing.T, w *fanfaretest.Service) {
		tenant := w.Tenant(account.Enterprise)
		for i := range 70 {
			tenant.Do("POST", "/v1/campaigns", fmt.Sprintf(`{"name":"c%d"}`, i)).Want(201)
		}
		b := owner(t, tenant)
		first := b.api("GET", "audit?action=campaign.", nil).want(200).list()
		last := first[len(first)-1]["seq"].(float64)
		rest := b.api("GET", fmt.Sprintf("audit?action=campaign.&before=%.0f", last), nil).want(200).list()
		if len(first) != 50 || len(rest) != 20 || rest[0]["seq"].(float64) != last-1 || first[0]["action"] != "campaign.created" {
			t.Errorf("got pages of %d and %d want 50 and 20: %v", len(first), len(rest), rest[0])
		}
		for _, query := range []string{"before=0", "before=x", "before=-1"} {
			b.api("GET", "audit?"+query, nil).fails(400, "invalid_value")
		}
		all := b.api("GET", "audit.ndjson", nil).want(200)
		lines := strings.Split(strings.TrimSuffix(string(all.body), "\n"), "\n")
		// The workspace was created, and its owner got a link and signed in.
		if want := 70 + 3; len(lines) != want || all.header.Get("Content-Type") != "application/x-ndjson" || !strings.HasPrefix(lines[len(lines)-1], `{"seq":1,`) {
			t.Errorf("got %d lines of %s want %d: %s", len(lines), all.header.Get("Content-Type"), want, lines[len(lines)-1])
		}
	})
}

// TestProviders configures a language model and checks that members cannot set
// its URL.
func TestProviders(t *testing.T) {
	t.Parallel()
	w := fanfaretest.New(t, nil)
	b := owner(t, w.Tenant(account.Starter))
	b.api("PUT", "providers/openai", `{"model":"gpt-5","api_key":"sk-secret","base_url":"http://127.0.0.1:1"}`).fails(422, "unknown_field")
	b.api("PUT", "providers/nobody", `{"model":"gpt-5","api_key":"sk-secret"}`).fails(422, "invalid_value")
	made := b.api("PUT", "providers/openai", `{"model":"gpt-5","api_key":"sk-secret","default":true}`).want(200)
	p := made.list()[0]
	if p["kind"] != "openai" || p["name"] != "OpenAI" || p["scope"] != "workspace" || p["settings"].(map[string]any)["model"] != "gpt-5" || bytes.Contains(made.body, []byte("sk-secret")) {
		t.Errorf("got %s", made.body)
	}
	if strings.Contains(w.Log.String(), "sk-secret") {
		t.Error("the key is in the log")
	}
	if got := owner(t, w.Tenant(account.Starter)).api("GET", "providers", nil).want(200).list(); len(got) != 0 {
		t.Errorf("got %v in another workspace want nothing", got)
	}
	b.api("DELETE", "providers/openai", nil).want(200)
	b.api("DELETE", "providers/openai", nil).fails(404, "not_found")
}

// TestWorkspace reads and changes the settings.
func TestWorkspace(t *testing.T) {
	t.Parallel()
	w := fanfaretest.New(t, nil)
	b := owner(t, w.Tenant(account.Starter))
	got := b.api("PATCH", "workspace", `{"name":"Shop","currency":"EUR","require_approval":true,"model_budget":"25.5"}`).want(200).record()
	if got["name"] != "Shop" || got["currency"] != "EUR" || got["require_approval"] != true || got["model_budget"] != "25.50" || got["endless_keys"] != true {
		t.Errorf("got %v", got)
	}
	if got := b.api("PATCH", "workspace", `{"model_budget":null}`).want(200).record(); got["model_budget"] != nil || got["name"] != "Shop" {
		t.Errorf("got %v want no limit, and the rest as it was", got)
	}
	wrong := string(b.api("PATCH", "workspace", `{"currency":"XXY","timezone":"Mars","plan":"enterprise"}`).want(422).body)
	if !strings.Contains(wrong, `"plan"`) {
		t.Errorf("got %s want the plan refused", wrong)
	}
	b.api("PATCH", "workspace", `{"model_budget":"much"}`).fails(422, "invalid_format")
	if got := b.api("GET", "workspace", nil).want(200).record(); got["plan"] != "starter" {
		t.Errorf("got %v", got)
	}
}
