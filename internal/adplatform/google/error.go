package google

import (
	"net/http"
	"time"

	"fanfare/internal/adplatform/googleauth"
	"fanfare/internal/adplatform/transport"
	"fanfare/internal/connection"
)

// errorClasses maps errors of Google Ads to classes. Keys are kind or kind.code.
// A key with a code overrides the key of its kind.
var errorClasses = map[string]connection.Class{
	"quotaError":                                                connection.Throttled,
	"quotaError.ACCESS_PROHIBITED":                              connection.Forbidden,
	"authenticationError":                                       connection.Forbidden,
	"authenticationError.AUTHENTICATION_ERROR":                  connection.Expired,
	"authenticationError.OAUTH_TOKEN_EXPIRED":                   connection.Expired,
	"authenticationError.OAUTH_TOKEN_INVALID":                   connection.Expired,
	"authenticationError.OAUTH_TOKEN_REVOKED":                   connection.Revoked,
	"authenticationError.OAUTH_TOKEN_DISABLED":                  connection.Revoked,
	"authenticationError.GOOGLE_ACCOUNT_DELETED":                connection.Revoked,
	"authenticationError.CUSTOMER_NOT_FOUND":                    connection.Gone,
	"authorizationError":                                        connection.Forbidden,
	"requestError.UNSUPPORTED_VERSION":                          connection.Sunset,
	"requestError.RESOURCE_NOT_FOUND":                           connection.Gone,
	"mutateError.RESOURCE_NOT_FOUND":                            connection.Gone,
	"queryError.DATE_RANGE_TOO_WIDE":                            connection.TooLarge,
	"internalError":                                             connection.Transient,
	"internalError.DEADLINE_EXCEEDED":                           connection.TooLarge,
	"databaseError":                                             connection.Transient,
	"contextError.OPERATION_NOT_PERMITTED_FOR_REMOVED_RESOURCE": connection.Gone,
}

// closedAccountCodes are the codes of accounts that are closed or unknown.
var closedAccountCodes = map[string]bool{"CUSTOMER_NOT_ENABLED": true, "CUSTOMER_NOT_FOUND": true}

// quotaWait is the wait for quotas over a sliding day. Choice: Google usually
// names the wait; otherwise an hour frees a part of the quota.
const quotaWait = time.Hour

// readError returns the error of an answer of Google Ads, nil if there is none.
// A stream with status 200 can have one after some rows.
func readError(status int, header http.Header, body []byte, now time.Time) *connection.Error {
	if status < http.StatusBadRequest {
		if status = googleauth.StreamStatus(body); status == 0 {
			return nil
		}
		return transport.ErrorBeside(readError(status, header, body, now))
	}
	e, said := googleauth.ReadError(status, body, now)
	if e == nil {
		return nil
	}
	if e.RequestID == "" {
		e.RequestID = header.Get("Request-Id")
	}
	for _, d := range said.Details {
		if len(d.Errors) > 0 {
			applyFailure(e, d.Errors[0], now)
		}
	}
	return e
}

// applyFailure adds to an error what Google Ads reports beyond the status.
func applyFailure(e *connection.Error, f googleauth.Failure, now time.Time) {
	for kind, code := range f.Code {
		e.Code = code
		if f.Message != "" {
			e.Message = f.Message
		}
		if class, ok := errorClasses[kind]; ok {
			e.Class = class
		}
		if class, ok := errorClasses[kind+"."+code]; ok {
			e.Class = class
		}
	}
	e.Until, e.Stated = time.Time{}, false
	if e.Class != connection.Throttled {
		return
	}
	wait := googleauth.DefaultWait
	if e.Code == "EXCESSIVE_LONG_TERM_QUERY_RESOURCE_CONSUMPTION" {
		wait = quotaWait
	}
	said, stated := googleauth.ParseDelay(f.Details.Quota.RetryDelay)
	if stated {
		wait = said
	}
	e.Until, e.Stated = now.Add(wait), stated
}
