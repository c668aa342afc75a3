package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"

	"github.com/go-json-experiment/json"
)

// metaError is the error of an answer.
type metaError struct {
	Status  int    `json:"-"`
	Message string `json:"message"`
	Type    string `json:"type"`
	Code    int    `json:"code"`
	Subcode int    `json:"error_subcode,omitzero"`
	// Transient is the platform's own advice to try again.
	Transient bool   `json:"is_transient,omitzero"`
	Trace     string `json:"fbtrace_id"`
}

func metaInvalid(format string, args ...any) *metaError {
	return &metaError{Code: 100, Message: "(#100) " + fmt.Sprintf(format, args...)}
}

var (
	metaTooLarge = &metaError{Status: http.StatusInternalServerError, Code: 1, Subcode: 99, Message: "Please reduce the amount of data you're asking for, then retry your request"}
	metaSunset   = &metaError{Code: 2635, Message: "(#2635) You are calling a deprecated version of the Ads API. Please update to the latest version."}
	metaDisabled = &metaError{Status: http.StatusForbidden, Code: 200, Message: "(#200) The ad account is disabled."}
	metaDenied   = &metaError{Status: http.StatusForbidden, Code: 200, Message: "(#200) Ad account owner has NOT granted ads_management or ads_read permission"}
	metaUnknown  = &metaError{Code: 100, Subcode: 33, Message: "Unsupported request. Object does not exist, cannot be loaded due to missing permissions, or does not support this operation."}
)

// metaTokenError returns the error of a token.
func metaTokenError(err error) *metaError {
	switch {
	case errors.Is(err, ErrExpiredToken):
		return &metaError{Code: 190, Subcode: 463, Message: "Error validating access token: Session has expired."}
	case errors.Is(err, ErrRevokedToken):
		return &metaError{Code: 190, Subcode: 458, Message: "Error validating access token: The user has not authorized application."}
	}
	return &metaError{Code: 190, Message: "Invalid OAuth access token - Cannot parse access token"}
}

// metaTooLargeErrors are the errors of reports with too much data, by the value
// of the switch.
var metaTooLargeErrors = map[string]*metaError{
	"1504018": {Code: 100, Subcode: 1504018, Message: "Your request timed out. Please try a smaller date range, fetch less data, or use async jobs"},
	"1504038": {Status: http.StatusInternalServerError, Code: 2, Subcode: 1504038, Message: "Your request timed out. Please try a smaller date range, fetch less data, or use async jobs"},
	"1487534": {Code: 100, Subcode: 1487534, Message: "Invalid parameter"},
	"500":     metaTooLarge,
	"unknown": {Status: http.StatusInternalServerError, Code: 1, Message: "An unknown error occurred"},
}

// metaReportErrors are other errors of reports, by the value of the switch.
var metaReportErrors = map[string]*metaError{
	"1504041": {Code: 2, Subcode: 1504041, Message: "The breakdown has no data for the metrics"},
	"1504042": {Code: 2, Subcode: 1504042, Message: "The custom metric cannot be computed"},
	"1504043": {Code: 2, Subcode: 1504043, Message: "Service temporarily unavailable"},
	"1504022": {Code: 4, Subcode: 1504022, Message: "There have been too many calls from this app"},
	"341":     {Code: 341, Message: "Application limit reached"},
	"368":     {Code: 368, Message: "The action attempted has been deemed abusive or is otherwise disallowed"},
}

// metaTokenMessages are the reasons why a token has ended, by subcode.
var metaTokenMessages = map[int]string{
	458: "Error validating access token: The user has not authorized application.",
	459: "Error validating access token: You cannot access the app till you log in to www.facebook.com and follow the instructions given.",
	460: "Error validating access token: The session has been invalidated because the user changed their password.",
	463: "Error validating access token: Session has expired.",
	464: "Error validating access token: Sessions for the user are not allowed because the user is not a confirmed user.",
	467: "Error validating access token: This may be because the user logged out.",
	492: "Error validating access token: Session does not match current stored session.",
}

// metaProofFormat is the format of a SHA-256 in hexadecimal digits. The sandbox
// does not know the secrets of apps.
var metaProofFormat = regexp.MustCompile(`^[0-9a-f]{64}$`)

func (c metaCall) writeError(e *metaError) {
	shown := *e
	if c.Behaves(nil, metaErrorWith200) {
		shown.Status = http.StatusOK
	}
	shown.Type, shown.Trace = "OAuthException", "A"+strconv.FormatInt(c.Now().UnixNano(), 36)
	c.w.Header().Set("X-Fb-Trace-Id", shown.Trace)
	writeMetaError(c.w, shown)
}

func writeMetaError(w http.ResponseWriter, e metaError) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(cmp.Or(e.Status, http.StatusBadRequest))
	_ = json.MarshalWrite(w, map[string]metaError{"error": e}, json.Deterministic(true))
}

// writeUsage sets the usage header of an account.
func (c metaCall) writeUsage(a *Account) {
	if c.Behaves(a, metaUsageStrings) {
		c.w.Header().Set("X-Business-Use-Case-Usage", fmt.Sprintf(`{%q:[{"type":"ads_insights","call_count":"80","total_cputime":"1","total_time":"","estimated_time_to_regain_access":"0"}]}`, a.ID))
		return
	}
	c.w.Header().Set("X-Business-Use-Case-Usage", metaUsage(a.ID, 1, 0))
	c.w.Header().Set("X-Fb-Ads-Insights-Throttle", `{"app_id_util_pct":0.1,"acc_id_util_pct":0.5,"ads_api_access_tier":"standard_access"}`)
}

func metaUsage(account string, percent, minutes int) string {
	return fmt.Sprintf(`{%q:[{"type":"ads_insights","call_count":%d,"total_cputime":%d,"total_time":%d,"estimated_time_to_regain_access":%d}]}`,
		account, percent, percent, percent, minutes)
}

// Throttle implements PlatformAPI. Meta reports the wait in minutes.
func (meta) Throttle(w http.ResponseWriter, _ *http.Request, seconds int) {
	w.Header().Set("X-Business-Use-Case-Usage", metaUsage("0", 100, (seconds+59)/60))
	writeMetaError(w, metaError{
		Code: 80000, Subcode: 2446079, Type: "OAuthException", Trace: "A0",
		Message: "(#80000) There have been too many calls from this ad-account. Wait a bit and try again.",
	})
}
