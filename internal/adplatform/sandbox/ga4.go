package sandbox

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// ga4 simulates the Data API of Google Analytics 4, and the part of the Admin
// API that finds properties.
type ga4 struct{}

const ga4Scope = "https://www.googleapis.com/auth/analytics.readonly"

// Platform implements Dialect.
func (ga4) Platform() string { return GA4 }

// Hosts implements PlatformAPI. OAuth uses the hosts of Google Ads.
func (ga4) Hosts() []string {
	return []string{"analyticsdata.googleapis.com", "analyticsadmin.googleapis.com"}
}

// Prefix implements Dialect.
func (ga4) Prefix() string { return "/ga4" }

// Serve implements Dialect.
func (ga4) Serve(s *Call, w http.ResponseWriter, r *http.Request) {
	if serveGoogleOAuth(s, w, r, ga4Scope) {
		return
	}
	path, ok := strings.CutPrefix(r.URL.Path, "/v1beta/")
	if !ok || s.Fault(FaultVersionSunset) {
		// An unknown version has an answer that is not JSON.
		http.Error(w, "<!DOCTYPE html><title>Error 404 (Not Found)</title>", http.StatusNotFound)
		return
	}
	a, err := s.Open(googleBearer(r))
	if err != nil {
		reason := "ACCESS_TOKEN_TYPE_UNSUPPORTED"
		if errors.Is(err, ErrExpiredToken) {
			reason = "ACCESS_TOKEN_EXPIRED"
		}
		writeGoogle(w, http.StatusUnauthorized, googleError(http.StatusUnauthorized, "Request had invalid authentication credentials.", map[string]any{
			"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason, "domain": "googleapis.com",
		}))
		return
	}
	status, answer := routeGA4(s, a, r, path)
	writeGoogle(w, status, answer)
}

// Throttle implements Dialect.
func (ga4) Throttle(w http.ResponseWriter, _ *http.Request, seconds int) {
	writeGoogle(w, http.StatusTooManyRequests, googleError(http.StatusTooManyRequests, "Exhausted concurrent requests quota.", map[string]any{
		"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": strconv.Itoa(seconds) + "s",
	}))
}

// routeGA4 finds the operation of a call.
func routeGA4(s *Call, a *Account, r *http.Request, path string) (int, any) {
	property := "properties/" + a.ID
	switch r.Method + " " + path {
	case "GET accountSummaries":
		return http.StatusOK, map[string]any{"accountSummaries": []any{map[string]any{
			"name": "accountSummaries/" + a.ID, "account": "accounts/" + a.ID, "displayName": a.Name,
			"propertySummaries": []any{map[string]any{
				"property": property, "displayName": a.Name, "propertyType": "PROPERTY_TYPE_ORDINARY", "parent": "accounts/" + a.ID,
			}},
		}}}
	case "GET " + property:
		return http.StatusOK, map[string]any{
			"name": property, "parent": "accounts/" + a.ID, "displayName": a.Name, "currencyCode": a.Set.Currency, "timeZone": a.Set.Timezone,
			"propertyType": "PROPERTY_TYPE_ORDINARY", "serviceLevel": "GOOGLE_ANALYTICS_STANDARD",
		}
	case "POST " + property + ":runReport":
		if s.Fault(FaultAccountDisabled) {
			break
		}
		body, err := io.ReadAll(io.LimitReader(r.Body, googleMaxBody))
		if err != nil {
			return ga4Invalid("The request broke off.")
		}
		return runGA4Report(s, a, body)
	default:
		if !strings.HasPrefix(path, "properties/") {
			return http.StatusNotFound, googleError(http.StatusNotFound, "Method not found.")
		}
	}
	return http.StatusForbidden, googleError(http.StatusForbidden, "User does not have sufficient permissions for this property.")
}

func ga4Invalid(message string) (int, any) {
	return http.StatusBadRequest, googleError(http.StatusBadRequest, message)
}
