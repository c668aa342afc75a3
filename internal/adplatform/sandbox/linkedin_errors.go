package sandbox

import (
	"net/http"
	"strconv"
	"sync"
	"time"

	"fanfare/internal/clock"
)

// linkedInError is the error of an answer. Details are those of the newer form,
// which only accounts, campaign groups and campaigns have.
type linkedInError struct {
	Status  int            `json:"status"`
	Service int            `json:"serviceErrorCode,omitzero"`
	Code    string         `json:"code"`
	Message string         `json:"message"`
	Kind    string         `json:"errorDetailType,omitzero"`
	Details map[string]any `json:"errorDetails,omitzero"`
}

func linkedInInvalid(message string) *linkedInError {
	return &linkedInError{Status: http.StatusBadRequest, Service: 100, Code: "ILLEGAL_ARGUMENT", Message: message}
}

func linkedInNotFound(what string) *linkedInError {
	return &linkedInError{Status: http.StatusNotFound, Code: "RESOURCE_NOT_FOUND", Message: "There is no such " + what + "."}
}

func linkedInDenied() *linkedInError {
	return &linkedInError{Status: http.StatusForbidden, Service: 100, Code: "ACCESS_DENIED", Message: "Not enough permissions to access this account."}
}

// linkedInBadInput is an error in the newer form about one field.
func linkedInBadInput(code, message, field string) *linkedInError {
	return &linkedInError{
		Status: http.StatusBadRequest, Code: code, Message: message, Kind: "com.linkedin.common.error.BadRequest",
		Details: map[string]any{"inputErrors": []any{map[string]any{
			"code": code, "description": message, "input": map[string]any{"inputPath": map[string]any{"fieldPath": field}},
		}}},
	}
}

// linkedInPassingError returns an error that goes away by itself, nil for no
// code.
func linkedInPassingError(code string) *linkedInError {
	statuses := map[string]int{"TIMEOUT": http.StatusRequestTimeout, "CONFLICT": http.StatusConflict, "UNDER_MAINTENANCE": http.StatusServiceUnavailable}
	if code == "" {
		return nil
	}
	return &linkedInError{Status: statuses[code], Code: code, Message: http.StatusText(statuses[code])}
}

// Messages of a call that is throttled. Only they distinguish the three limits.
const (
	linkedInDailyText = "Resource level throttle APPLICATION DAY limit for calls to this resource is reached."
	linkedInDataText  = "The data request limit of 45 million metric values was reached."
	linkedInInfraText = "Too many requests. Please try again later."
)

func linkedInThrottled(message string) *linkedInError {
	return &linkedInError{Status: http.StatusTooManyRequests, Service: 101, Code: "TOO_MANY_REQUESTS", Message: message}
}

// Throttle implements PlatformAPI. A short wait protects LinkedIn's servers, a
// long one is for too much data.
func (linkedIn) Throttle(w http.ResponseWriter, _ *http.Request, seconds int) {
	message := linkedInInfraText
	if seconds > 1 {
		message = linkedInDataText
	}
	writeLinkedIn(w, http.StatusTooManyRequests, linkedInThrottled(message))
}

// linkedInQuotas count the calls of the current UTC day by resource.
type linkedInQuotas struct {
	mu    sync.Mutex
	day   clock.Date
	calls map[string]int
}

// count counts a call and returns how many there have been on its day.
func (q *linkedInQuotas) count(resource string, day clock.Date) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.day != day || q.calls == nil {
		q.day, q.calls = day, map[string]int{}
	}
	q.calls[resource]++
	return q.calls[resource]
}

// checkQuota rejects a call beyond a limit. The daily quota is for one resource
// and ends at midnight UTC, the limit of data is for reports.
func (c *linkedInCall) checkQuota() *linkedInError {
	resource := c.resource()
	calls := c.server.linkedInQuotas.count(resource, clock.DateIn(c.Now(), time.UTC))
	limit, err := strconv.Atoi(c.Behavior(nil, linkedInDailyCalls))
	kind := c.Behavior(c.account, linkedInThrottle)
	switch {
	case err == nil && calls > limit, kind == "daily" && resource == "adAnalytics":
		return linkedInThrottled(linkedInDailyText)
	case kind == "45m" && resource == "adAnalytics":
		return linkedInThrottled(linkedInDataText)
	case kind == "infra":
		return linkedInThrottled(linkedInInfraText)
	}
	return nil
}
