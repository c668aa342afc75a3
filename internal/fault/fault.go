// Package fault defines the error type that crosses layers: an error that a
// caller can act on. Slices and the store create faults; the HTTP layer only
// maps them to responses. Any other error is a bug or an outage and is never
// returned to callers.
package fault

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Code is the machine-readable kind of a fault. The list is closed and part of
// the contract: codes are never renamed.
type Code string

// The closed list of codes.
const (
	MalformedRequest         Code = "malformed_request"
	MalformedJSON            Code = "malformed_json"
	InvalidParameter         Code = "invalid_parameter"
	InvalidCursor            Code = "invalid_cursor"
	InvalidIdempotencyKey    Code = "invalid_idempotency_key"
	MissingAPIKey            Code = "missing_api_key"
	InvalidAPIKey            Code = "invalid_api_key"
	APIKeyExpired            Code = "api_key_expired"
	APIKeyRevoked            Code = "api_key_revoked"
	APIKeyOwnerInactive      Code = "api_key_owner_inactive"
	HTTPSRequired            Code = "https_required"
	InsufficientPermissions  Code = "insufficient_permissions"
	InsufficientScope        Code = "insufficient_scope"
	PlanFeatureUnavailable   Code = "plan_feature_unavailable"
	WorkspaceSuspended       Code = "workspace_suspended"
	NotFound                 Code = "not_found"
	RouteNotFound            Code = "route_not_found"
	UnknownAPIVersion        Code = "unknown_api_version"
	MethodNotAllowed         Code = "method_not_allowed"
	NotAcceptable            Code = "not_acceptable"
	BodyTimeout              Code = "body_timeout"
	InvalidState             Code = "invalid_state"
	Archived                 Code = "archived"
	AlreadyExists            Code = "already_exists"
	ConnectionReauthRequired Code = "connection_reauth_required"
	IdempotencyInProgress    Code = "idempotency_in_progress"
	APIVersionSunset         Code = "api_version_sunset"
	EndpointSunset           Code = "endpoint_sunset"
	PreconditionFailed       Code = "precondition_failed"
	BodyTooLarge             Code = "body_too_large"
	URITooLong               Code = "uri_too_long"
	UnsupportedMediaType     Code = "unsupported_media_type"
	ValidationFailed         Code = "validation_failed"
	IdempotencyKeyReused     Code = "idempotency_key_reused"
	QueryTooBroad            Code = "query_too_broad"
	ContentRejected          Code = "content_rejected"
	RateLimitExceeded        Code = "rate_limit_exceeded"
	Internal                 Code = "internal_error"
	UpstreamError            Code = "upstream_error"
	Unavailable              Code = "unavailable"
	Timeout                  Code = "timeout"
)

// Meta has the values that a message mentions, for machines.
type Meta map[string]any

// Detail is one problem of a request.
type Detail struct {
	Field   string `json:"field,omitempty"`
	In      string `json:"in,omitempty"`
	Code    string `json:"code"`
	Message string `json:"message"`
	Meta    Meta   `json:"meta,omitempty"`
}

// Error is a fault. Message is one sentence for developers that says what to
// do. Every value in it is also in a detail's Meta.
type Error struct {
	Code       Code
	Message    string
	Details    []Detail
	RetryAfter time.Duration
	cause      error
}

func (e *Error) Error() string {
	if e.cause != nil {
		return fmt.Sprintf("%s: %s: %v", e.Code, e.Message, e.cause)
	}
	return fmt.Sprintf("%s: %s", e.Code, e.Message)
}

func (e *Error) Unwrap() error { return e.cause }

// New returns a fault.
func New(code Code, message string, details ...Detail) *Error {
	return &Error{Code: code, Message: message, Details: details}
}

// Because sets the cause, which is only logged.
func (e *Error) Because(cause error) *Error {
	e.cause = cause
	return e
}

// ErrBusy is the cause of faults of requests that a server refuses only because
// it has too much to do.
var ErrBusy = errors.New("busy")

// Is reports whether err is a fault with this code.
func Is(err error, code Code) bool {
	var f *Error
	return errors.As(err, &f) && f.Code == code
}

// maxClip is the maximum number of bytes of a caller's name or value in a
// response.
const maxClip = 64

// Clip shortens a name or a value that the caller sent, for messages and Meta.
// The result is valid UTF-8.
func Clip(s string) string {
	if len(s) > maxClip {
		return strings.ToValidUTF8(s[:maxClip], "") + "…"
	}
	return strings.ToValidUTF8(s, "?")
}

// Missing returns a not_found fault. Its message is constant, so that foreign,
// unknown and malformed ids look the same.
func Missing() *Error {
	return New(NotFound, "There is no such resource in this workspace. Check the id and the workspace of the API key.")
}

// DiskFull returns the fault of work that needs more space than the disk of the
// server has.
func DiskFull(cause error) *Error {
	e := New(Unavailable, "The disk of this server is full. Try again after the operator has made space free.").Because(cause)
	e.RetryAfter = time.Minute
	return e
}

// MaxDetails is the maximum number of problems in a response.
const MaxDetails = 50

// Invalid returns a fault for all invalid fields of the body.
func Invalid(details []Detail) *Error { return InvalidOf(details, len(details)) }

// InvalidOf is Invalid for details that are only the first of total problems.
func InvalidOf(details []Detail, total int) *Error {
	for i := range details {
		if details[i].In == "" {
			details[i].In = "body"
		}
	}
	return combineDetails(ValidationFailed, fmt.Sprintf("%d fields are invalid", total), details, total)
}

// BadQuery returns a fault for all invalid query parameters.
func BadQuery(details []Detail) *Error {
	return combineDetails(InvalidParameter, "The query string is wrong at", details, len(details))
}

// combineDetails combines problems into one fault. A single problem keeps its
// message; for more, the message lists their fields.
func combineDetails(code Code, sentence string, details []Detail, total int) *Error {
	if total == 1 && len(details) == 1 {
		return New(code, details[0].Message, details...)
	}
	details = details[:min(len(details), MaxDetails)]
	var names []string
	for _, d := range details {
		if d.Field != "" && !slices.Contains(names, d.Field) && len(names) < 10 {
			names = append(names, d.Field)
		}
	}
	if names == nil {
		names = []string{"body"}
	}
	message := sentence + ": " + strings.Join(names, ", ") + "."
	if total > len(details) {
		message += fmt.Sprintf(" The first %d are listed.", len(details))
	}
	return New(code, message, details...)
}

// MissingRef returns the detail for a field with the id of a record that does
// not exist in this workspace.
func MissingRef(field string, id any) Detail {
	return Detail{Field: field, Code: "not_found", Message: field + " names nothing in this workspace.", Meta: Meta{"id": id}}
}

// ArchivedRef returns the detail for a field with the id of an archived record.
func ArchivedRef(field string, id any) Detail {
	return Detail{Field: field, Code: "archived", Message: field + " is archived; restore it or choose another.", Meta: Meta{"id": id}}
}
