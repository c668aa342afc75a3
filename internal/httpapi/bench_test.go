package httpapi_test

import (
	"crypto/rand"
	"net/http"
	"net/http/httptest"
	"testing"

	"fanfare/internal/account"
	"fanfare/internal/app"
	"fanfare/internal/fanfaretest"
	"fanfare/internal/ratelimit"
)

// sink is the cheapest possible ResponseWriter.
type sink struct{ h http.Header }

func (s *sink) Header() http.Header         { return s.h }
func (s *sink) Write(p []byte) (int, error) { return len(p), nil }
func (s *sink) WriteHeader(int)             {}

// BenchmarkGetCampaign measures the cost of the HTTP layer for a cached read.
func BenchmarkGetCampaign(b *testing.B) {
	w := fanfaretest.New(b, nil, func(c *app.Config) {
		c.Limits = map[account.Plan]ratelimit.Limits{account.Enterprise: {PerMinute: 1 << 40, PerDay: 1 << 40}}
	})
	t := w.Tenant(account.Enterprise)
	id := t.Do("POST", "/v1/campaigns", `{"name":"Bench"}`).Want(201).ID()
	r := httptest.NewRequest(http.MethodGet, "/v1/campaigns/"+id, nil)
	r.Header.Set("Authorization", "Bearer "+t.Key)
	r.RemoteAddr = "127.0.0.1:4711"
	s := &sink{}
	b.ReportAllocs()
	for b.Loop() {
		s.h = make(http.Header, 16)
		w.App.API.ServeHTTP(s, r)
	}
}

// BenchmarkUnknownKey measures a guess by an address that is over its limit: a
// well-formed key, which costs a lookup, and a text that is no key.
func BenchmarkUnknownKey(b *testing.B) {
	for _, tt := range []struct {
		name string
		make func() string
	}{
		{"well-formed", func() string { return account.NewSecret(rand.Reader) }},
		{"malformed", func() string { return account.KeyPrefix + rand.Text() }},
	} {
		b.Run(tt.name, func(b *testing.B) {
			w := fanfaretest.New(b, nil)
			r := httptest.NewRequest(http.MethodGet, "/v1/me", nil)
			r.RemoteAddr = "198.51.100.9:4711"
			s := &sink{}
			for b.Loop() {
				s.h = make(http.Header, 16)
				r.Header.Set("Authorization", "Bearer "+tt.make())
				w.App.API.ServeHTTP(s, r)
			}
		})
	}
}
