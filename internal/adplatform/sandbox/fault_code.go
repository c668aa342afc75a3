package sandbox

import (
	"cmp"
	"net/http"
	"strconv"
	"strings"
)

// codeAnswerer is a PlatformAPI that can answer with any code.
type codeAnswerer interface {
	// AnswerCode answers with an error in the platform's format. The message is
	// one of the sandbox's own if it is empty.
	AnswerCode(s *Call, w http.ResponseWriter, r *http.Request, code, message string)
}

// answersCodes reports whether a platform can answer with any code.
func answersCodes(platform string) bool {
	_, ok := apiOf(platform).(codeAnswerer)
	return ok
}

// defaultCodeMessage is the message of errors without one.
const defaultCodeMessage = "The sandbox was told to answer with this code."

// googleStatuses are the HTTP statuses of Google's status names.
var googleStatuses = map[string]int{
	"INVALID_ARGUMENT": 400, "FAILED_PRECONDITION": 400, "OUT_OF_RANGE": 400, "UNAUTHENTICATED": 401, "PERMISSION_DENIED": 403, "NOT_FOUND": 404,
	"ALREADY_EXISTS": 409, "ABORTED": 409, "RESOURCE_EXHAUSTED": 429, "CANCELLED": 499,
	"INTERNAL": 500, "UNKNOWN": 500, "DATA_LOSS": 500, "UNIMPLEMENTED": 501, "UNAVAILABLE": 503, "DEADLINE_EXCEEDED": 504,
}

// answerGoogleCode answers calls to OAuth with an OAuth error, and others with a
// status and a reason.
func answerGoogleCode(w http.ResponseWriter, r *http.Request, code, message string) {
	main, sub, _ := strings.Cut(code, "/")
	message = cmp.Or(message, defaultCodeMessage)
	if r.URL.Path == "/token" || r.URL.Path == "/revoke" {
		answer := map[string]string{"error": main, "error_description": message}
		if sub != "" {
			answer["error_subtype"] = sub
		}
		writeGoogle(w, oauthStatus(main), answer)
		return
	}
	status := cmp.Or(googleStatuses[main], http.StatusBadRequest)
	inner := map[string]any{"code": status, "message": message, "status": main}
	if sub != "" {
		inner["details"] = []any{map[string]any{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": sub, "domain": "googleapis.com"}}
	}
	writeGoogle(w, status, map[string]any{"error": inner})
}

// oauthStatus returns the HTTP status of an OAuth error, from RFC 6749.
func oauthStatus(code string) int {
	switch code {
	case "invalid_client", "deleted_client", "disabled_client":
		return http.StatusUnauthorized
	case "access_denied", "org_internal":
		return http.StatusForbidden
	case "rate_limit_exceeded":
		return http.StatusTooManyRequests
	case "server_error", "internal_failure":
		return http.StatusInternalServerError
	case "temporarily_unavailable":
		return http.StatusServiceUnavailable
	}
	return http.StatusBadRequest
}

// googleKindStatuses are the HTTP statuses of kinds of errors of Google Ads; all
// others have 400.
var googleKindStatuses = map[string]int{
	"authenticationError": http.StatusUnauthorized, "authorizationError": http.StatusForbidden, "operationAccessDeniedError": http.StatusForbidden,
	"quotaError": http.StatusTooManyRequests, "internalError": http.StatusInternalServerError, "databaseError": http.StatusConflict,
}

// AnswerCode implements codeAnswerer. A code of Google Ads has the member of
// errorCode before the slash.
func (google) AnswerCode(_ *Call, w http.ResponseWriter, r *http.Request, code, message string) {
	kind, name, _ := strings.Cut(code, "/")
	if !strings.HasSuffix(kind, "Error") {
		answerGoogleCode(w, r, code, message)
		return
	}
	version, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	f := googleFailure{cmp.Or(googleKindStatuses[kind], http.StatusBadRequest), kind, name, cmp.Or(message, defaultCodeMessage), nil}
	f.writeResponse(w, version, isStream(r))
}

// AnswerCode implements codeAnswerer.
func (ga4) AnswerCode(_ *Call, w http.ResponseWriter, r *http.Request, code, message string) {
	answerGoogleCode(w, r, code, message)
}

// AnswerCode implements codeAnswerer. Meta answers most errors with 400.
func (meta) AnswerCode(_ *Call, w http.ResponseWriter, _ *http.Request, code, message string) {
	main, sub, _ := strings.Cut(code, "/")
	number, _ := strconv.Atoi(main)
	subcode, _ := strconv.Atoi(sub)
	writeMetaError(w, metaError{Code: number, Subcode: subcode, Type: "OAuthException", Trace: "A0", Message: cmp.Or(message, defaultCodeMessage)})
}

// AnswerCode implements codeAnswerer. A code http/404 is a status without
// TikTok's envelope.
func (tikTok) AnswerCode(s *Call, w http.ResponseWriter, _ *http.Request, code, message string) {
	if text, ok := strings.CutPrefix(code, "http/"); ok {
		status, _ := strconv.Atoi(text)
		http.Error(w, http.StatusText(status), status)
		return
	}
	number, _ := strconv.Atoi(code)
	writeTikTok(w, s, number, cmp.Or(message, defaultCodeMessage), struct{}{})
}

// AnswerCode implements codeAnswerer. Before the slash is the HTTP status, after
// it a code, a service error code, or an error of OAuth.
func (linkedIn) AnswerCode(_ *Call, w http.ResponseWriter, r *http.Request, code, message string) {
	main, sub, _ := strings.Cut(code, "/")
	status, err := strconv.Atoi(main)
	if err != nil {
		status = http.StatusBadRequest
	}
	message = cmp.Or(message, defaultCodeMessage)
	if strings.HasPrefix(r.URL.Path, "/oauth/") {
		writeLinkedIn(w, status, map[string]string{"error": sub, "error_description": message})
		return
	}
	answer := map[string]any{"status": status, "message": message}
	if number, err := strconv.Atoi(sub); err == nil {
		answer["serviceErrorCode"] = number
	} else if sub != "" {
		answer["code"] = sub
	}
	writeLinkedIn(w, status, answer)
}
