package googleauth

import (
	"bytes"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"fanfare/internal/adplatform/transport"
	"fanfare/internal/connection"
)

// endedGrantCodes are the error codes of the token endpoint for an ended grant.
var endedGrantCodes = []string{"invalid_grant", "invalid_token"}

// readTokenError returns the error of the token endpoint, which has the format
// of OAuth and not of Google's APIs.
func readTokenError(status int, _ http.Header, body []byte, now time.Time) *connection.Error {
	if status < http.StatusBadRequest {
		return nil
	}
	var out struct {
		Error       string `json:"error"`
		Subtype     string `json:"error_subtype"`
		Description string `json:"error_description"`
	}
	_ = json.Unmarshal(body, &out) // an answer that is not JSON has no code
	e := &connection.Error{Class: connection.Refused, Code: out.Error, Message: out.Description}
	if status == http.StatusTooManyRequests || status >= http.StatusInternalServerError {
		e.Class = transport.ClassOf(status)
	}
	TokenErrors.Find(out.Description, out.Error+"/"+out.Subtype).Apply(e)
	if e.Class == connection.Throttled {
		e.Until = now.Add(DefaultWait)
	}
	return withMessage(e, status)
}

// GrantError implements connection.GrantExplainer.
func (*Grantor) GrantError(code string) *connection.Error {
	return TokenErrors.Explain(code, code)
}

// DefaultWait is the wait after a refusal that names none.
const DefaultWait = 30 * time.Second

// Status is the error format of Google's APIs.
type Status struct {
	Code    int      `json:"code"`
	Message string   `json:"message"`
	Status  string   `json:"status"`
	Details []Detail `json:"details"`
}

// Detail is a detail of an error. Its type determines which members are set.
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
			// RateScope is ACCOUNT or DEVELOPER, which is the Cloud project.
			RateScope  string `json:"rateScope"`
			RetryDelay string `json:"retryDelay"`
		} `json:"quotaErrorDetails"`
	} `json:"details"`
}

// ReadError returns the error of an answer, nil if there is none, as far as it
// is the same in all of Google's APIs. Status has the details; it is nil
// without an error. The table has the errors of the API.
func ReadError(table transport.ErrorTable, status int, body []byte, now time.Time) (*connection.Error, *Status) {
	if status < http.StatusBadRequest {
		return nil, nil
	}
	said := parseStatus(body)
	if said == nil {
		said = &Status{Code: status}
	}
	e := &connection.Error{Class: transport.ClassOf(status), Code: said.Status, Message: said.Message}
	key := said.Status
	for _, d := range said.Details {
		if d.Reason != "" {
			e.Code, key = d.Reason, said.Status+"/"+d.Reason
		}
	}
	table.Find(said.Message, key).Apply(e)
	if status == http.StatusNotFound && said.Status == "" {
		// Only a path of an unknown version has an answer that is not JSON.
		e.Class, e.Code, e.Message = connection.Sunset, "unknown_version", "Google does not know this version of its API any more."
		e.Remedy = "Update Fanfare: Google has ended the version of the API that it calls."
	}
	if e.Class == connection.Throttled {
		e.Until = now.Add(DefaultWait)
	}
	for _, d := range said.Details {
		if wait, ok := ParseDelay(d.RetryDelay); ok && e.Class == connection.Throttled {
			e.Until, e.Stated = now.Add(wait), true
		}
		if d.RequestID != "" {
			e.RequestID = d.RequestID
		}
	}
	return withMessage(e, status), said
}

// parseStatus parses a status, nil if there is none. Streaming APIs wrap it in an
// array.
func parseStatus(body []byte) *Status {
	said := findError(body)
	if said == nil {
		return nil
	}
	var s Status
	if err := json.Unmarshal(said, &s); err != nil {
		return nil
	}
	return &s
}

// findError returns the first error of an answer as JSON, nil if there is none.
func findError(body []byte) jsontext.Value {
	type envelope struct {
		Error jsontext.Value `json:"error"`
	}
	list := make([]envelope, 1)
	// An answer that is not JSON has no error.
	if jsontext.Value(body).Kind() == '[' {
		_ = json.Unmarshal(body, &list)
	} else {
		_ = json.Unmarshal(body, &list[0])
	}
	for _, e := range list {
		if e.Error != nil && e.Error.Kind() != 'n' {
			return e.Error
		}
	}
	return nil
}

// StreamStatus returns the status of the error that an answer with status 200
// has, 0 if there is none. A stream can fail after it began.
func StreamStatus(body []byte) int {
	if !bytes.Contains(body, []byte(`"error"`)) || findError(body) == nil {
		return 0
	}
	if said := parseStatus(body); said != nil && said.Code >= http.StatusBadRequest {
		return said.Code
	}
	return http.StatusInternalServerError
}

// ParseDelay parses a retry delay, such as 3.5s.
func ParseDelay(text string) (time.Duration, bool) {
	if !strings.HasSuffix(text, "s") {
		return 0, false
	}
	d, err := time.ParseDuration(text)
	return d, err == nil && d > 0
}

// withMessage sets a message if Google sent none.
func withMessage(e *connection.Error, status int) *connection.Error {
	if e.Code == "" {
		e.Code = "http_" + strings.ReplaceAll(strings.ToLower(http.StatusText(status)), " ", "_")
	}
	if e.Message == "" {
		e.Message = "Google refused the call."
	}
	return e
}
