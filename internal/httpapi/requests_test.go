package httpapi_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"fanfare/internal/account"
	"fanfare/internal/app"
	"fanfare/internal/fanfaretest"
	"fanfare/internal/httpapi"
	"fanfare/internal/ratelimit"
)

// unlimited removes the limits of the largest plan.
func unlimited(c *app.Config) {
	c.Limits = map[account.Plan]ratelimit.Limits{account.Enterprise: {PerMinute: 1 << 40, PerDay: 1 << 40}}
}

// TestRequestLog checks that the log has the last requests of a workspace and
// none of others.
func TestRequestLog(t *testing.T) {
	t.Parallel()
	w := fanfaretest.New(t, nil, unlimited)
	tenant, other := w.Tenant(account.Enterprise), w.Tenant(account.Enterprise)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1", nil)
	r.RemoteAddr = "127.0.0.1:4711"
	r.Header.Set("Authorization", "Bearer "+tenant.Key)
	for i := range httpapi.MaxLogged + 10 {
		r.Header.Set("User-Agent", fmt.Sprint(i))
		w.App.API.ServeHTTP(httptest.NewRecorder(), r)
	}
	got := w.App.API.Requests(tenant.Workspace)
	if len(got) != httpapi.MaxLogged {
		t.Fatalf("got %d requests want %d", len(got), httpapi.MaxLogged)
	}
	for i, l := range got {
		if want := fmt.Sprint(httpapi.MaxLogged + 9 - i); l.Agent != want || l.Path != "/v1" || l.Operation != "getApi" {
			t.Fatalf("request %d: got %+v want that of agent %s", i, l, want)
		}
	}
	if got := w.App.API.Requests(other.Workspace); len(got) != 0 {
		t.Errorf("got %v of a workspace that asked nothing", got)
	}
}

// TestRequestLogTexts checks that the log has parameter names but no values,
// and cuts long text.
func TestRequestLogTexts(t *testing.T) {
	t.Parallel()
	w := fanfaretest.New(t, nil, unlimited)
	tenant := w.Tenant(account.Enterprise)
	long := strings.Repeat("x", 300)
	for _, tt := range []struct{ target, path string }{
		{"/v1/campaigns?limit=5&token=abc&flag", "/v1/campaigns?limit&token&flag"},
		{"/v1/campaigns?" + tenant.Key + "=1", "/v1/campaigns?fanf_…" + tenant.Key[37:]},
		{"/v1/campaigns/" + tenant.Key, "/v1/campaigns/fanf_…" + tenant.Key[37:]},
		{"/v1/" + long, ("/v1/" + long)[:160]},
		{"/v1/campaigns?" + long + "=secret", ("/v1/campaigns?" + long)[:160]},
		{"/v1/caf%C3%A9", "/v1/café"},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, tt.target, nil)
		r.RemoteAddr = "127.0.0.1:4711"
		r.Header.Set("Authorization", "Bearer "+tenant.Key)
		w.App.API.ServeHTTP(httptest.NewRecorder(), r)
		if got := w.App.API.Requests(tenant.Workspace)[0].Path; got != tt.path {
			t.Errorf("%s: got %s want %s", tt.target, got, tt.path)
		}
	}
}

// TestRequestLogBound checks the maximum number of workspaces with a log.
func TestRequestLogBound(t *testing.T) {
	t.Parallel()
	logs := httpapi.NewRequestLogs()
	for i := range 600 {
		logs.Note(fmt.Sprintf("wks_%d", i), int64(i))
		// The first workspace sends requests all the time.
		logs.Note("wks_0", int64(i))
	}
	if n := logs.Len(); n != httpapi.MaxLogs {
		t.Errorf("got %d logs want %d", n, httpapi.MaxLogs)
	}
	for id, want := range map[string]bool{"wks_0": true, "wks_1": false, "wks_300": false, "wks_599": true} {
		if got := logs.Has(id); got != want {
			t.Errorf("%s: got kept %v want %v", id, got, want)
		}
	}
}

// BenchmarkNote measures the cost of the request log per request.
func BenchmarkNote(b *testing.B) {
	w := fanfaretest.New(b, nil)
	note := w.App.API.Noter("wks_1", "/v1/campaigns/cmp_01m7eed1vefw9bs159p71gx00q", "fanfare-go/1.0 (linux; amd64)")
	for range httpapi.MaxLogged {
		note()
	}
	b.ReportAllocs()
	for b.Loop() {
		note()
	}
}
