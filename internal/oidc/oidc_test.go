package oidc_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"fanfare/internal/fault"
	"fanfare/internal/oidc"
	"fanfare/internal/secret"
	"fanfare/internal/signin"
)

var b64 = base64.RawURLEncoding

func now() time.Time { return time.Date(2026, time.November, 15, 12, 0, 0, 0, time.UTC) }

// testIssuer is an issuer with one user.
type testIssuer struct {
	*httptest.Server
	t   *testing.T
	key *ecdsa.PrivateKey
	// claims are the user's claims, challenge the PKCE challenge of the flow.
	claims    map[string]any
	challenge string
	// down makes all endpoints but discovery fail.
	down bool
}

const redirect = "https://console.example.com/callback"

func newTestIssuer(t *testing.T) *testIssuer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s := &testIssuer{t: t, key: key}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		s.writeJSON(w, map[string]any{
			"issuer": s.URL, "authorization_endpoint": s.URL + "/authorize", "token_endpoint": s.URL + "/token", "jwks_uri": s.URL + "/keys",
			"id_token_signing_alg_values_supported": []string{"ES256"},
		})
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		public, err := key.PublicKey.Bytes()
		if err != nil {
			t.Error(err)
		}
		s.writeJSON(w, map[string]any{"keys": []any{map[string]any{
			"kty": "EC", "crv": "P-256", "alg": "ES256", "use": "sig", "kid": "1", "x": b64.EncodeToString(public[1:33]), "y": b64.EncodeToString(public[33:]),
		}}})
	})
	mux.HandleFunc("POST /token", s.serveToken)
	s.Server = httptest.NewTLSServer(mux)
	t.Cleanup(s.Close)
	s.claims = map[string]any{
		"iss": s.URL, "aud": "client", "sub": "person", "email": "jo@example.com", "email_verified": true, "name": "Jo",
		"iat": now().Unix(), "exp": now().Add(time.Minute).Unix(), "nonce": "nonce",
	}
	return s
}

func (s *testIssuer) writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(v); err != nil {
		s.t.Error(err)
	}
}

// serveToken exchanges the code for a token if the secret and the verifier are
// correct.
func (s *testIssuer) serveToken(w http.ResponseWriter, r *http.Request) {
	if s.down {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	id, password, _ := r.BasicAuth()
	sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	if id != "client" || password != "s3cret" || r.FormValue("code") != "code" || r.FormValue("redirect_uri") != redirect || b64.EncodeToString(sum[:]) != s.challenge {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		s.writeJSON(w, map[string]any{"error": "invalid_grant"})
		return
	}
	s.writeJSON(w, map[string]any{"access_token": "token", "token_type": "Bearer", "id_token": s.signToken(s.key)})
}

func (s *testIssuer) signToken(key *ecdsa.PrivateKey) string {
	part := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			s.t.Error(err)
		}
		return b64.EncodeToString(b)
	}
	text := part(map[string]any{"alg": "ES256", "kid": "1"}) + "." + part(s.claims)
	sum := sha256.Sum256([]byte(text))
	r, v, err := ecdsa.Sign(rand.Reader, key, sum[:])
	if err != nil {
		s.t.Error(err)
	}
	return text + "." + b64.EncodeToString(append(r.FillBytes(make([]byte, 32)), v.FillBytes(make([]byte, 32))...))
}

func (s *testIssuer) newClient() *oidc.Client {
	return oidc.New(oidc.Options{Issuer: s.URL, ClientID: "client", ClientSecret: secret.New("s3cret"), HTTP: s.Client(), Now: now})
}

var flow = signin.Flow{State: "state", Nonce: "nonce", Verifier: strings.Repeat("verifier", 6)}

// startFlow starts a sign-in and records its challenge.
func (s *testIssuer) startFlow(c *oidc.Client) {
	s.t.Helper()
	to, err := c.Start(s.t.Context(), redirect, flow)
	if err != nil {
		s.t.Fatal(err)
	}
	u, err := url.Parse(to)
	if err != nil {
		s.t.Fatal(err)
	}
	q := u.Query()
	want := map[string]string{"state": "state", "nonce": "nonce", "client_id": "client", "redirect_uri": redirect, "response_type": "code", "code_challenge_method": "S256", "scope": "openid email profile"}
	for name, v := range want {
		if q.Get(name) != v {
			s.t.Errorf("%s: got %q want %q", name, q.Get(name), v)
		}
	}
	if strings.Contains(to, flow.Verifier) || !strings.HasPrefix(to, s.URL+"/authorize?") {
		s.t.Errorf("got address %s", to)
	}
	s.challenge = q.Get("code_challenge")
}

func TestFlow(t *testing.T) {
	t.Parallel()
	s := newTestIssuer(t)
	c := s.newClient()
	s.startFlow(c)
	got, err := c.Finish(t.Context(), redirect, "code", flow)
	if want := (signin.Identity{Issuer: s.URL, Subject: "person", Email: "jo@example.com", Verified: true, Name: "Jo"}); err != nil || got != want {
		t.Errorf("got %+v, %v want %+v", got, err, want)
	}
}

func TestInvalidTokens(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		spoil func(s *testIssuer, f *signin.Flow, code *string)
		want  fault.Code
	}{
		{"another code", func(_ *testIssuer, _ *signin.Flow, code *string) { *code = "another" }, fault.InsufficientPermissions},
		{"another verifier", func(_ *testIssuer, f *signin.Flow, _ *string) { f.Verifier = strings.Repeat("another", 7) }, fault.InsufficientPermissions},
		{"another nonce", func(s *testIssuer, _ *signin.Flow, _ *string) { s.claims["nonce"] = "another" }, fault.InsufficientPermissions},
		{"no nonce", func(s *testIssuer, _ *signin.Flow, _ *string) { delete(s.claims, "nonce") }, fault.InsufficientPermissions},
		{"another audience", func(s *testIssuer, _ *signin.Flow, _ *string) { s.claims["aud"] = "another" }, fault.InsufficientPermissions},
		{"another issuer", func(s *testIssuer, _ *signin.Flow, _ *string) { s.claims["iss"] = "https://evil.example.com" }, fault.InsufficientPermissions},
		{"expired", func(s *testIssuer, _ *signin.Flow, _ *string) { s.claims["exp"] = now().Add(-time.Second).Unix() }, fault.InsufficientPermissions},
		{"another key", func(s *testIssuer, _ *signin.Flow, _ *string) {
			s.key, _ = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		}, fault.InsufficientPermissions},
		{"down", func(s *testIssuer, _ *signin.Flow, _ *string) { s.down = true }, fault.UpstreamError},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newTestIssuer(t)
			c := s.newClient()
			s.startFlow(c)
			f, code := flow, "code"
			tt.spoil(s, &f, &code)
			if id, err := c.Finish(t.Context(), redirect, code, f); !fault.Is(err, tt.want) || id != (signin.Identity{}) {
				t.Errorf("got %+v, %v want %s", id, err, tt.want)
			}
		})
	}
}

// TestIssuerUnavailable checks that discovery is repeated after a failure.
func TestIssuerUnavailable(t *testing.T) {
	t.Parallel()
	s := newTestIssuer(t)
	handler := s.Config.Handler
	s.Config.Handler = http.NotFoundHandler()
	c := s.newClient()
	if _, err := c.Start(t.Context(), redirect, flow); !fault.Is(err, fault.UpstreamError) {
		t.Fatalf("got %v want an upstream error", err)
	}
	s.Config.Handler = handler
	s.startFlow(c)
}

func TestCheck(t *testing.T) {
	t.Parallel()
	whole := oidc.Options{Issuer: "https://id.example.com", ClientID: "client", ClientSecret: secret.New("s3cret")}
	for _, tt := range []struct {
		name  string
		spoil func(o *oidc.Options)
		want  string
	}{
		{"whole", func(*oidc.Options) {}, ""},
		{"loopback", func(o *oidc.Options) { o.Issuer = "http://127.0.0.1:9000/realm" }, ""},
		{"clear text", func(o *oidc.Options) { o.Issuer = "http://id.example.com" }, "https"},
		{"not an address", func(o *oidc.Options) { o.Issuer = "id.example.com" }, "oidc-issuer"},
		{"no id", func(o *oidc.Options) { o.ClientID = "" }, "oidc-client-id"},
		{"no secret", func(o *oidc.Options) { o.ClientSecret = secret.Text{} }, "oidc-client-secret-file"},
	} {
		o := whole
		tt.spoil(&o)
		if err := o.Check(); (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v want %q", tt.name, err, tt.want)
		}
	}
}

func TestLabel(t *testing.T) {
	t.Parallel()
	for want, o := range map[string]oidc.Options{
		"":               {Name: "Example"},
		"Example":        {Issuer: "https://id.example.com", Name: "Example"},
		"single sign-on": {Issuer: "https://id.example.com"},
	} {
		if got := o.Label(); got != want {
			t.Errorf("got %q want %q", got, want)
		}
	}
}
