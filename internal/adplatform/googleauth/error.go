package googleauth

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"fanfare/internal/connection"
)

// endedGrantCodes are what the token endpoint calls a grant that is over.
var endedGrantCodes = []string{"invalid_grant", "invalid_token"}

// readTokenError reads an answer of the token endpoint, which speaks as OAuth does
// and not as Google's APIs do.
func readTokenError(status int, _ http.Header, body []byte, now time.Time) *connection.Error {
	if status < http.StatusBadRequest {
		return nil
	}
	var out struct {
		Error       string `json:"error"`
		Description string `json:"error_description"`
	}
	_ = json.Unmarshal(body, &out) // what is no JSON has no code either
	e := &connection.Error{Class: connection.Refused, Code: out.Error, Message: out.Description}
	switch {
	case slices.Contains(endedGrantCodes, out.Error):
		e.Class = connection.Revoked
	case out.Error == "invalid_client" || out.Error == "unauthorized_client" || out.Error == "access_denied" || out.Error == "org_internal":
		e.Class = connection.Forbidden
	case status == http.StatusTooManyRequests:
		e.Class, e.Until = connection.Throttled, now.Add(DefaultWait)
	case status >= http.StatusInternalServerError:
		e.Class = connection.Transient
	}
	return withMessage(e, status)
}

// DefaultWait is how long to leave Google alone where it does not say.
const DefaultWait = 30 * time.Second

// Status is how Google's APIs say that something is wrong.
type Status struct {
	Code    int      `json:"code"`
	Message string   `json:"message"`
	Status  string   `json:"status"`
	Details []Detail `json:"details"`
}

// Detail is one more thing to know about an error. Which members are set
// depends on its type.
type Detail struct {
	Type string `json:"@type"`
	// Reason belongs to ErrorInfo.
	Reason string `json:"reason"`
	// RetryDelay belongs to RetryInfo.
	RetryDelay string `json:"retryDelay"`
	// Errors and RequestID belong to GoogleAdsFailure.
	Errors    []Failure `json:"errors"`
	RequestID string    `json:"requestId"`
}

// Failure is one error of Google Ads.
type Failure struct {
	// Code has one member, such as quotaError.
	Code    map[string]string `json:"errorCode"`
	Message string            `json:"message"`
	Details struct {
		Quota struct {
			RetryDelay string `json:"retryDelay"`
		} `json:"quotaErrorDetails"`
	} `json:"details"`
}

// ReadError tells what is wrong with an answer, nil for nothing, as far as all of
// Google's APIs agree. The status has the rest; it is nil where nothing is.
func ReadError(status int, body []byte, now time.Time) (*connection.Error, *Status) {
	if status < http.StatusBadRequest {
		return nil, nil
	}
	said := parseStatus(body)
	if said == nil {
		said = &Status{Code: status}
	}
	e := &connection.Error{Class: classOf(status, said.Status), Code: said.Status, Message: said.Message}
	if status == http.StatusNotFound && said.Status == "" {
		// Only a path that no version has is answered without JSON.
		e.Class, e.Code, e.Message = connection.Sunset, "unknown_version", "Google does not know this version of its API any more."
	}
	if e.Class == connection.Throttled {
		e.Until = now.Add(DefaultWait)
	}
	for _, d := range said.Details {
		if d.Reason != "" {
			e.Code = d.Reason
		}
		if wait, ok := ParseDelay(d.RetryDelay); ok && e.Class == connection.Throttled {
			e.Until, e.Stated = now.Add(wait), true
		}
		if d.RequestID != "" {
			e.RequestID = d.RequestID
		}
	}
	return withMessage(e, status), said
}

// parseStatus reads a status. APIs that stream wrap it into an array.
func parseStatus(body []byte) *Status {
	type envelope struct {
		Error *Status `json:"error"`
	}
	var one envelope
	if jsontext.Value(body).Kind() != '[' {
		_ = json.Unmarshal(body, &one) // what is no JSON says nothing
		return one.Error
	}
	var list []envelope
	if err := json.Unmarshal(body, &list); err != nil || len(list) == 0 {
		return nil
	}
	return list[0].Error
}

func classOf(status int, word string) connection.Class {
	switch {
	case word == "DEADLINE_EXCEEDED":
		// Choice: a query for which Google had too little time is one that
		// asks for too much; the same again would take as long.
		return connection.TooLarge
	case status == http.StatusUnauthorized:
		return connection.Expired
	case status == http.StatusForbidden:
		return connection.Forbidden
	case status == http.StatusNotFound:
		return connection.Gone
	case status == http.StatusTooManyRequests:
		return connection.Throttled
	case status >= http.StatusInternalServerError:
		return connection.Transient
	}
	return connection.Refused
}

// ParseDelay reads how long Google wants to be left alone, such as 3.5s.
func ParseDelay(text string) (time.Duration, bool) {
	if !strings.HasSuffix(text, "s") {
		return 0, false
	}
	d, err := time.ParseDuration(text)
	return d, err == nil && d > 0
}

// withMessage sees that an error says something even where Google did not.
func withMessage(e *connection.Error, status int) *connection.Error {
	if e.Code == "" {
		e.Code = "http_" + strings.ReplaceAll(strings.ToLower(http.StatusText(status)), " ", "_")
	}
	if e.Message == "" {
		e.Message = "Google refused the call."
	}
	return e
}
