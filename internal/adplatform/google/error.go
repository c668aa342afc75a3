package google

import (
	"errors"
	"net/http"
	"time"

	"fanfare/internal/adplatform/googleauth"
	"fanfare/internal/adplatform/transport"
	"fanfare/internal/connection"
)

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
	e, said := googleauth.ReadError(errorTable, status, body, now)
	if e == nil {
		return nil
	}
	if e.RequestID == "" {
		e.RequestID = header.Get("Request-Id")
	}
	applyFailures(e, said, now)
	return e
}

// failureOf returns the error of a status that is part of an answer.
func failureOf(said *googleauth.Status, now time.Time) *connection.Error {
	e := &connection.Error{Class: connection.Refused, Code: "partial_failure", Message: "Google did not carry out the change."}
	if said.Message != "" {
		e.Message = said.Message
	}
	applyFailures(e, said, now)
	return e
}

// applyFailures adds to an error what Google Ads reports beyond the status: its
// first failure counts.
func applyFailures(e *connection.Error, said *googleauth.Status, now time.Time) {
	for _, d := range said.Details {
		if len(d.Errors) > 0 {
			applyFailure(e, d.Errors[0], now)
		}
	}
}

func applyFailure(e *connection.Error, f googleauth.Failure, now time.Time) {
	e.Remedy = ""
	for kind, code := range f.Code {
		e.Code = code
		if f.Message != "" {
			e.Message = f.Message
		}
		errorTable.Find(e.Message, kind+"/"+code).Apply(e)
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
	if f.Details.Quota.RateScope == "DEVELOPER" {
		// All accounts share it: that of the Cloud project.
		e.WholeApp, e.Remedy = true, quotaRemedy
	}
}

// isUnreachable reports whether an account is not reached the way it was asked
// for.
func isUnreachable(err error) bool {
	e, ok := errors.AsType[*connection.Error](err)
	return ok && (e.Code == wrongLogin || e.Code == "USER_PERMISSION_DENIED")
}

// projectCodes are the errors of the Cloud project: no account can be read.
var projectCodes = map[string]bool{"PROJECT_DISABLED": true, "CLOUD_PROJECT_NOT_FOUND": true, "ACCESS_PROHIBITED": true, "CLOUD_PROJECT_NOT_UNDER_ORGANIZATION": true}

// isOfAccount reports whether an error is about one account, so that others can be
// read.
func isOfAccount(e *connection.Error) bool {
	// The reasons of all of Google's APIs are about the project or the person.
	shared := statusErrors.Find("", "/"+e.Code) != nil
	return (e.Class == connection.Forbidden || e.Class == connection.Gone) && !projectCodes[e.Code] && !shared
}
