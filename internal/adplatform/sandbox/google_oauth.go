package sandbox

import (
	"cmp"
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// Hosts of Google's OAuth, for all its platforms.
const (
	googleConsentHost = "accounts.google.com"
	googleTokenHost   = "oauth2.googleapis.com"
)

// serveGoogleOAuth answers OAuth calls. It reports whether the call was one.
func serveGoogleOAuth(s *Call, w http.ResponseWriter, r *http.Request, scope string) bool {
	switch r.Method + " " + r.URL.Path {
	case "GET /o/oauth2/v2/auth":
		googleConsent(s, w, r)
	case "POST /token":
		googleToken(s, w, r, scope)
	case "POST /revoke":
		token := r.PostFormValue("token")
		if _, known := readToken(token); !known {
			writeOAuthError(w, "invalid_token", "Token expired or revoked")
			break
		}
		s.Revoke(token)
		writeGoogle(w, http.StatusOK, struct{}{})
	default:
		return false
	}
	return true
}

// googleConsent grants consent at once.
func googleConsent(s *Call, w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	back, err := url.Parse(q.Get("redirect_uri"))
	for name, want := range map[string]string{"response_type": "code", "access_type": "offline", "code_challenge_method": "S256"} {
		if got := q.Get(name); got != want {
			writeOAuthError(w, "invalid_request", "Parameter "+name+" must be "+want+".")
			return
		}
	}
	for _, name := range []string{"client_id", "scope", "code_challenge"} {
		if q.Get(name) == "" {
			writeOAuthError(w, "invalid_request", "Required parameter is missing: "+name)
			return
		}
	}
	if err != nil || back.Host == "" {
		writeOAuthError(w, "redirect_uri_mismatch", "The redirect URI is no URL.")
		return
	}
	answer := back.Query()
	answer.Set("code", s.Code(newConsent(q, q.Get("client_id"), q.Get("scope"))))
	answer.Set("state", q.Get("state"))
	answer.Set("scope", q.Get("scope"))
	back.RawQuery = answer.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound)
}

func googleToken(s *Call, w http.ResponseWriter, r *http.Request, scope string) {
	if r.PostFormValue("grant_type") == assertionGrant {
		googleAssertion(s, w, r, scope)
		return
	}
	if r.PostFormValue("client_id") == "" || r.PostFormValue("client_secret") == "" {
		writeOAuthError(w, "invalid_client", "The OAuth client was not found.")
		return
	}
	var tokens Tokens
	var err error
	kept := ""
	switch r.PostFormValue("grant_type") {
	case "authorization_code":
		if r.PostFormValue("code_verifier") == "" || r.PostFormValue("redirect_uri") == "" {
			writeOAuthError(w, "invalid_grant", "Missing code verifier.")
			return
		}
		tokens, err = s.Exchange(r.PostFormValue("code"))
	case "refresh_token":
		if googleRefreshFails(s, w) {
			return
		}
		kept = r.PostFormValue("refresh_token")
		tokens, err = s.Refresh(kept)
	default:
		writeOAuthError(w, "unsupported_grant_type", "Invalid grant_type: "+r.PostFormValue("grant_type"))
		return
	}
	if err != nil {
		writeOAuthError(w, "invalid_grant", "Token has been expired or revoked.")
		return
	}
	if kept == "" && s.Behaves(nil, googleConsentTesting) {
		limitRefreshToken(&tokens, s.Now())
	}
	answer := map[string]any{
		"access_token": tokens.Access, "expires_in": int64(tokens.AccessLifetime.Seconds()), "scope": cmp.Or(tokens.Scope, scope), "token_type": "Bearer",
	}
	if slices.Contains(strings.Fields(tokens.Scope), "openid") {
		answer["id_token"] = idToken(tokens.Consent, s.Now())
	}
	if tokens.Refresh != kept {
		answer["refresh_token"] = tokens.Refresh
	}
	if tokens.RefreshLifetime > 0 {
		answer["refresh_token_expires_in"] = int64(tokens.RefreshLifetime.Seconds())
	}
	writeGoogle(w, http.StatusOK, answer)
}

// idToken returns the ID token of a person.
func idToken(agreed Consent, now time.Time) string {
	part := func(v any) string {
		b, err := json.Marshal(v, json.Deterministic(true))
		if err != nil {
			panic(err) // cannot fail: it has only texts and numbers
		}
		return base64.RawURLEncoding.EncodeToString(b)
	}
	text := part(map[string]any{"alg": "RS256", "typ": "JWT"}) + "." + part(map[string]any{
		"iss": "https://" + googleConsentHost, "aud": agreed.Client, "sub": agreed.Person, "iat": now.Unix(), "exp": now.Add(time.Hour).Unix(),
	})
	return text + "." + sign(text)
}

const (
	// googleConsentTesting is the switch of an app whose consent screen is in
	// testing.
	googleConsentTesting = "consent_testing"
	// googleTestingLife is the lifetime of the refresh tokens of such an app.
	googleTestingLife = 7 * days
)

// limitRefreshToken makes a refresh token expire.
func limitRefreshToken(t *Tokens, now time.Time) {
	c, _ := readToken(t.Refresh) // it was issued just now
	c.Expires = expiryOf(now, googleTestingLife)
	t.Refresh, t.RefreshLifetime = c.token(), googleTestingLife
}

// writeOAuthError writes an error in the format of OAuth.
func writeOAuthError(w http.ResponseWriter, code, description string) {
	status := http.StatusBadRequest
	if code == "invalid_client" {
		status = http.StatusUnauthorized
	}
	writeGoogle(w, status, map[string]string{"error": code, "error_description": description})
}

func writeGoogle(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		panic(err) // cannot fail: it has only texts and numbers
	}
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(status)
	_, _ = w.Write(b) // a client that has disconnected gets no answer
}

// googleBearer returns the token of a call.
func googleBearer(r *http.Request) string {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return token
}

// googleStatus maps HTTP statuses to Google's names.
var googleStatus = map[int]string{
	http.StatusBadRequest: "INVALID_ARGUMENT", http.StatusUnauthorized: "UNAUTHENTICATED", http.StatusForbidden: "PERMISSION_DENIED",
	http.StatusNotFound: "NOT_FOUND", http.StatusTooManyRequests: "RESOURCE_EXHAUSTED", http.StatusGatewayTimeout: "DEADLINE_EXCEEDED",
	http.StatusConflict: "ABORTED", http.StatusInternalServerError: "INTERNAL", http.StatusServiceUnavailable: "UNAVAILABLE",
}

// googleError returns the error format of all of Google's APIs.
func googleError(status int, message string, details ...any) any {
	inner := map[string]any{"code": status, "message": message, "status": googleStatus[status]}
	if len(details) > 0 {
		inner["details"] = details
	}
	return map[string]any{"error": inner}
}
