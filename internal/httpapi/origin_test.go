package httpapi_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"fanfare/internal/account"
	"fanfare/internal/app"
	"fanfare/internal/fanfaretest"
)

// TestHostHeader checks that links use the operator's address, whatever the
// Host header contains.
func TestHostHeader(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ public, host, want string }{
		{"https://ads.example.com/", "evil.example", "https://ads.example.com"},
		{"https://ads.example.com", "localhost:8443", "https://ads.example.com"},
		{"https://ads.example.com:8443", "ads.example.com", "https://ads.example.com:8443"},
		{"https://localhost:8443", "evil.example", "https://localhost:8443"},
		{"https://localhost:8443", "localhost.evil.example", "https://localhost:8443"},
		{"https://localhost:8443", "localhost:1@evil.example", "https://localhost:8443"},
		{"https://localhost:8443", "127.0.0.1:9000", "https://127.0.0.1:9000"},
		{"https://localhost:8443", "[::1]:9000", "https://[::1]:9000"},
		{"https://localhost:8443", "203.0.113.7", "https://localhost:8443"},
	} {
		t.Run(tt.public+" by "+tt.host, func(t *testing.T) {
			t.Parallel()
			w := fanfaretest.New(t, nil, func(c *app.Config) { c.PublicURL = tt.public })
			tenant := w.Tenant(account.Growth)
			asset := tenant.Do("POST", "/v1/assets", []byte(`<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>`), "Content-Type: image/svg+xml").Want(201).ID()
			for _, call := range []struct{ method, path, want string }{
				{"POST", "/v1/assets/" + asset + "/link", `"url":"` + tt.want + `/assets/`},
				{"GET", "/v1", `"docs_url":"` + tt.want + `/docs"`},
				{"GET", "/v1/campaigns/none", `"doc_url":"` + tt.want + `/docs/errors#not_found"`},
				{"GET", "/v1/none", `"doc_url":"` + tt.want + `/docs/errors#route_not_found"`},
				{"GET", "/docs", `FANFARE_URL=` + tt.want + "\n"},
				{"GET", "/docs/changelog.atom", tt.want + `/docs/changelog`},
			} {
				r := httptest.NewRequestWithContext(t.Context(), call.method, "https://fanfare.test"+call.path, nil)
				r.RequestURI, r.Host = call.path, tt.host
				r.Header.Set("Authorization", "Bearer "+tenant.Key)
				rec := httptest.NewRecorder()
				w.App.Handler.ServeHTTP(rec, r)
				if got := rec.Body.String(); !strings.Contains(got, call.want) || strings.Contains(got, "evil") {
					t.Errorf("%s %s: got %d %.600s want %s", call.method, call.path, rec.Code, got, call.want)
				}
			}
		})
	}
}
