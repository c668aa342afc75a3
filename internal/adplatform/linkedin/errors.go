package linkedin

import (
	"cmp"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"fanfare/internal/adplatform/transport"
	"fanfare/internal/connection"
)

// errorAnswer is an error of LinkedIn. The OAuth host has Error and Description.
// The API has a message and a code; only accounts, campaign groups and campaigns
// have details.
type errorAnswer struct {
	ServiceErrorCode int    `json:"serviceErrorCode"`
	Code             string `json:"code"`
	Message          string `json:"message"`
	// Details are kept as text, so that an unknown form of them costs nothing
	// else.
	Details     jsontext.Value `json:"errorDetails"`
	Error       string         `json:"error"`
	Description string         `json:"error_description"`
}

// codeClasses are the classes of LinkedIn's error codes, from
// learn.microsoft.com/en-us/linkedin/marketing/error-responses and, for tokens,
// learn.microsoft.com/en-us/linkedin/shared/api-guide/concepts/error-handling.
// Codes that are not here have the class of their status.
var codeClasses = map[string]connection.Class{
	"NONEXISTENT_VERSION":  connection.Sunset,
	"EXPIRED_ACCESS_TOKEN": connection.Expired,
	"REVOKED_ACCESS_TOKEN": connection.Revoked,
	"INVALID_ACCESS_TOKEN": connection.Revoked,
	"EMPTY_ACCESS_TOKEN":   connection.Revoked,
	"TOO_MANY_REQUESTS":    connection.Throttled,

	"TIMEOUT":           connection.Transient,
	"CONFLICT":          connection.Transient,
	"UNDER_MAINTENANCE": connection.Transient,
	"INTERNAL_ERROR":    connection.Transient,

	"ACCESS_DENIED":           connection.Forbidden,
	"NO_PERMISSION_ON_ENTITY": connection.Forbidden,
	"NO_PERMISSION_ON_FIELD":  connection.Forbidden,
	"NO_PERMISSION_TO_UPDATE": connection.Forbidden,

	"ACTION_NOT_ALLOWED_FOR_CANCELLED_STATUS":               connection.Refused,
	"INVALID_STATUS_TRANSITION":                             connection.Refused,
	"ONLY_DRAFT_CAMPAIGNS_ALLOWED_IN_DRAFT_CAMPAIGN_GROUPS": connection.Refused,
	"STATUS_CHANGE_NOT_ALLOWED":                             connection.Refused,
}

// serviceClasses are the classes of the numbers of errors without a code.
var serviceClasses = map[int]connection.Class{
	65600: connection.Revoked, // invalid token
	65601: connection.Revoked, // revoked by the member
	65602: connection.Expired,
	65604: connection.Revoked, // no token
}

// statusClasses are the classes of statuses that transport.ClassOf does not
// know.
var statusClasses = map[int]connection.Class{
	http.StatusUnauthorized:          connection.Revoked,
	http.StatusUpgradeRequired:       connection.Sunset,
	http.StatusRequestTimeout:        connection.Transient,
	http.StatusConflict:              connection.Transient,
	http.StatusRequestURITooLong:     connection.TooLarge,
	http.StatusRequestEntityTooLarge: connection.TooLarge,
}

// codeRemedies say what to do about an error code, classRemedies about a class.
var (
	codeRemedies = map[string]string{
		"NO_PERMISSION_ON_ENTITY": roleRemedy, "NO_PERMISSION_ON_FIELD": roleRemedy, "NO_PERMISSION_TO_UPDATE": roleRemedy,
		"ONLY_DRAFT_CAMPAIGNS_ALLOWED_IN_DRAFT_CAMPAIGN_GROUPS": "Activate the campaign group in Campaign Manager first.",
		"ACTION_NOT_ALLOWED_FOR_CANCELLED_STATUS":               "A canceled campaign cannot be changed; copy it in Campaign Manager.",
	}
	classRemedies = map[connection.Class]string{
		connection.Sunset:    "LinkedIn has ended version " + version + " of its API: update Fanfare.",
		connection.Revoked:   "Grant access again.",
		connection.Forbidden: "Check in Campaign Manager that the member still has a role in the ad account, then grant access again.",
	}
)

// roleRemedy is for members whose role only reads, whatever the scopes are.
const roleRemedy = "Ask a manager of the ad account for the role CAMPAIGN_MANAGER or higher."

// readError implements transport.Options.ReadError.
func readError(status int, header http.Header, body []byte, now time.Time) *connection.Error {
	if status < http.StatusMultipleChoices {
		return nil
	}
	var said errorAnswer
	if err := json.Unmarshal(body, &said); err != nil {
		// An answer that is not JSON comes from a proxy; the status is enough.
		said = errorAnswer{}
	}
	e := &connection.Error{
		Class:     classOf(status, &said),
		Code:      cmp.Or(said.Code, said.Error, strconv.Itoa(cmp.Or(said.ServiceErrorCode, status))),
		RequestID: cmp.Or(header.Get("X-Li-Uuid"), header.Get("X-Li-Request-Id")),
	}
	e.Message = said.text(status)
	if e.Class == connection.Throttled {
		e.Until = retryTime(e.Message, now)
	}
	if remedy := cmp.Or(codeRemedies[e.Code], classRemedies[e.Class]); remedy != "" {
		e.Message = strings.TrimRight(e.Message, ".") + ". " + remedy
	}
	return e
}

// text returns the message of an error with those of its details.
func (a *errorAnswer) text(status int) string {
	message := cmp.Or(a.Message, a.Description, "LinkedIn answered with status "+strconv.Itoa(status)+".")
	var details struct {
		InputErrors []struct {
			Description string `json:"description"`
		} `json:"inputErrors"`
	}
	if len(a.Details) == 0 || json.Unmarshal(a.Details, &details) != nil {
		return message
	}
	for _, input := range details.InputErrors {
		if input.Description != "" && !strings.Contains(message, input.Description) {
			message += " " + input.Description
		}
	}
	return message
}

// classOf returns the class of an error.
func classOf(status int, said *errorAnswer) connection.Class {
	switch {
	case said.Error == "invalid_grant":
		return connection.Revoked
	case status == http.StatusBadRequest && strings.Contains(strings.ToLower(said.Message), "too long"):
		return connection.TooLarge
	}
	return cmp.Or(codeClasses[said.Code], serviceClasses[said.ServiceErrorCode], statusClasses[status], transport.ClassOf(status))
}

// retryTime returns when LinkedIn accepts calls again, zero if it does not say.
// Only the message distinguishes the three limits: the quota of a resource ends
// at midnight UTC, the limit of 45 million values is over five minutes, and all
// others protect LinkedIn's servers. LinkedIn sends no header about limits.
func retryTime(message string, now time.Time) time.Time {
	switch message = strings.ToLower(message); {
	case strings.Contains(message, "resource level throttle"), strings.Contains(message, "day limit"):
		return now.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
	case strings.Contains(message, "metric values"), strings.Contains(message, "data request limit"):
		return now.Add(330 * time.Second)
	}
	return time.Time{}
}

func reportChanged(message string) error {
	return &connection.Error{Class: connection.PagesDisagree, Code: "paging_drift", Message: message}
}

// malformedError returns a transient error, as for every unexpected answer.
func malformedError(name string) error {
	return &connection.Error{Class: connection.Transient, Code: "malformed", Message: "LinkedIn's report has a " + name + " that is not what it should be."}
}
