package sandbox

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// ga4 simulates the Data API of Google Analytics 4, and the part of the Admin
// API that finds properties and their key events.
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
	version, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	// The Admin API has an alpha version too, which Google's SDKs use unless they
	// are told otherwise.
	known := version == "v1beta" || version == "v1alpha" && ga4APIOf(r.Method, path) == "Admin"
	if !known || s.Fault(FaultVersionSunset) {
		// An unknown version has an answer that is not JSON.
		http.Error(w, "<!DOCTYPE html><title>Error 404 (Not Found)</title>", http.StatusNotFound)
		return
	}
	if s.Behaves(nil, "forbidden_page") {
		http.Error(w, "<!DOCTYPE html><title>Error 403 (Forbidden)</title>", http.StatusForbidden)
		return
	}
	list, err := s.Accounts(googleBearer(r))
	if err != nil {
		reason := "ACCESS_TOKEN_TYPE_UNSUPPORTED"
		if errors.Is(err, ErrExpiredToken) {
			reason = "ACCESS_TOKEN_EXPIRED"
		}
		writeGoogle(w, http.StatusUnauthorized, googleError(http.StatusUnauthorized, "Request had invalid authentication credentials.", ga4ErrorInfo(reason)))
		return
	}
	v := ga4Viewer{Call: s, list: list}
	status, answer := v.route(r, path)
	if s.Behaves(nil, ga4OmitDefaults) {
		answer = omitDefaults(answer)
	}
	writeGoogle(w, status, answer)
}

func ga4ErrorInfo(reason string) any {
	return map[string]any{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason, "domain": "googleapis.com"}
}

// Throttle implements Dialect.
func (ga4) Throttle(w http.ResponseWriter, _ *http.Request, seconds int) {
	writeGoogle(w, http.StatusTooManyRequests, googleError(http.StatusTooManyRequests, "Exhausted concurrent requests quota.", map[string]any{
		"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": strconv.Itoa(seconds) + "s",
	}))
}

// ga4Viewer is a call with the properties that its token opens.
type ga4Viewer struct {
	*Call
	list []*Account
}

// route finds the operation of a call.
func (v ga4Viewer) route(r *http.Request, path string) (int, any) {
	if api := v.Behavior(nil, "api_disabled"); api != "" && api == ga4APIOf(r.Method, path) {
		return http.StatusForbidden, googleError(http.StatusForbidden,
			"Google Analytics "+api+" API has not been used in project 1 before or it is disabled.", ga4ErrorInfo("SERVICE_DISABLED"))
	}
	if v.Behaves(nil, "scope_missing") {
		return http.StatusForbidden, googleError(http.StatusForbidden, "Request had insufficient authentication scopes.", ga4ErrorInfo("ACCESS_TOKEN_SCOPE_INSUFFICIENT"))
	}
	switch r.Method + " " + path {
	case "GET accounts":
		return v.listAccounts(r.URL.Query())
	case "GET accountSummaries":
		return v.accountSummaries(r.URL.Query())
	case "GET properties":
		return v.listProperties(r.URL.Query())
	case "GET properties/0/metadata":
		// Property 0 has the fields that all properties have.
		return http.StatusOK, v.metadata(nil)
	}
	if id, ok := strings.CutPrefix(path, "accounts/"); ok && r.Method == http.MethodGet {
		return v.getAccount(id)
	}
	name, ok := strings.CutPrefix(path, "properties/")
	if !ok {
		return http.StatusNotFound, googleError(http.StatusNotFound, "Method not found.")
	}
	end := strings.IndexAny(name, ":/")
	if end < 0 {
		end = len(name)
	}
	a := v.property(name[:end])
	if a == nil || v.refuses(a) {
		return ga4Denied()
	}
	return v.routeProperty(a, r, name[end:])
}

// ga4APIOf returns which of the two APIs an operation belongs to.
func ga4APIOf(method, path string) string {
	if method == http.MethodPost || strings.HasSuffix(path, "/metadata") {
		return "Data"
	}
	return "Admin"
}

// routeProperty finds the operation of a call on a property.
func (v ga4Viewer) routeProperty(a *Account, r *http.Request, operation string) (int, any) {
	switch r.Method + " " + operation {
	case "GET ":
		return http.StatusOK, v.propertyResource(a)
	case "GET /keyEvents":
		return v.listKeyEvents(a, r.URL.Query())
	case "GET /dataStreams":
		return v.listDataStreams(a, r.URL.Query())
	case "GET /metadata":
		return http.StatusOK, v.metadata(a)
	}
	answers := map[string]func(*Account, []byte) (int, any){
		":runReport": v.runReport, ":batchRunReports": v.batchRunReports, ":checkCompatibility": v.checkCompatibility,
	}
	answer, ok := answers[operation]
	if r.Method != http.MethodPost || !ok {
		return http.StatusNotFound, googleError(http.StatusNotFound, "Method not found.")
	}
	if v.Fault(FaultAccountDisabled) || v.trashed(a) {
		return ga4Denied()
	}
	if message := v.exhausted(a); message != "" {
		return http.StatusTooManyRequests, googleError(http.StatusTooManyRequests, message)
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, googleMaxBody))
	if err != nil {
		return ga4Invalid("The request broke off.")
	}
	return answer(a, body)
}

func ga4Denied() (int, any) {
	return http.StatusForbidden, googleError(http.StatusForbidden, "User does not have sufficient permissions for this property.")
}

func ga4Invalid(message string) (int, any) {
	return http.StatusBadRequest, googleError(http.StatusBadRequest, message)
}

// ga4Exhausted are the messages of exhausted quotas.
//
// Choice: the message about server errors is not documented; it has the form of
// the others.
var ga4Exhausted = map[string]string{
	"tokens":         "Exhausted property tokens per hour. These quota tokens will return in under an hour.",
	"tokens_day":     "Exhausted property tokens per day. These quota tokens will return in under 24 hours.",
	"tokens_project": "Exhausted property tokens for a project per hour. These quota tokens will return in under an hour.",
	"concurrent":     "Exhausted concurrent requests quota. Please try again once your other requests complete.",
	"threshold":      "Exhausted potentially thresholded requests quota. This quota will refresh in under an hour.",
	"errors":         "Exhausted server errors quota for a project. This quota will refresh in under an hour.",
}

// exhausted returns the message of the quota that is exhausted, an empty string
// for none. Any exhausted quota blocks all requests of the property.
func (v ga4Viewer) exhausted(a *Account) string { return ga4Exhausted[v.Behavior(a, "quota")] }

// quotaState returns the state of the property's quotas after a report.
func (v ga4Viewer) quotaState(a *Account) any {
	left := map[string]int{
		"tokensPerDay": 199_999, "tokensPerHour": 39_999, "tokensPerProjectPerHour": 13_999,
		"concurrentRequests": 10, "serverErrorsPerProjectPerHour": 10, "potentiallyThresholdedRequestsPerHour": 119,
	}
	switch v.Behavior(a, "quota") {
	case "low_tokens":
		left["tokensPerProjectPerHour"] = 1_000
	case "low_threshold":
		left["potentiallyThresholdedRequestsPerHour"] = 5
	case "low_errors":
		left["serverErrorsPerProjectPerHour"] = 1
	}
	answer := map[string]any{}
	for name, remaining := range left {
		consumed := 1
		if name == "concurrentRequests" || name == "serverErrorsPerProjectPerHour" {
			consumed = 0
		}
		answer[name] = map[string]int{"consumed": consumed, "remaining": remaining}
	}
	return answer
}
