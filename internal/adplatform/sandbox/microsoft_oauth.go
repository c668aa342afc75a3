package sandbox

import (
	"net/http"
	"net/url"
	"strconv"
)

const (
	microsoftOAuth = "/common/oauth2/v2.0/"
	microsoftScope = "https://ads.microsoft.com/msads.manage"
	// microsoftRefreshLife is the lifetime of a refresh token, from its own issue.
	microsoftRefreshLife = 90 * days
)

// microsoftConsentErrors are the errors of the token endpoint by their number,
// with Microsoft's texts.
var microsoftConsentErrors = map[string][2]string{
	"50011":  {"invalid_request", "AADSTS50011: The redirect URI specified in the request does not match the redirect URIs configured for the application."},
	"650052": {"invalid_client", "AADSTS650052: The app is trying to access a service that your organization lacks a service principal for."},
	"700016": {"unauthorized_client", "AADSTS700016: Application with this identifier was not found in the directory."},
	"70000":  {"invalid_grant", "AADSTS70000: The provided value for the input parameter 'refresh_token' is not valid."},
}

// serveMicrosoftOAuth answers OAuth calls. It reports whether the call was one.
func serveMicrosoftOAuth(s *Call, w http.ResponseWriter, r *http.Request) bool {
	switch r.Method + " " + r.URL.Path {
	case "GET " + microsoftOAuth + "authorize":
		microsoftConsent(s, w, r)
	case "POST " + microsoftOAuth + "token":
		microsoftToken(s, w, r)
	default:
		return false
	}
	return true
}

// microsoftConsent grants consent at once.
func microsoftConsent(s *Call, w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	back, err := url.Parse(q.Get("redirect_uri"))
	if err != nil || back.Host == "" {
		writeMicrosoftOAuthError(w, "50011")
		return
	}
	answer := back.Query()
	if q.Get("client_id") == "" || q.Get("response_type") != "code" || q.Get("scope") != microsoftScope+" offline_access" || q.Get("code_challenge") == "" {
		answer.Set("error", "invalid_request")
	} else {
		answer.Set("code", s.Code(newConsent(q, q.Get("client_id"), q.Get("scope"))))
	}
	answer.Set("state", q.Get("state"))
	back.RawQuery = answer.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound)
}

// microsoftToken answers with tokens. Every refresh token is answered with a new
// one.
func microsoftToken(s *Call, w http.ResponseWriter, r *http.Request) {
	if number := s.Behavior(nil, microsoftConsentError); number != "" {
		writeMicrosoftOAuthError(w, number)
		return
	}
	if r.PostFormValue("client_id") == "" || r.PostFormValue("client_secret") == "" {
		writeMicrosoft(w, http.StatusUnauthorized, map[string]any{"error": "invalid_client", "error_description": "AADSTS7000215: Invalid client secret provided.", "error_codes": []int{7000215}})
		return
	}
	var tokens Tokens
	var err error
	switch r.PostFormValue("grant_type") {
	case "authorization_code":
		if r.PostFormValue("code_verifier") == "" || r.PostFormValue("redirect_uri") == "" {
			err = ErrUnknownToken
			break
		}
		tokens, err = s.Exchange(r.PostFormValue("code"))
	case "refresh_token":
		tokens, err = s.rotateMicrosoft(r.PostFormValue("refresh_token"))
	default:
		err = ErrUnknownToken
	}
	if err != nil {
		writeMicrosoftOAuthError(w, "70000")
		return
	}
	writeMicrosoft(w, http.StatusOK, map[string]any{
		"token_type": "Bearer", "scope": microsoftScope, "expires_in": int64(tokens.AccessLifetime.Seconds()), "ext_expires_in": int64(tokens.AccessLifetime.Seconds()),
		"access_token": tokens.Access, "refresh_token": tokens.Refresh,
	})
}

// rotateMicrosoft refreshes tokens. With the switch on, the old refresh token
// ends; else it lives on until its own end.
func (s *Call) rotateMicrosoft(token string) (Tokens, error) {
	if _, err := s.Refresh(token); err != nil {
		return Tokens{}, err
	}
	c, _ := readToken(token) // it was valid just now
	if s.Behaves(nil, microsoftRotates) {
		s.server.state.markSpent(c.Serial)
	}
	c.Expires = expiryOf(s.now, microsoftRefreshLife)
	return s.server.renewTokens(c, "", s.now), nil
}

func writeMicrosoftOAuthError(w http.ResponseWriter, number string) {
	said := microsoftConsentErrors[number]
	n, _ := strconv.Atoi(number) // the keys are numbers
	writeMicrosoft(w, http.StatusBadRequest, map[string]any{
		"error": said[0], "error_description": said[1], "error_codes": []int{n}, "trace_id": "00000000-0000-4000-8000-000000000001",
	})
}
