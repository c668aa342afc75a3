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
		Class:     transport.ClassOf(status),
		Code:      cmp.Or(said.Code, said.Error, strconv.Itoa(cmp.Or(said.ServiceErrorCode, status))),
		RequestID: cmp.Or(header.Get("X-Li-Uuid"), header.Get("X-Li-Request-Id")),
	}
	e.Message = said.text(status)
	key := strconv.Itoa(status) + "/"
	errorTable.Find(e.Message, key+said.Code, key+said.Error, key+strconv.Itoa(said.ServiceErrorCode)).Apply(e)
	if e.Class == connection.Throttled {
		e.Until = retryTime(e.Message, now)
	}
	return e
}

// GrantError implements connection.GrantExplainer.
func (c *Client) GrantError(code string) *connection.Error { return errorTable.Explain("/"+code, code) }

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
